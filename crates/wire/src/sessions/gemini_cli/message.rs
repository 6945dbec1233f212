//! One message record: what it says, what it calls, and what the calls returned.

use std::collections::HashSet;
use std::sync::Arc;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Input;
use mainstay_engine::transcript::Media;
use mainstay_engine::transcript::MediaKind;
use mainstay_engine::transcript::MediaSource;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Seal;
use mainstay_engine::transcript::Thinking;
use mainstay_engine::transcript::ToolCall;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::ToolResult;
use mainstay_engine::transcript::Usage;

use crate::authorship;
use crate::json;
use crate::json::Kind;
use crate::json::Object;
use crate::json::Raw;
use crate::openai_chat::opaque_content;
use crate::time;

/// The calls whose results have been read. A replaced history repeats them in messages of their own.
#[derive(Default)]
pub(super) struct Answered(HashSet<Box<str>>);

/// The messages a record comes to: none for notices, several for a record with tool calls.
pub(super) fn read_record(
    json: &str,
    place: Place,
    answered: &mut Answered,
    findings: &mut Vec<Finding>,
) -> Vec<Message> {
    let record = Object::parse(json).unwrap_or_default();
    let mut messages = match record.text("type").as_deref() {
        Some("user") => read_user(&record, place, answered, findings),
        Some("gemini") => read_gemini(&record, answered),
        // What the program showed to the person, and did not send.
        Some("info" | "error" | "warning") => Vec::new(),
        other => {
            findings.push(Finding::new(Rule::UnknownType, place, other.unwrap_or("none")));
            Vec::new()
        }
    };
    let at = record.get("timestamp").and_then(time::read);
    for message in &mut messages {
        message.place = place;
        message.at = message.at.or(at);
    }
    messages
}

fn read_user(record: &Object<'_>, place: Place, answered: &mut Answered, findings: &mut Vec<Finding>) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut parts = Vec::new();
    for raw in parts_of(record.get("content")) {
        match Object::of(raw).and_then(|part| part.object("functionResponse")) {
            Some(response) => {
                let id = response.text("id").unwrap_or_default();
                if !id.is_empty() && !answered.0.insert(id.clone()) {
                    findings.push(Finding::new(
                        Rule::DuplicateRecord,
                        place,
                        format!("the result of {id}"),
                    ));
                    continue;
                }
                let name = response.text("name");
                messages.push(answer(id, name, vec![raw], None));
            }
            None => parts.push(read_part(raw)),
        }
    }
    if !parts.is_empty() {
        let is_summary = parts
            .iter()
            .any(|part| matches!(part, Part::Text(text) if is_snapshot(text)));
        let mut message = authorship::message(Role::User, parts);
        if is_summary {
            message.author = Author::Summary;
        }
        messages.push(message);
    }
    messages
}

/// A summary may think aloud before its snapshot; a person's words do not begin that way.
fn is_snapshot(text: &str) -> bool {
    let start = text.trim_start();
    start.starts_with("<state_snapshot>")
        || (start.starts_with("<scratchpad>") && start.contains("</scratchpad>") && start.contains("<state_snapshot>"))
}

fn read_gemini(record: &Object<'_>, answered: &mut Answered) -> Vec<Message> {
    let mut parts: Vec<_> = record
        .array("thoughts")
        .unwrap_or_default()
        .into_iter()
        .filter_map(read_thought)
        .collect();
    let calls: Vec<_> = record
        .array("toolCalls")
        .unwrap_or_default()
        .into_iter()
        .filter_map(Object::of)
        .collect();
    let own_ids: HashSet<_> = calls.iter().filter_map(|call| call.text("id")).collect();
    for raw in parts_of(record.get("content")) {
        match Object::of(raw).and_then(|part| part.object("functionCall")) {
            Some(call) if call.text("id").is_some_and(|id| own_ids.contains(&id)) => {}
            // Without ids, the calls that ran are the ones that count.
            Some(call) if call.text("id").is_none() && !calls.is_empty() => {}
            Some(call) => parts.push(read_call(&call)),
            None => parts.push(read_part(raw)),
        }
    }
    parts.extend(calls.iter().map(read_call));
    if parts.is_empty() {
        return Vec::new();
    }
    let mut message = Message::new(Role::Assistant, parts);
    message.model = record.text("model").map(Arc::from);
    message.usage = record.object("tokens").map(|tokens| Box::new(read_usage(&tokens)));
    let mut messages = vec![message];
    for call in &calls {
        let id = call.text("id").unwrap_or_default();
        let results = call.get("result").filter(|raw| json::kind(raw) != Kind::Null);
        let Some(results) = results else { continue };
        if !id.is_empty() && !answered.0.insert(id.clone()) {
            continue;
        }
        let mut result = answer(id, call.text("name"), parts_of(Some(results)), call.tag("status"));
        result.at = call.get("timestamp").and_then(time::read);
        messages.push(result);
    }
    messages
}

/// The parts of a list; anything else is a single part.
fn parts_of(raw: Option<Raw<'_>>) -> Vec<Raw<'_>> {
    match raw {
        Some(raw) => json::array(raw).unwrap_or_else(|| vec![raw]),
        None => Vec::new(),
    }
    .into_iter()
    .filter(|raw| json::kind(raw) != Kind::Null && raw.get() != "\"\"")
    .collect()
}

fn read_thought(raw: Raw<'_>) -> Option<Part> {
    let thought = Object::of(raw).unwrap_or_default();
    let texts = ["subject", "description"].iter().filter_map(|key| thought.text(key));
    let texts: Vec<_> = texts.filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| thinking(texts.join("\n").into()))
}

fn thinking(text: Box<str>) -> Part {
    Part::Thinking(Box::new(Thinking {
        text,
        seal: Seal::Unsealed,
    }))
}

fn read_call(call: &Object<'_>) -> Part {
    let args = call.get("args").filter(|raw| json::kind(raw) != Kind::Null);
    Part::Call(Box::new(ToolCall {
        id: CallId::new(call.text("id").unwrap_or_default()),
        name: call.text("name").unwrap_or_default(),
        input: Input::Json(args.map_or("{}", |raw| raw.get()).into()),
    }))
}

fn read_part(raw: Raw<'_>) -> Part {
    let part = Object::of(raw).unwrap_or_default();
    match (part.flag("thought"), part.text("text")) {
        (true, Some(text)) => thinking(text),
        (_, _) => Part::from(read_content(raw)),
    }
}

/// A part that may also stand in a result.
fn read_content(raw: Raw<'_>) -> Content {
    if let Some(text) = json::text(raw) {
        return Content::Text(text);
    }
    let part = Object::of(raw).unwrap_or_default();
    if let Some(text) = part.text("text") {
        return Content::Text(text);
    }
    let inline = part.object("inlineData").and_then(|blob| {
        let data = blob.text("data")?;
        Some((blob.text("mimeType"), MediaSource::Inline(data)))
    });
    let file = || {
        let file = part.object("fileData")?;
        Some((file.text("mimeType"), MediaSource::Url(file.text("fileUri")?)))
    };
    match inline.or_else(file) {
        Some((mime, source)) => Content::Media(Media {
            kind: kind_of(mime.as_deref().unwrap_or("")),
            mime,
            source,
        }),
        None => {
            let kind = part.members().next().map_or_else(|| "part".into(), |(key, _)| key);
            opaque_content(&kind, raw)
        }
    }
}

fn kind_of(mime: &str) -> MediaKind {
    match mime.split('/').next() {
        Some("image") => MediaKind::Image,
        Some("audio") => MediaKind::Audio,
        Some("video") => MediaKind::Video,
        Some(_) | None => MediaKind::Document,
    }
}

/// A tool's answer: the output of its function response, and what else was returned with it.
fn answer(id: Box<str>, name: Option<Box<str>>, parts: Vec<Raw<'_>>, status: Option<&str>) -> Message {
    let mut content = Vec::new();
    let mut outcome = match status {
        Some("success") => ToolOutcome::Success,
        Some("error" | "cancelled") => ToolOutcome::Failure,
        Some(_) | None => ToolOutcome::Unstated,
    };
    for raw in parts {
        let response = Object::of(raw).and_then(|part| part.object("functionResponse"));
        let Some(response) = response else {
            content.push(read_content(raw));
            continue;
        };
        // The parts of a whole turn are stored with each of its calls; the others' results are theirs.
        let other = response
            .text("id")
            .is_some_and(|given| !given.is_empty() && !id.is_empty() && given != id);
        if other {
            continue;
        }
        let body = response.object("response").unwrap_or_default();
        if outcome == ToolOutcome::Unstated && body.has("error") && !body.has("output") {
            outcome = ToolOutcome::Failure;
        }
        let text = body.text("output").or_else(|| body.text("error"));
        let whole = || response.get("response").map(|raw| raw.get().into());
        content.extend(text.or_else(whole).map(Content::Text));
        content.extend(
            response
                .array("parts")
                .unwrap_or_default()
                .into_iter()
                .map(read_content),
        );
    }
    let result = ToolResult {
        id: CallId::new(id),
        name,
        content,
        outcome,
    };
    Message::new(Role::Tool, vec![Part::Result(Box::new(result))])
}

/// The prompt figure has the cached tokens in it; the output figure leaves the thoughts out.
fn read_usage(tokens: &Object<'_>) -> Usage {
    let count = |key: &str| tokens.count(key).unwrap_or(0);
    Usage {
        input: count("input").saturating_add(count("tool")),
        cache_read: count("cached"),
        cache_write: 0,
        output: count("output").saturating_add(count("thoughts")),
        reasoning: count("thoughts"),
        window: None,
    }
}
