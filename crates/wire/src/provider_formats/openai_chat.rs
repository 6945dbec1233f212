//! Request bodies of OpenAI Chat Completions, bare lists of messages, and lists with one message a line.

use std::sync::Arc;

use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Rule;

use crate::body::Body;
use crate::body::document_text;
use crate::document::Document;
use crate::document_builder::ListReading;
use crate::document_builder::Reading;
use crate::error::ReadError;
use crate::format_definition::Format;
use crate::format_definition::Likeness;
use crate::format_definition::nowhere;
use crate::format_definition::one_conversation;
use crate::json::Object;
use crate::openai_chat;
use crate::reading::Request;
use crate::reading::WireForm;
use crate::sniff::Sample;
use crate::sniff::Shape;
use crate::sniff::Sniff;
use crate::source::Source;

/// The row in the list of formats.
pub static FORMAT: Format = Format {
    name: "openai-chat",
    title: "OpenAI Chat Completions",
    detect,
    read,
    list: one_conversation,
    haunts: nowhere,
};

fn detect(sniff: &Sniff<'_>) -> Likeness {
    let is_message = |object: &Object<'_>| object.has("role") && (object.has("content") || object.has("tool_calls"));
    match &sniff.shape {
        Shape::Object(object) => {
            let first = object
                .array("messages")
                .and_then(|list| list.first().and_then(|raw| Object::of(raw)));
            Likeness::possible_if(first.is_some_and(|message| is_message(&message)))
        }
        Shape::Array(_) => Likeness::possible_if(sniff.elements().first().is_some_and(is_message)),
        Shape::Lines(records) => Likeness::possible_if(records.first().is_some_and(is_message)),
        Shape::Empty | Shape::Directory(_) | Shape::Database(_) | Shape::Text => Likeness::No,
    }
}

fn read(format: &'static Format, source: &Source, _: &Request) -> Result<Document, ReadError> {
    // A line file must not be loaded whole only to find out that it is one.
    if Sample::take(source)?.is_lines() {
        let document = read_lines(format, source)?;
        return document.ok_or_else(|| ReadError::refused(source.name(), "no line of it is a message"));
    }
    let (text, findings) = document_text(source)?;
    let body = Body::find(source.name(), &text, "messages")?;
    Ok(read_body(format, &text, body, findings))
}

fn read_body(format: &'static Format, text: &Arc<String>, body: Body<'_>, findings: Vec<Finding>) -> Document {
    let mut reading = ListReading::new(WireForm::Chat, Arc::clone(text));
    reading.findings = findings;
    reading.about.model = body.around.text("model").map(Arc::from);
    reading.about.tools = body.around.get("tools").map(|raw| raw.get().into());
    reading.about.window = body.around.count("context_length");
    reading.reserve(body.elements.len());
    for (index, raw) in (0..).zip(&body.elements) {
        let message = openai_chat::read_message(raw, Place::Item(index), &mut reading.findings);
        reading.push_element(message, body.range(raw));
    }
    reading.finish(format, body.list)
}

/// Messages one a line; `None` when no line is a message.
fn read_lines(format: &'static Format, source: &Source) -> Result<Option<Document>, ReadError> {
    let mut lines = source.lines()?;
    let mut reading = Reading::new(WireForm::Chat);
    while lines.advance()? {
        let place = lines.place();
        let mut findings = Vec::new();
        for raw in lines.records() {
            match Object::of(raw) {
                Some(object) if object.has("role") => {
                    let message = openai_chat::read_message(raw, place, &mut findings);
                    reading.push_verbatim(message, raw.get());
                }
                Some(_) | None => findings.push(Finding::new(Rule::NotARecord, place, "no role")),
            }
        }
        lines.findings.append(&mut findings);
    }
    reading.findings = lines.findings;
    reading.count_all();
    Ok((!reading.is_empty()).then(|| reading.finish(format)))
}
