//! Arguments and answers in JSON as lines a reader understands: `key: value`, text with its line breaks, a row a record.
//!
//! Evidence is chosen from these lines, so that none of it is cut inside of an escaped text, and no budget goes to quotes and braces.

use std::borrow::Cow;

use serde_json::Value;

/// Members of a record stand on one line up to this many bytes.
const LINE_BYTES: usize = 120;
/// Deeper nesting is written as it is.
const DEPTH: usize = 8;

/// A text as lines: JSON objects and lists are written out, everything else stays as it is.
pub fn readable(text: &str) -> Cow<'_, str> {
    written_out(text, LINE_BYTES)
}

/// Arguments as lines, one a member: a command is worth keeping without the folder and the time limit that every call repeats.
pub fn readable_arguments(text: &str) -> Cow<'_, str> {
    written_out(text, 0)
}

fn written_out(text: &str, line_bytes: usize) -> Cow<'_, str> {
    if !begins_like_json(text) {
        return Cow::Borrowed(text);
    }
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return Cow::Borrowed(text);
    };
    let mut lines = LineWriter {
        text: String::with_capacity(text.len()),
        line_start: 0,
        line_bytes,
    };
    lines.value("", &value, 0);
    lines.end_line();
    lines.text.truncate(lines.text.trim_end().len());
    Cow::Owned(lines.text)
}

/// Whether a text may be a JSON object or list with something in it.
fn begins_like_json(text: &str) -> bool {
    let mut marks = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    matches!(marks.next(), Some(b'{' | b'[')) && matches!(marks.next(), Some(b'"' | b'{' | b'[' | b'-' | b'0'..=b'9'))
}

struct LineWriter {
    text: String,
    line_start: usize,
    line_bytes: usize,
}

impl LineWriter {
    fn value(&mut self, key: &str, value: &Value, depth: usize) {
        match value {
            Value::Object(members) if depth < DEPTH => {
                self.open_group(key, depth);
                for (name, member) in members {
                    self.value(name, member, depth + 1);
                }
                self.end_line();
            }
            Value::Array(list) if depth < DEPTH && list.iter().any(|one| one.is_object() || one.is_array()) => {
                self.open_group(key, depth);
                for one in list {
                    self.end_line();
                    self.value("", one, depth + 1);
                }
                self.end_line();
            }
            Value::Array(list) if depth < DEPTH => {
                let all: Vec<Cow<'_, str>> = list.iter().map(scalar).collect();
                self.member(key, &all.join(", "));
            }
            _ => self.member(key, &scalar(value)),
        }
    }

    /// The name of what follows, on a line of its own.
    fn open_group(&mut self, key: &str, depth: usize) {
        if depth > 0 && !key.is_empty() {
            self.end_line();
            self.text.push_str(key);
            self.text.push(':');
            self.end_line();
        }
    }

    fn member(&mut self, key: &str, words: &str) {
        let is_long = self.text.len() - self.line_start + key.len() + words.len() > self.line_bytes;
        if is_long || words.contains('\n') {
            self.end_line();
        }
        if self.text.len() > self.line_start {
            self.text.push_str(", ");
        }
        if !key.is_empty() {
            self.text.push_str(key);
            self.text.push_str(if words.contains('\n') { ":\n" } else { ": " });
        }
        self.text.push_str(words);
        if words.contains('\n') {
            self.end_line();
        }
    }

    fn end_line(&mut self) {
        if self.text.len() > self.line_start {
            if !self.text.ends_with('\n') {
                self.text.push('\n');
            }
            self.line_start = self.text.len();
        }
    }
}

/// A value without quotes around it.
fn scalar(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_lines_with_their_keys() {
        assert_eq!(
            readable_arguments(r#"{"command": "ls -la\ncat a.txt"}"#),
            "command:\nls -la\ncat a.txt"
        );
        assert_eq!(
            readable_arguments(r#"{"path": "src/a.rs", "limit": 20}"#),
            "path: src/a.rs\nlimit: 20"
        );
    }

    #[test]
    fn records_stand_on_lines_of_their_own() {
        let rows = r#"[{"id": 1, "tags": ["a", "b"]}, {"id": 2, "at": {"x": 3}}]"#;
        assert_eq!(readable(rows), "id: 1, tags: a, b\nid: 2\nat:\nx: 3");
    }

    #[test]
    fn what_is_not_json_stays_as_it_is() {
        for text in ["", "[ERROR] no such file", "{broken", "plain words", "[]", "{}"] {
            assert_eq!(readable(text), text);
        }
    }

    #[test]
    fn long_records_are_broken_between_members() {
        let long = format!(r#"{{"a": "{}", "b": "{}"}}"#, "x".repeat(100), "y".repeat(100));
        assert_eq!(readable(&long).lines().count(), 2);
    }
}
