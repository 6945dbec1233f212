//! Values that were set or read, as facts: a newer one of the same thing replaces the older one.

use std::collections::BTreeSet;
use std::ops::Bound;

use serde::Deserialize;
use serde::Serialize;

use super::path;
use super::readings::Reading;
use super::values::Change;
use crate::ledger::entry::Entry;
use crate::ledger::facts::Claim;
use crate::ledger::facts::Facts;
use crate::transcript::Author;

/// Most things whose values are claimed. Facts are never taken back to make room, so that the first ones stay and later ones are
/// only told by the messages themselves.
const MOST: usize = 1500;

/// Most of them that are readings of tools: what was set is worth more than what was seen.
const MOST_READ: usize = 400;

/// What stands between a thing and its attribute.
const JOINT: &str = " · ";

/// What was claimed so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Claims {
    keys: BTreeSet<Box<str>>,
}

impl Claims {
    /// Values that a tool's output shows.
    pub(super) fn read(&mut self, message: u32, readings: &[Reading], facts: &mut Facts) {
        for (key, value) in readings {
            // A reading never replaces what the person said, even where both are known by the same words.
            let is_persons = facts.current(key).is_some_and(|entry| entry.author == Author::User);
            if !is_persons && self.admit(key, MOST_READ) {
                claim(facts, key, value, Author::Tool, message);
            }
        }
    }

    /// A value that a call set.
    pub(super) fn set(&mut self, message: u32, change: &Change, facts: &mut Facts) {
        let place = path::short(&change.place);
        if change.key.is_empty() {
            self.set_within(message, &format!("{place}{JOINT}"), change, facts);
            return;
        }
        let key = format!("{place}{JOINT}{}", change.key);
        // The file may have been read under the name of what the key stands in.
        let nested: Option<Box<str>> = change.old.as_deref().and_then(|old| {
            let ending = format!(".{}", change.key);
            let opening = format!("{place}{JOINT}");
            let mut below = self
                .keys
                .range::<str, _>((Bound::Included(opening.as_str()), Bound::Unbounded))
                .take_while(|key| key.starts_with(&opening));
            let is_current = |key: &str| facts.current(key).is_some_and(|entry| *entry.value == *old);
            below.find(|key| key.ends_with(&ending) && is_current(key)).cloned()
        });
        let key = nested.as_deref().unwrap_or(&key);
        if self.admit(key, MOST) {
            claim(facts, key, &change.new, Author::Assistant, message);
        }
        self.follow(message, change, facts);
    }

    /// Values of a file in which an edit replaced a part.
    fn set_within(&self, message: u32, opening: &str, change: &Change, facts: &mut Facts) {
        let Some(old) = change.old.as_deref() else { return };
        let below = self
            .keys
            .range::<str, _>((Bound::Included(opening), Bound::Unbounded))
            .take_while(|key| key.starts_with(opening));
        let changed: Vec<(Box<str>, String)> = below
            .filter_map(|key| {
                let value = &facts.current(key)?.value;
                value
                    .contains(old)
                    .then(|| (key.clone(), value.replacen(old, &change.new, 1)))
            })
            .collect();
        for (key, value) in changed {
            claim(facts, &key, &value, Author::Assistant, message);
        }
    }

    /// What the person gave a value that an edit now changes has the new value.
    fn follow(&self, message: u32, change: &Change, facts: &mut Facts) {
        let Some(old) = change.old.as_deref() else { return };
        let words: Vec<String> = words_of(&change.key);
        // Once an edit was followed, the value is the model's, and the next edit is followed too.
        let is_author = |entry: &Entry| matches!(entry.author, Author::User | Author::Assistant);
        let is_theirs = |key: &str| facts.current(key).is_some_and(is_author);
        let theirs: Vec<String> = facts
            .keys_of(old)
            .filter(|key| !self.keys.contains(*key) && is_theirs(key))
            .filter(|key| {
                let said = words_of(key);
                // Shorter words are units and articles.
                words.iter().any(|word| word.chars().count() > 2 && said.contains(word))
            })
            .map(str::to_owned)
            .collect();
        let where_changed = format!("changed in {}", change.place);
        for key in theirs {
            facts.change(Claim {
                key: &key,
                value: &change.new,
                words: &where_changed,
                author: Author::Assistant,
                message,
            });
        }
    }

    fn admit(&mut self, key: &str, most: usize) -> bool {
        if self.keys.contains(key) {
            return true;
        }
        let is_admitted = self.keys.len() < most;
        if is_admitted {
            self.keys.insert(key.into());
        }
        is_admitted
    }
}

/// Without words: nobody said it, and the entry is shown as what it was computed from.
fn claim(facts: &mut Facts, key: &str, value: &str, author: Author, message: u32) {
    facts.claim(Claim {
        key,
        value,
        words: "",
        author,
        message,
    });
}

/// The words of a name in any of its spellings: `maxRetries`, `MAX_RETRIES`, `max retries`.
fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for character in name.chars() {
        let starts_word = character.is_uppercase() && was_lower;
        if (starts_word || !character.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
        was_lower = character.is_lowercase();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_in_any_spelling() {
        for name in ["maxRetries", "MAX_RETRIES", "max retries", "max-retries"] {
            assert_eq!(words_of(name), ["max", "retries"], "{name}");
        }
    }
}
