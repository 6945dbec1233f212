//! Strings of JSON, cut without breaking an escape, a character or a surrogate pair.

use std::borrow::Cow;

use super::marker::CLOSE;
use super::marker::OPEN;

/// Most bytes of a string that reports a failure before it is cut, as for lines.
const MOST_FAILURE: usize = 2000;

/// Fewest lines in a string that is shortened as an output of its own.
const LINES: usize = 8;

/// A string with its quotes, shortened to about `most` bytes. One that holds lines is read, shortened by its own kind and
/// written again; any other loses its middle.
pub(super) fn shrink(raw: &str, most: usize, fails: bool) -> Cow<'_, str> {
    let most = if fails { most.max(MOST_FAILURE) } else { most };
    if raw.len() <= most + most / 4 {
        return Cow::Borrowed(raw);
    }
    if raw.matches("\\n").count() >= LINES
        && let Some(text) = read(raw)
    {
        let short = super::shrink_lines(&text, most);
        let written = write(&short);
        if written.len() < raw.len() {
            return Cow::Owned(written);
        }
    }
    cut(raw, most)
}

/// A string with its quotes, without its middle when it is longer than `most`.
pub(super) fn cut(raw: &str, most: usize) -> Cow<'_, str> {
    // A marker is about this long, and what goes must be longer.
    if raw.len() <= most + 48 {
        return Cow::Borrowed(raw);
    }
    let head = unit_at_or_before(raw, most * 2 / 3);
    let tail = unit_at_or_before(raw, raw.len() - most / 3);
    if tail <= head {
        return Cow::Borrowed(raw);
    }
    Cow::Owned(format!(
        "{}{OPEN} {} bytes dropped{CLOSE}{}",
        &raw[..head],
        tail - head,
        &raw[tail..]
    ))
}

/// The last start of a unit (a character, an escape, a pair of escapes) at or before a place, and not before the
/// content's start.
fn unit_at_or_before(raw: &str, place: usize) -> usize {
    let bytes = raw.as_bytes();
    let mut at = 1;
    let mut last = 1;
    while at <= place.min(raw.len().saturating_sub(1)) {
        last = at;
        at += unit(bytes, at);
    }
    last
}

/// The bytes of the unit at a place inside a valid string.
fn unit(bytes: &[u8], at: usize) -> usize {
    match bytes[at] {
        b'\\' if bytes.get(at + 1) == Some(&b'u') => {
            let high = matches!(
                &bytes[at + 2..],
                [b'd' | b'D', b'8' | b'9' | b'a' | b'A' | b'b' | b'B', ..]
            );
            if high && bytes.get(at + 6..at + 8) == Some(b"\\u") {
                12
            } else {
                6
            }
        }
        b'\\' => 2,
        0..=0x7f => 1,
        0x80..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xff => 4,
    }
}

/// The text of a string; `None` when it has lone surrogates, which no text can hold.
pub(super) fn read(raw: &str) -> Option<String> {
    let mut text = String::with_capacity(raw.len());
    let mut rest = &raw[1..raw.len() - 1];
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let bytes = rest.as_bytes();
        let length = unit(bytes, at);
        match bytes[at + 1] {
            b'n' => text.push('\n'),
            b't' => text.push('\t'),
            b'r' => text.push('\r'),
            b'b' => text.push('\x08'),
            b'f' => text.push('\x0c'),
            b'u' => {
                let code = |at: usize| u16::from_str_radix(rest.get(at..at + 4)?, 16).ok();
                let first = code(at + 2)?;
                let second = if length == 12 { Some(code(at + 8)?) } else { None };
                let decoded: Result<String, _> =
                    char::decode_utf16([Some(first), second].into_iter().flatten()).collect();
                text.push_str(&decoded.ok()?);
            }
            other => text.push(char::from(other)),
        }
        rest = &rest[at + length..];
    }
    text.push_str(rest);
    Some(text)
}

/// A text as a string with quotes.
fn write(text: &str) -> String {
    let mut raw = String::with_capacity(text.len() + 2);
    raw.push('"');
    for character in text.chars() {
        match character {
            '"' => raw.push_str("\\\""),
            '\\' => raw.push_str("\\\\"),
            '\n' => raw.push_str("\\n"),
            '\t' => raw.push_str("\\t"),
            '\r' => raw.push_str("\\r"),
            control if control < ' ' => raw.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => raw.push(other),
        }
    }
    raw.push('"');
    raw
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_fall_between_units() {
        let strings = [
            format!("\"{}\"", "\\ud83d\\ude00".repeat(60)),
            format!("\"{}\"", "\\n\\\\\\\"".repeat(90)),
            format!("\"{}\"", "жы€😀".repeat(60)),
        ];
        for raw in &strings {
            for most in 60..100 {
                let short = cut(raw, most);
                assert!(short.len() < raw.len());
                let text: String = serde_json::from_str(&short).unwrap_or_else(|error| panic!("{error}: {short}"));
                assert!(text.contains(" bytes dropped⟧"));
            }
        }
    }

    #[test]
    fn reading_and_writing_agree_with_another_parser() {
        let raw = r#""a\n\t\"\\\/\u00e9\ud83d\ude00\u0001\b\f\r""#;
        let text = read(raw).unwrap();
        assert_eq!(text, serde_json::from_str::<String>(raw).unwrap());
        assert_eq!(serde_json::from_str::<String>(&write(&text)).unwrap(), text);
        assert_eq!(read(r#""\ud800""#), None);
    }

    #[test]
    fn a_string_of_lines_is_shortened_by_its_kind() {
        let passed: String = (0..200).map(|n| format!("test parses_{n} ... ok\\n")).collect();
        let raw =
            format!("\"running 201 tests\\n{passed}test adds ... FAILED\\ntest result: FAILED. 200 passed; 1 failed\"");
        let short = shrink(&raw, 400, true);
        assert!(short.len() < 1000, "{short}");
        assert!(short.contains("test adds ... FAILED") && short.contains("passing tests⟧"));
    }
}
