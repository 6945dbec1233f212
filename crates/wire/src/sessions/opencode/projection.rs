//! opencode's newer table of messages, `session_message`: one row a message, parts inside.

use std::collections::BTreeMap;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::CompactionEvent;
use mainstay_engine::transcript::CompactionKind;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::ToolResult;
use mainstay_engine::transcript::Trigger;

use super::parts;
use super::parts::Steps;
use super::times::Times;
use crate::authorship;
use crate::document_builder::Reading;
use crate::json::Object;
use crate::json::Raw;
use crate::reading::History;
use crate::time;

/// One row as messages.
struct Piece {
    messages: Vec<Message>,
    /// Set on a compaction: who asked for it.
    trigger: Option<Trigger>,
    cleared: BTreeMap<Box<str>, Timestamp>,
}

/// A session being read.
pub struct Projection {
    reading: Reading,
    pieces: Vec<Piece>,
}

impl Projection {
    /// Starts with what is known about the session.
    pub fn new(reading: Reading) -> Self {
        Self {
            reading,
            pieces: Vec::new(),
        }
    }

    /// Adds a finding.
    pub fn note(&mut self, rule: Rule, place: Place, detail: impl Into<String>) {
        self.reading.note(rule, place, detail);
    }

    /// Adds a row.
    pub fn add(&mut self, kind: &str, json: &str, place: Place) {
        let object = match Object::parse(json) {
            Ok(object) => object,
            Err(cause) => {
                self.reading.note(Rule::BadRecord, place, cause.to_string());
                return;
            }
        };
        let mut piece = Piece {
            messages: Vec::new(),
            trigger: None,
            cleared: BTreeMap::new(),
        };
        match kind {
            "user" => piece.messages.extend(read_user(&object)),
            "synthetic" => piece.messages.extend(words(&object, Role::User, Author::Host)),
            "system" => piece.messages.extend(words(&object, Role::System, Author::System)),
            "shell" => piece.messages.push(read_shell(&object)),
            "assistant" => self.read_answer(&object, place, &mut piece),
            "compaction" => {
                piece.messages.push(read_compaction(&object));
                piece.trigger = Some(match object.tag("reason") {
                    Some("auto") => Trigger::Automatic,
                    Some("manual") => Trigger::Manual,
                    Some(_) | None => Trigger::Unstated,
                });
            }
            "agent-switched" | "model-switched" => return,
            other => {
                self.reading.note(Rule::UnknownType, place, other);
                return;
            }
        }
        let times = object.object("time").unwrap_or_default();
        let at = times.get("created").and_then(time::read);
        for message in &mut piece.messages {
            message.place = place;
            message.at = at;
        }
        self.pieces.push(piece);
    }

    fn read_answer(&mut self, object: &Object<'_>, place: Place, piece: &mut Piece) {
        let mut steps = Steps::new(object.object("model").and_then(|model| super::model_of(&model)));
        for raw in object.array("content").unwrap_or_default() {
            let item = Object::of(raw).unwrap_or_default();
            match item.tag("type").unwrap_or_default() {
                "text" => {
                    let text = item.text("text").filter(|text| !text.is_empty());
                    steps.parts.extend(text.map(Part::Text));
                }
                "reasoning" => steps.parts.push(parts::read_reasoning(&item, "providerMetadata")),
                "tool" => {
                    let id = item.text("id").unwrap_or_default();
                    let state = item.object("state").unwrap_or_default();
                    steps.results.extend(read_result(&state, &id));
                    let times = item.object("time").unwrap_or_default();
                    if let Some(at) = times.get("pruned").and_then(time::read) {
                        piece.cleared.insert(id.clone(), at);
                    }
                    steps
                        .parts
                        .push(parts::read_call(&state, id, item.text("name").unwrap_or_default()));
                }
                other => self.reading.note(Rule::UnknownType, place, format!("content {other}")),
            }
        }
        piece.messages = steps.finish(object.object("tokens").and_then(|tokens| parts::read_usage(&tokens)));
    }

    /// The reading of one view.
    pub fn finish(self, history: History) -> Reading {
        let Self { mut reading, pieces } = self;
        let messages = pieces.iter().flat_map(|piece| &piece.messages);
        messages.for_each(|message| reading.recorded.count(message));
        let first = match history {
            History::Live => pieces.iter().rposition(|piece| piece.trigger.is_some()).unwrap_or(0),
            History::Full => 0,
        };
        let mut times = Times::default();
        let mut events = Vec::new();
        for piece in pieces.into_iter().skip(first) {
            let index = reading.len();
            events.extend(piece.trigger.map(|trigger| CompactionEvent {
                before: index,
                kind: CompactionKind::Summary,
                trigger,
                tokens_before: None,
                tokens_after: None,
                summary: Some(index),
                at: piece.messages.first().and_then(|message| message.at),
            }));
            for mut message in piece.messages {
                if history == History::Live {
                    parts::clear(&mut message, &piece.cleared);
                }
                times.push(message.at);
                reading.push(message);
            }
            times.cleared.extend(piece.cleared.into_values());
        }
        events.extend(times.clearings(0));
        events.sort_by_key(|event| event.before);
        events.into_iter().for_each(|event| reading.event(event));
        reading
    }
}

fn read_user(object: &Object<'_>) -> Option<Message> {
    let mut parts: Vec<_> = object
        .text("text")
        .filter(|text| !text.is_empty())
        .map(Part::Text)
        .into_iter()
        .collect();
    let files = object.array("files").unwrap_or_default();
    let files = files.iter().filter_map(|raw| Object::of(raw));
    parts.extend(
        files
            .filter_map(|file| parts::read_file(&file))
            .map(|media| Part::Media(Box::new(media))),
    );
    (!parts.is_empty()).then(|| authorship::message(Role::User, parts))
}

fn words(object: &Object<'_>, role: Role, author: Author) -> Option<Message> {
    let text = object.text("text").filter(|text| !text.is_empty())?;
    let mut message = Message::new(role, vec![Part::Text(text)]);
    message.author = author;
    Some(message)
}

/// A command that the user ran in the session: the program reports it and what it printed.
fn read_shell(object: &Object<'_>) -> Message {
    let command = object.text("command").unwrap_or_default();
    let output = object.text("output").unwrap_or_default();
    let mut message = Message::new(Role::User, vec![Part::Text(format!("$ {command}\n{output}").into())]);
    message.author = Author::Host;
    message
}

/// The summary, and the newest exchange, which a compaction keeps as text.
fn read_compaction(object: &Object<'_>) -> Message {
    let texts = ["summary", "recent"].iter().filter_map(|key| object.text(key));
    let parts = texts.filter(|text| !text.is_empty()).map(Part::Text).collect();
    let mut message = Message::new(Role::User, parts);
    message.author = Author::Summary;
    message
}

fn read_result(state: &Object<'_>, id: &str) -> Option<ToolResult> {
    let outcome = match state.tag("status").unwrap_or_default() {
        "completed" => ToolOutcome::Success,
        "error" => ToolOutcome::Failure,
        _ => return None,
    };
    let items = state.array("content").unwrap_or_default();
    let mut content: Vec<_> = items.into_iter().map(read_output).collect();
    let error = state.object("error").and_then(|error| error.text("message"));
    content.extend(error.map(Content::Text));
    Some(ToolResult {
        id: CallId::new(id),
        name: None,
        content,
        outcome,
    })
}

fn read_output(raw: Raw<'_>) -> Content {
    let item = Object::of(raw).unwrap_or_default();
    let read = match item.tag("type").unwrap_or_default() {
        "text" => item.text("text").map(Content::Text),
        "file" => parts::read_file(&item).map(Content::Media),
        _ => None,
    };
    read.unwrap_or_else(|| Content::Text(raw.get().into()))
}
