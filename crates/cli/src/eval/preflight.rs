//! `mainstay eval preflight`: conversations with an answer sheet, compacted and checked, without a model.

use clap::Args;
use indicatif::ProgressBar;
use indicatif::ProgressStyle;
use mainstay_eval::preflight;
use mainstay_eval::preflight::Engine;
use mainstay_eval::preflight::EngineReport;
use mainstay_eval::preflight::HotTail;
use mainstay_eval::preflight::Report;

use crate::gate::GateNotMet;
use crate::screen::Screen;
use crate::screen::plain;

/// So many reasons of a failure are shown; all of them are in the JSON.
const MOST_REASONS: usize = 3;

/// Check that compaction keeps what matters and shows nothing it must not: deterministic, no model.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Which engine: its name, or `all`.
    #[arg(long, default_value = "all", value_name = "NAME")]
    engine: String,

    /// How many conversations to generate, beside the one written by hand.
    #[arg(long, default_value_t = 24, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(..=10_000))]
    seeds: u64,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

/// Checks.
pub fn run(arguments: &Arguments, screen: &mut Screen) -> anyhow::Result<()> {
    let engines = engines(&arguments.engine)?;
    let style = ProgressStyle::with_template("checking {wide_bar} {pos}/{len} conversations");
    let bar = ProgressBar::new(engines.len() as u64 * (arguments.seeds + 1));
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let report = preflight::run(&engines, arguments.seeds, &|done| bar.set_position(done as u64));
    bar.finish_and_clear();
    if arguments.json {
        screen.json(&report)?;
    } else {
        print(&report, screen)?;
    }
    // The trivial engine is there to fail.
    let is_judged = |engine: &&EngineReport| engine.engine != HotTail.name();
    let failing: Vec<_> = report
        .engines
        .iter()
        .filter(is_judged)
        .filter(|engine| !engine.is_clean())
        .map(|engine| format!("{}: {} checks failed", engine.engine, engine.failures.len()))
        .collect();
    if failing.is_empty() {
        return Ok(());
    }
    Err(GateNotMet(failing.join("; ")).into())
}

fn engines(wanted: &str) -> anyhow::Result<Vec<Box<dyn Engine>>> {
    let mut engines = preflight::engines();
    let known: Vec<_> = engines.iter().map(|engine| engine.name().to_owned()).collect();
    engines.retain(|engine| wanted == "all" || engine.name() == wanted);
    if engines.is_empty() {
        anyhow::bail!("no engine {wanted:?}; there are {} and all", known.join(", "));
    }
    Ok(engines)
}

fn print(report: &Report, screen: &mut Screen) -> anyhow::Result<()> {
    let names: Vec<&str> = report.engines.iter().map(|engine| engine.engine.as_str()).collect();
    screen.heading("The seed's conversation")?;
    let titles = [&["CHECK", "WHAT MUST HOLD"][..], &names].concat();
    let Some(first) = report.engines.first() else {
        return Ok(());
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (place, line) in first.smoke.iter().enumerate() {
        let marks = report
            .engines
            .iter()
            .map(|engine| mark(engine.smoke[place].passed).to_owned());
        rows.push(
            [line.check.to_owned(), line.title.to_owned()]
                .into_iter()
                .chain(marks)
                .collect(),
        );
    }
    let totals = report
        .engines
        .iter()
        .map(|engine| format!("{}/{}", engine.smoke_passed, engine.smoke_checks));
    rows.push([String::new(), String::new()].into_iter().chain(totals).collect());
    screen.table(&titles, rows)?;
    screen.heading(&format!(
        "All conversations: that one and {} generated",
        report.conversations
    ))?;
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (place, count) in first.checks.iter().enumerate() {
        let shares = report.engines.iter().map(|engine| {
            let count = &engine.checks[place];
            format!("{}/{}", count.passed, count.asked)
        });
        rows.push(
            [count.check.to_owned(), count.title.to_owned()]
                .into_iter()
                .chain(shares)
                .collect(),
        );
    }
    screen.table(&titles, rows)?;
    for engine in report.engines.iter().filter(|engine| engine.engine != HotTail.name()) {
        print_failures(engine, screen)?;
    }
    Ok(())
}

fn mark(passed: bool) -> &'static str {
    if passed { "ok" } else { "FAILED" }
}

fn print_failures(engine: &EngineReport, screen: &mut Screen) -> anyhow::Result<()> {
    if engine.is_clean() {
        return screen.line(&format!("\n{} passes every check.", engine.engine));
    }
    screen.heading(&format!("What {} fails", engine.engine))?;
    for failure in &engine.failures {
        screen.line(&format!("  {} in {}", failure.check, failure.conversation))?;
        for reason in failure.reasons.iter().take(MOST_REASONS) {
            screen.faint(&format!("    {}", plain(reason)))?;
        }
        if failure.reasons.len() > MOST_REASONS {
            screen.faint(&format!("    and {} more", failure.reasons.len() - MOST_REASONS))?;
        }
    }
    Ok(())
}
