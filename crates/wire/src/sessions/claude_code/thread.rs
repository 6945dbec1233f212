//! One conversation of a log: the way from its last record back to its first.
//!
//! Records form a tree. A rewind or an edit starts a branch; the conversation is the branch that was
//! written to last. A compaction starts an era: what it kept is linked in behind its summary, and the era
//! before it is reached through the record it continues. Lines of one response are chained to each other
//! while each result hangs on its own line, so the pieces that hang beside the way are collected, too.

use std::collections::BTreeMap;
use std::collections::HashSet;

use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Rule;

use crate::sessions::claude_code::links::Links;
use crate::sessions::claude_code::log::Log;
use crate::sessions::claude_code::queue_order;
use crate::sessions::claude_code::record::Kind;

/// How many attachments and the like may stand between a boundary and its summary.
const MOST_BETWEEN: usize = 16;

/// A conversation: indices of records, in order.
#[derive(Debug)]
pub(super) struct Thread {
    /// What the agent would send now.
    pub live: Vec<usize>,
    /// Everything on the way to it, each record once.
    pub full: Vec<usize>,
    /// Summaries that no boundary announces: older versions wrote none.
    pub unannounced: HashSet<usize>,
    pub leaf: usize,
    pub findings: Vec<Finding>,
}

impl Thread {
    /// Follows the conversation whose last record is `leaf`.
    pub fn follow(log: &Log, links: &Links, leaf: usize) -> Self {
        let leaf = descend(log, links, leaf);
        let mut walk = Walk {
            log,
            links,
            visited: HashSet::new(),
            entered: HashSet::new(),
            unannounced: HashSet::new(),
            findings: Vec::new(),
        };
        let mut eras = Vec::new();
        let mut next = Some((leaf, usize::MAX));
        while let Some((start, written_before)) = next {
            let (era, earlier) = walk.era(start, written_before);
            next = earlier;
            eras.push(era);
        }
        let mut live = collect_beside(log, links, &eras[0]);
        queue_order::weave(log, links, &mut live);
        let mut seen = HashSet::new();
        let way = eras.iter().rev().flatten().copied();
        let full: Vec<_> = way.filter(|index| seen.insert(*index)).collect();
        let mut full = collect_beside(log, links, &full);
        queue_order::weave(log, links, &mut full);
        Self {
            live,
            full,
            unannounced: walk.unannounced,
            leaf,
            findings: walk.findings,
        }
    }

    /// Whether nothing was compacted away or cleared, so that what is sent is what was recorded.
    pub fn is_sent_as_recorded(&self, log: &Log) -> bool {
        let is_clearing = |index: &usize| matches!(log.records[*index].kind, Kind::Clearing(_));
        self.live == self.full && !self.live.iter().any(is_clearing)
    }
}

/// Records are sometimes written before their parents: goes on to what continues the last one.
fn descend(log: &Log, links: &Links, leaf: usize) -> usize {
    let mut at = leaf;
    let mut seen = HashSet::from([leaf]);
    loop {
        let children = links.children[at].iter().rev();
        let continues = |child: &&usize| {
            let record = &log.records[**child];
            record.can_end() && !record.is_boundary() && links.is_main(log, **child)
        };
        match children.copied().find(|child| continues(&child)) {
            Some(child) if seen.insert(child) => at = child,
            Some(_) | None => return at,
        }
    }
}

struct Walk<'a> {
    log: &'a Log,
    links: &'a Links,
    visited: HashSet<usize>,
    /// The compactions whose kept messages were linked in.
    entered: HashSet<usize>,
    unannounced: HashSet<usize>,
    findings: Vec<Finding>,
}

impl Walk<'_> {
    /// Walks back to the compaction that began an era. Says where the era before it ends, and before
    /// which record that was.
    fn era(&mut self, start: usize, written_before: usize) -> (Vec<usize>, Option<(usize, usize)>) {
        let mut way = Vec::new();
        let mut from = written_before;
        let mut at = Some(start);
        if written_before == usize::MAX {
            // The conversation ends in a summary: what was kept still goes behind it.
            self.enter_behind(start, None, &mut way);
        }
        let mut earlier = None;
        while let Some(index) = at {
            if let Some((number, position)) = self.kept_in(index, from)
                && self.entered.insert(number)
            {
                let kept = &self.links.kept[number];
                way.extend(kept.records[..=position].iter().rev());
                from = kept.boundary + 1;
                at = Some(kept.anchor);
                continue;
            }
            if !self.visited.insert(index) {
                self.note(Rule::ParentCycle, index, "");
                break;
            }
            way.push(index);
            if self.links.is_adopted[index] {
                self.note(Rule::MissingParent, index, "");
            }
            let parent = self.links.parents[index];
            if self.begins_era(index, parent) {
                earlier = parent.map(|parent| (parent, index));
                break;
            }
            from = index;
            at = match parent.and_then(|parent| self.enter_behind(parent, Some(index), &mut way)) {
                Some(anchor) => Some(anchor),
                None => parent,
            };
        }
        way.reverse();
        (way, earlier)
    }

    /// The compaction that kept a record, as seen from a record that was written after that compaction.
    fn kept_in(&self, index: usize, from: usize) -> Option<(usize, usize)> {
        let keepers = self.links.kept_at.get(&index)?;
        let boundary = |keeper: &(usize, usize)| self.links.kept[keeper.0].boundary;
        let before = keepers.partition_point(|keeper| boundary(keeper) < from);
        let newest = *keepers.get(before.checked_sub(1)?)?;
        (from != usize::MAX && index < boundary(&newest)).then_some(newest)
    }

    /// If kept messages go behind `anchor` and `child` is not one of them, goes through them first.
    fn enter_behind(&mut self, anchor: usize, child: Option<usize>, way: &mut Vec<usize>) -> Option<usize> {
        let number = *self.links.anchors.get(&anchor)?;
        let kept = &self.links.kept[number];
        let is_kept = |child: usize| {
            let keepers = self.links.kept_at.get(&child);
            keepers.is_some_and(|keepers| keepers.binary_search_by_key(&number, |(by, _)| *by).is_ok())
        };
        if child.is_some_and(is_kept) || !self.entered.insert(number) {
            return None;
        }
        way.extend(kept.records.iter().rev());
        Some(anchor)
    }

    fn begins_era(&mut self, index: usize, parent: Option<usize>) -> bool {
        let record = &self.log.records[index];
        if record.is_boundary() {
            self.note_missing(index);
            return true;
        }
        let mut announcer = parent.filter(|_| record.is_summary());
        for _ in 0..MOST_BETWEEN {
            let is_silent = |index: &usize| !self.announces(*index) && self.log.records[*index].spoken().is_none();
            match announcer.filter(is_silent) {
                Some(between) => announcer = self.links.parents[between],
                None => break,
            }
        }
        let is_announced = announcer.is_some_and(|index| self.announces(index));
        let begins = record.is_summary() && !is_announced;
        if begins {
            self.unannounced.insert(index);
        }
        begins
    }

    fn announces(&self, index: usize) -> bool {
        let record = &self.log.records[index];
        record.is_boundary() || record.is_summary()
    }

    /// What a compaction kept and the file does not hold is missing from the live conversation.
    fn note_missing(&mut self, boundary: usize) {
        let all = &self.links.kept;
        let Ok(number) = all.binary_search_by_key(&boundary, |kept| kept.boundary) else {
            return;
        };
        match all[number].missing {
            Some(0) => {}
            Some(count) => {
                let detail = format!("{count} of the messages that the compaction kept");
                self.note(Rule::MissingPiece, boundary, &detail);
            }
            None => self.note(Rule::MissingPiece, boundary, "the messages that the compaction kept"),
        }
    }

    fn note(&mut self, rule: Rule, index: usize, detail: &str) {
        let place = self.log.records[index].place;
        self.findings.push(Finding::new(rule, place, detail));
    }
}

/// Adds what hangs beside the way but belongs to it: further lines of a response, the results of its
/// calls, and what the program added to those.
fn collect_beside(log: &Log, links: &Links, way: &[usize]) -> Vec<usize> {
    let mut taken: HashSet<usize> = way.iter().copied().collect();
    let responses: HashSet<&str> = way.iter().filter_map(|index| log.records[*index].response()).collect();
    let answers = way.iter().flat_map(|index| log.records[*index].answers());
    let mut answered: HashSet<&str> = answers.map(AsRef::as_ref).collect();
    let mut all = Vec::with_capacity(way.len());
    for start in way {
        all.push(*start);
        let mut waiting = vec![(*start, false)];
        while let Some((at, is_beside)) = waiting.pop() {
            if is_beside {
                all.push(at);
            }
            let mut found = Vec::new();
            for child in links.children[at]
                .iter()
                .copied()
                .filter(|child| !taken.contains(child))
            {
                let record = &log.records[child];
                let belongs = match &record.kind {
                    Kind::Assistant(_) => record.response().is_some_and(|id| responses.contains(id)),
                    Kind::User(spoken) if !spoken.answers.is_empty() => {
                        let parent_asks = matches!(log.records[at].kind, Kind::Assistant(_));
                        parent_asks && spoken.answers.iter().all(|id| !answered.contains(id.as_ref()))
                    }
                    Kind::User(_) => is_beside && record.is_meta,
                    Kind::Attachment(_) | Kind::Link => is_beside,
                    Kind::LocalCommand(_) | Kind::Boundary(_) | Kind::Clearing(_) | Kind::Queued(_) => false,
                };
                if belongs && links.is_main(log, child) {
                    answered.extend(record.answers().iter().map(AsRef::as_ref));
                    found.push((child, true));
                }
            }
            taken.extend(found.iter().map(|(child, _)| *child));
            waiting.extend(found.into_iter().rev());
        }
    }
    all
}

/// Findings about what is not part of the conversation: one for each branch, one for all subagents.
pub(super) fn left_out(log: &Log, links: &Links, thread: &Thread) -> Vec<Finding> {
    let taken: HashSet<usize> = thread.full.iter().copied().collect();
    let tree = &links.trees[thread.leaf];
    let is_off = |index: usize| !taken.contains(&index) && links.is_main(log, index) && links.trees[index] == *tree;
    // A message is counted at its first line.
    let is_counted = |index: usize| {
        let record = &log.records[index];
        let parent = links.parents[index].map(|parent| &log.records[parent]);
        let continues = record.response().is_some() && parent.and_then(|parent| parent.response()) == record.response();
        record.spoken().is_some() && !continues
    };
    let mut roots: Vec<Option<usize>> = vec![None; log.records.len()];
    let mut branches: BTreeMap<usize, (usize, u64)> = BTreeMap::new();
    let mut sidechain = None;
    for start in 0..log.records.len() {
        if !links.is_main(log, start) && log.records[start].spoken().is_some() {
            let (_, count) = sidechain.get_or_insert((start, 0_u64));
            *count += 1;
        }
        if !is_off(start) {
            continue;
        }
        let mut path = Vec::new();
        let mut at = start;
        let root = loop {
            if let Some(root) = roots[at] {
                break root;
            }
            roots[at] = Some(at);
            path.push(at);
            match links.parents[at] {
                Some(parent) if is_off(parent) => at = parent,
                Some(_) | None => break at,
            }
        };
        for index in path {
            roots[index] = Some(root);
        }
        if is_counted(start) {
            branches.entry(root).or_insert((start, 0)).1 += 1;
        }
    }
    let branches = branches.into_values().map(|branch| (Rule::Abandoned, branch));
    let sidechain = sidechain.map(|counted| (Rule::Sidechain, counted));
    branches
        .chain(sidechain)
        .map(|(rule, (first, count))| Finding::new(rule, log.records[first].place, counted(count)))
        .collect()
}

fn counted(count: u64) -> String {
    if count == 1 {
        "1 message".to_owned()
    } else {
        format!("{count} messages")
    }
}

/// The finding for a log in which no record names another.
pub(super) fn note_linear(log: &Log, links: &Links) -> Option<Finding> {
    let spoken = log.records.iter().filter(|record| record.spoken().is_some()).count();
    let detail = "no record names the one it continues; they are read in file order";
    (links.is_linear && spoken > 1).then(|| Finding::new(Rule::MissingParent, Place::Whole, detail))
}
