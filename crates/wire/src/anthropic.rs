//! Anthropic Messages: one message and its blocks, read and written. The blocks are also those of Claude Code and Cline.

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
use mainstay_engine::transcript::Usage;

use crate::authorship;
use crate::json;
use crate::json::Object;
use crate::json::Raw;
use crate::json::quote;
use crate::openai_chat::note_surrogates;
use crate::openai_chat::opaque;
use crate::openai_chat::opaque_content;

/// Reads one message object.
pub fn read_message(raw: Raw<'_>, place: Place, findings: &mut Vec<Finding>) -> Message {
    let object = Object::of(raw).unwrap_or_default();
    let role = match object.text("role").as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        other => {
            findings.push(Finding::new(Rule::UnknownRole, place, other.unwrap_or("none")));
            Role::User
        }
    };
    let mut parts = Vec::new();
    match object.get("content") {
        Some(content) => read_content(content, place, findings, &mut parts),
        None => parts.push(opaque("message", raw)),
    }
    note_surrogates(raw, place, findings);
    let mut message = authorship::message(role, parts);
    message.place = place;
    message
}

/// Reads the content of a message: a string or blocks.
pub fn read_content(raw: Raw<'_>, place: Place, findings: &mut Vec<Finding>, parts: &mut Vec<Part>) {
    if let Some(text) = json::text(raw) {
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
    } else if let Some(blocks) = json::array(raw) {
        parts.extend(blocks.iter().map(|block| read_block(block, place, findings)));
    } else if raw.get() != "null" {
        parts.push(opaque("content", raw));
    }
}

/// Reads one block.
pub fn read_block(raw: Raw<'_>, place: Place, findings: &mut Vec<Finding>) -> Part {
    let Some(object) = Object::of(raw) else {
        return json::text(raw).map_or_else(|| opaque("block", raw), Part::Text);
    };
    let kind = object.text("type").unwrap_or_default();
    let read = match kind.as_ref() {
        "text" => object.text("text").map(Part::Text),
        "image" => read_media(&object, MediaKind::Image),
        "document" => read_media(&object, MediaKind::Document),
        "tool_use" => {
            let input = object.get("input").map_or("{}", |input| input.get());
            Some(Part::Call(Box::new(ToolCall {
                id: CallId::new(object.text("id").unwrap_or_default()),
                name: object.text("name").unwrap_or_default(),
                input: Input::Json(input.into()),
            })))
        }
        "tool_result" => Some(Part::Result(Box::new(read_result(&object, place, findings)))),
        "thinking" => Some(Part::Thinking(Box::new(Thinking {
            text: object.text("thinking").unwrap_or_default(),
            seal: match object.text("signature") {
                Some(signature) if !signature.is_empty() => Seal::Signed(signature),
                Some(_) | None => Seal::Unsealed,
            },
        }))),
        "redacted_thinking" => object.text("data").map(|data| {
            Part::Thinking(Box::new(Thinking {
                text: "".into(),
                seal: Seal::Encrypted(data),
            }))
        }),
        _ => None,
    };
    read.unwrap_or_else(|| opaque(&kind, raw))
}

fn read_media(object: &Object<'_>, kind: MediaKind) -> Option<Part> {
    let source = object.object("source")?;
    let mime = source.text("media_type");
    let source = match source.tag("type")? {
        "base64" => MediaSource::Inline(source.text("data")?),
        "url" => MediaSource::Url(source.text("url")?),
        "file" => MediaSource::Reference(source.text("file_id")?),
        _ => return None,
    };
    Some(Part::Media(Box::new(Media { kind, mime, source })))
}

fn read_result(object: &Object<'_>, place: Place, findings: &mut Vec<Finding>) -> ToolResult {
    let mut parts = Vec::new();
    if let Some(content) = object.get("content") {
        read_content(content, place, findings, &mut parts);
    }
    let content = parts.into_iter().map(|part| match part {
        Part::Text(text) => Content::Text(text),
        Part::Media(media) => Content::Media(*media),
        Part::Opaque(opaque) => Content::Opaque(*opaque),
        // A call, result or thought inside of a result has no meaning of its own.
        Part::Call(_) | Part::Result(_) | Part::Thinking(_) => match object.get("content") {
            Some(raw) => opaque_content("tool_result", raw),
            None => Content::Text("".into()),
        },
    });
    let outcome = match object.get("is_error").map(|raw| raw.get()) {
        Some("true") => ToolOutcome::Failure,
        Some("false") => ToolOutcome::Success,
        Some(_) | None => ToolOutcome::Unstated,
    };
    ToolResult {
        id: CallId::new(object.text("tool_use_id").unwrap_or_default()),
        name: None,
        content: content.collect(),
        outcome,
    }
}

/// The usage object of a response. Anthropic's input figure leaves cached tokens out; ours has them in.
pub fn read_usage(object: &Object<'_>) -> Usage {
    let cache_read = object.count("cache_read_input_tokens").unwrap_or(0);
    let cache_write = object.count("cache_creation_input_tokens").unwrap_or(0);
    let fresh = object.count("input_tokens").unwrap_or(0);
    Usage {
        input: fresh.saturating_add(cache_read).saturating_add(cache_write),
        cache_read,
        cache_write,
        output: object.count("output_tokens").unwrap_or(0),
        reasoning: 0,
        window: None,
    }
}

/// The system messages as the value of the `system` field.
pub fn render_system(messages: &[Message]) -> Option<String> {
    let parts: Vec<_> = messages
        .iter()
        .filter(|message| message.role == Role::System)
        .flat_map(|message| &message.parts)
        .map(render_block)
        .collect();
    (!parts.is_empty()).then(|| format!("[{}]", parts.join(",")))
}

/// Renders a message; empty when there is nothing in it that this form can carry.
pub fn render(message: &Message) -> String {
    let role = match message.role {
        Role::Assistant => "assistant",
        Role::System | Role::Developer | Role::User | Role::Tool => "user",
    };
    let blocks: Vec<_> = message
        .parts
        .iter()
        .map(render_block)
        .filter(|block| !block.is_empty())
        .collect();
    if blocks.is_empty() {
        return String::new();
    }
    format!("{{\"role\":\"{role}\",\"content\":[{}]}}", blocks.join(","))
}

fn render_block(part: &Part) -> String {
    match part {
        Part::Text(text) if text.is_empty() => String::new(),
        Part::Text(text) => format!("{{\"type\":\"text\",\"text\":{}}}", quote(text)),
        Part::Call(call) => format!(
            "{{\"type\":\"tool_use\",\"id\":{},\"name\":{},\"input\":{}}}",
            quote(call.id.as_str()),
            quote(&call.name),
            match &call.input {
                Input::Json(json) if json.starts_with('{') => json.to_string(),
                Input::Json(text) | Input::Text(text) => format!("{{\"input\":{}}}", quote(text)),
            }
        ),
        Part::Result(result) => {
            let blocks: Vec<_> = result
                .content
                .iter()
                .map(render_content)
                .filter(|block| !block.is_empty())
                .collect();
            let failed = match result.outcome {
                ToolOutcome::Failure => ",\"is_error\":true",
                ToolOutcome::Success => ",\"is_error\":false",
                ToolOutcome::Unstated => "",
            };
            format!(
                "{{\"type\":\"tool_result\",\"tool_use_id\":{},\"content\":[{}]{failed}}}",
                quote(result.id.as_str()),
                blocks.join(",")
            )
        }
        Part::Thinking(thinking) => match &thinking.seal {
            Seal::Signed(signature) => format!(
                "{{\"type\":\"thinking\",\"thinking\":{},\"signature\":{}}}",
                quote(&thinking.text),
                quote(signature)
            ),
            Seal::Encrypted(data) => format!("{{\"type\":\"redacted_thinking\",\"data\":{}}}", quote(data)),
            // Unsigned thinking is refused by the provider, so it is left out whole.
            Seal::Unsealed => String::new(),
        },
        Part::Media(media) => render_media(media),
        Part::Opaque(opaque) => opaque.json.to_string(),
    }
}

fn render_content(content: &Content) -> String {
    match content {
        Content::Text(text) if text.is_empty() => String::new(),
        Content::Text(text) => format!("{{\"type\":\"text\",\"text\":{}}}", quote(text)),
        Content::Media(media) => render_media(media),
        Content::Opaque(opaque) => opaque.json.to_string(),
    }
}

fn render_media(media: &Media) -> String {
    let kind = match media.kind {
        MediaKind::Image => "image",
        MediaKind::Audio | MediaKind::Video | MediaKind::Document => "document",
    };
    let source = match &media.source {
        MediaSource::Inline(data) => format!(
            "{{\"type\":\"base64\",\"media_type\":{},\"data\":{}}}",
            quote(media.mime.as_deref().unwrap_or("image/png")),
            quote(data)
        ),
        MediaSource::Url(url) => format!("{{\"type\":\"url\",\"url\":{}}}", quote(url)),
        MediaSource::Reference(id) => format!("{{\"type\":\"file\",\"file_id\":{}}}", quote(id)),
    };
    format!("{{\"type\":\"{kind}\",\"source\":{source}}}")
}
