//! Values that are announced by a name: `password = "…"`, `<token>…</token>`, `| API_KEY | … |`, `--secret …`.

use crate::redact::chars::is_uuid;
use crate::redact::key::Promise;
use crate::redact::key::promise;
use crate::redact::literal::Value;
use crate::redact::notation::Operator;
use crate::redact::phrase::Setting;
use crate::redact::phrase::is_joined_passphrase;
use crate::redact::phrase::is_passphrase;
use crate::redact::rules::Word;
use crate::redact::scan::Label;
use crate::redact::scan::Scanner;
use crate::redact::value::Candidate;

impl Scanner<'_> {
    /// Looks at the value that a word may announce; says whether there was one to hide.
    pub fn assignment(&mut self, word: Word, start: usize, end: usize) -> bool {
        let (from, to) = self.name_around(start, end);
        if self.name_seen == (from, to) {
            return true;
        }
        let Some((operator, at)) = self.operator(from, to) else {
            return false;
        };
        // A module is no key: `auth::token took=12ms`.
        let in_path = self.bytes[..from].ends_with(b"::") || self.bytes[to..].starts_with(b"::");
        if in_path && !matches!(operator, Operator::Equals | Operator::Comparison | Operator::Argument) {
            self.name_seen = (from, to);
            return true;
        }
        let name = &self.text[from..to];
        let promised = match word {
            _ if name.is_ascii() => promise(name, &self.rules.vendors),
            word => Promise::of_word(word),
        };
        let spaced = self.text[start..end].contains(' ');
        let promised = match word {
            Word::Secret | Word::Password if spaced => Promise::of_word(word),
            _ => promised,
        };
        let Some(promised) = promised else {
            return false;
        };
        self.name_seen = (from, to);
        let Some(value) = self.value(operator, at) else {
            return false;
        };
        if !self.affords(start, 96 + value.end - value.start) {
            return true;
        }
        let flag = from > 0 && self.bytes[from - 1] == b'-' || self.bytes[from] == b'-' || self.follows_login(from);
        // `pass` is a word of every language a program speaks: `two-pass memchr`, `they pass, …`.
        let loose = matches!(operator, Operator::Space | Operator::Cell) && !flag;
        if loose && (self.text[from..to].eq_ignore_ascii_case("pass") || self.text[from..to].ends_with("-pass")) {
            return false;
        }
        // The last argument of a call without quotes is a variable: `hash(password, salt16)`.
        let is_variable = !value.quoted
            && operator == Operator::Cell
            && self.bytes.get(value.end) == Some(&b')')
            && self.bytes[value.start..value.end].iter().all(u8::is_ascii_alphanumeric);
        if is_variable {
            return false;
        }
        if !self.is_secret(promised, operator, flag, value) {
            return self.bare_phrase(promised, operator, value);
        }
        let label = match promised {
            Promise::Password { .. } => Label::Code("password", "named password"),
            Promise::Secret | Promise::Weak => Label::Code("credential", "named secret"),
            Promise::Vendor => Label::Code("credential", "named service"),
        };
        let end = if value.quoted {
            value.end
        } else {
            self.unquoted_end(value.start, usize::MAX, operator)
        };
        self.push(value.start, end.max(value.end), label);
        true
    }

    /// Hides a password of several words without quotes: the rest of the line or of the sentence.
    fn bare_phrase(&mut self, promised: Promise, operator: Operator, value: Value) -> bool {
        let Promise::Password { phrase: Some(least) } = promised else {
            return false;
        };
        if value.quoted || !matches!(operator, Operator::Colon | Operator::Equals) {
            return false;
        }
        let end = self.phrase_end(value.start);
        let phrase = &self.text[value.start..end];
        if !self.affords(value.start, phrase.len())
            || !self.ends_phrase(end)
            || !is_passphrase(phrase, Setting::Bare, least)
        {
            return false;
        }
        self.push(value.start, end, Label::Code("password", "named phrase"));
        true
    }

    /// Whether a name stands in a line of `.netrc`: `machine … login … password …`.
    fn follows_login(&self, from: usize) -> bool {
        let before = &self.bytes[from.saturating_sub(80)..from];
        memchr::memmem::find(before, b"login ").is_some()
            && memchr::memmem::find(&self.bytes[from.saturating_sub(200)..from], b"machine ").is_some()
    }

    /// Whether a value is a secret, given what its name promises.
    fn is_secret(&self, promised: Promise, operator: Operator, flag: bool, value: Value) -> bool {
        let text = self.text.get(value.start..value.end).unwrap_or("").trim();
        judge(promised, operator, flag, value.quoted, text)
    }
}

/// Whether a value is a secret, given what its name promises and how it is written.
pub(super) fn judge(promised: Promise, operator: Operator, flag: bool, quoted: bool, text: &str) -> bool {
    let text = Candidate::new(text);
    if text.is_empty() || text.is_reference() || text.is_placeholder() || text.is_path() || text.contains("://") {
        return false;
    }
    // What follows the quote that closes a name is code: `"password=" + token`.
    if matches!(text.as_bytes()[0], b'+' | b',' | b')' | b';' | b'|' | b'&')
        || (operator == Operator::Space && text.starts_with("--"))
        || text.is_setting()
        || (!quoted && text.is_expression())
    {
        return false;
    }
    let spaced = operator == Operator::Space && !flag;
    // Without a sign between them the two are words of a program: `secret, hash_t seed`, `token req_id=8841`.
    if !quoted
        && (spaced || matches!(operator, Operator::Cell | Operator::Argument))
        && (text.is_code_name() || text.is_field())
    {
        return false;
    }
    match promised {
        Promise::Password { phrase } => is_chosen(operator, spaced, quoted, phrase, &text),
        Promise::Secret => is_machine_made(operator, spaced, quoted, &text),
        Promise::Vendor => {
            let look = &text.look;
            let random = look.is_random(16) && look.is_mixed();
            (random || is_uuid(text.as_bytes())) && !text.is_measure() && !text.contains('/') && !text.is_identifier()
        }
        Promise::Weak => {
            let look = &text.look;
            let plain = text.is_digest() || text.is_measure() || text.is_identifier() || look.symbols * 4 > look.length;
            look.is_random(20) && look.is_mixed() && look.strange >= 0.3 && !plain && operator != Operator::Cell
        }
    }
}

/// Whether a value under the name of a password is one.
fn is_chosen(operator: Operator, spaced: bool, quoted: bool, phrase: Option<usize>, text: &Candidate<'_>) -> bool {
    let look = &text.look;
    let machine = look.is_random(8);
    if look.spaces > 0 {
        let fits = |least| is_passphrase(text, Setting::Quoted, least);
        return quoted && operator != Operator::Cell && phrase.is_some_and(fits);
    }
    if phrase.is_some() && matches!(operator, Operator::Colon | Operator::Equals) && is_joined_passphrase(text) {
        return true;
    }
    if text.is_wordy() || text.is_identifier() {
        return false;
    }
    if spaced {
        let telling = machine || look.symbols > 0 || look.digits >= 2;
        let code = text.contains(['{', '(', '[', '<']);
        return text.is_password() && telling && !code && !text.is_measure() && !text.is_digest();
    }
    if matches!(operator, Operator::Argument | Operator::Cell)
        && look.digits == 0
        && !text.contains(['!', '@', '#', '$', '%', '*', '?'])
        && look.upper == 0
    {
        return false;
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.len() >= 6 && (quoted || operator == Operator::Equals && text.len() < 10);
    }
    (text.is_password() || machine) && (!text.is_measure() || text.len() >= 12)
}

/// Whether a value under the name of a secret looks made by a machine.
fn is_machine_made(operator: Operator, spaced: bool, quoted: bool, text: &Candidate<'_>) -> bool {
    let look = &text.look;
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.len() >= 15 && look.distinct >= 5 && !spaced;
    }
    if !spaced && operator != Operator::Cell && text.is_declared_token() {
        return true;
    }
    if text.is_measure() || look.spaces > 0 || text.is_identifier() {
        return false;
    }
    // `group:artifact:1.2.3` names a package.
    let package = text
        .rsplit_once(':')
        .is_some_and(|(_, version)| version.contains('.') && Candidate::new(version).is_measure());
    if operator == Operator::Colon && !quoted && (package || text.contains(':') && look.strange < 0.4) {
        return false;
    }
    if look.is_random(if spaced { 16 } else { 10 }) {
        return true;
    }
    let short = quoted && look.is_mixed() && look.length >= 8 && look.strange >= 0.2 && look.distinct >= 6;
    !spaced && (short || text.has_signs())
}
