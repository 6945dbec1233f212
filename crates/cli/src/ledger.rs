//! `mainstay ledger`: what the ledger knows of a session, line by line or as the block that a model would see.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use mainstay_engine::account::TextKind;
use mainstay_engine::account::TokenCounter;
use mainstay_engine::decide::Span;
use mainstay_engine::ledger::conversation::record::ConversationRecord;
use mainstay_engine::ledger::conversation::render::author;
use mainstay_engine::ledger::entry::Entry;
use mainstay_engine::ledger::entry::Kind;
use mainstay_engine::ledger::page::ViewLine;
use mainstay_engine::ledger::page::line;
use mainstay_engine::ledger::page::view_words;
use mainstay_engine::ledger::scribe::Sheet;
use mainstay_engine::ledger::scribe::Written;
use mainstay_engine::ledger::scribe::views;
use mainstay_engine::ledger::section::Section;
use mainstay_engine::ledger::source_mark::source;
use mainstay_session::conversation_name;
use mainstay_session::resumed_ledger;
use mainstay_store::Store;
use serde::Serialize;

use crate::config::Configuration;
use crate::config::Overrides;
use crate::counting::Counting;
use crate::input::Input;
use crate::input::busy;
use crate::screen::Screen;
use crate::screen::plain;

/// Show the ledger of a session: the conversation, constraints, decisions, obligations, questions, facts, tasks, files, commands, errors.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    input: Input,

    #[command(flatten)]
    counting: Counting,

    /// Print the block that would stand for the whole session, in at most this many tokens.
    #[arg(long, value_name = "TOKENS")]
    target: Option<u64>,

    /// Show only this kind of entry, without the conversation.
    #[arg(long, value_name = "KIND", value_parser = parse_kind)]
    kind: Option<Kind>,

    /// Show what no section lists too: superseded, done, proposed, or not certain enough.
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
    conversation: Vec<SpokenReport<'a>>,
    lines: Vec<LineReport<'a>>,
    entries: Vec<EntryReport<'a>>,
    block: Option<String>,
}

#[derive(Debug, Serialize)]
struct SpokenReport<'a> {
    message: u32,
    author: &'static str,
    words: &'a str,
}

#[derive(Debug, Serialize)]
struct LineReport<'a> {
    section: &'static str,
    message: u32,
    text: &'a str,
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

impl<'a> SpokenReport<'a> {
    fn new(record: &'a ConversationRecord) -> Self {
        Self {
            message: record.number,
            author: author(record.speaker).name(),
            words: &record.text,
        }
    }
}

impl<'a> LineReport<'a> {
    fn new(view: &'a ViewLine) -> Self {
        Self {
            section: view.section.heading(),
            message: view.number,
            text: view.text.trim_start_matches("- "),
        }
    }
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
    let conversation = conversation_name(document, loaded.bytes.as_deref().unwrap_or_default());
    let mut scribe = resumed_ledger(&mut store, settings.redaction(), messages, &conversation)?;
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
        .map(|block| {
            block.ok_or_else(|| {
                anyhow::anyhow!("too small for a block that still has the newest request; use a larger --target")
            })
        })
        .transpose()?;
    let is_wanted = |entry: &&Entry| {
        arguments.kind.is_none_or(|kind| entry.kind == kind) && (arguments.all || Section::of(entry).is_some())
    };
    let ledger = scribe.ledger();
    let entries: Vec<&Entry> = ledger.entries().filter(is_wanted).collect();
    let (spoken, views) = match arguments.kind {
        None => (
            ledger.conversation().records(),
            views::views(ledger, &BTreeSet::new(), ""),
        ),
        Some(_) => (&[][..], Vec::new()),
    };
    if arguments.json {
        return screen.json(&Report {
            format: document.format.name,
            messages: ledger.folded(),
            conversation: spoken.iter().map(SpokenReport::new).collect(),
            lines: views.iter().map(LineReport::new).collect(),
            entries: entries.into_iter().map(EntryReport::new).collect(),
            block: block.map(whole),
        });
    }
    match block {
        Some(block) => screen.result(format!("{}\n", whole(block)).as_bytes()),
        None => print(spoken, &views, &entries, ledger.folded(), screen),
    }
}

fn print(
    spoken: &[ConversationRecord],
    views: &[ViewLine],
    entries: &[&Entry],
    messages: u32,
    screen: &mut Screen,
) -> anyhow::Result<()> {
    if spoken.is_empty() && views.is_empty() && entries.is_empty() {
        return screen.line(&format!(
            "Nothing in {messages} messages that a ledger would keep; evidence is chosen when a block is written (--target)."
        ));
    }
    if !spoken.is_empty() {
        screen.heading(&format!("Conversation ({})", spoken.len()))?;
        for record in spoken {
            let by = source(author(record.speaker), record.number, record.number);
            screen.line(&plain(&format!("- {by} {}", view_words(&record.text))))?;
        }
    }
    for section in Section::ALL {
        let viewed = views.iter().filter(|view| view.section == section);
        let mut own: Vec<(u32, String)> = viewed.map(|view| (view.number, view.text.clone())).collect();
        // Without a kind the views tell what was done, from records that know how it ended.
        let is_own = |entry: &&&Entry| Section::of(entry) == Some(section) && (views.is_empty() || !views::tell(entry));
        own.extend(entries.iter().filter(is_own).map(|entry| (entry.first, line(entry))));
        if own.is_empty() {
            continue;
        }
        own.sort_by_key(|(message, _)| *message);
        screen.heading(&format!("{} ({})", section.heading(), own.len()))?;
        for (_, text) in own {
            screen.line(&plain(&text))?;
        }
    }
    let aside: Vec<_> = entries.iter().filter(|entry| Section::of(entry).is_none()).collect();
    if !aside.is_empty() {
        screen.heading(&format!("In no section ({})", aside.len()))?;
        for entry in aside {
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
