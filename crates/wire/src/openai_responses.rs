//! OpenAI Responses: one item, read and written. The items are also those of Codex.
//!
//! An item is a message of its own: a call, its output and the reasoning before it are separate.

use std::collections::HashSet;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Input;
use mainstay_engine::transcript::Media;
use mainstay_engine::transcript::MediaKind;
use mainstay_engine::transcript::MediaSource;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Seal;
use mainstay_engine::transcript::Thinking;
use mainstay_engine::transcript::ToolCall;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::ToolResult;

use crate::authorship;
use crate::json;
use crate::json::Object;
use crate::json::Raw;
use crate::json::quote;
use crate::openai_chat::data_url;
use crate::openai_chat::media;
use crate::openai_chat::note_surrogates;
use crate::openai_chat::opaque;
use crate::openai_chat::opaque_content;
use crate::openai_chat::read_input;
use crate::openai_chat::reference;

/// Reads one item.
pub fn read_item(raw: Raw<'_>, place: Place, findings: &mut Vec<Finding>) -> Message {
    let object = Object::of(raw).unwrap_or_default();
    let kind = object.text("type").unwrap_or_default();
    let mut message = match kind.as_ref() {
        "message" => read_message(&object, place, findings),
        "" if object.has("role") => read_message(&object, place, findings),
        "reasoning" => Message::new(Role::Assistant, vec![Part::Thinking(Box::new(read_reasoning(&object)))]),
        "function_call" | "custom_tool_call" | "local_shell_call" => {
            Message::new(Role::Assistant, vec![read_call(&object, &kind, place, findings)])
        }
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
            Message::new(Role::Tool, vec![Part::Result(Box::new(read_output(&object)))])
        }
        "compaction" | "compaction_summary" | "context_compaction" => Message {
            author: Author::Summary,
            ..Message::new(Role::Assistant, vec![opaque(&kind, raw)])
        },
        _ => Message::new(Role::Assistant, vec![opaque(&kind, raw)]),
    };
    note_surrogates(raw, place, findings);
    message.place = place;
    message
}

fn read_message(object: &Object<'_>, place: Place, findings: &mut Vec<Finding>) -> Message {
    let role = match object.text("role").as_deref() {
        Some("system") => Role::System,
        Some("developer") => Role::Developer,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        other => {
            findings.push(Finding::new(Rule::UnknownRole, place, other.unwrap_or("none")));
            Role::User
        }
    };
    let parts = object.get("content").map(read_content).unwrap_or_default();
    authorship::message(role, parts.into_iter().map(Part::from).collect())
}

fn read_content(raw: Raw<'_>) -> Vec<Content> {
    if let Some(text) = json::text(raw) {
        return vec![Content::Text(text)];
    }
    match json::array(raw) {
        Some(blocks) => blocks.iter().map(|block| read_block(block)).collect(),
        None if raw.get() == "null" => Vec::new(),
        None => vec![opaque_content("content", raw)],
    }
}

fn read_block(raw: Raw<'_>) -> Content {
    let object = Object::of(raw).unwrap_or_default();
    let kind = object.text("type").unwrap_or_default();
    let read = match kind.as_ref() {
        "input_text" | "output_text" | "text" | "summary_text" | "reasoning_text" => {
            object.text("text").map(Content::Text)
        }
        "refusal" => object.text("refusal").map(Content::Text),
        "input_image" => {
            let url = object.text("image_url").map(|url| media(MediaKind::Image, None, &url));
            let id = || object.text("file_id").map(|id| reference(MediaKind::Image, id));
            url.or_else(id).map(Content::Media)
        }
        "input_file" => {
            let data = object
                .text("file_data")
                .map(|data| media(MediaKind::Document, None, &data));
            let url = || {
                object
                    .text("file_url")
                    .map(|url| media(MediaKind::Document, None, &url))
            };
            let id = || object.text("file_id").map(|id| reference(MediaKind::Document, id));
            data.or_else(url).or_else(id).map(Content::Media)
        }
        _ => None,
    };
    read.unwrap_or_else(|| opaque_content(&kind, raw))
}

fn read_reasoning(object: &Object<'_>) -> Thinking {
    let mut text = String::new();
    for list in ["summary", "content"] {
        for block in object.get(list).map(read_content).unwrap_or_default() {
            if let Content::Text(piece) = block {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(&piece);
            }
        }
    }
    Thinking {
        text: text.into(),
        seal: object.text("encrypted_content").map_or(Seal::Unsealed, Seal::Encrypted),
    }
}

fn read_call(object: &Object<'_>, kind: &str, place: Place, findings: &mut Vec<Finding>) -> Part {
    let (name, input) = match kind {
        "custom_tool_call" => {
            let input = object.text("input").unwrap_or_default();
            (object.text("name"), Input::Text(input))
        }
        "local_shell_call" => {
            let action = object.get("action").map_or("{}", |raw| raw.get());
            (Some("local_shell".into()), Input::Json(action.into()))
        }
        _ => (
            object.text("name"),
            read_input(object.get("arguments"), place, findings),
        ),
    };
    Part::Call(Box::new(ToolCall {
        id: CallId::new(object.text("call_id").or_else(|| object.text("id")).unwrap_or_default()),
        name: name.unwrap_or_default(),
        input,
    }))
}

fn read_output(object: &Object<'_>) -> ToolResult {
    let output = object.get("output");
    let content = match output {
        Some(raw) if json::kind(raw) == json::Kind::Object => vec![Content::Text(raw.get().into())],
        Some(raw) => read_content(raw),
        None => Vec::new(),
    };
    ToolResult {
        id: CallId::new(object.text("call_id").or_else(|| object.text("id")).unwrap_or_default()),
        name: None,
        content,
        outcome: match object.tag("status") {
            Some("failed") => ToolOutcome::Failure,
            Some(_) | None => ToolOutcome::Unstated,
        },
    }
}

/// Renders a message as items, joined by commas. `custom` holds the ids of calls whose input is free text: their
/// outputs have a type of their own.
pub fn render(message: &Message, custom: &HashSet<&str>) -> String {
    let mut items = Vec::new();
    let mut texts = Vec::new();
    for part in &message.parts {
        match part {
            Part::Text(text) => texts.push(Content::Text(text.clone())),
            Part::Media(media) => texts.push(Content::Media((**media).clone())),
            Part::Opaque(opaque) => {
                flush(message.role, &mut texts, &mut items);
                items.push(opaque.json.to_string());
            }
            Part::Thinking(thinking) => {
                flush(message.role, &mut texts, &mut items);
                items.extend(render_reasoning(thinking));
            }
            Part::Call(call) => {
                flush(message.role, &mut texts, &mut items);
                items.push(render_call(call));
            }
            Part::Result(result) => {
                flush(message.role, &mut texts, &mut items);
                let kind = if custom.contains(result.id.as_str()) {
                    "custom_tool_call"
                } else {
                    "function_call"
                };
                items.push(format!(
                    "{{\"type\":\"{kind}_output\",\"call_id\":{},\"output\":{}}}",
                    quote(result.id.as_str()),
                    match result.content.as_slice() {
                        [Content::Text(text)] => quote(text),
                        blocks => render_blocks(blocks, "input"),
                    }
                ));
            }
        }
    }
    flush(message.role, &mut texts, &mut items);
    items.join(",")
}

fn flush(role: Role, texts: &mut Vec<Content>, items: &mut Vec<String>) {
    if texts.is_empty() {
        return;
    }
    let (role, side) = match role {
        Role::Assistant => ("assistant", "output"),
        Role::Tool => ("user", "input"),
        other => (other.name(), "input"),
    };
    let content = render_blocks(texts, side);
    items.push(format!(
        "{{\"type\":\"message\",\"role\":\"{role}\",\"content\":{content}}}"
    ));
    texts.clear();
}

fn render_blocks(blocks: &[Content], side: &str) -> String {
    let blocks: Vec<_> = blocks
        .iter()
        .map(|block| match block {
            Content::Text(text) => format!("{{\"type\":\"{side}_text\",\"text\":{}}}", quote(text)),
            Content::Opaque(opaque) => opaque.json.to_string(),
            Content::Media(media) => render_media(media),
        })
        .collect();
    format!("[{}]", blocks.join(","))
}

fn render_media(media: &Media) -> String {
    let (kind, field) = match media.kind {
        MediaKind::Image => ("input_image", "image_url"),
        MediaKind::Audio | MediaKind::Video | MediaKind::Document => ("input_file", "file_data"),
    };
    match &media.source {
        MediaSource::Reference(id) => format!("{{\"type\":\"{kind}\",\"file_id\":{}}}", quote(id)),
        MediaSource::Inline(_) | MediaSource::Url(_) => {
            format!("{{\"type\":\"{kind}\",\"{field}\":{}}}", quote(&data_url(media)))
        }
    }
}

/// Only encrypted reasoning can be sent back; anything else is left out whole.
fn render_reasoning(thinking: &Thinking) -> Option<String> {
    let Seal::Encrypted(sealed) = &thinking.seal else {
        return None;
    };
    let summary = if thinking.text.is_empty() {
        String::new()
    } else {
        format!("{{\"type\":\"summary_text\",\"text\":{}}}", quote(&thinking.text))
    };
    Some(format!(
        "{{\"type\":\"reasoning\",\"summary\":[{summary}],\"encrypted_content\":{}}}",
        quote(sealed)
    ))
}

fn render_call(call: &ToolCall) -> String {
    let id = quote(call.id.as_str());
    let name = quote(&call.name);
    match &call.input {
        Input::Json(json) => {
            let arguments = quote(json);
            format!("{{\"type\":\"function_call\",\"call_id\":{id},\"name\":{name},\"arguments\":{arguments}}}")
        }
        Input::Text(text) => {
            let input = quote(text);
            format!("{{\"type\":\"custom_tool_call\",\"call_id\":{id},\"name\":{name},\"input\":{input}}}")
        }
    }
}
