//! JSON as a tape: one entry a value, in the order of the text, with its place in it.
//!
//! The scanner accepts exactly the JSON grammar, keeps no copy of anything and has no recursion: a document may be
//! as deep as it is long.

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// A number, `true`, `false` or `null`.
    Scalar,
    /// Lines of JSON, the root of a file of records.
    Lines,
    /// A line among them that is no JSON.
    Broken,
}

/// A value on the tape. Places are byte offsets into the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// What it is.
    pub value: Value,
    /// Where it starts.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
    /// Where its key starts and ends, quotes included; both 0 when it has none.
    pub key: (u32, u32),
    /// The tape index after its last descendant.
    pub after: u32,
    /// How many values it holds.
    pub children: u32,
}

/// A text and its values.
#[derive(Debug)]
pub(super) struct Tape<'t> {
    /// The whole text.
    pub text: &'t str,
    /// Its values; the first is the root.
    pub nodes: Vec<Node>,
}

/// Lines that may be broken among lines of JSON: a cut at the end, a stray word of the tool. One in ten.
const BROKEN: usize = 10;

impl<'t> Tape<'t> {
    /// One JSON value and nothing else.
    pub fn document(text: &'t str) -> Option<Tape<'t>> {
        u32::try_from(text.len()).ok()?;
        let mut nodes = Vec::new();
        let start = skip_space(text.as_bytes(), 0);
        let end = scan(text.as_bytes(), start, text.len(), &mut nodes)?;
        (skip_space(text.as_bytes(), end) == text.len()).then_some(Tape { text, nodes })
    }

    /// Lines of objects or arrays, two at least, nearly all of them whole.
    pub fn lines(text: &'t str) -> Option<Tape<'t>> {
        let length = u32::try_from(text.len()).ok()?;
        let root = Node {
            value: Value::Lines,
            start: 0,
            end: length,
            key: (0, 0),
            after: 0,
            children: 0,
        };
        let mut nodes = vec![root];
        let (mut whole, mut broken, mut at) = (0, 0, 0);
        for line in text.split('\n') {
            let start = at;
            at += line.len() + 1;
            let trimmed = line.trim();
            if trimmed.is_empty() {
                continue;
            }
            let offset = start + (line.len() - line.trim_start().len());
            let end = offset + trimmed.len();
            let before = nodes.len();
            let found =
                trimmed.starts_with(['{', '[', '"']) && scan(text.as_bytes(), offset, end, &mut nodes) == Some(end);
            if found {
                whole += 1;
            } else {
                nodes.truncate(before);
                nodes.push(Node {
                    value: Value::Broken,
                    start: offset as u32,
                    end: end as u32,
                    key: (0, 0),
                    after: before as u32 + 1,
                    children: 0,
                });
                broken += 1;
                // Hopeless: do not go on through a long log.
                if broken > 10 && broken > whole {
                    return None;
                }
            }
        }
        nodes[0].after = nodes.len() as u32;
        nodes[0].children = whole + broken;
        let records = nodes.len() > 1 && nodes[1].value != Value::String;
        (whole >= 2 && broken as usize * BROKEN <= (whole + broken) as usize && records).then_some(Tape { text, nodes })
    }

    /// The tape indices of the values that a value holds.
    pub fn children(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let last = self.nodes[index].after as usize;
        let mut next = index + 1;
        std::iter::from_fn(move || {
            let child = (next < last).then_some(next)?;
            next = self.nodes[child].after as usize;
            Some(child)
        })
    }

    /// A value as it is spelled.
    pub fn raw(&self, index: usize) -> &'t str {
        &self.text[self.nodes[index].start as usize..self.nodes[index].end as usize]
    }

    /// Its key as it is spelled, with quotes; empty when it has none.
    pub fn key(&self, index: usize) -> &'t str {
        let (start, end) = self.nodes[index].key;
        &self.text[start as usize..end as usize]
    }
}

fn skip_space(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..]
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
        .count()
}

/// What may come next.
enum Next {
    /// A value.
    Value,
    /// A value or the end of the array just opened.
    ValueOrEnd,
    /// A key.
    Key,
    /// A key or the end of the object just opened.
    KeyOrEnd,
    /// A comma or the end of what is open.
    CommaOrEnd,
}

/// Scans one value from `at`, not past `limit`, onto the tape. The offset after it, or `None` when it is no JSON.
fn scan(bytes: &[u8], at: usize, limit: usize, nodes: &mut Vec<Node>) -> Option<usize> {
    let bytes = &bytes[..limit];
    let mut open: Vec<usize> = Vec::new();
    let mut key = (0, 0);
    let mut next = Next::Value;
    let mut at = at;
    loop {
        at = skip_space(bytes, at);
        let byte = *bytes.get(at)?;
        match (&next, byte) {
            (Next::Value | Next::ValueOrEnd, b'{' | b'[') => {
                let value = if byte == b'{' { Value::Object } else { Value::Array };
                next = if byte == b'{' { Next::KeyOrEnd } else { Next::ValueOrEnd };
                if let Some(parent) = open.last() {
                    nodes[*parent].children += 1;
                }
                open.push(nodes.len());
                nodes.push(Node {
                    value,
                    start: at as u32,
                    end: 0,
                    key,
                    after: 0,
                    children: 0,
                });
                key = (0, 0);
                at += 1;
                continue;
            }
            (Next::ValueOrEnd, b']') | (Next::KeyOrEnd, b'}') => {
                at = close(nodes, &mut open, at);
            }
            (Next::CommaOrEnd, b']' | b'}') => {
                let expected = if byte == b'}' { Value::Object } else { Value::Array };
                if nodes[*open.last()?].value != expected {
                    return None;
                }
                at = close(nodes, &mut open, at);
            }
            (Next::CommaOrEnd, b',') => {
                next = if nodes[*open.last()?].value == Value::Object {
                    Next::Key
                } else {
                    Next::Value
                };
                at += 1;
                continue;
            }
            (Next::Key | Next::KeyOrEnd, b'"') => {
                let end = string_end(bytes, at)?;
                key = (at as u32, end as u32);
                at = skip_space(bytes, end);
                if bytes.get(at) != Some(&b':') {
                    return None;
                }
                at += 1;
                next = Next::Value;
                continue;
            }
            (Next::Value | Next::ValueOrEnd, _) => {
                let (value, end) = match byte {
                    b'"' => (Value::String, string_end(bytes, at)?),
                    _ => (Value::Scalar, scalar_end(bytes, at)?),
                };
                if let Some(parent) = open.last() {
                    nodes[*parent].children += 1;
                }
                let after = nodes.len() as u32 + 1;
                nodes.push(Node {
                    value,
                    start: at as u32,
                    end: end as u32,
                    key,
                    after,
                    children: 0,
                });
                key = (0, 0);
                at = end;
            }
            _ => return None,
        }
        if open.is_empty() {
            return Some(at);
        }
        next = Next::CommaOrEnd;
    }
}

/// Ends the innermost open value at the bracket at `at`; the offset after it.
fn close(nodes: &mut [Node], open: &mut Vec<usize>, at: usize) -> usize {
    let after = nodes.len() as u32;
    if let Some(index) = open.pop() {
        nodes[index].end = at as u32 + 1;
        nodes[index].after = after;
    }
    at + 1
}

/// The offset after the string that opens at `at`.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        match *bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => match *bytes.get(at + 1)? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => at += 2,
                b'u' if bytes.get(at + 2..at + 6)?.iter().all(u8::is_ascii_hexdigit) => at += 6,
                _ => return None,
            },
            0..=0x1f => return None,
            _ => at += 1,
        }
    }
}

/// The offset after the number or word at `at`.
fn scalar_end(bytes: &[u8], at: usize) -> Option<usize> {
    for word in [&b"true"[..], b"false", b"null"] {
        if bytes[at..].starts_with(word) {
            return Some(at + word.len());
        }
    }
    let digits = |at: usize| bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut end = at + usize::from(bytes[at] == b'-');
    let whole = digits(end);
    if whole == 0 || whole > 1 && bytes[end] == b'0' {
        return None;
    }
    end += whole;
    if bytes.get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        end += 1 + fraction;
        if fraction == 0 {
            return None;
        }
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        end += 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end.min(bytes.len()));
        end += exponent;
        if exponent == 0 {
            return None;
        }
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_json_is_accepted() {
        for text in [
            "{}",
            " [ ] ",
            r#"{"a":[1,-0.5e+3,true,null,"\u00e9\n"]}"#,
            "0",
            r#""x""#,
            r#"{"a":{},"a":[]}"#,
        ] {
            assert!(Tape::document(text).is_some(), "{text}");
        }
        for text in [
            "",
            "{",
            "[1,]",
            "{\"a\"}",
            "{\"a\":}",
            "{a:1}",
            "01",
            "1.",
            "1e",
            "-",
            "[1 2]",
            "[1}",
            "\"\t\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "{} {}",
            "tru",
            "nulll",
            "{,}",
            "[",
            "]",
            "\"abc",
        ] {
            assert!(Tape::document(text).is_none(), "{text}");
        }
    }

    #[test]
    fn it_agrees_with_another_parser() {
        use proptest::prelude::*;
        let pieces = r#"(\{|\}|\[|\]|,|:|"a"|"\\n"|1|0|-2\.5|1e9|true|null| ){0,12}"#;
        proptest!(|(text in pieces)| {
            // As raw text: a number too large for a float is JSON all the same.
            let other = serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok();
            prop_assert_eq!(Tape::document(&text).is_some(), other);
        });
    }

    #[test]
    fn depth_costs_no_stack_and_places_are_right() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(Tape::document(&deep).map(|tape| tape.nodes.len()), Some(100_000));
        let tape = Tape::document(r#"{"a": [1, {"b": "c"}], "d": null}"#).unwrap();
        let children: Vec<_> = tape
            .children(0)
            .map(|child| (tape.key(child), tape.raw(child)))
            .collect();
        assert_eq!(children, [("\"a\"", r#"[1, {"b": "c"}]"#), ("\"d\"", "null")]);
    }

    #[test]
    fn lines_tolerate_a_broken_one_in_ten() {
        let mut text: String = (0..20).map(|n| format!("{{\"n\":{n}}}\n")).collect();
        text.push_str("{\"n\":2");
        let tape = Tape::lines(&text).unwrap();
        assert_eq!(tape.nodes[0].children, 21);
        assert!(Tape::lines("{\n}\n").is_none());
        assert!(Tape::lines("{}").is_none());
    }
}
