//! A replay on the terminal: for each profile what policies cost and keep, the bill, the cadence, and a verdict in words. Nothing
//! is wider than 120 columns as long as figures have their usual size.

use mainstay_eval::replay::report::PolicyReport;
use mainstay_eval::replay::report::ProfileReport;
use mainstay_eval::replay::report::Report;
use mainstay_eval::stats::Estimate;

use crate::replay::chosen::Chosen;
use crate::replay::counted;
use crate::replay::verdict;
use crate::screen::Screen;
use crate::screen::number;
use crate::screen::plain;

/// What stands where there is nothing.
const NONE: &str = "–";

/// What the columns mean.
const LEGEND: &str = "* the best baseline: the cheapest whose prompts all fit the window. AGAINST *: costs beside it, session by \
    session. Square brackets hold 95 % intervals over sessions. KEPT, PAIRS: which share of the identifiers that the agent went on to \
    use was still there, and of pairs that stood together. HITS: prompt tokens read from the cache. WAIT: for models, estimated. \
    OVER: requests that did not fit the window; their cost is what they would cost if they did. READ, WRITE: the cache; FRESH: \
    neither. BETWEEN: requests from pass to pass. SUMMARIES: their cost, and calls a session. RECLAIMED: tokens a pass. TOKENS: of all \
    prompts and calls. FIRST: the first message that a pass changed. PRUNED: passes that only pruned. THEN: KEPT directly after passes.";
const LEGEND_OF_OPTIMUM: &str =
    "ABOVE OPT.: cost and what was forgotten, beside those of the same passes with the future known.";

/// The report.
pub fn report(report: &Report, chosen: &Chosen, screen: &mut Screen) -> anyhow::Result<()> {
    screen.line(&format!(
        "{}, {}",
        counted(report.sessions, "session", "sessions"),
        counted(report.requests, "request", "requests")
    ))?;
    if let Some(reason) = &chosen.reason {
        screen.line(&wrapped(reason))?;
    }
    for profile in &report.profiles {
        one(profile, screen)?;
    }
    screen.line("")?;
    screen.faint(&wrapped(LEGEND))?;
    if report.profiles.iter().any(|profile| profile.optimum.is_some()) {
        screen.faint(LEGEND_OF_OPTIMUM)?;
    }
    Ok(())
}

fn one(profile: &ProfileReport, screen: &mut Screen) -> anyhow::Result<()> {
    screen.heading(&format!(
        "{}: {}, window {}",
        plain(&profile.profile),
        plain(&profile.title),
        number(profile.window)
    ))?;
    let idle = idle(profile);
    let shown: Vec<&PolicyReport> = profile
        .policies
        .iter()
        .filter(|policy| !idle.contains(&policy.policy.as_str()))
        .collect();
    let of = |row: &dyn Fn(&PolicyReport) -> Vec<String>| {
        let rows = shown.iter().map(|policy| {
            let is_best = profile.best_baseline.as_deref() == Some(&policy.policy);
            let name = format!("{}{}", policy.policy, if is_best { " *" } else { "" });
            [vec![name], row(policy)].concat()
        });
        rows.collect::<Vec<_>>()
    };
    let dear = profile.policies.iter().map(|policy| policy.total).fold(0.0, f64::max);
    // Cents are too coarse for sessions that cost some of them.
    let places = if dear < 1.0 { 4 } else { 2 };
    screen.table(
        &[
            "POLICY",
            ">COST",
            ">AGAINST *",
            ">KEPT",
            ">PAIRS",
            ">HITS",
            ">PEAK",
            ">OVER",
        ],
        of(&|policy| worth(policy, places)),
    )?;
    screen.line("")?;
    let mut titles = vec![
        "POLICY",
        ">READ",
        ">WRITE",
        ">FRESH",
        ">OUTPUT",
        ">SUMMARIES",
        ">MEAN PROMPT",
        ">WAIT",
    ];
    titles.extend(profile.optimum.map(|_| ">ABOVE OPT."));
    screen.table(&titles, of(&|policy| bill(policy, places, profile.optimum.is_some())))?;
    screen.line("")?;
    screen.table(
        &[
            "POLICY",
            ">PASSES",
            ">PER 100",
            ">BETWEEN",
            ">SUMMARIES",
            ">RECLAIMED",
            ">TOKENS",
            ">FIRST",
            ">PRUNED",
            ">THEN",
        ],
        of(&cadence),
    )?;
    if !idle.is_empty() {
        screen.faint(&wrapped(&format!(
            "As never, for they made no pass: {}.",
            idle.join(", ")
        )))?;
    }
    screen.line(&wrapped(&verdict::of(profile)))
}

/// Policies that made no pass and changed nothing: their rows would be those of `never`.
fn idle(profile: &ProfileReport) -> Vec<&str> {
    let Some(never) = profile.policies.iter().find(|policy| policy.policy == "never") else {
        return Vec::new();
    };
    let is_idle = |policy: &&PolicyReport| {
        let is_named = policy.policy == never.policy || profile.best_baseline.as_ref() == Some(&policy.policy);
        !is_named
            && policy.cadence.passes == 0
            && policy.total == never.total
            && policy.peak == never.peak
            && policy.retention.fur == never.retention.fur
            && policy.above_optimum == never.above_optimum
    };
    let idle = profile.policies.iter().filter(is_idle);
    idle.map(|policy| policy.policy.as_str()).collect()
}

fn worth(policy: &PolicyReport, places: usize) -> Vec<String> {
    let against = |against: &Estimate| {
        let mean = format!("{:+.1} %", against.mean * 100.0);
        match against.clusters {
            0 | 1 => mean,
            _ => format!("{mean} [{:+.0}, {:+.0}]", against.low * 100.0, against.high * 100.0),
        }
    };
    let kept = |kept: &Estimate| {
        let kept = kept.on_scale(1.0);
        match kept.clusters {
            0 | 1 => format!("{:.3}", kept.mean),
            _ => format!("{:.3} [{:.2}, {:.2}]", kept.mean, kept.low, kept.high),
        }
    };
    vec![
        format!("{:.places$}", policy.total),
        figure(policy.against_best.as_ref(), against),
        figure(policy.retention.fur.as_ref(), kept),
        figure(policy.retention.pair.as_ref(), kept),
        format!("{:.1} %", policy.cache_hits * 100.0),
        number(policy.peak),
        number(policy.overflowing as u64),
    ]
}

fn bill(policy: &PolicyReport, places: usize, has_optimum: bool) -> Vec<String> {
    let bill = &policy.bill;
    let parts = [
        bill.cache_read,
        bill.cache_write,
        bill.fresh,
        bill.output,
        bill.summaries,
    ];
    let mut row: Vec<String> = parts.map(|dollars| format!("{dollars:.places$}")).into();
    row.push(number(policy.mean_prompt as u64));
    row.push(waiting(policy.wall));
    if has_optimum {
        row.push(figure(policy.above_optimum, |share| format!("{:+.1} %", share * 100.0)));
    }
    row
}

fn cadence(policy: &PolicyReport) -> Vec<String> {
    let cadence = &policy.cadence;
    vec![
        number(cadence.passes as u64),
        format!("{:.1}", cadence.per_hundred),
        figure(cadence.between, |requests| format!("{requests:.1}")),
        format!("{:.2}", cadence.summary_calls),
        figure(cadence.reclaimed, |tokens| number(tokens as u64)),
        number(cadence.tokens as u64),
        figure(cadence.earliest, |message| format!("{message:.1}")),
        figure(cadence.prune_only, |share| format!("{:.0} %", share * 100.0)),
        figure(policy.retention.fur_at_passes, |share| format!("{share:.3}")),
    ]
}

fn figure<T>(value: Option<T>, shown: impl Fn(T) -> String) -> String {
    value.map_or(NONE.to_owned(), shown)
}

fn waiting(seconds: f64) -> String {
    let minutes = (seconds / 60.0).round() as u64;
    format!("{}:{:02} h", minutes / 60, minutes % 60)
}

/// Sentences in lines of at most 118 characters, so that they end where the tables do.
pub fn wrapped(text: &str) -> String {
    const WIDEST: usize = 118;
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        let length = line.chars().count();
        if length > 0 && length + 1 + word.chars().count() > WIDEST {
            lines.push(word.to_owned());
            continue;
        }
        if length > 0 {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.join("\n")
}
