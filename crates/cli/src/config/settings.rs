//! What commands work with: flags, variables, file and what is built in, brought together once.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use mainstay_engine::decide::Policy;
use mainstay_engine::decide::SummaryPolicy;
use mainstay_engine::redact::Addresses;
use mainstay_engine::redact::Options;
use mainstay_llm::model::Model;
use toml::Spanned;

use crate::config::choices::AddressChoice;
use crate::config::choices::EngineChoice;
use crate::config::choices::RolesChoice;
use crate::config::choices::WayChoice;
use crate::config::endpoints;
use crate::config::file;
use crate::config::file::Field;
use crate::config::file::File;
use crate::config::models::Candidate;
use crate::config::models::Catalogue;
use crate::config::origin::Origin;
use crate::config::origin::Row;
use crate::config::picker::Picker;
use crate::config::place;
use crate::config::place::Variables;
use crate::config::proxy;
use crate::config::proxy::ProxyOverrides;
use crate::config::proxy::ProxySettings;
use crate::config::source::Complaint;
use crate::config::source::Source;

/// Tokens of records that a summary's request holds in all: the largest that small models still read with care.
const SUMMARY_INPUT: u64 = 60_000;
/// How often a model is asked before the next one is: once, and twice more for what passes by itself.
const ATTEMPTS: u32 = 3;
/// How long all models together may take before the ledger stands in: an agent is waiting.
const DEADLINE: Duration = Duration::from_secs(300);

/// What the flags of a command say. Whatever is `None` is left to the file.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `--engine`
    pub engine: Option<EngineChoice>,
    /// `--window`
    pub window: Option<u64>,
    /// `--threshold`
    pub threshold: Option<f64>,
    /// `--target`
    pub target: Option<u64>,
    /// `--tail`
    pub tail: Option<u64>,
    /// `--focus`
    pub focus: Option<String>,
    /// `--way`
    pub way: Option<WayChoice>,
    /// `--store`
    pub store: Option<PathBuf>,
    /// `--ips`
    pub addresses: Option<AddressChoice>,
    /// `--pii`; a flag can only turn it on.
    pub pii: bool,
    /// `--summariser`, in order; empty where there was none.
    pub summarisers: Vec<String>,
    /// `--answerer`
    pub answerer: Option<String>,
    /// `--judge`
    pub judge: Option<String>,
    /// `--results`
    pub results: Option<PathBuf>,
    /// Those of `mainstay proxy`.
    pub proxy: ProxyOverrides,
}

/// What is hidden besides secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redact {
    /// Which addresses, where anybody said so.
    pub addresses: Option<AddressChoice>,
    /// Data of people.
    pub pii: bool,
}

impl Redact {
    /// For whatever shows a history to a model, an agent or a log of one: it names no machine unless somebody said otherwise.
    pub fn of_history(self) -> Options {
        self.options(Addresses::All)
    }

    /// For a place that hides these addresses where nobody said anything else.
    pub fn options(self, usual: Addresses) -> Options {
        Options {
            addresses: self.addresses.map_or(usual, Addresses::from),
            pii: self.pii,
        }
    }
}

/// The effective settings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What compacts.
    pub engine: EngineChoice,
    /// How.
    pub policy: Policy,
    /// The window, where anybody set one.
    pub window: Option<u64>,
    /// Which sequences of roles the server accepts.
    pub roles: RolesChoice,
    /// What is hidden besides secrets.
    pub redact: Redact,
    /// Where the store is, where anybody said so.
    pub store: Option<PathBuf>,
    /// How summaries are asked for.
    pub asking: Asking,
    /// The chain, in order.
    pub chain: Vec<Candidate>,
    /// Who answers probes.
    pub answerer: Option<Candidate>,
    /// Who judges answers.
    pub judge: Option<Candidate>,
    /// Where runs of the evaluation are kept.
    pub results: PathBuf,
    /// How the proxy serves.
    pub proxy: ProxySettings,
    /// Every model of the file, and those of the chain.
    pub models: BTreeMap<String, Candidate>,
    /// Every effective value and who set it.
    pub rows: Vec<Row>,
}

/// How summaries are asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Asking {
    /// In which way.
    pub way: WayChoice,
    /// How many tokens of records a request holds in all.
    pub input: u64,
    /// How many tokens a summary may have; none leaves it to the room there is.
    pub output: Option<u64>,
    /// How often each model is asked.
    pub attempts: u32,
    /// How long all of it may take.
    pub deadline: Duration,
    /// A directory with prompts in place of those that are built in.
    pub prompts: Option<PathBuf>,
    /// A file of recorded answers.
    pub cassette: Option<PathBuf>,
    /// Whether answers are recorded there; otherwise only recorded ones are used.
    pub record: bool,
}

/// A chain that can be asked.
#[derive(Clone, Debug, PartialEq)]
pub struct SummarySettings {
    /// The models that can be asked, in order, with their keys.
    pub models: Vec<Model>,
    /// The models that cannot, and why.
    pub unusable: Vec<Unusable>,
    /// How they are asked.
    pub asking: Asking,
}

/// A model of the chain that cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// What the configuration calls it.
    pub name: String,
    /// Why, and what to do.
    pub reason: String,
}

impl Settings {
    /// Brings everything together.
    pub fn new(source: &Source, overrides: &Overrides, variables: Variables<'_>, home: &Path) -> anyhow::Result<Self> {
        let file = file::parse(source)?;
        source.refuse_secrets()?;
        check_figures(&file, source)?;
        let mut picker = Picker::new(source);
        let compact = &file.compact;
        let engine = overrides.engine.map(|engine| (engine, "--engine"));
        let engine = picker.with_default("compact.engine", engine, &compact.engine, EngineChoice::Auto);
        let window = overrides.window.map(|window| (window, "--window"));
        let window = picker.optional("compact.window", window, &compact.window);
        let policy = policy(&file, overrides, &mut picker);
        let focus = overrides.focus.clone().map(|focus| (focus, "--focus"));
        let focus = picker.optional("compact.focus", focus, &compact.focus);
        let roles = picker.with_default("compact.roles", None, &compact.roles, RolesChoice::Open);
        let addresses = overrides.addresses.map(|addresses| (addresses, "--ips"));
        let redact = Redact {
            addresses: picker.optional("redact.addresses", addresses, &file.redact.addresses),
            pii: picker.with_default(
                "redact.pii",
                overrides.pii.then_some((true, "--pii")),
                &file.redact.pii,
                false,
            ),
        };
        let store = store(&file, overrides, variables, &mut picker, home);
        let asking = asking(&file.summary, overrides.way, &mut picker, home)?;
        let mut catalogue = Catalogue::new(&file, &mut picker, home)?;
        let chain = chain(&file, overrides, &mut catalogue, &mut picker, home)?;
        let eval = &file.eval;
        let answerer = overrides.answerer.clone().map(|name| (name, "--answerer"));
        let answerer = one_model(
            "eval.answerer",
            answerer,
            &eval.answerer,
            &mut catalogue,
            &mut picker,
            home,
        )?;
        let judge = overrides.judge.clone().map(|name| (name, "--judge"));
        let judge = one_model("eval.judge", judge, &eval.judge, &mut catalogue, &mut picker, home)?;
        let results = results(&file, overrides, &mut picker, home);
        let proxy = proxy::proxy(&file.proxy, &overrides.proxy, &mut picker, home)?;
        let mut models = catalogue.models;
        for candidate in chain.iter().chain(&answerer).chain(&judge) {
            models.insert(candidate.model.name.clone(), candidate.clone());
        }
        Ok(Self {
            engine,
            policy: Policy {
                engine: engine.into(),
                focus,
                summary: SummaryPolicy {
                    way: asking.way.into(),
                    input: asking.input,
                    output: asking.output,
                },
                ..policy
            },
            window,
            roles,
            redact,
            store,
            asking,
            chain,
            answerer,
            judge,
            results,
            proxy,
            models,
            rows: picker.into_rows(),
        })
    }

    /// The chain with its keys read; none where no model is configured.
    pub fn summary_with(&self, variables: Variables<'_>) -> Option<SummarySettings> {
        if self.chain.is_empty() {
            return None;
        }
        let mut models = Vec::new();
        let mut unusable = Vec::new();
        for candidate in &self.chain {
            match self.with_key(candidate, variables) {
                Ok(model) => models.push(model),
                Err(unknown) => unusable.push(unknown),
            }
        }
        Some(SummarySettings {
            models,
            unusable,
            asking: self.asking.clone(),
        })
    }

    /// A model as it is priced and counted for, without its key: it cannot be asked.
    pub fn without_key(candidate: &Candidate) -> Model {
        let mut model = candidate.model.clone();
        model.rates = candidate.price.map(Into::into);
        model
    }

    /// A model with its key read, or why it cannot be asked.
    pub fn with_key(&self, candidate: &Candidate, variables: Variables<'_>) -> Result<Model, Unusable> {
        let mut model = Self::without_key(candidate);
        match candidate.key.read(variables) {
            Ok(key) => model.endpoint.key = key,
            // Recorded answers are nobody's business but the disk's.
            Err(_) if self.asking.cassette.is_some() && !self.asking.record => {}
            Err(reason) => {
                let name = model.name;
                return Err(Unusable { name, reason });
            }
        }
        Ok(model)
    }
}

/// Where runs of the evaluation are kept where nobody says anything: beside what they are about, as the published harness does.
const RESULTS: &str = "results";

fn results(file: &File, overrides: &Overrides, picker: &mut Picker<'_>, home: &Path) -> PathBuf {
    let (path, origin) = match (&overrides.results, &file.eval.results) {
        (Some(path), _) => (path.clone(), Origin::Flag("--results")),
        (None, Some(field)) => (path_of(field, picker, home), picker.origin(field)),
        (None, None) => (PathBuf::from(RESULTS), Origin::BuiltIn),
    };
    picker.note("eval.results", path.display().to_string(), origin);
    path
}

/// A model that one key of the file names, or a flag.
fn one_model(
    key: &str,
    flag: Option<(String, &'static str)>,
    field: &Field<String>,
    catalogue: &mut Catalogue,
    picker: &mut Picker<'_>,
    home: &Path,
) -> anyhow::Result<Option<Candidate>> {
    let from_flag = flag.as_ref().map(|(_, flag)| *flag);
    let Some(name) = picker.optional(key, flag, field) else {
        return Ok(None);
    };
    let found = catalogue.find(&name, picker, home);
    let candidate = found.map_err(|why| match (from_flag, field) {
        (None, Some(field)) => picker.source.complain(field.span(), why).into(),
        (flag, _) => anyhow::anyhow!("{}: {why}", flag.unwrap_or(key)),
    })?;
    Ok(Some(candidate))
}

fn policy(file: &File, overrides: &Overrides, picker: &mut Picker<'_>) -> Policy {
    let mut policy = Policy::default();
    let compact = &file.compact;
    let threshold = overrides.threshold.map(|threshold| (threshold, "--threshold"));
    policy.budget.threshold = picker.optional("compact.threshold", threshold, &compact.threshold);
    // A flag is for this very run: what the file says about single models does not stand against it.
    if overrides.threshold.is_none() {
        let thresholds = compact.model_thresholds.iter();
        policy.budget.model_thresholds = thresholds
            .map(|(name, share)| (name.clone(), *share.get_ref()))
            .collect();
        for (name, share) in &compact.model_thresholds {
            let origin = picker.origin(share);
            picker.note(&format!("compact.model_thresholds.{name}"), share.get_ref(), origin);
        }
    }
    let target = overrides.target.map(|target| (target, "--target"));
    policy.target = picker.optional("compact.target", target, &compact.target);
    let tail = overrides.tail.map(|tail| (tail, "--tail"));
    policy.tail = picker.optional("compact.tail", tail, &compact.tail);
    policy.tail_messages = picker.with_default(
        "compact.tail_messages",
        None,
        &compact.tail_messages,
        policy.tail_messages,
    );
    let tools = std::mem::take(&mut policy.protected_tools);
    policy.protected_tools = picker.with_default("compact.protected_tools", None, &compact.protected_tools, tools);
    policy
}

fn store(
    file: &File,
    overrides: &Overrides,
    variables: Variables<'_>,
    picker: &mut Picker<'_>,
    home: &Path,
) -> Option<PathBuf> {
    let (path, origin) = if let Some(path) = &overrides.store {
        (Some(path.clone()), Origin::Flag("--store"))
    } else if let Some(path) = variables("MAINSTAY_STORE") {
        (Some(PathBuf::from(path)), Origin::Variable("MAINSTAY_STORE"))
    } else if let Some(field) = &file.store.path {
        (Some(path_of(field, picker, home)), picker.origin(field))
    } else {
        (None, Origin::BuiltIn)
    };
    picker.note(
        "store.path",
        path.as_ref().map(|path| path.display().to_string()),
        origin,
    );
    path
}

fn path_of(field: &Spanned<String>, picker: &Picker<'_>, home: &Path) -> PathBuf {
    let file = picker.source.path.as_deref().unwrap_or(Path::new(""));
    place::expand(field.get_ref(), file, home)
}

fn asking(
    summary: &file::Summary,
    way: Option<WayChoice>,
    picker: &mut Picker<'_>,
    home: &Path,
) -> Result<Asking, Complaint> {
    let path = |key: &str, field: &Field<String>, picker: &mut Picker<'_>| {
        let path = field.as_ref().map(|field| path_of(field, picker, home));
        let origin = field.as_ref().map_or(Origin::BuiltIn, |field| picker.origin(field));
        picker.note(key, path.as_ref().map(|path| path.display().to_string()), origin);
        path
    };
    Ok(Asking {
        way: picker.with_default(
            "summary.way",
            way.map(|way| (way, "--way")),
            &summary.way,
            WayChoice::Auto,
        ),
        input: picker.with_default("summary.input", None, &summary.input, SUMMARY_INPUT),
        output: picker.optional("summary.output", None, &summary.output),
        attempts: picker.with_default("summary.attempts", None, &summary.attempts, ATTEMPTS),
        deadline: endpoints::span_of("summary.deadline", &summary.deadline, DEADLINE, picker)?,
        prompts: path("summary.prompts", &summary.prompts, picker),
        cassette: path("summary.cassette", &summary.cassette, picker),
        record: picker.with_default("summary.record", None, &summary.record, false),
    })
}

fn chain(
    file: &File,
    overrides: &Overrides,
    catalogue: &mut Catalogue,
    picker: &mut Picker<'_>,
    home: &Path,
) -> anyhow::Result<Vec<Candidate>> {
    let flag = (!overrides.summarisers.is_empty()).then(|| (overrides.summarisers.clone(), "--summariser"));
    let is_flag = flag.is_some();
    let names = picker.with_default("summary.models", flag, &file.summary.models, Vec::new());
    let mut chain = Vec::new();
    let mut known = BTreeSet::new();
    // A model that is named twice is asked once.
    for name in names.iter().filter(|name| known.insert(*name)) {
        let found = catalogue.find(name, picker, home);
        let candidate = found.map_err(|why| match &file.summary.models {
            Some(field) if !is_flag => picker.source.complain(field.span(), why).into(),
            Some(_) | None => anyhow::anyhow!("--summariser: {why}"),
        })?;
        chain.push(candidate);
    }
    Ok(chain)
}

/// Figures that cannot be meant.
fn check_figures(file: &File, source: &Source) -> Result<(), Complaint> {
    let thresholds = file
        .compact
        .threshold
        .iter()
        .chain(file.compact.model_thresholds.values());
    for share in thresholds {
        if !(*share.get_ref() > 0.0 && *share.get_ref() <= 1.0) {
            return Err(source.complain(
                share.span(),
                "a threshold is a share of the window: above 0 and at most 1",
            ));
        }
    }
    let above_zero = [
        &file.compact.window,
        &file.compact.target,
        &file.summary.input,
        &file.summary.output,
    ];
    for figure in above_zero.into_iter().flatten() {
        if *figure.get_ref() == 0 {
            return Err(source.complain(figure.span(), "this has to be above 0"));
        }
    }
    match &file.summary.attempts {
        // A tenth attempt helps nobody who waits.
        Some(field) if !(1..=10).contains(field.get_ref()) => {
            Err(source.complain(field.span(), "attempts are 1 to 10"))
        }
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
