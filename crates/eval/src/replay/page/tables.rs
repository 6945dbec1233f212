//! The tables of a profile and of a session: every figure of every policy.

use std::fmt::Write;

use mainstay_engine::decide::marker::thousands;
use mainstay_engine::economy::Bill;

use crate::html::Shown;
use crate::replay::page::numbers;
use crate::replay::page::numbers::NONE;
use crate::replay::page::strokes::Strokes;
use crate::replay::podium::Podium;
use crate::replay::report::PolicyReport;
use crate::replay::report::ProfileReport;
use crate::replay::report::SessionFigures;
use crate::replay::report::Standing;
use crate::stats::Estimate;

/// A column: its head, and what a policy has in it, as markup.
type Column<R> = (&'static str, fn(&R) -> String);

/// A part of a bill: its name, and what was paid for it.
type Part = (&'static str, fn(&Bill) -> f64);

/// The parts of a bill, in the order in which they stand in a bar.
const PARTS: [Part; 5] = [
    ("cache read", |bill| bill.cache_read),
    ("cache write", |bill| bill.cache_write),
    ("fresh", |bill| bill.fresh),
    ("output", |bill| bill.output),
    ("summaries", |bill| bill.summaries),
];

const PROMPTS: &[Column<PolicyReport>] = &[
    ("Identifiers kept", |policy| interval(policy.retention.fur)),
    ("Pairs kept", |policy| interval(policy.retention.pair)),
    ("Identifiers after passes", |policy| {
        maybe(policy.retention.fur_at_passes, numbers::percent)
    }),
    ("Pairs after passes", |policy| {
        maybe(policy.retention.pair_at_passes, numbers::percent)
    }),
    ("Cache hits", |policy| numbers::percent(policy.cache_hits)),
    ("Peak prompt", |policy| thousands(policy.peak)),
    ("Mean prompt", |policy| rounded(policy.mean_prompt)),
    ("Beyond window", |policy| match policy.overflowing {
        0 => "0".to_owned(),
        count => format!("<span class=\"badge bad\">{}</span>", thousands(count as u64)),
    }),
    ("Waiting", |policy| numbers::duration(policy.wall)),
];

const CADENCE: &[Column<PolicyReport>] = &[
    ("Passes", |policy| thousands(policy.cadence.passes as u64)),
    ("Per 100 requests", |policy| {
        numbers::plain(policy.cadence.per_hundred, 2)
    }),
    ("Requests between", |policy| {
        maybe(policy.cadence.between, |value| numbers::plain(value, 1))
    }),
    ("Summary calls a session", |policy| {
        numbers::plain(policy.cadence.summary_calls, 2)
    }),
    ("Tokens reclaimed a pass", |policy| {
        maybe(policy.cadence.reclaimed, rounded)
    }),
    ("All tokens sent", |policy| numbers::tokens(policy.cadence.tokens)),
    ("Earliest message changed", |policy| {
        maybe(policy.cadence.earliest, |value| numbers::plain(value, 1))
    }),
    ("Prune-only passes", |policy| {
        maybe(policy.cadence.prune_only, numbers::percent)
    }),
];

const SESSION: &[Column<SessionFigures>] = &[
    ("Total", |session| numbers::dollars(session.bill.total())),
    ("Cache read", |session| numbers::dollars(session.bill.cache_read)),
    ("Cache write", |session| numbers::dollars(session.bill.cache_write)),
    ("Fresh", |session| numbers::dollars(session.bill.fresh)),
    ("Output", |session| numbers::dollars(session.bill.output)),
    ("Summaries", |session| numbers::dollars(session.bill.summaries)),
    ("Cache hits", |session| numbers::percent(session.cache_hits)),
    ("Passes", |session| thousands(session.passes.len() as u64)),
    ("Peak prompt", |session| thousands(session.peak)),
    ("Identifiers kept", |session| maybe(session.fur, numbers::percent)),
    ("Pairs kept", |session| maybe(session.pair, numbers::percent)),
];

/// The three tables of a profile: the bill, prompts with what was kept, cadence. Cheapest first.
pub fn tables(profile: &ProfileReport, strokes: &Strokes<'_>) -> String {
    let mut policies: Vec<&PolicyReport> = profile.policies.iter().collect();
    policies.sort_by(|one, other| one.total.total_cmp(&other.total));
    let names = |policy: &&PolicyReport| format!("{} {}", strokes.key(policy), badge(policy.standing()));
    format!(
        "<h3>The bill</h3>\n{}{}<h3>What was kept, and what was sent</h3>\n{}<h3>Cadence</h3>\n{}",
        legend(),
        bill(profile, &policies, strokes),
        table("What was kept, and what was sent", PROMPTS, &policies, names),
        table("Cadence", CADENCE, &policies, names)
    )
}

/// The figures of one session.
pub fn of_session(rows: &[(&PolicyReport, &SessionFigures)], strokes: &Strokes<'_>) -> String {
    let head = heads(SESSION.iter().map(|(head, _)| *head));
    let mut body = String::new();
    for (policy, session) in rows {
        let cells = SESSION
            .iter()
            .map(|(_, cell)| format!("<td class=\"figure\">{}</td>", cell(session)));
        let _ = writeln!(
            body,
            "<tr><th scope=\"row\">{}</th>{}</tr>",
            strokes.key(policy),
            cells.collect::<String>()
        );
    }
    framed("Figures of the session", &head, &body)
}

fn table(
    says: &str,
    columns: &[Column<PolicyReport>],
    policies: &[&PolicyReport],
    name: impl Fn(&&PolicyReport) -> String,
) -> String {
    let mut body = String::new();
    for policy in policies {
        let cells = columns
            .iter()
            .map(|(_, cell)| format!("<td class=\"figure\">{}</td>", cell(policy)));
        let _ = writeln!(
            body,
            "<tr{}><th scope=\"row\">{}</th>{}</tr>",
            row_class(policy),
            name(policy),
            cells.collect::<String>()
        );
    }
    framed(says, &heads(columns.iter().map(|(head, _)| *head)), &body)
}

fn bill(profile: &ProfileReport, policies: &[&PolicyReport], strokes: &Strokes<'_>) -> String {
    let podium = Podium::of(profile);
    let most = longest_bar(policies);
    let best = kept_best(policies);
    let is =
        |policy: &PolicyReport, other: Option<&PolicyReport>| other.is_some_and(|other| other.policy == policy.policy);
    let mut body = String::new();
    for policy in policies {
        let mut marks = badge(policy.standing());
        let marked = [
            (is(policy, podium.cheapest), "good", "★ cheapest"),
            (is(policy, best), "good", "keeps most"),
            (is(policy, podium.baseline), "", "best baseline"),
            (!policy.fits(), "bad", "does not fit"),
        ];
        for (_, class, text) in marked.into_iter().filter(|(is_so, _, _)| *is_so) {
            let _ = write!(marks, "<span class=\"badge {class}\">{text}</span>");
        }
        let parts = PARTS
            .iter()
            .map(|(_, part)| format!("<td class=\"figure\">{}</td>", numbers::dollars(part(&policy.bill))));
        let _ = writeln!(
            body,
            "<tr{}><th scope=\"row\">{}<span class=\"marks\">{marks}</span><span class=\"sub title\">{}</span></th><td class=\"figure total\">{}</td><td class=\"bar-cell\">{}</td>{}<td class=\"figure\">{}</td><td class=\"figure\">{}</td></tr>",
            row_class(policy),
            strokes.key(policy),
            Shown(&policy.title),
            numbers::dollars(policy.total),
            bar(&policy.bill, most),
            parts.collect::<String>(),
            difference(policy.against_best.filter(|_| !is(policy, podium.baseline))),
            maybe(policy.above_optimum, numbers::signed)
        );
    }
    let parts = ["Cache read", "Cache write", "Fresh", "Output", "Summaries"];
    let head = ["Total", ""]
        .into_iter()
        .chain(parts)
        .chain(["Against best baseline", "Above optimum"]);
    framed("The bill", &heads(head), &body).replacen("pinned", "pinned bill", 1)
}

/// What the longest bar stands for: the dearest policy that fits. One that does not may cost many times as much, and beside
/// it all others would be the same.
fn longest_bar(policies: &[&PolicyReport]) -> f64 {
    let most = |is_asked: fn(&PolicyReport) -> bool| {
        let asked = policies
            .iter()
            .filter(|policy| is_asked(policy) && policy.total.is_finite());
        asked.map(|policy| policy.total).fold(0.0, f64::max)
    };
    match most(PolicyReport::fits) {
        0.0 => most(|_| true),
        fitting => fitting,
    }
}

/// The one that keeps most, of those that can be chosen and do something.
fn kept_best<'a>(policies: &[&'a PolicyReport]) -> Option<&'a PolicyReport> {
    let eligible = policies
        .iter()
        .filter(|policy| policy.fits() && policy.standing() != Standing::Bound);
    let kept = eligible.filter_map(|policy| Some((policy.retention.fur?.mean, *policy)));
    kept.max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, policy)| policy)
}

/// The bill as a bar; what lies beyond the end is cut off, and an arrow says so.
fn bar(bill: &Bill, most: f64) -> String {
    // As wide as the column in the style sheet, with room for the arrow.
    const WIDTH: f64 = 180.0;
    const ARROW: f64 = 8.0;
    let mut picture = String::new();
    let mut from = 0.0;
    for (place, (name, part)) in PARTS.iter().enumerate() {
        let value = part(bill);
        if !(value.is_finite() && value > 0.0 && most > 0.0) {
            continue;
        }
        let width = (value / most * WIDTH).min(WIDTH - from);
        let share = numbers::percent(value / bill.total());
        let _ = write!(
            picture,
            "<rect x=\"{from:.2}\" y=\"1\" width=\"{width:.2}\" height=\"14\" class=\"part part-{place}\"><title>{name}: {}, {share}</title></rect>",
            numbers::dollars(value)
        );
        from += width;
    }
    if bill.total() > most * 1.001 {
        let _ = write!(
            picture,
            "<path d=\"M{} 2l6 6l-6 6Z\" class=\"further\"><title>it goes on</title></path>",
            WIDTH + 1.0
        );
    }
    format!(
        "<svg viewBox=\"0 0 {w} 16\" width=\"{w}\" height=\"16\" class=\"bar\" role=\"img\" aria-label=\"Parts of the bill; the numbers stand beside\">{picture}</svg>",
        w = WIDTH + ARROW
    )
}

fn legend() -> String {
    let keys = PARTS.iter().enumerate().map(|(place, (name, _))| {
        format!(
            "<span class=\"arm\"><svg viewBox=\"0 0 14 14\" width=\"14\" height=\"14\" aria-hidden=\"true\" class=\"key\"><rect x=\"1\" y=\"1\" width=\"12\" height=\"12\" class=\"part part-{place}\"/></svg>{name}</span>"
        )
    });
    format!(
        "<p class=\"legend\">{}<span class=\"sub\">All bars on one scale, from zero; one with an arrow goes on.</span></p>\n",
        keys.collect::<String>()
    )
}

fn badge(standing: Standing) -> String {
    let (class, text) = match standing {
        Standing::Ours => ("ours", "ours"),
        Standing::Baseline => ("", "baseline"),
        Standing::Recorded => ("", "the recording"),
        Standing::Bound => ("", "a bound"),
    };
    format!("<span class=\"badge {class}\">{text}</span>")
}

fn row_class(policy: &PolicyReport) -> &'static str {
    match policy.standing() {
        Standing::Ours => " class=\"ours\"",
        Standing::Baseline | Standing::Recorded | Standing::Bound => "",
    }
}

fn heads<'a>(columns: impl Iterator<Item = &'a str>) -> String {
    columns.map(|head| format!("<th scope=\"col\">{head}</th>")).collect()
}

fn framed(says: &str, head: &str, body: &str) -> String {
    format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{says}\"><table class=\"plain pinned\"><thead><tr><th scope=\"col\">Policy</th>{head}</tr></thead><tbody>\n{body}</tbody></table></div>\n"
    )
}

fn rounded(value: f64) -> String {
    if value.is_finite() {
        thousands(value.max(0.0).round() as u64)
    } else {
        NONE.to_owned()
    }
}

fn maybe(value: Option<f64>, shown: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| NONE.to_owned(), shown)
}

fn interval(estimate: Option<Estimate>) -> String {
    bounds(estimate, numbers::percent)
}

fn difference(estimate: Option<Estimate>) -> String {
    bounds(estimate, numbers::signed)
}

fn bounds(estimate: Option<Estimate>, shown: impl Fn(f64) -> String) -> String {
    estimate.map_or_else(
        || NONE.to_owned(),
        |estimate| {
            format!(
                "{} <span class=\"sub\">[{}, {}]</span>",
                shown(estimate.mean),
                shown(estimate.low),
                shown(estimate.high)
            )
        },
    )
}
