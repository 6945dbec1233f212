//! From flags, or from a run that was broken off, to a plan.

use std::path::Path;

use anyhow::Context;
use mainstay_engine::account::Family;
use mainstay_engine::decide::InPlace;
use mainstay_engine::decide::Writers;
use mainstay_engine::summary::prompts::Prompts;
use mainstay_eval::fixture::Exam;
use mainstay_eval::record::Run;
use mainstay_eval::run::Plan;
use mainstay_eval::run::desk::Models;
use mainstay_eval::state::Arm;
use mainstay_eval::state::Setting;

use crate::compact::summary::prompts;
use crate::config::Settings;
use crate::environment;
use crate::eval::holding::Asking;
use crate::screen::Screen;

/// How often everything is done where models are asked, as the published harness does.
const REPEATS: u32 = 3;
/// Where chance begins; nothing of a run depends on it but orders: in which requests are drawn, and answers scored.
const SEED: u64 = 1;

/// The exam that is asked for, or the one that comes with the program, with its own banks or with others; only some of its fixtures
/// where they are named.
pub fn exam(directory: Option<&Path>, probes: Option<&Path>, fixtures: &[String]) -> anyhow::Result<Exam> {
    let exam = match (directory, probes) {
        (directory, Some(probes)) => Exam::with_probes(directory, probes)?,
        (Some(directory), None) => Exam::read(directory)?,
        (None, None) => Exam::built_in()?,
    };
    Ok(match fixtures.is_empty() {
        true => exam,
        false => exam.only(fixtures)?,
    })
}

/// A plan with these fixtures and arms.
pub fn new(
    asking: &Asking,
    exam: Exam,
    arms: Vec<Arm>,
    settings: &Settings,
    models: &Models,
    screen: &mut Screen,
) -> anyhow::Result<Plan> {
    let asks_models = models.summarise.is_some() || models.answer.is_some();
    let repeats = asking.repeat.unwrap_or(if asks_models { REPEATS } else { 1 });
    if models.summarise.is_none() && arms.iter().any(|arm| arm.asks_models()) {
        screen.warn("no model is named to write summaries, so the ledger stands in for them; --summariser names one");
    }
    let now = environment::now();
    Ok(Plan {
        label: label(asking.label.as_deref())?,
        created: now.0,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        exam,
        arms,
        setting: Setting {
            family: Family::O200k,
            target: asking.target,
            focus: asking.focus.clone().or_else(|| settings.policy.focus.clone()),
            summary: settings.policy.summary.clone(),
            prompts: chosen_prompts(settings, asking.prompts.as_deref())?,
            writers: models.summarise.as_ref().map(|chain| writers(chain.models())),
        },
        repeats,
        seed: SEED,
    })
}

/// What a run that was broken off was begun with.
pub fn resumed(directory: &Path, settings: &Settings, models: &Models, prompts: Option<&Path>) -> anyhow::Result<Plan> {
    let run = Run::read(directory)?;
    let manifest = &run.manifest;
    let named = [
        (
            "--summariser",
            !manifest.summarisers.is_empty(),
            models.summarise.is_some(),
            manifest.summarisers.first(),
        ),
        (
            "--answerer",
            manifest.answerer.is_some(),
            models.answer.is_some(),
            manifest.answerer.as_ref(),
        ),
        (
            "--judge",
            manifest.judge.is_some(),
            models.judge.is_some(),
            manifest.judge.as_ref(),
        ),
    ];
    for (flag, had, has, model) in named {
        if let (true, false, Some(model)) = (had, has, model) {
            anyhow::bail!("the run was begun with the model {}: name it with {flag}", model.name);
        }
    }
    let arms = manifest.arms.iter().map(|arm| arm.spec.parse::<Arm>());
    Ok(Plan {
        label: manifest.label.clone(),
        created: manifest.created,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        exam: run.exam()?,
        arms: arms.collect::<Result<_, _>>()?,
        setting: Setting {
            family: Family::named(&manifest.tokenizer)
                .with_context(|| format!("there is no tokenizer {}", manifest.tokenizer))?,
            target: manifest.target.parse().map_err(anyhow::Error::msg)?,
            focus: manifest.focus.clone(),
            summary: settings.policy.summary.clone(),
            prompts: chosen_prompts(settings, prompts)?,
            writers: models.summarise.as_ref().map(|chain| writers(chain.models())),
        },
        repeats: manifest.repeats,
        seed: manifest.seed,
    })
}

fn chosen_prompts(settings: &Settings, given: Option<&Path>) -> anyhow::Result<Prompts> {
    match given.or(settings.asking.prompts.as_deref()) {
        Some(directory) => prompts(directory),
        None => Ok(Prompts::default()),
    }
}

/// What the engine has to know of whoever writes.
pub fn writers(models: &[mainstay_llm::model::Model]) -> Writers {
    Writers {
        window: models.iter().map(|model| model.window).min().unwrap_or(0),
        output: models.iter().map(|model| model.output).min().unwrap_or(0),
        in_place: InPlace::Impossible("an evaluation asks with records".to_owned()),
    }
}

/// What a run is called: as given, otherwise the time.
pub fn label(given: Option<&str>) -> anyhow::Result<String> {
    let label = given.map_or_else(|| crate::screen::second(environment::now()), str::to_owned);
    check_label(&label)?;
    Ok(label)
}

/// Labels are names of directories.
fn check_label(label: &str) -> anyhow::Result<()> {
    let is_fit = |c: char| !c.is_control() && !matches!(c, '/' | '\\' | ':');
    if label.is_empty() || label.len() > 100 || label.starts_with('.') || !label.chars().all(is_fit) {
        anyhow::bail!("{label:?} cannot be a label: 1 to 100 characters that a directory may be named with");
    }
    Ok(())
}
