//! JSON and JSON Lines: strings are read decoded, with the names they stand under, and findings go back to the source's bytes.
//!
//! Strings that hold JSON themselves are taken apart the same way, from a list of texts to do: nesting costs no stack.
//! What the protocols of model providers want back byte for byte is not looked at.

use crate::json;
use crate::redact::assign::judge;
use crate::redact::encoded::decode;
use crate::redact::key::Promise;
use crate::redact::key::promise;
use crate::redact::notation::Operator;
use crate::redact::rules::Rules;
use crate::redact::scan::Found;
use crate::redact::scan::Label;
use crate::redact::scan::Scanner;
use crate::redact::value::Candidate;

/// Names of values that providers sign or look up: never looked at.
const OPAQUE: &[&str] = &[
    "signature",
    "thoughtSignature",
    "thought_signature",
    "encrypted_content",
    "id",
    "tool_call_id",
    "tool_use_id",
    "call_id",
    "toolCallId",
    "toolUseId",
    "callId",
    "file_id",
    "message_id",
    "messageId",
    "item_id",
    "response_id",
    "previous_response_id",
    "prompt_cache_key",
    "request_id",
    "requestId",
    "session_id",
    "sessionId",
    "conversation_id",
    "uuid",
    "parentUuid",
    "parent_id",
    "parentId",
    "leafUuid",
    "trace_id",
    "span_id",
    "system_fingerprint",
    "integrity",
    "resolved",
    "sha",
    "sha1",
    "sha256",
    "commit",
    "oid",
    "etag",
    "mappings",
    "checksum",
    "digest",
    "reasoning_signature",
    "encrypted_reasoning",
    "redacted_content",
];

/// Types of blocks whose `data` is opaque.
const OPAQUE_BLOCKS: &[&str] = &[
    "redacted_thinking",
    "base64",
    "image",
    "audio",
    "document",
    "file",
    "reasoning.encrypted",
];

/// The findings in a text that is JSON, or whose lines are; `None` when it is neither.
pub(super) fn scan(rules: &Rules, text: &str) -> Option<Vec<Found>> {
    let first = text.trim_start().bytes().next()?;
    if !matches!(first, b'{' | b'[') {
        return None;
    }
    let mut found = Vec::new();
    if json::value(text).is_ok() {
        values(rules, text, 0, &mut found);
        return Some(found);
    }
    let mut any = false;
    let (mut at, mut plain) = (0, 0);
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        let whole = content.len() >= 16 && matches!(content.as_bytes()[0], b'{' | b'[') && json::value(content).is_ok();
        if whole {
            any = true;
            raw(rules, text, plain, at, &mut found);
            values(rules, line, at, &mut found);
            plain = at + line.len();
        }
        at += line.len();
    }
    if !any {
        return None;
    }
    raw(rules, text, plain, text.len(), &mut found);
    Some(found)
}

fn raw(rules: &Rules, text: &str, start: usize, end: usize, found: &mut Vec<Found>) {
    let inside = Scanner::new(rules, &text[start..end], 0).scan();
    found.extend(inside.into_iter().map(|span| Found {
        start: span.start + start,
        end: span.end + start,
        ..span
    }));
}

/// A text on the list: a value of JSON, and where it came from.
#[derive(Debug)]
struct Text {
    decoded: String,
    /// The text this one is a string of, and where its bytes stand there.
    parent: Option<(usize, Places)>,
}

/// Where decoded bytes stand in their source: after each escape, both positions.
#[derive(Debug, Default)]
struct Places {
    start: usize,
    steps: Vec<(usize, usize)>,
}

impl Places {
    fn source(&self, at: usize) -> usize {
        let step = self.steps.partition_point(|(decoded, _)| *decoded <= at);
        match step.checked_sub(1) {
            Some(step) => self.steps[step].1 + (at - self.steps[step].0),
            None => self.start + at,
        }
    }
}

/// An object or array the walk is in.
#[derive(Debug, Default)]
struct Frame {
    is_object: bool,
    key: String,
    /// The value of `name` or `key`, which names the value beside it.
    named: String,
    /// The value of `type`.
    tag: String,
    /// The string before, in an array: a flag announces the next.
    before: String,
    is_secret_manifest: bool,
    all_secret: bool,
}

/// Reads one value of JSON that stands at `offset` in the source.
fn values(rules: &Rules, text: &str, offset: usize, found: &mut Vec<Found>) {
    let mut texts: Vec<Text> = Vec::new();
    let mut next = 0;
    let mut spans = walk(rules, text, None, &mut texts);
    found.extend(spans.drain(..).map(|span| Found {
        start: span.start + offset,
        end: span.end + offset,
        ..span
    }));
    while next < texts.len() {
        let decoded = std::mem::take(&mut texts[next].decoded);
        for span in walk(rules, &decoded, Some(next), &mut texts) {
            let (mut start, mut end) = (span.start, span.end);
            let mut inside = Some(next);
            while let Some((parent, places)) = inside.and_then(|inside| texts[inside].parent.as_ref()) {
                (start, end) = (places.source(start), places.source(end));
                inside = (*parent != usize::MAX).then_some(*parent);
            }
            found.push(Found {
                start: start + offset,
                end: end + offset,
                label: span.label,
            });
        }
        next += 1;
    }
}

/// Walks one value; strings that are JSON go onto the list.
fn walk(rules: &Rules, text: &str, own: Option<usize>, texts: &mut Vec<Text>) -> Vec<Found> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut frames: Vec<Frame> = Vec::new();
    let mut expects_key = false;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'[' => {
                let is_object = bytes[at] == b'{';
                let parent = frames.last();
                let all_secret = parent.is_some_and(|parent| {
                    parent.is_secret_manifest && matches!(parent.key.as_str(), "data" | "stringData")
                });
                frames.push(Frame {
                    is_object,
                    all_secret,
                    ..Frame::default()
                });
                expects_key = is_object;
            }
            b'}' | b']' => {
                frames.pop();
                expects_key = false;
            }
            b',' => expects_key = frames.last().is_some_and(|frame| frame.is_object),
            b'"' => {
                let (decoded, places, end) = string(text, at);
                match frames.last_mut() {
                    Some(frame) if expects_key => {
                        frame.key = decoded.into_owned();
                        expects_key = false;
                    }
                    frame => leaf(rules, &decoded, places, frame, own, texts, &mut found),
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Decodes the string that begins at a quote; gives it, its places and where to go on.
fn string(text: &str, at: usize) -> (std::borrow::Cow<'_, str>, Places, usize) {
    let bytes = text.as_bytes();
    let mut end = at + 1;
    let mut escaped = false;
    while end < bytes.len() && bytes[end] != b'"' {
        escaped |= bytes[end] == b'\\';
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    let end = end.min(bytes.len());
    let mut places = Places {
        start: at + 1,
        steps: Vec::new(),
    };
    let inside = text.get(at + 1..end).unwrap_or("");
    if !escaped {
        return (inside.into(), places, end + 1);
    }
    let mut decoded = String::with_capacity(inside.len());
    let mut source = at + 1;
    while let Some(skip) = memchr::memchr(b'\\', &bytes[source..end]) {
        decoded.push_str(&text[source..source + skip]);
        source += skip;
        let (letter, size) = json::escape(&text[source..end]);
        decoded.push(letter);
        source += size;
        places.steps.push((decoded.len(), source));
    }
    decoded.push_str(&text[source..end]);
    (decoded.into(), places, end + 1)
}

/// Looks at one string.
fn leaf(
    rules: &Rules,
    value: &str,
    places: Places,
    frame: Option<&mut Frame>,
    own: Option<usize>,
    texts: &mut Vec<Text>,
    found: &mut Vec<Found>,
) {
    let mut none = Frame::default();
    let frame = frame.unwrap_or(&mut none);
    let mut hide = |start: usize, end: usize, label: Label| {
        found.push(Found {
            start: places.source(start),
            end: places.source(end),
            label,
        })
    };
    if frame.is_object {
        match frame.key.as_str() {
            "type" => frame.tag = value.to_owned(),
            "kind" if value == "Secret" => frame.is_secret_manifest = true,
            "name" | "key" | "Name" | "Key" | "variable" | "field" if value.len() < 128 => {
                frame.named = value.to_owned()
            }
            _ => {}
        }
        if OPAQUE.contains(&frame.key.as_str()) || (frame.key == "data" && OPAQUE_BLOCKS.contains(&frame.tag.as_str()))
        {
            return;
        }
        if frame.all_secret && value.len() >= 4 && !Candidate::new(value).is_placeholder() {
            return hide(0, value.len(), Label::Code("credential", "Kubernetes secret"));
        }
    }
    let trimmed = value.trim_start();
    if matches!(trimmed.as_bytes().first(), Some(b'{' | b'[')) && trimmed.len() > 2 && json::value(value).is_ok() {
        let parent = own.unwrap_or(usize::MAX);
        texts.push(Text {
            decoded: value.to_owned(),
            parent: Some((parent, places)),
        });
        return;
    }
    if let Some(label) = announced(rules, frame, value) {
        return hide(0, value.len(), label);
    }
    if !frame.is_object {
        frame.before = if value.len() < 64 {
            value.to_owned()
        } else {
            String::new()
        };
    }
    if frame.is_object && frame.key.to_ascii_lowercase().ends_with("cookie") {
        let mut scanner = Scanner::new(rules, value, 0);
        scanner.cookie_pairs(0, value.len());
        scanner
            .found
            .iter()
            .for_each(|span| hide(span.start, span.end, span.label));
    }
    for span in Scanner::new(rules, value, 0).scan() {
        hide(span.start, span.end, span.label);
    }
}

/// The label of a value that its name gives away.
fn announced(rules: &Rules, frame: &Frame, value: &str) -> Option<Label> {
    let (name, flag) = if !frame.is_object {
        if !frame.before.starts_with('-') {
            return None;
        }
        (frame.before.trim_start_matches('-'), true)
    } else if matches!(frame.key.as_str(), "value" | "Value" | "default" | "stringValue") && !frame.named.is_empty() {
        (frame.named.as_str(), false)
    } else {
        (frame.key.as_str(), false)
    };
    if matches!(name, "auth" | "_auth")
        && decode(value.as_bytes())
            .is_some_and(|bytes| bytes.contains(&b':') && bytes.len() >= 6 && bytes.iter().all(u8::is_ascii_graphic))
    {
        return Some(Label::Code("password", "registry login"));
    }
    if name.eq_ignore_ascii_case("authorization") || name.to_ascii_lowercase().contains("cookie") || value.len() > 4096
    {
        return None;
    }
    // Most names hold no word that tells; finding that out is cheaper than taking them apart.
    let word = rules
        .automaton
        .find_iter(name)
        .find_map(|hit| rules.entries[hit.pattern().as_usize()].word)?;
    let promised = match name.is_ascii() {
        true => promise(name, &rules.vendors)?,
        false => Promise::of_word(word)?,
    };
    if !judge(promised, Operator::Colon, flag, true, value.trim()) || is_vendor_token(rules, value) {
        return None;
    }
    Some(match promised {
        Promise::Password { .. } => Label::Code("password", "named password"),
        Promise::Secret | Promise::Weak | Promise::Vendor => Label::Code("credential", "named secret"),
    })
}

/// Whether the value is a token by its own form: then that names it better.
fn is_vendor_token(rules: &Rules, value: &str) -> bool {
    let found = Scanner::new(rules, value, 0).scan();
    found.iter().any(|found| found.start == 0 && found.end == value.len())
}
