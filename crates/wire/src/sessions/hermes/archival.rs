//! Hermes' archival export: one object with neutral messages, each with the state it had in the store.

use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Input;
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

use super::Boundary;
use super::check_session;
use super::note_summary;
use super::settle_author;
use crate::authorship;
use crate::body::Body;
use crate::body::document_text;
use crate::document_builder::Reading;
use crate::error::ReadError;
use crate::json::Object;
use crate::openai_chat;
use crate::reading::History;
use crate::reading::Request;
use crate::reading::WireForm;
use crate::source::Source;
use crate::time;

/// Reads an export.
pub fn read(source: &Source, request: &Request) -> Result<Reading, ReadError> {
    let (text, findings) = document_text(source)?;
    let body = Body::find(source.name(), &text, "messages")?;
    let around = &body.around;
    let id = around.text("session_id");
    check_session(source, request, id.as_deref())?;
    let mut reading = Reading::new(WireForm::Chat);
    reading.findings = findings;
    let about = &mut reading.about;
    about.id = id.map(String::from);
    about.title = around.text("title").map(String::from);
    about.directory = around.text("repository_cwd").map(String::from);
    let producer = around.text("producer").unwrap_or_default();
    about.version = producer.split_once('/').map(|(_, version)| version.to_owned());
    about.parent = around.text("parent_session_id").map(String::from);
    about.started = around.get("created_at").and_then(time::read);
    about.ended = around.get("ended_at").and_then(time::read);
    let mut boundary = Boundary::default();
    for (index, raw) in (0..).zip(&body.elements) {
        let place = Place::Item(index);
        let Some(object) = Object::of(raw) else {
            reading.note(Rule::NotARecord, place, "a message that is not an object");
            continue;
        };
        let is_live = match object.tag("state").unwrap_or("active") {
            "active" | "observed" => true,
            "compacted" => false,
            "rewound" => {
                reading.note(Rule::Abandoned, place, "rewound");
                continue;
            }
            other => {
                reading.note(Rule::UnknownType, place, format!("state {other}; read as active"));
                true
            }
        };
        for message in read_message(&object, place, &mut reading) {
            reading.recorded.count(&message);
            boundary.follow(&reading, &message, is_live);
            if is_live || request.history == History::Full {
                note_summary(&mut reading, &message);
                reading.push(message);
            }
        }
    }
    boundary.finish(&mut reading);
    Ok(reading)
}

/// One exported message as the messages it stands for: itself, and one for every result it carries.
fn read_message(object: &Object<'_>, place: Place, reading: &mut Reading) -> Vec<Message> {
    let at = object.get("timestamp").and_then(time::read);
    let role = match object.tag("role").unwrap_or_default() {
        "system" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        other => {
            reading.note(Rule::UnknownRole, place, other);
            Role::User
        }
    };
    let mut results: Vec<_> = object
        .array("tool_results")
        .unwrap_or_default()
        .iter()
        .filter_map(|raw| Object::of(raw))
        .map(|result| read_result(&result))
        .collect();
    let text = object.text("text").filter(|text| !text.is_empty());
    if role == Role::Tool && results.is_empty() {
        results.push(ToolResult {
            id: CallId::new(object.text("tool_call_id").unwrap_or_default()),
            name: object.text("tool_name"),
            content: text.clone().map(Content::Text).into_iter().collect(),
            outcome: ToolOutcome::Unstated,
        });
    }
    let mut messages = Vec::new();
    if role != Role::Tool {
        let mut parts = Vec::new();
        let thinking = object.text("reasoning").filter(|text| !text.is_empty());
        parts.extend(thinking.map(|text| {
            Part::Thinking(Box::new(Thinking {
                text,
                seal: Seal::Unsealed,
            }))
        }));
        parts.extend(text.map(Part::Text));
        for raw in object.array("tool_calls").unwrap_or_default() {
            parts.push(match Object::of(raw) {
                Some(call) => read_call(&call, place, reading),
                None => openai_chat::opaque("tool_call", raw),
            });
        }
        let mut message = authorship::message(role, parts);
        settle_author(&mut message, false);
        messages.push(message);
    }
    let results = results.into_iter().map(|result| Part::Result(Box::new(result)));
    messages.extend(results.map(|result| Message::new(Role::Tool, vec![result])));
    for message in &mut messages {
        message.at = at;
        message.place = place;
    }
    messages
}

fn read_call(call: &Object<'_>, place: Place, reading: &mut Reading) -> Part {
    let input = call.get("arguments_json").or_else(|| call.get("arguments"));
    let input = match input {
        Some(_) => openai_chat::read_input(input, place, &mut reading.findings),
        None => Input::Json("{}".into()),
    };
    Part::Call(Box::new(ToolCall {
        id: CallId::new(call.text("action_id").unwrap_or_default()),
        name: call.text("tool_name").unwrap_or_default(),
        input,
    }))
}

fn read_result(result: &Object<'_>) -> ToolResult {
    let output = result.text("output").or_else(|| result.text("output_preview"));
    let is_error = result.get("is_error").map(|raw| raw.get() == "true");
    ToolResult {
        id: CallId::new(result.text("action_id").unwrap_or_default()),
        name: result.text("tool_name"),
        content: output.map(Content::Text).into_iter().collect(),
        outcome: match is_error {
            Some(true) => ToolOutcome::Failure,
            Some(false) => ToolOutcome::Success,
            None => ToolOutcome::Unstated,
        },
    }
}
