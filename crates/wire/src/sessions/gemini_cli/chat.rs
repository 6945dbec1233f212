//! What the records of a log come to: which messages there are, which of them are still live, and where the
//! history was replaced.

use std::collections::HashMap;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::CompactionEvent;
use mainstay_engine::transcript::CompactionKind;
use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::Trigger;

use super::message::Answered;
use super::message::read_record;
use crate::document::Document;
use crate::document_builder::Reading;
use crate::format_definition::Format;
use crate::json;
use crate::json::Object;
use crate::json::Raw;
use crate::reading::About;
use crate::reading::History;
use crate::reading::WireForm;
use crate::time;

/// A message record.
struct Recorded {
    id: Box<str>,
    json: String,
    /// What a later replacement of the history made of it.
    replaced: Option<String>,
    place: Place,
    /// Taken back by a rewind.
    is_abandoned: bool,
    /// Came with a replacement of the history.
    is_replacement: bool,
}

/// A replacement of the history that left messages out.
struct Replacement {
    /// The first record that came with or after it.
    before: usize,
    /// The records that it added.
    added: std::ops::Range<usize>,
    at: Option<Timestamp>,
}

/// The conversation so far.
#[derive(Default)]
pub(super) struct Chat {
    about: About,
    records: Vec<Recorded>,
    /// The records that are live, in order.
    live: Vec<usize>,
    /// Where in `live` a message is, as far as it is.
    positions: HashMap<Box<str>, usize>,
    replacements: Vec<Replacement>,
    /// When the newest record was written.
    now: Option<Timestamp>,
}

impl Chat {
    /// Whether there is no message in it.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Reads one record of any kind.
    pub fn read(&mut self, raw: Raw<'_>, place: Place, findings: &mut Vec<Finding>) {
        let Some(record) = Object::of(raw) else {
            findings.push(Finding::new(Rule::NotARecord, place, "not an object"));
            return;
        };
        if let Some(id) = record.text("$rewindTo") {
            self.rewind(&id, place, findings);
        } else if let Some(set) = record.object("$set") {
            self.facts(&set);
            // An empty list means that there is nothing to replace the history with.
            if let Some(messages) = set.array("messages").filter(|messages| !messages.is_empty()) {
                self.replace(&messages, place, findings);
            }
        } else if record.has("sessionId") && !record.has("type") {
            self.facts(&record);
            for (index, raw) in (0..).zip(record.array("messages").unwrap_or_default()) {
                self.message(raw, Place::Item(index), findings);
            }
        } else {
            self.message(raw, place, findings);
        }
    }

    fn facts(&mut self, record: &Object<'_>) {
        let about = &mut self.about;
        let text = |key: &str| record.text(key).map(String::from);
        about.id = text("sessionId").or(about.id.take());
        about.title = text("summary").or(about.title.take());
        let started = record.get("startTime").and_then(time::read);
        about.started = about.started.or(started);
        let updated = record.get("lastUpdated").and_then(time::read);
        about.ended = updated.or(about.ended);
        self.now = updated.or(self.now);
        let directories = record.array("directories").unwrap_or_default();
        let first = directories.first().and_then(|raw| json::text(raw));
        about.directory = first.map(Into::into).or(about.directory.take());
    }

    /// A message record: a new message, or a newer version of one.
    fn message(&mut self, raw: Raw<'_>, place: Place, findings: &mut Vec<Finding>) {
        let record = Object::of(raw).unwrap_or_default();
        if !record.has("type") || !(record.has("content") || record.has("toolCalls")) {
            findings.push(Finding::new(Rule::NotARecord, place, "neither a message nor a change"));
            return;
        }
        self.now = record.get("timestamp").and_then(time::read).or(self.now);
        let id = record.text("id").unwrap_or_default();
        match self.live_record(&id) {
            Some(at) => {
                let known = &mut self.records[at];
                raw.get().clone_into(&mut known.json);
                known.replaced = None;
            }
            None => self.add(id, raw, place),
        }
    }

    fn live_record(&self, id: &str) -> Option<usize> {
        let position = *self.positions.get(id).filter(|_| !id.is_empty())?;
        let at = *self.live.get(position)?;
        (self.records[at].id.as_ref() == id).then_some(at)
    }

    fn add(&mut self, id: Box<str>, raw: Raw<'_>, place: Place) {
        self.positions.insert(id.clone(), self.live.len());
        self.live.push(self.records.len());
        self.records.push(Recorded {
            id,
            json: raw.get().to_owned(),
            replaced: None,
            place,
            is_abandoned: false,
            is_replacement: false,
        });
    }

    /// Takes back a message and all that follow it. Where that message is not there, its record was
    /// damaged: nothing is taken back, rather than everything.
    fn rewind(&mut self, id: &str, place: Place, findings: &mut Vec<Finding>) {
        if self.live_record(id).is_none() {
            findings.push(Finding::new(Rule::MissingParent, place, format!("a rewind to {id}")));
            return;
        }
        let position = self.positions.get(id).copied().unwrap_or(self.live.len());
        let taken = self.live.split_off(position);
        findings.push(Finding::new(
            Rule::Abandoned,
            place,
            format!("{} messages", taken.len()),
        ));
        for at in taken {
            self.records[at].is_abandoned = true;
        }
    }

    /// Replaces the live messages: by known ones, perhaps changed, and new ones such as a summary.
    fn replace(&mut self, messages: &[Raw<'_>], place: Place, findings: &mut Vec<Finding>) {
        let mut left = self.live.len();
        let first_new = self.records.len();
        let known: Vec<_> = messages
            .iter()
            .map(|raw| {
                let id = Object::of(raw).and_then(|record| record.text("id")).unwrap_or_default();
                (self.live_record(&id), id)
            })
            .collect();
        self.live.clear();
        self.positions.clear();
        for (raw, (at, id)) in messages.iter().zip(known) {
            match at {
                Some(at) if !self.positions.contains_key(&id) => {
                    left -= 1;
                    self.records[at].replaced = Some(raw.get().to_owned());
                    self.positions.insert(id, self.live.len());
                    self.live.push(at);
                }
                Some(_) => findings.push(Finding::new(Rule::DuplicateRecord, place, id)),
                None => self.message(raw, place, findings),
            }
        }
        for record in &mut self.records[first_new..] {
            record.is_replacement = true;
        }
        if left > 0 {
            self.replacements.push(Replacement {
                before: first_new,
                added: first_new..self.records.len(),
                at: self.now,
            });
        }
    }

    /// Makes the document of the part of the history that is wanted.
    pub fn finish(mut self, format: &'static Format, findings: Vec<Finding>, history: History) -> Document {
        let mut full = Reading::new(WireForm::Chat);
        full.findings = findings;
        full.about = std::mem::take(&mut self.about);
        full.about.conversations = 1;
        let mut answered = Answered::default();
        // For every record, the index of its first message.
        let mut starts = Vec::with_capacity(self.records.len() + 1);
        for record in &self.records {
            starts.push(full.len());
            if !record.is_abandoned {
                for message in read_record(&record.json, record.place, &mut answered, &mut full.findings) {
                    full.push(message);
                }
            }
        }
        starts.push(full.len());
        full.count_all();
        match history {
            History::Full => {
                self.events(&starts, &mut full);
                full.finish(format)
            }
            History::Live => self.live_view(full).finish(format),
        }
    }

    /// The recorded compactions: replacements, and summaries that stand on their own.
    fn events(&self, starts: &[usize], full: &mut Reading) {
        let is_summary = |index: &usize| full.messages()[*index].author == Author::Summary;
        let mut events = Vec::new();
        for replacement in &self.replacements {
            let mut added = starts[replacement.added.start]..starts[replacement.added.end];
            events.push(compaction(
                starts[replacement.before],
                added.find(is_summary),
                replacement.at,
            ));
        }
        let of_replacements: Vec<_> = events.iter().filter_map(|event| event.summary).collect();
        for index in (0..full.len()).filter(is_summary) {
            if of_replacements.binary_search(&index).is_err() {
                events.push(compaction(index, Some(index), full.messages()[index].at));
            }
        }
        events.sort_by_key(|event| event.before);
        for event in events {
            full.event(event);
        }
    }

    /// The live messages as they are now.
    fn live_view(&self, full: Reading) -> Reading {
        let mut reading = Reading::new(WireForm::Chat);
        reading.about = full.about;
        reading.recorded = full.recorded;
        // Damage inside of a message was found when everything was read.
        reading.findings = full.findings;
        let mut unheard = Vec::new();
        let mut answered = Answered::default();
        let mut messages = Vec::new();
        let mut start = 0;
        for at in &self.live {
            let record = &self.records[*at];
            let json = record.replaced.as_ref().unwrap_or(&record.json);
            let read = read_record(json, record.place, &mut answered, &mut unheard);
            // A summary that no replacement brought stands for everything before it.
            if !record.is_replacement && read.first().is_some_and(|message| message.author == Author::Summary) {
                start = messages.len();
            }
            messages.extend(read);
        }
        let summary = messages[start..]
            .iter()
            .position(|message| message.author == Author::Summary);
        if let Some(index) = summary {
            reading.event(compaction(index, Some(index), messages[start + index].at));
        }
        for message in messages.drain(start..) {
            reading.push(message);
        }
        reading
    }
}

fn compaction(before: usize, summary: Option<usize>, at: Option<Timestamp>) -> CompactionEvent {
    CompactionEvent {
        before,
        kind: match summary {
            Some(_) => CompactionKind::Summary,
            None => CompactionKind::Truncation,
        },
        trigger: Trigger::Unstated,
        tokens_before: None,
        tokens_after: None,
        summary,
        at,
    }
}
