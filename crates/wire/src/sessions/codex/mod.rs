//! Codex: one rollout file a thread, `{timestamp, type, payload}` a line, cold files compressed with zstd.
//!
//! The payloads of `response_item` lines are Responses items and go out as they came in. The oldest form
//! has the facts about the session bare on its first line and the items bare on the others. Events repeat
//! what the items say; only usage, rollbacks and the thread's name are taken from them.

mod chronicle;
mod outcome;
mod rollout;

use crate::document::Document;
use crate::document_builder::Reading;
use crate::error::ReadError;
use crate::format_definition::Format;
use crate::format_definition::Likeness;
use crate::format_definition::one_conversation;
use crate::json;
use crate::json::Kind;
use crate::json::Object;
use crate::reading::Request;
use crate::reading::WireForm;
use crate::session_directories::Haunt;
use crate::session_directories::Homes;
use crate::sessions::codex::rollout::Rollout;
use crate::sniff::Sniff;
use crate::source::Source;

/// The row in the list of formats.
pub static FORMAT: Format = Format {
    name: "codex",
    title: "Codex sessions",
    detect,
    read,
    list: one_conversation,
    haunts,
};

/// Line types that carry a payload and that no other agent writes.
const OWN_TYPES: &[&str] = &[
    "session_meta",
    "response_item",
    "turn_context",
    "event_msg",
    "compacted",
];

fn detect(sniff: &Sniff<'_>) -> Likeness {
    let has_payload = |record: &Object<'_>| record.get("payload").is_some_and(|raw| json::kind(raw) == Kind::Object);
    let is_line = |record: &Object<'_>| {
        let kind = record.tag("type").unwrap_or("");
        OWN_TYPES.contains(&kind) && has_payload(record)
    };
    if sniff.any_record(is_line) {
        return Likeness::Certain;
    }
    let is_bare_meta = |record: &Object<'_>| {
        let facts = record.has("instructions") || record.has("git");
        record.has("id") && record.has("timestamp") && facts && !record.has("type")
    };
    let is_bare_item = |record: &Object<'_>| match record.tag("type") {
        Some("message") => {
            let blocks = record.array("content").unwrap_or_default();
            let first = blocks.first().and_then(|raw| Object::of(raw)).unwrap_or_default();
            record.has("role") && (first.is("type", "input_text") || first.is("type", "output_text"))
        }
        Some("function_call" | "function_call_output" | "local_shell_call") => record.has("call_id"),
        Some(_) | None => false,
    };
    let first_is_meta = sniff.records().first().is_some_and(is_bare_meta);
    Likeness::likely_if(first_is_meta || (sniff.records().len() > 1 && sniff.any_record(is_bare_item)))
}

fn haunts(homes: &Homes) -> Vec<Haunt> {
    let home = homes.variable_or("CODEX_HOME", ".codex");
    let is_session = |below: &str| {
        let name = below.rsplit('/').next().unwrap_or(below);
        name.starts_with("rollout-") && (name.ends_with(".jsonl") || name.ends_with(".jsonl.zst"))
    };
    // Sessions are filed by year, month and day; archived ones lie flat.
    ["sessions", "archived_sessions"]
        .map(|directory| Haunt {
            root: home.join(directory),
            depth: 3,
            is_session,
        })
        .into()
}

fn read(format: &'static Format, source: &Source, request: &Request) -> Result<Document, ReadError> {
    let mut lines = source.lines()?;
    let mut rollout = Rollout::default();
    while lines.advance()? {
        let place = lines.place();
        for raw in lines.records() {
            rollout.enter(raw, place);
        }
        lines.findings.append(&mut rollout.findings);
    }
    if !rollout.is_known() {
        return Err(ReadError::refused(source.name(), "there is no Codex record in it"));
    }
    let mut reading = Reading::new(WireForm::Responses);
    reading.findings = lines.findings;
    rollout.pour(request.history, &mut reading);
    Ok(reading.finish(format))
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod history_tests;

#[cfg(test)]
mod real_tests;
