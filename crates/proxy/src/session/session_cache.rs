//! All conversations that are remembered, by the keys of their beginnings. What was not seen for the longest time is forgotten
//! first: a client sends everything again, and the store has what was put in its place.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use crate::session::conversation::Conversation;
use crate::session::parsed_request::Key;
use crate::session::parsed_request::Taken;

/// So many conversations are remembered at most, however small they are.
const MOST: usize = 4_096;

/// A conversation that requests share.
pub type Shared = Arc<Mutex<Conversation>>;

/// The conversation, whatever happened to whoever had it before.
pub fn locked(shared: &Shared) -> MutexGuard<'_, Conversation> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All conversations that are remembered.
#[derive(Default)]
pub struct Shelf {
    by_key: HashMap<Key, u64>,
    books: HashMap<u64, Book>,
    /// The next number, and the time that is told by them.
    clock: u64,
    weight: usize,
}

struct Book {
    shared: Shared,
    /// The keys that lead here.
    keys: Vec<Key>,
    weight: usize,
    used: u64,
}

impl Shelf {
    /// The conversation that shares the longest beginning with a request.
    pub fn find(&mut self, taken: &Taken) -> Option<Shared> {
        let found = taken.keys[1..].iter().rev().find_map(|key| self.by_key.get(key))?;
        let book = self.books.get_mut(found)?;
        self.clock += 1;
        book.used = self.clock;
        Some(Arc::clone(&book.shared))
    }

    /// Remembers a conversation under the keys of a request, and forgets others where there are too many.
    pub fn put(&mut self, shared: &Shared, taken: &Taken, weight: usize, most_weight: usize) {
        self.clock += 1;
        let known = taken.keys[1..]
            .iter()
            .rev()
            .filter_map(|key| self.by_key.get(key))
            .find(|number| {
                self.books
                    .get(number)
                    .is_some_and(|book| Arc::ptr_eq(&book.shared, shared))
            });
        let number = known.copied().unwrap_or(self.clock);
        let book = self.books.entry(number).or_insert_with(|| Book {
            shared: Arc::clone(shared),
            keys: Vec::new(),
            weight: 0,
            used: 0,
        });
        book.used = self.clock;
        self.weight = self.weight - book.weight + weight;
        book.weight = weight;
        let first_new = book.keys.len().min(taken.keys.len() - 1);
        for key in &taken.keys[1 + first_new..] {
            book.keys.push(*key);
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
        while (self.weight > most_weight || self.books.len() > MOST) && self.books.len() > 1 {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some(oldest) = self
            .books
            .iter()
            .min_by_key(|(_, book)| book.used)
            .map(|(number, _)| *number)
        else {
            return;
        };
        if let Some(book) = self.books.remove(&oldest) {
            self.weight -= book.weight;
            for key in book.keys {
                if self.by_key.get(&key) == Some(&oldest) {
                    self.by_key.remove(&key);
                }
            }
        }
    }

    /// All conversations, those last used first.
    pub fn all(&self) -> Vec<Shared> {
        let mut books: Vec<&Book> = self.books.values().collect();
        books.sort_by_key(|book| std::cmp::Reverse(book.used));
        books.into_iter().map(|book| Arc::clone(&book.shared)).collect()
    }

    /// How many bytes they take, about.
    pub fn weight(&self) -> usize {
        self.weight
    }
}
