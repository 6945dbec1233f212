//! `mainstay eval run`: probes asked about compacted conversations, answered and judged by models, or graded without any.

mod arms;
pub mod batch;
pub mod print;

use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use mainstay_eval::record::Run;
use mainstay_eval::run::Ended;
use mainstay_eval::run::desk::Desk;
use mainstay_eval::run::desk::Mode;
use mainstay_eval::run::estimate::estimate;
use mainstay_eval::run::finish;
use mainstay_eval::run::folder::Folder;
use mainstay_eval::run::report::Report;

use crate::config::Configuration;
use crate::eval::compare;
use crate::eval::holding::Asking;
use crate::eval::holding::held;
use crate::eval::holding::models;
use crate::eval::holding::models::KeyUse;
use crate::eval::holding::plan;
use crate::eval::run::batch::Round;
use crate::screen::Screen;

/// Ask probes about compacted conversations: forced compaction, answers from what is left, a judge on six dimensions.
#[derive(Debug, Args)]
pub struct Arguments {
    /// A directory with fixtures/ and probes/ (default: the exam that comes with the program).
    #[arg(long, value_name = "DIR")]
    exam: Option<PathBuf>,

    /// Ask these probes instead: a bank file, or a directory of them; fixtures that none of them names are left out.
    #[arg(long, value_name = "PATH")]
    probes: Option<PathBuf>,

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

    #[command(flatten)]
    asking: Asking,

    /// Go on with a run that was broken off; everything else is as it was begun.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["exam", "probes", "fixtures", "arms", "repeat", "target", "focus", "label", "results", "no_recall"])]
    resume: Option<PathBuf>,

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
}

/// Runs.
pub fn run(arguments: &Arguments, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    let asking = &arguments.asking;
    asking.check_reuse()?;
    if let Some(earlier) = &arguments.compare_to {
        Run::read(earlier)?;
    }
    let settings = asking.settings(configuration, arguments.resume.as_deref())?;
    let batched = arguments.batch_out.is_some() || arguments.batch_in.is_some();
    // Files can be written and read without a key; where nothing else is left to ask, none is ever read.
    let keys = if asking.dry_run || batched {
        KeyUse::NotNeeded
    } else {
        KeyUse::Needed
    };
    let models = models::models(&settings, keys, screen)?;
    let plan = match &arguments.resume {
        Some(directory) => plan::resumed(directory, &settings, &models, asking.prompts.as_deref())?,
        None => {
            let exam = plan::exam(
                arguments.exam.as_deref(),
                arguments.probes.as_deref(),
                &arguments.fixtures,
            )?;
            plan::new(
                asking,
                exam,
                arms::arms(arguments, &models)?,
                &settings,
                &models,
                screen,
            )?
        }
    };
    let expected = estimate(&plan, &models, batched);
    asking.check_money(&expected, arguments.resume.is_some())?;
    if asking.dry_run {
        return print::dry_run(&plan, &expected, asking.json, screen);
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
    let journal = asking.journal(&directory)?;
    if !asking.json {
        print::begin(&plan, &expected, &directory, screen)?;
    }
    let again = asking.again("run", &directory, configuration);
    let mode = match (&arguments.batch_in, &arguments.batch_out) {
        (None, None) => Mode::Live,
        _ => Mode::Collect,
    };
    let mut desk = Arc::new(Desk::new(models, journal, mode, asking.max_cost));
    let mut ended = held(&plan, &desk, &folder, &again)?;
    if let Some(results) = &arguments.batch_in {
        let round = Round::new(results, screen)?;
        while let Ended::Waiting(_) = ended
            && round.read(&desk, screen)?
        {
            // Samples that were kept in an earlier round are kept.
            desk.forget_waiting();
            ended = held(&plan, &desk, &folder, &again)?;
        }
    }
    if let (Ended::Waiting(count), Some(out)) = (&ended, &arguments.batch_out) {
        return batch::write(&desk, out, *count, (&directory, &again), asking.json, screen);
    }
    if let Ended::Waiting(_) = ended {
        // What the batches did not answer is asked.
        let models = models::models(&settings, KeyUse::Needed, screen)?;
        desk = Arc::new(
            Arc::into_inner(desk)
                .context("nobody else holds the desk")?
                .live(models),
        );
        ended = held(&plan, &desk, &folder, &again)?;
    }
    if let Ended::Over(why) = ended {
        anyhow::bail!("{why}; go on with: {again}");
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
    if arguments.asking.json {
        screen.json(report)?;
    } else {
        print::report(report, directory, screen)?;
    }
    match &arguments.compare_to {
        Some(earlier) => compare::against(earlier, directory, screen),
        None => Ok(()),
    }
}
