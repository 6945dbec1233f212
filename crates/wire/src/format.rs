//! The formats this crate reads: one row each. A new format is one file and one line here.

use crate::anthropic;
use crate::discover::Haunt;
use crate::discover::Homes;
use crate::document::Document;
use crate::error::ReadError;
use crate::openai_chat;
use crate::openai_responses;
use crate::reading::Request;
use crate::sessions;
use crate::sniff::Sample;
use crate::sniff::Shape;
use crate::sniff::Sniff;
use crate::source::Source;
use crate::unread;

/// How sure a format is that a source is its own. The surest wins; among equals, the first in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    /// It cannot be.
    No,
    /// It could be, if nothing more specific claims it.
    Possible,
    /// Its typical marks are there.
    Likely,
    /// Nothing else looks like this.
    Certain,
}

impl Likeness {
    /// `Certain` if a test holds, else `No`.
    pub fn certain_if(holds: bool) -> Self {
        if holds { Likeness::Certain } else { Likeness::No }
    }

    /// `Likely` if a test holds, else `No`.
    pub fn likely_if(holds: bool) -> Self {
        if holds { Likeness::Likely } else { Likeness::No }
    }

    /// `Possible` if a test holds, else `No`.
    pub fn possible_if(holds: bool) -> Self {
        if holds { Likeness::Possible } else { Likeness::No }
    }
}

/// One conversation of a source that holds several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// The id by which [`Request::session`] names it.
    pub id: String,
    /// Its title, or how it begins.
    pub title: Option<String>,
    /// When it was last written to.
    pub updated: Option<mainstay_engine::transcript::Timestamp>,
    /// How many messages it holds, where that is cheap to know.
    pub messages: Option<u64>,
}

/// A format of sessions or request bodies.
pub struct Format {
    /// The name for `--from`.
    pub name: &'static str,
    /// What it is, for people.
    pub title: &'static str,
    /// Decides from a first look.
    pub detect: fn(&Sniff<'_>) -> Likeness,
    /// Reads one conversation.
    pub read: fn(&'static Format, &Source, &Request) -> Result<Document, ReadError>,
    /// Lists the conversations of a source that can hold several; empty for one that cannot.
    pub list: fn(&Source) -> Result<Vec<Entry>, ReadError>,
    /// Where sessions of this format live on a user's machine.
    pub haunts: fn(&Homes) -> Vec<Haunt>,
}

impl std::fmt::Debug for Format {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name)
    }
}

/// For formats whose sources hold one conversation.
pub fn one_conversation(_: &Source) -> Result<Vec<Entry>, ReadError> {
    Ok(Vec::new())
}

/// For formats that have no usual place on disk.
pub fn nowhere(_: &Homes) -> Vec<Haunt> {
    Vec::new()
}

/// Every format, the more specific ones first.
pub static FORMATS: &[&Format] = &[
    &sessions::claude_code::FORMAT,
    &sessions::trajectories::FORMAT,
    &sessions::recording::FORMAT,
    &sessions::openhands::FORMAT,
    &sessions::gemini_cli::FORMAT,
    &sessions::swe_agent::FORMAT,
    &sessions::tau_bench::FORMAT,
    &sessions::sharegpt::FORMAT,
    &sessions::cline::FORMAT,
    &sessions::codex::FORMAT,
    &sessions::pi::FORMAT,
    &sessions::goose::FORMAT,
    &sessions::hermes::FORMAT,
    &sessions::opencode::FORMAT,
    &openai_responses::FORMAT,
    &anthropic::FORMAT,
    &openai_chat::FORMAT,
];

/// The format of a name.
pub fn by_name(name: &str) -> Result<&'static Format, ReadError> {
    let found = FORMATS.iter().find(|format| format.name == name);
    found.copied().ok_or_else(|| ReadError::UnknownFormat {
        wanted: name.to_owned(),
        known: FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", "),
    })
}

/// The format of a source, from its content.
pub fn detect(source: &Source) -> Result<&'static Format, ReadError> {
    let sample = Sample::take(source)?;
    let sniff = sample.sniff();
    let mut best = (Likeness::No, None);
    for format in FORMATS {
        let likeness = (format.detect)(&sniff);
        if likeness > best.0 {
            best = (likeness, Some(*format));
        }
    }
    best.1
        .ok_or_else(|| ReadError::refused(source.name(), no_format(&sniff)))
}

/// Reads a conversation, in a given format or in the one its content shows.
pub fn read(source: &Source, from: Option<&'static Format>, request: &Request) -> Result<Document, ReadError> {
    let format = match from {
        Some(format) => format,
        None => detect(source)?,
    };
    (format.read)(format, source, request)
}

/// What follows in the message about a source that nothing claims: for those who let people name a format.
pub const ADVICE: &str = "; name one with --from if you know it";

/// Why nothing claims a source.
fn no_format(sniff: &Sniff<'_>) -> String {
    if let Some(name) = unread::name(sniff) {
        return format!("it is {name}, which this version does not read");
    }
    let seen = match &sniff.shape {
        Shape::Empty => return "it is empty".to_owned(),
        Shape::Directory(_) => "a directory that is no agent's session".to_owned(),
        Shape::Database(tables) => format!("a database with the tables {}", tables.join(", ")),
        Shape::Lines(records) => match records.first() {
            Some(record) => format!("lines of JSON with the keys {}", keys(record)),
            None => "lines, none of which is a JSON object".to_owned(),
        },
        Shape::Object(object) => format!("a JSON object with the keys {}", keys(object)),
        Shape::Array(elements) if elements.is_empty() => "an empty JSON array".to_owned(),
        Shape::Array(_) => "a JSON array".to_owned(),
        Shape::Text => "neither JSON nor a database".to_owned(),
    };
    format!("no conversation format matches: it is {seen}{ADVICE}")
}

fn keys(object: &crate::json::Object<'_>) -> String {
    let mut names: Vec<_> = object
        .members()
        .map(|(key, _)| key.chars().take(40).collect::<String>())
        .collect();
    if names.len() > 8 {
        names.truncate(8);
        names.push("…".to_owned());
    }
    if names.is_empty() {
        "(none)".to_owned()
    } else {
        names.join(", ")
    }
}
