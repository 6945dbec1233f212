//! pi's messages: close to the providers', with its own names.

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Finding;
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
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::ToolCall;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::ToolResult;
use mainstay_engine::transcript::Usage;

use crate::authorship;
use crate::json;
use crate::json::Object;
use crate::json::Raw;
use crate::openai_chat::note_surrogates;
use crate::openai_chat::opaque;
use crate::openai_chat::read_input;

/// A message, and whether the model gets to see it.
pub(super) struct Said {
    pub message: Message,
    pub is_sent: bool,
}

/// Reads a message of a conversational role.
pub(super) fn read(
    raw: Raw<'_>,
    object: &Object<'_>,
    place: Place,
    at: Option<Timestamp>,
    findings: &mut Vec<Finding>,
) -> Said {
    let content = |findings: &mut _| {
        object
            .get("content")
            .map(|raw| parts(raw, place, findings))
            .unwrap_or_default()
    };
    let mut is_sent = true;
    let mut message = match object.text("role").unwrap_or_default().as_ref() {
        "user" => authorship::message(Role::User, content(findings)),
        "assistant" => {
            // pi does not send answers that were cut off.
            is_sent = !matches!(object.tag("stopReason"), Some("error" | "aborted"));
            Message {
                model: object.text("model").map(Into::into),
                usage: object.object("usage").and_then(|counts| usage(&counts)),
                ..Message::new(Role::Assistant, content(findings))
            }
        }
        "toolResult" => Message::new(
            Role::Tool,
            vec![Part::Result(Box::new(result(object, place, findings)))],
        ),
        "bashExecution" => {
            is_sent = object.get("excludeFromContext").is_none_or(|raw| raw.get() != "true");
            Message {
                author: Author::Host,
                ..Message::new(Role::User, vec![Part::Text(execution(object).into())])
            }
        }
        other => {
            findings.push(Finding::new(Rule::UnknownRole, place, other));
            Message {
                author: Author::Host,
                ..Message::new(Role::User, content(findings))
            }
        }
    };
    note_surrogates(raw, place, findings);
    message.place = place;
    message.at = at;
    Said { message, is_sent }
}

/// Puts other content into a message, as a context edit wants it.
pub(super) fn replace_content(message: &mut Message, json: &str) {
    let Ok(raw) = json::value(json) else { return };
    let mut findings = Vec::new();
    match message.parts.as_mut_slice() {
        [Part::Result(result)] => result.content = contents(raw, message.place, &mut findings),
        _ => message.parts = parts(raw, message.place, &mut findings),
    }
}

/// The content of a message: a string or blocks.
pub(super) fn parts(raw: Raw<'_>, place: Place, findings: &mut Vec<Finding>) -> Vec<Part> {
    if let Some(text) = json::text(raw) {
        return vec![Part::Text(text)];
    }
    match json::array(raw) {
        Some(blocks) => blocks.iter().map(|block| part(block, place, findings)).collect(),
        None if raw.get() == "null" => Vec::new(),
        None => vec![opaque("content", raw)],
    }
}

fn part(raw: Raw<'_>, place: Place, findings: &mut Vec<Finding>) -> Part {
    let Some(object) = Object::of(raw) else {
        return json::text(raw).map_or_else(|| opaque("block", raw), Part::Text);
    };
    let kind = object.text("type").unwrap_or_default();
    let read = match kind.as_ref() {
        "text" => object.text("text").map(Part::Text),
        "thinking" => Some(Part::Thinking(Box::new(thinking(&object)))),
        "toolCall" => Some(Part::Call(Box::new(ToolCall {
            id: CallId::new(object.text("id").unwrap_or_default()),
            name: object.text("name").unwrap_or_default(),
            input: read_input(object.get("arguments"), place, findings),
        }))),
        "image" => object.text("data").map(|data| {
            Part::Media(Box::new(Media {
                kind: MediaKind::Image,
                mime: object.text("mimeType"),
                source: MediaSource::Inline(data),
            }))
        }),
        _ => None,
    };
    read.unwrap_or_else(|| opaque(&kind, raw))
}

fn thinking(object: &Object<'_>) -> Thinking {
    let signature = object
        .text("thinkingSignature")
        .filter(|signature| !signature.is_empty());
    let is_redacted = object.get("redacted").is_some_and(|raw| raw.get() == "true");
    Thinking {
        text: object.text("thinking").unwrap_or_default(),
        seal: match signature {
            Some(sealed) if is_redacted => Seal::Encrypted(sealed),
            Some(signature) => Seal::Signed(signature),
            None => Seal::Unsealed,
        },
    }
}

fn result(object: &Object<'_>, place: Place, findings: &mut Vec<Finding>) -> ToolResult {
    let content = object.get("content").map(|raw| contents(raw, place, findings));
    ToolResult {
        id: CallId::new(object.text("toolCallId").unwrap_or_default()),
        name: object.text("toolName"),
        content: content.unwrap_or_default(),
        outcome: match object.get("isError").map(|raw| raw.get()) {
            Some("true") => ToolOutcome::Failure,
            Some("false") => ToolOutcome::Success,
            Some(_) | None => ToolOutcome::Unstated,
        },
    }
}

/// The content of a tool result. What has no place in one is carried as it is.
fn contents(raw: Raw<'_>, place: Place, findings: &mut Vec<Finding>) -> Vec<Content> {
    let content = |part| match part {
        Part::Text(text) => Content::Text(text),
        Part::Media(media) => Content::Media(*media),
        Part::Opaque(opaque) => Content::Opaque(*opaque),
        Part::Thinking(thinking) => Content::Text(thinking.text),
        Part::Call(call) => Content::Text(format!("{} {}", call.name, call.input.as_str()).into()),
        Part::Result(_) => Content::Text("".into()),
    };
    parts(raw, place, findings).into_iter().map(content).collect()
}

/// A command the person ran, in the words in which pi tells the model.
fn execution(object: &Object<'_>) -> String {
    let is = |key: &str| object.get(key).is_some_and(|raw| raw.get() == "true");
    let mut text = format!("Ran `{}`\n", object.text("command").unwrap_or_default());
    match object.text("output") {
        Some(output) if !output.is_empty() => text.push_str(&format!("```\n{output}\n```")),
        Some(_) | None => text.push_str("(no output)"),
    }
    let code = object.get("exitCode").and_then(json::number).unwrap_or(0.0);
    if is("cancelled") {
        text.push_str("\n\n(command cancelled)");
    } else if code != 0.0 {
        text.push_str(&format!("\n\nCommand exited with code {code}"));
    }
    if is("truncated")
        && let Some(path) = object.text("fullOutputPath")
    {
        text.push_str(&format!("\n\n[Output truncated. Full output: {path}]"));
    }
    text
}

/// The usage of a request; none when nothing was used. pi's input figure leaves cached tokens out; ours
/// has them in.
pub(super) fn usage(counts: &Object<'_>) -> Option<Box<Usage>> {
    let count = |key: &str| counts.count(key).unwrap_or(0);
    let (cache_read, cache_write) = (count("cacheRead"), count("cacheWrite"));
    let usage = Usage {
        input: count("input").saturating_add(cache_read).saturating_add(cache_write),
        cache_read,
        cache_write,
        output: count("output"),
        reasoning: count("reasoning"),
        window: None,
    };
    (usage != Usage::default()).then(|| Box::new(usage))
}
