//! `mainstay eval continue`: recorded sessions are cut, and models say from each state how they would go on.

mod print;
mod readers;
mod setup;
mod sitting;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use mainstay_eval::continuation::ContinuationArm;
use mainstay_eval::continuation::CutRule;
use mainstay_eval::continuation::StateSize;

use crate::config::Configuration;
use crate::eval::continuation::sitting::ExamSitting;
use crate::eval::holding::check_reuse;
use crate::eval::holding::dollars;
use crate::screen::Screen;

/// Every case is judged at least so often, for agreement to be known.
const FEWEST_JUDGES: usize = 2;

/// Cut recorded sessions, let models continue from each arm's state, and have judges who know the real future score them.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Recorded sessions of any supported format, files of normalised trajectories, or folders of them.
    #[arg(required_unless_present = "resume")]
    paths: Vec<PathBuf>,

    /// Where to cut: shares of the session's tokens, or `recorded` for the places where the session itself was compacted.
    #[arg(long, value_delimiter = ',', default_value = "0.5,0.8", value_name = "CUTS")]
    cuts: Vec<CutRule>,

    /// How large states may be: tokens, a share of what stands before the cut such as 3%, or `own`, the recorded summary's size.
    #[arg(long, value_delimiter = ',', default_value = "3%", value_name = "SIZES")]
    sizes: Vec<StateSize>,

    /// What is compared: [NAME=]ledger, hybrid, summary, prune or keep-last, each with @Kx for K times the size; own, the summary that
    /// the session recorded; file:DIR, states that somebody else wrote (DIR/CASE.txt).
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "ledger,ledger@3x,keep-last",
        value_name = "ARMS"
    )]
    arms: Vec<ContinuationArm>,

    /// How many messages after a cut judges are told.
    #[arg(long, default_value_t = 30, value_name = "MESSAGES", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1000))]
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

    /// A model that answers; give it several times for several models (default: eval.answerer of the configuration).
    #[arg(long = "answerer", value_name = "MODEL")]
    answerer: Vec<String>,

    /// How many readers of task files answer (default: one an arm).
    #[arg(long, value_name = "COUNT", conflicts_with = "answerer", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1000))]
    answerers: Option<usize>,

    /// A model that judges; give it several times for several models (default: eval.judge of the configuration).
    #[arg(long = "judge", visible_alias = "judge-model", value_name = "MODEL")]
    judge: Vec<String>,

    /// How often every case is judged; with task files, how many readers judge.
    #[arg(long, default_value_t = FEWEST_JUDGES, value_name = "COUNT", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=20))]
    judges: usize,

    /// A model that writes summaries; several are asked in order until one answers.
    #[arg(long = "summariser", visible_alias = "compressor-model", value_name = "MODEL")]
    summarisers: Vec<String>,

    /// Decides in which order judges read answers.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// What the run is called (default: the time).
    #[arg(long)]
    label: Option<String>,

    /// Where runs are kept (default: eval.results of the configuration, else results/).
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,

    /// Go on with a run; everything else is as it was begun.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["paths", "cuts", "sizes", "arms", "horizon", "min_tokens", "max", "sources", "answerer", "answerers", "judge", "judges", "summarisers", "seed", "label", "results", "dry_run"])]
    resume: Option<PathBuf>,

    /// Write every request as a plain file, in a folder for each reader, instead of asking.
    #[arg(long, value_name = "DIR", conflicts_with = "batch_out")]
    tasks_out: Option<PathBuf>,

    /// Read answers from plain files first: ID.txt anywhere below this directory.
    #[arg(long, value_name = "DIR", requires = "resume")]
    answers_in: Option<PathBuf>,

    /// Write what has to be asked as the providers' batch files instead of asking. No key is needed.
    #[arg(long, value_name = "DIR")]
    batch_out: Option<PathBuf>,

    /// Read the results of batch files first.
    #[arg(long, value_name = "DIR", requires = "resume")]
    batch_in: Option<PathBuf>,

    /// Take answers that another run has, where the request is the same.
    #[arg(long, value_name = "RUN")]
    reuse: Vec<PathBuf>,

    /// Ask nothing more once the run would cost more US dollars than this; it can go on later.
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    max_cost: Option<f64>,

    /// How many threads work (default: one a core).
    #[arg(long, value_name = "THREADS")]
    jobs: Option<usize>,

    /// List the cases and stop.
    #[arg(long)]
    dry_run: bool,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

/// Runs.
pub fn run(arguments: &Arguments, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    check_reuse(&arguments.reuse)?;
    let (exam, prefixes, panel) = match &arguments.resume {
        Some(directory) => setup::resumed(arguments, directory, screen)?,
        None => match setup::begun(arguments, configuration, screen)? {
            Some(begun) => begun,
            None => return Ok(()),
        },
    };
    if !exam.sees_sessions_once() && exam.manifest.answerers.iter().any(|model| model.url.is_empty()) {
        screen.warn(
            "there are fewer answerers than states of a session: each meets its arm again at another cut or size of the session",
        );
    }
    let sitting = ExamSitting {
        arguments,
        configuration,
        exam: Arc::new(exam),
        prefixes: Arc::new(prefixes),
        panel,
    };
    sitting.hold(screen)
}
