//! Secrets seen before, so that a bare repetition is hidden too.
//!
//! The values live in memory only: they can be neither printed nor serialised.

use std::collections::BTreeSet;
use std::fmt;

use aho_corasick::AhoCorasick;
use aho_corasick::MatchKind;

use crate::redact::chars::ends_here;
use crate::redact::chars::starts_here;
use crate::redact::key::PASSWORD_WORDS;
use crate::redact::phrase::Setting;
use crate::redact::phrase::is_passphrase;
use crate::redact::scan::Found;
use crate::redact::scan::Label;
use crate::redact::value::Candidate;

/// Shorter values are found by their context or not at all: they could be words.
const SHORTEST: usize = 8;
/// Longer values are keys, which have a form of their own.
const LONGEST: usize = 4096;
/// How many values are remembered; a conversation has tens.
const MOST: usize = 10_000;

/// The secrets of a conversation so far.
#[derive(Clone, Default)]
pub struct Known {
    values: BTreeSet<Box<str>>,
    automaton: Option<AhoCorasick>,
}

impl fmt::Debug for Known {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Known({} secrets)", self.values.len())
    }
}

impl Known {
    /// How many secrets are remembered.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether nothing is remembered yet.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Remembers a value, and what it means in an address: whoever repeats it writes the one or the other.
    pub(super) fn add(&mut self, value: &str) {
        self.add_spelling(value);
        if let Some(meant) = without_escapes(value) {
            self.add_spelling(&meant);
        }
    }

    /// Remembers a value, unless it could be a word.
    fn add_spelling(&mut self, value: &str) {
        let candidate = Candidate::new(value);
        let look = candidate.look;
        let telling = look.is_random(SHORTEST)
            || (candidate.is_password() && look.digits > 0)
            || look.spaces > 0 && is_passphrase(value, Setting::Quoted, PASSWORD_WORDS);
        let fits = (SHORTEST..=LONGEST).contains(&value.len()) && self.values.len() < MOST;
        if fits
            && telling
            && !candidate.is_placeholder()
            && !candidate.is_measure()
            && !candidate.is_identifier()
            && self.values.insert(value.into())
        {
            self.automaton = None;
        }
    }

    /// Where the remembered values stand in a text.
    pub(super) fn find(&mut self, text: &str) -> Vec<Found> {
        if self.values.is_empty() {
            return Vec::new();
        }
        let automaton = self.automaton.get_or_insert_with(|| {
            AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(self.values.iter().map(|value| value.as_bytes()))
                .expect("the number and length of the values are bounded")
        });
        let hits = automaton.find_iter(text);
        let whole = hits.filter(|hit| {
            let long = hit.end() - hit.start() >= 16;
            long || (starts_here(text.as_bytes(), hit.start()) && ends_here(text.as_bytes(), hit.end()))
        });
        whole
            .map(|hit| Found {
                start: hit.start(),
                end: hit.end(),
                label: Label::Code("credential", "seen before"),
            })
            .collect()
    }
}

/// A value whose `%2F` and the like are written out; `None` where it has none.
fn without_escapes(value: &str) -> Option<String> {
    let bytes = value.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let escape = value.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match escape.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(out).ok().filter(|meant| meant != value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_of_a_value_are_known() {
        let mut known = Known::default();
        known.add("YA2JRgak7%2B%2FWL3egYVB7%zz%2");
        for text in ["a YA2JRgak7%2B%2FWL3egYVB7%zz%2 b", "it is YA2JRgak7+/WL3egYVB7%zz%2."] {
            assert_eq!(known.find(text).len(), 1, "{text}");
        }
        assert_eq!(without_escapes("%D0%BF%D0"), None);
        assert_eq!(without_escapes("plain"), None);
    }
}
