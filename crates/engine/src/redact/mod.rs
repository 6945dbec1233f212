//! Secrets out of any text, each replaced by a reference that is stable, cannot be turned back and cannot be used.
//!
//! A text is read once: one automaton finds the literals of all rules, and what stands around each is looked at within
//! bounds, so the time is linear whatever the text. The rules are data (`tokens.txt`, `words.txt`, `vendors.txt`,
//! `commands.txt`); the passes in code know notations: assignments, addresses, headers, command lines, sentences, key
//! blocks, encodings. What is redacted already stays as it is, so redacting twice changes nothing.
//!
//! Not here: where the key comes from, and which texts are redacted.

mod assign;
mod block;
mod chars;
mod document;
mod encoded;
mod header;
mod key;
mod known;
mod literal;
mod look;
mod network;
mod notation;
mod pem;
mod personal;
mod phrase;
mod prose;
mod rules;
mod scan;
mod shape;
mod shell;
mod span;
mod url;
mod value;
mod version;

pub use known::Known;
pub use rules::RuleError;
pub use span::Key;
pub use span::Redacted;
pub use span::Span;

use std::sync::Arc;
use std::sync::LazyLock;

use crate::redact::rules::Rules;
use crate::redact::scan::Found;
use crate::redact::scan::Scanner;

/// The rules of the house, read at first use.
static HOUSE: LazyLock<Arc<Rules>> =
    LazyLock::new(|| Arc::new(Rules::read("").expect("the rules of the house can be read: a test reads them")));

/// How often a result is read again until nothing more is found. One more reading is the rule; each only hides more.
const ROUNDS: usize = 5;

/// Addresses of the internet that are hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// None.
    None,
    /// Those that lead to one machine from everywhere, and those that documentation uses in their place.
    Public,
    /// Those of private networks and of public resolvers too. What every machine calls itself, masks and versions stay.
    All,
}

/// What is hidden besides secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Which addresses of the internet become `[REDACTED_IP]`.
    pub addresses: Addresses,
    /// Names, mail addresses, phone numbers, cards and documents of people.
    pub pii: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            addresses: Addresses::Public,
            pii: false,
        }
    }
}

/// Finds and hides secrets.
#[derive(Clone, Debug)]
pub struct Redactor {
    rules: Arc<Rules>,
    key: Key,
    options: Options,
}

impl Redactor {
    /// With the rules of the house.
    pub fn new(key: Key, options: Options) -> Self {
        Redactor {
            rules: HOUSE.clone(),
            key,
            options,
        }
    }

    /// With rules of the host besides those of the house, in the form of `tokens.txt`.
    pub fn with_rules(key: Key, options: Options, added: &str) -> Result<Self, RuleError> {
        let rules = Arc::new(Rules::read(added)?);
        Ok(Redactor { rules, key, options })
    }

    /// Everything to hide, in order and without overlaps. JSON is read by its strings.
    pub fn find(&self, text: &str) -> Vec<Span> {
        self.find_with(&mut Known::default(), text)
    }

    /// Hides everything.
    pub fn redact(&self, text: &str) -> Redacted {
        self.redact_with(&mut Known::default(), text)
    }

    /// Hides everything, and what is known from earlier texts; remembers what was found.
    pub fn redact_with(&self, known: &mut Known, text: &str) -> Redacted {
        let mut spans = self.find_with(known, text);
        let mut redacted = span::replace(text, &spans, &self.key);
        for _ in 0..ROUNDS {
            if spans.is_empty() {
                break;
            }
            let more = self.find_with(known, &redacted);
            if more.is_empty() {
                break;
            }
            spans = span::widen(text, spans, &more, &self.key);
            redacted = span::replace(text, &spans, &self.key);
        }
        Redacted { text: redacted, spans }
    }

    fn find_with(&self, known: &mut Known, text: &str) -> Vec<Span> {
        let mut found = match document::scan(&self.rules, text) {
            Some(found) => found,
            None => Scanner::new(&self.rules, text, 0).scan(),
        };
        span::drop_marked(text, &mut found);
        for secret in &found {
            if let Some(value) = text.get(secret.start..secret.end) {
                known.add(value);
            }
        }
        found.extend(known.find(text));
        if self.options.addresses != Addresses::None {
            found.extend(network::addresses(text, self.options.addresses));
        }
        if self.options.pii {
            found.extend(personal::find(text));
        }
        self.spans(text, found)
    }

    fn spans(&self, text: &str, found: Vec<Found>) -> Vec<Span> {
        let name = |found: &Found| (found.kind(&self.rules), found.rule(&self.rules));
        let merged = span::merge(text, found);
        let named = merged.into_iter().map(|found| {
            let (kind, rule) = name(&found);
            Span {
                start: found.start,
                end: found.end,
                kind,
                rule,
            }
        });
        named.collect()
    }
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
