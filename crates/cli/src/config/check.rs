//! `mainstay config check`: whether everything that is configured works, down to an answer of every model.

use std::path::Path;

use clap::Args;
use mainstay_llm::model::Model;
use serde::Serialize;

use crate::config::Configuration;
use crate::config::Overrides;
use crate::config::Settings;
use crate::config::SummaryFlags;
use crate::config::asking;
use crate::config::place::Variables;
use crate::environment;
use crate::gate::GateNotMet;
use crate::screen::Screen;
use crate::screen::plain;

/// Read everything that is configured, look for the keys, and ask every model one tiny question.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    summary: SummaryFlags,

    /// Ask no model.
    #[arg(long)]
    offline: bool,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

/// What was found; the field names are the documented JSON shape.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Report {
    path: Option<String>,
    read: bool,
    passed: bool,
    models: Vec<ModelReport>,
    problems: Vec<String>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct ModelReport {
    name: String,
    id: String,
    endpoint: String,
    url: String,
    form: &'static str,
    /// `answered`, `ready` (offline: nothing stands in the way) or `failed`.
    state: &'static str,
    detail: String,
}

/// How a model is asked: what it answered in words, or why it did not and what to do.
type Ask<'a> = &'a dyn Fn(&Model) -> Result<String, String>;

/// Checks.
pub fn run(arguments: &Arguments, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    let source = configuration.read()?;
    let overrides = Overrides {
        summarisers: arguments.summary.summarisers.clone(),
        ..Overrides::default()
    };
    let settings = Settings::new(&source, &overrides, &environment::variable, &configuration.home)?;
    let ask: Option<Ask<'_>> = (!arguments.offline).then_some(&asking::ask);
    let models = examine(&settings, &environment::variable, ask);
    let problems = problems(&settings);
    let failed = models.iter().filter(|model| model.state == "failed").count();
    let report = Report {
        path: source.path.as_ref().map(|path| path.display().to_string()),
        read: source.path.is_some(),
        passed: failed == 0 && problems.is_empty(),
        models,
        problems,
    };
    if arguments.json {
        screen.json(&report)?;
    } else {
        print(&report, screen)?;
    }
    if report.passed {
        return Ok(());
    }
    let all = report.models.len();
    let words = match failed {
        0 => report.problems.join("; "),
        _ => format!("{failed} of {all} models cannot be used"),
    };
    Err(GateNotMet(words).into())
}

/// Every model of the chain, in order.
fn examine(settings: &Settings, variables: Variables<'_>, ask: Option<Ask<'_>>) -> Vec<ModelReport> {
    let reports = settings.chain.iter().map(|candidate| {
        let model = &candidate.model;
        let (state, detail) = match (candidate.key.read(variables), ask) {
            (Err(problem), _) => ("failed", problem),
            (Ok(_), None) => ("ready", format!("not asked; key: {}", candidate.key)),
            (Ok(key), Some(ask)) => {
                let mut model = model.clone();
                model.endpoint.key = key;
                match ask(&model) {
                    Ok(answer) => ("answered", answer),
                    Err(problem) => ("failed", problem),
                }
            }
        };
        // Whoever answers may say anything, the key it was asked with included.
        let key = candidate.key.read(variables).ok().flatten();
        ModelReport {
            name: model.name.clone(),
            id: model.id.clone(),
            endpoint: model.endpoint.name.clone(),
            url: model.endpoint.url.clone(),
            form: model.endpoint.form.name(),
            state,
            detail: key.map_or(detail.clone(), |key| key.hide_in(&detail)),
        }
    });
    reports.collect()
}

/// What else stands in the way.
fn problems(settings: &Settings) -> Vec<String> {
    let mut problems = Vec::new();
    if settings.engine.needs_a_model() && settings.chain.is_empty() {
        problems.push("the engine asks a model, and summary.models names none".to_owned());
    }
    let asking = &settings.asking;
    if let Some(prompts) = asking.prompts.as_deref().filter(|path| !path.is_dir()) {
        problems.push(format!("summary.prompts: there is no directory {}", prompts.display()));
    }
    if let Some(cassette) = asking
        .cassette
        .as_deref()
        .filter(|path| !can_be_used(path, asking.record))
    {
        problems.push(format!("summary.cassette: there is no file {}", cassette.display()));
    }
    if asking.record && asking.cassette.is_none() {
        problems.push("summary.record is set, and summary.cassette names no file".to_owned());
    }
    problems
}

/// A recording can be begun; replaying needs one.
fn can_be_used(cassette: &Path, record: bool) -> bool {
    cassette.is_file() || (record && !cassette.exists())
}

fn print(report: &Report, screen: &mut Screen) -> anyhow::Result<()> {
    match &report.path {
        Some(path) => screen.line(&format!("{} can be read.", plain(path)))?,
        None => screen.line("There is no configuration file: everything is built in.")?,
    }
    for problem in &report.problems {
        screen.line(&plain(problem))?;
    }
    if report.models.is_empty() {
        return screen.line("No model is configured; the ledger does the work.");
    }
    let rows = report.models.iter().map(|model| {
        vec![
            plain(&model.name),
            model.state.to_owned(),
            plain(&model.url),
            model.form.to_owned(),
            plain(&model.detail),
        ]
    });
    screen.table(&["MODEL", "STATE", "AT", "FORM", "DETAIL"], rows.collect())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::config::source::Source;

    fn settings(text: &str) -> Settings {
        let source = Source::new(Path::new("/c.toml"), text.to_owned());
        Settings::new(&source, &Overrides::default(), &|_: &str| None, Path::new("/home/u")).unwrap()
    }

    #[test]
    fn every_model_of_the_chain_is_asked_once_with_its_key() {
        let settings = settings("[summary]\nmodels = ['openai:gpt-5-mini', 'local:qwen3', 'anthropic:claude-haiku-5']");
        let variables = |name: &str| (name == "OPENAI_API_KEY").then(|| OsString::from("planted-key"));
        let asked = std::cell::RefCell::new(Vec::new());
        let ask = |model: &Model| {
            let key = model.endpoint.key.as_ref().map(|key| key.reveal().to_owned());
            asked.borrow_mut().push((model.name.clone(), key));
            match model.name.as_str() {
                "local:qwen3" => Err("nobody listens there; start the server".to_owned()),
                _ => Ok("answered, and echoed planted-key".to_owned()),
            }
        };
        let reports = examine(&settings, &variables, Some(&ask));
        let states: Vec<_> = reports.iter().map(|report| report.state).collect();
        assert_eq!(states, ["answered", "failed", "failed"]);
        assert_eq!(reports[0].detail, "answered, and echoed [key]");
        assert_eq!(reports[1].detail, "nobody listens there; start the server");
        assert!(reports[2].detail.contains("ANTHROPIC_API_KEY is not set"));
        // The one without a key was not asked.
        assert_eq!(
            asked.into_inner(),
            [
                ("openai:gpt-5-mini".to_owned(), Some("planted-key".to_owned())),
                ("local:qwen3".to_owned(), None)
            ]
        );
        let offline: Vec<_> = examine(&settings, &variables, None)
            .iter()
            .map(|report| report.state)
            .collect();
        assert_eq!(offline, ["ready", "ready", "failed"]);
    }

    #[test]
    fn what_cannot_work_is_a_problem() {
        assert_eq!(problems(&settings("")), [""; 0]);
        for (text, words) in [
            ("compact.engine = 'hybrid'", "names none"),
            ("summary.prompts = '/nowhere'", "there is no directory /nowhere"),
            ("summary.cassette = '/nowhere/c'", "there is no file /nowhere/c"),
            ("summary.record = true", "names no file"),
        ] {
            let found = problems(&settings(text));
            assert!(found.len() == 1 && found[0].contains(words), "{found:?}");
        }
    }
}
