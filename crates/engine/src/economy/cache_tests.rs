//! Tests of the cache by example. The crate `tests` holds it against one that compares whole prompts.

use super::CacheRules;
use super::Matching;
use super::Place;
use super::PromptCache;
use super::Segment;
use super::SegmentKind;
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
