//! Secrets that a text shows, however they are spelled. What is found is named by kind and line, never by itself.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use base64::engine::general_purpose::URL_SAFE;
use mainstay_engine::redact::Addresses;
use mainstay_engine::redact::Key;
use mainstay_engine::redact::Options;
use mainstay_engine::redact::Redactor;
use unicode_normalization::UnicodeNormalization;

/// Shorter secrets are looked for as they are: without their surroundings they stand anywhere.
const LEAST_SQUEEZED: usize = 6;

/// Shorter secrets have too little in their encodings to be told from chance.
const LEAST_ENCODED: usize = 8;

/// References are not made here, so the key does not matter.
static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| {
    let options = Options {
        addresses: Addresses::None,
        pii: false,
    };
    Redactor::new(Key::new([0; 32]), options)
});

/// A text without what can stand inside of a secret and is no part of it: white space, line breaks, quoting, emphasis, escapes.
struct Squeezed {
    text: String,
    /// Where each line but the first begins.
    lines: Vec<usize>,
}

impl Squeezed {
    fn new(text: &str) -> Self {
        let mut squeezed = Squeezed {
            text: String::with_capacity(text.len()),
            lines: Vec::new(),
        };
        let mut at_start = true;
        let mut chars = text.nfkc().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\n' => {
                    squeezed.lines.push(squeezed.text.len());
                    at_start = true;
                    continue;
                }
                '>' | '|' if at_start => continue,
                c if c.is_whitespace() || c.is_control() => continue,
                '*' | '`' | '"' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' => {}
                '\\' => match chars.peek() {
                    Some('n' | 'r' | 't') => {
                        chars.next();
                    }
                    Some('u') => {
                        chars.next();
                        let digits: String = chars.by_ref().take(4).collect();
                        let decoded = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                        squeezed.text.extend(decoded);
                    }
                    Some(_) | None => {}
                },
                c => squeezed.text.push(c),
            }
            at_start = false;
        }
        squeezed
    }

    /// The line of the first place where something stands.
    fn line_of(&self, needle: &str) -> Option<usize> {
        let found = memchr::memmem::find(self.text.as_bytes(), needle.as_bytes())?;
        Some(self.lines.partition_point(|start| *start <= found) + 1)
    }

    fn map(&self, change: impl Fn(&str) -> String) -> Self {
        let mut lines = Vec::with_capacity(self.lines.len());
        let mut text = String::with_capacity(self.text.len());
        let mut from = 0;
        for start in &self.lines {
            text.push_str(&change(&self.text[from..*start]));
            lines.push(text.len());
            from = *start;
        }
        text.push_str(&change(&self.text[from..]));
        Squeezed { text, lines }
    }
}

/// A text, ready for secrets to be looked for in it.
pub struct Exposed<'a> {
    raw: &'a str,
    plain: Squeezed,
    lower: Squeezed,
    unescaped: Option<Squeezed>,
}

impl<'a> Exposed<'a> {
    /// Of a text.
    pub fn new(text: &'a str) -> Self {
        let plain = Squeezed::new(text);
        let has_escapes = text.contains('%') || text.contains('&');
        Exposed {
            raw: text,
            lower: plain.map(str::to_ascii_lowercase),
            unescaped: has_escapes.then(|| plain.map(unescape)),
            plain,
        }
    }

    /// The bank's secrets that it shows.
    pub fn leaks(&self, secrets: &[String]) -> Vec<String> {
        let mut found = Vec::new();
        for (index, secret) in secrets.iter().enumerate() {
            if let Some((spelling, line)) = self.spelling_of(secret) {
                let spelling = if spelling.is_empty() {
                    String::new()
                } else {
                    format!(", {spelling}")
                };
                found.push(format!("secret {} of the bank{spelling}, line {line}", index + 1));
            }
        }
        found
    }

    fn spelling_of(&self, secret: &str) -> Option<(&'static str, usize)> {
        if secret.is_empty() {
            return None;
        }
        if let Some(at) = self.raw.find(secret) {
            return Some(("", line_at(self.raw, at)));
        }
        let bare = Squeezed::new(secret).text;
        if bare.chars().count() < LEAST_SQUEEZED {
            return None;
        }
        if let Some(line) = self.plain.line_of(&bare) {
            return Some(("split or escaped", line));
        }
        if let Some(line) = self.lower.line_of(&bare.to_ascii_lowercase()) {
            return Some(("in other case", line));
        }
        if let Some(line) = self.unescaped.as_ref().and_then(|text| text.line_of(&bare)) {
            return Some(("percent-encoded", line));
        }
        if secret.len() < LEAST_ENCODED {
            return None;
        }
        let encoded = encodings(secret).into_iter().find_map(|text| self.plain.line_of(&text));
        if let Some(line) = encoded {
            return Some(("in base64", line));
        }
        let hexadecimal: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
        Some(("in hexadecimal", self.lower.line_of(&hexadecimal)?))
    }

    /// Anything that looks like a credential, but for what is expected.
    pub fn credentials(&self, is_expected: impl Fn(&str) -> bool) -> Vec<String> {
        let spans = REDACTOR.find(self.raw);
        let spans = spans.iter().filter(|span| {
            let is_other = &*span.kind == "ip" || span.kind.starts_with("pii_");
            !is_other && !self.raw.get(span.start..span.end).is_some_and(&is_expected)
        });
        spans
            .map(|span| format!("a credential ({}), line {}", span.kind, line_at(self.raw, span.start)))
            .collect()
    }
}

fn line_at(text: &str, at: usize) -> usize {
    memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count() + 1
}

/// What of a secret's base64 is the same whatever stands before and behind it, in both alphabets and at all three offsets.
fn encodings(secret: &str) -> Vec<String> {
    let mut found = Vec::new();
    for offset in 0..3 {
        let mut bytes = vec![0; offset];
        bytes.extend_from_slice(secret.as_bytes());
        // The first characters and the last also hold bits of what stands beside.
        let first = if offset == 0 { 0 } else { offset + 1 };
        let last = bytes.len() / 3 * 4;
        for encoded in [STANDARD.encode(&bytes), URL_SAFE.encode(&bytes)] {
            found.extend(encoded.get(first..last).map(str::to_owned));
        }
    }
    found.retain(|text| text.len() >= LEAST_ENCODED);
    found
}

/// Percent-encoding and the entities of HTML undone.
fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let pair = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        if let Some(byte) = pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            out.push(byte);
            at += 3;
            continue;
        }
        const ENTITIES: &[(&str, u8)] = &[
            ("&amp;", b'&'),
            ("&lt;", b'<'),
            ("&gt;", b'>'),
            ("&quot;", b'"'),
            ("&#39;", b'\''),
            ("&#x27;", b'\''),
        ];
        let rest = &bytes[at..];
        match ENTITIES.iter().find(|(entity, _)| rest.starts_with(entity.as_bytes())) {
            Some((entity, byte)) if bytes[at] == b'&' => {
                out.push(*byte);
                at += entity.len();
            }
            Some(_) | None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
