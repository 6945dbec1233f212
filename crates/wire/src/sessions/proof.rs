//! What the tests of all session readers prove: that a source reads, and that what is written of it reads
//! again as the same conversation.

use std::path::Path;
use std::path::PathBuf;

use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Rule;
use serde_json::Value;
use serde_json::json;

use crate::document::Document;
use crate::document::render;
use crate::error::ReadError;
use crate::format;
use crate::format_definition::Format;
use crate::reading::History;
use crate::reading::Request;
use crate::source::Source;

/// Reads a text in one of the two ways.
pub(crate) fn read_text(text: &str, history: History) -> Result<Document, ReadError> {
    read(&Source::memory("test", text.into()), history)
}

/// Reads a source in one of the two ways, and proves that it is written soundly.
pub(crate) fn read(source: &Source, history: History) -> Result<Document, ReadError> {
    let request = Request { history, session: None };
    let document = format::read(source, None, &request)?;
    prove_written(&document);
    Ok(document)
}

/// What is written is JSON, and reads as the same messages, calls and results.
pub(crate) fn prove_written(document: &Document) {
    let written = document.write();
    serde_json::from_str::<Value>(&written).unwrap();
    let provider = format::by_name(document.form().name()).unwrap();
    let again = Source::memory("written", written.into_bytes());
    let again = format::read(&again, Some(provider), &Request::default()).unwrap();
    let sendable = |message: &&Message| message.role == Role::System || !render(document.form(), message).is_empty();
    let shapes = |document: &Document| -> Vec<_> {
        let messages = document.transcript.messages().iter().filter(sendable);
        messages.map(shape).collect()
    };
    assert_eq!(shapes(&again), shapes(document));
}

fn shape(message: &Message) -> (Role, Vec<String>, Vec<String>) {
    let calls = message
        .calls()
        .map(|call| format!("{} {}", call.id.as_str(), call.name));
    let results = message.results().map(|result| result.id.as_str().to_owned());
    (message.role, calls.collect(), results.collect())
}

/// Roles and authors, for short: `user/host`.
pub(crate) fn voices(document: &Document) -> Vec<String> {
    let voice = |message: &Message| match message.author.name() {
        author if author == message.role.name() => author.to_owned(),
        author => format!("{}/{author}", message.role.name()),
    };
    document.transcript.messages().iter().map(voice).collect()
}

/// The kinds of findings, in order.
pub(crate) fn rules(document: &Document) -> Vec<Rule> {
    document.findings.iter().map(|finding| finding.rule).collect()
}

/// A directory of real samples; `None`, with a word about it, where they are not at hand.
#[allow(clippy::print_stderr)]
pub(crate) fn samples(below: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/samples")
        .join(below);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: there are no samples at {}", path.display());
    None
}

/// The files of a directory of samples, sorted.
pub(crate) fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// A file's JSON as a tree, for counts that do not go through the readers.
pub(crate) fn tree(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Puts a value of every other kind in the place of every value of a source, one at a time, and proves that
/// each result is read without a panic and written soundly. The records are given as trees; `join` makes
/// the source's text of them.
pub(crate) fn prove_tolerant(format: &'static Format, records: &[Value], join: impl Fn(&[Value]) -> String) {
    let strangers = [Value::Null, Value::from(-7.5), Value::from("x"), json!([]), json!({})];
    for (index, record) in records.iter().enumerate() {
        for pointer in pointers(record) {
            for stranger in &strangers {
                let mut records = records.to_vec();
                *records[index].pointer_mut(&pointer).unwrap() = stranger.clone();
                let text = join(&records);
                for history in [History::Live, History::Full] {
                    let request = Request { history, session: None };
                    let source = Source::memory("test", text.clone().into());
                    if let Ok(document) = (format.read)(format, &source, &request) {
                        prove_written(&document);
                    }
                }
            }
        }
    }
}

/// The addresses of all values of a tree.
fn pointers(tree: &Value) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut next = 0;
    while let Some(pointer) = found.get(next).cloned() {
        next += 1;
        match tree.pointer(&pointer) {
            Some(Value::Array(elements)) => found.extend((0..elements.len()).map(|index| format!("{pointer}/{index}"))),
            Some(Value::Object(fields)) => {
                let escaped = fields.keys().map(|key| key.replace('~', "~0").replace('/', "~1"));
                found.extend(escaped.map(|key| format!("{pointer}/{key}")));
            }
            _ => {}
        }
    }
    found
}

/// Records as lines.
pub(crate) fn as_lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// Records as an array.
pub(crate) fn as_array(records: &[Value]) -> String {
    Value::from(records.to_vec()).to_string()
}

/// A single record.
pub(crate) fn as_object(records: &[Value]) -> String {
    records[0].to_string()
}
