//! Who writes summaries, answers and judges in a continuation exam: models, or people and agents who read files.

use std::sync::Arc;

use mainstay_eval::continuation::ContinuationManifest;
use mainstay_eval::record::ModelUsed;
use mainstay_eval::run::desk::Models;
use mainstay_llm::chain::Chain;
use mainstay_llm::client::Client;
use mainstay_llm::model::Endpoint;
use mainstay_llm::model::Model;
use mainstay_wire::reading::WireForm;

use crate::compact::summary::client;
use crate::config::Configuration;
use crate::config::Overrides;
use crate::config::Settings;
use crate::environment;
use crate::eval::holding::models::chain;

/// What is assumed of a reader of files that writes summaries: the window of common models.
const FILE_WINDOW: u64 = 200_000;
/// The most tokens it writes.
const FILE_OUTPUT: u64 = 16_000;

/// Somebody with a duty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A model of the configuration.
    Model(String),
    /// Whoever reads the files in the folder of this name.
    Files(String),
}

impl Reader {
    fn of(used: &ModelUsed) -> Self {
        match used.url.is_empty() {
            true => Reader::Files(used.name.clone()),
            false => Reader::Model(used.name.clone()),
        }
    }

    /// The readers of numbered folders.
    pub fn numbered(duty: &str, count: usize) -> Vec<Self> {
        (1..=count)
            .map(|number| Reader::Files(format!("{duty}-{number}")))
            .collect()
    }

    /// Models of the configuration.
    pub fn models(names: &[String]) -> Vec<Self> {
        names.iter().cloned().map(Reader::Model).collect()
    }
}

/// Everybody with a duty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReaderPanel {
    /// Who writes summaries, in the order in which they are asked.
    pub summarisers: Vec<Reader>,
    /// Who answers.
    pub answerers: Vec<Reader>,
    /// Who judges.
    pub judges: Vec<Reader>,
}

/// Whether models will be asked now. Batch files and tasks are written and read without a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyUse {
    /// Keys are read; a missing one is an error.
    Read,
    /// Keys are not looked at.
    Skip,
}

impl ReaderPanel {
    /// The panel that an exam was begun with.
    pub fn of(manifest: &ContinuationManifest) -> Self {
        let readers = |used: &[ModelUsed]| used.iter().map(Reader::of).collect();
        Self {
            summarisers: readers(&manifest.summarisers),
            answerers: readers(&manifest.answerers),
            judges: readers(&manifest.judges),
        }
    }

    /// Whether anybody of it reads files.
    pub fn has_files(&self) -> bool {
        let mut all = self.summarisers.iter().chain(&self.answerers).chain(&self.judges);
        all.any(|reader| matches!(reader, Reader::Files(_)))
    }

    /// Whether answers come from readers of files.
    pub fn has_file_answerers(&self) -> bool {
        self.answerers.iter().any(|reader| matches!(reader, Reader::Files(_)))
    }

    /// The panel as models that can be asked, or written to.
    pub fn models(&self, configuration: &Configuration, keys: KeyUse) -> anyhow::Result<Models> {
        let settings = configuration.settings(&Overrides::default())?;
        let client = Arc::new(match keys {
            KeyUse::Read => client(&settings.asking)?,
            KeyUse::Skip => Client::new(),
        });
        // Waits of many processes that begin together shall not end together.
        let seed = u64::from(std::process::id()) ^ environment::now().0.unsigned_abs();
        let one = |model: Model| chain(&client, vec![model], &settings, seed);
        let find = |readers: &[Reader], duty: Duty| -> anyhow::Result<Vec<Model>> {
            readers
                .iter()
                .map(|reader| model(reader, duty, configuration, keys))
                .collect()
        };
        let summarisers = find(&self.summarisers, Duty::Answer)?;
        let mut answerers = find(&self.answerers, Duty::Answer)?.into_iter().map(one);
        let mut judges = find(&self.judges, Duty::Judge)?.into_iter().map(one);
        let (answer, judge) = (answerers.next(), judges.next());
        Ok(Models {
            summarise: (!summarisers.is_empty()).then(|| chain(&client, summarisers, &settings, seed)),
            answer,
            judge,
            more_answerers: answerers.collect::<Vec<Chain>>(),
            more_judges: judges.collect(),
        })
    }
}

/// As which flag a model's name is looked up, so that an error names it.
#[derive(Clone, Copy)]
enum Duty {
    Answer,
    Judge,
}

fn model(reader: &Reader, duty: Duty, configuration: &Configuration, keys: KeyUse) -> anyhow::Result<Model> {
    let name = match reader {
        Reader::Files(name) => {
            let endpoint = Endpoint::new("files", "", WireForm::Chat);
            return Ok(Model::new(name, name, endpoint, FILE_WINDOW, FILE_OUTPUT));
        }
        Reader::Model(name) => Some(name.clone()),
    };
    let overrides = match duty {
        Duty::Answer => Overrides {
            answerer: name,
            ..Overrides::default()
        },
        Duty::Judge => Overrides {
            judge: name,
            ..Overrides::default()
        },
    };
    let settings = configuration.settings(&overrides)?;
    let found = match (keys, duty) {
        (KeyUse::Read, Duty::Answer) => settings.answering_model()?,
        (KeyUse::Read, Duty::Judge) => settings.judging_model()?,
        (KeyUse::Skip, Duty::Answer) => settings.answerer.as_ref().map(Settings::without_key),
        (KeyUse::Skip, Duty::Judge) => settings.judge.as_ref().map(Settings::without_key),
    };
    found.ok_or_else(|| anyhow::anyhow!("no model of that name"))
}
