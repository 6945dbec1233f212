//! `mainstay eval ab`: two arms at the checkpoints of sessions, scored blind.

mod print;

use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use mainstay_eval::ab;
use mainstay_eval::ab::AbReport;
use mainstay_eval::ab::Key;
use mainstay_eval::ab::Replay;
use mainstay_eval::ab::Sheet;
use mainstay_eval::ab::SheetForm;
use mainstay_eval::record::Manifest;
use mainstay_eval::record::Run;
use mainstay_eval::run::Ended;
use mainstay_eval::run::Plan;
use mainstay_eval::run::desk::Desk;
use mainstay_eval::run::desk::Mode;
use mainstay_eval::run::desk::Models;
use mainstay_eval::run::estimate::estimate;
use mainstay_eval::run::folder::Folder;
use mainstay_eval::state::Arm;

use crate::config::Configuration;
use crate::config::Settings;
use crate::eval::holding::Asking;
use crate::eval::holding::held;
use crate::eval::holding::models;
use crate::eval::holding::models::KeyUse;
use crate::eval::holding::plan;
use crate::eval::holding::until_interrupted;
use crate::eval::run::print as run_print;
use crate::screen::Screen;

/// Hold two engines against each other at checkpoints of sessions: forced compaction before every question, answers scored blind.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The first arm, what is compared with: [NAME=]ENGINE[:target=N|N%,tail=N,focus=TEXT][+recall], or keep-last or uncompacted.
    #[arg(long, value_name = "ARM", required_unless_present_any = ["resume", "scores"])]
    a: Option<String>,

    /// The second arm.
    #[arg(long, value_name = "ARM", required_unless_present_any = ["resume", "scores"])]
    b: Option<String>,

    /// A file with sessions, checkpoints and questions (evals/schemas/replay.schema.json); without one an exam is replayed.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["exam", "probes", "fixtures", "checkpoints"])]
    replay: Option<PathBuf>,

    /// A directory with fixtures/ and probes/ (default: the exam that comes with the program).
    #[arg(long, value_name = "DIR")]
    exam: Option<PathBuf>,

    /// Ask these probes instead: a bank file, or a directory of them; fixtures that none of them names are left out.
    #[arg(long, value_name = "PATH")]
    probes: Option<PathBuf>,

    /// Only these fixtures of the exam, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    fixtures: Vec<String>,

    /// At how many places a fixture of the exam is asked, from its middle to its end.
    #[arg(long, default_value_t = 3, value_name = "COUNT", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=100))]
    checkpoints: usize,

    /// Write the answers as a sheet for people to score, Markdown or .jsonl; whose they are goes into a key beside it.
    #[arg(long, value_name = "FILE")]
    sheet: Option<PathBuf>,

    /// Read a sheet that people have filled in, and report with it; no model is asked.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["a", "b", "replay", "exam", "probes", "fixtures", "resume", "sheet"])]
    scores: Option<PathBuf>,

    /// The key of the sheet (default: beside it).
    #[arg(long, value_name = "FILE", requires = "scores")]
    key: Option<PathBuf>,

    /// Go on with a run that was broken off; everything else is as it was begun.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["a", "b", "replay", "exam", "probes", "fixtures", "repeat", "target", "focus", "label", "results"])]
    resume: Option<PathBuf>,

    #[command(flatten)]
    asking: Asking,
}

/// Runs.
pub fn run(arguments: &Arguments, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    if let Some(sheet) = &arguments.scores {
        return by_people(arguments, sheet, screen);
    }
    let asking = &arguments.asking;
    asking.check_reuse()?;
    let settings = asking.settings(configuration, arguments.resume.as_deref())?;
    let keys = if asking.dry_run {
        KeyUse::NotNeeded
    } else {
        KeyUse::Needed
    };
    let models = models::models(&settings, keys, screen)?;
    if arguments.sheet.is_some() && models.answer.is_none() {
        anyhow::bail!("a sheet needs answers: name a model that gives them with --answerer or eval.answerer");
    }
    let plan = match &arguments.resume {
        Some(directory) => plan::resumed(directory, &settings, &models, asking.prompts.as_deref())?,
        None => begun(arguments, &settings, &models, screen)?,
    };
    let expected = estimate(&plan, &models, false);
    asking.check_money(&expected, arguments.resume.is_some())?;
    if asking.dry_run {
        return run_print::dry_run(&plan, &expected, asking.json, screen);
    }
    let manifest = manifest(&plan, &models);
    let directory = match &arguments.resume {
        Some(directory) => directory.clone(),
        None => settings.results.join(&plan.label),
    };
    let folder = Arc::new(match &arguments.resume {
        Some(_) => Folder::resume(&directory, &manifest)?,
        None => Folder::create(&directory, &manifest, &plan.exam)?,
    });
    if !asking.json {
        run_print::begin(&plan, &expected, &directory, screen)?;
    }
    let report = hold(arguments, &plan, models, &folder, &directory)?;
    if let Some(path) = &arguments.sheet {
        write_sheet(path, &directory, screen)?;
    }
    tell(&report, asking.json, &directory.join("ab.md"), screen)
}

/// What is replayed, by which arms.
fn begun(arguments: &Arguments, settings: &Settings, models: &Models, screen: &mut Screen) -> anyhow::Result<Plan> {
    let exam = match &arguments.replay {
        Some(path) => Replay::read(path)?,
        None => {
            let exam = plan::exam(
                arguments.exam.as_deref(),
                arguments.probes.as_deref(),
                &arguments.fixtures,
            )?;
            ab::from_exam(&exam, arguments.checkpoints)?
        }
    };
    let arms: Vec<Arm> = [&arguments.a, &arguments.b]
        .into_iter()
        .flatten()
        .map(|spec| spec.parse())
        .collect::<Result<_, _>>()?;
    if let [a, b] = &arms[..]
        && a.name == b.name
    {
        anyhow::bail!(
            "both arms are called {}; give one another name: NAME={}",
            a.name,
            a.name
        );
    }
    plan::new(&arguments.asking, exam, arms, settings, models, screen)
}

/// A run's manifest with the prompts that scoring has of its own.
fn manifest(plan: &Plan, models: &Models) -> Manifest {
    let mut manifest = plan.manifest(models);
    manifest.prompts.extend(ab::hashes());
    manifest
}

/// Has the questions answered, then the answers scored, and closes the run.
fn hold(
    arguments: &Arguments,
    plan: &Plan,
    models: Models,
    folder: &Arc<Folder>,
    directory: &Path,
) -> anyhow::Result<AbReport> {
    let asking = &arguments.asking;
    let again = format!("mainstay eval ab --resume {}", directory.display());
    let Models {
        summarise,
        answer,
        judge,
        ..
    } = models;
    // The judge comes afterwards, when answers of both arms can be mixed.
    let answering = Models {
        summarise,
        answer,
        ..Models::default()
    };
    let mut desk = Arc::new(Desk::new(
        answering,
        asking.journal(directory)?,
        Mode::Live,
        asking.max_cost,
    ));
    if let Ended::Over(why) = held(plan, &desk, folder, &again)? {
        anyhow::bail!("{why}; go on with: {again}");
    }
    let mut judged = None;
    if judge.is_some() {
        let judging = Models {
            judge,
            ..Models::default()
        };
        // Opened anew, the journal knows what the answers have cost.
        desk = Arc::new(Desk::new(
            judging,
            asking.journal(directory)?,
            Mode::Live,
            asking.max_cost,
        ));
        let items = ab::items(&Run::read(directory)?, &plan.exam);
        match until_interrupted(ab::judge(&items, Arc::clone(&desk)), &again)? {
            ab::Ended::Over(why) => anyhow::bail!("{why}; go on with: {again}"),
            ab::Ended::Whole(verdicts) => judged = Some(verdicts),
        }
    }
    Ok(ab::finish(folder, &plan.exam, judged, &desk.spent())?)
}

/// Where the key of a sheet stands: beside it, with another ending.
fn key_of(sheet: &Path) -> PathBuf {
    sheet.with_extension("key.json")
}

fn write_sheet(path: &Path, directory: &Path, screen: &mut Screen) -> anyhow::Result<()> {
    let key = key_of(path);
    for path in [path, &key] {
        if path.exists() {
            anyhow::bail!("{} exists already; a sheet is never overwritten", path.display());
        }
    }
    let run = Run::read(directory)?;
    let items = ab::items(&run, &run.exam()?);
    let sheet = Sheet(&items);
    let directory = std::path::absolute(directory)?;
    let keys = serde_json::to_string_pretty(&sheet.key(&directory))?;
    std::fs::write(path, sheet.write(SheetForm::of(path))).with_context(|| path.display().to_string())?;
    std::fs::write(&key, keys).with_context(|| key.display().to_string())?;
    screen.warn(&format!(
        "{} answers to score are in {}; keep {} from whoever scores them",
        items.len(),
        path.display(),
        key.display()
    ));
    Ok(())
}

/// Reads a sheet back and reports with it, beside the sheet: the run stays as it is.
fn by_people(arguments: &Arguments, sheet: &Path, screen: &mut Screen) -> anyhow::Result<()> {
    let read = |path: &Path| std::fs::read_to_string(path).with_context(|| path.display().to_string());
    let key_path = arguments.key.clone().unwrap_or_else(|| key_of(sheet));
    let key: Key = serde_json::from_str(&read(&key_path)?).with_context(|| key_path.display().to_string())?;
    let scores = Sheet::read(&read(sheet)?, SheetForm::of(sheet)).with_context(|| sheet.display().to_string())?;
    if scores.is_empty() {
        anyhow::bail!("{} has no scores: write one word behind every Outcome", sheet.display());
    }
    let report = ab::with_people(&Run::read(&key.run)?, &key, &scores)?;
    let shown = sheet.with_extension("report.md");
    std::fs::write(&shown, ab::markdown(&report)).with_context(|| shown.display().to_string())?;
    let whole = sheet.with_extension("report.json");
    std::fs::write(&whole, serde_json::to_string_pretty(&report)?).with_context(|| whole.display().to_string())?;
    tell(&report, arguments.asking.json, &shown, screen)
}

fn tell(report: &AbReport, json: bool, shown: &Path, screen: &mut Screen) -> anyhow::Result<()> {
    match json {
        true => screen.json(report),
        false => print::report(report, shown, screen),
    }
}
