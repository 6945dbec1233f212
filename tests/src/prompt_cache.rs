//! A provider's prompt cache as one would explain it, written without a look at the engine's: it keeps every beginning that was
//! written and compares whole prompts with all of them. Slow, and there to be agreed with.

use mainstay_engine::economy::CacheRules;
use mainstay_engine::economy::Matching;
use mainstay_engine::economy::Place;
use mainstay_engine::economy::Segment;
use mainstay_engine::economy::SegmentKind;
use mainstay_engine::economy::Served;

/// What the reference keeps of a prompt: segments that a later prompt has to begin with, and when that last happened.
struct Entry {
    beginning: Vec<u64>,
    used: i64,
}

/// A cache that compares whole prompts with everything that was sent before.
pub struct Reference {
    rules: CacheRules,
    entries: Vec<Entry>,
    before: Option<(Vec<Segment>, i64)>,
}

impl Reference {
    /// An empty cache.
    pub fn new(rules: CacheRules) -> Self {
        Self {
            rules,
            entries: Vec::new(),
            before: None,
        }
    }

    /// Serves a whole prompt at this time in milliseconds. Time must not run backwards.
    pub fn serve(&mut self, prompt: &[Segment], at: i64) -> Served {
        self.hold_answers(prompt);
        let ids: Vec<u64> = prompt.iter().map(|segment| segment.id).collect();
        let lifetime = self.rules.lifetime;
        self.entries.retain(|entry| at - entry.used <= lifetime);
        let tokens = |length: usize| prompt[..length].iter().map(|segment| segment.tokens).sum::<u64>();
        let lengths = self.found(prompt, &ids);
        let found = lengths.into_iter().map(tokens).max().unwrap_or(0);
        let found = found / self.rules.granularity * self.rules.granularity;
        let read = if found < self.rules.least { 0 } else { found };
        for entry in &mut self.entries {
            if ids.starts_with(&entry.beginning) {
                entry.used = at;
            }
        }
        let mut end = 0;
        for length in self.ends(prompt) {
            if tokens(length) >= self.rules.least {
                end = end.max(tokens(length));
                self.entries.push(Entry {
                    beginning: ids[..length].to_vec(),
                    used: at,
                });
            }
        }
        self.before = Some((prompt.to_vec(), at));
        let hit = read as f64 * (1.0 - self.rules.missed);
        let cached = end.max(read) as f64;
        Served {
            read: hit,
            write: cached - hit,
            fresh: tokens(prompt.len()) as f64 - cached,
        }
    }

    /// The answers at the head of what follows the prompt before.
    fn hold_answers(&mut self, prompt: &[Segment]) {
        let Some((before, at)) = &self.before else { return };
        let is_same = |(a, b): (&Segment, &Segment)| a.id == b.id;
        if !self.rules.holds_answers || prompt.len() < before.len() || !std::iter::zip(before, prompt).all(is_same) {
            return;
        }
        for length in before.len()..prompt.len() {
            if prompt[length].kind != SegmentKind::Answer {
                return;
            }
            self.entries.push(Entry {
                beginning: prompt[..=length].iter().map(|segment| segment.id).collect(),
                used: *at,
            });
        }
    }

    /// How many segments each of the beginnings has that are found.
    fn found(&self, prompt: &[Segment], ids: &[u64]) -> Vec<usize> {
        let is_entry = |length: usize| {
            let beginning = &ids[..length];
            let shared = prompt[length - 1].kind == SegmentKind::SharedPreface;
            shared || self.entries.iter().any(|entry| entry.beginning == beginning)
        };
        let common = |entry: &Entry| {
            std::iter::zip(&entry.beginning, ids)
                .take_while(|(a, b)| a == b)
                .count()
        };
        match &self.rules.matching {
            Matching::Longest => {
                let shared = prompt
                    .iter()
                    .take_while(|segment| segment.kind == SegmentKind::SharedPreface);
                let mut lengths: Vec<usize> = self.entries.iter().map(common).collect();
                lengths.push(shared.count());
                lengths
            }
            Matching::Marked { lookback, .. } => {
                let mut lengths = Vec::new();
                for mark in self.ends(prompt) {
                    let seen = |length: &usize| {
                        let between = prompt[*length..mark].iter().map(|segment| segment.blocks).sum::<u64>();
                        between <= *lookback
                    };
                    lengths.extend((1..=mark).filter(seen).filter(|length| is_entry(*length)));
                }
                lengths
            }
        }
    }

    /// Up to how many segments a prompt is written.
    fn ends(&self, prompt: &[Segment]) -> Vec<usize> {
        let Matching::Marked { places, .. } = &self.rules.matching else {
            return vec![prompt.len()];
        };
        let is_preface = |kind| matches!(kind, SegmentKind::Preface | SegmentKind::SharedPreface);
        let preface = prompt.iter().position(|segment| !is_preface(segment.kind));
        let preface = preface.unwrap_or(prompt.len());
        let mut ends = Vec::new();
        for place in places {
            match place {
                Place::Preface => ends.extend(1..=preface),
                Place::Anchor => {
                    let anchor = (1..=prompt.len()).rev();
                    let mut anchor = anchor.filter(|length| prompt[length - 1].kind == SegmentKind::Anchor);
                    ends.extend(anchor.next());
                }
                Place::Back(steps) if prompt.len() > preface + steps => ends.push(prompt.len() - steps),
                Place::Back(_) => {}
            }
        }
        ends
    }
}
