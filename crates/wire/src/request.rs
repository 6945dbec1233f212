//! A request body at a glance: where its fields and the elements of its list stand. One pass over the bytes, nothing decoded.
//!
//! For whoever sees the same long history again and again and wants to know only what is new in it. What is found here is
//! where things stand, not that they are right: reading the body says that.

use std::ops::Range;

use memchr::memchr2;

use crate::reading::WireForm;

/// Where the parts of a request body stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glance {
    /// The fields around the list: the key without its quotes, and the value.
    fields: Vec<(Range<usize>, Range<usize>)>,
    /// The range between the list's brackets.
    pub list: Range<usize>,
    /// The elements of the list.
    pub elements: Vec<Range<usize>>,
}

impl Glance {
    /// Looks at a body. `None` where it is no object, has no list or several of them, or is cut off.
    pub fn of(form: WireForm, body: &[u8]) -> Option<Self> {
        let wanted: &[u8] = match form {
            WireForm::Responses => b"input",
            WireForm::Chat | WireForm::Anthropic => b"messages",
        };
        let mut found = None;
        let mut fields = Vec::new();
        let mut at = blank(body, 0);
        if body.get(at) != Some(&b'{') {
            return None;
        }
        at = blank(body, at + 1);
        while body.get(at) != Some(&b'}') {
            let key = string(body, at)?;
            at = blank(body, key.end + 1);
            if body.get(at) != Some(&b':') {
                return None;
            }
            at = blank(body, at + 1);
            // Whichever of two lists one reader takes, another may take the other.
            if &body[key.clone()] == wanted {
                if found.is_some() {
                    return None;
                }
                let (elements, end) = elements(body, at)?;
                found = Some((at + 1..end - 1, elements));
                fields.push((key, at..end));
                at = end;
            } else {
                // An escape could spell the list's name in another way.
                if memchr::memchr(b'\\', &body[key.clone()]).is_some() {
                    return None;
                }
                let end = value(body, at)?;
                fields.push((key, at..end));
                at = end;
            }
            at = blank(body, at);
            match body.get(at)? {
                b',' => at = blank(body, at + 1),
                b'}' => {}
                _ => return None,
            }
        }
        if blank(body, at + 1) != body.len() {
            return None;
        }
        let (list, elements) = found?;
        Some(Self { fields, list, elements })
    }

    /// Where the value of a field stands; the last one where the key is repeated.
    pub fn field(&self, body: &[u8], key: &str) -> Option<Range<usize>> {
        let is_it = |(name, _): &&(Range<usize>, Range<usize>)| &body[name.clone()] == key.as_bytes();
        self.fields.iter().rev().find(is_it).map(|(_, value)| value.clone())
    }

    /// The value of a field, unless it is `null`.
    pub fn value<'a>(&self, body: &'a [u8], key: &str) -> Option<&'a [u8]> {
        self.field(body, key)
            .map(|range| &body[range])
            .filter(|value| *value != b"null")
    }

    /// A field that is a string without escapes.
    pub fn text<'a>(&self, body: &'a [u8], key: &str) -> Option<&'a str> {
        let inside = self.value(body, key)?.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        std::str::from_utf8(inside).ok().filter(|text| !text.contains('\\'))
    }
}

/// The elements of the array that begins here, and where it ends.
fn elements(body: &[u8], start: usize) -> Option<(Vec<Range<usize>>, usize)> {
    if body.get(start) != Some(&b'[') {
        return None;
    }
    let mut elements = Vec::new();
    let mut at = blank(body, start + 1);
    if body.get(at) == Some(&b']') {
        return Some((elements, at + 1));
    }
    loop {
        let end = value(body, at)?;
        elements.push(at..end);
        at = blank(body, end);
        match body.get(at)? {
            b',' => at = blank(body, at + 1),
            b']' => return Some((elements, at + 1)),
            _ => return None,
        }
    }
}

/// Where white space ends.
fn blank(body: &[u8], mut at: usize) -> usize {
    while matches!(body.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
        at += 1;
    }
    at
}

/// The inside of the string that begins here.
fn string(body: &[u8], start: usize) -> Option<Range<usize>> {
    if body.get(start) != Some(&b'"') {
        return None;
    }
    let mut at = start + 1;
    loop {
        let next = at + memchr2(b'"', b'\\', body.get(at..)?)?;
        match body[next] {
            b'"' => return Some(start + 1..next),
            _ => at = next + 2,
        }
    }
}

/// Where the value that begins here ends.
fn value(body: &[u8], start: usize) -> Option<usize> {
    match body.get(start)? {
        b'"' => string(body, start).map(|inside| inside.end + 1),
        b'{' | b'[' => nested(body, start),
        _ => {
            let is_over = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t');
            let length = body[start..].iter().position(is_over)?;
            (length > 0).then_some(start + length)
        }
    }
}

/// Where the object or array that begins here ends. Nesting costs no stack.
fn nested(body: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = start;
    loop {
        match body.get(at)? {
            b'"' => at = string(body, at)?.end,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
