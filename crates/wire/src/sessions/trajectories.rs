//! Normalised trajectories: one conversation a line, `{"id", "source", "format", "model", "messages", …}`,
//! with messages in a chat-like form.

use std::sync::Arc;

use mainstay_engine::transcript::CompactionEvent;
use mainstay_engine::transcript::CompactionKind;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Trigger;

use crate::document::Document;
use crate::document_builder::Reading;
use crate::error::ReadError;
use crate::format_definition::Format;
use crate::format_definition::Likeness;
use crate::format_definition::nowhere;
use crate::json;
use crate::json::Object;
use crate::openai_chat;
use crate::reading::Entry;
use crate::reading::Request;
use crate::reading::WireForm;
use crate::sniff::Sniff;
use crate::source::Source;

/// The row in the list of formats.
pub static FORMAT: Format = Format {
    name: "trajectories",
    title: "normalised trajectories",
    detect,
    read,
    list,
    haunts: nowhere,
};

fn detect(sniff: &Sniff<'_>) -> Likeness {
    let is_own = |record: &Object<'_>| {
        ["id", "source", "format", "messages", "compactions"]
            .iter()
            .all(|key| record.has(key))
    };
    Likeness::certain_if(sniff.any_record(is_own))
}

fn list(source: &Source) -> Result<Vec<Entry>, ReadError> {
    let mut entries = Vec::new();
    let mut lines = source.lines()?;
    while lines.advance()? {
        for raw in lines.records() {
            let object = Object::of(raw).unwrap_or_default();
            entries.push(Entry {
                id: object.text("id").unwrap_or_default().into(),
                title: object.text("source").map(Into::into),
                updated: None,
                messages: object.array("messages").map(|list| list.len() as u64),
            });
        }
    }
    Ok(entries)
}

fn read(format: &'static Format, source: &Source, request: &Request) -> Result<Document, ReadError> {
    let mut lines = source.lines()?;
    let mut chosen = None;
    let mut count = 0;
    while lines.advance()? {
        let mut findings = Vec::new();
        for raw in lines.records() {
            let Some(object) = Object::of(raw).filter(|object| object.has("messages")) else {
                continue;
            };
            count += 1;
            let id = object.text("id").unwrap_or_default();
            let wanted = request.session.as_deref().is_none_or(|wanted| wanted == id.as_ref());
            if chosen.is_some() || !wanted {
                continue;
            }
            let mut reading = Reading::new(WireForm::Chat);
            reading.about.id = Some(id.into());
            reading.about.model = object.text("model").map(Arc::from);
            for raw in object.array("messages").unwrap_or_default() {
                let message = openai_chat::read_message(raw, Place::Item(reading.len() as u64), &mut findings);
                reading.push_verbatim(message, raw.get());
            }
            for raw in object.array("compactions").unwrap_or_default() {
                read_event(raw, &mut reading);
            }
            chosen = Some(reading);
        }
        lines.findings.append(&mut findings);
    }
    let Some(mut reading) = chosen else {
        return Err(request.not_found(source, || list(source)));
    };
    reading.findings = lines.findings;
    reading.about.conversations = count;
    reading.count_all();
    Ok(reading.finish(format))
}

/// A compaction is recorded as the index of the first message after it, alone or in an object.
fn read_event(raw: json::Raw<'_>, reading: &mut Reading) {
    let object = Object::of(raw).unwrap_or_default();
    let index = json::number(raw).map(|index| index as u64);
    let index = index.or_else(|| object.count("index")).or_else(|| object.count("at"));
    let Some(index) = index else { return };
    reading.event(CompactionEvent {
        before: index as usize,
        kind: CompactionKind::Summary,
        trigger: Trigger::Unstated,
        tokens_before: object.count("pre_tokens"),
        tokens_after: object.count("post_tokens"),
        summary: None,
        at: None,
    });
}
