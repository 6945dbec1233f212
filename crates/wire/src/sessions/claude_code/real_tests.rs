//! Every real log, counted a second time straight from its JSON.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

use super::tests::assert_writes_back;
use super::*;
use crate::format;

/// What a conversation should hold.
#[derive(Debug, Default, PartialEq)]
struct Expected {
    messages: usize,
    calls: usize,
    results: usize,
    output: u64,
}

#[allow(clippy::print_stderr, reason = "a skipped test must say so")]
fn files() -> Vec<PathBuf> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let mut files = Vec::new();
    for directory in ["samples/claude-code", "sessions/claude-code"] {
        let Ok(entries) = std::fs::read_dir(data.join(directory)) else {
            eprintln!("skipped: no real sessions at {directory}");
            continue;
        };
        files.extend(entries.map(|entry| entry.unwrap().path()));
    }
    files.sort_unstable();
    files
}

fn is_license(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with("LICENSE"))
}

/// The records of a file, the first readable one of each id.
fn values(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    if let Ok(Value::Object(document)) = serde_json::from_str::<Value>(&text)
        && let Some(Value::Array(lines)) = document.get("loglines")
    {
        return lines.clone();
    }
    let mut seen = BTreeSet::new();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let lines = lines.filter(|value| match value["type"].as_str() {
        Some("user" | "assistant") => !value["message"]["content"].is_null(),
        Some("queue-operation") => true,
        Some(_) => value["uuid"].is_string(),
        None => false,
    });
    let once = lines.filter(|value| match value["uuid"].as_str() {
        Some(id) => seen.insert(id.to_owned()),
        None => true,
    });
    once.collect()
}

/// Whether an attachment of a type found in real sessions says something.
fn says_something(attachment: &Value) -> bool {
    let is_filled = |key: &str| match &attachment[key] {
        Value::Array(list) => !list.is_empty(),
        Value::String(text) => !text.trim().is_empty(),
        _ => false,
    };
    match attachment["type"].as_str().unwrap() {
        "hook_success" | "task_reminder" => is_filled("content"),
        "deferred_tools_delta" | "mcp_instructions_delta" => is_filled("addedNames") || is_filled("removedNames"),
        "agent_listing_delta" => is_filled("addedLines") || is_filled("removedTypes"),
        "hook_system_message" | "hook_cancelled" | "command_permissions" | "ultra_effort_enter" => false,
        _ => true,
    }
}

fn blocks<'a>(value: &'a Value, kind: &str) -> Vec<&'a Value> {
    let blocks = value["message"]["content"].as_array().map(Vec::as_slice);
    let blocks = blocks.unwrap_or_default().iter();
    blocks.filter(|block| block["type"] == *kind).collect()
}

/// The ids on the way from a record to its root.
fn ancestry(by_id: &BTreeMap<&str, &Value>, from: &Value) -> Vec<String> {
    let mut way = Vec::new();
    let mut at = Some(from);
    while let Some(value) = at {
        way.push(value["uuid"].as_str().unwrap_or_default().to_owned());
        at = value["parentUuid"].as_str().and_then(|id| by_id.get(id)).copied();
    }
    way
}

/// Counts the newest branch: its lines, all lines of its responses, and all results of their calls, where
/// those are of the same tree.
fn expected(values: &[Value], session: &str) -> Expected {
    let all_side = values
        .iter()
        .filter(|value| value["message"].is_object() && value["type"] != "summary")
        .all(|value| value["isSidechain"] == true);
    let main = |value: &&Value| {
        let is_other = value["sessionId"].is_string() && session.contains("main") && value["sessionId"] != session;
        (all_side || value["isSidechain"] != true) && !is_other
    };
    let values: Vec<_> = values.iter().filter(main).collect();
    let by_id: BTreeMap<_, _> = values
        .iter()
        .filter_map(|value| Some((value["uuid"].as_str()?, *value)))
        .collect();
    let is_linked = |value: &&Value| value["parentUuid"].as_str().is_some_and(|id| by_id.contains_key(id));
    let is_linear = !values.iter().any(is_linked);
    let counts = |value: &Value| matches!(value["type"].as_str(), Some("user" | "assistant" | "attachment"));
    let Some(last) = values.iter().rfind(|value| counts(value)) else {
        return Expected::default();
    };
    let way = ancestry(&by_id, last);
    let root = way.last().cloned();
    let on_way: BTreeSet<_> = way.into_iter().collect();
    let is_on = |value: &Value| is_linear || value["uuid"].as_str().is_some_and(|id| on_way.contains(id));
    let in_tree = |value: &Value| is_linear || ancestry(&by_id, value).last() == root.as_ref();
    let response = |value: &Value| match value["message"]["id"].as_str() {
        Some(id) => id.to_owned(),
        None => value["uuid"].to_string() + &value["timestamp"].to_string(),
    };
    let is_model = |value: &Value| value["type"] == "assistant" && value["message"]["model"] != "<synthetic>";
    let responses: BTreeSet<_> = values
        .iter()
        .filter(|value| is_model(value) && is_on(value))
        .map(|value| response(value))
        .collect();
    let mut expected = Expected {
        messages: responses.len(),
        ..Expected::default()
    };
    let mut outputs = BTreeMap::new();
    let mut calls = BTreeSet::new();
    for value in &values {
        if is_model(value) && responses.contains(&response(value)) && in_tree(value) {
            calls.extend(blocks(value, "tool_use").iter().map(|block| block["id"].to_string()));
            let output = value["message"]["usage"]["output_tokens"].as_u64();
            outputs.insert(response(value), output.unwrap_or(0));
        }
    }
    expected.calls = calls.len();
    expected.output = outputs.values().sum();
    for value in &values {
        let results = blocks(value, "tool_result");
        let answers = |block: &&&Value| calls.contains(&block["tool_use_id"].to_string());
        let belongs = match value["type"].as_str() {
            Some("user") if !results.is_empty() => results.iter().filter(answers).count() > 0 && in_tree(value),
            Some("user") => is_on(value),
            Some("attachment") => is_on(value) && says_something(&value["attachment"]),
            _ => false,
        };
        expected.messages += usize::from(belongs);
        expected.results += if belongs { results.len() } else { 0 };
    }
    expected.messages += lost_prompts(&values);
    expected
}

/// How many prompts entered the queue and stand nowhere else, taken back or said.
fn lost_prompts(values: &[&Value]) -> usize {
    let is_queue = |value: &&Value| value["type"] == "queue-operation";
    let typed = values
        .iter()
        .copied()
        .filter(is_queue)
        .filter(|value| value["operation"] == "enqueue");
    let words = typed.filter_map(|value| value["content"].as_str());
    let words = words.filter(|words| !words.starts_with(['<', '/']));
    let stands = |words: &&str| {
        values.iter().any(|value| {
            value["message"]["content"] == *words
                || value["attachment"]["prompt"] == *words
                || value["operation"] == "popAll" && value["content"] == *words
        })
    };
    words.filter(|words| !stands(words)).count()
}

#[test]
fn every_real_log_is_read_whole() {
    for path in files().iter().filter(|path| !is_license(path)) {
        let source = Source::open(path).unwrap();
        assert_eq!(format::detect(&source).unwrap().name, "claude-code", "{path:?}");
        let read = |history| format::read(&source, None, &Request { history, session: None }).unwrap();
        let full = read(History::Full);
        let recorded = full.recorded;
        let usages = full
            .transcript
            .messages()
            .iter()
            .filter_map(|message| message.usage.as_ref());
        let found = Expected {
            messages: recorded.messages as usize,
            calls: recorded.calls as usize,
            results: recorded.results as usize,
            output: usages.map(|usage| usage.output).sum(),
        };
        let session = full.about.id.clone().unwrap_or_default();
        let mut expected = expected(&values(path), &session);
        if path.ends_with("hermesfork_claude_session.jsonl") {
            // Its last record names a parent that is not in the file; the summary before it is read, too.
            expected.messages += 1;
        }
        assert_eq!(found, expected, "{path:?}");
        assert_writes_back(&full);
        let live = read(History::Live);
        assert_eq!(live.recorded, recorded, "{path:?}");
        assert!(live.transcript.messages().len() <= full.transcript.messages().len());
        assert_writes_back(&live);
        let entries = (FORMAT.list)(&source).unwrap();
        assert_eq!(entries.len() as u64, full.about.conversations, "{path:?}");
        assert_eq!(entries[0].messages, Some(recorded.messages));
    }
}

#[test]
fn a_licence_among_the_logs_is_refused() {
    for path in files().iter().filter(|path| is_license(path)) {
        let error = format::detect(&Source::open(path).unwrap()).unwrap_err().to_string();
        assert!(error.contains("neither JSON nor a database"), "{error}");
    }
}
