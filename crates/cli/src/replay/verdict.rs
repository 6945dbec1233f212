//! What a profile's figures come to, in a sentence or two.

use mainstay_eval::replay::Podium;
use mainstay_eval::replay::report::PolicyReport;
use mainstay_eval::replay::report::ProfileReport;
use mainstay_eval::stats::Estimate;

use crate::replay::counted;
use crate::screen::number;

/// The verdict.
pub fn of(profile: &ProfileReport) -> String {
    let podium = Podium::of(profile);
    match (podium.ours, podium.baseline) {
        (Some(ours), Some(baseline)) => both(ours, baseline),
        (Some(ours), None) => format!(
            "No baseline kept every prompt within the window. {} did, for {}{}.",
            ours.policy,
            dollars(ours.total),
            kept(ours)
        ),
        (None, Some(baseline)) => {
            let others = match profile.policies.iter().all(|policy| policy.is_baseline) {
                true => "",
                false => "; none of ours kept every prompt within the window",
            };
            format!(
                "{} is the best baseline: {}{}{others}.",
                baseline.policy,
                dollars(baseline.total),
                kept(baseline)
            )
        }
        (None, None) => format!(
            "No policy kept every prompt within the window of {} tokens: there is none to choose. A larger --window leaves room for \
             instructions and the newest messages.",
            number(profile.window)
        ),
    }
}

fn both(ours: &PolicyReport, baseline: &PolicyReport) -> String {
    let difference = ours.against_best.or_else(|| ours.against(baseline));
    let share = difference.map_or(0.0, |difference| difference.mean);
    let (own, other) = (dollars(ours.total), dollars(baseline.total));
    let costs = match own == other {
        true => own,
        false => format!("{own} instead of {other}"),
    };
    format!(
        "{} costs {} {}, the best baseline: {costs}{}. It keeps {}.",
        ours.policy,
        change(share),
        baseline.policy,
        difference.map_or(String::new(), |difference| interval(&difference)),
        beside(ours, baseline)
    )
}

fn change(share: f64) -> String {
    let shown = format!("{:.1}", share.abs() * 100.0);
    match share {
        _ if shown == "0.0" => "as much as".to_owned(),
        _ if share < 0.0 => format!("{shown} % less than"),
        _ => format!("{shown} % more than"),
    }
}

/// How sure that is.
fn interval(difference: &Estimate) -> String {
    let over = counted(difference.clusters, "session", "sessions");
    if !difference.is_trusted() {
        return format!(" (over {over}: too few to tell it from chance)");
    }
    let noise = match difference.low <= 0.0 && difference.high >= 0.0 {
        true => ", within noise",
        false => "",
    };
    format!(
        " (95 % interval {:+.1} % to {:+.1} % over {over}{noise})",
        difference.low * 100.0,
        difference.high * 100.0
    )
}

fn beside(ours: &PolicyReport, baseline: &PolicyReport) -> String {
    let shares = (&ours.retention.fur, &baseline.retention.fur);
    let (Some(own), Some(other)) = shares else {
        return "what nobody can tell: the sessions are too short to ask what the agent went on to use".to_owned();
    };
    format!(
        "{} of the identifiers that the agent went on to use, {} keeps {}",
        per_cent(own.mean),
        baseline.policy,
        per_cent(other.mean)
    )
}

fn kept(policy: &PolicyReport) -> String {
    let fur = policy.retention.fur.as_ref();
    fur.map_or(String::new(), |fur| {
        format!(
            ", keeping {} of the identifiers that the agent went on to use",
            per_cent(fur.mean)
        )
    })
}

fn per_cent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Dollars, to the cent or to three figures.
fn dollars(value: f64) -> String {
    let places = match value.abs() {
        size if size >= 1.0 || size == 0.0 => 2,
        size if size >= 0.1 => 3,
        size if size >= 0.01 => 4,
        _ => 5,
    };
    format!("${value:.places$}")
}
