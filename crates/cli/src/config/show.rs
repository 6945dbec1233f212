//! `mainstay config show`: the effective configuration and who set what. Of a key it is said whether it is set, and where.

use std::collections::BTreeMap;

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use crate::config::Configuration;
use crate::config::Overrides;
use crate::config::Settings;
use crate::config::SummaryFlags;
use crate::config::keys::KeySource;
use crate::config::models::Candidate;
use crate::config::origin::Origin;
use crate::config::origin::OriginReport;
use crate::config::place::Variables;
use crate::environment;
use crate::screen::Screen;
use crate::screen::number;
use crate::screen::plain;

/// Show the effective configuration, and where each value comes from.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    summary: SummaryFlags,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

/// What holds; the field names are the documented JSON shape.
#[derive(Debug, Serialize)]
struct Report {
    path: Option<String>,
    path_from: Option<OriginReport>,
    read: bool,
    values: Vec<ValueReport>,
    chain: Vec<String>,
    models: Vec<ModelReport>,
    keys: Vec<KeyReport>,
}

#[derive(Debug, Serialize)]
struct ValueReport {
    key: String,
    value: Value,
    from: OriginReport,
}

#[derive(Debug, Serialize)]
struct ModelReport {
    name: String,
    id: String,
    endpoint: String,
    url: String,
    form: &'static str,
    window: u64,
    output: u64,
    streams: bool,
}

/// Whether the key of an endpoint is there.
#[derive(Debug, Serialize)]
pub struct KeyReport {
    endpoint: String,
    state: &'static str,
    source: Option<String>,
    problem: Option<String>,
}

impl KeyReport {
    /// Looks whether it is there; nothing of it is kept.
    pub fn new(candidate: &Candidate, variables: Variables<'_>) -> Self {
        let (state, problem) = match candidate.key.read(variables) {
            Ok(Some(_)) => ("set", None),
            Ok(None) => ("none", None),
            Err(problem) => ("missing", Some(problem)),
        };
        let source = match &candidate.key {
            KeySource::None => None,
            source => Some(source.to_string()),
        };
        Self {
            endpoint: candidate.model.endpoint.name.clone(),
            state,
            source,
            problem,
        }
    }

    /// The same for people.
    pub fn words(&self) -> String {
        match (&self.source, &self.problem) {
            (_, Some(problem)) => format!("missing: {problem}"),
            (Some(source), None) => format!("set ({source})"),
            (None, None) => "no key is sent".to_owned(),
        }
    }
}

/// Shows it.
pub fn run(arguments: &Arguments, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    let source = configuration.read()?;
    let overrides = Overrides {
        summarisers: arguments.summary.summarisers.clone(),
        ..Overrides::default()
    };
    let settings = Settings::new(&source, &overrides, &environment::variable, &configuration.home)?;
    let report = report(configuration, source.path.is_some(), &settings, &environment::variable);
    if arguments.json {
        screen.json(&report)
    } else {
        print(&report, &settings, configuration, screen)
    }
}

fn report(configuration: &Configuration, read: bool, settings: &Settings, variables: Variables<'_>) -> Report {
    let place = configuration.place.as_ref();
    let values = settings.rows.iter().map(|row| ValueReport {
        key: row.key.clone(),
        value: row.value.clone(),
        from: OriginReport::from(&row.origin),
    });
    let models = settings.models.values().map(|candidate| ModelReport {
        name: candidate.model.name.clone(),
        id: candidate.model.id.clone(),
        endpoint: candidate.model.endpoint.name.clone(),
        url: candidate.model.endpoint.url.clone(),
        form: candidate.model.endpoint.form.name(),
        window: candidate.model.window,
        output: candidate.model.output,
        streams: candidate.model.streams,
    });
    let mut keys = BTreeMap::new();
    for candidate in settings.models.values() {
        keys.entry(&candidate.model.endpoint.name)
            .or_insert_with(|| KeyReport::new(candidate, variables));
    }
    Report {
        path: place.map(|place| place.path.display().to_string()),
        path_from: place.map(|place| OriginReport::from(&place.origin)),
        read,
        values: values.collect(),
        chain: settings
            .chain
            .iter()
            .map(|candidate| candidate.model.name.clone())
            .collect(),
        models: models.collect(),
        keys: keys.into_values().collect(),
    }
}

fn print(
    report: &Report,
    settings: &Settings,
    configuration: &Configuration,
    screen: &mut Screen,
) -> anyhow::Result<()> {
    match (&configuration.place, report.read) {
        (Some(place), true) => {
            let why = match &place.origin {
                Origin::BuiltIn => String::new(),
                named => format!(" ({named})"),
            };
            screen.line(&format!("{}{why}", plain(&place.path.display().to_string())))?;
        }
        (Some(place), false) => {
            let path = plain(&place.path.display().to_string());
            screen.line(&format!(
                "{path} is not there: everything is built in; `mainstay config init` writes one"
            ))?;
        }
        (None, _) => screen.line("There is no home directory and so no configuration file: everything is built in.")?,
    }
    screen.heading("Settings")?;
    let rows = settings.rows.iter().map(|row| {
        let value = shown(&row.key, &row.value);
        vec![plain(&row.key), plain(&value), row.origin.to_string()]
    });
    screen.table(&["KEY", "VALUE", "FROM"], rows.collect())?;
    print_models(report, screen)
}

fn print_models(report: &Report, screen: &mut Screen) -> anyhow::Result<()> {
    screen.heading("Models")?;
    if report.models.is_empty() {
        return screen.line("  None: there are no summaries, and the ledger does the work.");
    }
    let places: BTreeMap<&String, usize> = report.chain.iter().zip(1..).collect();
    let rows = report.models.iter().map(|model| {
        vec![
            places.get(&model.name).map_or_else(|| "–".to_owned(), usize::to_string),
            plain(&model.name),
            plain(&model.id),
            plain(&model.url),
            model.form.to_owned(),
            number(model.window),
            number(model.output),
        ]
    });
    let titles = ["ASKED", "NAME", "MODEL", "AT", "FORM", ">WINDOW", ">OUTPUT"];
    screen.table(&titles, rows.collect())?;
    screen.heading("Keys")?;
    let rows = report
        .keys
        .iter()
        .map(|key| vec![plain(&key.endpoint), plain(&key.words())]);
    screen.table(&["ENDPOINT", "KEY"], rows.collect())
}

/// A value for people; one that is nowhere set says what happens then.
fn shown(key: &str, value: &Value) -> String {
    match (value, key) {
        (Value::Null, "compact.window") => "what the session or the model's name says".to_owned(),
        (Value::Null, "compact.threshold") => "0.50 of a window from 512k on, 0.75 below".to_owned(),
        (Value::Null, "compact.target") => "follows from the threshold".to_owned(),
        (Value::Null, "compact.tail") => "a fifth of the threshold".to_owned(),
        (Value::Null, "redact.addresses") => "public; all in what a model is shown".to_owned(),
        (Value::Null, "store.path") => {
            environment::usual_store().map_or_else(|error| error.to_string(), |path| path.display().to_string())
        }
        (Value::Null, "proxy.trim") => "25000 tokens".to_owned(),
        (Value::Null, "summary.prompts") => "built in".to_owned(),
        (Value::Null, _) => "none".to_owned(),
        (Value::String(text), _) => text.clone(),
        (Value::Array(items), _) if items.is_empty() => "none".to_owned(),
        (Value::Array(items), _) => items.iter().map(|item| shown("", item)).collect::<Vec<_>>().join(", "),
        (Value::Object(fields), _) => {
            let named = fields.iter().filter(|(_, value)| !value.is_null());
            let named = named.map(|(name, value)| format!("{name} {}", shown("", value)));
            named.collect::<Vec<_>>().join(", ")
        }
        (Value::Number(figure), _) => figure.as_u64().map_or_else(|| figure.to_string(), number),
        (Value::Bool(_), _) => value.to_string(),
    }
}
