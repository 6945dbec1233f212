//! Request bodies of Anthropic Messages, and bare lists of messages.

use std::sync::Arc;

use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;

use crate::anthropic;
use crate::body::Body;
use crate::body::document_text;
use crate::document::Document;
use crate::document_builder::ListReading;
use crate::error::ReadError;
use crate::format_definition::Format;
use crate::format_definition::Likeness;
use crate::format_definition::nowhere;
use crate::format_definition::one_conversation;
use crate::json::Object;
use crate::reading::Request;
use crate::reading::WireForm;
use crate::sniff::Shape;
use crate::sniff::Sniff;
use crate::source::Source;

/// The row in the list of formats.
pub static FORMAT: Format = Format {
    name: "anthropic",
    title: "Anthropic Messages",
    detect,
    read,
    list: one_conversation,
    haunts: nowhere,
};

/// Block types that only this form has.
const OWN_BLOCKS: &[&str] = &[
    "tool_use",
    "tool_result",
    "thinking",
    "redacted_thinking",
    "server_tool_use",
];

fn detect(sniff: &Sniff<'_>) -> Likeness {
    let own_blocks = |messages: &[Object<'_>]| {
        messages.iter().any(|message| {
            let blocks = message.array("content").unwrap_or_default();
            blocks.iter().filter_map(|raw| Object::of(raw)).any(|block| {
                let kind = block.tag("type").unwrap_or("");
                OWN_BLOCKS.contains(&kind) || block.has("cache_control") || (kind == "image" && block.has("source"))
            })
        })
    };
    let chat_roles = |messages: &[Object<'_>]| {
        let tagged = |message: &Object<'_>| matches!(message.tag("role"), Some("system" | "developer" | "tool"));
        messages
            .iter()
            .any(|message| tagged(message) || message.has("tool_calls"))
    };
    match &sniff.shape {
        Shape::Object(object) => {
            let Some(list) = object.array("messages") else {
                return Likeness::No;
            };
            let messages: Vec<_> = list.iter().take(200).filter_map(|raw| Object::of(raw)).collect();
            let own_fields = object.has("system") || object.has("anthropic_version") || own_tools(object);
            Likeness::likely_if((own_blocks(&messages) || own_fields) && !chat_roles(&messages))
        }
        Shape::Array(_) => {
            let messages = sniff.elements();
            Likeness::likely_if(own_blocks(&messages) && !chat_roles(&messages))
        }
        Shape::Empty | Shape::Directory(_) | Shape::Database(_) | Shape::Lines(_) | Shape::Text => Likeness::No,
    }
}

fn own_tools(object: &Object<'_>) -> bool {
    let tools = object.array("tools").unwrap_or_default();
    tools
        .iter()
        .filter_map(|raw| Object::of(raw))
        .any(|tool| tool.has("input_schema"))
}

fn read(format: &'static Format, source: &Source, _: &Request) -> Result<Document, ReadError> {
    let (text, findings) = document_text(source)?;
    let body = Body::find(source.name(), &text, "messages")?;
    let mut reading = ListReading::new(WireForm::Anthropic, Arc::clone(&text));
    reading.findings = findings;
    reading.about.model = body.around.text("model").map(Arc::from);
    reading.about.tools = body.around.get("tools").map(|raw| raw.get().into());
    if let Some(system) = body.around.get("system") {
        let mut parts = Vec::new();
        anthropic::read_content(system, Place::Whole, &mut reading.findings, &mut parts);
        reading.push_outside(Message::new(Role::System, parts));
    }
    reading.reserve(body.elements.len());
    for (index, raw) in (0..).zip(&body.elements) {
        let message = anthropic::read_message(raw, Place::Item(index), &mut reading.findings);
        reading.push_element(message, body.range(raw));
    }
    let list = body.list.clone();
    Ok(reading.finish(format, list))
}
