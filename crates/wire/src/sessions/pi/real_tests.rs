//! Tests on real sessions, where they are at hand: every figure against a count made another way.

#![allow(clippy::print_stderr)]

use std::path::Path;
use std::path::PathBuf;

use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Origin;
use mainstay_engine::transcript::Part;
use serde_json::Value;

use crate::document::Document;
use crate::format;
use crate::reading::History;
use crate::reading::Request;
use crate::source::Source;

/// The sessions that are there.
fn sessions() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/samples/pi");
    let Ok(entries) = std::fs::read_dir(&root) else {
        eprintln!("skipped, no real sessions: {}", root.display());
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .collect()
}

fn read(path: &Path, history: History) -> Document {
    let request = Request { history, session: None };
    format::read(&Source::open(path).unwrap(), None, &request).unwrap()
}

/// Messages, calls, results, and the tokens of all requests.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    messages: u64,
    calls: u64,
    results: u64,
    tokens: u64,
}

impl Counts {
    fn add(&mut self, entry: &Value) {
        let message = &entry["message"];
        self.messages += 1;
        self.results += u64::from(message["role"] == "toolResult");
        let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        self.calls += blocks.iter().filter(|block| block["type"] == "toolCall").count() as u64;
        for key in ["input", "cacheRead", "cacheWrite", "output"] {
            self.tokens += message["usage"][key].as_u64().unwrap_or(0);
        }
    }

    fn of(document: &Document) -> Self {
        let mut counts = Counts::default();
        let messages = document.transcript.messages().iter().zip(document.origins());
        for (message, _) in messages.filter(|(_, origin)| !matches!(origin, Origin::Inserted)) {
            counts.messages += 1;
            counts.calls += message.calls().count() as u64;
            counts.results += message.results().count() as u64;
            counts.tokens += message.usage.as_ref().map_or(0, |usage| usage.input + usage.output);
        }
        counts
    }
}

/// What a session of the first version holds in all, and what its live part holds.
fn count(path: &Path) -> (Counts, Counts) {
    let text = std::fs::read_to_string(path).unwrap();
    let entries: Vec<Value> = text
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let is_entry = |entry: &&Value| entry["type"] == "message" || entry["type"] == "compaction";
    let mut all = Counts::default();
    entries.iter().filter(is_entry).for_each(|entry| all.add(entry));
    let mut live = Counts::default();
    let mut start = 0;
    if let Some(newest) = entries.iter().rev().find(|entry| entry["type"] == "compaction") {
        live.add(newest);
        start = newest["firstKeptEntryIndex"].as_u64().unwrap() as usize;
    }
    for entry in entries[start..].iter().filter(|entry| entry["type"] == "message") {
        let reason = entry["message"]["stopReason"].as_str().unwrap_or("");
        if !["error", "aborted"].contains(&reason) {
            live.add(entry);
        }
    }
    (all, live)
}

/// What must survive writing and reading back as a chat: the form keeps no signed thinking, puts calls
/// behind the words, and has no empty texts.
fn gist(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) if !text.is_empty() => Some(text.as_ref()),
        _ => None,
    });
    let texts = texts.collect::<Vec<_>>();
    let calls: Vec<_> = message.calls().collect();
    let result = |content: &Content| !matches!(content, Content::Text(text) if text.is_empty());
    let results: Vec<_> = message
        .results()
        .map(|answer| {
            (
                &answer.id,
                answer
                    .content
                    .iter()
                    .filter(|content| result(content))
                    .collect::<Vec<_>>(),
            )
        })
        .collect();
    format!(
        "{:?} {:?} {texts:?} {calls:?} {results:?}",
        message.role, message.author
    )
}

#[test]
fn every_real_session_is_read_whole_and_written_back() {
    for path in sessions() {
        let name = path.display();
        let (all, live) = count(&path);
        for (history, wanted) in [(History::Full, &all), (History::Live, &live)] {
            let document = read(&path, history);
            assert_eq!(document.format.name, "pi", "{name}");
            let recorded = document.recorded;
            assert_eq!(
                (recorded.messages, recorded.calls, recorded.results),
                (all.messages, all.calls, all.results)
            );
            assert_eq!(&Counts::of(&document), wanted, "{name} {history:?}");

            let written = document.write();
            let again = format::read(
                &Source::memory("again", written.into_bytes()),
                None,
                &Request::default(),
            )
            .unwrap();
            assert_eq!(again.format.name, "openai-chat", "{name}");
            let gists = |messages: &[Message]| messages.iter().map(gist).collect::<Vec<_>>();
            let (read_back, first) = (
                gists(again.transcript.messages()),
                gists(document.transcript.messages()),
            );
            assert_eq!(read_back.len(), first.len(), "{name} {history:?}");
            for (read_back, first) in read_back.iter().zip(&first) {
                // Written back, a command's output is a plain user message.
                assert_eq!(
                    read_back.replace(" User ", " Host "),
                    first.replace(" User ", " Host "),
                    "{name}"
                );
            }
        }
    }
}
