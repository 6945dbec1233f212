//! Secrets told by the block they stand in: Kubernetes secrets, password files, seed phrases.

use crate::redact::chars::Class;
use crate::redact::chars::line_end;
use crate::redact::chars::line_start;
use crate::redact::look::Look;
use crate::redact::scan::Label;
use crate::redact::scan::Scanner;
use crate::redact::value::Candidate;

/// How much of a manifest is looked at on either side of `kind: Secret`.
const MANIFEST: usize = 8192;
/// A wallet's phrase has between 12 and 24 words.
const PHRASE: std::ops::RangeInclusive<usize> = 12..=24;

impl Scanner<'_> {
    /// The values under `data:` and `stringData:` of a Kubernetes secret.
    pub fn kubernetes_secret(&mut self, start: usize, end: usize) {
        if self.bytes.get(end).is_some_and(|byte| byte.is_ascii_alphanumeric()) {
            return;
        }
        // Manifests begin and end with `---`.
        let from = start.saturating_sub(MANIFEST).max(self.manifest.min(start));
        self.manifest = end;
        let from = memchr::memmem::rfind(&self.bytes[from..start], b"\n---").map_or(from, |found| from + found + 4);
        let stop = self.bytes.len().min(end + MANIFEST);
        let stop = memchr::memmem::find(&self.bytes[end..stop], b"\n---").map_or(stop, |found| end + found);
        if !self.affords(start, stop - from) {
            return;
        }
        let mut at = from;
        let mut inside: Option<usize> = None;
        while at < stop {
            let line = line_end(self.bytes, at, stop - at);
            let indent = self.bytes[at..line]
                .iter()
                .take_while(|byte| matches!(byte, b' ' | b'\t'))
                .count();
            let content = self.text.get(at + indent..line).unwrap_or("").trim_end();
            if content == "data:" || content == "stringData:" {
                inside = Some(indent);
            } else if inside.is_some_and(|outer| indent <= outer) && !content.is_empty() {
                inside = None;
            } else if inside.is_some()
                && let Some(colon) = content.find(": ")
            {
                let value = Candidate::new(content[colon + 2..].trim().trim_matches(['"', '\'']));
                let offset = content.rfind(&*value).unwrap_or(0);
                if value.len() >= 4 && !value.is_placeholder() && !value.is_reference() {
                    self.push(
                        at + indent + offset,
                        at + indent + offset + value.len(),
                        Label::Code("credential", "Kubernetes secret"),
                    );
                }
            }
            at = line + 1;
        }
    }

    /// A line of `.pgpass`: `host:port:database:user:password`.
    pub fn pass_file(&mut self, start: usize, end: usize) {
        let from = line_start(self.bytes, start, 200);
        let stop = line_end(self.bytes, end, 300);
        let Some(line) = self.text.get(from..stop) else {
            return;
        };
        let line = line.trim_end();
        let mut fields = line.splitn(5, ':');
        let is_name = |field: Option<&str>| {
            field.is_some_and(|field| !field.is_empty() && !field.contains(' ') && !field.contains('/'))
        };
        let port = |field: Option<&str>| {
            field.is_some_and(|field| {
                field == "*" || (field.len() <= 5 && field.bytes().all(|byte| byte.is_ascii_digit()))
            })
        };
        if !is_name(fields.next()) || !port(fields.next()) || !is_name(fields.next()) || !is_name(fields.next()) {
            return;
        }
        if let Some(password) = fields.next().map(Candidate::new).filter(|password| {
            password.len() >= 4 && !password.is_placeholder() && !password.is_reference() && !password.contains(' ')
        }) {
            self.push(
                from + line.len() - password.len(),
                from + line.len(),
                Label::Code("password", "password file"),
            );
        }
    }

    /// The words of a wallet after a word that announces them.
    pub fn seed_phrase(&mut self, end: usize) {
        let stop = self.bytes.len().min(end + 400);
        let mut at = end;
        while at < stop && !self.bytes[at].is_ascii_lowercase() && at - end < 24 {
            at += 1;
        }
        let start = at;
        let (mut words, mut last) = (0, at);
        let letters = Class::of('l').expect("the class of small letters exists");
        while at < stop && words < 24 {
            let word = letters.run(self.bytes, at, 16);
            let spelled = self.text.get(at..word).unwrap_or("");
            let short = [
                "the", "and", "for", "with", "are", "was", "from", "your", "have", "not", "should", "must", "which",
                "into",
            ];
            if !(3..=8).contains(&spelled.len())
                || short.contains(&spelled)
                || !spelled.bytes().all(|byte| byte.is_ascii_lowercase())
            {
                break;
            }
            words += 1;
            last = word;
            let between = self.bytes[word..stop]
                .iter()
                .take(4)
                .take_while(|byte| matches!(byte, b' ' | b',' | b'\n' | b'-'))
                .count();
            at = word + between;
            if between == 0 {
                break;
            }
        }
        if PHRASE.contains(&words) {
            self.push(start, last, Label::Code("seed_phrase", "seed phrase"));
        }
    }

    /// Where a token really ends that fills its line and goes on in the next: a terminal wraps without a sign.
    pub fn wrapped_end(&self, end: usize) -> usize {
        let Some(next) = self.next_line(end) else {
            return end;
        };
        let class = Class::of('x').expect("the class of tokens exists");
        let stop = class.run(self.bytes, next, 512);
        let alone = self
            .bytes
            .get(stop)
            .is_none_or(|byte| matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b' '));
        let look = Look::at(&self.bytes[next..stop]);
        let filled = end - line_start(self.bytes, end, 512) >= 40;
        if alone && filled && look.is_random(12) && look.strange >= 0.3 && look.digits > 0 && look.upper > 0 {
            stop
        } else {
            end
        }
    }

    /// The start of the next line, if this place is the end of one.
    fn next_line(&self, end: usize) -> Option<usize> {
        match (self.bytes.get(end), self.bytes.get(end + 1)) {
            (Some(b'\n'), _) => Some(end + 1),
            (Some(b'\r'), Some(b'\n')) => Some(end + 2),
            _ => None,
        }
    }

    /// A token whose shape only fits when the line break inside of it is left out.
    pub fn wrapped_token(&mut self, number: u16, start: usize) -> bool {
        let rule = &self.rules.tokens[number as usize];
        let literal = rule.literal.len();
        let most = rule.shape.least() + 64;
        let class = Class::of('t').expect("the class of tokens exists");
        let first = class.run(self.bytes, start, most);
        let Some(next) = self
            .next_line(first)
            .filter(|_| first > start + literal + 3 && literal >= 4)
        else {
            return false;
        };
        let second = class.run(self.bytes, next, most);
        let joined = [&self.bytes[start..first], &self.bytes[next..second]].concat();
        let Some(end) = rule.shape.end(&joined, literal) else {
            return false;
        };
        let look = Look::at(&joined[literal..end]);
        let random = look.strange >= 0.3 && look.digits > 0;
        if !random || end < joined.len() && joined[end].is_ascii_alphanumeric() {
            return false;
        }
        self.push(start, next + (end - (first - start)), Label::Token(number));
        true
    }
}
