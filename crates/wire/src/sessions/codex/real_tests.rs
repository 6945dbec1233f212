//! Tests on real rollouts, where they are at hand: every figure against a count made another way.

#![allow(clippy::print_stderr)]

use std::path::Path;
use std::path::PathBuf;

use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Origin;
use serde_json::Value;

use crate::document::Document;
use crate::format;
use crate::reading::History;
use crate::reading::Recorded;
use crate::reading::Request;
use crate::source::Source;

/// The rollouts that are there, sorted.
fn rollouts() -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for directory in ["samples/codex", "sessions/codex"] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../../shared/data")
            .join(directory);
        match std::fs::read_dir(&root) {
            Ok(entries) => paths.extend(entries.map(|entry| entry.unwrap().path())),
            Err(cause) => eprintln!("skipped, no real sessions: {}: {cause}", root.display()),
        }
    }
    paths.sort();
    paths
}

fn read(path: &Path, history: History) -> Document {
    let request = Request { history, session: None };
    format::read(&Source::open(path).unwrap(), None, &request).unwrap()
}

#[derive(Debug, Default)]
struct Counts {
    messages: usize,
    calls: usize,
    results: usize,
    users: usize,
}

impl Counts {
    fn add(&mut self, item: &Value) {
        let kind = item["type"].as_str().unwrap_or("");
        let is_sent = item.get("role").is_some() || !["", "token_count"].contains(&kind);
        self.messages += usize::from(is_sent);
        self.users += usize::from(item["role"] == "user");
        self.calls += usize::from(["function_call", "custom_tool_call", "local_shell_call"].contains(&kind));
        self.results += usize::from(["function_call_output", "custom_tool_call_output"].contains(&kind));
    }

    fn agrees(&self, recorded: Recorded) -> bool {
        let found = [recorded.messages, recorded.calls, recorded.results];
        found == [self.messages, self.calls, self.results].map(|count| count as u64)
    }
}

/// What a rollout holds in all, and what its live part holds.
fn count(path: &Path) -> (Counts, Counts) {
    let (mut all, mut live) = (Counts::default(), Counts::default());
    let mut instructions = 0;
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let payload = &record["payload"];
        match record["type"].as_str().unwrap() {
            "session_meta" if payload["base_instructions"]["text"].is_string() => instructions = 1,
            "response_item" => {
                all.add(payload);
                live.add(payload);
            }
            "compacted" => {
                let users = live.users;
                live = Counts::default();
                let items = payload["replacement_history"].as_array().unwrap();
                items.iter().for_each(|item| live.add(item));
                if live.messages == 0 {
                    // Nothing readable in it: the user's words and the summary stand in.
                    live.messages = users + 1;
                }
            }
            _ => {}
        }
    }
    all.messages += instructions;
    live.messages += instructions;
    (all, live)
}

/// What must survive writing and reading back.
fn gist(message: &Message) -> String {
    let Message { role, parts, .. } = message;
    let calls: Vec<_> = message.calls().collect();
    let results: Vec<_> = message.results().map(|result| (&result.id, &result.content)).collect();
    let others = parts.len() - calls.len() - results.len();
    format!("{role:?} {calls:?} {results:?} {others}")
}

#[test]
fn every_real_rollout_is_read_whole_and_written_back() {
    for path in rollouts() {
        let name = path.display();
        let (all, live) = count(&path);
        for history in [History::Full, History::Live] {
            let document = read(&path, history);
            assert_eq!(document.format.name, "codex", "{name}");
            assert!(all.agrees(document.recorded), "{name}: {all:?} {:?}", document.recorded);
            let wanted = if history == History::Full { &all } else { &live };
            let messages = document.transcript.messages();
            let inserted = messages.len() - document.origins().iter().filter(|origin| is_read(origin)).count();
            assert_eq!(messages.len() - inserted, wanted.messages, "{name} {history:?}");

            let written = document.write();
            let again = format::read(
                &Source::memory("again", written.into_bytes()),
                None,
                &Request::default(),
            )
            .unwrap();
            assert_eq!(again.format.name, "openai-responses", "{name}");
            let gists = |messages: &[Message]| messages.iter().map(gist).collect::<Vec<_>>();
            assert_eq!(
                gists(again.transcript.messages()),
                gists(messages),
                "{name} {history:?}"
            );
        }
    }
}

fn is_read(origin: &Origin) -> bool {
    !matches!(origin, Origin::Inserted)
}

/// The input tokens that the last report of a rollout totals.
fn reported_input(path: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(path).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut totals = records.filter_map(|record| {
        let info = &record["payload"]["info"];
        info["total_token_usage"]["input_tokens"].as_u64()
    });
    totals.next_back()
}

#[test]
fn the_usage_of_the_messages_adds_up_to_what_codex_totals() {
    for path in rollouts() {
        let document = read(&path, History::Full);
        let messages = document.transcript.messages();
        let usages = messages.iter().filter_map(|message| message.usage.as_ref());
        let sum: u64 = usages.map(|usage| usage.input).sum();
        // Two samples are usage alone, without a message to carry it.
        if let Some(total) = reported_input(&path)
            && messages.len() > 1
        {
            assert_eq!(sum, total, "{}", path.display());
        }
    }
}
