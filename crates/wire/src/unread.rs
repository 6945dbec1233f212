//! Formats that are recognised but not read, so that a refusal can name them.

use crate::json::Object;
use crate::sniff::Sniff;

/// A test for a format, and its name with an article.
type Row = (fn(&Object<'_>) -> bool, &'static str);

/// The formats, by what one of their records looks like.
const UNREAD: &[Row] = &[
    (is_grok_export, "an export of Grok's web chat"),
    (
        |record| has_all(record, &["ts", "lvl", "sid", "msg"]),
        "a log of the Grok command line, without messages",
    ),
    (
        |record| record.is("type", "usage.record"),
        "a usage log of Kimi, without messages",
    ),
    (
        |record| has_all(record, &["sessionId", "sessionDir", "workDir"]),
        "Kimi's index of sessions, without messages",
    ),
    (
        |record| record.array("contents").is_some(),
        "a request to Google Gemini",
    ),
];

/// What a source is, when it is known but not read.
pub(crate) fn name(sniff: &Sniff<'_>) -> Option<&'static str> {
    let row = UNREAD.iter().find(|(test, _)| sniff.any_record(test));
    row.map(|(_, name)| *name)
}

fn has_all(record: &Object<'_>, keys: &[&str]) -> bool {
    keys.iter().all(|key| record.has(key))
}

fn is_grok_export(record: &Object<'_>) -> bool {
    let conversations = record.array("conversations").unwrap_or_default();
    let first = conversations.first().and_then(|raw| Object::of(raw));
    first.is_some_and(|conversation| conversation.has("conversation") && conversation.has("responses"))
}
