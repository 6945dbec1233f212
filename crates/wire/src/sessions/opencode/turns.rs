//! The turns of an opencode session: which of them are sent, in what order, and where compactions happened.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::collections::HashSet;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::CompactionEvent;
use mainstay_engine::transcript::CompactionKind;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::Trigger;

use super::parts;
use super::times::Times;
use crate::document_builder::Reading;
use crate::json::Object;
use crate::reading::History;
use crate::time;

/// A stored message with its parts, as JSON.
pub struct Turn {
    place: Place,
    id: Box<str>,
    json: Box<str>,
    parts: Vec<StoredPart>,
}

/// A part as it is stored.
pub struct StoredPart {
    /// Its id.
    pub id: Box<str>,
    /// Its JSON.
    pub json: Box<str>,
}

impl Turn {
    /// A turn; its id is the one given, or the one in its JSON.
    pub fn new(place: Place, id: Option<Box<str>>, json: Box<str>, parts: Vec<StoredPart>) -> Self {
        let own = || Object::parse(&json).ok().and_then(|object| object.text("id"));
        let id = id.or_else(own).unwrap_or_default();
        Self { place, id, json, parts }
    }
}

/// What a turn is read as.
struct Piece {
    id: Box<str>,
    messages: Vec<Message>,
    at: Option<Timestamp>,
    /// The tail that a compaction which this turn asks for keeps.
    marker: Option<Marker>,
    /// Set on a summary: the turn it answers, and whether it was finished.
    summary: Option<(Box<str>, bool)>,
    /// A failed answer is kept in the history but never sent.
    is_sent: bool,
    /// Which outputs in it were cleared, and when.
    cleared: BTreeMap<Box<str>, Timestamp>,
}

struct Marker {
    tail: Option<Box<str>>,
    trigger: Trigger,
}

/// A session being read.
pub struct Conversation {
    reading: Reading,
    pieces: Vec<Piece>,
    seen: HashSet<Box<str>>,
    /// What the last user turn adds to the system prompt.
    system: Option<Box<str>>,
    reverted: Reverted,
}

/// What the user took back: everything from a message on, or from a part of it.
#[derive(Default)]
struct Reverted {
    message: Option<Box<str>>,
    part: Option<Box<str>>,
    is_reached: bool,
}

impl Conversation {
    /// Starts with what is known about the session and what the user took back.
    pub fn new(reading: Reading, revert: Option<&Object<'_>>) -> Self {
        Self {
            reading,
            pieces: Vec::new(),
            seen: HashSet::new(),
            system: None,
            reverted: Reverted {
                message: revert.and_then(|revert| revert.text("messageID")),
                part: revert.and_then(|revert| revert.text("partID")),
                is_reached: false,
            },
        }
    }

    /// Adds a finding.
    pub fn note(&mut self, rule: Rule, place: Place, detail: impl Into<String>) {
        self.reading.note(rule, place, detail);
    }

    /// Adds a turn.
    pub fn add(&mut self, mut turn: Turn) {
        if !turn.id.is_empty() && !self.seen.insert(turn.id.clone()) {
            self.reading.note(Rule::DuplicateRecord, turn.place, turn.id.as_ref());
            return;
        }
        if !self.keeps(&mut turn) {
            self.reading.note(Rule::Abandoned, turn.place, "reverted");
            return;
        }
        let turn_object = match Object::parse(&turn.json) {
            Ok(object) => object,
            Err(cause) => {
                self.reading.note(Rule::BadRecord, turn.place, cause.to_string());
                return;
            }
        };
        let mut items = Vec::new();
        for part in &turn.parts {
            match Object::parse(&part.json) {
                Ok(object) => items.push(object),
                Err(cause) => self
                    .reading
                    .note(Rule::BadRecord, turn.place, format!("part {}: {cause}", part.id)),
            }
        }
        self.read(&turn, &turn_object, &items);
    }

    /// Whether a turn, or at least its first parts, were not taken back.
    fn keeps(&mut self, turn: &mut Turn) -> bool {
        if self.reverted.is_reached {
            return false;
        }
        if self.reverted.message.as_ref() != Some(&turn.id) {
            return true;
        }
        self.reverted.is_reached = true;
        let Some(part) = &self.reverted.part else {
            return false;
        };
        if let Some(from) = turn.parts.iter().position(|stored| stored.id == *part) {
            let dropped = turn.parts.split_off(from).len();
            self.reading
                .note(Rule::Abandoned, turn.place, format!("{dropped} parts reverted"));
        }
        !turn.parts.is_empty()
    }

    fn read(&mut self, turn: &Turn, turn_object: &Object<'_>, items: &[Object<'_>]) {
        let at = turn_object
            .object("time")
            .and_then(|times| times.get("created").and_then(time::read));
        let mut piece = Piece {
            id: turn.id.clone(),
            messages: Vec::new(),
            at,
            marker: None,
            summary: None,
            is_sent: true,
            cleared: parts::cleared(items),
        };
        match turn_object.tag("role").unwrap_or_default() {
            "assistant" => self.add_answer(turn_object, items, turn.place, &mut piece),
            role => {
                if role != "user" {
                    self.reading.note(Rule::UnknownRole, turn.place, role);
                }
                self.add_request(turn_object, items, turn.place, &mut piece);
                if role != "user" {
                    let own = piece
                        .messages
                        .iter_mut()
                        .filter(|message| message.author == Author::User);
                    own.for_each(|message| message.author = Author::Host);
                }
            }
        }
        for message in &mut piece.messages {
            message.place = turn.place;
            message.at = message.at.or(at);
        }
        self.pieces.push(piece);
    }

    fn add_request(&mut self, turn: &Object<'_>, items: &[Object<'_>], place: Place, piece: &mut Piece) {
        self.system = turn
            .text("system")
            .filter(|system| !system.is_empty())
            .or(self.system.take());
        let marker = items.iter().find(|item| item.is("type", "compaction"));
        piece.marker = marker.map(|marker| Marker {
            tail: marker.text("tail_start_id"),
            trigger: if marker.flag("auto") {
                Trigger::Automatic
            } else {
                Trigger::Manual
            },
        });
        piece
            .messages
            .extend(parts::read_request(items, place, &mut self.reading));
    }

    fn add_answer(&mut self, turn: &Object<'_>, items: &[Object<'_>], place: Place, piece: &mut Piece) {
        piece.messages = parts::read_answer(turn, items, place, &mut self.reading);
        let error = turn.object("error");
        if turn.flag("summary") {
            for message in &mut piece.messages {
                message.author = Author::Summary;
            }
            if error.is_none() {
                let is_finished = turn.text("finish").is_some();
                piece.summary = Some((turn.text("parentID").unwrap_or_default(), is_finished));
            }
        }
        // An answer that the user interrupted is sent as far as it came; any other failure is not.
        let is_interrupted = |error: &Object<'_>| error.is("name", "MessageAbortedError");
        piece.is_sent = error.is_none_or(|error| is_interrupted(&error));
    }

    /// The reading of one view.
    pub fn finish(mut self, history: History) -> Reading {
        if let Some(system) = self.system.take() {
            let message = Message::new(Role::System, vec![Part::Text(system)]);
            self.reading.recorded.count(&message);
            self.reading.push(message);
        }
        for message in self.pieces.iter().flat_map(|piece| &piece.messages) {
            self.reading.recorded.count(message);
        }
        let compactions = self.compactions();
        let order: Vec<usize> = match (history, compactions.last()) {
            (History::Live, Some(last)) => self.after(last),
            _ => (0..self.pieces.len()).collect(),
        };
        let is_live = history == History::Live;
        // Where each turn's first message stands in this view.
        let mut starts: BTreeMap<usize, usize> = BTreeMap::new();
        let mut times = Times::default();
        let offset = self.reading.len();
        for index in order {
            let piece = &mut self.pieces[index];
            if is_live && !piece.is_sent {
                continue;
            }
            if !piece.messages.is_empty() {
                starts.insert(index, self.reading.len());
            }
            for mut message in std::mem::take(&mut piece.messages) {
                if is_live {
                    parts::clear(&mut message, &piece.cleared);
                }
                times.push(message.at);
                self.reading.push(message);
            }
            times.cleared.extend(self.pieces[index].cleared.values());
        }
        self.add_events(&compactions, &starts, times.clearings(offset));
        self.reading
    }

    /// The completed compactions, each as the turn that asked for it and the turn that wrote the summary.
    /// Before opencode had turns that ask, the summary stood alone.
    fn compactions(&self) -> Vec<(usize, usize)> {
        let mut markers: HashMap<&str, usize> = HashMap::new();
        let mut compactions = Vec::new();
        for (index, piece) in self.pieces.iter().enumerate() {
            if piece.marker.is_some() {
                markers.insert(&piece.id, index);
            }
            let Some((parent, is_finished)) = &piece.summary else {
                continue;
            };
            match markers.get(parent.as_ref()) {
                Some(marker) if *is_finished => compactions.push((*marker, index)),
                Some(_) => {}
                None => compactions.push((index, index)),
            }
        }
        compactions
    }

    /// What is sent after a compaction: the request for it, the summary, the tail it kept, and what follows.
    fn after(&self, (marker, summary): &(usize, usize)) -> Vec<usize> {
        let tail = self.pieces[*marker]
            .marker
            .as_ref()
            .and_then(|marker| marker.tail.as_deref());
        let tail = tail.and_then(|tail| self.pieces.iter().position(|piece| piece.id.as_ref() == tail));
        let tail = tail.filter(|tail| tail < marker).unwrap_or(*marker);
        let compaction = *marker..*summary + 1;
        let later = *summary + 1..self.pieces.len();
        compaction.chain(tail..*marker).chain(later).collect()
    }

    /// Adds the compactions of this view; `starts` has where each turn's first message stands.
    fn add_events(
        &mut self,
        compactions: &[(usize, usize)],
        starts: &BTreeMap<usize, usize>,
        clearings: Vec<CompactionEvent>,
    ) {
        let mut events = clearings;
        for (marker, summary) in compactions {
            let Some(before) = starts.get(marker) else { continue };
            let asked = self.pieces[*marker].marker.as_ref();
            events.push(CompactionEvent {
                before: *before,
                kind: CompactionKind::Summary,
                trigger: asked.map_or(Trigger::Unstated, |marker| marker.trigger),
                tokens_before: None,
                tokens_after: None,
                summary: starts.get(summary).copied(),
                at: self.pieces[*summary].at,
            });
        }
        events.sort_by_key(|event| event.before);
        for event in events {
            self.reading.event(event);
        }
    }
}
