//! Places in a text that are hidden, and what stands there instead.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::redact::scan::Found;
use crate::redact::scan::Label;

/// How many characters of the hash a reference shows: 48 bits tell the secrets of a store apart.
const SHOWN: usize = 12;

/// The key of the references: whoever does not have it cannot test a guess against them.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl Key {
    /// From 32 bytes that the caller keeps secret.
    pub fn new(bytes: [u8; 32]) -> Self {
        Key(bytes)
    }

    fn hash(&self, value: &str) -> String {
        let hash = blake3::keyed_hash(&self.0, value.as_bytes());
        hash.to_hex()[..SHOWN].to_owned()
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key(…)")
    }
}

/// A place that is hidden, in bytes of UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// What it is: `github`, `password`, `private_key`, `ip`.
    pub kind: Arc<str>,
    /// Which rule found it.
    pub rule: Arc<str>,
}

/// A text without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted {
    /// The text with references.
    pub text: String,
    /// What was hidden, by places in the text that came in.
    pub spans: Vec<Span>,
}

impl Span {
    /// What stands in the place of the value.
    pub fn replacement(&self, value: &str, key: &Key) -> String {
        match &*self.kind {
            "ip" => "[REDACTED_IP]".to_owned(),
            kind => match kind.strip_prefix("pii_") {
                Some(kind) => format!("[REDACTED_{}]", kind.to_ascii_uppercase()),
                None => format!("credential_ref:{kind}:{}", key.hash(value)),
            },
        }
    }
}

/// Puts the references in.
pub(super) fn replace(text: &str, spans: &[Span], key: &Key) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for span in spans {
        out.push_str(&text[at..span.start]);
        out.push_str(&span.replacement(&text[span.start..span.end], key));
        at = span.end;
    }
    out.push_str(&text[at..]);
    out
}

/// Adds what a second reading found in the redacted text, in places of the original.
pub(super) fn widen(text: &str, spans: Vec<Span>, more: &[Span], key: &Key) -> Vec<Span> {
    // Where each reference stands in the redacted text.
    let mut shifted = Vec::with_capacity(spans.len());
    let (mut read, mut written) = (0, 0);
    for span in &spans {
        written += span.start - read;
        let size = span.replacement(&text[span.start..span.end], key).len();
        shifted.push((written, written + size));
        written += size;
        read = span.end;
    }
    let original = |at: usize, is_end: bool| {
        let before = shifted.partition_point(|(start, _)| if is_end { *start < at } else { *start <= at });
        match before.checked_sub(1) {
            Some(index) if at < shifted[index].1 => {
                if is_end {
                    spans[index].end
                } else {
                    spans[index].start
                }
            }
            Some(index) => spans[index].end + (at - shifted[index].1),
            None => at,
        }
    };
    let mut all: Vec<Span> = more
        .iter()
        .map(|span| Span {
            start: original(span.start, false),
            end: original(span.end, true),
            ..span.clone()
        })
        .collect();
    all.extend(spans);
    all.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut merged: Vec<Span> = Vec::with_capacity(all.len());
    for span in all {
        match merged.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

/// Where a text is redacted already.
fn marks(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut marks: Vec<(usize, usize)> = Vec::new();
    for start in memchr::memmem::find_iter(bytes, b"credential_ref:") {
        let part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':');
        marks.push((start, start + bytes[start..].iter().take(80).take_while(part).count()));
    }
    for start in memchr::memmem::find_iter(bytes, b"[REDACTED") {
        let size = bytes[start..].iter().take(40).position(|byte| *byte == b']');
        marks.push((start, start + size.map_or(9, |size| size + 1)));
    }
    marks.sort_unstable();
    marks
}

/// Leaves out what touches a reference: it was found before.
pub(super) fn drop_marked(text: &str, found: &mut Vec<Found>) {
    let marks = marks(text);
    found.retain(|span| {
        let next = marks.partition_point(|(_, end)| *end <= span.start);
        marks.get(next).is_none_or(|(start, _)| span.end <= *start)
    });
}

/// Orders findings and joins those that overlap. The form of a token names a finding better than its context.
pub(super) fn merge(text: &str, mut found: Vec<Found>) -> Vec<Found> {
    drop_marked(text, &mut found);
    found.retain(|span| span.start < span.end && span.end <= text.len());
    for span in &mut found {
        while !text.is_char_boundary(span.start) {
            span.start -= 1;
        }
        while !text.is_char_boundary(span.end) {
            span.end += 1;
        }
    }
    found.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut merged: Vec<Found> = Vec::with_capacity(found.len());
    for span in found {
        let Some(last) = merged.last_mut().filter(|last| span.start < last.end) else {
            merged.push(span);
            continue;
        };
        let longer = span.end - span.start > last.end - last.start;
        let better = rank(span.label) > rank(last.label) || (rank(span.label) == rank(last.label) && longer);
        last.end = last.end.max(span.end);
        if better {
            last.label = span.label;
        }
    }
    merged
}

fn rank(label: Label) -> u8 {
    match label {
        Label::Code("private_key", _) => 4,
        Label::Token(_) => 3,
        Label::Code("ip", _) => 0,
        Label::Code(_, "seen before") => 1,
        Label::Code(kind, _) if kind.starts_with("pii_") => 0,
        Label::Code(..) => 2,
    }
}
