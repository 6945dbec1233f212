//! Setting a continuation exam up, or opening one: sessions, cases, who answers and judges.

use std::path::Path;
use std::path::PathBuf;

use anyhow::Context;
use mainstay_eval::continuation::ArmEntry;
use mainstay_eval::continuation::CaseSettings;
use mainstay_eval::continuation::ContinuationArm;
use mainstay_eval::continuation::ContinuationExam;
use mainstay_eval::continuation::ContinuationManifest;
use mainstay_eval::continuation::MOST_ARMS;
use mainstay_eval::continuation::PrefixMap;
use mainstay_eval::continuation::PreparedCases;
use mainstay_eval::continuation::SessionPrefix;
use mainstay_eval::continuation::StateMaker;
use mainstay_eval::continuation::positions;
use mainstay_eval::continuation::prompt_hashes;
use mainstay_eval::replay;
use mainstay_eval::run::plan::used;
use mainstay_eval::sessions::Selection;
use mainstay_llm::chain::Chain;

use crate::config::Configuration;
use crate::config::Overrides;
use crate::environment;
use crate::eval::continuation::Arguments;
use crate::eval::continuation::FEWEST_JUDGES;
use crate::eval::continuation::print;
use crate::eval::continuation::readers::KeyUse;
use crate::eval::continuation::readers::Reader;
use crate::eval::continuation::readers::ReaderPanel;
use crate::eval::holding::plan;
use crate::input::busy;
use crate::numbers::jobs;
use crate::screen::Screen;

/// Sets an exam up: reads sessions, cuts them, writes its directory. None for a dry run.
pub fn begun(
    arguments: &Arguments,
    configuration: &Configuration,
    screen: &mut Screen,
) -> anyhow::Result<Option<(ContinuationExam, PrefixMap, ReaderPanel)>> {
    check_arms(&arguments.arms)?;
    let paths: Vec<PathBuf> = arguments
        .paths
        .iter()
        .map(|path| std::path::absolute(path).with_context(|| path.display().to_string()))
        .collect::<anyhow::Result<_>>()?;
    let settings = CaseSettings {
        cuts: arguments.cuts.clone(),
        sizes: arguments.sizes.clone(),
        horizon: arguments.horizon,
        jobs: jobs(arguments.jobs),
    };
    let selection = Selection {
        least_tokens: arguments.min_tokens,
        most: arguments.max.unwrap_or(usize::MAX),
        sources: arguments.sources.clone(),
        jobs: settings.jobs,
    };
    let prepared = prepare(&paths, &selection, &settings, screen)?;
    print::left_out(&prepared.left_out, screen);
    if prepared.cases.is_empty() {
        anyhow::bail!("there is no case: no session could be cut as asked");
    }
    let places = positions(&prepared.cases).iter().map(|(_, place)| place + 1).max();
    let panel = panel(arguments, configuration, places.unwrap_or(1))?;
    let models = panel.models(configuration, KeyUse::Skip)?;
    let overrides = Overrides {
        results: arguments.results.clone(),
        ..Overrides::default()
    };
    let label = plan::label(arguments.label.as_deref())?;
    let directory = configuration.settings(&overrides)?.results.join(&label);
    let all = |first: Option<&Chain>, more: &[Chain]| first.into_iter().chain(more).flat_map(used).collect();
    let manifest = ContinuationManifest {
        version: ContinuationManifest::VERSION,
        label,
        created: environment::now().0,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        paths,
        min_tokens: arguments.min_tokens,
        max_sessions: arguments.max,
        sources: arguments.sources.clone(),
        cuts: arguments.cuts.iter().map(ToString::to_string).collect(),
        sizes: arguments.sizes.iter().map(ToString::to_string).collect(),
        horizon: arguments.horizon,
        arms: entries(&arguments.arms)?,
        summarisers: all(models.summarise.as_ref(), &[]),
        answerers: all(models.answer.as_ref(), &models.more_answerers),
        judges: all(models.judge.as_ref(), &models.more_judges),
        answerer_seats: answerer_seats(panel.answerers.len(), arguments.arms.len(), panel.has_file_answerers())?,
        judge_seats: arguments.judges.max(panel.judges.len()).max(FEWEST_JUDGES),
        prompts: prompt_hashes(),
        seed: arguments.seed,
        cases: prepared.cases,
    };
    if arguments.dry_run {
        match arguments.json {
            true => screen.json(&manifest)?,
            false => print::begin(&manifest, None, screen)?,
        }
        return Ok(None);
    }
    let exam = ContinuationExam::create(&directory, &manifest, &prepared.prefixes)?;
    if !arguments.json {
        print::begin(&manifest, Some(&directory), screen)?;
    }
    Ok(Some((exam, by_id(prepared.prefixes), panel)))
}

/// Opens an exam; sessions are read again only where states have yet to be made of them.
pub fn resumed(
    arguments: &Arguments,
    directory: &Path,
    screen: &mut Screen,
) -> anyhow::Result<(ContinuationExam, PrefixMap, ReaderPanel)> {
    let exam = ContinuationExam::open(directory)?;
    let manifest = &exam.manifest;
    let panel = ReaderPanel::of(manifest);
    let lacks = |case| {
        let arms = exam.arms_of(case).into_iter().map(|arm| &exam.arms[arm]);
        let mut arms = arms.filter(|arm| !matches!(arm.maker, StateMaker::Files(_)));
        arms.any(|arm| exam.lacks_state(case, arm))
    };
    if !manifest.cases.iter().any(lacks) {
        return Ok((exam, PrefixMap::new(), panel));
    }
    let damaged = |what: String| anyhow::anyhow!("{}: {what}", directory.display());
    let cuts = manifest.cuts.iter().map(|cut| cut.parse()).collect::<Result<_, _>>();
    let sizes = manifest.sizes.iter().map(|size| size.parse()).collect::<Result<_, _>>();
    let settings = CaseSettings {
        cuts: cuts.map_err(damaged)?,
        sizes: sizes.map_err(damaged)?,
        horizon: manifest.horizon,
        jobs: jobs(arguments.jobs),
    };
    let selection = Selection {
        least_tokens: manifest.min_tokens,
        most: manifest.max_sessions.unwrap_or(usize::MAX),
        sources: manifest.sources.clone(),
        jobs: settings.jobs,
    };
    let prepared = prepare(&manifest.paths, &selection, &settings, screen)?;
    if prepared.cases != manifest.cases {
        anyhow::bail!(
            "the sessions are not those that {} was begun with; begin a new run",
            directory.display()
        );
    }
    Ok((exam, by_id(prepared.prefixes), panel))
}

fn prepare(
    paths: &[PathBuf],
    selection: &Selection,
    settings: &CaseSettings,
    screen: &mut Screen,
) -> anyhow::Result<PreparedCases> {
    let _busy = busy("reading", u64::MAX);
    let recordings = replay::load(paths, selection)?;
    for (name, reason) in &recordings.unread {
        screen.warn(&format!("{name}: {reason}"));
    }
    Ok(PreparedCases::new(&recordings.sessions, settings))
}

fn by_id(prefixes: Vec<SessionPrefix>) -> PrefixMap {
    let prefixes = prefixes.into_iter();
    prefixes.map(|prefix| (prefix.id.clone(), prefix)).collect()
}

fn check_arms(arms: &[ContinuationArm]) -> anyhow::Result<()> {
    if arms.len() > MOST_ARMS {
        anyhow::bail!(
            "{} arms are more than the {MOST_ARMS} that judges can tell apart",
            arms.len()
        );
    }
    for (index, arm) in arms.iter().enumerate() {
        if arms[..index].iter().any(|other| other.name == arm.name) {
            anyhow::bail!("two arms are called {}; name one with NAME=…", arm.name);
        }
    }
    Ok(())
}

/// The arms as the manifest has them; directories in full, since a run may go on from elsewhere.
fn entries(arms: &[ContinuationArm]) -> anyhow::Result<Vec<ArmEntry>> {
    let entry = |arm: &ContinuationArm| {
        let mut arm = arm.clone();
        if let StateMaker::Files(directory) = &mut arm.maker {
            *directory = std::path::absolute(&*directory).with_context(|| directory.display().to_string())?;
        }
        Ok(ArmEntry {
            spec: arm.spec(),
            name: arm.name,
        })
    };
    arms.iter().map(entry).collect()
}

/// Who has which duty, by the flags, the configuration, and whether tasks are written.
fn panel(arguments: &Arguments, configuration: &Configuration, places: usize) -> anyhow::Result<ReaderPanel> {
    let settings = configuration.settings(&Overrides::default())?;
    let by_files = arguments.tasks_out.is_some();
    let configured = |model: Option<&crate::config::Candidate>| model.map(|model| model.model.name.clone());
    let mut answerers = Reader::models(&arguments.answerer);
    if answerers.is_empty() {
        answerers = match (by_files, configured(settings.answerer.as_ref())) {
            (true, _) => Reader::numbered("answerer", arguments.answerers.unwrap_or(arguments.arms.len() * places)),
            (false, Some(name)) => vec![Reader::Model(name)],
            (false, None) => anyhow::bail!(
                "nobody answers: name a model with --answerer, or write the requests as files with --tasks-out"
            ),
        };
    }
    let mut judges = Reader::models(&arguments.judge);
    if judges.is_empty() {
        judges = match (by_files, configured(settings.judge.as_ref())) {
            (true, _) => Reader::numbered("judge", arguments.judges.max(FEWEST_JUDGES)),
            (false, Some(name)) => vec![Reader::Model(name)],
            (false, None) => anyhow::bail!(
                "nobody judges: name a model with --judge, or write the requests as files with --tasks-out"
            ),
        };
    }
    let mut summarisers = Vec::new();
    if arguments.arms.iter().any(ContinuationArm::asks_models) {
        summarisers = Reader::models(&arguments.summarisers);
        if summarisers.is_empty() {
            let chain = settings
                .chain
                .iter()
                .map(|model| Reader::Model(model.model.name.clone()));
            summarisers = match by_files {
                true => vec![Reader::Files("summariser".to_owned())],
                false => chain.collect(),
            };
        }
        if summarisers.is_empty() {
            anyhow::bail!("arms that write summaries need a model: name one with --summariser");
        }
    }
    Ok(ReaderPanel {
        summarisers,
        answerers,
        judges,
    })
}

/// How many seats the answerers share. Readers of files remember what they have read: each has one seat, and there must be as many as
/// arms. Models forget every request, so a few of them can share enough seats, each as many as the others.
fn answerer_seats(answerers: usize, arms: usize, are_files: bool) -> anyhow::Result<usize> {
    match are_files {
        true if answerers < arms => anyhow::bail!(
            "{arms} arms need at least {arms} answerers, so that nobody sees a session under two of them; there are {answerers}"
        ),
        true => Ok(answerers),
        false => Ok(arms.div_ceil(answerers.max(1)).max(1) * answerers),
    }
}
