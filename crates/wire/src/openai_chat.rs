//! OpenAI Chat Completions: one message, read and written.
//!
//! Tolerates what OpenAI-compatible servers and agents add: reasoning fields, arguments as objects, calls
//! without the `function` wrapper. Unknown fields stay in the message's text.

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Input;
use mainstay_engine::transcript::Media;
use mainstay_engine::transcript::MediaKind;
use mainstay_engine::transcript::MediaSource;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Opaque;
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
use crate::json::Kind;
use crate::json::Object;
use crate::json::Raw;
use crate::json::quote;

/// Reads one message object. What is not an object, or has an unknown role, is kept with a finding.
pub fn read_message(raw: Raw<'_>, place: Place, findings: &mut Vec<Finding>) -> Message {
    let Some(object) = Object::of(raw) else {
        findings.push(Finding::new(Rule::NotARecord, place, "a message that is not an object"));
        return Message {
            place,
            ..Message::new(Role::User, vec![opaque("message", raw)])
        };
    };
    let role = object.text("role").unwrap_or_default();
    let mut parts = Vec::new();
    let mut is_known = true;
    let role = match role.as_ref() {
        "system" => Role::System,
        "developer" => Role::Developer,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        other => {
            findings.push(Finding::new(Rule::UnknownRole, place, other));
            is_known = false;
            Role::User
        }
    };
    let content = object.get("content");
    if role == Role::Tool {
        parts.push(Part::Result(Box::new(ToolResult {
            id: CallId::new(object.text("tool_call_id").unwrap_or_default()),
            name: object.text("name").or_else(|| object.text("tool_name")),
            content: content.map(read_result_content).unwrap_or_default(),
            outcome: ToolOutcome::Unstated,
        })));
    } else {
        parts.extend(read_reasoning(&object));
        if let Some(content) = content {
            read_content(content, &mut parts);
        }
        parts.extend(object.text("refusal").map(Part::Text));
        read_calls(&object, place, findings, &mut parts);
    }
    note_surrogates(raw, place, findings);
    let mut message = authorship::message(role, parts);
    message.place = place;
    if !is_known && message.author == Author::User {
        message.author = Author::Host;
    }
    message
}

/// One finding for a message that holds half a surrogate pair anywhere.
pub(crate) fn note_surrogates(raw: Raw<'_>, place: Place, findings: &mut Vec<Finding>) {
    let text = raw.get();
    // Only an escape can spell one; look closer only where there is one.
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return;
    }
    let strings = text
        .split('"')
        .filter(|piece| piece.contains("\\ud") || piece.contains("\\uD"));
    for piece in strings {
        let quoted = format!("\"{piece}\"");
        if json::value(&quoted).is_ok_and(json::has_lone_surrogate) {
            findings.push(Finding::new(Rule::LoneSurrogate, place, ""));
            return;
        }
    }
}

fn read_reasoning(object: &Object<'_>) -> Option<Part> {
    let written = |key: &str| object.text(key).filter(|text| !text.is_empty());
    let text = written("reasoning_content")
        .or_else(|| written("reasoning"))
        .unwrap_or_default();
    let details = object
        .get("reasoning_details")
        .filter(|raw| json::kind(raw) != Kind::Null);
    let seal = match details {
        Some(raw) if raw.get() != "[]" => Seal::Signed(raw.get().into()),
        Some(_) | None => Seal::Unsealed,
    };
    let is_there = !text.is_empty() || seal != Seal::Unsealed;
    is_there.then(|| Part::Thinking(Box::new(Thinking { text, seal })))
}

/// Reads the content of a message: a string or parts.
pub(crate) fn read_content(raw: Raw<'_>, parts: &mut Vec<Part>) {
    match json::kind(raw) {
        Kind::Null => {}
        Kind::String => {
            let text = json::text(raw).unwrap_or_default();
            if !text.is_empty() {
                parts.push(Part::Text(text));
            }
        }
        Kind::Array => {
            let blocks = json::array(raw).unwrap_or_default();
            parts.extend(blocks.iter().map(|block| Part::from(read_block(block))));
        }
        Kind::Bool | Kind::Number | Kind::Object => parts.push(opaque("content", raw)),
    }
}

/// Reads what a tool answered: a string or parts; other JSON is its own text.
pub(crate) fn read_result_content(raw: Raw<'_>) -> Vec<Content> {
    let mut parts = Vec::new();
    match json::kind(raw) {
        Kind::Null => {}
        Kind::String => parts.push(Content::Text(json::text(raw).unwrap_or_default())),
        Kind::Array => {
            let blocks = json::array(raw).unwrap_or_default();
            parts.extend(blocks.iter().map(|block| read_block(block)));
        }
        Kind::Bool | Kind::Number | Kind::Object => parts.push(Content::Text(raw.get().into())),
    }
    parts
}

/// Reads one content part.
fn read_block(raw: Raw<'_>) -> Content {
    let Some(object) = Object::of(raw) else {
        return match json::text(raw) {
            Some(text) => Content::Text(text),
            None => opaque_content("content", raw),
        };
    };
    let kind = object.text("type").unwrap_or_default();
    let media = match kind.as_ref() {
        "text" | "input_text" | "output_text" => {
            return object
                .text("text")
                .map_or_else(|| opaque_content("text", raw), Content::Text);
        }
        "refusal" => {
            return object
                .text("refusal")
                .map_or_else(|| opaque_content("refusal", raw), Content::Text);
        }
        "image_url" => {
            let url = object.object("image_url").and_then(|image| image.text("url"));
            url.or_else(|| object.text("image_url"))
                .map(|url| media(MediaKind::Image, None, &url))
        }
        "input_audio" => object.object("input_audio").and_then(|audio| {
            let data = audio.text("data")?;
            let mime = audio.text("format").map(|format| format!("audio/{format}").into());
            Some(Media {
                kind: MediaKind::Audio,
                mime,
                source: MediaSource::Inline(data),
            })
        }),
        "file" => object.object("file").and_then(|file| {
            let data = file
                .text("file_data")
                .map(|data| media(MediaKind::Document, None, &data));
            data.or_else(|| file.text("file_id").map(|id| reference(MediaKind::Document, id)))
        }),
        _ => None,
    };
    media.map_or_else(|| opaque_content(&kind, raw), Content::Media)
}

/// Media at an address, which may be a `data:` one.
pub(crate) fn media(kind: MediaKind, mime: Option<Box<str>>, url: &str) -> Media {
    let inline = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match inline {
        Some((declared, data)) => Media {
            kind,
            mime: mime.or_else(|| (!declared.is_empty()).then(|| declared.into())),
            source: MediaSource::Inline(data.into()),
        },
        None => Media {
            kind,
            mime,
            source: MediaSource::Url(url.into()),
        },
    }
}

pub(crate) fn reference(kind: MediaKind, id: Box<str>) -> Media {
    Media {
        kind,
        mime: None,
        source: MediaSource::Reference(id),
    }
}

fn read_calls(object: &Object<'_>, place: Place, findings: &mut Vec<Finding>, parts: &mut Vec<Part>) {
    for raw in object.array("tool_calls").unwrap_or_default() {
        let Some(call) = Object::of(raw) else {
            parts.push(opaque("tool_call", raw));
            continue;
        };
        let function = call.object("function").or_else(|| call.object("custom"));
        let inner = function.as_ref().unwrap_or(&call);
        let id = call.text("id").or_else(|| call.text("call_id")).unwrap_or_default();
        let input = inner.get("arguments").or_else(|| inner.get("input"));
        parts.push(Part::Call(Box::new(ToolCall {
            id: CallId::new(id),
            name: inner.text("name").unwrap_or_default(),
            input: read_input(input, place, findings),
        })));
    }
    if let Some(call) = object.object("function_call") {
        parts.push(Part::Call(Box::new(ToolCall {
            id: CallId::new(""),
            name: call.text("name").unwrap_or_default(),
            input: read_input(call.get("arguments"), place, findings),
        })));
    }
}

/// The arguments of a call: JSON in a string, or JSON itself.
pub fn read_input(raw: Option<Raw<'_>>, place: Place, findings: &mut Vec<Finding>) -> Input {
    let Some(raw) = raw else {
        return Input::Json("{}".into());
    };
    let Some(text) = json::text(raw) else {
        return Input::Json(raw.get().into());
    };
    if json::value(&text).is_ok() {
        return Input::Json(text);
    }
    if !text.is_empty() {
        findings.push(Finding::new(Rule::MalformedArguments, place, ""));
    }
    Input::Text(text)
}

pub(crate) fn opaque(kind: &str, raw: Raw<'_>) -> Part {
    Part::from(opaque_content(kind, raw))
}

pub(crate) fn opaque_content(kind: &str, raw: Raw<'_>) -> Content {
    Content::Opaque(Opaque {
        kind: kind.into(),
        json: raw.get().into(),
    })
}

/// Renders a message as one or more chat messages, joined by commas.
pub fn render(message: &Message) -> String {
    let mut rendered: Vec<String> = message.results().map(render_result).collect();
    let rest = message.parts.iter().filter(|part| !matches!(part, Part::Result(_)));
    let (mut texts, mut calls, mut reasoning) = (Vec::new(), Vec::new(), String::new());
    for part in rest {
        match part {
            Part::Text(text) => texts.push(Content::Text(text.clone())),
            Part::Media(media) => texts.push(Content::Media((**media).clone())),
            Part::Opaque(opaque) => texts.push(Content::Opaque((**opaque).clone())),
            Part::Thinking(thinking) if thinking.seal == Seal::Unsealed => reasoning.push_str(&thinking.text),
            Part::Thinking(_) | Part::Result(_) => {}
            Part::Call(call) => calls.push(render_call(call)),
        }
    }
    if texts.is_empty() && calls.is_empty() && !rendered.is_empty() {
        return rendered.join(",");
    }
    let role = match message.role {
        Role::Tool => "user",
        other => other.name(),
    };
    let mut out = format!("{{\"role\":\"{role}\",\"content\":{}", render_content(&texts));
    if !reasoning.is_empty() {
        out.push_str(&format!(",\"reasoning_content\":{}", quote(&reasoning)));
    }
    if !calls.is_empty() {
        out.push_str(&format!(",\"tool_calls\":[{}]", calls.join(",")));
    }
    out.push('}');
    rendered.push(out);
    rendered.join(",")
}

fn render_call(call: &ToolCall) -> String {
    format!(
        "{{\"id\":{},\"type\":\"function\",\"function\":{{\"name\":{},\"arguments\":{}}}}}",
        quote(call.id.as_str()),
        quote(&call.name),
        match &call.input {
            Input::Json(json) => quote(json),
            // Arguments must be JSON here, whatever another form took.
            Input::Text(text) => quote(&format!("{{\"input\":{}}}", quote(text))),
        },
    )
}

fn render_result(result: &ToolResult) -> String {
    let content = render_content(&result.content);
    format!(
        "{{\"role\":\"tool\",\"tool_call_id\":{},\"content\":{content}}}",
        quote(result.id.as_str())
    )
}

fn render_content(content: &[Content]) -> String {
    match content {
        [] => "\"\"".to_owned(),
        [Content::Text(text)] => quote(text),
        blocks => {
            let blocks: Vec<_> = blocks.iter().map(render_block).collect();
            format!("[{}]", blocks.join(","))
        }
    }
}

fn render_block(content: &Content) -> String {
    match content {
        Content::Text(text) => format!("{{\"type\":\"text\",\"text\":{}}}", quote(text)),
        Content::Opaque(opaque) => opaque.json.to_string(),
        Content::Media(media) => {
            let url = data_url(media);
            match media.kind {
                MediaKind::Image => format!("{{\"type\":\"image_url\",\"image_url\":{{\"url\":{}}}}}", quote(&url)),
                MediaKind::Audio if matches!(media.source, MediaSource::Inline(_)) => render_audio(media),
                MediaKind::Audio | MediaKind::Video | MediaKind::Document => {
                    format!("{{\"type\":\"file\",\"file\":{{\"file_data\":{}}}}}", quote(&url))
                }
            }
        }
    }
}

fn render_audio(media: &Media) -> String {
    let data = match &media.source {
        MediaSource::Inline(data) | MediaSource::Url(data) | MediaSource::Reference(data) => data,
    };
    let format = media
        .mime
        .as_deref()
        .and_then(|mime| mime.strip_prefix("audio/"))
        .unwrap_or("wav");
    format!(
        "{{\"type\":\"input_audio\",\"input_audio\":{{\"data\":{},\"format\":{}}}}}",
        quote(data),
        quote(format)
    )
}

/// The address of a media part; a `data:` one when its bytes are inline.
pub(crate) fn data_url(media: &Media) -> String {
    match &media.source {
        MediaSource::Inline(data) => {
            let fallback = match media.kind {
                MediaKind::Image => "image/png",
                MediaKind::Audio => "audio/wav",
                MediaKind::Video => "video/mp4",
                MediaKind::Document => "application/pdf",
            };
            format!("data:{};base64,{data}", media.mime.as_deref().unwrap_or(fallback))
        }
        MediaSource::Url(url) | MediaSource::Reference(url) => url.to_string(),
    }
}
