//! What a profile's figures come to, in sentences.

use std::fmt::Write;

use crate::html::Shown;
use crate::replay::page::numbers;
use crate::replay::podium::Podium;
use crate::replay::report::PolicyReport;
use crate::replay::report::ProfileReport;
use crate::replay::report::Report;
use crate::replay::report::Standing;
use crate::stats::Estimate;

/// The sentences at the head of a profile.
pub fn headline(profile: &ProfileReport) -> String {
    let podium = Podium::of(profile);
    let Some(cheapest) = podium.cheapest else {
        return "<p class=\"verdict\">No policy kept all prompts within the window: there is none to choose.</p>\n"
            .to_owned();
    };
    let mut said = first(profile, cheapest);
    let mut tone = "plain";
    match (podium.baseline, podium.ours) {
        (Some(baseline), _) if baseline.policy != cheapest.policy => {
            let difference = against_best(cheapest, baseline);
            tone = direction(difference, cheapest.standing());
            let _ = write!(
                said,
                " Against the best baseline, {} ({}), {}",
                name(baseline),
                numbers::dollars(baseline.total),
                compared(difference, "it costs")
            );
        }
        (Some(baseline), Some(ours)) => {
            let difference = against_best(ours, baseline);
            tone = direction(difference, Standing::Ours);
            let _ = write!(
                said,
                " It is the best baseline, and none of ours is cheaper: {} costs {}; {}",
                name(ours),
                numbers::dollars(ours.total),
                compared(difference, "that is")
            );
        }
        (_, _) => {}
    }
    let sign = match tone {
        "better" => "▲ ",
        "worse" => "▼ ",
        "noise" => "≈ ",
        _ => "",
    };
    let mut html = format!("<p class=\"verdict {tone}\"><strong>{sign}</strong>{said}</p>\n");
    let sentences = [
        recorded(&podium, cheapest),
        retention(&podium, cheapest),
        optimum(profile, cheapest),
    ];
    for sentence in sentences.into_iter().flatten() {
        let _ = writeln!(html, "<p class=\"verdict\">{sentence}</p>");
    }
    for sentence in overflows(profile) {
        let _ = writeln!(html, "<p class=\"note warning\"><strong>Note: </strong>{sentence}</p>");
    }
    html
}

fn first(profile: &ProfileReport, cheapest: &PolicyReport) -> String {
    let sessions = cheapest.by_session.len();
    format!(
        "{} is the cheapest policy whose prompts all fit {} tokens: {} for {}, {} a session.",
        name(cheapest),
        numbers::tokens(profile.window as f64),
        numbers::dollars(cheapest.total),
        numbers::counted(sessions, "session"),
        numbers::dollars(cheapest.total / sessions.max(1) as f64)
    )
}

fn recorded(podium: &Podium<'_>, cheapest: &PolicyReport) -> Option<String> {
    let recorded = podium.recorded?;
    if recorded.policy == cheapest.policy {
        return None;
    }
    Some(format!(
        "Against the sessions as they were recorded ({}), {}",
        numbers::dollars(recorded.total),
        compared(cheapest.against(recorded), "it costs")
    ))
}

fn retention(podium: &Podium<'_>, cheapest: &PolicyReport) -> Option<String> {
    let kept = |policy: &PolicyReport| {
        let fur = policy.retention.fur?;
        let pair = policy.retention.pair;
        let pair = pair.map(|pair| format!(" and {} of pairs", numbers::percent(pair.mean)));
        Some(format!(
            "{} of the identifiers that the agent went on to use (95\u{a0}% interval {} to {}){}",
            numbers::percent(fur.mean),
            numbers::percent(fur.low),
            numbers::percent(fur.high),
            pair.unwrap_or_default()
        ))
    };
    let own = match kept(cheapest) {
        Some(own) => format!("{} kept {own}.", name(cheapest)),
        None => {
            return Some("What it forgets was not measured: a cheap policy may be one that forgets much.".to_owned());
        }
    };
    let other = podium.baseline.filter(|baseline| baseline.policy != cheapest.policy);
    let other = other.or(podium.ours.filter(|ours| ours.policy != cheapest.policy));
    let other = other.and_then(|other| Some(format!(" {} kept {}.", name(other), kept(other)?)));
    Some(own + &other.unwrap_or_default())
}

fn optimum(profile: &ProfileReport, cheapest: &PolicyReport) -> Option<String> {
    let optimum = profile.optimum.filter(|cost| cost.is_finite() && *cost > 0.0)?;
    let above = cheapest.above_optimum.unwrap_or(cheapest.total / optimum - 1.0);
    Some(format!(
        "With what is forgotten at its price, a schedule that knows what will come comes to {}; {} comes to {}.",
        numbers::dollars(optimum),
        name(cheapest),
        numbers::change(above)
    ))
}

fn overflows(profile: &ProfileReport) -> impl Iterator<Item = String> {
    let overflowing = profile.policies.iter().filter(|policy| !policy.fits());
    overflowing.map(|policy| {
        format!(
            "{} cannot be chosen: {} had prompts beyond the window. Its cost of {} is what they would cost if they fitted.",
            name(policy),
            numbers::counted(policy.overflowing, "request"),
            numbers::dollars(policy.total)
        )
    })
}

/// A policy's difference from the best baseline, as the report has it or as its sessions give it.
pub fn against_best(policy: &PolicyReport, baseline: &PolicyReport) -> Option<Estimate> {
    policy.against_best.or_else(|| policy.against(baseline))
}

/// Which way a difference goes. What a baseline does to another is no verdict on us.
fn direction(difference: Option<Estimate>, standing: Standing) -> &'static str {
    let Some(difference) = difference.filter(Estimate::is_trusted) else {
        return "plain";
    };
    match standing {
        Standing::Ours if difference.is_below_zero() => "better",
        Standing::Ours if difference.low > 0.0 => "worse",
        Standing::Ours => "noise",
        Standing::Recorded | Standing::Bound | Standing::Baseline => "plain",
    }
}

/// A difference with its interval, as a sentence that `subject` begins.
fn compared(difference: Option<Estimate>, subject: &str) -> String {
    let Some(difference) = difference else {
        return "it cannot be compared: they have no sessions in common.".to_owned();
    };
    let mut text = format!(
        "{subject} {} (95\u{a0}% interval: {}, over {}).",
        numbers::change(difference.mean),
        stretch(&difference),
        numbers::counted(difference.clusters, "session")
    );
    if !difference.is_trusted() {
        text.push_str(" With so few sessions the interval is not to be trusted.");
    } else if difference.low <= 0.0 && difference.high >= 0.0 {
        text.push_str(" That is within noise.");
    }
    text
}

/// Both ends of an interval of differences, in words, the larger saving first.
fn stretch(difference: &Estimate) -> String {
    let (low, high) = (numbers::change(difference.low), numbers::change(difference.high));
    match (low.strip_suffix(" less"), high.strip_suffix(" less")) {
        (Some(most), Some(_)) => format!("{high} to {most}").replacen(" less to", " to", 1) + " less",
        _ => format!("{low} to {high}"),
    }
}

/// A policy's name, to stand in a sentence.
pub fn name(policy: &PolicyReport) -> String {
    format!("<strong><bdi>{}</bdi></strong>", Shown(&policy.policy))
}

/// All profiles beside each other, where there are several.
pub fn overview(report: &Report) -> String {
    if report.profiles.len() < 2 {
        return String::new();
    }
    let mut rows = String::new();
    for (place, profile) in report.profiles.iter().enumerate() {
        let podium = Podium::of(profile);
        let cost = |policy: Option<&PolicyReport>| {
            policy.map_or_else(
                || numbers::NONE.to_owned(),
                |policy| {
                    format!(
                        "<bdi>{}</bdi> {}",
                        Shown(&policy.policy),
                        numbers::dollars(policy.total)
                    )
                },
            )
        };
        let difference = |estimate: Option<Estimate>| {
            estimate.map_or_else(
                || numbers::NONE.to_owned(),
                |estimate| {
                    format!(
                        "{} <span class=\"sub\">[{}, {}]</span>",
                        numbers::signed(estimate.mean),
                        numbers::signed(estimate.low),
                        numbers::signed(estimate.high)
                    )
                },
            )
        };
        let cheapest = podium.cheapest;
        let against = |other: Option<&PolicyReport>| cheapest.zip(other).and_then(|(one, other)| one.against(other));
        let best = cheapest
            .zip(podium.baseline)
            .and_then(|(one, other)| against_best(one, other));
        let fur = cheapest.and_then(|policy| policy.retention.fur);
        let _ = writeln!(
            rows,
            "<tr><th scope=\"row\"><a href=\"#profile={}\">{}</a></th><td>{}</td><td>{}</td><td class=\"figure\">{}</td><td class=\"figure\">{}</td><td class=\"figure\">{}</td></tr>",
            place + 1,
            Shown(&profile.title),
            cost(cheapest),
            cost(podium.baseline),
            difference(best),
            difference(against(podium.recorded)),
            fur.map_or_else(|| numbers::NONE.to_owned(), |fur| numbers::percent(fur.mean))
        );
    }
    format!(
        "<h2>All profiles</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"All profiles\"><table class=\"plain pinned\"><thead><tr><th scope=\"col\">Profile</th><th scope=\"col\">Cheapest that fits</th><th scope=\"col\">Best baseline</th><th scope=\"col\">Against it</th><th scope=\"col\">Against the recording</th><th scope=\"col\">Identifiers kept</th></tr></thead><tbody>\n{rows}</tbody></table></div>\n"
    )
}
