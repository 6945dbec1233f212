//! What every command has that holds a run: whom it asks, what that may cost, and doing it with a bar until it ends.

pub mod models;
pub mod plan;

use std::future::Future;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use indicatif::ProgressBar;
use indicatif::ProgressStyle;
use mainstay_eval::record::Run;
use mainstay_eval::run::Ended;
use mainstay_eval::run::Happening;
use mainstay_eval::run::HoldError;
use mainstay_eval::run::Plan;
use mainstay_eval::run::desk::Desk;
use mainstay_eval::run::estimate::DutyEstimate;
use mainstay_eval::run::folder::Folder;
use mainstay_eval::run::hold;
use mainstay_eval::run::journal::Journal;
use mainstay_eval::state::Target;

use crate::config::Configuration;
use crate::config::Overrides;
use crate::config::Settings;
use crate::screen::plain;

/// Whom a run asks, how often, and what it may cost.
#[derive(Debug, Args)]
pub struct Asking {
    /// How often everything is done (default: 3; 1 where no model is asked).
    #[arg(long, visible_alias = "runs", value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: Option<u32>,

    /// How many tokens a state may have: a number, or a share of its fixture.
    #[arg(long, default_value = "25%", value_name = "TOKENS")]
    pub target: Target,

    /// A model that writes summaries; several are asked in order until one answers.
    #[arg(long = "summariser", visible_alias = "compressor-model", value_name = "MODEL")]
    pub summarisers: Vec<String>,

    /// The model that answers probes from what is left (default: eval.answerer of the configuration, else the judge, else none:
    /// states are graded themselves).
    #[arg(long, value_name = "MODEL")]
    pub answerer: Option<String>,

    /// The model that judges answers (default: eval.judge of the configuration, else none: answers are graded without one). Alone
    /// it answers the probes too.
    #[arg(long, visible_alias = "judge-model", value_name = "MODEL")]
    pub judge: Option<String>,

    /// A directory with prompts for summaries in place of those that are built in.
    #[arg(long, value_name = "DIR")]
    pub prompts: Option<PathBuf>,

    /// Keep most of what is about this.
    #[arg(long, visible_alias = "focus-topic", value_name = "TEXT")]
    pub focus: Option<String>,

    /// What the run is called (default: the time).
    #[arg(long)]
    pub label: Option<String>,

    /// Where runs are kept (default: eval.results of the configuration, else results/).
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,

    /// Take answers that another run has paid for, where the request is the same.
    #[arg(long, value_name = "RUN")]
    pub reuse: Vec<PathBuf>,

    /// Ask nothing more once the run would cost more US dollars than this, by what answers are expected to cost; it can go on later.
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    pub max_cost: Option<f64>,

    /// Say what would be asked and what it would cost, and stop.
    #[arg(long)]
    pub dry_run: bool,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    pub json: bool,
}

impl Asking {
    /// The settings with what the flags say, and for a run that goes on with the models it was begun with.
    pub fn settings(&self, configuration: &Configuration, resumed: Option<&Path>) -> anyhow::Result<Settings> {
        let mut overrides = Overrides {
            summarisers: self.summarisers.clone(),
            answerer: self.answerer.clone(),
            judge: self.judge.clone(),
            results: self.results.clone(),
            ..Overrides::default()
        };
        if let Some(directory) = resumed {
            let manifest = Run::read(directory)?.manifest;
            if overrides.summarisers.is_empty() {
                overrides.summarisers = manifest.summarisers.into_iter().map(|model| model.name).collect();
            }
            overrides.answerer = overrides.answerer.or(manifest.answerer.map(|model| model.name));
            overrides.judge = overrides.judge.or(manifest.judge.map(|model| model.name));
        }
        configuration.settings(&overrides)
    }

    /// The command that goes on with a run.
    pub fn again(&self, command: &str, directory: &Path, configuration: &Configuration) -> String {
        let mut again = format!("mainstay eval {command} --resume {}", directory.display());
        if let Some(file) = configuration.named() {
            again.push_str(&format!(" --config {}", file.display()));
        }
        if let Some(prompts) = &self.prompts {
            again.push_str(&format!(" --prompts {}", prompts.display()));
        }
        again
    }

    /// Refuses runs to take answers from that are none, before anything is made.
    pub fn check_reuse(&self) -> anyhow::Result<()> {
        check_reuse(&self.reuse)
    }

    /// The journal of a run, with what other runs have paid for.
    pub fn journal(&self, directory: &Path) -> anyhow::Result<Journal> {
        journal(directory, &self.reuse)
    }

    /// Refuses a run that is known to cost too much, and one whose limit means nothing.
    pub fn check_money(&self, expected: &[DutyEstimate], goes_on: bool) -> anyhow::Result<()> {
        let Some(most) = self.max_cost else { return Ok(()) };
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
        // What another run has paid for, or this one, is not known here: then only what is spent is held against the limit.
        if cost > most && self.reuse.is_empty() && !goes_on {
            anyhow::bail!(
                "the run is expected to cost ${cost:.2}, more than the ${most:.2} of --max-cost; fewer --fixtures, --arms or \
                 --repeat cost less"
            );
        }
        Ok(())
    }
}

/// Refuses runs to take answers from that are none.
pub fn check_reuse(runs: &[PathBuf]) -> anyhow::Result<()> {
    for other in runs {
        if !other.join("calls.jsonl").exists() {
            anyhow::bail!(
                "--reuse: {} is no run with answers: there is no calls.jsonl",
                other.display()
            );
        }
    }
    Ok(())
}

/// The journal of a run in this directory, with what other runs have paid for.
pub fn journal(directory: &Path, reuse: &[PathBuf]) -> anyhow::Result<Journal> {
    let calls = directory.join("calls.jsonl");
    let mut journal = Journal::open(&calls).with_context(|| calls.display().to_string())?;
    for other in reuse {
        let calls = other.join("calls.jsonl");
        journal.borrow(&calls).with_context(|| calls.display().to_string())?;
    }
    Ok(journal)
}

/// Parses an amount of money.
pub fn dollars(text: &str) -> Result<f64, String> {
    let dollars: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match dollars.is_finite() && dollars >= 0.0 {
        true => Ok(dollars),
        false => Err("an amount in US dollars is expected".to_owned()),
    }
}

/// Holds a run as far as it goes, with a bar, until it ends or the user presses Ctrl-C; `again` is the command that goes on with it.
pub fn held(plan: &Plan, desk: &Arc<Desk>, folder: &Arc<Folder>, again: &str) -> anyhow::Result<Ended> {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} samples, {eta} left");
    let bar = ProgressBar::new(plan.samples() as u64);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_position(folder.done() as u64);
    let shown = bar.clone();
    let watch = Arc::new(move |happening: &Happening<'_>| match happening {
        Happening::State { fixture, arm } => shown.set_message(plain(&format!("{fixture} / {arm}"))),
        Happening::Sample(_) => shown.inc(1),
    });
    let ended = until_interrupted(hold(plan, Arc::clone(desk), Arc::clone(folder), watch), again);
    bar.finish_and_clear();
    ended
}

/// Does something that asks models until it ends or the user presses Ctrl-C; `again` is the command that goes on with it.
pub fn until_interrupted<T>(work: impl Future<Output = Result<T, HoldError>>, again: &str) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        tokio::select! {
            ended = work => Ok(ended?),
            pressed = tokio::signal::ctrl_c() => {
                pressed?;
                Err(anyhow::anyhow!("interrupted; go on with: {again}"))
            }
        }
    })
}
