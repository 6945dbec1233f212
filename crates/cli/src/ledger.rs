//! `mainstay ledger`: what the ledger knows of a session, entry by entry or as the block that a model would see.

use std::path::PathBuf;

use clap::Args;
use mainstay_engine::account::TextKind;
use mainstay_engine::account::TokenCounter;
use mainstay_engine::decide::Span;
use mainstay_engine::ledger::entry::Entry;
use mainstay_engine::ledger::entry::Kind;
use mainstay_engine::ledger::page::Section;
use mainstay_engine::ledger::page::line;
use mainstay_engine::ledger::scribe::Sheet;
use mainstay_engine::ledger::scribe::Written;
use mainstay_store::Store;
use serde::Serialize;

use crate::config::Configuration;
use crate::config::Overrides;
use crate::counting::Counting;
use crate::input::Input;
use crate::input::busy;
use crate::memory;
use crate::screen::Screen;
use crate::screen::plain;

/// Show the ledger of a session: constraints, decisions, obligations, questions, facts, tasks, files, commands, errors.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    input: Input,

    #[command(flatten)]
    counting: Counting,

    /// Print the block that would stand for the whole session, in at most this many tokens.
    #[arg(long, value_name = "TOKENS")]
    target: Option<u64>,

    /// Show only this kind of entry.
    #[arg(long, value_name = "KIND", value_parser = parse_kind)]
    kind: Option<Kind>,

    /// Show what is settled too: superseded, done, answered.
    #[arg(long)]
    all: bool,

    /// Where the store is (default: MAINSTAY_STORE, the configuration file, or the user's data directory).
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,

    /// Print JSON (documented in docs/json.md).
    #[arg(long)]
    json: bool,
}

fn parse_kind(name: &str) -> Result<Kind, String> {
    Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
        let known: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        format!("unknown kind; known: {}", known.join(", "))
    })
}

/// What was found; the field names are the documented JSON shape.
#[derive(Debug, Serialize)]
struct Report<'a> {
    format: &'static str,
    messages: u32,
    entries: Vec<EntryReport<'a>>,
    block: Option<String>,
}

#[derive(Debug, Serialize)]
struct EntryReport<'a> {
    kind: &'static str,
    section: Option<&'static str>,
    key: &'a str,
    value: &'a str,
    status: &'static str,
    author: &'static str,
    first: u32,
    last: u32,
    times: u32,
    note: Option<&'a str>,
}

impl<'a> EntryReport<'a> {
    fn new(entry: &'a Entry) -> Self {
        Self {
            kind: entry.kind.name(),
            section: Section::of(entry).map(Section::heading),
            key: &entry.key,
            value: &entry.value,
            status: entry.status.name(),
            author: entry.author.name(),
            first: entry.first,
            last: entry.last,
            times: entry.times,
            note: entry.note.as_deref(),
        }
    }
}

/// Shows the ledger.
pub fn run(arguments: &Arguments, configuration: &Configuration, screen: &mut Screen) -> anyhow::Result<()> {
    let settings = configuration.settings(&Overrides {
        store: arguments.store.clone(),
        ..Overrides::default()
    })?;
    let loaded = arguments.input.load()?;
    let document = &loaded.document;
    let messages = document.transcript.messages();
    let mut store = Store::open(&settings.store_path()?)?;
    let conversation = memory::conversation_key(document, loaded.bytes.as_deref().unwrap_or_default());
    let mut scribe = memory::scribe(&mut store, document, &conversation, settings.redact)?;
    let busy = busy("reading the history", arguments.input.size());
    scribe.observe(messages);
    drop(busy);
    let family = arguments.counting.family(document);
    let nothing = Span {
        until: messages.len(),
        ..Span::default()
    };
    let count = |text: &str| family.count(text, TextKind::Prose);
    let block = arguments
        .target
        .map(|target| scribe.block(&Sheet::new(messages, &nothing, target, &count)))
        .map(|block| block.ok_or_else(|| anyhow::anyhow!("that is too little for a block; give it at least 50 tokens")))
        .transpose()?;
    let is_wanted = |entry: &&Entry| {
        arguments.kind.is_none_or(|kind| entry.kind == kind) && (arguments.all || Section::of(entry).is_some())
    };
    let entries: Vec<&Entry> = scribe.ledger().entries().filter(is_wanted).collect();
    if arguments.json {
        return screen.json(&Report {
            format: document.format.name,
            messages: scribe.ledger().folded(),
            entries: entries.into_iter().map(EntryReport::new).collect(),
            block: block.map(whole),
        });
    }
    match block {
        Some(block) => screen.result(format!("{}\n", whole(block)).as_bytes()),
        None => print(&entries, scribe.ledger().folded(), screen),
    }
}

fn print(entries: &[&Entry], messages: u32, screen: &mut Screen) -> anyhow::Result<()> {
    if entries.is_empty() {
        return screen.line(&format!(
            "Nothing in {messages} messages that a ledger would keep; evidence is chosen when a block is written (--target)."
        ));
    }
    for section in Section::ALL {
        let mut own: Vec<_> = entries
            .iter()
            .filter(|entry| Section::of(entry) == Some(section))
            .collect();
        if own.is_empty() {
            continue;
        }
        own.sort_by_key(|entry| (entry.first, entry.last));
        screen.heading(&format!("{} ({})", section.heading(), own.len()))?;
        for entry in own {
            screen.line(&plain(&line(entry)))?;
        }
    }
    let settled: Vec<_> = entries.iter().filter(|entry| Section::of(entry).is_none()).collect();
    if !settled.is_empty() {
        screen.heading(&format!("Settled ({})", settled.len()))?;
        for entry in settled {
            screen.line(&format!(
                "{} {} {}",
                entry.status.name(),
                entry.kind.name(),
                plain(&line(entry))
            ))?;
        }
    }
    Ok(())
}

/// A block with the request that stands behind it.
fn whole(block: Written) -> String {
    match block.request {
        Some(request) => format!("{}\n\n{request}", block.text),
        None => block.text,
    }
}
