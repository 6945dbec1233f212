//! Hermes: its session store (`state.db`), the snapshots and line files it keeps beside it, and the forms
//! in which its sessions are exported.
//!
//! The store archives what a compaction summarised (`active` 0, `compacted` 1) and hides what the user
//! took back (both 0). Compactions copy the messages they protect into new rows, so one message can stand
//! in several rows; the full history reads it once, where it was first said.

mod archival;
mod atif;
mod atof;
mod chat;
mod state_db;

#[cfg(test)]
mod export_tests;
#[cfg(test)]
mod state_db_tests;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::CompactionEvent;
use mainstay_engine::transcript::CompactionKind;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::Trigger;
use mainstay_engine::transcript::split_by_author;

use crate::document::Document;
use crate::document_builder::Reading;
use crate::error::ReadError;
use crate::format_definition::Format;
use crate::format_definition::Likeness;
use crate::json::Object;
use crate::reading::Entry;
use crate::reading::Request;
use crate::session_directories::Haunt;
use crate::session_directories::Homes;
use crate::sniff::Sample;
use crate::sniff::Shape;
use crate::sniff::Sniff;
use crate::source::Source;

/// The row in the list of formats.
pub static FORMAT: Format = Format {
    name: "hermes",
    title: "Hermes",
    detect,
    read,
    list,
    haunts,
};

/// The forms in which a Hermes session can stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    StateDatabase,
    Archival,
    Trajectory,
    EventStream,
    /// One object with a list of chat messages: a snapshot or an evaluation fixture.
    Snapshot,
    /// Chat messages, one a line.
    Lines,
}

fn detect(sniff: &Sniff<'_>) -> Likeness {
    match recognise(sniff) {
        Some((_, likeness)) => likeness,
        None => Likeness::No,
    }
}

fn recognise(sniff: &Sniff<'_>) -> Option<(Form, Likeness)> {
    match &sniff.shape {
        Shape::Database(_) => {
            let is_own = sniff.has_columns("sessions", &["id", "source"])
                && sniff.has_columns(
                    "messages",
                    &["session_id", "role", "content", "tool_calls", "tool_call_id"],
                );
            is_own.then_some((Form::StateDatabase, Likeness::Certain))
        }
        Shape::Object(object) => recognise_object(object),
        Shape::Lines(records) => recognise_lines(records, sniff.name),
        Shape::Empty | Shape::Directory(_) | Shape::Array(_) | Shape::Text => None,
    }
}

fn recognise_object(object: &Object<'_>) -> Option<(Form, Likeness)> {
    if object.has("steps") && object.tag("schema_version").is_some_and(|tag| tag.starts_with("ATIF-")) {
        return Some((Form::Trajectory, Likeness::Certain));
    }
    if object.has("atof_version") {
        return Some((Form::EventStream, Likeness::Certain));
    }
    if !object.has("messages") {
        return None;
    }
    let producer = object.text("producer").unwrap_or_default();
    if producer.starts_with("hermes/") {
        return Some((Form::Archival, Likeness::Certain));
    }
    let has_all = |keys: &[&str]| keys.iter().all(|key| object.has(key));
    let is_snapshot = has_all(&["session_id", "session_start", "message_count"]);
    let is_fixture = has_all(&["name", "context_length", "scrubbing_passes"]);
    (is_snapshot || is_fixture).then_some((Form::Snapshot, Likeness::Certain))
}

fn recognise_lines(records: &[Object<'_>], name: &str) -> Option<(Form, Likeness)> {
    if records.iter().any(|record| record.has("atof_version")) {
        return Some((Form::EventStream, Likeness::Certain));
    }
    if records.iter().any(|record| record.is("role", "session_meta")) {
        return Some((Form::Lines, Likeness::Certain));
    }
    let is_message = |record: &Object<'_>| record.has("role") && record.has("content") && !record.has("type");
    let has_own_key = |record: &Object<'_>| record.has("_compressed_summary") || record.has("_db_persisted");
    let is_likely = records.iter().any(has_own_key) || is_own_name(name);
    (is_likely && records.iter().any(is_message)).then_some((Form::Lines, Likeness::Likely))
}

/// Whether a file is named like Hermes names its line files: `20260328_160817_77bd258b.jsonl`.
fn is_own_name(name: &str) -> bool {
    let Some(stem) = name.strip_suffix(".jsonl") else {
        return false;
    };
    let pieces: Vec<_> = stem.split('_').collect();
    let digits = |piece: &str, count| piece.len() == count && piece.bytes().all(|byte| byte.is_ascii_digit());
    matches!(pieces.as_slice(), [day, time, hash] if digits(day, 8)
        && digits(time, 6)
        && hash.len() >= 4
        && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn read(format: &'static Format, source: &Source, request: &Request) -> Result<Document, ReadError> {
    let reading = match form_of(source)? {
        Form::StateDatabase => state_db::read(source, request)?,
        Form::Archival => archival::read(source, request)?,
        Form::Trajectory => atif::read(source, request)?,
        Form::EventStream => atof::read(source, request)?,
        Form::Snapshot => chat::read_snapshot(source, request)?,
        Form::Lines => chat::read_lines(source, request)?,
    };
    Ok(reading.finish(format))
}

fn list(source: &Source) -> Result<Vec<Entry>, ReadError> {
    match form_of(source)? {
        Form::StateDatabase => state_db::list(source),
        Form::EventStream => atof::list(source),
        Form::Archival | Form::Trajectory | Form::Snapshot | Form::Lines => Ok(Vec::new()),
    }
}

/// The form of a source that was said to be Hermes': what it shows, or the nearest of its kind.
fn form_of(source: &Source) -> Result<Form, ReadError> {
    let sample = Sample::take(source)?;
    let sniff = sample.sniff();
    if let Some((form, _)) = recognise(&sniff) {
        return Ok(form);
    }
    match &sniff.shape {
        Shape::Database(_) => Ok(Form::StateDatabase),
        Shape::Object(object) if object.has("messages") => Ok(Form::Snapshot),
        Shape::Lines(records) if records.iter().any(|record| record.has("role")) => Ok(Form::Lines),
        _ => Err(ReadError::refused(
            source.name(),
            "it is no Hermes session: neither its database nor one of its JSON forms",
        )),
    }
}

fn haunts(homes: &Homes) -> Vec<Haunt> {
    let root = homes.variable_or("HERMES_HOME", ".hermes");
    let is_session = |below: &str| match below.rsplit_once('/') {
        None => below == "state.db",
        Some(("sessions", name)) => {
            name.ends_with(".jsonl") || (name.starts_with("session_") && name.ends_with(".json"))
        }
        Some((profile, name)) => name == "state.db" && profile.starts_with("profiles/"),
    };
    vec![Haunt {
        root,
        depth: 2,
        is_session,
    }]
}

/// Refuses a request for a session other than the one a file holds.
fn check_session(source: &Source, request: &Request, id: Option<&str>) -> Result<(), ReadError> {
    match (&request.session, id) {
        (Some(wanted), Some(id)) if wanted != id => Err(request.not_found(source, || {
            Ok(vec![Entry {
                id: id.to_owned(),
                ..Entry::default()
            }])
        })),
        _ => Ok(()),
    }
}

/// Settles who wrote a message: Hermes' summaries travel in the assistant role as well. Where one was put before the person's
/// words the message is theirs.
fn settle_author(message: &mut Message, is_marked: bool) {
    let is_summary = match message.role {
        Role::User => message.author == Author::Summary || is_marked && !holds_summary(message),
        Role::Assistant => is_marked || holds_summary(message),
        Role::System | Role::Developer | Role::Tool => false,
    };
    if is_summary {
        message.author = Author::Summary;
    }
}

/// Whether a summary in Hermes' own words opens the message.
fn holds_summary(message: &Message) -> bool {
    let opening = message.parts.iter().find_map(|part| match part {
        Part::Text(text) => split_by_author(text).first().map(|segment| segment.author),
        _ => None,
    });
    opening == Some(Author::Summary)
}

/// Records the compaction that wrote the summary which is pushed next.
fn note_summary(reading: &mut Reading, message: &Message) {
    if message.author == Author::Summary || message.role == Role::User && holds_summary(message) {
        let index = reading.len();
        reading.event(CompactionEvent {
            before: index,
            kind: CompactionKind::Summary,
            trigger: Trigger::Unstated,
            tokens_before: None,
            tokens_after: None,
            summary: Some(index),
            at: message.at,
        });
    }
}

/// Where archived messages end. When nothing live reads like a summary of them, the compaction happened
/// all the same.
#[derive(Default)]
struct Boundary {
    has_archived: bool,
    has_summary: bool,
    /// Where the first live message after archived ones stands, and when it was written.
    start: Option<(usize, Option<Timestamp>)>,
}

impl Boundary {
    /// Looks at a message that would stand next.
    fn follow(&mut self, reading: &Reading, message: &Message, is_live: bool) {
        if !is_live {
            self.has_archived = true;
            self.start = None;
        } else if self.has_archived && self.start.is_none() {
            self.start = Some((reading.len(), message.at));
        }
        self.has_summary |= is_live && (message.author == Author::Summary || holds_summary(message));
    }

    /// Records the compaction that left no summary.
    fn finish(self, reading: &mut Reading) {
        if !self.has_archived || self.has_summary {
            return;
        }
        let (before, at) = self.start.unwrap_or((reading.len(), None));
        reading.event(CompactionEvent {
            before,
            kind: CompactionKind::Summary,
            trigger: Trigger::Unstated,
            tokens_before: None,
            tokens_after: None,
            summary: None,
            at,
        });
    }
}
