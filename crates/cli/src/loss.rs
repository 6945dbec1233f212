//! `mainstay loss`: what one compaction dropped, what matters most first.

use std::path::PathBuf;

use clap::Args;
use mainstay_engine::transcript::Author;
use mainstay_session::ShownHistory;
use mainstay_store::Loss;
use mainstay_store::Store;
use serde::Serialize;

use crate::config::Configuration;
use crate::config::Overrides;
use crate::screen::Screen;
use crate::screen::number;
use crate::screen::opening;

/// Show what a compaction dropped, ranked by how much it looks like something that is needed again.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The checkpoint; the start of its name is enough.
    checkpoint: String,

    /// How many to list; 0 for all.
    #[arg(long, value_name = "COUNT", default_value_t = 40)]
    most: usize,

    /// Show lines with their secrets.
    #[arg(long)]
    raw: bool,

    /// Where the store is (default: MAINSTAY_STORE, the configuration file, or the user's data directory).
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

/// One dropped text; the field names are the documented JSON shape.
#[derive(Debug, Serialize)]
struct Row {
    reference: String,
    message: usize,
    author: Author,
    tool: Option<String>,
    action: String,
    tokens: u64,
    weight: u32,
    telling: String,
}

/// Lists what was dropped.
pub fn run(arguments: &Arguments, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    let settings = configuration.settings(&Overrides {
        store: arguments.store.clone(),
        ..Overrides::default()
    })?;
    let mut store = Store::open_existing(&settings.store_path()?)?;
    let shown = ShownHistory::of(&mut store, settings.redaction_unless(arguments.raw))?;
    let id = store.find_checkpoint(&arguments.checkpoint)?;
    let mut dropped = store.dropped(&id)?;
    // Whole texts: a line alone may lack what tells a secret from other words.
    for text in &mut dropped {
        text.text = shown.clean(&text.text);
    }
    let mut rows: Vec<Row> = Loss::ranked(&dropped).into_iter().map(row).collect();
    let total = rows.len();
    if arguments.most > 0 {
        rows.truncate(arguments.most);
    }
    if arguments.json {
        return screen.json(&rows);
    }
    let lines = rows.iter().map(|row| {
        vec![
            row.reference.clone(),
            row.message.to_string(),
            row.action.clone(),
            opening(row.tool.as_deref().unwrap_or(""), 20),
            number(row.tokens),
            row.telling.clone(),
        ]
    });
    screen.table(
        &["REFERENCE", ">#", "ACTION", "TOOL", ">TOKENS", "MOST TELLING LINE"],
        lines.collect(),
    )?;
    if total > rows.len() {
        screen.faint(&format!("  … and {} more; --most 0 lists all", total - rows.len()))?;
    }
    screen.line("\nmainstay recall REFERENCE shows one of them whole.")
}

fn row(loss: Loss) -> Row {
    Row {
        telling: opening(&loss.telling, 70),
        reference: loss.reference,
        message: loss.message,
        author: loss.author,
        tool: loss.tool,
        action: loss.action,
        tokens: loss.tokens,
        weight: loss.weight,
    }
}
