//! One pass over one text: literals first, then what stands around each of them.

use std::sync::Arc;

use crate::redact::chars::ends_here;
use crate::redact::chars::starts_here;
use crate::redact::look::entropy;
use crate::redact::rules::Place;
use crate::redact::rules::Rules;
use crate::redact::rules::Word;
use crate::redact::value::Candidate;

/// Where a finding's kind and rule come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    /// A row of the token rules.
    Token(u16),
    /// A pass in code: kind and rule.
    Code(&'static str, &'static str),
}

/// A finding in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub start: usize,
    pub end: usize,
    pub label: Label,
}

impl Found {
    pub fn kind(&self, rules: &Rules) -> Arc<str> {
        match self.label {
            Label::Token(token) => rules.tokens[token as usize].kind.clone(),
            Label::Code(kind, _) => kind.into(),
        }
    }

    pub fn rule(&self, rules: &Rules) -> Arc<str> {
        match self.label {
            Label::Token(token) => rules.tokens[token as usize].name.clone(),
            Label::Code(_, rule) => rule.into(),
        }
    }
}

/// How many bytes may be looked at around words for each byte of the text, so that no text takes more than linear time. An
/// ordinary text takes less than one.
const ALLOWANCE: usize = 6;
/// What may be looked at besides, so that short texts are read in full.
const FREE: usize = 65_536;

/// How deep encodings are undone: base64 in base64 is real, a third layer is not.
pub(super) const DEPTH: u8 = 2;

/// A text on its way through the rules.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    pub rules: &'a Rules,
    pub text: &'a str,
    pub bytes: &'a [u8],
    pub depth: u8,
    pub found: Vec<Found>,
    /// The name that was looked at last, for one name may hold several words.
    pub name_seen: (usize, usize),
    /// The rule that was tried last and how far it looked, so that a repeated literal costs no second look.
    tried: (u16, usize),
    /// How far the last look for a web token went.
    pub looked: usize,
    /// How many bytes were looked at around words so far.
    spent: usize,
    /// How far the manifests were read.
    pub manifest: usize,
    /// What is public by its form: never hidden.
    pub public: Vec<(usize, usize)>,
}

impl<'a> Scanner<'a> {
    /// Prepares to read a text.
    pub fn new(rules: &'a Rules, text: &'a str, depth: u8) -> Self {
        Scanner {
            rules,
            text,
            bytes: text.as_bytes(),
            depth,
            found: Vec::new(),
            name_seen: (usize::MAX, usize::MAX),
            tried: (u16::MAX, 0),
            looked: 0,
            spent: 0,
            manifest: 0,
            public: Vec::new(),
        }
    }

    /// Everything found, in no particular order.
    pub fn scan(mut self) -> Vec<Found> {
        let rules = self.rules;
        for hit in rules.automaton.find_iter(self.text) {
            let entry = &rules.entries[hit.pattern().as_usize()];
            let mut matched = false;
            for token in &entry.tokens {
                matched = matched || self.token(*token, hit.start());
            }
            if let Some(place) = entry.place {
                self.place(place, hit.start(), hit.end());
            }
            if let Some(word) = entry.word
                && !matched
            {
                self.word(word, hit.start(), hit.end());
            }
        }
        self.encoded();
        let Scanner { found, public, .. } = self;
        let hidden = |found: &Found| {
            !public
                .iter()
                .any(|(start, end)| *start <= found.start && found.end <= *end)
        };
        found.into_iter().filter(hidden).collect()
    }

    /// Notes a finding.
    pub fn push(&mut self, start: usize, end: usize, label: Label) {
        if start >= end || end > self.bytes.len() {
            return;
        }
        self.found.push(Found { start, end, label });
    }

    /// Whether a look of this many bytes is within what the text up to here allows.
    pub fn affords(&mut self, at: usize, bytes: usize) -> bool {
        if self.spent > at * ALLOWANCE + FREE {
            return false;
        }
        self.spent += bytes;
        true
    }

    /// The end of the last finding, if it reaches past this place.
    pub fn is_covered(&self, at: usize) -> bool {
        self.found
            .last()
            .is_some_and(|found| found.start <= at && at < found.end)
    }

    fn word(&mut self, word: Word, start: usize, end: usize) {
        if self.is_covered(start) || !self.affords(start, 0) {
            return;
        }
        let told = match word {
            Word::Seed => return self.seed_phrase(end),
            Word::Login | Word::Password | Word::Secret | Word::Key | Word::Vendor => self.assignment(word, start, end),
        };
        // A key is told of in many ways, but told in one: `the key is …`.
        if !told && (word != Word::Key || self.bytes[end..].starts_with(b" is ")) {
            self.prose(word, start, end);
        }
    }

    fn place(&mut self, place: Place, start: usize, end: usize) {
        match place {
            Place::Scheme => self.address(start, end),
            Place::Pem => self.pem(start),
            Place::Putty => self.putty(end),
            Place::Jwt => self.jwt(start),
            Place::Authorization => self.authorization(end),
            Place::Bearer => self.bearer(end),
            Place::Basic => self.basic(end),
            Place::Cookie => self.cookies(start, end),
            Place::KubernetesSecret => self.kubernetes_secret(start, end),
            Place::Signature => self.signature(start, end),
            Place::PassFile => self.pass_file(start, end),
            Place::Webhook => self.webhook(start, end),
            Place::Command(command) => self.command(command, start, end),
        }
    }

    /// Tries a token rule where its literal stands.
    fn token(&mut self, number: u16, start: usize) -> bool {
        let rule = &self.rules.tokens[number as usize];
        let literal = rule.literal.as_bytes();
        if !self.bytes[start..].starts_with(literal) || (self.tried.0 == number && start < self.tried.1) {
            return false;
        }
        if !rule.glued && !starts_here(self.bytes, start) {
            return false;
        }
        let from = match &rule.left {
            Some(left) => match left.start(self.bytes, start) {
                Some(from) if starts_here(self.bytes, from) => from,
                _ => return false,
            },
            None => start,
        };
        let rest = start + literal.len();
        let Some(mut end) = rule.shape.end(self.bytes, rest) else {
            return self.wrapped_token(number, start);
        };
        if !rule.shape.is_open() && !ends_here(self.bytes, end) {
            return false;
        }
        if rule.shape.is_open() {
            // A sentence may end after the token.
            while end > rest + 8 && matches!(self.bytes[end - 1], b'.' | b'-' | b':' | b',' | b';') {
                end -= 1;
            }
        }
        if !self.is_credible(number, from, start, rest, end) {
            self.tried = (number, end);
            return false;
        }
        let rule = &self.rules.tokens[number as usize];
        if rule.public {
            self.public.push((from, end));
            return true;
        }
        let end = if rule.shape.is_open() {
            self.wrapped_end(end)
        } else {
            end
        };
        self.push(from, end, Label::Token(number));
        true
    }

    /// Whether what stands in a token's place is random enough to be one.
    fn is_credible(&self, number: u16, from: usize, start: usize, rest: usize, end: usize) -> bool {
        let rule = &self.rules.tokens[number as usize];
        // The literal may be all there is to the right; then the left tells.
        let (from, to) = if end - rest >= 8 || from == start {
            (rest, end)
        } else {
            (from, start)
        };
        let Some(body) = self.text.get(from..to).map(Candidate::new) else {
            return false;
        };
        if body.is_empty() {
            return false;
        }
        let look = body.look;
        if body.ends_with("EXAMPLE") || body.ends_with("EXAMPLEKEY") {
            return false;
        }
        if (rule.entropy > 0.0 && entropy(body.as_bytes()) < rule.entropy)
            || look.distinct < 5.min(look.length)
            || (body.is_placeholder() && look.strange < 0.45)
        {
            return false;
        }
        let ellipsis = self.text[end..].starts_with("...") || self.text[end..].starts_with('…');
        let random = look.strange >= 0.22 || look.digits * 3 >= look.length;
        (rule.wordy || random)
            && !(ellipsis && look.length < 16)
            && !body.contains("xxxxxx")
            && !body.contains("XXXXXX")
    }
}
