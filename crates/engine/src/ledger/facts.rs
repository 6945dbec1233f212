//! Values with keys: a newer value of the same thing supersedes the older one, which stays listed as superseded.
//!
//! What the person said outranks everybody: another author's value of the same thing is kept as proposed beside it until the person
//! agrees. Finding the key of a value costs a lookup, and the number of keys is bounded: values that nobody touched for longest go
//! first, the person's last.

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

/// How many things are remembered. The longest recorded sessions name some hundred values; ten times that fits in a few megabytes.
const MOST_KEYS: usize = 8192;

/// How many keys are listed for one value: "true" and "0" have too many to mean anything.
const MOST_ALIKE: usize = 16;

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

/// What is known of one thing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    /// Superseded values, oldest first.
    past: Vec<Entry>,
    current: Option<Entry>,
    /// A value by somebody who may not replace the current one.
    proposed: Option<Entry>,
}

/// All values, current and superseded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    values: BTreeMap<Box<str>, Known>,
    /// The keys that currently have a value, oldest first, by the value in its plain spelling.
    keys: BTreeMap<Box<str>, Vec<Box<str>>>,
    /// Replaced since somebody last asked.
    #[serde(skip)]
    just_replaced: Vec<ReplacedValue>,
}

/// A value that no longer holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplacedValue {
    /// Who gave it.
    pub author: Author,
    /// In which message.
    pub message: u32,
    /// What it was.
    pub old: Box<str>,
    /// What holds now; nothing where it was only taken back.
    pub new: Option<Box<str>>,
}

impl Facts {
    /// Takes a claim in: confirms the current value, supersedes it, or stands beside it as proposed.
    pub fn claim(&mut self, claim: Claim<'_>) {
        self.take_in(claim, false);
    }

    /// Takes a change in that was made, not said: it supersedes whoever gave the value before.
    pub fn change(&mut self, claim: Claim<'_>) {
        self.take_in(claim, true);
    }

    fn take_in(&mut self, claim: Claim<'_>, was_done: bool) {
        let known = self.values.entry(claim.key.into()).or_default();
        let mut replaced = None;
        if let Some(current) = &mut known.current {
            if same_value(&current.value, claim.value) {
                confirm(current, &claim);
                return;
            }
            if current.author == Author::User && claim.author != Author::User && !was_done {
                propose(&mut known.proposed, &claim);
                return;
            }
            replaced = known.current.take();
        }
        if known
            .proposed
            .as_ref()
            .is_some_and(|proposed| same_value(&proposed.value, claim.value))
        {
            known.proposed = None;
        }
        known.current = Some(entry_of(&claim, Status::Current));
        if let Some(mut old) = replaced {
            old.status = Status::Superseded;
            old.last = claim.message;
            old.note = Some(format!("now {}", claim.value).into());
            self.forget_value(claim.key, &old.value);
            self.just_replaced.push(ReplacedValue {
                author: old.author,
                message: old.first,
                old: old.value.clone(),
                new: Some(claim.value.into()),
            });
            self.remember_past(claim.key, old);
        }
        self.remember_value(claim.key, claim.value);
        self.trim();
    }

    /// The person agrees to the value that stands beside the current one.
    pub fn agree(&mut self, key: &str, message: u32) {
        let Some(proposed) = self.values.get_mut(key).and_then(|known| known.proposed.take()) else {
            return;
        };
        let words = format!("agreed to in m{message}");
        self.claim(Claim {
            key,
            value: &proposed.value,
            words: &words,
            author: Author::User,
            message,
        });
    }

    /// Takes the current value of something back without a new one.
    pub fn retract(&mut self, key: &str, message: u32, why: &str) {
        let Some(mut old) = self.values.get_mut(key).and_then(|known| known.current.take()) else {
            return;
        };
        old.status = Status::Superseded;
        old.last = message;
        old.note = Some(why.into());
        self.forget_value(key, &old.value);
        self.just_replaced.push(ReplacedValue {
            author: old.author,
            message: old.first,
            old: old.value.clone(),
            new: None,
        });
        self.remember_past(key, old);
    }

    /// The current value of something.
    pub fn current(&self, key: &str) -> Option<&Entry> {
        self.values.get(key)?.current.as_ref()
    }

    /// The keys whose current value is this one, oldest first.
    pub fn keys_of<'a>(&'a self, value: &str) -> impl DoubleEndedIterator<Item = &'a str> {
        let keys = self.keys.get(plain(value).as_str());
        keys.into_iter().flatten().map(|key| &**key)
    }

    /// All values, by key: superseded ones oldest first, the current one, what is proposed instead.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.values
            .values()
            .flat_map(|known| known.past.iter().chain(&known.current).chain(&known.proposed))
    }

    /// Values that no longer hold, each with the one that does.
    pub fn replaced(&self) -> impl Iterator<Item = (&Entry, Option<&Entry>)> {
        self.values
            .values()
            .flat_map(|known| known.past.iter().map(|old| (old, known.current.as_ref())))
    }

    /// The values that were replaced since this was last asked.
    pub fn take_replaced(&mut self) -> Vec<ReplacedValue> {
        std::mem::take(&mut self.just_replaced)
    }

    fn remember_past(&mut self, key: &str, old: Entry) {
        let past = &mut self.values.entry(key.into()).or_default().past;
        // A value that comes back and goes again is one superseded value.
        past.retain(|entry| !same_value(&entry.value, &old.value));
        past.push(old);
        if past.len() > MOST_SUPERSEDED {
            past.remove(0);
        }
    }

    fn remember_value(&mut self, key: &str, value: &str) {
        let keys = self.keys.entry(plain(value).into()).or_default();
        keys.push(key.into());
        if keys.len() > MOST_ALIKE {
            keys.remove(0);
        }
    }

    fn forget_value(&mut self, key: &str, value: &str) {
        let plain = plain(value);
        if let Some(keys) = self.keys.get_mut(plain.as_str()) {
            keys.retain(|known| **known != *key);
            if keys.is_empty() {
                self.keys.remove(plain.as_str());
            }
        }
    }

    /// Drops the things that nobody touched for longest, an eighth at a time so that the work is spread.
    fn trim(&mut self) {
        if self.values.len() <= MOST_KEYS + MOST_KEYS / 8 {
            return;
        }
        let rank = |known: &Known| {
            let newest = known.current.iter().chain(&known.proposed).chain(known.past.last());
            newest.map(|entry| (entry.author == Author::User, entry.last)).max()
        };
        let mut order: Vec<_> = self
            .values
            .iter()
            .map(|(key, known)| (rank(known), key.clone()))
            .collect();
        order.sort();
        for (_, key) in order.into_iter().take(self.values.len() - MOST_KEYS) {
            if let Some(current) = self.values.remove(&key).and_then(|known| known.current) {
                self.forget_value(&key, &current.value);
            }
        }
    }
}

/// The same value again; the person's word makes it theirs.
fn confirm(current: &mut Entry, claim: &Claim<'_>) {
    current.last = claim.message;
    current.times += 1;
    if claim.author == Author::User && current.author != Author::User {
        current.author = Author::User;
        if !claim.words.is_empty() {
            current.note = Some(claim.words.into());
        }
    }
}

fn propose(place: &mut Option<Entry>, claim: &Claim<'_>) {
    match place {
        Some(proposed) if same_value(&proposed.value, claim.value) => {
            proposed.last = claim.message;
            proposed.times += 1;
        }
        _ => *place = Some(entry_of(claim, Status::Proposed)),
    }
}

fn entry_of(claim: &Claim<'_>, status: Status) -> Entry {
    let entry = Entry::new(Kind::Fact, claim.key, claim.value, status, claim.author, claim.message);
    if claim.words.is_empty() {
        entry
    } else {
        entry.with_note(claim.words)
    }
}

/// A value without what spellings differ in.
fn plain(text: &str) -> String {
    text.trim()
        .trim_end_matches(['.', ',', ';', '!'])
        .trim_matches(['"', '`', '\''])
        .to_lowercase()
}

/// Whether two spellings name one value.
fn same_value(one: &str, other: &str) -> bool {
    plain(one) == plain(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(facts: &mut Facts, author: Author, key: &str, value: &str, message: u32) {
        facts.claim(Claim {
            key,
            value,
            words: "",
            author,
            message,
        });
    }

    fn shown(facts: &Facts) -> Vec<(String, Status, Author)> {
        facts
            .entries()
            .map(|entry| (entry.value.to_string(), entry.status, entry.author))
            .collect()
    }

    #[test]
    fn a_newer_value_supersedes() {
        let mut facts = Facts::default();
        say(&mut facts, Author::User, "server", "alpha", 1);
        say(&mut facts, Author::User, "server", "Alpha.", 2);
        assert_eq!(facts.current("server").map(|entry| entry.times), Some(2));
        say(&mut facts, Author::User, "server", "beta", 3);
        assert_eq!(
            shown(&facts),
            [
                ("alpha".to_owned(), Status::Superseded, Author::User),
                ("beta".to_owned(), Status::Current, Author::User)
            ]
        );
        assert_eq!(facts.keys_of("BETA").collect::<Vec<_>>(), ["server"]);
        assert_eq!(facts.keys_of("alpha").count(), 0);
    }

    #[test]
    fn nobody_replaces_what_the_person_said() {
        let mut facts = Facts::default();
        say(&mut facts, Author::User, "server", "alpha", 1);
        say(&mut facts, Author::Assistant, "server", "evil", 2);
        assert_eq!(facts.current("server").map(|entry| &*entry.value), Some("alpha"));
        assert_eq!(
            shown(&facts)[1],
            ("evil".to_owned(), Status::Proposed, Author::Assistant)
        );
        facts.agree("server", 3);
        assert_eq!(
            facts.current("server").map(|entry| (&*entry.value, entry.author)),
            Some(("evil", Author::User))
        );
        assert_eq!(
            facts.entries().filter(|entry| entry.status == Status::Current).count(),
            1
        );
    }

    #[test]
    fn a_value_can_be_taken_back() {
        let mut facts = Facts::default();
        say(&mut facts, Author::User, "server", "alpha", 1);
        facts.retract("server", 2, "gone");
        assert!(facts.current("server").is_none());
        assert_eq!(facts.keys_of("alpha").count(), 0);
        assert_eq!(shown(&facts), [("alpha".to_owned(), Status::Superseded, Author::User)]);
    }

    #[test]
    fn the_number_of_things_is_bounded_and_the_persons_go_last() {
        let mut facts = Facts::default();
        say(&mut facts, Author::User, "mine", "kept", 0);
        for message in 0..12_000 {
            say(&mut facts, Author::Tool, &format!("tool · {message}"), "1", message);
        }
        assert!(facts.values.len() <= MOST_KEYS + MOST_KEYS / 8);
        assert!(facts.current("mine").is_some());
        assert!(facts.current("tool · 11999").is_some());
        assert!(facts.current("tool · 5").is_none());
    }
}
