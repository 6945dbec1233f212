//! JSON by its strings: each is decoded, changed and written back; every other byte stays. Plain text is one string.

use std::borrow::Cow;

use mainstay_engine::json;

/// How deep JSON inside of strings of JSON is read. Tool outputs that hold a tool's arguments have three.
const DEEPEST: usize = 4;

/// Visits every string of a text and every string inside of those, decoded; the text itself where it is no JSON.
pub(super) fn visit(text: &str, see: &mut dyn FnMut(&str)) {
    map(text, &mut |string| {
        see(string);
        Cow::Borrowed(string)
    });
}

/// Changes every string.
pub(super) fn map<'t>(text: &'t str, change: &mut dyn FnMut(&str) -> Cow<'_, str>) -> Cow<'t, str> {
    map_at(text, DEEPEST, change)
}

fn map_at<'t>(text: &'t str, depth: usize, change: &mut dyn FnMut(&str) -> Cow<'_, str>) -> Cow<'t, str> {
    if depth == 0 || !is_json(text) {
        return match change(text) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(new) if new == text => Cow::Borrowed(text),
            Cow::Owned(new) => Cow::Owned(new),
        };
    }
    let mut out = String::new();
    let (mut done, mut at) = (0, 0);
    while let Some(open) = memchr::memchr(b'"', &text.as_bytes()[at..]) {
        let start = at + open;
        let end = string_end(text.as_bytes(), start);
        at = end;
        let raw = &text[start..end];
        let Some(decoded) = json::value(raw).ok().and_then(json::text) else {
            continue;
        };
        if let Cow::Owned(new) = map_at(&decoded, depth - 1, change) {
            out.push_str(&text[done..start]);
            out.push_str(&json::quote(&new));
            done = end;
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// Whether a text is a JSON object or list. Whatever begins like one is read once, so the time stays linear.
pub(super) fn is_json(text: &str) -> bool {
    let trimmed = text.trim_start();
    trimmed.starts_with(['{', '[']) && json::value(text).is_ok()
}

/// The place after the quote that ends the string beginning here.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}
