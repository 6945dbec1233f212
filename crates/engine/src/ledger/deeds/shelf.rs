//! A bounded list of entries by key, in the order in which they were last touched.
//!
//! A shelf never holds more than it is told to: what makes room is the entry that was touched longest ago, light ones
//! first. Every step costs a logarithm of what the shelf holds, never of how long the conversation is.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::ops::Bound;

use serde::Deserialize;
use serde::Serialize;

use crate::ledger::entry::Entry;

/// What can stand on a shelf.
pub(super) trait Shelved {
    /// The entry that is shown.
    fn entry(&self) -> &Entry;

    /// Whether it makes room before others do: what is settled, or was only looked at.
    fn is_light(&self) -> bool;
}

/// How much a shelf holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// At most, in all.
    pub all: usize,
    /// At most of light ones.
    pub light: usize,
}

/// The list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shelf<T> {
    /// By the moment of the last touch.
    items: BTreeMap<u64, T>,
    moments: BTreeMap<Box<str>, u64>,
    light: BTreeSet<u64>,
    clock: u64,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self {
            items: BTreeMap::new(),
            moments: BTreeMap::new(),
            light: BTreeSet::new(),
            clock: 0,
        }
    }
}

impl<T: Shelved> Shelf<T> {
    /// The item with this key.
    pub(super) fn find(&self, key: &str) -> Option<&T> {
        self.items.get(self.moments.get(key)?)
    }

    /// Whether there is an item with this key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.moments.contains_key(key)
    }

    /// Changes an item where it stands, without touching it.
    pub(super) fn amend(&mut self, key: &str, change: impl FnOnce(&mut T)) -> bool {
        let Some(moment) = self.moments.get(key).copied() else {
            return false;
        };
        if let Some(item) = self.items.get_mut(&moment) {
            change(item);
            mark(&mut self.light, moment, item.is_light());
        }
        true
    }

    /// Changes every item where it stands.
    pub(super) fn amend_all(&mut self, mut change: impl FnMut(&mut T)) {
        for (moment, item) in &mut self.items {
            change(item);
            mark(&mut self.light, *moment, item.is_light());
        }
    }

    /// Puts an item at the newest end, in place of the one with the same key. The shelf holds at most so many, and so many
    /// light ones.
    pub(super) fn put(&mut self, key: &str, item: T, room: Room) {
        self.take(key);
        self.clock += 1;
        mark(&mut self.light, self.clock, item.is_light());
        self.items.insert(self.clock, item);
        self.moments.insert(key.into(), self.clock);
        while self.items.len() > room.all || self.light.len() > room.light {
            let oldest = self.light.first().or_else(|| self.items.keys().next()).copied();
            let Some(oldest) = oldest else { break };
            // The newest one is what just happened: it stays even where it is the only light one.
            let oldest = match oldest == self.clock {
                true => self.items.keys().next().copied().unwrap_or(oldest),
                false => oldest,
            };
            self.light.remove(&oldest);
            if let Some(gone) = self.items.remove(&oldest) {
                self.moments.remove(&gone.entry().key);
            }
        }
    }

    /// Takes an item off the shelf.
    pub(super) fn take(&mut self, key: &str) -> Option<T> {
        let moment = self.moments.remove(key)?;
        self.light.remove(&moment);
        self.items.remove(&moment)
    }

    /// The items, the one touched longest ago first.
    pub(super) fn items(&self) -> impl Iterator<Item = &T> {
        self.items.values()
    }

    /// The keys that begin with these letters, in order.
    pub(super) fn keys_below<'a>(&'a self, opening: &'a str) -> impl Iterator<Item = &'a str> {
        let from = self
            .moments
            .range::<str, _>((Bound::Included(opening), Bound::Unbounded));
        from.map(|(key, _)| &**key)
            .take_while(move |key| key.starts_with(opening))
    }
}

fn mark(light: &mut BTreeSet<u64>, moment: u64, is_light: bool) {
    if is_light {
        light.insert(moment);
    } else {
        light.remove(&moment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::entry::Kind;
    use crate::ledger::entry::Status;
    use crate::transcript::Author;

    struct Thing(Entry, bool);

    impl Shelved for Thing {
        fn entry(&self) -> &Entry {
            &self.0
        }

        fn is_light(&self) -> bool {
            self.1
        }
    }

    fn put(shelf: &mut Shelf<Thing>, key: &str, light: bool) {
        let entry = Entry::new(Kind::File, key, "", Status::Current, Author::Tool, 0);
        shelf.put(key, Thing(entry, light), Room { all: 3, light: 2 });
    }

    fn keys(shelf: &Shelf<Thing>) -> Vec<&str> {
        shelf.items().map(|thing| &*thing.0.key).collect()
    }

    #[test]
    fn light_ones_make_room_first_then_the_oldest() {
        let mut shelf = Shelf::default();
        for (key, light) in [("a", false), ("b", true), ("c", false), ("d", false)] {
            put(&mut shelf, key, light);
        }
        assert_eq!(keys(&shelf), ["a", "c", "d"]);
        put(&mut shelf, "a", false);
        put(&mut shelf, "e", true);
        assert_eq!(keys(&shelf), ["d", "a", "e"]);
        assert!(!shelf.has("c"));
        shelf.amend("e", |thing| thing.1 = false);
        put(&mut shelf, "f", false);
        assert_eq!(keys(&shelf), ["a", "e", "f"]);
        assert_eq!(shelf.keys_below("e").collect::<Vec<_>>(), ["e"]);
    }
}
