//! The engine's prompt cache against one that compares whole prompts with everything sent before.

use mainstay_engine::economy::CacheRules;
use mainstay_engine::economy::Matching;
use mainstay_engine::economy::Place;
use mainstay_engine::economy::PromptCache;
use mainstay_engine::economy::Segment;
use mainstay_engine::economy::SegmentKind;
use mainstay_engine::economy::ThinkingRule;
use mainstay_tests::prompt_cache::Reference;
use proptest::prelude::*;

const MINUTE: i64 = 60_000;
const LIFETIME: i64 = 5 * MINUTE;

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
            lifetime: LIFETIME,
            thinking: ThinkingRule::Kept,
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
        let preface = |id, tokens, kind| Segment { id, tokens, blocks: 1, kind };
        let mut prompt = vec![preface(900, 30, kind), preface(901, 20, SegmentKind::Preface)];
        let mut cache = PromptCache::new(rules.clone());
        let mut reference = Reference::new(rules);
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
