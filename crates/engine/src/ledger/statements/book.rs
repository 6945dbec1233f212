//! The statements themselves: added, repeated, settled, and forgotten in a fixed order when there are too many.
//!
//! Whatever is live (current, open, proposed) is found by kind, newest first, and by its words; looking through live ones is
//! bounded. Settled ones are kept for the record, the newest of them.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde::Deserialize;
use serde::Serialize;

use crate::ledger::entry::Entry;
use crate::ledger::entry::Kind;
use crate::ledger::entry::Status;
use crate::transcript::Author;

/// Settled statements that are remembered: several times what a report shows.
const MOST_SETTLED: usize = 1000;

/// Live statements of one kind. A person does not give a thousand rules; a conversation that reaches this many is machine-made.
const MOST_LIVE: usize = 2000;

/// How many live statements are looked through for one that matches: what was said within living memory.
pub(super) const REACH: usize = 200;

/// One statement with the stems of its words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Item {
    pub(super) entry: Entry,
    pub(super) stems: Vec<Box<str>>,
    /// Whether it is meant for later: a bare "done" does not end it.
    pub(super) later: bool,
}

/// All statements.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Book {
    items: BTreeMap<u32, Item>,
    next: u32,
    live: BTreeMap<Kind, BTreeSet<u32>>,
    /// Live statements by kind, author and key.
    by_key: BTreeMap<Box<str>, u32>,
}

impl Book {
    /// All entries, in the order in which they came up.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.items.values().map(|item| &item.entry)
    }

    /// One statement.
    pub(super) fn item(&self, id: u32) -> Option<&Item> {
        self.items.get(&id)
    }

    /// Takes a statement in; the same one said again is one statement.
    pub(super) fn add(&mut self, item: Item) -> u32 {
        let name = name_of(&item.entry);
        if let Some(id) = self.by_key.get(name.as_str()).copied()
            && let Some(known) = self.items.get_mut(&id)
        {
            if known.entry.last != item.entry.last {
                known.entry.times += 1;
                known.entry.last = item.entry.last;
            }
            if known.entry.note.is_none() {
                known.entry.note = item.entry.note;
            }
            return id;
        }
        let id = self.next;
        self.next += 1;
        self.live.entry(item.entry.kind).or_default().insert(id);
        self.by_key.insert(name.into(), id);
        let kind = item.entry.kind;
        self.items.insert(id, item);
        self.trim_live(kind);
        id
    }

    /// Live statements of a kind, newest first, as far as anybody looks back.
    pub(super) fn live(&self, kind: Kind) -> impl Iterator<Item = (u32, &Item)> {
        let ids = self.live.get(&kind).into_iter().flatten().rev().take(REACH);
        ids.filter_map(|id| Some((*id, self.items.get(id)?)))
    }

    /// Ends a statement, with the words that ended it.
    pub(super) fn settle(&mut self, id: u32, status: Status, message: u32, note: &str) {
        let Some(item) = self.items.get_mut(&id) else { return };
        let name = name_of(&item.entry);
        item.entry.status = status;
        item.entry.last = message;
        item.entry.note = Some(match item.entry.note.take() {
            Some(known) if !known.is_empty() && item.entry.kind == Kind::Decision => format!("{known}; {note}").into(),
            _ => note.into(),
        });
        self.unlist(id, &name);
        self.trim_settled();
    }

    /// Adds to what is known about a statement.
    pub(super) fn note(&mut self, id: u32, note: &str) {
        if let Some(item) = self.items.get_mut(&id) {
            item.entry.note = Some(note.into());
        }
    }

    /// Takes a statement out: another one says the same with more weight.
    pub(super) fn remove(&mut self, id: u32) -> Option<Item> {
        let item = self.items.remove(&id)?;
        self.unlist(id, &name_of(&item.entry));
        Some(item)
    }

    fn unlist(&mut self, id: u32, name: &str) {
        for ids in self.live.values_mut() {
            ids.remove(&id);
        }
        if self.by_key.get(name) == Some(&id) {
            self.by_key.remove(name);
        }
    }

    /// Forgets the oldest live statements beyond the limit: others' before the person's.
    fn trim_live(&mut self, kind: Kind) {
        let Some(ids) = self.live.get(&kind) else { return };
        if ids.len() <= MOST_LIVE + MOST_LIVE / 8 {
            return;
        }
        let surplus = ids.len() - MOST_LIVE;
        let mut order: Vec<(bool, u32, u32)> = ids
            .iter()
            .filter_map(|id| Some((self.items.get(id)?, *id)))
            .map(|(item, id)| (item.entry.author == Author::User, item.entry.last, id))
            .collect();
        order.sort_unstable();
        for (_, _, id) in order.into_iter().take(surplus) {
            self.remove(id);
        }
    }

    fn trim_settled(&mut self) {
        let live: usize = self.live.values().map(BTreeSet::len).sum();
        let settled = self.items.len() - live;
        if settled <= MOST_SETTLED + MOST_SETTLED / 8 {
            return;
        }
        let is_settled = |item: &Item| matches!(item.entry.status, Status::Superseded | Status::Closed);
        // Superseded rules and decisions say what no longer holds; answers and things done matter less.
        let mut order: Vec<(bool, u32, u32)> = self
            .items
            .iter()
            .filter(|(_, item)| is_settled(item))
            .map(|(id, item)| (item.entry.status == Status::Superseded, item.entry.last, *id))
            .collect();
        order.sort_unstable();
        for (_, _, id) in order.into_iter().take(settled - MOST_SETTLED) {
            self.items.remove(&id);
        }
    }
}

fn name_of(entry: &Entry) -> String {
    let proposed = entry.status == Status::Proposed;
    format!(
        "{}/{}/{}/{}",
        entry.kind.name(),
        entry.author.name(),
        proposed,
        entry.key
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(kind: Kind, author: Author, key: &str, message: u32) -> Item {
        let status = if kind == Kind::Constraint {
            Status::Current
        } else {
            Status::Open
        };
        Item {
            entry: Entry::new(kind, key, key, status, author, message),
            stems: Vec::new(),
            later: false,
        }
    }

    #[test]
    fn said_twice_is_one_statement() {
        let mut book = Book::default();
        let first = book.add(item(Kind::Constraint, Author::User, "a", 1));
        assert_eq!(book.add(item(Kind::Constraint, Author::User, "a", 7)), first);
        let entry = &book.item(first).unwrap().entry;
        assert_eq!((entry.times, entry.first, entry.last), (2, 1, 7));
    }

    #[test]
    fn the_book_is_bounded() {
        let mut book = Book::default();
        let mine = book.add(item(Kind::Question, Author::User, "mine", 0));
        for message in 0..6000 {
            let id = book.add(item(Kind::Question, Author::Assistant, &format!("q{message}"), message));
            if message % 2 == 0 {
                book.settle(id, Status::Closed, message, "answered");
            }
        }
        assert!(book.items.len() <= (MOST_LIVE + MOST_SETTLED) * 9 / 8);
        assert!(book.item(mine).is_some());
        assert!(book.live(Kind::Question).count() <= REACH);
    }
}
