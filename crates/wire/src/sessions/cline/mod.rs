//! Cline and Roo Code: a task's `api_conversation_history.json`, which is a bare list of Anthropic messages
//! with a few fields more; and the sessions of Cline's SDK, `{version, sessionId, agent, messages}`, with their
//! compacted copies, which are conversations of their own.

mod block;
mod history;

use crate::document::Document;
use crate::document_builder::Reading;
use crate::error::ReadError;
use crate::format_definition::Format;
use crate::format_definition::Likeness;
use crate::format_definition::one_conversation;
use crate::json;
use crate::json::Object;
use crate::json::Raw;
use crate::reading::Request;
use crate::reading::WireForm;
use crate::session_directories::Haunt;
use crate::session_directories::Homes;
use crate::sniff::Shape;
use crate::sniff::Sniff;
use crate::source::BYTE_ORDER_MARK;
use crate::source::Source;
use crate::time;

use self::history::Messages;

/// The row in the list of formats.
pub static FORMAT: Format = Format {
    name: "cline",
    title: "Cline and Roo Code tasks",
    detect,
    read,
    list: one_conversation,
    haunts,
};

/// The name of a task's list of messages.
const HISTORY: &str = "api_conversation_history.json";

/// Fields that only Roo's messages have.
const ROO_FIELDS: &[&str] = &[
    "isSummary",
    "condenseParent",
    "condenseId",
    "truncationParent",
    "isTruncationMarker",
];

fn detect(sniff: &Sniff<'_>) -> Likeness {
    match &sniff.shape {
        Shape::Directory(names) => Likeness::certain_if(names.iter().any(|name| name == HISTORY)),
        Shape::Object(object) => Likeness::certain_if(is_session(object) || is_description(object)),
        Shape::Array(_) => detect_list(sniff),
        Shape::Empty | Shape::Database(_) | Shape::Lines(_) | Shape::Text => Likeness::No,
    }
}

fn detect_list(sniff: &Sniff<'_>) -> Likeness {
    let messages = sniff.elements();
    let is_message = |message: &Object<'_>| matches!(message.tag("role"), Some("user" | "assistant"));
    if messages.is_empty()
        || !messages.iter().all(is_message)
        || messages.iter().any(|message| message.has("tool_calls"))
    {
        return Likeness::No;
    }
    let is_marked = messages.iter().any(|message| {
        let content = message.get("content").map_or("", |raw| raw.get());
        message.number("ts").is_some()
            || ROO_FIELDS.iter().any(|field| message.has(field))
            || content.contains("<environment_details>")
    });
    if is_marked {
        return Likeness::Certain;
    }
    Likeness::likely_if(sniff.name == HISTORY)
}

/// A session of the SDK.
fn is_session(object: &Object<'_>) -> bool {
    let has_owner = object.has("agent") || object.has("system_prompt") || object.has("updated_at");
    object.has("version") && object.has("sessionId") && has_owner && object.array("messages").is_some()
}

/// The file beside a session that says everything about it but what was said.
fn is_description(object: &Object<'_>) -> bool {
    object.has("session_id") && object.has("messages_path") && !object.has("messages")
}

fn read(format: &'static Format, source: &Source, request: &Request) -> Result<Document, ReadError> {
    if source.is_directory() {
        let history = source.relative(HISTORY);
        let refused = || ReadError::refused(source.name(), format!("there is no {HISTORY} in it"));
        return read_file(format, &history.ok_or_else(refused)?, request);
    }
    read_file(format, source, request)
}

fn read_file(format: &'static Format, source: &Source, request: &Request) -> Result<Document, ReadError> {
    let text = source.text()?;
    let whole = json::value(text.text.trim_start_matches(BYTE_ORDER_MARK))
        .map_err(|cause| ReadError::refused(source.name(), format!("not JSON: {cause}")))?;
    let mut reading = Reading::new(WireForm::Anthropic);
    reading.findings = text.findings;
    let mut messages = Messages::default();
    let list = match Object::of(whole) {
        Some(object) => {
            let list = messages_of(source, &object)?;
            read_session(source, &object, &mut reading);
            list
        }
        None => {
            messages.hide_deleted(source);
            reading.about.id = task_of(source);
            json::array(whole).unwrap_or_default()
        }
    };
    for raw in list {
        messages.read(raw, &mut reading.findings);
    }
    if messages.is_empty() {
        return Err(ReadError::refused(source.name(), "there is no message in it"));
    }
    messages.push_into(&mut reading, request.history);
    Ok(reading.finish(format))
}

fn messages_of<'a>(source: &Source, object: &Object<'a>) -> Result<Vec<Raw<'a>>, ReadError> {
    object.array("messages").ok_or_else(|| {
        let path = object.text("messages_path");
        let reason = match path {
            Some(path) => format!("it describes a Cline session but holds no messages; they are in the file its messages_path names: {path}"),
            None => "there is no list of messages in it".to_owned(),
        };
        ReadError::refused(source.name(), reason)
    })
}

/// A task's directory is named after it.
fn task_of(source: &Source) -> Option<String> {
    let path = source.path().filter(|path| path.ends_with(HISTORY))?;
    let name = path.parent()?.file_name()?;
    Some(name.to_string_lossy().into_owned())
}

fn read_session(source: &Source, object: &Object<'_>, reading: &mut Reading) {
    let id = object.text("sessionId");
    reading.about.ended = object.get("updated_at").and_then(time::read);
    if let Some(prompt) = object.text("system_prompt").filter(|prompt| !prompt.is_empty()) {
        reading.push(history::system(prompt));
    }
    if let Some(id) = &id {
        for name in [format!("{id}.json"), "session.json".to_owned()] {
            let Some(text) = source.relative(&name).and_then(|file| file.text().ok()) else {
                continue;
            };
            let facts = Object::parse(text.text.trim_start_matches(BYTE_ORDER_MARK)).unwrap_or_default();
            if facts.text("session_id").as_ref() == Some(id) {
                read_description(&facts, reading);
                break;
            }
        }
    }
    reading.about.id = id.map(Into::into);
}

fn read_description(facts: &Object<'_>, reading: &mut Reading) {
    let about = &mut reading.about;
    let metadata = facts.object("metadata").unwrap_or_default();
    about.title = metadata.text("title").map(Into::into);
    about.directory = facts.text("cwd").map(Into::into);
    about.started = facts.get("started_at").and_then(time::read);
    let fork = metadata
        .object("fork")
        .and_then(|fork| fork.text("forkedFromSessionId"));
    about.parent = fork.map(Into::into);
}

fn haunts(homes: &Homes) -> Vec<Haunt> {
    let settings = [homes.config(), homes.home.join("Library/Application Support")];
    let extensions = ["saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline"];
    let mut haunts = Vec::new();
    for root in &settings {
        for extension in extensions {
            haunts.push(Haunt {
                root: root.join("Code/User/globalStorage").join(extension).join("tasks"),
                depth: 1,
                is_session: |below| below.split_once('/').is_some_and(|(_, name)| name == HISTORY),
            });
        }
    }
    haunts.push(Haunt {
        root: homes.home.join(".cline/data/sessions"),
        depth: 1,
        is_session: |below| below.ends_with(".messages.json") && below.matches('/').count() == 1,
    });
    haunts.push(Haunt {
        root: homes.home.join(".cline/data/tasks"),
        depth: 1,
        is_session: |below| below.split_once('/').is_some_and(|(_, name)| name == HISTORY),
    });
    haunts
}

#[cfg(test)]
#[path = "../cline_tests.rs"]
mod tests;
