//! The models of a run, from the settings.

use std::sync::Arc;

use mainstay_eval::run::desk::Models;
use mainstay_llm::chain::Chain;
use mainstay_llm::client::Client;
use mainstay_llm::model::Model;

use crate::compact::summary::client;
use crate::config::Settings;
use crate::environment;
use crate::eval::holding::Asking;
use crate::screen::Screen;

/// Who would summarise, answer and judge, without their keys: for what it would cost.
fn unasked(settings: &Settings) -> anyhow::Result<Models> {
    let client = Arc::new(Client::new());
    let chain = |models: Vec<Model>| chain(&client, models, settings, 0);
    let one = |candidate: &Option<_>| {
        candidate
            .as_ref()
            .map(|candidate| chain(vec![Settings::without_key(candidate)]))
    };
    let summarisers: Vec<Model> = settings.chain.iter().map(Settings::without_key).collect();
    check_duties(settings.answerer.is_some(), settings.judge.is_some())?;
    Ok(Models {
        summarise: (!summarisers.is_empty()).then(|| chain(summarisers)),
        answer: one(&settings.answerer),
        judge: one(&settings.judge),
    })
}

/// Who summarises, answers and judges. All share one client, and with it what an endpoint takes at once. A dry run needs no keys.
pub fn models(asking: &Asking, settings: &Settings, screen: &mut Screen) -> anyhow::Result<Models> {
    if asking.dry_run {
        return unasked(settings);
    }
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
    let answer = settings.answering_model()?;
    let judge = settings.judging_model()?;
    check_duties(answer.is_some(), judge.is_some())?;
    Ok(Models {
        summarise,
        answer: answer.map(|model| chain(vec![model])),
        judge: judge.map(|model| chain(vec![model])),
    })
}

fn check_duties(has_answerer: bool, has_judge: bool) -> anyhow::Result<()> {
    if has_judge && !has_answerer {
        anyhow::bail!("a judge needs answers: name a model that gives them with --answerer or eval.answerer");
    }
    Ok(())
}

fn chain(client: &Arc<Client>, models: Vec<Model>, settings: &Settings, seed: u64) -> Chain {
    let mut chain = Chain::new(Arc::clone(client), models, seed);
    chain.patience.attempts = settings.asking.attempts;
    chain.deadline = Some(settings.asking.deadline);
    chain
}
