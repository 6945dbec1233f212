//! The models of a run, from the settings.

use std::sync::Arc;

use mainstay_eval::run::desk::Models;
use mainstay_llm::chain::Chain;
use mainstay_llm::client::Client;
use mainstay_llm::model::Model;

use crate::compact::summary::client;
use crate::config::Settings;
use crate::environment;
use crate::screen::Screen;

/// Whether models are going to be asked, and with that whether their keys are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyUse {
    /// They are asked: every key has to be there.
    Needed,
    /// They are only priced and written into files: no key is read.
    NotNeeded,
}

/// Who summarises, answers and judges. All share one client, and with it what an endpoint takes at once.
pub fn models(settings: &Settings, keys: KeyUse, screen: &mut Screen) -> anyhow::Result<Models> {
    match keys {
        KeyUse::Needed => with_keys(settings, screen),
        KeyUse::NotNeeded => Ok(without_keys(settings)),
    }
}

fn without_keys(settings: &Settings) -> Models {
    let client = Arc::new(Client::new());
    let chain = |models: Vec<Model>| chain(&client, models, settings, 0);
    let one = |candidate: Option<&_>| candidate.map(|candidate| chain(vec![Settings::without_key(candidate)]));
    let summarisers: Vec<Model> = settings.chain.iter().map(Settings::without_key).collect();
    Models {
        summarise: (!summarisers.is_empty()).then(|| chain(summarisers)),
        // A judge alone plays the agent too, as in the published harness.
        answer: one(settings.answerer.as_ref().or(settings.judge.as_ref())),
        judge: one(settings.judge.as_ref()),
        ..Models::default()
    }
}

fn with_keys(settings: &Settings, screen: &mut Screen) -> anyhow::Result<Models> {
    let client = Arc::new(client(&settings.asking)?);
    // Waits of many processes that begin together shall not end together.
    let seed = u64::from(std::process::id()) ^ environment::now().0.unsigned_abs();
    let chain = |models: Vec<Model>| chain(&client, models, settings, seed);
    let mut summarise = None;
    if let Some(summary) = settings.summary() {
        for unusable in &summary.unusable {
            screen.warn(&format!(
                "the model {} cannot be asked: {}",
                unusable.name, unusable.reason
            ));
        }
        if summary.models.is_empty() {
            anyhow::bail!("no model is left to write summaries; leave --summariser out to do without");
        }
        summarise = Some(chain(summary.models));
    }
    let judge = settings.judging_model()?;
    // A judge alone plays the agent too, as in the published harness.
    let answer = settings.answering_model()?.or_else(|| judge.clone());
    Ok(Models {
        summarise,
        answer: answer.map(|model| chain(vec![model])),
        judge: judge.map(|model| chain(vec![model])),
        ..Models::default()
    })
}

/// A chain of models that is asked as the settings say.
pub fn chain(client: &Arc<Client>, models: Vec<Model>, settings: &Settings, seed: u64) -> Chain {
    let mut chain = Chain::new(Arc::clone(client), models, seed);
    chain.patience.attempts = settings.asking.attempts;
    chain.deadline = Some(settings.asking.deadline);
    chain
}
