//! ATIF, the trajectory form in which Hermes' telemetry exports a session: steps by system, user and agent,
//! an agent's step with its calls and what they returned.

use std::sync::Arc;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::MediaKind;
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

use super::check_session;
use super::note_summary;
use super::settle_author;
use crate::authorship;
use crate::body::Body;
use crate::body::document_text;
use crate::document_builder::Reading;
use crate::error::ReadError;
use crate::json;
use crate::json::Kind;
use crate::json::Object;
use crate::json::Raw;
use crate::openai_chat;
use crate::reading::Request;
use crate::reading::WireForm;
use crate::source::Source;
use crate::time;

/// Reads a trajectory.
pub fn read(source: &Source, request: &Request) -> Result<Reading, ReadError> {
    let (text, findings) = document_text(source)?;
    let body = Body::find(source.name(), &text, "steps")?;
    let id = body.around.text("session_id");
    check_session(source, request, id.as_deref())?;
    let mut reading = Reading::new(WireForm::Chat);
    reading.findings = findings;
    reading.about.id = id.map(String::from);
    let agent = body.around.object("agent").unwrap_or_default();
    reading.about.version = agent.text("version").map(String::from);
    reading.about.model = agent.text("model_name").map(Arc::from);
    reading.about.tools = agent
        .get("tool_definitions")
        .filter(|raw| json::kind(raw) == Kind::Array)
        .map(|raw| raw.get().into());
    for (index, raw) in (0..).zip(&body.elements) {
        let place = Place::Item(index);
        match Object::of(raw) {
            Some(step) => read_step(&step, place, &mut reading),
            None => reading.note(Rule::NotARecord, place, "a step that is not an object"),
        }
    }
    if reading.is_empty() {
        return Err(ReadError::refused(source.name(), "the trajectory holds no step"));
    }
    reading.count_all();
    Ok(reading)
}

fn read_step(step: &Object<'_>, place: Place, reading: &mut Reading) {
    let (role, is_known) = match step.tag("source").unwrap_or_default() {
        "system" => (Role::System, true),
        "user" => (Role::User, true),
        "agent" => (Role::Assistant, true),
        other => {
            reading.note(Rule::UnknownRole, place, other);
            (Role::User, false)
        }
    };
    let mut parts = Vec::new();
    let thinking = step.text("reasoning_content").filter(|text| !text.is_empty());
    parts.extend(thinking.map(|text| {
        Part::Thinking(Box::new(Thinking {
            text,
            seal: Seal::Unsealed,
        }))
    }));
    let content = step.get("message").map(read_content).unwrap_or_default();
    parts.extend(content.into_iter().map(Part::from));
    for raw in step.array("tool_calls").unwrap_or_default() {
        parts.push(read_call(raw, place, reading));
    }
    let mut message = authorship::message(role, parts);
    message.place = place;
    message.at = step.get("timestamp").and_then(time::read);
    message.model = step.text("model_name").map(Arc::from);
    message.usage = step.object("metrics").map(|metrics| Box::new(read_usage(&metrics)));
    settle_author(&mut message, false);
    if !is_known && message.author == Author::User {
        message.author = Author::Host;
    }
    let at = message.at;
    note_summary(reading, &message);
    reading.push(message);
    let observation = step.object("observation").unwrap_or_default();
    for raw in observation.array("results").unwrap_or_default() {
        let Some(result) = Object::of(raw) else {
            reading.note(Rule::NotARecord, place, "a result that is not an object");
            continue;
        };
        let result = ToolResult {
            id: CallId::new(result.text("source_call_id").unwrap_or_default()),
            name: result.object("extra").and_then(|extra| extra.text("event_name")),
            content: result.get("content").map(read_content).unwrap_or_default(),
            outcome: ToolOutcome::Unstated,
        };
        let mut message = Message::new(Role::Tool, vec![Part::Result(Box::new(result))]);
        message.place = place;
        message.at = at;
        reading.push(message);
    }
}

fn read_call(raw: Raw<'_>, place: Place, reading: &mut Reading) -> Part {
    let Some(call) = Object::of(raw) else {
        return openai_chat::opaque("tool_call", raw);
    };
    Part::Call(Box::new(ToolCall {
        id: CallId::new(call.text("tool_call_id").unwrap_or_default()),
        name: call.text("function_name").unwrap_or_default(),
        input: openai_chat::read_input(call.get("arguments"), place, &mut reading.findings),
    }))
}

/// A text, or a list of text and image parts.
fn read_content(raw: Raw<'_>) -> Vec<Content> {
    match json::kind(raw) {
        Kind::Null => Vec::new(),
        Kind::String => {
            let text = json::text(raw).filter(|text| !text.is_empty());
            text.map(Content::Text).into_iter().collect()
        }
        Kind::Array => {
            let parts = json::array(raw).unwrap_or_default();
            parts.iter().map(|part| read_part(part)).collect()
        }
        Kind::Bool | Kind::Number | Kind::Object => vec![Content::Text(raw.get().into())],
    }
}

fn read_part(raw: Raw<'_>) -> Content {
    let object = Object::of(raw).unwrap_or_default();
    let kind = object.text("type").unwrap_or_default();
    let read = match kind.as_ref() {
        "text" => object.text("text").map(Content::Text),
        "image" => object.object("source").and_then(|image| {
            let path = image.text("path")?;
            let media = openai_chat::media(MediaKind::Image, image.text("media_type"), &path);
            Some(Content::Media(media))
        }),
        _ => None,
    };
    read.unwrap_or_else(|| openai_chat::opaque_content(&kind, raw))
}

/// ATIF's prompt tokens include the cached ones.
fn read_usage(metrics: &Object<'_>) -> Usage {
    let extra = metrics.object("extra").unwrap_or_default();
    let own_or_extra = |own: &str, other: &str| metrics.count(own).or_else(|| extra.count(other)).unwrap_or(0);
    Usage {
        input: metrics.count("prompt_tokens").unwrap_or(0),
        cache_read: own_or_extra("cached_tokens", "cache_read_tokens"),
        cache_write: extra.count("cache_write_tokens").unwrap_or(0),
        output: metrics.count("completion_tokens").unwrap_or(0),
        reasoning: own_or_extra("reasoning_tokens", "reasoning_tokens"),
        window: None,
    }
}
