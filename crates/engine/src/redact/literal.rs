//! Values as they are written: quoted in any way, escaped, wrapped in a call, or bare.

use crate::redact::chars::line_end;
use crate::redact::notation::Operator;
use crate::redact::scan::Scanner;

/// How long a quoted value may be: a key file in one line fits.
const QUOTED: usize = 8192;
/// How long an unquoted value is looked at; an accepted one is hidden to its end.
const UNQUOTED: usize = 256;

/// A value's place, without its quotes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub start: usize,
    pub end: usize,
    pub quoted: bool,
}

impl Scanner<'_> {
    /// The value after an operator.
    pub(super) fn value(&self, operator: Operator, at: usize) -> Option<Value> {
        let mut start = self.skip_blanks(at);
        if operator == Operator::Tag || self.at_line_end(start) {
            start = self.skip_line_breaks(start, operator)?;
        }
        if operator == Operator::Tag && self.bytes[start..].starts_with(b"<![CDATA[") {
            start += 9;
        }
        start = self.skip_wrapper(start);
        if let Some(value) = self.quoted(start) {
            return Some(value);
        }
        let mut end = self.unquoted_end(start, UNQUOTED, operator);
        // Between two tags a value may have spaces.
        if operator == Operator::Tag && self.bytes.get(end) == Some(&b' ') {
            let phrase = self.phrase_end(start);
            if self.bytes[phrase..].starts_with(b"</") {
                end = phrase;
            }
        }
        (end > start).then_some(Value {
            start,
            end,
            quoted: operator == Operator::Tag,
        })
    }

    fn at_line_end(&self, at: usize) -> bool {
        matches!(self.bytes.get(at), Some(b'\n' | b'\r'))
    }

    /// A value on the line after a tag or after `key: >-`.
    fn skip_line_breaks(&self, at: usize, operator: Operator) -> Option<usize> {
        if operator != Operator::Tag {
            return None;
        }
        let blanks = self.bytes[at..]
            .iter()
            .take(64)
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        Some(at + blanks)
    }

    /// Steps over what a language puts around a literal: `b"`, `SecretStr("`, `["`, `{`.
    fn skip_wrapper(&self, at: usize) -> usize {
        const AROUND: &[&str] = &[
            "SecretStr(",
            "String(",
            "new String(",
            "str(",
            "bytes(",
            "Some(",
            "Buffer.from(",
            "base64.b64decode(",
            "atob(",
            "Secret(",
            "Password(",
            "Token(",
            "ApiKey(",
            "new SecretString(",
            "SecretString::new(",
            "SecretString::from(",
            "Secret::new(",
            "SecureString(",
            "quote(",
            "json.dumps(",
            "[]byte(",
            "string(",
            "std::string(",
            "secrecy::Secret::new(",
            "Masked(",
            "Redacted(",
            "Cow::Borrowed(",
            "Ok(",
            "[",
            "{",
            "(",
            "token ",
            "Token ",
            "Bearer ",
            "bearer ",
            "ConvertTo-SecureString ",
            "@",
            "$",
            "!!str ",
            "!!binary ",
            "encodeURIComponent(",
        ];
        let quote = |at: usize| matches!(self.bytes.get(at), Some(b'"' | b'\'' | b'`' | b'\\'));
        for wrapper in AROUND {
            if self.bytes[at..].starts_with(wrapper.as_bytes()) && (quote(at + wrapper.len()) || wrapper.ends_with(' '))
            {
                return at + wrapper.len();
            }
        }
        let letters = self.bytes[at..]
            .iter()
            .take(3)
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count();
        if (1..=2).contains(&letters) && quote(at + letters) && self.bytes[at + letters] != b'\\' {
            return at + letters;
        }
        at
    }

    /// A quoted value; quotes may be escaped, as in JSON inside of JSON.
    pub(super) fn quoted(&self, at: usize) -> Option<Value> {
        for (open, close) in [
            ("“", "”"),
            ("«", "»"),
            ("„", "“"),
            ("‘", "’"),
            ("&quot;", "&quot;"),
            ("「", "」"),
        ] {
            if self.bytes[at..].starts_with(open.as_bytes()) {
                let start = at + open.len();
                let line = line_end(self.bytes, start, UNQUOTED);
                let inside = self.text.get(start..line)?;
                let end = start + inside.find(close)?;
                return Some(Value {
                    start,
                    end,
                    quoted: true,
                });
            }
        }
        let escapes = self.bytes[at..]
            .iter()
            .take(8)
            .take_while(|byte| **byte == b'\\')
            .count();
        let quote = *self.bytes.get(at + escapes)?;
        if !matches!(quote, b'"' | b'\'' | b'`') {
            return None;
        }
        let mut start = at + escapes + 1;
        if self.bytes[start..].starts_with(&[quote, quote]) {
            start += 2;
        }
        let stop = self.bytes.len().min(start + QUOTED);
        let mut end = start;
        while end < stop && self.bytes[end] != b'\n' {
            if self.bytes[end] == quote {
                let run = self.bytes[start..end]
                    .iter()
                    .rev()
                    .take_while(|byte| **byte == b'\\')
                    .count();
                if escapes == 0 && run % 2 == 1 {
                    // An escaped quote inside, or the end of the text this one is quoted in.
                    end += 1;
                    continue;
                }
                let end = if escapes > 0 { end - run.min(escapes) } else { end };
                return Some(Value {
                    start,
                    end,
                    quoted: true,
                });
            }
            end += 1;
        }
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        // Cut off before its closing quote.
        let blank = self.bytes[start..end]
            .iter()
            .position(|byte| byte.is_ascii_whitespace());
        Some(Value {
            start,
            end: blank.map_or(end, |blank| start + blank),
            quoted: false,
        })
    }

    /// Where an unquoted value ends.
    pub(super) fn unquoted_end(&self, start: usize, most: usize, operator: Operator) -> usize {
        let stop = self.bytes.len().min(start.saturating_add(most));
        let mut end = start;
        while end < stop && !self.text.is_char_boundary(end) {
            end += 1;
        }
        while end < stop {
            let byte = self.bytes[end];
            let next = self.bytes.get(end + 1).copied().unwrap_or(b' ');
            let ends = match byte {
                b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'<' | b'>' => true,
                0..=0x1f | 0x7f => true,
                b'\\' => matches!(next, b'n' | b'r' | b't' | b'"' | b'\'' | b'\\' | b'u' | b'\n'),
                b',' => operator != Operator::Cell || !next.is_ascii_alphanumeric(),
                b';' => true,
                b'&' => {
                    next.is_ascii_alphabetic()
                        && self.bytes[end..]
                            .iter()
                            .take(40)
                            .any(|byte| *byte == b'=' || *byte == b';')
                }
                b')' | b'}' | b']' => !next.is_ascii_alphanumeric(),
                b'|' => operator == Operator::Cell || next == b' ',
                0x80.. => {
                    let letter = self.text[end..].chars().next().unwrap_or(' ');
                    if letter.is_alphanumeric() {
                        end += letter.len_utf8() - 1;
                        false
                    } else {
                        true
                    }
                }
                _ => false,
            };
            if ends {
                break;
            }
            end += 1;
        }
        // A sentence may end after the value.
        while end > start && matches!(self.bytes[end - 1], b'.' | b':' | b',') {
            end -= 1;
        }
        end
    }

    pub(super) fn skip_blanks(&self, at: usize) -> usize {
        let blanks = self.bytes[at.min(self.bytes.len())..]
            .iter()
            .take(64)
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
        at + blanks
    }
}
