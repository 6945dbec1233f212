//! What a run says to people, before and after.

use std::path::Path;

use mainstay_eval::record::Dimension;
use mainstay_eval::run::Plan;
use mainstay_eval::run::estimate::DutyEstimate;
use mainstay_eval::run::report::ArmReport;
use mainstay_eval::run::report::Figure;
use mainstay_eval::run::report::Report;
use mainstay_eval::run::report::identical_words;
use mainstay_eval::run::report::made_otherwise;
use serde::Serialize;

use crate::screen::Screen;
use crate::screen::number;
use crate::screen::plain;

/// So many misses of an arm are shown; all of them are in the report.
const MOST_MISSES: usize = 8;

/// What would be asked.
#[derive(Serialize)]
struct DryRun<'a> {
    fixtures: Vec<&'a str>,
    arms: Vec<String>,
    repeats: u32,
    samples: usize,
    expected: &'a [DutyEstimate],
    cost: Option<f64>,
}

/// What all duties together are expected to cost; `None` where a price is missing.
fn total(expected: &[DutyEstimate]) -> Option<f64> {
    let costs: Option<Vec<f64>> = expected.iter().map(|duty| duty.cost).collect();
    costs.map(|costs| costs.into_iter().fold(0.0, |sum, cost| sum + cost))
}

/// Says what would be asked.
pub fn dry_run(plan: &Plan, expected: &[DutyEstimate], json: bool, screen: &mut Screen) -> anyhow::Result<()> {
    if json {
        return screen.json(&DryRun {
            fixtures: plan.exam.subjects.iter().map(|subject| subject.name()).collect(),
            arms: plan.arms.iter().map(|arm| arm.spec()).collect(),
            repeats: plan.repeats,
            samples: plan.samples(),
            expected,
            cost: total(expected),
        });
    }
    shape(plan, screen)?;
    costs(expected, screen)
}

/// Says what will be asked.
pub fn begin(plan: &Plan, expected: &[DutyEstimate], directory: &Path, screen: &mut Screen) -> anyhow::Result<()> {
    shape(plan, screen)?;
    if !expected.is_empty() {
        costs(expected, screen)?;
    }
    screen.faint(&format!("kept in {}", directory.display()))
}

fn shape(plan: &Plan, screen: &mut Screen) -> anyhow::Result<()> {
    let arms: Vec<&str> = plan.arms.iter().map(|arm| arm.name.as_str()).collect();
    screen.line(&format!(
        "{} fixtures × {} arms × {} repeats = {} samples, target {}",
        plan.exam.subjects.len(),
        arms.len(),
        plan.repeats,
        number(plan.samples() as u64),
        plan.setting.target
    ))?;
    screen.line(&format!("arms: {}", arms.join(", ")))
}

fn costs(expected: &[DutyEstimate], screen: &mut Screen) -> anyhow::Result<()> {
    if expected.is_empty() {
        return screen.line("No model is asked: states are graded themselves, and it costs nothing.");
    }
    let money = |cost: Option<f64>| cost.map_or("unknown".to_owned(), |cost| format!("${cost:.2}"));
    let row = |duty: &DutyEstimate| {
        vec![
            duty.duty.to_owned(),
            plain(&duty.model),
            number(duty.calls),
            number(duty.input),
            number(duty.output),
            money(duty.cost),
        ]
    };
    let titles = ["DUTY", "MODEL", ">CALLS", ">TOKENS IN", ">TOKENS OUT", ">COST"];
    screen.table(&titles, expected.iter().map(row).collect())?;
    screen.line(&format!(
        "expected to cost {} in all, without retries and without what providers' caches save",
        money(total(expected))
    ))
}

/// Says what a run came to.
pub fn report(report: &Report, directory: &Path, screen: &mut Screen) -> anyhow::Result<()> {
    screen.heading("Arms")?;
    arms(report, screen)?;
    for words in report
        .arms
        .iter()
        .filter(|arm| !arm.is_control)
        .filter_map(made_otherwise)
    {
        screen.line(&words)?;
    }
    for pair in &report.identical {
        screen.line(&identical_words(pair))?;
    }
    let is_judged = report.arms.iter().any(|arm| !arm.scores.is_empty());
    if is_judged {
        screen.heading("Scores by dimension (medians over repeats, 0 to 5)")?;
        scores(report, screen)?;
    }
    screen.heading("Expected facts by type of probe")?;
    types(report, screen)?;
    for arm in report.arms.iter().filter(|arm| !arm.is_control) {
        misses(report, arm, screen)?;
    }
    if let Some(agreement) = &report.agreement
        && let Some(same) = agreement.same_verdict
    {
        screen.line(&format!(
            "\nGrader and judge give the same verdict on {:.0} % of {} answers{}.",
            100.0 * same,
            agreement.pairs,
            agreement
                .kappa
                .map_or(String::new(), |kappa| format!(", kappa {kappa:.2}"))
        ))?;
    }
    let excluded: usize = report.excluded.values().sum();
    if excluded > 0 {
        screen.heading(&format!("{excluded} samples count in no score"))?;
        for (why, count) in &report.excluded {
            screen.line(&format!("  {count}: {}", plain(why)))?;
        }
    }
    screen.line("")?;
    let cost: f64 = report
        .spent
        .iter()
        .filter_map(|spent| spent.cost)
        .fold(0.0, |sum, cost| sum + cost);
    let unpriced: u64 = report.spent.iter().map(|spent| spent.unpriced).sum();
    if !report.spent.is_empty() {
        let unknown = if unpriced > 0 {
            format!(", {unpriced} calls without a known price")
        } else {
            String::new()
        };
        screen.line(&format!("cost ${cost:.4}{unknown}"))?;
    }
    screen.line(&format!("report: {}", directory.join("report.md").display()))
}

fn arms(report: &Report, screen: &mut Screen) -> anyhow::Result<()> {
    let interval = |figure: &Figure, digits: usize| {
        let (median, estimate) = (figure.median, figure.estimate);
        match estimate.is_trusted() {
            true => format!(
                "{median:.digits$} ({:.digits$}–{:.digits$})",
                estimate.low, estimate.high
            ),
            // So few fixtures say nothing about others.
            false => format!("{median:.digits$}"),
        }
    };
    let row = |arm: &ArmReport| {
        let overall = arm.scores.get("overall").map(|figure| interval(figure, 2));
        let in_state = arm.state_recall.map(|figure| interval(&figure, 3));
        vec![
            arm.arm.clone(),
            format!("{:.0}", arm.tokens_after),
            format!("{:.0} %", 100.0 * arm.tokens_after / arm.tokens_before.max(1.0)),
            overall.unwrap_or_else(|| "–".to_owned()),
            arm.answer_recall
                .map_or("–".to_owned(), |figure| format!("{:.3}", figure.median)),
            in_state.unwrap_or_else(|| "–".to_owned()),
            arm.stale.to_string(),
            arm.leaks.to_string(),
            arm.flaws.to_string(),
        ]
    };
    let titles = [
        "ARM",
        ">TOKENS",
        ">KEPT",
        ">OVERALL (95 %)",
        ">FACTS ANSWERED",
        ">FACTS IN STATE (95 %)",
        ">STALE",
        ">LEAKS",
        ">FAULTS",
    ];
    screen.table(&titles, report.arms.iter().map(row).collect())
}

fn scores(report: &Report, screen: &mut Screen) -> anyhow::Result<()> {
    let titles: Vec<String> = std::iter::once("ARM".to_owned())
        .chain(
            Dimension::ALL
                .iter()
                .map(|dimension| format!(">{}", dimension.title().to_uppercase())),
        )
        .collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let row = |arm: &ArmReport| {
        let score = |dimension: &Dimension| {
            let figure = arm.scores.get(dimension.name());
            figure.map_or("–".to_owned(), |figure| format!("{:.2}", figure.median))
        };
        std::iter::once(arm.arm.clone())
            .chain(Dimension::ALL.iter().map(score))
            .collect()
    };
    screen.table(&titles, report.arms.iter().map(row).collect())
}

fn types(report: &Report, screen: &mut Screen) -> anyhow::Result<()> {
    let Some(first) = report.arms.first() else {
        return Ok(());
    };
    let titles: Vec<String> = std::iter::once("ARM".to_owned())
        .chain(
            first
                .types
                .iter()
                .map(|kind| format!(">{}", kind.kind.name().to_uppercase())),
        )
        .collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let row = |arm: &ArmReport| {
        let shares = arm
            .types
            .iter()
            .map(|kind| format!("{:.3}", kind.answer_recall.unwrap_or(kind.state_recall)));
        std::iter::once(arm.arm.clone()).chain(shares).collect()
    };
    screen.table(&titles, report.arms.iter().map(row).collect())
}

fn misses(report: &Report, arm: &ArmReport, screen: &mut Screen) -> anyhow::Result<()> {
    let own: Vec<_> = report.misses.iter().filter(|miss| miss.arm == arm.arm).collect();
    if own.is_empty() {
        return Ok(());
    }
    screen.heading(&format!("What {} misses", arm.arm))?;
    for miss in own.iter().take(MOST_MISSES) {
        let worth = match miss.score {
            Some(score) => format!("{score:.1}"),
            None => format!("{:.0} %", 100.0 * miss.recall),
        };
        let mut why = Vec::new();
        why.extend(miss.reason.clone());
        if miss.reason.is_none() && !miss.missing.is_empty() {
            why.push(format!("missing: {}", miss.missing.join("; ")));
        }
        if !miss.stale.is_empty() {
            why.push(format!("stale as current: {}", miss.stale.join("; ")));
        }
        screen.line(&format!("  {} / {}: {worth}", plain(&miss.fixture), plain(&miss.probe)))?;
        screen.faint(&format!("    {}", plain(&why.join("; "))))?;
    }
    if own.len() > MOST_MISSES {
        screen.faint(&format!("  and {} more, in the report", own.len() - MOST_MISSES))?;
    }
    Ok(())
}
