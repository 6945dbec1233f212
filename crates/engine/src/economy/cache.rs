//! What a provider's prompt cache would serve to one conversation.
//!
//! Prompts are sequences of segments. Beginnings that were sent before are nodes of a tree; a prompt is a path in it. What
//! stays on the path from one prompt to the next is not touched, so that a request costs what differs from the prompt
//! before, and the way back from a mark to what it finds.
//!
//! A beginning lives as long as prompts that begin with it follow each other within its lifetime. Where only marked
//! beginnings are found, one that died is found again only after it was marked again.

use std::collections::HashMap;

use crate::economy::profile::CacheRules;
use crate::economy::profile::Matching;
use crate::economy::profile::Place;

/// A stretch of a prompt that is cached as a whole: a message, or the instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Equal content has equal ids.
    pub id: u64,
    /// Its tokens.
    pub tokens: u64,
    /// How many content blocks it has.
    pub blocks: u64,
    /// What it is, as far as a cache cares.
    pub kind: SegmentKind,
}

/// What a segment is, as far as a cache cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentKind {
    /// Instructions that many conversations share: always warm.
    SharedPreface,
    /// Instructions of this conversation.
    Preface,
    /// Something the model wrote.
    Answer,
    /// The last message that a compaction left or put in place.
    Anchor,
    /// Any other message.
    Plain,
}

/// How a prompt was served, in tokens; fractions where a share of requests misses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Served {
    /// Read from the cache.
    pub read: f64,
    /// Written to it.
    pub write: f64,
    /// Neither.
    pub fresh: f64,
}

impl Served {
    /// The whole prompt.
    pub fn prompt(&self) -> f64 {
        self.read + self.write + self.fresh
    }
}

/// The root of the tree: nothing sent yet.
const ROOT: usize = 0;

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// When the newest prompt came that began with this and is not the newest of all: see [`PromptCache::settle`].
    used: Option<i64>,
    /// When it was last written behind a mark; nothing once that died.
    written: Option<i64>,
    is_shared: bool,
}

/// What stands at one place of the newest prompt.
#[derive(Clone, Copy, Debug)]
struct Stop {
    node: usize,
    /// Tokens up to and with this segment.
    tokens: u64,
    /// Content blocks up to and with it.
    blocks: u64,
    /// Where the last anchor up to here stands.
    anchor: Option<usize>,
    kind: SegmentKind,
}

/// The cache of a provider, as one conversation meets it.
#[derive(Clone, Debug)]
pub struct PromptCache {
    rules: CacheRules,
    nodes: Vec<Node>,
    children: HashMap<(usize, u64), usize>,
    path: Vec<Stop>,
    /// How many segments the newest prompt has of the one before.
    kept: usize,
    /// Where the prompt before ended, with as much of its answer as this one has so far.
    end: Option<usize>,
    /// When the newest prompt came.
    now: Option<i64>,
    /// When the newest prompt came that followed its predecessor too late: what was written before it is dead.
    since: i64,
}

impl PromptCache {
    /// An empty cache.
    pub fn new(rules: CacheRules) -> Self {
        Self {
            rules,
            nodes: vec![Node::default()],
            children: HashMap::new(),
            path: Vec::new(),
            kept: 0,
            end: None,
            now: None,
            since: i64::MIN,
        }
    }

    /// Serves the prompt that has the first `keep` segments of the one before and then these, at this time in
    /// milliseconds. Time does not run backwards: an earlier time counts as that of the prompt before.
    pub fn serve(&mut self, keep: usize, added: &[Segment], at: i64) -> Served {
        self.settle(keep);
        let at = self.now.map_or(at, |now| at.max(now));
        if !self.is_recent(self.now, at) {
            self.since = at;
        }
        for segment in added {
            self.push(*segment, at);
        }
        let found = match &self.rules.matching {
            Matching::Longest => self.longest(at),
            Matching::Marked { places, lookback } => self.marked(places, *lookback, at),
        };
        let total = self.path.last().map_or(0, |stop| stop.tokens);
        let found = found - found % self.rules.granularity.max(1);
        let read = if found < self.rules.least { 0 } else { found };
        let end = self.write(at);
        self.now = Some(at);
        self.end = Some(self.path.last().map_or(ROOT, |stop| stop.node));
        let served = read as f64 * (1.0 - self.rules.missed.clamp(0.0, 1.0));
        let written = end.max(read) as f64 - served;
        Served {
            read: served,
            write: written,
            fresh: (total - end.max(read)) as f64,
        }
    }

    /// Leaves the newest prompt behind its first `keep` segments. What is left was in use until now.
    fn settle(&mut self, keep: usize) {
        let keep = keep.min(self.path.len());
        for stop in &self.path[keep..] {
            self.nodes[stop.node].used = self.now;
        }
        self.path.truncate(keep);
        self.kept = keep;
    }

    fn push(&mut self, segment: Segment, at: i64) {
        let last = self.path.last();
        let (parent, tokens, blocks) = last.map_or((ROOT, 0, 0), |stop| (stop.node, stop.tokens, stop.blocks));
        let anchor = last.and_then(|stop| stop.anchor);
        let index = *self.children.entry((parent, segment.id)).or_insert(self.nodes.len());
        if index == self.nodes.len() {
            self.nodes.push(Node {
                is_shared: segment.kind == SegmentKind::SharedPreface,
                ..Node::default()
            });
        }
        if !self.is_recent(self.nodes[index].used, at) {
            self.nodes[index].written = None;
        }
        // What the model wrote directly behind the prompt before has been through the provider's machines already.
        // The same words anywhere else have not: they are a client's edit.
        if self.rules.holds_answers && segment.kind == SegmentKind::Answer && self.end == Some(parent) {
            self.end = Some(index);
            self.nodes[index].used = self.now;
            self.nodes[index].written = self.now;
        }
        let is_anchor = segment.kind == SegmentKind::Anchor;
        self.path.push(Stop {
            node: index,
            tokens: tokens.saturating_add(segment.tokens),
            blocks: blocks.saturating_add(segment.blocks),
            anchor: if is_anchor { Some(self.path.len()) } else { anchor },
            kind: segment.kind,
        });
    }

    fn is_recent(&self, used: Option<i64>, at: i64) -> bool {
        used.is_some_and(|used| at.saturating_sub(used) <= self.rules.lifetime)
    }

    /// Whether an earlier prompt began with this, not too long ago.
    fn is_warm(&self, index: usize, at: i64) -> bool {
        let node = &self.nodes[self.path[index].node];
        // What is still here of the prompt before was used by it; that is not written down.
        let used = if index < self.kept { self.now } else { node.used };
        node.is_shared || self.is_recent(used, at)
    }

    /// Whether it was also written behind a mark, and lives.
    fn is_entry(&self, index: usize, at: i64) -> bool {
        let node = &self.nodes[self.path[index].node];
        let is_written = node.written.is_some_and(|written| written >= self.since);
        node.is_shared || is_written && self.is_warm(index, at)
    }

    fn longest(&self, at: i64) -> u64 {
        let found = (0..self.path.len()).rev().find(|index| self.is_warm(*index, at));
        found.map_or(0, |index| self.path[index].tokens)
    }

    fn marked(&self, places: &[Place], lookback: u64, at: i64) -> u64 {
        let mut best = 0;
        for end in self.marks(places) {
            let blocks = self.path[end].blocks;
            let before = (0..=end).rev();
            let mut near = before.take_while(|index| blocks - self.path[*index].blocks <= lookback);
            let found = near.find(|index| self.is_entry(*index, at));
            best = best.max(found.map_or(0, |index| self.path[index].tokens));
        }
        best
    }

    /// The places of the newest prompt that are marked.
    fn marks(&self, places: &[Place]) -> Vec<usize> {
        let is_preface = |stop: &Stop| matches!(stop.kind, SegmentKind::Preface | SegmentKind::SharedPreface);
        let preface = self.path.iter().take_while(|stop| is_preface(stop)).count();
        let mut marks = Vec::new();
        for place in places {
            match place {
                // Both parts of the instructions are marked: what is shared, and what is not.
                Place::Preface => marks.extend(0..preface),
                Place::Anchor => marks.extend(self.path.last().and_then(|stop| stop.anchor)),
                Place::Back(steps) => {
                    let end = self.path.len().checked_sub(steps.saturating_add(1));
                    marks.extend(end.filter(|end| *end >= preface));
                }
            }
        }
        marks
    }

    /// Notes what this prompt leaves in the cache, and says up to which token it wrote.
    fn write(&mut self, at: i64) -> u64 {
        let total = self.path.last().map_or(0, |stop| stop.tokens);
        let marks = match &self.rules.matching {
            Matching::Longest => return if total < self.rules.least { 0 } else { total },
            Matching::Marked { places, .. } => self.marks(places),
        };
        let mut end = 0;
        for mark in marks {
            let stop = self.path[mark];
            if stop.tokens >= self.rules.least {
                self.nodes[stop.node].written = Some(at);
                end = end.max(stop.tokens);
            }
        }
        end
    }
}
