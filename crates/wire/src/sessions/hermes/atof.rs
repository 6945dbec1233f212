//! ATOF, the event stream of Hermes' telemetry: scopes of model requests and tool runs that start and end.
//!
//! It is not a transcript, but it holds one: a request either repeats the whole conversation or only what
//! the user said, its end brings the answer, and tool scopes bring calls and results.

use std::collections::BTreeSet;
use std::sync::Arc;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Input;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::ToolCall;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::ToolResult;

use super::note_summary;
use super::settle_author;
use crate::authorship;
use crate::document_builder::Reading;
use crate::error::ReadError;
use crate::json;
use crate::json::Object;
use crate::json::Raw;
use crate::openai_chat;
use crate::reading::Entry;
use crate::reading::Request;
use crate::reading::WireForm;
use crate::source::Source;
use crate::time;

/// The sessions whose events stand in a stream, in order of appearance.
pub fn list(source: &Source) -> Result<Vec<Entry>, ReadError> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut lines = source.lines()?;
    while lines.advance()? {
        for raw in lines.records() {
            let object = Object::of(raw).unwrap_or_default();
            let Some(id) = session_of(&object) else { continue };
            if seen.insert(id.clone()) {
                entries.push(Entry {
                    id: id.into(),
                    title: object.text("name").map(String::from),
                    updated: object.get("timestamp").and_then(time::read),
                    messages: None,
                });
            }
        }
    }
    Ok(entries)
}

fn session_of(object: &Object<'_>) -> Option<Box<str>> {
    object.object("metadata")?.text("session_id")
}

/// Reads the session that is asked for, or the first.
pub fn read(source: &Source, request: &Request) -> Result<Reading, ReadError> {
    let entries = list(source)?;
    let wanted = request
        .session
        .clone()
        .or(entries.first().map(|entry| entry.id.clone()));
    if request.session.is_some() && !entries.iter().any(|entry| Some(&entry.id) == wanted.as_ref()) {
        return Err(request.not_found(source, || Ok(entries)));
    }
    let mut reading = Reading::new(WireForm::Chat);
    reading.about.conversations = entries.len().max(1) as u64;
    reading.about.id = wanted.clone();
    let mut stream = Stream::default();
    let mut lines = source.lines()?;
    while lines.advance()? {
        let place = lines.place();
        for raw in lines.records() {
            let Some(object) = Object::of(raw).filter(|object| object.has("atof_version")) else {
                reading.note(Rule::NotARecord, place, "no atof_version");
                continue;
            };
            let session = session_of(&object);
            if session.is_none() || session.as_deref() == wanted.as_deref() {
                stream.read(&object, place, &mut reading);
            }
        }
    }
    reading.findings.append(&mut lines.findings);
    if stream.messages.is_empty() {
        return Err(ReadError::refused(
            source.name(),
            "the event stream carries no messages: no model request or answer in it has content",
        ));
    }
    for mut message in stream.messages {
        settle_author(&mut message, false);
        note_summary(&mut reading, &message);
        reading.push(message);
    }
    reading.count_all();
    Ok(reading)
}

/// The conversation as the events so far tell it.
#[derive(Default)]
struct Stream {
    messages: Vec<Message>,
}

impl Stream {
    fn read(&mut self, record: &Object<'_>, place: Place, reading: &mut Reading) {
        let kind = record.tag("kind").unwrap_or_default();
        let category = record.tag("category").unwrap_or_default();
        let boundary = record.tag("scope_category").unwrap_or_default();
        let data = record.object("data").unwrap_or_default();
        let first = self.messages.len();
        match (kind, category, boundary) {
            ("scope", "llm", "start") => self.request(&data, place, reading),
            ("scope", "llm", "end") => self.answer(&data, place, reading),
            ("scope", "tool", "start") => self.call(record, place),
            ("scope", "tool", "end") => self.result(record, place),
            // Marks and the scopes around a run carry no part of the conversation.
            ("mark", _, _) | ("scope", "agent", _) => {}
            _ => reading.note(Rule::UnknownType, place, format!("{kind} {category} {boundary}")),
        }
        let model = record.object("metadata").and_then(|metadata| metadata.text("model"));
        let model: Option<Arc<str>> = model.map(Arc::from);
        let at = record.get("timestamp").and_then(time::read);
        for message in self.messages.iter_mut().skip(first) {
            message.at = message.at.or(at);
            if message.role == Role::Assistant {
                message.model = message.model.take().or_else(|| model.clone());
            }
        }
    }

    /// A request: the whole conversation anew, or the words that were added to it.
    fn request(&mut self, data: &Object<'_>, place: Place, reading: &mut Reading) {
        let Some(content) = data.get("content") else { return };
        let body = Object::of(content).unwrap_or_default();
        let whole = body.array("messages").or_else(|| body.array("input"));
        if let Some(whole) = whole.or_else(|| json::array(content)) {
            self.messages = whole
                .iter()
                .map(|raw| openai_chat::read_message(raw, place, &mut reading.findings))
                .collect();
        } else if let Some(text) = json::text(content).filter(|text| !text.is_empty()) {
            self.push(authorship::message(Role::User, vec![Part::Text(text)]), place);
        }
    }

    /// An answer: a text, or a chat message with calls. A failed request has none.
    fn answer(&mut self, data: &Object<'_>, place: Place, reading: &mut Reading) {
        let Some(answer) = data.get("assistant_message") else {
            return;
        };
        match json::text(answer) {
            Some(text) => self.push(Message::new(Role::Assistant, vec![Part::Text(text)]), place),
            None => {
                let mut message = openai_chat::read_message(answer, place, &mut reading.findings);
                message.role = Role::Assistant;
                message.author = Author::Assistant;
                self.messages.push(message);
            }
        }
    }

    /// A tool that starts: a call by the newest answer, unless that lists it already.
    fn call(&mut self, record: &Object<'_>, place: Place) {
        let id = call_id(record);
        let newest = self
            .messages
            .iter()
            .rev()
            .find(|message| message.role == Role::Assistant);
        let known = newest.is_some_and(|message| message.calls().any(|call| call.id == id));
        if known {
            return;
        }
        let call = Part::Call(Box::new(ToolCall {
            id,
            name: record.text("name").unwrap_or_default(),
            input: Input::Json(record.get("data").map_or("{}", |raw| raw.get()).into()),
        }));
        match self.messages.last_mut() {
            Some(message) if message.role == Role::Assistant => message.parts.push(call),
            Some(_) | None => self.push(Message::new(Role::Assistant, vec![call]), place),
        }
    }

    fn result(&mut self, record: &Object<'_>, place: Place) {
        let status = record.object("metadata").and_then(|metadata| metadata.text("status"));
        let result = ToolResult {
            id: call_id(record),
            name: record.text("name"),
            content: record.get("data").map(output_of).into_iter().collect(),
            outcome: match status.as_deref() {
                Some("completed" | "success" | "ok") => ToolOutcome::Success,
                Some("failed" | "error") => ToolOutcome::Failure,
                Some(_) | None => ToolOutcome::Unstated,
            },
        };
        self.push(Message::new(Role::Tool, vec![Part::Result(Box::new(result))]), place);
    }

    fn push(&mut self, mut message: Message, place: Place) {
        message.place = place;
        self.messages.push(message);
    }
}

fn call_id(record: &Object<'_>) -> CallId {
    let id = record
        .object("metadata")
        .and_then(|metadata| metadata.text("tool_call_id"));
    CallId::new(id.or_else(|| record.text("uuid")).unwrap_or_default())
}

/// What a tool returned: its only text, or its data as they stand.
fn output_of(raw: Raw<'_>) -> Content {
    let only = Object::of(raw).and_then(|object| {
        let mut members = object.members();
        let (_, value) = members.next()?;
        members.next().is_none().then(|| json::text(value))?
    });
    Content::Text(only.or_else(|| json::text(raw)).unwrap_or_else(|| raw.get().into()))
}
