//! How the records of a log hang together: parents, children, separate conversations, and what each
//! compaction kept.

use std::collections::HashMap;
use std::sync::Arc;

use crate::sessions::claude_code::log::Log;
use crate::sessions::claude_code::record::Boundary;
use crate::sessions::claude_code::record::KeptIds;
use crate::sessions::claude_code::record::Kind;

/// The links between the records of a log. Indices are those of [`Log::records`].
#[derive(Debug)]
pub(super) struct Links {
    /// The record each one continues. A compaction continues what it compacted.
    pub parents: Vec<Option<usize>>,
    /// Those whose parent is named but not there; they continue what stands before them.
    pub is_adopted: Vec<bool>,
    pub children: Vec<Vec<usize>>,
    /// Whether no record names another, so that file order is all there is.
    pub is_linear: bool,
    /// Whether the whole log is a subagent's.
    pub is_subagent: bool,
    /// The session of the root of each record's tree; trees of different sessions are conversations apart.
    pub trees: Vec<Option<Arc<str>>>,
    pub kept: Vec<Kept>,
    /// For a kept record: by which compactions, oldest first, and at which position.
    pub kept_at: HashMap<usize, Vec<(usize, usize)>>,
    /// For a record behind which kept messages go: by which compaction, the newest one.
    pub anchors: HashMap<usize, usize>,
}

/// What a compaction kept.
#[derive(Debug)]
pub(super) struct Kept {
    pub boundary: usize,
    /// The record behind which the kept messages go.
    pub anchor: usize,
    pub records: Vec<usize>,
    /// How many of them are not in the file; `None` when it cannot be told which they were.
    pub missing: Option<usize>,
}

impl Links {
    pub fn of(log: &Log) -> Self {
        let count = log.records.len();
        let speaks = |sidechain: bool| {
            let mut records = log.records.iter();
            records.any(|record| record.spoken().is_some() && record.is_sidechain == sidechain)
        };
        let mut links = Self {
            parents: vec![None; count],
            is_adopted: vec![false; count],
            children: vec![Vec::new(); count],
            is_linear: false,
            is_subagent: !speaks(false) && speaks(true),
            trees: vec![None; count],
            kept: Vec::new(),
            kept_at: HashMap::new(),
            anchors: HashMap::new(),
        };
        links.join(log);
        links.plant(log);
        links.keep(log);
        links
    }

    /// Whether a record belongs to the conversation of the file rather than to a subagent.
    pub fn is_main(&self, log: &Log, index: usize) -> bool {
        self.is_subagent || !log.records[index].is_sidechain
    }

    fn join(&mut self, log: &Log) {
        let named = |parent: &Option<Box<str>>| parent.as_deref().and_then(|id| log.find(id));
        self.is_linear = !log.records.iter().any(|record| named(&record.parent).is_some());
        let mut before = None;
        for (index, record) in log.records.iter().enumerate() {
            let is_main = self.is_main(log, index);
            let before_it = if is_main { before } else { None };
            if is_main && record.can_end() {
                before = Some(index);
            }
            let wanted = match &record.kind {
                Kind::Boundary(boundary) => boundary.continues.as_ref().or(record.parent.as_ref()),
                _ => record.parent.as_ref(),
            };
            let found = wanted.and_then(|id| log.find(id)).filter(|parent| *parent != index);
            let is_opening = record.is_boundary() || record.is_summary();
            self.parents[index] = match (found, wanted) {
                (Some(parent), _) => Some(parent),
                (None, Some(_)) => {
                    self.is_adopted[index] = !self.is_linear;
                    before_it
                }
                (None, None) if self.is_linear || is_opening => before_it,
                (None, None) => None,
            };
            if let Some(parent) = self.parents[index] {
                self.children[parent].push(index);
            }
        }
    }

    /// Finds the tree of every record. A file without links is one conversation.
    fn plant(&mut self, log: &Log) {
        if self.is_linear {
            return;
        }
        let mut is_settled = vec![false; log.records.len()];
        for start in 0..log.records.len() {
            let mut path = Vec::new();
            let mut at = start;
            let session = loop {
                if is_settled[at] {
                    // Settled by an earlier path, or by this one: a cycle is its own tree.
                    break self.trees[at].clone();
                }
                is_settled[at] = true;
                self.trees[at].clone_from(&log.records[at].session);
                path.push(at);
                match self.parents[at] {
                    Some(parent) => at = parent,
                    None => break log.records[at].session.clone(),
                }
            };
            for index in path {
                self.trees[index].clone_from(&session);
            }
        }
    }

    fn keep(&mut self, log: &Log) {
        // Segments are walked; together they must not cost more than the file is long.
        let mut budget = 2 * log.records.len();
        for (index, record) in log.records.iter().enumerate() {
            let Kind::Boundary(boundary) = &record.kind else {
                continue;
            };
            let (records, missing) = self.kept_by(log, boundary, &mut budget);
            if records.is_empty() && missing == Some(0) {
                continue;
            }
            let named = boundary.anchor.as_deref().and_then(|id| log.find(id));
            let summary = || {
                self.children[index]
                    .iter()
                    .find(|child| log.records[**child].is_summary())
            };
            let anchor = named.or_else(|| summary().copied()).unwrap_or(index);
            let number = self.kept.len();
            for (position, kept) in records.iter().enumerate() {
                self.kept_at.entry(*kept).or_default().push((number, position));
            }
            if !records.is_empty() {
                self.anchors.insert(anchor, number);
            }
            self.kept.push(Kept {
                boundary: index,
                anchor,
                records,
                missing,
            });
        }
    }

    fn kept_by(&self, log: &Log, boundary: &Boundary, budget: &mut usize) -> (Vec<usize>, Option<usize>) {
        match &boundary.kept {
            KeptIds::Nothing => (Vec::new(), Some(0)),
            KeptIds::Listed(ids) => {
                let mut records: Vec<_> = ids.iter().filter_map(|id| log.find(id)).collect();
                let missing = ids.len() - records.len();
                let mut seen = std::collections::HashSet::new();
                records.retain(|record| seen.insert(*record));
                (records, Some(missing))
            }
            KeptIds::Between { head, tail } => {
                let (Some(head), Some(tail)) = (log.find(head), log.find(tail)) else {
                    return (Vec::new(), None);
                };
                let mut records = vec![tail];
                let mut at = tail;
                while at != head {
                    let Some(parent) = self.parents[at].filter(|_| *budget > 0) else {
                        return (Vec::new(), None);
                    };
                    *budget -= 1;
                    records.push(parent);
                    at = parent;
                }
                records.reverse();
                (records, Some(0))
            }
        }
    }
}
