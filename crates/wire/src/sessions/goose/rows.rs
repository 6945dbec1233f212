//! goose's messages in order, and what became of each.

use std::collections::HashMap;
use std::sync::Arc;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::CompactionEvent;
use mainstay_engine::transcript::CompactionKind;
use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::Trigger;
use mainstay_engine::transcript::Usage;

use super::content;
use crate::authorship;
use crate::document_builder::Reading;
use crate::json::Object;
use crate::reading::About;
use crate::reading::History;

/// One stored message.
pub struct Row {
    place: Place,
    role: Box<str>,
    id: Option<Box<str>>,
    at: Option<Timestamp>,
    content: Box<str>,
    model: Option<Arc<str>>,
    is_for_user: bool,
    is_for_model: bool,
}

impl Row {
    /// A message with its visibility; without a word about it, both sides see it.
    pub fn new(
        place: Place,
        role: Box<str>,
        id: Option<Box<str>>,
        at: Option<Timestamp>,
        content: Box<str>,
        metadata: &Object<'_>,
    ) -> Self {
        let is_shown = |key: &str| metadata.get(key).is_none_or(|raw| raw.get() != "false");
        let inference = metadata.object("inference").unwrap_or_default();
        Self {
            place,
            role,
            id: id.filter(|id| !id.is_empty()),
            at,
            content,
            model: inference.text("model").map(Arc::from),
            is_for_user: is_shown("userVisible"),
            is_for_model: is_shown("agentVisible"),
        }
    }
}

/// One message with what decides in which views it stands.
struct Piece {
    message: Message,
    id: Option<Box<str>>,
    is_for_user: bool,
    is_for_model: bool,
    trigger: Trigger,
}

/// The messages of a session.
pub struct Rows {
    reading: Reading,
    pieces: Vec<Piece>,
    /// What the provider reported for the last request.
    pub usage: Option<Usage>,
}

impl Rows {
    /// Starts with what is known about the session.
    pub fn new(reading: Reading) -> Self {
        Self {
            reading,
            pieces: Vec::new(),
            usage: None,
        }
    }

    /// Whether there is no message yet.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Adds a finding.
    pub fn note(&mut self, rule: Rule, place: Place, detail: &str) {
        self.reading.note(rule, place, detail);
    }

    /// Adds what the header and the lines of a file showed.
    pub fn describe(&mut self, header: About, mut findings: Vec<Finding>) {
        let about = &mut self.reading.about;
        about.title = header.title;
        about.directory = header.directory;
        about.started = header.started;
        about.model = header.model;
        about.window = header.window;
        self.reading.findings.append(&mut findings);
    }

    /// Adds a row: as one message, or one for every tool result in it.
    pub fn add(&mut self, row: Row) {
        let parts = content::read(&row.content, row.place, &mut self.reading);
        let (role, is_known) = match row.role.as_ref() {
            "user" => (Role::User, true),
            "assistant" => (Role::Assistant, true),
            other => {
                self.reading.note(Rule::UnknownRole, row.place, other);
                (Role::User, false)
            }
        };
        let (results, rest): (Vec<_>, Vec<_>) = parts.into_iter().partition(|part| matches!(part, Part::Result(_)));
        for result in results {
            self.push(Message::new(Role::Tool, vec![result]), &row);
        }
        if rest.is_empty() {
            return;
        }
        let mut message = authorship::message(role, rest);
        if !is_known && message.author == Author::User {
            message.author = Author::Host;
        }
        // The pieces of one streamed answer share its id.
        if role == Role::Assistant
            && row.id.is_some()
            && let Some(last) = self.pieces.last_mut()
            && (last.message.role, &last.id, last.is_for_model) == (role, &row.id, row.is_for_model)
        {
            last.message.parts.append(&mut message.parts);
            return;
        }
        self.push(message, &row);
    }

    fn push(&mut self, mut message: Message, row: &Row) {
        message.place = row.place;
        message.at = row.at;
        if message.role == Role::Assistant {
            message.model = row.model.clone();
        }
        self.pieces.push(Piece {
            message,
            id: row.id.clone(),
            is_for_user: row.is_for_user,
            is_for_model: row.is_for_model,
            trigger: Trigger::Unstated,
        });
    }

    /// The reading of one view.
    pub fn finish(mut self, history: History) -> Reading {
        self.drop_superseded();
        self.settle_authors();
        let answers = self.pieces.iter_mut().rev();
        let last = answers
            .map(|piece| &mut piece.message)
            .find(|message| message.role == Role::Assistant);
        if let (Some(message), Some(usage)) = (last, self.usage) {
            message.usage = Some(Box::new(usage));
        }
        let mut reading = self.reading;
        for piece in self.pieces {
            reading.recorded.count(&piece.message);
            if history == History::Live && !piece.is_for_model {
                continue;
            }
            if piece.message.author == Author::Summary {
                let index = reading.len();
                reading.event(CompactionEvent {
                    before: index,
                    kind: CompactionKind::Summary,
                    trigger: piece.trigger,
                    tokens_before: None,
                    tokens_after: None,
                    summary: Some(index),
                    at: piece.message.at,
                });
            }
            reading.push(piece.message);
        }
        reading
    }

    /// A compaction in the middle of a turn says the user's last words again after the summary and hides
    /// the original from everybody; it is read once.
    fn drop_superseded(&mut self) {
        let mut shown: HashMap<String, usize> = HashMap::new();
        for (index, piece) in self.pieces.iter().enumerate() {
            if piece.is_for_user
                && let Some(words) = words_of(&piece.message)
            {
                shown.insert(words, index);
            }
        }
        let mut index = 0;
        let reading = &mut self.reading;
        self.pieces.retain(|piece| {
            let is_hidden = !piece.is_for_user && !piece.is_for_model;
            let words = is_hidden.then(|| words_of(&piece.message)).flatten();
            let is_said_again = words.is_some_and(|words| shown.get(&words).is_some_and(|later| *later > index));
            if is_said_again {
                reading.note(
                    Rule::DuplicateRecord,
                    piece.message.place,
                    "said again after a compaction",
                );
            }
            index += 1;
            !is_said_again
        });
    }

    /// What the user never saw is not the user's: a summary where a compaction hid something, otherwise
    /// the program's.
    fn settle_authors(&mut self) {
        let mut has_hidden = false;
        for index in 0..self.pieces.len() {
            let continuation = self.pieces.get(index + 1).filter(|next| is_own_answer(next));
            let continuation = continuation.map(|next| text_of(&next.message));
            let piece = &mut self.pieces[index];
            has_hidden |= !piece.is_for_model;
            if piece.is_for_user || piece.message.author != Author::User && !is_own_answer(piece) {
                continue;
            }
            let is_summary = piece.message.role == Role::User && (continuation.is_some() || has_hidden);
            piece.message.author = if is_summary { Author::Summary } else { Author::Host };
            piece.trigger = match continuation {
                Some(words) if words.contains("user's request") => Trigger::Manual,
                Some(_) => Trigger::Automatic,
                None => Trigger::Unstated,
            };
        }
    }
}

/// Whether the program put words into the model's mouth: an answer that the user never saw.
fn is_own_answer(piece: &Piece) -> bool {
    piece.message.role == Role::Assistant && !piece.is_for_user && piece.message.calls().next().is_none()
}

/// The text of a user message that is nothing but text.
fn words_of(message: &Message) -> Option<String> {
    let is_words = message.role == Role::User && message.parts.iter().all(|part| matches!(part, Part::Text(_)));
    is_words.then(|| text_of(message))
}

fn text_of(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_ref()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
