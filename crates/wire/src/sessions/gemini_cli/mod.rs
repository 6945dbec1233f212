//! Gemini CLI's chat recordings: one JSON record of the conversation, or a log of lines in which later
//! records update, rewind and replace earlier ones.

mod chat;
mod message;

use crate::document::Document;
use crate::error::ReadError;
use crate::format_definition::Format;
use crate::format_definition::Likeness;
use crate::format_definition::one_conversation;
use crate::json::Object;
use crate::reading::Request;
use crate::records;
use crate::session_directories::Haunt;
use crate::session_directories::Homes;
use crate::sniff::Sniff;
use crate::source::Source;

use self::chat::Chat;

/// The row in the list of formats.
pub static FORMAT: Format = Format {
    name: "gemini-cli",
    title: "Gemini CLI sessions",
    detect,
    read,
    list: one_conversation,
    haunts,
};

fn detect(sniff: &Sniff<'_>) -> Likeness {
    let is_head = |record: &Object<'_>| record.has("sessionId") && record.has("projectHash");
    let is_change = |record: &Object<'_>| record.object("$set").is_some() || record.tag("$rewindTo").is_some();
    Likeness::certain_if(sniff.any_record(|record| is_head(record) || is_change(record)))
}

fn read(format: &'static Format, source: &Source, request: &Request) -> Result<Document, ReadError> {
    let mut chat = Chat::default();
    let findings = records::each(source, |raw, place, findings| chat.read(raw, place, findings))?;
    if chat.is_empty() {
        return Err(ReadError::refused(source.name(), "there is no message in it"));
    }
    Ok(chat.finish(format, findings, request.history))
}

fn haunts(homes: &Homes) -> Vec<Haunt> {
    vec![Haunt {
        root: homes.home.join(".gemini/tmp"),
        depth: 2,
        is_session: |below| {
            let mut parts = below.split('/').skip(1);
            let in_chats = parts.next() == Some("chats");
            let name = parts.next().unwrap_or("");
            let is_recording = name.ends_with(".json") || name.ends_with(".jsonl");
            in_chats && is_recording && name.starts_with("session-") && parts.next().is_none()
        },
    }]
}

#[cfg(test)]
#[path = "../gemini_cli_tests.rs"]
mod tests;
