//! The formats this crate reads: one row each. A new format is one file and one line here.

use crate::document::Document;
use crate::error::ReadError;
use crate::format_definition::Format;
use crate::format_definition::Likeness;
use crate::provider_formats;
use crate::reading::Request;
use crate::sessions;
use crate::sniff::Sample;
use crate::sniff::Shape;
use crate::sniff::Sniff;
use crate::source::Source;
use crate::unread;

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
    &provider_formats::openai_responses::FORMAT,
    &provider_formats::anthropic::FORMAT,
    &provider_formats::openai_chat::FORMAT,
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
