//! `mainstay loss`: what one compaction dropped, what matters most first.

use std::path::PathBuf;

use clap::Args;
use mainstay_engine::transcript::Author;
use mainstay_store::Dropped;
use mainstay_store::Store;
use serde::Serialize;

use crate::config::Configuration;
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
    let store = Store::open_existing(&configuration.store(arguments.store.as_ref())?)?;
    let id = store.find_checkpoint(&arguments.checkpoint)?;
    let mut rows: Vec<Row> = store.dropped(&id)?.iter().map(row).collect();
    // Stable: what weighs the same stays in the order of the conversation.
    rows.sort_by_key(|row| std::cmp::Reverse(row.weight));
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

fn row(dropped: &Dropped) -> Row {
    let (weight, telling) = most_telling(dropped);
    Row {
        reference: dropped.reference.clone(),
        message: dropped.message,
        author: dropped.author,
        tool: dropped.tool.clone(),
        action: dropped.action.clone(),
        tokens: dropped.tokens,
        weight,
        telling: opening(telling, 70),
    }
}

/// Words of commitments and decisions, in the languages that come first.
const COMMITMENTS: [&str; 16] = [
    "decided",
    "decision",
    "must not",
    "must ",
    "never ",
    "always ",
    "todo",
    "remember",
    "agreed",
    "instead of",
    "решили",
    "нельзя",
    "всегда",
    "никогда",
    "надо ",
    "вместо",
];
/// Words of trouble.
const TROUBLE: [&str; 8] = [
    "error",
    "failed",
    "failure",
    "panic",
    "exception",
    "traceback",
    "fatal",
    "assert",
];

/// How much a text looks like something that is needed again, and the line that says so most.
fn most_telling(dropped: &Dropped) -> (u32, &str) {
    let by_author = match dropped.author {
        Author::User => 100,
        Author::Assistant | Author::Summary => 20,
        Author::System | Author::Tool | Author::Host => 0,
    };
    let by_outcome = if dropped.failed { 15 } else { 0 };
    // A copy of what still stands, or of what a later read shows, is hardly a loss.
    let by_action = match dropped.action.as_str() {
        "duplicate" => 0,
        "stale read" => 2,
        _ => 10,
    };
    let lines = dropped.text.lines().map(|line| (line_weight(line), line));
    // The first of equals: later lines often follow from it.
    let (by_line, line) = lines.fold((0, ""), |best, line| {
        if line.0 > best.0 || best.1.is_empty() {
            line
        } else {
            best
        }
    });
    (by_author + by_outcome + by_action + by_line, line)
}

fn line_weight(line: &str) -> u32 {
    let lower = line.to_lowercase();
    let mut weight = 0;
    if COMMITMENTS.iter().any(|word| lower.contains(word)) {
        weight += 12;
    }
    if TROUBLE.iter().any(|word| lower.contains(word)) {
        weight += 8;
    }
    if line.bytes().any(|byte| byte.is_ascii_digit()) {
        weight += 2;
    }
    if line.contains('/') || line.contains("::") || line.contains('_') {
        weight += 1;
    }
    weight
}
