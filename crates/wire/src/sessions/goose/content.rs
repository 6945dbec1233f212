//! The content of goose's messages: a list of items, each tagged with its type.

use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Input;
use mainstay_engine::transcript::Media;
use mainstay_engine::transcript::MediaKind;
use mainstay_engine::transcript::MediaSource;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Seal;
use mainstay_engine::transcript::Thinking;
use mainstay_engine::transcript::ToolCall;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::ToolResult;

use crate::document_builder::Reading;
use crate::json;
use crate::json::Object;
use crate::json::Raw;
use crate::openai_chat;

/// Types that are shown to the user or drive the program, and are never sent to a model.
const ASIDES: &[&str] = &[
    "toolConfirmationRequest",
    "actionRequired",
    "systemNotification",
    "conversationCompacted",
    "contextLengthExceeded",
    "summarizationRequested",
];

/// The name of a call that goose could not make sense of; providers refuse an empty one.
const UNREADABLE_CALL: &str = "unreadable_call";

/// Whether only goose writes content of this type.
pub fn is_own_type(kind: &str) -> bool {
    let own = ["toolRequest", "toolResponse", "frontendToolRequest", "redactedThinking"];
    own.contains(&kind) || ASIDES.contains(&kind)
}

/// Reads the items of a message. Results come as parts; the caller gives them messages of their own.
pub fn read(json: &str, place: Place, reading: &mut Reading) -> Vec<Part> {
    let raw = match json::value(json) {
        Ok(raw) => raw,
        Err(cause) => {
            reading.note(Rule::BadRecord, place, format!("content: {cause}"));
            return Vec::new();
        }
    };
    if let Some(text) = json::text(raw) {
        return vec![Part::Text(text)];
    }
    let Some(items) = json::array(raw) else {
        reading.note(Rule::NotARecord, place, "content that is not a list");
        return Vec::new();
    };
    openai_chat::note_surrogates(raw, place, &mut reading.findings);
    items
        .into_iter()
        .filter_map(|item| read_item(item, place, reading))
        .collect()
}

fn read_item(raw: Raw<'_>, place: Place, reading: &mut Reading) -> Option<Part> {
    let object = Object::of(raw).unwrap_or_default();
    if !is_for_model(&object) {
        return None;
    }
    let part = match object.tag("type").unwrap_or_default() {
        "text" => Part::Text(object.text("text")?),
        "image" => Part::Media(Box::new(read_image(&object)?)),
        "toolRequest" | "frontendToolRequest" => Part::Call(Box::new(read_call(&object, place, reading))),
        "toolResponse" => Part::Result(Box::new(read_result(&object))),
        "thinking" => Part::Thinking(Box::new(Thinking {
            text: object.text("thinking").unwrap_or_default(),
            seal: match object.text("signature") {
                Some(signature) if !signature.is_empty() => Seal::Signed(signature),
                Some(_) | None => Seal::Unsealed,
            },
        })),
        "reasoning" => Part::Thinking(Box::new(Thinking {
            text: object.text("text")?,
            seal: Seal::Unsealed,
        })),
        "redactedThinking" => Part::Thinking(Box::new(Thinking {
            text: "".into(),
            seal: Seal::Encrypted(object.text("data")?),
        })),
        aside if ASIDES.contains(&aside) => return None,
        other => {
            reading.note(Rule::UnknownType, place, other);
            return None;
        }
    };
    Some(part)
}

/// Items can be addressed to the user alone; those are shown and never sent.
fn is_for_model(object: &Object<'_>) -> bool {
    let audience = object.object("annotations").and_then(|notes| notes.array("audience"));
    audience.is_none_or(|audience| audience.iter().any(|raw| json::tag(raw) == Some("assistant")))
}

fn read_image(object: &Object<'_>) -> Option<Media> {
    Some(Media {
        kind: MediaKind::Image,
        mime: object.text("mimeType"),
        source: MediaSource::Inline(object.text("data")?),
    })
}

fn read_call(object: &Object<'_>, place: Place, reading: &mut Reading) -> ToolCall {
    let outcome = object.object("toolCall").unwrap_or_default();
    let id = CallId::new(object.text("id").unwrap_or_default());
    let Some(call) = outcome.object("value") else {
        reading.note(Rule::MalformedArguments, place, "a call that goose could not read");
        return ToolCall {
            id,
            name: UNREADABLE_CALL.into(),
            input: Input::Text(outcome.text("error").unwrap_or_default()),
        };
    };
    let arguments = call.get("arguments").map_or("{}", |raw| raw.get());
    ToolCall {
        id,
        name: call.text("name").unwrap_or_else(|| UNREADABLE_CALL.into()),
        input: Input::Json(if arguments == "null" { "{}" } else { arguments }.into()),
    }
}

fn read_result(object: &Object<'_>) -> ToolResult {
    let id = CallId::new(object.text("id").unwrap_or_default());
    let outcome = object.object("toolResult").unwrap_or_default();
    let Some(value) = outcome.get("value") else {
        return ToolResult {
            id,
            name: None,
            content: outcome.text("error").map(Content::Text).into_iter().collect(),
            outcome: ToolOutcome::Failure,
        };
    };
    // Older sessions have the list itself where newer ones have an object around it.
    let wrapped = Object::of(value).unwrap_or_default();
    let items = json::array(value)
        .or_else(|| wrapped.array("content"))
        .unwrap_or_default();
    ToolResult {
        id,
        name: None,
        content: items.into_iter().filter_map(read_output).collect(),
        outcome: if wrapped.flag("isError") || outcome.is("status", "error") {
            ToolOutcome::Failure
        } else {
            ToolOutcome::Success
        },
    }
}

fn read_output(raw: Raw<'_>) -> Option<Content> {
    let object = Object::of(raw).unwrap_or_default();
    if !is_for_model(&object) {
        return None;
    }
    let kind = object.text("type").unwrap_or_default();
    let read = match kind.as_ref() {
        "text" => object.text("text").map(Content::Text),
        "image" => read_image(&object).map(Content::Media),
        "resource" => object
            .object("resource")
            .and_then(|resource| match resource.text("text") {
                Some(text) => Some(Content::Text(text)),
                None => Some(Content::Media(Media {
                    kind: MediaKind::Document,
                    mime: resource.text("mimeType"),
                    source: MediaSource::Inline(resource.text("blob")?),
                })),
            }),
        "resource_link" => object.text("uri").map(Content::Text),
        _ => None,
    };
    Some(read.unwrap_or_else(|| Content::Text(raw.get().into())))
}
