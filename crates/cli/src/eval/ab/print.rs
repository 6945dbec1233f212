//! What an A/B says to people.

use std::path::Path;

use mainstay_eval::ab::AbReport;
use mainstay_eval::ab::ContextReport;
use mainstay_eval::ab::Miss;
use mainstay_eval::ab::Outcome;
use mainstay_eval::ab::ScorerReport;

use crate::screen::Screen;
use crate::screen::plain;

/// So many questions that differ are shown; all of them are in the report.
const MOST_DIFFERING: usize = 8;

/// Says what an A/B came to.
pub fn report(report: &AbReport, shown: &Path, screen: &mut Screen) -> anyhow::Result<()> {
    screen.heading("What the model was shown")?;
    contexts(report, screen)?;
    for scorer in &report.scorers {
        screen.heading(&format!("Scored by the {} ({})", scorer.scorer, report.scored))?;
        outcomes(report, scorer, screen)?;
        unscored(scorer, screen)?;
    }
    if let Some(scorer) = report.scorers.last() {
        differing(report, scorer, screen)?;
    }
    for (scorers, share) in &report.agreement {
        screen.line(&format!("{scorers} agree on {:.0} %", 100.0 * share))?;
    }
    screen.line("")?;
    screen.line(&format!("report: {}", shown.display()))
}

fn contexts(report: &AbReport, screen: &mut Screen) -> anyhow::Result<()> {
    let row = |context: &ContextReport| {
        vec![
            context.arm.clone(),
            format!("{:.1}", context.messages),
            format!("{:.0}", context.tokens),
            format!("{:.0}", context.tokens_before),
            format!("{} of {}", context.over_target, context.states),
            context.secrets.to_string(),
            context.addresses.to_string(),
            format!("{} of {}", context.tail_unchanged, context.states),
        ]
    };
    let titles = [
        "ARM",
        ">MESSAGES",
        ">TOKENS",
        ">OF",
        ">OVER TARGET",
        ">SECRETS",
        ">ADDRESSES",
        ">HOT TAIL UNCHANGED",
    ];
    screen.table(&titles, report.contexts.iter().map(row).collect())
}

fn outcomes(report: &AbReport, scorer: &ScorerReport, screen: &mut Screen) -> anyhow::Result<()> {
    let [a, b] = &scorer.arms[..] else {
        return Ok(());
    };
    let difference = |name: &str| {
        let points = |share: f64| format!("{:+.1}", 100.0 * share);
        let estimate = scorer.differences.get(name);
        estimate.map_or(String::new(), |estimate| {
            format!(
                "{} ({} to {})",
                points(estimate.mean),
                points(estimate.low),
                points(estimate.high)
            )
        })
    };
    let mut rows = Vec::new();
    for outcome in Outcome::ALL {
        let [a, b] = [a, b].map(|arm| arm.outcomes.get(&outcome).copied().unwrap_or(0));
        rows.push(vec![
            outcome.name().to_owned(),
            a.to_string(),
            b.to_string(),
            difference(outcome.name()),
        ]);
    }
    rows.push(vec![
        "any miss".to_owned(),
        a.missed.to_string(),
        b.missed.to_string(),
        difference("missed"),
    ]);
    for miss in Miss::ALL {
        let [a, b] = [a, b].map(|arm| arm.misses.get(&miss).copied().unwrap_or(0));
        rows.push(vec![
            format!("  {}", miss.title()),
            a.to_string(),
            b.to_string(),
            String::new(),
        ]);
    }
    let mut figure = |name: &str, a: f64, b: f64| {
        rows.push(vec![
            name.to_owned(),
            format!("{a:.2}"),
            format!("{b:.2}"),
            String::new(),
        ]);
    };
    figure(
        "corrections per 100 turns",
        a.corrections_per_100_turns,
        b.corrections_per_100_turns,
    );
    figure("stale answers per session", a.stale_per_session, b.stale_per_session);
    let (a, b) = (format!(">A: {}", report.a), format!(">B: {}", report.b));
    screen.table(&["OUTCOME", &a, &b, ">B − A IN POINTS (95 %)"], rows)
}

fn unscored(scorer: &ScorerReport, screen: &mut Screen) -> anyhow::Result<()> {
    for arm in &scorer.arms {
        for (why, count) in &arm.unscored {
            screen.line(&format!("{count} of {} not scored: {}", arm.arm, plain(why)))?;
        }
    }
    Ok(())
}

fn differing(report: &AbReport, scorer: &ScorerReport, screen: &mut Screen) -> anyhow::Result<()> {
    if scorer.differing.is_empty() {
        return Ok(());
    }
    screen.heading(&format!("Where {} and {} differ", report.a, report.b))?;
    for differing in scorer.differing.iter().take(MOST_DIFFERING) {
        screen.line(&format!(
            "  {} / {}: {} → {}",
            plain(&differing.checkpoint),
            plain(&differing.probe),
            differing.a.name(),
            differing.b.name()
        ))?;
        let why = match differing.b {
            Outcome::Correct => &differing.a_why,
            Outcome::Stale | Outcome::Missing | Outcome::Unsafe | Outcome::Ambiguous => &differing.b_why,
        };
        screen.faint(&format!("    {}", plain(why)))?;
    }
    if scorer.differing.len() > MOST_DIFFERING {
        let more = scorer.differing.len() - MOST_DIFFERING;
        screen.faint(&format!("  and {more} more, in the report"))?;
    }
    Ok(())
}
