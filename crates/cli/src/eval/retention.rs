//! `mainstay eval retention`: how much of what the agent goes on to use a compaction keeps.

use std::path::Path;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use indicatif::ProgressBar;
use indicatif::ProgressStyle;
use mainstay_eval::retention::Baseline;
use mainstay_eval::retention::Contender;
use mainstay_eval::retention::Floor;
use mainstay_eval::retention::Group;
use mainstay_eval::retention::Report;
use mainstay_eval::retention::Row;
use mainstay_eval::retention::Settings;
use mainstay_eval::retention::Shortfall;
use mainstay_eval::retention::arms;
use mainstay_eval::retention::corpus;
use mainstay_eval::retention::corpus::Corpus;
use mainstay_eval::retention::corpus::Selection;
use mainstay_eval::retention::study;
use mainstay_eval::stats::Estimate;
use serde::Serialize;
use serde_json::Value;
use serde_json::json;

use crate::gate::GateNotMet;
use crate::input::busy;
use crate::numbers::jobs;
use crate::numbers::share;
use crate::output::write;
use crate::screen::Screen;
use crate::screen::number;
use crate::screen::plain;

/// An arm that is over its budget more often than this has figures that say little.
const OFTEN: f64 = 0.05;

/// Cut recorded sessions, compact what stands before the cut, and ask what the agent then uses of it.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Files of normalised trajectories, sessions of any supported format, or folders of them.
    #[arg(required = true)]
    paths: Vec<PathBuf>,

    /// What to compare: names of baselines and engines, `baselines`, `engines` or `all`.
    #[arg(long, value_delimiter = ',', default_value = "all", value_name = "NAMES")]
    arms: Vec<String>,

    /// A compactor that is a command: reads and writes {"messages": [...]}; {budget} is the budget in tokens.
    #[arg(long, value_name = "COMMAND")]
    external: Option<String>,

    /// Budgets, as shares of the tokens before the cut.
    #[arg(long, value_delimiter = ',', default_value = "0.03,0.05,0.1,0.2,0.3", value_name = "SHARES", value_parser = share)]
    budgets: Vec<f64>,

    /// Where to cut, as shares of the session's tokens.
    #[arg(long, value_delimiter = ',', default_value = "0.5,0.75", value_name = "SHARES", value_parser = share)]
    fracs: Vec<f64>,

    /// How many messages after a cut are looked at.
    #[arg(long, default_value_t = 40, value_name = "MESSAGES")]
    horizon: usize,

    /// Leave out sessions with fewer tokens.
    #[arg(long, default_value_t = 6000, value_name = "TOKENS")]
    min_tokens: usize,

    /// At most this many sessions of each source.
    #[arg(long, value_name = "SESSIONS")]
    max: Option<usize>,

    /// Only these sources: file names without their ending for trajectories, else names of formats.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    sources: Vec<String>,

    /// How many threads work (default: one a core).
    #[arg(long, value_name = "THREADS")]
    jobs: Option<usize>,

    /// Figures that must be reached, given here or in a file: [ARM@]BUDGET=FUR/FAR/PAIR,… Exit code 100 where they are not.
    #[arg(long, value_name = "FLOOR")]
    floor: Option<String>,

    /// Write every cut with its figures to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    out: Option<String>,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

/// What is printed with `--json`.
#[derive(Debug, Serialize)]
struct Output<'a> {
    #[serde(flatten)]
    report: &'a Report,
    short: usize,
    unread: usize,
    shortfalls: &'a [Shortfall],
}

/// Measures.
pub fn run(arguments: &Arguments, screen: &mut Screen) -> anyhow::Result<()> {
    let contenders = contenders(arguments)?;
    let floor = arguments.floor.as_deref().map(read_floor).transpose()?;
    if floor.is_some() && contenders.iter().all(Contender::is_baseline) {
        anyhow::bail!("there is no arm under test to hold against the floor");
    }
    let jobs = jobs(arguments.jobs);
    let corpus = read(arguments, jobs, screen)?;
    let rows = measure(arguments, &corpus, &contenders, jobs)?;
    if rows.is_empty() {
        anyhow::bail!("no session is long enough to be cut; --min-tokens says from where on one counts");
    }
    if let Some(path) = &arguments.out {
        let rows: Vec<Value> = rows
            .iter()
            .map(|row| row_json(row, &contenders, &arguments.budgets))
            .collect();
        write(Some(path), &serde_json::to_vec(&rows)?, screen)?;
    }
    let report = Report::new(&rows, &contenders, &arguments.budgets);
    let shortfalls = floor.map(|floor| floor.shortfalls(&report)).unwrap_or_default();
    if arguments.json {
        screen.json(&Output {
            report: &report,
            short: corpus.short,
            unread: corpus.unread.len(),
            shortfalls: &shortfalls,
        })?;
    } else {
        print(&report, &shortfalls, screen)?;
    }
    if shortfalls.is_empty() {
        return Ok(());
    }
    Err(GateNotMet(format!("{} figures are below the floor", shortfalls.len())).into())
}

fn contenders(arguments: &Arguments) -> anyhow::Result<Vec<Contender>> {
    let mut engines = arms::engines();
    let known = || {
        let names = Baseline::ALL.map(|baseline| baseline.name().to_owned()).into_iter();
        names
            .chain(arms::engines().iter().map(|arm| arm.name().to_owned()))
            .collect::<Vec<_>>()
    };
    for name in &arguments.arms {
        let is_group = matches!(name.as_str(), "all" | "baselines" | "engines");
        if !is_group && !known().contains(name) {
            anyhow::bail!(
                "no arm {name:?}; there are {}, baselines, engines and all",
                known().join(", ")
            );
        }
    }
    let wants = |name: &str, group: &str| {
        arguments
            .arms
            .iter()
            .any(|arm| arm == name || arm == group || arm == "all")
    };
    let baselines = Baseline::ALL
        .into_iter()
        .filter(|baseline| wants(baseline.name(), "baselines"));
    let mut contenders: Vec<Contender> = baselines.map(Contender::Baseline).collect();
    engines.retain(|arm| wants(arm.name(), "engines"));
    contenders.extend(engines.into_iter().map(Contender::Arm));
    if let Some(command) = &arguments.external {
        contenders.push(Contender::Arm(Box::new(arms::External::new(command)?)));
    }
    Ok(contenders)
}

/// A floor is figures, or the name of a file with figures.
fn read_floor(given: &str) -> anyhow::Result<Floor> {
    let text = match Path::new(given).is_file() {
        true => std::fs::read_to_string(given).with_context(|| given.to_owned())?,
        false => given.to_owned(),
    };
    Floor::parse(&text).map_err(|problem| anyhow::anyhow!("--floor: {problem}"))
}

fn read(arguments: &Arguments, jobs: usize, screen: &mut Screen) -> anyhow::Result<Corpus> {
    let _busy = busy("reading", u64::MAX);
    let selection = Selection {
        least_tokens: arguments.min_tokens,
        most: arguments.max.unwrap_or(usize::MAX),
        sources: arguments.sources.clone(),
        jobs,
    };
    let corpus = corpus::load(&arguments.paths, &selection)?;
    for (name, reason) in &corpus.unread {
        screen.warn(&format!("{name}: {reason}"));
    }
    Ok(corpus)
}

fn measure(arguments: &Arguments, corpus: &Corpus, contenders: &[Contender], jobs: usize) -> anyhow::Result<Vec<Row>> {
    let settings = Settings {
        budgets: arguments.budgets.clone(),
        cuts: arguments.fracs.clone(),
        horizon: arguments.horizon,
        jobs,
        ..Settings::default()
    };
    let style = ProgressStyle::with_template("measuring {wide_bar} {pos}/{len} sessions, {eta} left");
    let bar = ProgressBar::new(corpus.trajectories.len() as u64);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let rows = study(&corpus.trajectories, contenders, &settings, &|done| {
        bar.set_position(done as u64)
    });
    bar.finish_and_clear();
    Ok(rows?)
}

fn row_json(row: &Row, contenders: &[Contender], budgets: &[f64]) -> Value {
    let mut results = serde_json::Map::new();
    let places = contenders
        .iter()
        .flat_map(|contender| budgets.iter().map(move |budget| (contender, budget)));
    for ((contender, budget), measured) in places.zip(&row.measured) {
        let score = &measured.score;
        let figures = json!({
            "fur": score.fur, "strict": score.strict, "far": score.far, "pair": score.pair, "ptr": score.pointer,
            "used": measured.used,
        });
        results.insert(format!("{}@{budget}", contender.name()), figures);
    }
    json!({
        "source": &*row.source, "id": row.id, "cluster": row.cluster, "cut": row.cut,
        "prefix_tokens": row.prefix_tokens, "needed": row.needed, "far": row.far, "pairs": row.pairs,
        "results": results,
    })
}

fn print(report: &Report, shortfalls: &[Shortfall], screen: &mut Screen) -> anyhow::Result<()> {
    for group in &report.groups {
        print_group(group, &report.budgets, screen)?;
    }
    if report.tested().next().is_some() {
        screen.heading("Significantly below the best baseline")?;
        let rows = report.below_best.iter().map(|below| {
            let against = &below.against;
            vec![
                plain(&below.group),
                against.arm.clone(),
                per_cent(against.budget),
                against.measure.to_owned(),
                signed(&against.difference),
                against.baseline.clone(),
            ]
        });
        let rows: Vec<_> = rows.collect();
        if rows.is_empty() {
            screen.line("  nowhere")?;
        } else {
            screen.table(&["GROUP", "ARM", ">BUDGET", "SHARE", ">DIFFERENCE", "BEST"], rows)?;
        }
    }
    if !shortfalls.is_empty() {
        screen.heading("Below the floor")?;
        let rows = shortfalls.iter().map(|shortfall| {
            vec![
                shortfall.arm.clone(),
                per_cent(shortfall.budget),
                shortfall.measure.to_owned(),
                shortfall.got.map_or("–".to_owned(), |got| format!("{got:.3}")),
                format!("{:.3}", shortfall.wanted),
            ]
        });
        screen.table(&["ARM", ">BUDGET", "SHARE", ">IS", ">FLOOR"], rows.collect())?;
    }
    Ok(())
}

fn print_group(group: &Group, budgets: &[f64], screen: &mut Screen) -> anyhow::Result<()> {
    screen.heading(&format!(
        "{}: {} cuts of {} sessions, median {} tokens before the cut, {} identifiers needed, {:.0} % of them far",
        plain(&group.group),
        group.cuts,
        group.sessions,
        number(group.median_prefix_tokens as u64),
        group.median_needed,
        group.far_share * 100.0,
    ))?;
    for budget in budgets {
        let figures = group.arms.iter().filter(|figures| figures.budget == *budget);
        let rows = figures.map(|figures| {
            let interval =
                |estimate: &Estimate| format!("{:.3} [{:.3}, {:.3}]", estimate.mean, estimate.low, estimate.high);
            let shown = |estimate: &Option<Estimate>| estimate.as_ref().map_or("–".to_owned(), interval);
            let plainly = |estimate: &Option<Estimate>| {
                estimate
                    .as_ref()
                    .map_or("–".to_owned(), |estimate| format!("{:.3}", estimate.mean))
            };
            vec![
                per_cent(*budget),
                figures.arm.clone(),
                shown(&figures.fur),
                shown(&figures.far),
                shown(&figures.pair),
                plainly(&figures.ptr),
                format!("{:.1} %", figures.over_budget * 100.0),
            ]
        });
        screen.table(
            &[">BUDGET", "ARM", "FUR", "FAR", "PAIR", ">PTR", ">OVER"],
            rows.collect(),
        )?;
    }
    for figures in group
        .arms
        .iter()
        .filter(|figures| !figures.baseline && figures.over_budget > OFTEN)
    {
        screen.faint(&format!(
            "  {} is over its budget of {} at {:.0} % of the cuts: its figures there do not compare",
            figures.arm,
            per_cent(figures.budget),
            figures.over_budget * 100.0,
        ))?;
    }
    print_differences(group, screen)
}

/// Every arm under test minus every baseline; an interval on one side of zero is marked.
fn print_differences(group: &Group, screen: &mut Screen) -> anyhow::Result<()> {
    if group.differences.is_empty() {
        return Ok(());
    }
    screen.line("")?;
    // The three shares of one arm, baseline and budget stand together.
    let mut rows: Vec<Vec<String>> = Vec::new();
    for difference in &group.differences {
        let place = [
            difference.arm.clone(),
            difference.baseline.clone(),
            per_cent(difference.budget),
        ];
        let shown = signed(&difference.difference);
        match rows.last_mut().filter(|row| row[..3] == place) {
            Some(row) => row.push(format!("{} {shown}", difference.measure)),
            None => {
                let mut row = place.to_vec();
                row.push(format!("{} {shown}", difference.measure));
                rows.push(row);
            }
        }
    }
    for row in &mut rows {
        row.resize(6, String::new());
    }
    screen.table(&["ARM", "MINUS", ">BUDGET", "DIFFERENCE", "", ""], rows)
}

fn signed(estimate: &Estimate) -> String {
    let mark = if estimate.low > 0.0 || estimate.high < 0.0 {
        "*"
    } else {
        ""
    };
    format!(
        "{:+.3} [{:+.3}, {:+.3}]{mark}",
        estimate.mean, estimate.low, estimate.high
    )
}

fn per_cent(share: f64) -> String {
    format!("{} %", (share * 1000.0).round() / 10.0)
}
