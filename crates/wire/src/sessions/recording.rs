//! Recordings of traffic with a provider: `{version, metadata, interactions: [{request, response}]}`. What is
//! read is the body of one request, in the provider's own format, so that it is written back byte for byte.

use crate::document::Document;
use crate::error::ReadError;
use crate::format_definition::Format;
use crate::format_definition::Likeness;
use crate::format_definition::nowhere;
use crate::json;
use crate::json::Object;
use crate::json::Raw;
use crate::provider_formats;
use crate::reading::Entry;
use crate::reading::Request;
use crate::sniff::Sniff;
use crate::source::BYTE_ORDER_MARK;
use crate::source::Source;
use crate::time;

/// The row in the list of formats.
pub static FORMAT: Format = Format {
    name: "recording",
    title: "recorded requests to a provider",
    detect,
    read,
    list,
    haunts: nowhere,
};

fn detect(sniff: &Sniff<'_>) -> Likeness {
    let interactions = sniff.object().and_then(|object| object.array("interactions"));
    let is_own = interactions.unwrap_or_default().first().is_some_and(|raw| {
        let request = Object::of(raw).and_then(|interaction| interaction.object("request"));
        request.is_some_and(|request| request.has("url") && request.has("body"))
    });
    Likeness::certain_if(is_own)
}

/// Whose API a request goes to.
enum Provider {
    /// One whose requests we read.
    Read(&'static Format),
    /// One whose requests we do not read, by name.
    Unread(&'static str),
    /// No conversation at all.
    None,
}

/// A recorded request.
struct Exchange {
    body: String,
    provider: Provider,
}

fn read(format: &'static Format, source: &Source, request: &Request) -> Result<Document, ReadError> {
    let text = source.text()?;
    let object = parse(source, &text.text)?;
    let exchanges: Vec<_> = interactions(&object).map(exchange).collect();
    let index = choose(source, request, &exchanges)?;
    let exchange = &exchanges[index];
    let Provider::Read(provider) = exchange.provider else {
        return Err(refusal(source, std::slice::from_ref(exchange)));
    };
    let body = Source::memory(source.name(), exchange.body.clone().into_bytes());
    let mut document = (provider.read)(provider, &body, &Request::default())?;
    document.format = format.label();
    document.about.id = Some(index.to_string());
    document.about.conversations = exchanges.len() as u64;
    if let Some(metadata) = object.object("metadata") {
        document.about.title = metadata.text("name").map(Into::into);
        document.about.started = metadata.get("recordedAt").and_then(time::read);
    }
    document.findings.splice(0..0, text.findings);
    Ok(document)
}

fn parse<'a>(source: &Source, text: &'a str) -> Result<Object<'a>, ReadError> {
    Object::parse(text.trim_start_matches(BYTE_ORDER_MARK))
        .map_err(|cause| ReadError::refused(source.name(), format!("not a JSON object: {cause}")))
}

fn interactions<'a>(object: &Object<'a>) -> impl Iterator<Item = Raw<'a>> {
    object.array("interactions").unwrap_or_default().into_iter()
}

/// The interaction that is asked for, or the last one that holds a conversation.
fn choose(source: &Source, request: &Request, exchanges: &[Exchange]) -> Result<usize, ReadError> {
    if let Some(wanted) = &request.session {
        let asked = wanted.parse().ok().filter(|index| *index < exchanges.len());
        return asked.ok_or_else(|| request.not_found(source, || list(source)));
    }
    let readable = |exchange: &Exchange| matches!(exchange.provider, Provider::Read(_));
    exchanges
        .iter()
        .rposition(readable)
        .ok_or_else(|| refusal(source, exchanges))
}

fn refusal(source: &Source, exchanges: &[Exchange]) -> ReadError {
    let unread = exchanges.iter().find_map(|exchange| match exchange.provider {
        Provider::Unread(name) => Some(name),
        Provider::Read(_) | Provider::None => None,
    });
    let reason = match unread {
        Some(name) => format!("it records requests to {name}, whose format this version does not read"),
        None => "no recorded request holds a conversation".to_owned(),
    };
    ReadError::refused(source.name(), reason)
}

fn exchange(raw: Raw<'_>) -> Exchange {
    let request = Object::of(raw).and_then(|interaction| interaction.object("request"));
    let request = request.unwrap_or_default();
    // A body is JSON in a string; some recorders put the JSON itself.
    let body = request.get("body").map(|raw| match json::text(raw) {
        Some(text) => text.into_string(),
        None => raw.get().to_owned(),
    });
    let body = body.unwrap_or_default();
    let provider = provider_of(&request.text("url").unwrap_or_default(), &body);
    Exchange { body, provider }
}

/// Decided by the body's fields; the address only settles what two forms share.
fn provider_of(url: &str, body: &str) -> Provider {
    let Ok(fields) = Object::parse(body.trim_start_matches(BYTE_ORDER_MARK)) else {
        return Provider::None;
    };
    if url.contains("bedrock") || url.contains("/converse") {
        return Provider::Unread("Amazon Bedrock");
    }
    if fields.array("contents").is_some() {
        return Provider::Unread("Google Gemini");
    }
    if fields.has("input") && !fields.has("messages") {
        let has_input = !url.contains("/embeddings") && fields.has("model");
        return if has_input {
            Provider::Read(&provider_formats::openai_responses::FORMAT)
        } else {
            Provider::None
        };
    }
    let Some(messages) = fields.array("messages").filter(|messages| !messages.is_empty()) else {
        return Provider::None;
    };
    let is_anthropic = if url.contains("/chat/completions") {
        false
    } else {
        url.contains("anthropic") || url.ends_with("/messages") || looks_anthropic(&fields, &messages)
    };
    Provider::Read(if is_anthropic {
        &provider_formats::anthropic::FORMAT
    } else {
        &provider_formats::openai_chat::FORMAT
    })
}

/// A body at an address that says nothing: Anthropic keeps the system prompt outside of the list.
fn looks_anthropic(fields: &Object<'_>, messages: &[Raw<'_>]) -> bool {
    let chat_roles = messages
        .iter()
        .filter_map(|raw| Object::of(raw))
        .any(|message| matches!(message.tag("role"), Some("system" | "developer" | "tool")));
    fields.has("system") && !chat_roles
}

fn list(source: &Source) -> Result<Vec<Entry>, ReadError> {
    let text = source.text()?;
    let object = parse(source, &text.text)?;
    let entries = interactions(&object).enumerate().map(|(index, raw)| {
        let request = Object::of(raw).and_then(|interaction| interaction.object("request"));
        let url = request.and_then(|request| request.text("url"));
        let body = exchange(raw).body;
        let fields = Object::parse(&body).unwrap_or_default();
        let messages = ["messages", "input", "contents"]
            .iter()
            .find_map(|key| fields.array(key));
        Entry {
            id: index.to_string(),
            title: url.map(Into::into),
            updated: None,
            messages: messages.map(|list| list.len() as u64),
        }
    });
    Ok(entries.collect())
}

#[cfg(test)]
#[path = "recording_tests.rs"]
mod tests;
