//! Values with keys: a newer value of the same thing supersedes the older one, which stays listed as superseded.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;

use crate::ledger::entry::Entry;
use crate::ledger::entry::Kind;
use crate::ledger::entry::Status;
use crate::transcript::Author;

/// How many superseded values of one thing are remembered: the newest ones matter, a counter that was read a
/// thousand times does not.
const MOST_SUPERSEDED: usize = 4;

/// A value that somebody gave for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim<'a> {
    /// What it is a value of: a normalised subject and attribute. Readings of tools and files begin with where they
    /// were read, so that they can never replace what the person said.
    pub key: &'a str,
    /// The value.
    pub value: &'a str,
    /// The words in which it was said, where they say more than the value.
    pub words: &'a str,
    /// Who said it.
    pub author: Author,
    /// In which message.
    pub message: u32,
}

/// All values, current and superseded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// By key, oldest first; the last one is current unless it was taken back.
    values: BTreeMap<Box<str>, Vec<Entry>>,
}

impl Facts {
    /// Takes a claim in: confirms the current value, or supersedes it.
    pub fn claim(&mut self, claim: Claim<'_>) {
        let values = self.values.entry(claim.key.into()).or_default();
        if let Some(current) = values.last_mut().filter(|entry| entry.status == Status::Current) {
            if same_value(&current.value, claim.value) {
                current.last = claim.message;
                current.times += 1;
                return;
            }
            current.status = Status::Superseded;
            current.last = claim.message;
            current.note = Some(format!("now {}", claim.value).into());
        }
        let entry = Entry::new(
            Kind::Fact,
            claim.key,
            claim.value,
            Status::Current,
            claim.author,
            claim.message,
        );
        values.push(match claim.words.is_empty() {
            true => entry,
            false => entry.with_note(claim.words),
        });
        if values.len() > MOST_SUPERSEDED + 1 {
            values.remove(0);
        }
    }

    /// Takes the current value of something back without a new one.
    pub fn retract(&mut self, key: &str, message: u32, why: &str) {
        let current = self.values.get_mut(key).and_then(|values| values.last_mut());
        if let Some(current) = current.filter(|entry| entry.status == Status::Current) {
            current.status = Status::Superseded;
            current.last = message;
            current.note = Some(why.into());
        }
    }

    /// The current value of something.
    pub fn current(&self, key: &str) -> Option<&Entry> {
        let newest = self.values.get(key)?.last()?;
        (newest.status == Status::Current).then_some(newest)
    }

    /// The keys whose current value is this one.
    pub fn keys_of<'a>(&'a self, value: &'a str) -> impl Iterator<Item = &'a str> {
        self.values.iter().filter_map(move |(key, values)| {
            let newest = values.last()?;
            (newest.status == Status::Current && same_value(&newest.value, value)).then_some(&**key)
        })
    }

    /// All values, by key, oldest first.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.values.values().flatten()
    }
}

/// Whether two spellings name one value.
fn same_value(one: &str, other: &str) -> bool {
    let plain = |text: &str| text.trim().trim_end_matches(['.', ',', ';', '!']).to_lowercase();
    plain(one) == plain(other)
}
