//! `mainstay recall`: dropped content, by words or by reference.

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::Args;
use mainstay_session::ShownHistory;
use mainstay_session::harmless;
use mainstay_session::one_line;
use mainstay_store::Hit;
use mainstay_store::Scope;
use mainstay_store::Store;
use mainstay_store::reference_in;
use serde::Serialize;

use crate::config::Configuration;
use crate::config::Overrides;
use crate::screen::Screen;
use crate::screen::number;
use crate::screen::opening;
use crate::screen::plain;

/// Find what was dropped, by words or by its reference.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Words to look for, or one reference.
    #[arg(required = true)]
    words: Vec<String>,

    /// Only what this conversation has lost.
    #[arg(long, value_name = "KEY", conflicts_with = "checkpoint")]
    conversation: Option<String>,

    /// Only what this compaction dropped.
    #[arg(long, value_name = "CHECKPOINT")]
    checkpoint: Option<String>,

    /// How many to show; 0 for all.
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    most: usize,

    /// Show texts with their secrets, byte for byte.
    #[arg(long)]
    raw: bool,

    /// Where the store is (default: MAINSTAY_STORE, the configuration file, or the user's data directory).
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

/// The whole text behind a reference; the field names are the documented JSON shape.
#[derive(Debug, Serialize)]
struct Whole {
    reference: String,
    text: String,
    mention: mainstay_store::Mention,
}

/// Shows one text whole, or what matches the words.
pub fn run(arguments: &Arguments, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    let settings = configuration.settings(&Overrides {
        store: arguments.store.clone(),
        ..Overrides::default()
    })?;
    let mut store = Store::open_existing(&settings.store_path()?)?;
    // Agents read this in their shells as they read what is recalled over MCP.
    let shown = ShownHistory::of(&mut store, settings.redaction_unless(arguments.raw))?;
    let reference = reference_in(&arguments.words.join(" "));
    if let Some(reference) = &reference
        && let Some(mut fetched) = store.fetch(reference)?
    {
        fetched.original = shown.clean_bytes(fetched.original);
        if arguments.json {
            return screen.json(&Whole {
                reference: fetched.reference,
                text: String::from_utf8_lossy(&fetched.original).into_owned(),
                mention: fetched.mention,
            });
        }
        // Byte for byte where that was asked for; for whoever reads a pipe, which may be an agent, as a quotation; onto a terminal
        // only what cannot harm it.
        if arguments.raw && !std::io::stdout().is_terminal() {
            return screen.result(&fetched.original);
        }
        let text = String::from_utf8_lossy(&fetched.original);
        if !std::io::stdout().is_terminal() {
            return screen.result(format!("{}\n", shown.framed(&harmless(&text))).as_bytes());
        }
        for line in text.lines() {
            screen.line(&plain(line))?;
        }
        return Ok(());
    }
    let checkpoint = arguments
        .checkpoint
        .as_deref()
        .map(|prefix| store.find_checkpoint(prefix))
        .transpose()?;
    let scope = match (&checkpoint, &arguments.conversation) {
        (Some(id), _) => Scope::Checkpoint(id),
        (None, Some(key)) => Scope::Conversation(key),
        (None, None) => Scope::Everything,
    };
    let most = if arguments.most == 0 {
        usize::MAX / 8
    } else {
        arguments.most
    };
    let clean = |text: &str| shown.clean(text);
    let hits = store.find_shown(&arguments.words.join(" "), scope, most, &clean)?;
    if let (Some(reference), true) = (&reference, hits.is_empty()) {
        anyhow::bail!("nothing is kept under the reference {reference}");
    }
    if arguments.json {
        return screen.json(&hits);
    }
    if hits.is_empty() {
        return screen.line("Nothing that was dropped matches.");
    }
    if !arguments.raw && !std::io::stdout().is_terminal() {
        let lines: Vec<String> = hits.iter().map(quoted).collect();
        return screen.result(format!("{}\n", shown.framed(&lines.join("\n"))).as_bytes());
    }
    for hit in &hits {
        let mention = &hit.mention;
        let place = mention
            .message
            .map(|index| format!(", message {index}"))
            .unwrap_or_default();
        let tool = mention
            .tool
            .as_deref()
            .map(|tool| format!(", {}", opening(tool, 30)))
            .unwrap_or_default();
        screen.heading(&format!(
            "{}  {}{tool}{place}, {} tokens",
            hit.reference,
            mention.action,
            number(mention.tokens)
        ))?;
        for line in hit.snippet.lines() {
            screen.line(&format!("  {}", plain(line)))?;
        }
    }
    screen.faint("\nmainstay recall REFERENCE shows one of them whole.")
}

/// A hit as lines of a frame.
fn quoted(hit: &Hit) -> String {
    let place = hit
        .mention
        .message
        .map(|index| format!(", message {index}"))
        .unwrap_or_default();
    let head = format!(
        "{}  {}{place}",
        hit.reference,
        one_line(&hit.mention.action, LONGEST_NAME)
    );
    let lines = hit.snippet.lines().map(|line| format!("  {}", harmless(line)));
    [head].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
}

/// Longer than any name of ours.
const LONGEST_NAME: usize = 40;
