//! Models that write summaries: from the settings to a pass that asks them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;

use anyhow::Context;
use indicatif::ProgressBar;
use mainstay_engine::compaction::Outcome;
use mainstay_engine::decide::InPlace;
use mainstay_engine::decide::Writers;
use mainstay_engine::summary::Request;
use mainstay_engine::summary::prompts::Name;
use mainstay_engine::summary::prompts::Prompts;
use mainstay_llm::cassette::Cassette;
use mainstay_llm::cassette::Mode;
use mainstay_llm::chain::Chain;
use mainstay_llm::chain::Event;
use mainstay_llm::client::Client;
use mainstay_llm::price::Spent;
use mainstay_llm::summarise;
use mainstay_llm::summarise::Summariser;
use mainstay_session::Session;
use mainstay_session::SummaryWriters;
use mainstay_wire::document::Document;
use mainstay_wire::reading::WireForm;
use tokio::time::Instant;

use crate::config::Asking;
use crate::config::EngineChoice;
use crate::config::Settings;
use crate::config::SummarySettings;
use crate::environment;
use crate::screen::Screen;

/// Fewer tokens cut a summary off; published ones have three thousand in the median.
const LEAST_OUTPUT: u64 = 4_000;

/// The models that may be asked, and what they are asked with.
pub struct Models {
    chain: Chain,
    /// The first of them alone: the conversation's own model, if it is that one.
    own: Chain,
    prompts: Prompts,
}

impl Models {
    /// The models of the settings; none where nobody is to be asked. Whoever cannot be asked is named on standard error.
    pub fn new(settings: &Settings, screen: &mut Screen) -> anyhow::Result<Option<Self>> {
        if matches!(settings.engine, EngineChoice::Prune | EngineChoice::Ledger) {
            return Ok(None);
        }
        let Some(summary) = settings.summary() else {
            if settings.engine.needs_a_model() {
                screen.warn(
                    "no model is configured to write a summary, so the ledger stands alone; `mainstay config init` starts \
                     a configuration, --summariser ENDPOINT:MODEL names one for this run",
                );
            }
            return Ok(None);
        };
        for unusable in &summary.unusable {
            screen.warn(&format!(
                "the model {} cannot be asked: {}",
                unusable.name, unusable.reason
            ));
        }
        if summary.models.is_empty() {
            screen.warn("no model is left to write a summary, so the ledger stands alone");
            return Ok(None);
        }
        Self::of(summary).map(Some)
    }

    fn of(summary: SummarySettings) -> anyhow::Result<Self> {
        let asking = summary.asking;
        let prompts = match &asking.prompts {
            Some(directory) => prompts(directory)?,
            None => Prompts::default(),
        };
        let client = Arc::new(client(&asking)?);
        // Waits of many processes that begin together shall not end together.
        let seed = u64::from(std::process::id()) ^ environment::now().0.unsigned_abs();
        let chain = |models| {
            let mut chain = Chain::new(Arc::clone(&client), models, seed);
            chain.patience.attempts = asking.attempts;
            chain.deadline = Some(asking.deadline);
            chain
        };
        Ok(Self {
            own: chain(summary.models[..1].to_vec()),
            chain: chain(summary.models),
            prompts,
        })
    }

    /// What a session has to know of them for this conversation.
    pub fn writers(&self, document: &Document) -> SummaryWriters {
        let models = self.chain.models();
        SummaryWriters {
            models: Writers {
                window: self.chain.smallest_window().unwrap_or(0),
                output: models.iter().map(|model| model.output).min().unwrap_or(0),
                in_place: self.in_place(document),
            },
            prompts: self.prompts.clone(),
        }
    }

    /// Whether the conversation's own model is the first of the chain, and the conversation a request of its own.
    fn in_place(&self, document: &Document) -> InPlace {
        let first = &self.chain.models()[0];
        let until = document.last_whole_step(document.transcript.messages().len());
        let asked = match document.asked_in_place(&Default::default(), None, until, "?") {
            Ok(asked) => asked,
            Err(error) => return InPlace::Impossible(error.to_string()),
        };
        let model = document.request_model().unwrap_or_default();
        if model != first.id || document.form() != first.endpoint.form {
            return InPlace::Impossible(format!(
                "the conversation's own model is {model}, and {} is asked first",
                first.name
            ));
        }
        if asked.settings.forces_tools || asked.settings.forces_json {
            return InPlace::Impossible("the request forces the model to answer with a tool or JSON".to_owned());
        }
        if let Some(limit) = asked.settings.output_limit.filter(|limit| *limit < LEAST_OUTPUT) {
            return InPlace::Impossible(format!("the request lets the model answer with {limit} tokens only"));
        }
        // A file on a disk says nothing about a provider's cache.
        InPlace::Cold
    }

    /// Makes a pass. Ctrl-C ends it with nothing done. A failure that neither reasons nor flaws tell of is told on
    /// standard error: where another model has answered, a key or an address may still have to be mended.
    pub fn pass(&self, session: &mut Session, document: &Document, screen: &mut Screen) -> anyhow::Result<Outcome> {
        let given_up = Mutex::new(BTreeMap::new());
        let bar = ProgressBar::new_spinner();
        bar.enable_steady_tick(std::time::Duration::from_millis(120));
        let watch = |event: &Event<'_>| {
            if let Some(words) = told(event) {
                bar.set_message(words);
            }
            if let Event::GivenUp { model, because } = event {
                let mut given_up = given_up.lock().unwrap_or_else(PoisonError::into_inner);
                given_up.insert((*model).to_owned(), because.to_string());
            }
        };
        let body = |request: &Request| -> Result<(WireForm, String), String> {
            let until = document.last_whole_step(request.until);
            let asked = document
                .asked_in_place(&Default::default(), None, until, &request.user)
                .map_err(|error| error.to_string())?;
            Ok((document.form(), asked.body))
        };
        let writers = summarise::Writers {
            chain: &self.chain,
            in_place: Some((&self.own, &body)),
            until: self.chain.deadline.map(|deadline| Instant::now() + deadline),
            watch: &watch,
        };
        let mut summariser = Summariser::new(&writers);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let outcome = runtime.block_on(async {
            tokio::select! {
                outcome = session.pass_with(async |request| summariser.reply(request).await) => Ok(outcome),
                pressed = tokio::signal::ctrl_c() => {
                    pressed?;
                    Err(anyhow::anyhow!("interrupted; nothing was changed and nothing was kept"))
                }
            }
        });
        bar.finish_and_clear();
        if let Ok(outcome) = &outcome {
            let flaws = outcome.flaws.iter().map(|flaw| &flaw.detail);
            let reasons = outcome.plan.reasons.iter().map(ToString::to_string);
            let told: Vec<String> = reasons.chain(flaws.cloned()).collect();
            let given_up = given_up.into_inner().unwrap_or_else(PoisonError::into_inner);
            let untold = given_up
                .values()
                .filter(|failure| !told.iter().any(|words| words.contains(*failure)));
            untold.for_each(|failure| screen.warn(failure));
        }
        outcome
    }

    /// What was spent so far.
    pub fn spent(&self) -> Spent {
        self.chain.client().spent()
    }
}

fn told(event: &Event<'_>) -> Option<String> {
    match event {
        Event::Asking { model, attempt: 1 } => Some(format!("asking {model} for a summary")),
        Event::Asking { model, attempt } => Some(format!("asking {model} for a summary, attempt {attempt}")),
        Event::Waiting { model, wait, because } => {
            Some(format!("waiting {:.1} s for {model}: {because}", wait.as_secs_f64()))
        }
        Event::GivenUp { model, because } => Some(format!("giving up on {model}: {because}")),
        _ => None,
    }
}

/// Whoever asks: the network, or a file of recorded answers.
pub fn client(asking: &Asking) -> anyhow::Result<Client> {
    Ok(match &asking.cassette {
        Some(path) => {
            let mode = if asking.record { Mode::Record } else { Mode::Replay };
            Client::with_cassette(Arc::new(Cassette::open(path, mode)?))
        }
        None => Client::new(),
    })
}

/// The prompts that a directory overrides: one file a prompt, named as the built-in ones are.
pub fn prompts(directory: &Path) -> anyhow::Result<Prompts> {
    let listed = std::fs::read_dir(directory).with_context(|| directory.display().to_string())?;
    let mut prompts = Prompts::default();
    let mut files: Vec<_> = listed.collect::<Result<Vec<_>, _>>()?;
    files.sort_by_key(std::fs::DirEntry::file_name);
    for file in files {
        let path = file.path();
        if path.extension().is_none_or(|ending| ending != "md") {
            continue;
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let Some(name) = Name::ALL.into_iter().find(|name| name.file() == stem) else {
            let known: Vec<_> = Name::ALL.iter().map(|name| format!("{}.md", name.file())).collect();
            anyhow::bail!("{} is no prompt; there are {}", path.display(), known.join(", "));
        };
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        prompts = prompts.with(name, text).with_context(|| path.display().to_string())?;
    }
    Ok(prompts)
}
