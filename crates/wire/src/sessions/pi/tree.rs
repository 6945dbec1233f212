//! How the entries hang together, and the path that leads to where the session stands.

use std::collections::HashMap;
use std::hash::DefaultHasher;
use std::hash::Hash;
use std::hash::Hasher;

use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Rule;

use crate::json::Raw;
use crate::sessions::pi::entry::Body;
use crate::sessions::pi::entry::Entry;
use crate::sessions::pi::entry::Parent;

/// All entries of a file.
#[derive(Default)]
pub(super) struct Tree {
    entries: Vec<Entry>,
    parents: Vec<Option<usize>>,
    /// The newest entry of an id, and the hash of its text.
    by_id: HashMap<Box<str>, (usize, u64)>,
    /// Entries whose parent had not been read when they were.
    waiting: Vec<usize>,
}

impl Tree {
    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries, in file order.
    pub fn into_entries(self) -> Vec<Entry> {
        self.entries
    }

    /// Adds the next entry of the file.
    pub fn add(&mut self, entry: Entry, raw: Raw<'_>, findings: &mut Vec<Finding>) {
        let index = self.entries.len();
        if let Some(id) = &entry.id {
            let mut hasher = DefaultHasher::new();
            raw.get().hash(&mut hasher);
            let hash = hasher.finish();
            if self.by_id.get(id).is_some_and(|(_, known)| *known == hash) {
                findings.push(Finding::new(Rule::DuplicateRecord, entry.place, id.as_ref()));
                return;
            }
            self.link(&entry, index);
            self.by_id.insert(id.clone(), (index, hash));
        } else {
            self.link(&entry, index);
        }
        self.entries.push(entry);
    }

    fn link(&mut self, entry: &Entry, index: usize) {
        let parent = match &entry.parent {
            Parent::Nothing => None,
            Parent::Previous => index.checked_sub(1),
            Parent::Named(id) => {
                let known = self.by_id.get(id).map(|(index, _)| *index);
                if known.is_none() {
                    self.waiting.push(index);
                }
                known
            }
        };
        self.parents.push(parent);
    }

    /// The entries from the root to the last one, which is where the session stands.
    pub fn path(&mut self, findings: &mut Vec<Finding>) -> Vec<usize> {
        self.settle(findings);
        let mut is_on_path = vec![false; self.entries.len()];
        let mut path = Vec::new();
        let mut next = self.entries.len().checked_sub(1);
        while let Some(index) = next {
            if std::mem::replace(&mut is_on_path[index], true) {
                findings.push(Finding::new(Rule::ParentCycle, self.entries[index].place, ""));
                break;
            }
            path.push(index);
            next = self.parents[index];
        }
        path.reverse();
        self.note_abandoned(&is_on_path, findings);
        path
    }

    /// Finds the parents that came later in the file, and does without those that never came.
    fn settle(&mut self, findings: &mut Vec<Finding>) {
        for index in std::mem::take(&mut self.waiting) {
            let entry = &self.entries[index];
            let Parent::Named(id) = &entry.parent else { continue };
            let later = self.by_id.get(id).map(|(index, _)| *index);
            if later.is_none() {
                findings.push(Finding::new(Rule::MissingParent, entry.place, id.as_ref()));
            }
            self.parents[index] = later.or_else(|| index.checked_sub(1));
        }
    }

    /// One finding for every branch that was left, at its first entry.
    fn note_abandoned(&self, is_on_path: &[bool], findings: &mut Vec<Finding>) {
        // For every entry off the path, the entry with which its branch begins.
        let mut starts: Vec<usize> = (0..self.entries.len()).collect();
        let mut counts = vec![0_u64; self.entries.len()];
        for (index, entry) in self.entries.iter().enumerate().filter(|(index, _)| !is_on_path[*index]) {
            if let Some(parent) = self.parents[index]
                && parent < index
                && !is_on_path[parent]
            {
                starts[index] = starts[parent];
            }
            let is_message = matches!(entry.body, Body::Said(_) | Body::Compaction(_));
            counts[starts[index]] += u64::from(is_message);
        }
        for (entry, count) in self.entries.iter().zip(counts).filter(|(_, count)| *count > 0) {
            let detail = format!("a branch of {count} messages");
            findings.push(Finding::new(Rule::Abandoned, entry.place, detail));
        }
    }
}
