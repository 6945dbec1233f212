//! A replay on the terminal.

use mainstay_engine::economy::Profile;
use mainstay_eval::replay::report::PolicyReport;
use mainstay_eval::replay::report::ProfileReport;
use mainstay_eval::replay::report::Report;
use mainstay_eval::stats::Estimate;

use crate::screen::Screen;
use crate::screen::number;
use crate::screen::plain;

/// The profiles and the rules of their caches.
pub fn profiles(profiles: &[Profile], screen: &mut Screen) -> anyhow::Result<()> {
    let rows = profiles.iter().map(|profile| {
        let rates = &profile.tariff.base;
        vec![
            profile.name.clone(),
            dollars(rates.input),
            dollars(rates.output),
            dollars(rates.cache_read),
            dollars(rates.cache_write),
            profile.title.clone(),
        ]
    });
    screen.table(&["PROFILE", ">IN", ">OUT", ">READ", ">WRITE", "WHAT"], rows.collect())
}

fn dollars(rate: f64) -> String {
    format!("{}", (rate * 1e4).round() / 1e4)
}

/// The report.
pub fn report(report: &Report, screen: &mut Screen) -> anyhow::Result<()> {
    screen.line(&format!(
        "{} sessions, {} requests",
        report.sessions,
        number(report.requests as u64)
    ))?;
    for profile in &report.profiles {
        one(profile, screen)?;
    }
    Ok(())
}

fn one(profile: &ProfileReport, screen: &mut Screen) -> anyhow::Result<()> {
    screen.heading(&format!(
        "{}: {}, window {}",
        profile.profile,
        plain(&profile.title),
        number(profile.window)
    ))?;
    let rows = profile.policies.iter().map(|policy| row(profile, policy));
    screen.table(
        &[
            "POLICY",
            ">COST",
            ">READ",
            ">WRITE",
            ">OUTPUT",
            ">SUMM.",
            ">AGAINST BEST",
            ">HITS",
            ">PASSES",
            ">PEAK",
            ">MEAN",
            ">FUR",
            ">PAIR",
            ">BY SESSION",
            ">OVER",
        ],
        rows.collect(),
    )
}

fn row(profile: &ProfileReport, policy: &PolicyReport) -> Vec<String> {
    let is_best = profile.best_baseline.as_deref() == Some(&policy.policy);
    let share = |estimate: &Option<Estimate>| {
        estimate
            .as_ref()
            .map_or("–".to_owned(), |estimate| format!("{:.3}", estimate.mean))
    };
    vec![
        format!("{}{}", policy.policy, if is_best { " *" } else { "" }),
        format!("{:.2}", policy.total),
        format!("{:.2}", policy.bill.cache_read),
        format!("{:.2}", policy.bill.cache_write + policy.bill.fresh),
        format!("{:.2}", policy.bill.output),
        format!("{:.2}", policy.bill.summaries),
        policy.against_best.as_ref().map_or("–".to_owned(), |against| {
            format!(
                "{:+.1} % [{:+.1}, {:+.1}]",
                against.mean * 100.0,
                against.low * 100.0,
                against.high * 100.0
            )
        }),
        format!("{:.1} %", policy.cache_hits * 100.0),
        policy.cadence.passes.to_string(),
        number(policy.peak),
        number(policy.mean_prompt as u64),
        share(&policy.retention.fur),
        share(&policy.retention.pair),
        share(&policy.retention.fur_by_session),
        policy.overflowing.to_string(),
    ]
}
