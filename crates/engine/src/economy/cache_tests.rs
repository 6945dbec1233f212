//! Tests of the cache: by example, and against one that compares whole prompts with everything sent before.

use proptest::prelude::*;

use super::CacheRules;
use super::Matching;
use super::Place;
use super::PromptCache;
use super::Segment;
use super::SegmentKind;
use super::Served;
use super::ThinkingRule;

const MINUTE: i64 = 60_000;
const LIFETIME: i64 = 5 * MINUTE;

fn longest() -> CacheRules {
    CacheRules {
        matching: Matching::Longest,
        granularity: 1,
        least: 0,
        lifetime: LIFETIME,
        holds_answers: false,
        missed: 0.0,
        thinking: ThinkingRule::Kept,
    }
}

fn marked(places: &[Place]) -> CacheRules {
    CacheRules {
        matching: Matching::Marked {
            places: places.to_vec(),
            lookback: 20,
        },
        ..longest()
    }
}

/// Where Claude Code marks.
fn host() -> CacheRules {
    marked(&[Place::Preface, Place::Back(2), Place::Back(0)])
}

/// Where we mark.
fn own() -> CacheRules {
    marked(&[Place::Preface, Place::Anchor, Place::Back(0)])
}

fn segment(id: u64, tokens: u64, kind: SegmentKind) -> Segment {
    Segment {
        id,
        tokens,
        blocks: 1,
        kind,
    }
}

fn preface() -> Segment {
    segment(1_000, 100, SegmentKind::Preface)
}

/// Messages of ten tokens each, by their ids.
fn messages(ids: impl IntoIterator<Item = u64>) -> Vec<Segment> {
    ids.into_iter().map(|id| segment(id, 10, SegmentKind::Plain)).collect()
}

fn with_preface(ids: impl IntoIterator<Item = u64>) -> Vec<Segment> {
    [vec![preface()], messages(ids)].concat()
}

fn serve(cache: &mut PromptCache, keep: usize, added: &[Segment], at: i64) -> (u64, u64, u64) {
    let served = cache.serve(keep, added, at);
    (served.read as u64, served.write as u64, served.fresh as u64)
}

#[test]
fn what_only_grows_is_read_up_to_what_is_new() {
    for rules in [longest(), host(), own()] {
        let mut cache = PromptCache::new(rules);
        assert_eq!(serve(&mut cache, 0, &with_preface(0..3), 0), (0, 130, 0));
        for step in 1..50 {
            let at = step as i64 * MINUTE;
            let next = 2 * step + 1;
            let tokens = 100 + 10 * next;
            let served = serve(&mut cache, next as usize + 1, &messages(next..next + 2), at);
            assert_eq!(served, (tokens, 20, 0), "{step}");
        }
    }
}

#[test]
fn after_a_change_the_longest_beginning_or_the_marked_one_is_read() {
    // Fifty messages, the twentieth of which changes; it is the thirtieth from the end, out of every mark's sight.
    let first = with_preface(0..50);
    let changed = messages([99].into_iter().chain(20..50));
    let mut automatic = PromptCache::new(longest());
    automatic.serve(0, &first, 0);
    assert_eq!(serve(&mut automatic, 20, &changed, 1), (290, 310, 0));
    let mut claude = PromptCache::new(host());
    claude.serve(0, &first, 0);
    assert_eq!(serve(&mut claude, 20, &changed, 1), (100, 500, 0));
}

#[test]
fn an_anchor_saves_what_stands_before_the_change() {
    let anchored = |added: &[Segment]| {
        let mut added = added.to_vec();
        added[10].kind = SegmentKind::Anchor;
        added
    };
    let first = with_preface(0..50);
    let changed = messages([99].into_iter().chain(20..50));
    let mut cache = PromptCache::new(own());
    cache.serve(0, &anchored(&first), 0);
    assert_eq!(serve(&mut cache, 20, &changed, 1), (200, 400, 0));
    // The same marks without an anchor save the preface alone.
    let mut cache = PromptCache::new(own());
    cache.serve(0, &first, 0);
    assert_eq!(serve(&mut cache, 20, &changed, 1), (100, 500, 0));
    // And of two anchors the later one is marked.
    let mut twice = anchored(&first);
    twice[15].kind = SegmentKind::Anchor;
    let mut cache = PromptCache::new(own());
    cache.serve(0, &twice, 0);
    assert_eq!(serve(&mut cache, 20, &changed, 1), (250, 350, 0));
}

#[test]
fn an_entry_lives_after_its_last_use() {
    for rules in [longest(), host()] {
        let mut cache = PromptCache::new(rules);
        cache.serve(0, &with_preface(0..3), 0);
        // Used again just in time, three times over.
        for step in 1..=3 {
            assert_eq!(serve(&mut cache, 4, &[], step * LIFETIME), (130, 0, 0), "{step}");
        }
        assert_eq!(serve(&mut cache, 4, &[], 4 * LIFETIME + 1), (0, 130, 0));
        assert_eq!(serve(&mut cache, 4, &[], 4 * LIFETIME + 2), (130, 0, 0));
    }
}

#[test]
fn what_left_the_prompt_dies_by_itself() {
    for rules in [longest(), host()] {
        let mut cache = PromptCache::new(rules);
        cache.serve(0, &with_preface(0..3), 0);
        cache.serve(1, &messages(10..13), MINUTE);
        // Back to the first messages within their life, and again after it.
        assert_eq!(serve(&mut cache, 1, &messages(0..3), LIFETIME), (130, 0, 0));
        for step in 1..=6 {
            cache.serve(1, &messages(10..13), LIFETIME + step * MINUTE);
        }
        let at = LIFETIME + 6 * MINUTE;
        assert_eq!(serve(&mut cache, 1, &messages(0..3), at), (100, 30, 0));
    }
}

#[test]
fn a_dead_mark_is_not_revived_by_being_passed() {
    let mut cache = PromptCache::new(marked(&[Place::Preface, Place::Back(0)]));
    cache.serve(0, &with_preface(0..3), 0);
    // After a pause the same messages come with others behind them: the mark stands elsewhere now.
    assert_eq!(serve(&mut cache, 4, &messages(3..6), 2 * LIFETIME), (0, 160, 0));
    assert_eq!(serve(&mut cache, 4, &messages(10..13), 2 * LIFETIME + 1), (100, 60, 0));
    // While it lives, passing it keeps it alive.
    let mut cache = PromptCache::new(marked(&[Place::Preface, Place::Back(0)]));
    cache.serve(0, &with_preface(0..3), 0);
    cache.serve(4, &messages(3..6), LIFETIME);
    assert_eq!(serve(&mut cache, 4, &messages(10..13), 2 * LIFETIME), (130, 30, 0));
}

#[test]
fn time_does_not_run_backwards() {
    let mut cache = PromptCache::new(longest());
    cache.serve(0, &with_preface(0..3), 10 * LIFETIME);
    assert_eq!(serve(&mut cache, 4, &[], 0), (130, 0, 0));
    assert_eq!(serve(&mut cache, 4, &[], 11 * LIFETIME), (130, 0, 0));
}

#[test]
fn matches_are_cut_to_whole_steps() {
    let rules = CacheRules {
        granularity: 128,
        ..longest()
    };
    let mut cache = PromptCache::new(rules);
    cache.serve(0, &with_preface(0..20), 0);
    assert_eq!(serve(&mut cache, 21, &messages(20..21), 1), (256, 54, 0));
}

#[test]
fn short_beginnings_are_not_cached() {
    for matching in [longest().matching, host().matching] {
        let rules = CacheRules {
            matching,
            least: 120,
            ..longest()
        };
        let mut cache = PromptCache::new(rules);
        assert_eq!(serve(&mut cache, 0, &with_preface(0..1), 0), (0, 0, 110));
        assert_eq!(serve(&mut cache, 2, &messages(1..2), 1), (0, 120, 0));
        assert_eq!(serve(&mut cache, 3, &messages(2..3), 2), (120, 10, 0));
        // The preface alone is too short to be read.
        assert_eq!(serve(&mut cache, 1, &messages(10..13), 3), (0, 130, 0));
    }
}

#[test]
fn what_stands_behind_the_last_mark_is_fresh() {
    let mut cache = PromptCache::new(marked(&[Place::Preface, Place::Back(2)]));
    assert_eq!(serve(&mut cache, 0, &with_preface(0..5), 0), (0, 130, 20));
    assert_eq!(serve(&mut cache, 6, &messages(5..7), 1), (130, 20, 20));
    // Too few messages for that mark.
    let mut cache = PromptCache::new(marked(&[Place::Preface, Place::Back(2)]));
    assert_eq!(serve(&mut cache, 0, &with_preface(0..2), 0), (0, 100, 20));
}

#[test]
fn a_mark_sees_twenty_blocks() {
    for (added, read) in [(20, 110), (21, 100)] {
        let mut cache = PromptCache::new(marked(&[Place::Preface, Place::Back(0)]));
        cache.serve(0, &with_preface(0..1), 0);
        assert_eq!(
            serve(&mut cache, 2, &messages(1..=added), 1),
            (read, 110 + 10 * added - read, 0)
        );
    }
    // Blocks are counted, not messages: one message can be too far.
    let mut long = segment(1, 10, SegmentKind::Plain);
    long.blocks = 21;
    let mut cache = PromptCache::new(marked(&[Place::Preface, Place::Back(0)]));
    cache.serve(0, &with_preface(0..1), 0);
    assert_eq!(serve(&mut cache, 2, &[long], 1), (100, 20, 0));
}

#[test]
fn a_shared_preface_is_always_warm() {
    for rules in [longest(), host()] {
        let shared = segment(2_000, 50, SegmentKind::SharedPreface);
        let prompt = [vec![shared], with_preface(0..3)].concat();
        let mut cache = PromptCache::new(rules);
        assert_eq!(serve(&mut cache, 0, &prompt, 0), (50, 130, 0));
        assert_eq!(serve(&mut cache, 5, &[], 2 * LIFETIME), (50, 130, 0));
        assert_eq!(serve(&mut cache, 5, &[], 3 * LIFETIME), (180, 0, 0));
    }
}

#[test]
fn answers_are_held_where_the_provider_wrote_them() {
    let answer = [segment(50, 7, SegmentKind::Answer), segment(51, 5, SegmentKind::Answer)];
    let turn = [answer.to_vec(), messages([3])].concat();
    for (holds_answers, read) in [(true, 142), (false, 130)] {
        for matching in [longest().matching, host().matching] {
            let rules = CacheRules {
                matching,
                holds_answers,
                ..longest()
            };
            let mut cache = PromptCache::new(rules.clone());
            cache.serve(0, &with_preface(0..3), 0);
            assert_eq!(serve(&mut cache, 4, &turn, MINUTE), (read, 152 - read, 0));
            // The same words where no prompt ended are an edit by the client.
            let mut cache = PromptCache::new(rules.clone());
            cache.serve(0, &with_preface(0..3), 0);
            let edited = serve(&mut cache, 3, &turn, MINUTE);
            assert!(edited.0 <= 120, "{edited:?}");
            // And an answer dies like a prompt.
            let mut cache = PromptCache::new(rules);
            cache.serve(0, &with_preface(0..3), 0);
            assert_eq!(serve(&mut cache, 4, &turn, 2 * LIFETIME), (0, 152, 0));
        }
    }
}

#[test]
fn a_share_of_hits_is_missed() {
    let rules = CacheRules {
        missed: 0.25,
        ..longest()
    };
    let mut cache = PromptCache::new(rules);
    cache.serve(0, &with_preface(0..10), 0);
    let served = cache.serve(11, &messages(10..12), 1);
    assert_eq!((served.read, served.write, served.fresh), (150.0, 70.0, 0.0));
}

/// What the reference keeps of a prompt: segments that a later prompt has to begin with, and when that last happened.
struct Entry {
    beginning: Vec<u64>,
    used: i64,
}

/// A cache that compares whole prompts with everything that was sent before, written without a look at the other one.
struct Reference {
    rules: CacheRules,
    entries: Vec<Entry>,
    before: Option<(Vec<Segment>, i64)>,
}

impl Reference {
    fn serve(&mut self, prompt: &[Segment], at: i64) -> Served {
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

/// One prompt of a generated conversation: how much of the one before stays, what follows, how long after it.
type Move = (usize, Vec<(u64, SegmentKind)>, i64);

fn moves() -> impl Strategy<Value = Vec<Move>> {
    // Few different messages, so that prompts meet their predecessors again.
    let kind = prop_oneof![
        4 => Just(SegmentKind::Plain),
        2 => Just(SegmentKind::Answer),
        1 => Just(SegmentKind::Anchor),
    ];
    let added = prop::collection::vec((0..4_u64, kind), 0..5);
    let keep = prop_oneof![3 => Just(usize::MAX), 1 => 0..12_usize];
    let pause = prop_oneof![6 => 0..MINUTE, 2 => 0..2 * LIFETIME, 1 => Just(LIFETIME), 1 => Just(LIFETIME + 1)];
    prop::collection::vec((keep, added, pause), 1..30)
}

fn rules() -> impl Strategy<Value = CacheRules> {
    let place = prop_oneof![
        Just(Place::Preface),
        Just(Place::Anchor),
        (0..4_usize).prop_map(Place::Back),
    ];
    let lookback = prop_oneof![0..6_u64, Just(20), Just(u64::MAX)];
    let marked = (prop::collection::vec(place, 1..4), lookback);
    let matching = prop_oneof![
        Just(Matching::Longest),
        marked.prop_map(|(places, lookback)| Matching::Marked { places, lookback }),
    ];
    let least = prop_oneof![Just(0_u64), Just(60)];
    let granularity = prop_oneof![Just(1_u64), Just(16)];
    let missed = prop_oneof![Just(0.0), Just(0.25)];
    (matching, granularity, least, any::<bool>(), missed).prop_map(
        |(matching, granularity, least, holds_answers, missed)| CacheRules {
            matching,
            granularity,
            least,
            holds_answers,
            missed,
            ..longest()
        },
    )
}

/// A message whose size and kind follow from what it is, so that equal ids mean equal content.
fn generated(id: u64, kind: SegmentKind) -> Segment {
    let class = match kind {
        SegmentKind::Answer => 10,
        _ => 20,
    };
    Segment {
        id: class + id,
        tokens: 5 + 7 * id,
        blocks: 1 + id,
        kind,
    }
}

proptest! {
    #[test]
    fn it_agrees_with_a_cache_that_compares_whole_prompts(
        moves in moves(),
        rules in rules(),
        is_shared in any::<bool>(),
    ) {
        let kind = if is_shared { SegmentKind::SharedPreface } else { SegmentKind::Preface };
        let mut prompt = vec![segment(900, 30, kind), segment(901, 20, SegmentKind::Preface)];
        let mut cache = PromptCache::new(rules.clone());
        let mut reference = Reference { rules, entries: Vec::new(), before: None };
        let mut at = 0;
        cache.serve(0, &prompt, at);
        reference.serve(&prompt, at);
        for (keep, added, pause) in moves {
            let keep = keep.max(2).min(prompt.len());
            let added: Vec<_> = added.into_iter().map(|(id, kind)| generated(id, kind)).collect();
            prompt.truncate(keep);
            prompt.extend(&added);
            at += pause;
            let served = cache.serve(keep, &added, at);
            let total: u64 = prompt.iter().map(|segment| segment.tokens).sum();
            prop_assert_eq!(served.prompt(), total as f64);
            prop_assert!(served.read >= 0.0 && served.write >= 0.0 && served.fresh >= 0.0);
            prop_assert_eq!(served, reference.serve(&prompt, at));
        }
    }
}
