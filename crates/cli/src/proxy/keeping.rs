//! How conversations are kept, out of the settings.

use std::sync::Arc;

use mainstay_engine::account::Budget;
use mainstay_engine::account::ModelLimits;
use mainstay_engine::decide::EconomicPolicy;
use mainstay_engine::summary::prompts::Prompts;
use mainstay_llm::chain::Chain;
use mainstay_proxy::settings::CompactionSettings;
use mainstay_proxy::settings::PassTiming;
use mainstay_proxy::settings::SummaryModels;

use crate::compact::summary;
use crate::config::EngineChoice;
use crate::config::Settings;
use crate::config::TimingChoice;
use crate::environment;
use crate::screen::Screen;

/// Tool results of more tokens are giant, where nobody says otherwise: agents that limit them do so there, or below.
const GIANT: u64 = 25_000;

/// How conversations are kept.
pub fn keeping(settings: &Settings, screen: &mut Screen) -> anyhow::Result<CompactionSettings> {
    let proxy = &settings.proxy;
    check(settings)?;
    Ok(CompactionSettings {
        store: settings.store_path()?,
        policy: settings.policy.clone(),
        timing: match proxy.timing {
            TimingChoice::Economic => PassTiming::Economic(EconomicPolicy::default()),
            TimingChoice::Threshold => PassTiming::Threshold,
            TimingChoice::Never => PassTiming::Never,
        },
        window: settings.window,
        roles: settings.roles.into(),
        redaction: settings.redaction(),
        writing: writing(settings, screen)?,
        trim: Some(proxy.trim.unwrap_or(GIANT)).filter(|limit| *limit > 0),
        patience: proxy.patience,
        memory: usize::try_from(proxy.memory).unwrap_or(usize::MAX),
        fault: None,
    })
}

/// Refuses what would let every request through as it came.
fn check(settings: &Settings) -> anyhow::Result<()> {
    let limits = ModelLimits::of("");
    let window = settings.window.unwrap_or(limits.window);
    Budget::new(&[limits.with_window(window)], &settings.policy.budget)?;
    for (name, tokens) in [("target", settings.policy.target), ("tail", settings.policy.tail)] {
        if let Some(tokens) = tokens.filter(|tokens| *tokens >= window) {
            anyhow::bail!("the {name} of {tokens} tokens is no less than the window of {window}");
        }
    }
    Ok(())
}

/// Who writes summaries; nobody where none is configured, or none can be asked.
fn writing(settings: &Settings, screen: &mut Screen) -> anyhow::Result<Option<SummaryModels>> {
    if matches!(settings.engine, EngineChoice::Prune | EngineChoice::Ledger) {
        return Ok(None);
    }
    let Some(configured) = settings.summary() else {
        return Ok(None);
    };
    for unusable in &configured.unusable {
        let (name, reason) = (&unusable.name, &unusable.reason);
        screen.warn(&format!("the model {name} cannot be asked: {reason}"));
    }
    if configured.models.is_empty() {
        return Ok(None);
    }
    let asking = &configured.asking;
    let prompts = match &asking.prompts {
        Some(directory) => summary::prompts(directory)?,
        None => Prompts::default(),
    };
    // Waits of many processes that begin together shall not end together.
    let seed = u64::from(std::process::id()) ^ environment::now().0.unsigned_abs();
    let mut chain = Chain::new(Arc::new(summary::client(asking)?), configured.models, seed);
    chain.patience.attempts = asking.attempts;
    chain.deadline = Some(asking.deadline);
    Ok(Some(SummaryModels { chain, prompts }))
}
