//! Request bodies of OpenAI Responses, and bare lists of items.

use std::sync::Arc;

use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;

use crate::body::Body;
use crate::body::document_text;
use crate::document::Document;
use crate::document_builder::ListReading;
use crate::error::ReadError;
use crate::format_definition::Format;
use crate::format_definition::Likeness;
use crate::format_definition::nowhere;
use crate::format_definition::one_conversation;
use crate::json;
use crate::json::Object;
use crate::openai_responses;
use crate::reading::Request;
use crate::reading::WireForm;
use crate::sniff::Shape;
use crate::sniff::Sniff;
use crate::source::Source;

/// The row in the list of formats.
pub static FORMAT: Format = Format {
    name: "openai-responses",
    title: "OpenAI Responses",
    detect,
    read,
    list: one_conversation,
    haunts: nowhere,
};

fn detect(sniff: &Sniff<'_>) -> Likeness {
    let own_item = |object: &Object<'_>| {
        let kind = object.tag("type").unwrap_or("");
        (kind == "message" && object.has("content"))
            || kind == "reasoning"
            || (kind.ends_with("_call") || kind.ends_with("_call_output")) && object.has("call_id")
    };
    match &sniff.shape {
        Shape::Object(object) if object.has("messages") => Likeness::No,
        Shape::Object(object) => match object.get("input") {
            Some(raw) if json::array(raw).is_some() => Likeness::Likely,
            Some(raw) => Likeness::likely_if(json::text(raw).is_some() && object.has("model")),
            None => Likeness::No,
        },
        Shape::Array(_) => Likeness::likely_if(sniff.elements().iter().any(own_item)),
        Shape::Empty | Shape::Directory(_) | Shape::Database(_) | Shape::Lines(_) | Shape::Text => Likeness::No,
    }
}

fn read(format: &'static Format, source: &Source, _: &Request) -> Result<Document, ReadError> {
    let (text, findings) = document_text(source)?;
    let mut reading = ListReading::new(WireForm::Responses, Arc::clone(&text));
    reading.findings = findings;
    let body = match Body::find(source.name(), &text, "input") {
        Ok(body) => body,
        Err(error) => return read_plain_input(format, &text, reading).ok_or(error),
    };
    read_fields(&body.around, &mut reading);
    reading.reserve(body.elements.len());
    for (index, raw) in (0..).zip(&body.elements) {
        let message = openai_responses::read_item(raw, Place::Item(index), &mut reading.findings);
        reading.push_element(message, body.range(raw));
    }
    let list = body.list.clone();
    Ok(reading.finish(format, list))
}

/// A body whose input is a single string: one user message, and nothing in it to edit.
fn read_plain_input(format: &'static Format, text: &str, mut reading: ListReading) -> Option<Document> {
    let object = Object::parse(text.trim_start_matches('\u{feff}')).ok()?;
    let input = object.text("input")?;
    read_fields(&object, &mut reading);
    reading.push_outside(Message::new(Role::User, vec![Part::Text(input)]));
    Some(reading.finish(format, text.len()..text.len()))
}

fn read_fields(around: &Object<'_>, reading: &mut ListReading) {
    reading.about.model = around.text("model").map(Arc::from);
    reading.about.tools = around.get("tools").map(|raw| raw.get().into());
    if let Some(instructions) = around.text("instructions") {
        reading.push_outside(Message::new(Role::System, vec![Part::Text(instructions)]));
    }
}
