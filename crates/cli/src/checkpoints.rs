//! `mainstay checkpoints`: the compactions that are kept, newest first.

use std::path::PathBuf;

use clap::Args;
use mainstay_store::Store;

use crate::config::Configuration;
use crate::screen::Screen;
use crate::screen::number;
use crate::screen::plain;
use crate::screen::time;

/// List the compactions that are kept, newest first.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Only those of this conversation.
    #[arg(long, value_name = "KEY")]
    conversation: Option<String>,

    /// How many to list; 0 for all.
    #[arg(long, value_name = "COUNT", default_value_t = 30)]
    most: usize,

    /// Where the store is (default: MAINSTAY_STORE, the configuration file, or the user's data directory).
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

/// Lists them.
pub fn run(arguments: &Arguments, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    let store = Store::open_existing(&configuration.store(arguments.store.as_ref())?)?;
    let most = if arguments.most == 0 {
        usize::MAX / 8
    } else {
        arguments.most
    };
    let rows = store.checkpoints(arguments.conversation.as_deref(), most)?;
    if arguments.json {
        return screen.json(&rows);
    }
    let lines = rows.iter().map(|row| {
        vec![
            row.id.to_string(),
            time(row.created),
            row.format.clone(),
            row.metrics.mode.clone(),
            number(row.metrics.tokens_before),
            number(row.metrics.tokens_after),
            number(row.dropped as u64),
            plain(&row.source),
        ]
    });
    screen.table(
        &[
            "CHECKPOINT",
            "WHEN",
            "FORMAT",
            "MODE",
            ">BEFORE",
            ">AFTER",
            ">DROPPED",
            "SOURCE",
        ],
        lines.collect(),
    )
}
