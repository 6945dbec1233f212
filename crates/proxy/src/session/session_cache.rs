//! An LRU cache of conversations, by the keys of their beginnings. What was not seen for the longest time is forgotten
//! first: a client sends everything again, and the store has what was put in its place.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use crate::session::conversation::LiveConversation;
use crate::session::parsed_request::ParsedRequest;
use crate::session::parsed_request::PrefixKey;

/// So many conversations are remembered at most, however small they are.
const MOST: usize = 4_096;

/// A conversation that requests share.
pub type SharedConversation = Arc<Mutex<LiveConversation>>;

/// The conversation, whatever happened to whoever had it before.
pub fn locked(shared: &SharedConversation) -> MutexGuard<'_, LiveConversation> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An LRU cache of conversations.
#[derive(Default)]
pub struct SessionCache {
    by_key: HashMap<PrefixKey, u64>,
    entries: HashMap<u64, CacheEntry>,
    /// The next number, and the time that is told by them.
    clock: u64,
    weight: usize,
}

struct CacheEntry {
    shared: SharedConversation,
    /// The keys that lead here.
    keys: Vec<PrefixKey>,
    weight: usize,
    used: u64,
}

impl SessionCache {
    /// The conversation that shares the longest beginning with a request.
    pub fn find(&mut self, taken: &ParsedRequest) -> Option<SharedConversation> {
        let found = taken.keys[1..].iter().rev().find_map(|key| self.by_key.get(key))?;
        let entry = self.entries.get_mut(found)?;
        self.clock += 1;
        entry.used = self.clock;
        Some(Arc::clone(&entry.shared))
    }

    /// Remembers a conversation under the keys of a request, and forgets others where there are too many.
    pub fn put(&mut self, shared: &SharedConversation, taken: &ParsedRequest, weight: usize, most_weight: usize) {
        self.clock += 1;
        let known = taken.keys[1..]
            .iter()
            .rev()
            .filter_map(|key| self.by_key.get(key))
            .find(|number| {
                self.entries
                    .get(number)
                    .is_some_and(|entry| Arc::ptr_eq(&entry.shared, shared))
            });
        let number = known.copied().unwrap_or(self.clock);
        let entry = self.entries.entry(number).or_insert_with(|| CacheEntry {
            shared: Arc::clone(shared),
            keys: Vec::new(),
            weight: 0,
            used: 0,
        });
        entry.used = self.clock;
        self.weight = self.weight - entry.weight + weight;
        entry.weight = weight;
        let first_new = entry.keys.len().min(taken.keys.len() - 1);
        for key in &taken.keys[1 + first_new..] {
            entry.keys.push(*key);
        }
        // The newest conversation with a beginning stands for it.
        let mut last = None;
        for key in taken.keys[1..].iter().rev() {
            // Reasoning has no key of its own.
            if last != Some(key) && self.by_key.insert(*key, number) == Some(number) {
                break;
            }
            last = Some(key);
        }
        while (self.weight > most_weight || self.entries.len() > MOST) && self.entries.len() > 1 {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some(oldest) = self
            .entries
            .iter()
            .min_by_key(|(_, entry)| entry.used)
            .map(|(number, _)| *number)
        else {
            return;
        };
        if let Some(entry) = self.entries.remove(&oldest) {
            self.weight -= entry.weight;
            for key in entry.keys {
                if self.by_key.get(&key) == Some(&oldest) {
                    self.by_key.remove(&key);
                }
            }
        }
    }

    /// All conversations, those last used first.
    pub fn all(&self) -> Vec<SharedConversation> {
        let mut entries: Vec<&CacheEntry> = self.entries.values().collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.used));
        entries.into_iter().map(|entry| Arc::clone(&entry.shared)).collect()
    }

    /// How many bytes they take, about.
    pub fn weight(&self) -> usize {
        self.weight
    }
}
