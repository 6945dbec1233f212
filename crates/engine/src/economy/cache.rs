//! What a provider's prompt cache would serve to one conversation.
//!
//! Prompts are sequences of segments. Beginnings that were sent before are nodes of a tree; a prompt is a path in it. Work
//! per request is in proportion to the segments that differ from the prompt before, not to the prompt.

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

#[derive(Clone, Copy, Debug)]
struct Node {
    /// When a prompt last began with this, as far as that was written down: see [`PromptCache::settle`].
    used: i64,
    /// Whether a mark stood behind it, so that it can be found by one.
    is_marked: bool,
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
    segment: Segment,
    /// Whether an earlier prompt began with this.
    is_known: bool,
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
    /// When the newest prompt came.
    now: i64,
}

impl PromptCache {
    /// An empty cache.
    pub fn new(rules: CacheRules) -> Self {
        Self {
            rules,
            nodes: vec![Node {
                used: i64::MIN,
                is_marked: false,
                is_shared: false,
            }],
            children: HashMap::new(),
            path: Vec::new(),
            kept: 0,
            now: i64::MIN,
        }
    }

    /// Serves the prompt that has the first `keep` segments of the one before and then these, at this time in
    /// milliseconds.
    pub fn serve(&mut self, keep: usize, added: &[Segment], at: i64) -> Served {
        self.settle(keep);
        let at = at.max(self.now);
        for segment in added {
            self.push(*segment);
        }
        let found = match &self.rules.matching {
            Matching::Longest => self.longest(at),
            Matching::Marked { places, lookback } => self.marked(places, *lookback, at),
        };
        let total = self.path.last().map_or(0, |stop| stop.tokens);
        let found = found - found % self.rules.granularity.max(1);
        let read = if found < self.rules.least { 0 } else { found };
        let end = self.write(at);
        self.now = at;
        let served = read as f64 * (1.0 - self.rules.missed);
        let written = (end.max(read) as f64 - served).max(0.0);
        Served {
            read: served,
            write: written,
            fresh: (total as f64 - served - written).max(0.0),
        }
    }

    /// Leaves the newest prompt behind its first `keep` segments. What is left was in use until now.
    fn settle(&mut self, keep: usize) {
        let now = self.now;
        let keep = keep.min(self.path.len());
        for stop in &self.path[keep.saturating_sub(1)..] {
            self.nodes[stop.node].used = now;
        }
        self.path.truncate(keep);
        self.kept = keep;
    }

    fn push(&mut self, segment: Segment) {
        let follows_known = self.path.len() <= self.kept || self.path.last().is_some_and(|stop| stop.is_known);
        let (parent, tokens, blocks) = self
            .path
            .last()
            .map_or((ROOT, 0, 0), |stop| (stop.node, stop.tokens, stop.blocks));
        let next = self.nodes.len();
        let node = *self.children.entry((parent, segment.id)).or_insert(next);
        let is_new = node == next;
        if is_new {
            self.nodes.push(Node {
                used: i64::MIN,
                is_marked: false,
                is_shared: segment.kind == SegmentKind::SharedPreface,
            });
        }
        // An answer that the provider wrote itself directly behind a prompt it knows.
        let is_own = self.rules.holds_answers && segment.kind == SegmentKind::Answer && follows_known && is_new;
        if is_own {
            self.nodes[node].used = self.now;
        }
        self.path.push(Stop {
            node,
            tokens: tokens + segment.tokens,
            blocks: blocks + segment.blocks,
            segment,
            is_known: !is_new || is_own || segment.kind == SegmentKind::SharedPreface,
        });
    }

    fn was_known(&self, index: usize, stop: &Stop) -> bool {
        index < self.kept || stop.is_known
    }

    fn is_warm(&self, stop: &Stop, at: i64) -> bool {
        let node = &self.nodes[stop.node];
        let used = node.used;
        node.is_shared || (used != i64::MIN && at.saturating_sub(used) <= self.rules.lifetime)
    }

    fn longest(&self, at: i64) -> u64 {
        // Of the prompt before, only the last segment that is still here was noted; what stands before it is as warm.
        let mut found = self.path.iter().enumerate().rev();
        let found = found.find(|(index, stop)| self.was_known(*index, stop) && self.is_warm(stop, at));
        found.map_or(0, |(_, stop)| stop.tokens)
    }

    fn marked(&self, places: &[Place], lookback: u64, at: i64) -> u64 {
        let mut best = 0;
        for end in self.marks(places) {
            let blocks = self.path[end].blocks;
            let before = self.path[..=end].iter().enumerate().rev();
            let mut near = before.take_while(|(_, stop)| blocks - stop.blocks <= lookback);
            let found = near.find(|(index, stop)| {
                let node = &self.nodes[stop.node];
                (node.is_marked || node.is_shared) && self.was_known(*index, stop) && self.is_warm(stop, at)
            });
            best = best.max(found.map_or(0, |(_, stop)| stop.tokens));
        }
        best
    }

    /// The places of the newest prompt that are marked.
    fn marks(&self, places: &[Place]) -> Vec<usize> {
        let is_preface = |stop: &Stop| matches!(stop.segment.kind, SegmentKind::Preface | SegmentKind::SharedPreface);
        let preface = self.path.iter().take_while(|stop| is_preface(stop)).count();
        let mut marks = Vec::new();
        for place in places {
            match place {
                // Both parts of the instructions are marked: what is shared, and what is not.
                Place::Preface => marks.extend(0..preface),
                Place::Anchor => {
                    let anchor = self
                        .path
                        .iter()
                        .rposition(|stop| stop.segment.kind == SegmentKind::Anchor);
                    marks.extend(anchor);
                }
                Place::Back(steps) => {
                    let end = self.path.len().checked_sub(1 + steps);
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
            Matching::Longest => {
                if let Some(last) = self.path.last() {
                    self.nodes[last.node].used = at;
                }
                return if total < self.rules.least { 0 } else { total };
            }
            Matching::Marked { places, .. } => self.marks(places),
        };
        let mut end = 0;
        for mark in marks {
            let stop = self.path[mark];
            if stop.tokens >= self.rules.least {
                self.nodes[stop.node].is_marked = true;
                self.nodes[stop.node].used = at;
                end = end.max(stop.tokens);
            }
        }
        end
    }
}
