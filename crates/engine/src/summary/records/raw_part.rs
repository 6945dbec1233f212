//! The parts of messages from which records are made.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::decide::cut as shown;
use crate::ledger::quote::flat;
use crate::transcript::Author;
use crate::transcript::CallId;
use crate::transcript::Content;
use crate::transcript::Media;
use crate::transcript::Part;
use crate::transcript::ToolCall;
use crate::transcript::ToolResult;

use super::Record;

/// Longest name of a tool that a header shows; providers allow 64.
const MOST_NAME: usize = 64;

/// A part of a message, as it is.
#[derive(Debug)]
pub(super) struct RawPart<'a> {
    pub number: u32,
    pub what: What<'a>,
}

/// What a record is made of.
#[derive(Debug)]
pub(super) enum What<'a> {
    Text(Author, &'a str),
    Call(&'a ToolCall),
    Result {
        result: &'a ToolResult,
        tool: &'a str,
        text: Cow<'a, str>,
    },
    Media(Author, &'a Media),
}

/// The parts that have something to show, in order.
pub(super) fn raw_parts<'a>(records: &[Record<'a>]) -> Vec<RawPart<'a>> {
    let mut names: HashMap<&CallId, &str> = HashMap::new();
    let mut raws = Vec::new();
    for record in records {
        for part in &record.message.parts {
            let what = match part {
                Part::Text(text) if text.trim().is_empty() => continue,
                Part::Text(text) => What::Text(record.message.author, text),
                Part::Call(call) => {
                    names.insert(&call.id, &call.name);
                    What::Call(call)
                }
                Part::Result(result) => What::Result {
                    result,
                    tool: result.name.as_deref().or(names.get(&result.id).copied()).unwrap_or(""),
                    text: text_of(result),
                },
                Part::Media(media) => What::Media(record.message.author, media),
                Part::Thinking(_) | Part::Opaque(_) => continue,
            };
            raws.push(RawPart {
                number: record.number,
                what,
            });
        }
    }
    raws
}

/// Everything that a result shows.
fn text_of(result: &ToolResult) -> Cow<'_, str> {
    if let [Content::Text(text)] = &result.content[..] {
        return Cow::Borrowed(text);
    }
    let shown = result.content.iter().filter_map(|content| match content {
        Content::Text(text) => Some(Cow::Borrowed(&**text)),
        Content::Media(media) => Some(Cow::Owned(media_mark(media))),
        Content::Opaque(_) => None,
    });
    Cow::Owned(shown.collect::<Vec<_>>().join("\n"))
}

/// What stands in place of an attachment.
pub(super) fn media_mark(media: &Media) -> String {
    let kind = media.kind.name();
    match &media.mime {
        Some(mime) => format!("({kind}, {}, not shown)", name(mime)),
        None => format!("({kind}, not shown)"),
    }
}

/// A name fit for a header.
pub(super) fn name(text: &str) -> String {
    let plain = flat(text).replace(['[', ']', '<', '>'], "");
    shown(plain.trim(), MOST_NAME)
}
