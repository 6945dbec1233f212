//! `mainstay eval score`: a run's answers graded anew. Nobody is asked.

use std::path::PathBuf;

use clap::Args;
use mainstay_eval::fixture::Exam;
use mainstay_eval::record::Run;
use mainstay_eval::run::score::score;

use crate::environment;
use crate::eval::run::print;
use crate::screen::Screen;

/// Grade the answers of a run anew, with changed probes or a newer program; no model is asked, and the run stays as it is.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The run's directory.
    run: PathBuf,

    /// A directory with fixtures/ and probes/: the same fixtures, changed probes (default: the run's own).
    #[arg(long, value_name = "DIR")]
    exam: Option<PathBuf>,

    /// Where the new run is kept (default: the run's directory with -scored behind it).
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

/// Scores.
pub fn run(arguments: &Arguments, screen: &mut Screen) -> anyhow::Result<()> {
    let run = Run::read(&arguments.run)?;
    if !run.is_complete {
        screen.warn("the run was broken off; what it has so far is scored");
    }
    let exam = arguments.exam.as_deref().map(Exam::read).transpose()?;
    let to = arguments.output.clone().unwrap_or_else(|| {
        let mut name = arguments.run.components().as_path().as_os_str().to_owned();
        name.push("-scored");
        PathBuf::from(name)
    });
    let (report, unanswered) = score(&run, exam, env!("CARGO_PKG_VERSION"), environment::now().0, &to)?;
    if unanswered > 0 {
        screen.warn(&format!(
            "{unanswered} samples of new probes are not there: a model would have to be asked, with `mainstay eval run`"
        ));
    }
    match arguments.json {
        true => screen.json(&report),
        false => print::report(&report, &to, screen),
    }
}
