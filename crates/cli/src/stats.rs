//! `mainstay stats`: what compaction has cost and gained.

use std::path::PathBuf;

use clap::Args;
use mainstay_store::Stats;
use mainstay_store::Store;
use serde::Serialize;

use crate::config::Configuration;
use crate::screen::Screen;
use crate::screen::number;

/// Show what compaction has cost and gained, in all and for one conversation.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Only this conversation.
    #[arg(long, value_name = "KEY")]
    conversation: Option<String>,

    /// Where the store is (default: MAINSTAY_STORE, the configuration file, or the user's data directory).
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    all: Stats,
    by_conversation: Vec<(String, Stats)>,
}

/// Shows the figures.
pub fn run(arguments: &Arguments, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    let store = Store::open_existing(&configuration.store(arguments.store.as_ref())?)?;
    let all = store.stats(arguments.conversation.as_deref())?;
    if arguments.json {
        let keys = match &arguments.conversation {
            Some(key) => vec![key.clone()],
            None => store.conversations()?,
        };
        let each = keys.into_iter().map(|key| Ok((key.clone(), store.stats(Some(&key))?)));
        let by_conversation = each.collect::<anyhow::Result<Vec<_>>>()?;
        return screen.json(&Report { all, by_conversation });
    }
    let figure = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"));
    let rows = vec![
        ("conversations", number(all.conversations)),
        ("compactions", number(all.compactions)),
        (
            "prune-only / full",
            format!("{} / {}", number(all.prune_only), number(all.full)),
        ),
        ("share of prune-only", figure(all.prune_only_share)),
        (
            "mode of the last one",
            all.last_mode.clone().unwrap_or_else(|| "–".to_owned()),
        ),
        ("tokens before", number(all.tokens_before)),
        ("tokens after", number(all.tokens_after)),
        ("tokens saved", number(all.tokens_saved)),
        ("compression ratio", figure(all.compression_ratio)),
        ("mean tokens recovered", figure(all.mean_recovered_tokens)),
        ("compactions per 100 turns", figure(all.compactions_per_100_turns)),
        ("mean turns between", figure(all.mean_turns_between)),
        ("summary calls", number(all.summary_calls)),
        ("mean summary tokens", figure(all.mean_summary_tokens)),
        ("prompt and auxiliary tokens", number(all.total_tokens)),
        (
            "earliest changed message",
            all.earliest_changed.map_or_else(|| "–".to_owned(), number),
        ),
    ];
    screen.table(
        &["", ">"],
        rows.into_iter()
            .map(|(name, value)| vec![name.to_owned(), value])
            .collect(),
    )
}
