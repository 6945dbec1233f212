//! A replay on the terminal.

use mainstay_engine::economy::Matching;
use mainstay_engine::economy::Place;
use mainstay_engine::economy::Profile;
use mainstay_eval::replay::check::Check;
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
        let cache = &profile.cache;
        let tiers = profile.tariff.tiers.iter().map(|tier| {
            let rates = [
                tier.rates.input,
                tier.rates.output,
                tier.rates.cache_read,
                tier.rates.cache_write,
            ];
            let rates = rates.map(dollars).join("/");
            format!("above {}: {rates}", number(tier.above))
        });
        vec![
            profile.name.clone(),
            dollars(rates.input),
            dollars(rates.output),
            dollars(rates.cache_read),
            dollars(rates.cache_write),
            number(profile.window),
            number(cache.least),
            minutes(cache.lifetime),
            matching(&cache.matching),
            tiers.collect::<Vec<_>>().join("; "),
        ]
    });
    screen.line("Dollars a million tokens; where writing to the cache is free it costs what input costs.\n")?;
    screen.table(
        &[
            "PROFILE",
            ">IN",
            ">OUT",
            ">READ",
            ">WRITE",
            ">WINDOW",
            ">LEAST",
            ">LIFE",
            "FINDS",
            "PRICE STEPS",
        ],
        rows.collect(),
    )
}

fn minutes(milliseconds: i64) -> String {
    match milliseconds / 60_000 {
        minutes if minutes >= 60 => format!("{} h", minutes / 60),
        minutes => format!("{minutes} min"),
    }
}

fn matching(matching: &Matching) -> String {
    let Matching::Marked { places, .. } = matching else {
        return "any beginning".to_owned();
    };
    let places = places.iter().map(|place| match place {
        Place::Preface => "preface".to_owned(),
        Place::Anchor => "anchor".to_owned(),
        Place::Back(0) => "end".to_owned(),
        Place::Back(steps) => format!("end-{steps}"),
    });
    format!("marks: {}", places.collect::<Vec<_>>().join(", "))
}

fn dollars(rate: f64) -> String {
    format!("{}", (rate * 1e4).round() / 1e4)
}

/// What the simulated cache predicts, beside what providers reported.
pub fn check(check: &Check, screen: &mut Screen) -> anyhow::Result<()> {
    for agent in &check.agents {
        screen.heading(&format!(
            "{}: {} sessions, {} requests with a report",
            plain(&agent.source),
            agent.sessions,
            number(agent.requests as u64)
        ))?;
        let measures = [
            ("input", Some(&agent.input)),
            ("cache read", Some(&agent.cache_read)),
            ("cache write", agent.cache_write.as_ref()),
        ];
        let rows = measures.into_iter().filter_map(|(name, agreement)| {
            let agreement = agreement?;
            Some(vec![
                name.to_owned(),
                number(agreement.predicted as u64),
                number(agreement.reported as u64),
                per_cent(agreement.error),
                per_cent(agreement.median_error),
                format!("{:.1} %", agreement.median_distance * 100.0),
            ])
        });
        screen.table(
            &[
                "TOKENS",
                ">PREDICTED",
                ">REPORTED",
                ">ERROR",
                ">MEDIAN SESSION",
                ">MEDIAN DISTANCE",
            ],
            rows.collect(),
        )?;
    }
    Ok(())
}

fn per_cent(share: f64) -> String {
    format!("{:+.1} %", share * 100.0)
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
            ">FRESH",
            ">OUTPUT",
            ">SUMM.",
            ">AGAINST BEST",
            ">HITS",
            ">PEAK",
            ">MEAN",
            ">WAIT",
            ">FUR",
            ">PAIR",
            ">OVER",
        ],
        rows.collect(),
    )?;
    screen.line("")?;
    let rows = profile.policies.iter().map(cadence);
    screen.table(
        &[
            "POLICY",
            ">PASSES",
            ">PER 100",
            ">BETWEEN",
            ">SUMMARIES",
            ">RECLAIMED",
            ">TOKENS",
            ">EARLIEST",
            ">PRUNE ONLY",
            ">FUR AT PASSES",
            ">BY SESSION",
            ">ABOVE OPTIMUM",
        ],
        rows.collect(),
    )
}

fn figure(value: Option<f64>, shown: impl Fn(f64) -> String) -> String {
    value.map_or("–".to_owned(), shown)
}

fn cadence(policy: &PolicyReport) -> Vec<String> {
    let cadence = &policy.cadence;
    let share = |share: f64| format!("{share:.3}");
    vec![
        policy.policy.clone(),
        cadence.passes.to_string(),
        format!("{:.1}", cadence.per_hundred),
        figure(cadence.between, |requests| format!("{requests:.1}")),
        format!("{:.2}", cadence.summary_calls),
        figure(cadence.reclaimed, |tokens| number(tokens as u64)),
        number(cadence.tokens as u64),
        figure(cadence.earliest, |message| format!("{message:.1}")),
        figure(cadence.prune_only, |share| format!("{:.0} %", share * 100.0)),
        figure(policy.retention.fur_at_passes, share),
        figure(
            policy.retention.fur_by_session.as_ref().map(|estimate| estimate.mean),
            share,
        ),
        figure(policy.above_optimum, per_cent),
    ]
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
        format!("{:.2}", policy.bill.cache_write),
        format!("{:.2}", policy.bill.fresh),
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
        number(policy.peak),
        number(policy.mean_prompt as u64),
        waiting(policy.wall),
        share(&policy.retention.fur),
        share(&policy.retention.pair),
        policy.overflowing.to_string(),
    ]
}

fn waiting(seconds: f64) -> String {
    let minutes = (seconds / 60.0).round() as u64;
    format!("{}:{:02} h", minutes / 60, minutes % 60)
}
