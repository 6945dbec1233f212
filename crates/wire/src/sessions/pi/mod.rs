//! pi, and openclaw, which keeps its sessions in the same form: one entry a line behind a header.
//!
//! Entries name their parents, so a file holds every branch; the last entry is where the session stands.
//! The first version has no ids: each entry follows the one before it.

mod entry;
mod message;
mod prompt;
mod tree;
mod view;

use crate::document::Document;
use crate::document_builder::Reading;
use crate::error::ReadError;
use crate::format_definition::Format;
use crate::format_definition::Likeness;
use crate::format_definition::one_conversation;
use crate::json::Object;
use crate::reading::Request;
use crate::reading::WireForm;
use crate::session_directories::Haunt;
use crate::session_directories::Homes;
use crate::sessions::pi::entry::Header;
use crate::sessions::pi::tree::Tree;
use crate::sniff::Sniff;
use crate::source::Source;

/// The row in the list of formats.
pub static FORMAT: Format = Format {
    name: "pi",
    title: "pi and openclaw sessions",
    detect,
    read,
    list: one_conversation,
    haunts,
};

fn detect(sniff: &Sniff<'_>) -> Likeness {
    let is_header = |record: &Object<'_>| {
        let facts = ["version", "cwd", "modelId"].iter().any(|key| record.has(key));
        record.is("type", "session") && record.has("id") && record.has("timestamp") && facts
    };
    if sniff.records().first().is_some_and(is_header) {
        return Likeness::Certain;
    }
    // The header may be lost; then the messages must have pi's own roles or blocks.
    let is_own = |record: &Object<'_>| {
        let message = record.object("message").filter(|_| record.is("type", "message"));
        message.is_some_and(|message| {
            let blocks = message.array("content").unwrap_or_default();
            let mut blocks = blocks.iter().filter_map(|raw| Object::of(raw));
            matches!(message.tag("role"), Some("toolResult" | "bashExecution"))
                || blocks.any(|block| block.is("type", "toolCall"))
        })
    };
    Likeness::likely_if(sniff.any_record(is_header) || sniff.any_record(is_own))
}

fn haunts(homes: &Homes) -> Vec<Haunt> {
    let haunt = |root: &str, depth, is_session| Haunt {
        root: homes.home.join(root),
        depth,
        is_session,
    };
    vec![
        haunt(".pi/agent/sessions", 1, |below| below.ends_with(".jsonl")),
        haunt(".openclaw/agents", 2, |below| {
            below.split('/').nth(1) == Some("sessions") && below.ends_with(".jsonl")
        }),
    ]
}

fn read(format: &'static Format, source: &Source, request: &Request) -> Result<Document, ReadError> {
    let mut lines = source.lines()?;
    let mut reading = Reading::new(WireForm::Chat);
    let mut header = Header::default();
    let mut tree = Tree::default();
    let mut number = 0;
    while lines.advance()? {
        let place = lines.place();
        let mut findings = Vec::new();
        let before = number;
        for raw in lines.records() {
            if let Some(entry) = entry::read(raw, number, place, &mut header, &mut findings) {
                tree.add(entry, raw, &mut findings);
            }
            number += 1;
        }
        // A line that cannot be read was an entry once, and indices count it.
        number = number.max(before + 1);
        lines.findings.append(&mut findings);
    }
    if tree.is_empty() && !header.is_there {
        return Err(ReadError::refused(
            source.name(),
            "there is no entry of a pi session in it",
        ));
    }
    reading.findings = lines.findings;
    let path = tree.path(&mut reading.findings);
    header.describe(&mut reading.about);
    view::pour(tree.into_entries(), &path, request.history, &mut reading);
    Ok(reading.finish(format))
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod real_tests;
