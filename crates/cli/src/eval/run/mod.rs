//! `mainstay eval run`: probes asked about compacted conversations, answered and judged by models, or graded without any.

mod batch;
mod models;
mod plan;
pub mod print;

use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use indicatif::ProgressBar;
use indicatif::ProgressStyle;
use mainstay_eval::run::Ended;
use mainstay_eval::run::Happening;
use mainstay_eval::run::Plan;
use mainstay_eval::run::desk::Desk;
use mainstay_eval::run::desk::Mode;
use mainstay_eval::run::estimate::DutyEstimate;
use mainstay_eval::run::estimate::estimate;
use mainstay_eval::run::finish;
use mainstay_eval::run::folder::Folder;
use mainstay_eval::run::hold;
use mainstay_eval::run::journal::Journal;
use mainstay_eval::run::report::Report;
use mainstay_eval::state::Target;

use crate::config::Configuration;
use crate::config::Overrides;
use crate::eval::compare;
use crate::eval::run::batch::Round;
use crate::screen::Screen;

/// Ask probes about compacted conversations: forced compaction, answers from what is left, a judge on six dimensions.
#[derive(Debug, Args)]
pub struct Arguments {
    /// A directory with fixtures/ and probes/ (default: the exam that comes with the program).
    #[arg(long, value_name = "DIR")]
    exam: Option<PathBuf>,

    /// Only these fixtures, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    fixtures: Vec<String>,

    /// What is compared: [NAME=]ENGINE[:target=N|N%,tail=N,focus=TEXT][+recall] (default: ledger, and with a summariser
    /// hybrid and summary). The controls uncompacted and keep-last, and every arm with a search, come by themselves.
    #[arg(long, num_args = 1.., value_name = "ARM")]
    arms: Vec<String>,

    /// Leave out the arms whose answering model may search what was dropped.
    #[arg(long)]
    no_recall: bool,

    /// How often everything is done (default: 3; 1 where no model is asked).
    #[arg(long, visible_alias = "runs", value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: Option<u32>,

    /// How many tokens a state may have: a number, or a share of its fixture.
    #[arg(long, default_value = "25%", value_name = "TOKENS")]
    target: Target,

    /// A model that writes summaries; several are asked in order until one answers.
    #[arg(long = "summariser", visible_alias = "compressor-model", value_name = "MODEL")]
    summarisers: Vec<String>,

    /// The model that answers probes from what is left (default: eval.answerer of the configuration, else none: states are
    /// graded themselves).
    #[arg(long, value_name = "MODEL")]
    answerer: Option<String>,

    /// The model that judges answers (default: eval.judge of the configuration, else none: answers are graded without one).
    #[arg(long, visible_alias = "judge-model", value_name = "MODEL")]
    judge: Option<String>,

    /// A directory with prompts for summaries in place of those that are built in.
    #[arg(long, value_name = "DIR")]
    prompts: Option<PathBuf>,

    /// Keep most of what is about this.
    #[arg(long, visible_alias = "focus-topic", value_name = "TEXT")]
    focus: Option<String>,

    /// What the run is called (default: the time).
    #[arg(long)]
    label: Option<String>,

    /// Where runs are kept (default: eval.results of the configuration, else results/).
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,

    /// Go on with a run that was broken off; everything else is as it was begun.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["exam", "fixtures", "arms", "repeat", "target", "focus", "label", "results", "no_recall"])]
    resume: Option<PathBuf>,

    /// Take answers that another run has paid for, where the request is the same.
    #[arg(long, value_name = "RUN")]
    reuse: Vec<PathBuf>,

    /// Stop before the run costs more US dollars than this; it can go on later.
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<f64>,

    /// Say what would be asked and what it would cost, and stop.
    #[arg(long)]
    dry_run: bool,

    /// Write what has to be asked as the providers' batch files instead of asking.
    #[arg(long, value_name = "DIR")]
    batch_out: Option<PathBuf>,

    /// Read the results of batch files first.
    #[arg(long, value_name = "DIR", requires = "resume")]
    batch_in: Option<PathBuf>,

    /// Compare with an earlier run afterwards.
    #[arg(long, value_name = "RUN", conflicts_with = "json")]
    compare_to: Option<PathBuf>,

    /// Write the JUnit report here, besides the one in the run's directory.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

/// Runs.
pub fn run(arguments: &Arguments, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    let settings = configuration.settings(&Overrides {
        summarisers: arguments.summarisers.clone(),
        answerer: arguments.answerer.clone(),
        judge: arguments.judge.clone(),
        results: arguments.results.clone(),
        ..Overrides::default()
    })?;
    let models = match arguments.dry_run {
        true => models::unasked(&settings)?,
        false => models::models(&settings, screen)?,
    };
    let plan = match &arguments.resume {
        Some(directory) => plan::resumed(directory, &settings, &models, arguments.prompts.as_deref())?,
        None => plan::new(arguments, &settings, &models, screen)?,
    };
    let batched = arguments.batch_out.is_some() || arguments.batch_in.is_some();
    let expected = estimate(&plan, &models, batched);
    check_money(&expected, arguments.max_cost)?;
    if arguments.dry_run {
        return print::dry_run(&plan, &expected, arguments.json, screen);
    }
    let manifest = plan.manifest(&models);
    let directory = match &arguments.resume {
        Some(directory) => directory.clone(),
        None => settings.results.join(&plan.label),
    };
    let folder = Arc::new(match &arguments.resume {
        Some(_) => Folder::resume(&directory, &manifest)?,
        None => Folder::create(&directory, &manifest, &plan.exam)?,
    });
    let calls = directory.join("calls.jsonl");
    let mut journal = Journal::open(&calls).with_context(|| calls.display().to_string())?;
    for other in &arguments.reuse {
        let calls = other.join("calls.jsonl");
        journal.borrow(&calls).with_context(|| calls.display().to_string())?;
    }
    if !arguments.json {
        print::begin(&plan, &expected, &directory, screen)?;
    }
    let mode = match (&arguments.batch_in, &arguments.batch_out) {
        (None, None) => Mode::Live,
        _ => Mode::Collect,
    };
    let mut desk = Arc::new(Desk::new(models, journal, mode, arguments.max_cost));
    let mut ended = held(&plan, &desk, &folder, &directory)?;
    if let Some(results) = &arguments.batch_in {
        let round = Round::new(results, screen)?;
        while let Ended::Waiting(_) = ended
            && round.read(&desk, screen)?
        {
            // Samples that were kept in an earlier round are kept.
            desk.forget_waiting();
            ended = held(&plan, &desk, &folder, &directory)?;
        }
    }
    if let (Ended::Waiting(count), Some(out)) = (&ended, &arguments.batch_out) {
        return batch::write(&desk, out, *count, &directory, arguments.json, screen);
    }
    if let Ended::Waiting(_) = ended {
        // What the batches did not answer is asked.
        desk = Arc::new(Arc::into_inner(desk).context("nobody else holds the desk")?.live());
        ended = held(&plan, &desk, &folder, &directory)?;
    }
    if let Ended::Over(why) = ended {
        anyhow::bail!("{why}; go on with: mainstay eval run --resume {}", directory.display());
    }
    let report = finish(&folder, &desk.spent())?;
    tell(arguments, &report, &directory, screen)
}

/// Prints the report, and what else was asked for.
fn tell(arguments: &Arguments, report: &Report, directory: &Path, screen: &mut Screen) -> anyhow::Result<()> {
    if let Some(path) = &arguments.junit {
        let written = std::fs::copy(directory.join("junit.xml"), path);
        written.with_context(|| path.display().to_string())?;
    }
    if arguments.json {
        screen.json(report)?;
    } else {
        print::report(report, directory, screen)?;
    }
    match &arguments.compare_to {
        Some(earlier) => compare::against(earlier, directory, screen),
        None => Ok(()),
    }
}

/// Refuses a run that is known to cost too much, and one whose limit means nothing.
fn check_money(expected: &[DutyEstimate], most: Option<f64>) -> anyhow::Result<()> {
    let Some(most) = most else { return Ok(()) };
    let unpriced: Vec<&str> = expected
        .iter()
        .filter(|duty| duty.calls > 0 && duty.cost.is_none())
        .map(|duty| duty.model.as_str())
        .collect();
    if !unpriced.is_empty() {
        anyhow::bail!(
            "--max-cost needs prices, and there is none for {}; give the model a price in the configuration file",
            unpriced.join(", ")
        );
    }
    let cost: f64 = expected.iter().filter_map(|duty| duty.cost).sum();
    if cost > most {
        anyhow::bail!(
            "the run is expected to cost ${cost:.2}, more than the ${most:.2} of --max-cost; fewer --fixtures, --arms or \
             --repeat cost less"
        );
    }
    Ok(())
}

/// Holds the run as far as it goes, with a bar, until it ends or the user presses Ctrl-C.
fn held(plan: &Plan, desk: &Arc<Desk>, folder: &Arc<Folder>, directory: &Path) -> anyhow::Result<Ended> {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} samples, {eta} left");
    let bar = ProgressBar::new(plan.samples() as u64);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_position(folder.done() as u64);
    let shown = bar.clone();
    let watch = Arc::new(move |happening: &Happening<'_>| match happening {
        Happening::State { fixture, arm } => shown.set_message(format!("{fixture} / {arm}")),
        Happening::Sample(_) => shown.inc(1),
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        tokio::select! {
            ended = hold(plan, Arc::clone(desk), Arc::clone(folder), watch) => Ok(ended?),
            pressed = tokio::signal::ctrl_c() => {
                pressed?;
                Err(anyhow::anyhow!(
                    "interrupted; go on with: mainstay eval run --resume {}",
                    directory.display()
                ))
            }
        }
    });
    bar.finish_and_clear();
    ended
}
