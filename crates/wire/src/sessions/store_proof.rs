//! What every session reader must satisfy, for the readers' tests.
#![allow(clippy::print_stderr)]

use std::path::Path;
use std::path::PathBuf;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Input;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Rule;

use crate::document::Document;
use crate::error::ReadError;
use crate::format;
use crate::reading::History;
use crate::reading::Request;
use crate::source::Source;

/// Shared data that is not part of this repository; `None`, with a word about it, where it is absent.
pub fn shared(below: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data")
        .join(below);
    if !path.exists() {
        eprintln!("skipped: {} is not there", path.display());
        return None;
    }
    Some(path)
}

pub fn request(history: History, session: Option<&str>) -> Request {
    Request {
        history,
        session: session.map(str::to_owned),
    }
}

/// Reads a source in the format its content shows, both ways, and checks what holds for any reading.
pub fn read_both(source: &Source, session: Option<&str>) -> (Document, Document) {
    let live = read(source, History::Live, session).unwrap();
    let full = read(source, History::Full, session).unwrap();
    for document in [&live, &full] {
        assert_round_trip(document);
        let count = document.transcript.messages().len();
        let mut before = 0;
        for event in document.transcript.events() {
            assert!(event.before <= count && event.before >= before, "{event:?}");
            assert!(event.summary.is_none_or(|summary| summary < count));
            before = event.before;
        }
    }
    assert_eq!(
        live.recorded, full.recorded,
        "what is recorded does not depend on the view"
    );
    (live, full)
}

pub fn read(source: &Source, history: History, session: Option<&str>) -> Result<Document, ReadError> {
    format::read(source, None, &request(history, session))
}

pub fn open(path: &Path) -> Source {
    Source::open(path).unwrap()
}

pub fn memory(name: &str, text: &str) -> Source {
    Source::memory(name, text.as_bytes().to_vec())
}

/// What a document writes must read back as the same messages.
pub fn assert_round_trip(document: &Document) {
    let written = document.write();
    serde_json::from_str::<serde_json::Value>(&written).unwrap();
    if document.transcript.messages().is_empty() {
        return;
    }
    let chat = format::by_name("openai-chat").unwrap();
    let source = memory("written", &written);
    let again = format::read(&source, Some(chat), &Request::default()).unwrap();
    let sent: Vec<_> = document
        .transcript
        .messages()
        .iter()
        .map(|message| line(&as_sent(message)))
        .collect();
    assert_eq!(sent, outline(&again));
}

/// Chat wants arguments to be JSON, so free text goes out inside of an object.
fn as_sent(message: &Message) -> Message {
    let mut sent = message.clone();
    for part in &mut sent.parts {
        if let Part::Call(call) = part
            && let Input::Text(text) = &call.input
        {
            call.input = Input::Json(format!("{{\"input\":{}}}", crate::json::quote(text)).into());
        }
    }
    sent
}

/// Every message as one line: role, then each part that a provider form keeps.
pub fn outline(document: &Document) -> Vec<String> {
    document.transcript.messages().iter().map(line).collect()
}

pub fn line(message: &Message) -> String {
    let mut line = message.role.name().to_owned();
    for part in &message.parts {
        match part {
            Part::Text(text) => line.push_str(&format!(" | {text}")),
            Part::Call(call) => line.push_str(&format!(
                " | call {} {} {}",
                call.id.as_str(),
                call.name,
                call.input.as_str()
            )),
            Part::Result(result) => {
                line.push_str(&format!(" | result {}", result.id.as_str()));
                for content in &result.content {
                    match content {
                        // An empty result and a result of empty text are the same on the wire.
                        Content::Text(text) if text.is_empty() => {}
                        Content::Text(text) => line.push_str(&format!(" {text}")),
                        Content::Media(_) => line.push_str(" <media>"),
                        Content::Opaque(_) => line.push_str(" <opaque>"),
                    }
                }
            }
            Part::Media(_) => line.push_str(" | <media>"),
            Part::Opaque(_) => line.push_str(" | <opaque>"),
            Part::Thinking(_) => {}
        }
    }
    line
}

pub fn authors(document: &Document) -> Vec<Author> {
    let messages = document.transcript.messages().iter();
    messages.map(|message| message.author).collect()
}

/// The events: before which message, and which message is the summary.
pub fn events(document: &Document) -> Vec<(usize, Option<usize>)> {
    let events = document.transcript.events().iter();
    events.map(|event| (event.before, event.summary)).collect()
}

pub fn rules(document: &Document) -> Vec<(Rule, Place)> {
    let findings = document.findings.iter();
    findings.map(|finding| (finding.rule, finding.place)).collect()
}

/// Messages, calls and results of a document.
pub fn counts(document: &Document) -> (usize, usize, usize) {
    let messages = document.transcript.messages();
    let calls = messages.iter().map(|message| message.calls().count()).sum();
    let results = messages.iter().map(|message| message.results().count()).sum();
    (messages.len(), calls, results)
}

/// The system prompt, where the conversation opens with one.
pub fn opens_with_system(document: &Document) -> bool {
    let first = document.transcript.messages().first();
    first.is_some_and(|message| message.role == Role::System)
}

/// Runs a reader against a store in the states in which a live agent or a crash may leave it.
pub fn assert_store_is_tolerated(path: &Path, insert: &str) {
    let expected = outline(&read(&open(path), History::Full, None).unwrap());
    let writer = rusqlite::Connection::open(path).unwrap();
    writer.busy_timeout(std::time::Duration::ZERO).unwrap();
    // Without a write-ahead log, too, a writer that has not committed yet is not in the way.
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    writer.execute_batch(insert).unwrap();
    assert_eq!(outline(&read(&open(path), History::Full, None).unwrap()), expected);
    writer.execute_batch("ROLLBACK").unwrap();
    writer.pragma_update(None, "journal_mode", "WAL").unwrap();
    // A writer in the middle of a transaction: we read what was there before, and it goes on undisturbed.
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    writer.execute_batch(insert).unwrap();
    let source = open(path);
    let tables = crate::tables::Tables::open(&source).unwrap();
    let count = || tables.count("SELECT count(*) FROM sqlite_schema", &[]).unwrap();
    assert!(count() > 0);
    assert_eq!(outline(&read(&source, History::Full, None).unwrap()), expected);
    writer.execute_batch("COMMIT").unwrap();
    assert!(count() > 0);
    drop(tables);
    // The new row stands in the write-ahead log only.
    let grown = outline(&read(&source, History::Full, None).unwrap());
    assert_eq!(grown.len(), expected.len() + 1);
    drop(writer);
    assert_reads_where_nothing_can_be_written(path, &grown);
    assert_damage_is_an_error(path);
}

fn assert_reads_where_nothing_can_be_written(path: &Path, expected: &[String]) {
    let directory = path.parent().unwrap();
    let writable = std::fs::metadata(directory).unwrap().permissions();
    let mut barred = writable.clone();
    barred.set_readonly(true);
    std::fs::set_permissions(directory, barred).unwrap();
    let document = read(&open(path), History::Full, None);
    let beside: Vec<_> = std::fs::read_dir(directory).unwrap().flatten().collect();
    std::fs::set_permissions(directory, writable).unwrap();
    assert_eq!(outline(&document.unwrap()), expected);
    assert_eq!(beside.len(), 1, "reading leaves nothing behind: {beside:?}");
}

fn assert_damage_is_an_error(path: &Path) {
    let whole = std::fs::read(path).unwrap();
    let beside = path.with_extension("damaged");
    let mut overwritten = whole.clone();
    overwritten[100..].fill(0xAB);
    for damaged in [&whole[..whole.len() / 2], &overwritten, &whole[..60]] {
        std::fs::write(&beside, damaged).unwrap();
        let error = read(&open(&beside), History::Full, None).map(|document| outline(&document));
        let error = error.unwrap_err().to_string();
        assert!(error.contains("database"), "{error}");
    }
    std::fs::remove_file(&beside).unwrap();
}

/// Cuts and corrupts a text in many places: whatever comes of it, reading ends in a document or an error.
pub fn assert_survives_damage(name: &str, text: &str) {
    let step = (text.len() / 60).max(1);
    for at in (0..text.len()).step_by(step) {
        let bytes = text.as_bytes();
        let cut = bytes[..at].to_vec();
        let mut hole = bytes.to_vec();
        hole.drain(at..(at + step / 2 + 1).min(bytes.len()));
        let mut flipped = bytes.to_vec();
        flipped[at] ^= 0x1D;
        let swapped = text[text.floor_char_boundary(at)..]
            .replacen(":\"", ":[\"", 1)
            .into_bytes();
        for damaged in [cut, hole, flipped, swapped] {
            let source = Source::memory(name, damaged);
            for history in [History::Live, History::Full] {
                if let Ok(document) = read(&source, history, None) {
                    serde_json::from_str::<serde_json::Value>(&document.write()).unwrap();
                }
            }
        }
    }
}
