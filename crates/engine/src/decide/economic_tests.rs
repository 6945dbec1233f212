//! Tests of the economic policy by example, and with figures that nobody would send.

use proptest::prelude::*;

use super::*;
use crate::economy::CacheRules;
use crate::economy::Matching;
use crate::economy::Rates;
use crate::economy::Tariff;
use crate::economy::ThinkingRule;
use crate::economy::Tier;

pub(super) fn profile(read: f64, write: f64, tiers: Vec<Tier>) -> Profile {
    Profile {
        name: "made".to_owned(),
        title: "made".to_owned(),
        model: "made".to_owned(),
        family: Family::O200k,
        window: 200_000,
        tariff: Tariff {
            base: rates(read, write),
            tiers,
        },
        cache: CacheRules {
            matching: Matching::Longest,
            granularity: 1,
            least: 0,
            lifetime: 300_000,
            holds_answers: false,
            missed: 0.0,
            thinking: ThinkingRule::Kept,
        },
    }
}

fn rates(read: f64, write: f64) -> Rates {
    Rates {
        input: write,
        output: 5.0 * write,
        cache_read: read,
        cache_write: write,
    }
}

/// As dear as a usual model: reading costs a twentieth of writing.
fn usual() -> Profile {
    profile(0.2, 4.0, Vec::new())
}

pub(super) fn outlook(profile: &Profile, prompt: u64) -> Outlook<'_> {
    Outlook {
        profile,
        prompt,
        warm: prompt,
        window: 200_000,
        limit: 170_000,
        requests: 30,
        history: prompt,
        output: 500.0,
    }
}

pub(super) fn offer(prompt: u64, retention: f64) -> Offer {
    Offer {
        form: Form::Ledger,
        prompt,
        tail: prompt / 2,
        stays: 5_000.min(prompt),
        calls: 0.0,
        retention,
    }
}

/// Somebody who minds only money.
pub(super) fn miser() -> EconomicPolicy {
    EconomicPolicy {
        forgetting: 0.0,
        least_retention: 0.0,
    }
}

pub(super) fn taken(advice: &Advice) -> Option<usize> {
    match advice {
        Advice::Take(index, _) => Some(*index),
        Advice::Wait(_) => None,
    }
}

/// The first advice in a conversation.
fn first(policy: EconomicPolicy, outlook: &Outlook<'_>, offers: &[Offer]) -> Option<usize> {
    taken(&Economist::new(policy).advise(outlook, offers))
}

#[test]
fn a_cold_cache_is_a_good_moment() {
    let profile = usual();
    let offers = [offer(40_000, 1.0)];
    let warm = outlook(&profile, 100_000);
    let cold = Outlook { warm: 5_000, ..warm };
    assert_eq!(first(miser(), &warm, &offers), None);
    let advice = Economist::new(miser()).advise(&cold, &offers);
    assert_eq!(taken(&advice), Some(0));
    assert!(
        matches!(&advice, Advice::Take(_, reason) if reason.contains("cold")),
        "{advice:?}"
    );
    // Not where the summary costs more than what need not be sent: 60,000 tokens at four dollars a million.
    let dear = [Offer {
        calls: 0.30,
        ..offers[0]
    }];
    assert_eq!(first(miser(), &cold, &dear), None);
    // Nor where too much is lost.
    assert_eq!(first(EconomicPolicy::default(), &cold, &[offer(40_000, 0.5)]), None);
}

#[test]
fn a_price_step_is_not_crossed() {
    let step = Tier {
        above: 100_000,
        rates: rates(2.0, 40.0),
    };
    let profile = profile(0.2, 4.0, vec![step]);
    let offers = [offer(40_000, 1.0)];
    assert_eq!(first(miser(), &outlook(&profile, 100_000), &offers), None);
    let beyond = Outlook {
        warm: 100_000,
        ..outlook(&profile, 100_001)
    };
    let advice = Economist::new(miser()).advise(&beyond, &offers);
    assert_eq!(taken(&advice), Some(0));
    assert!(
        matches!(&advice, Advice::Take(_, reason) if reason.contains("step")),
        "{advice:?}"
    );
    // A pass that stays beyond the step gains nothing by it.
    assert_eq!(
        first(miser(), &outlook(&profile, 160_000), &[offer(150_000, 1.0)]),
        None
    );
}

#[test]
fn what_takes_out_too_little_is_never_taken() {
    let profile = profile(1.0, 1.0, Vec::new());
    for (prompt, reclaimed) in [(4_000, 2_999), (200_000, 2_999), (200_000, 0)] {
        let mut economist = Economist::new(miser());
        let outlook = Outlook {
            warm: 0,
            ..outlook(&profile, prompt)
        };
        for _ in 0..1_000 {
            let advice = economist.advise(&outlook, &[offer(prompt - reclaimed, 1.0)]);
            assert_eq!(taken(&advice), None, "{prompt} {reclaimed}");
        }
        assert_eq!(taken(&economist.advise(&outlook, &[])), None);
    }
    let enough = Outlook {
        warm: 0,
        ..outlook(&profile, 150_000)
    };
    assert_eq!(first(miser(), &enough, &[offer(147_000, 1.0)]), Some(0));
}

#[test]
fn what_does_not_fit_is_taken_out_whatever_that_costs() {
    let profile = usual();
    let policy = EconomicPolicy::default();
    let full = outlook(&profile, 171_000);
    let dear = Offer {
        calls: 100.0,
        ..offer(60_000, 0.1)
    };
    assert_eq!(first(policy, &full, &[dear]), Some(0));
    assert_eq!(first(policy, &outlook(&profile, 170_000), &[dear]), None);
    // One that keeps more and does not fit is none; of those that fit, the better one is taken.
    let offers = [offer(167_000, 0.99), offer(170_001 - 4_000, 0.2), offer(80_000, 0.9)];
    let tight = Outlook { limit: 166_500, ..full };
    assert_eq!(first(policy, &tight, &offers), Some(2));
    // Where none fits, the smallest is the nearest to it.
    assert_eq!(first(policy, &tight, &offers[..1]), Some(0));
    let tiny = Outlook { limit: 10_000, ..full };
    assert_eq!(first(policy, &tiny, &offers), Some(2));
}

#[test]
fn summaries_are_asked_for_in_the_cheaper_way() {
    let profile = usual();
    let by = |way, calls| Offer {
        form: Form::Hybrid(way),
        calls,
        ..offer(40_000, 1.0)
    };
    let cold = Outlook {
        warm: 5_000,
        ..outlook(&profile, 160_000)
    };
    let offers = [by(Way::Auxiliary, 0.02), by(Way::InPlace, 0.05)];
    assert_eq!(first(miser(), &cold, &offers), Some(0));
    let offers = [by(Way::Auxiliary, 0.05), by(Way::InPlace, 0.02)];
    assert_eq!(first(miser(), &cold, &offers), Some(1));
}

#[test]
fn short_sessions_are_left_alone() {
    let profile = usual();
    let mut economist = Economist::new(EconomicPolicy::default());
    let offers = [offer(7_000, 0.7), offer(10_000, 0.8), offer(16_000, 0.95)];
    for request in 0..25_u64 {
        let prompt = 8_000 + 600 * request;
        let outlook = Outlook {
            warm: prompt.saturating_sub(600),
            requests: request,
            ..outlook(&profile, prompt)
        };
        assert_eq!(taken(&economist.advise(&outlook, &offers)), None, "{request}");
    }
}

/// What a policy loses in a conversation of 300 requests: the mean of what is missing of what is needed next.
fn lost(forgetting: f64, profile: &Profile, grown: u64) -> f64 {
    let family = profile.family;
    let mut economist = Economist::new(EconomicPolicy {
        forgetting,
        least_retention: 0.0,
    });
    let (mut prompt, mut said, mut lost) = (10_000, 0, 0.0);
    let mut last: Option<(f64, u64)> = None;
    let requests = 300;
    for request in 0..requests {
        let warm = prompt;
        (prompt, said) = (prompt + grown, said + grown);
        let leaves = [(3_000, 2_000), (6_000, 8_000), (24_000, 16_000), (48_000, 32_000)];
        let offers = leaves.map(|(tail, block)| Offer {
            stays: 10_000,
            ..offer(
                10_000 + tail + block,
                crate::decide::expected_retention(family, said, tail, block),
            )
        });
        let outlook = Outlook {
            warm,
            requests: request,
            history: said,
            ..outlook(profile, prompt)
        };
        if let Some(index) = taken(&economist.advise(&outlook, &offers)) {
            economist.adopted(offers[index].retention, said);
            last = Some((offers[index].retention, said));
            prompt = offers[index].prompt;
        }
        lost += last.map_or(0.0, |(kept, at)| {
            1.0 - fading_retention(family, kept, (said - at) as f64)
        });
    }
    lost / requests as f64
}

#[test]
fn whoever_minds_forgetting_more_loses_no_more() {
    for (read, write) in [(0.2, 4.0), (0.5, 10.0), (0.25, 2.5), (0.5, 2.0)] {
        let profile = profile(read, write, Vec::new());
        for grown in [300, 1_000, 2_500, 6_000] {
            let lost: Vec<f64> = [0.0, 1.0, 3.0, 6.0, 12.0, 50.0, 1_000.0]
                .iter()
                .map(|forgetting| lost(*forgetting, &profile, grown))
                .collect();
            assert!(
                lost.is_sorted_by(|less, more| more <= less),
                "{read} {write} {grown}: {lost:?}"
            );
        }
    }
}

proptest! {
    #[test]
    fn nothing_breaks_it_and_it_never_grows_a_prompt(
        sizes in prop::collection::vec(figure(), 6),
        offers in prop::collection::vec((figure(), figure(), figure(), money(), 0.0..=1.0_f64), 0..5),
        money in prop::collection::vec(money(), 5),
        threshold in figure(),
        forgetting in prop_oneof![Just(0.0), Just(6.0), Just(1e300)],
    ) {
        let tier = Tier { above: threshold, rates: rates(money[2], money[3]) };
        let profile = profile(money[0], money[1], vec![tier]);
        let outlook = Outlook {
            profile: &profile,
            prompt: sizes[0],
            warm: sizes[1],
            window: sizes[2],
            limit: sizes[3],
            requests: sizes[4],
            history: sizes[5],
            output: money[4],
        };
        let offers: Vec<Offer> = offers
            .into_iter()
            .map(|(prompt, tail, stays, calls, retention)| Offer { tail, stays, calls, ..offer(prompt, retention) })
            .collect();
        let mut economist = Economist::new(EconomicPolicy { forgetting, ..EconomicPolicy::default() });
        for _ in 0..3 {
            if let Some(index) = taken(&economist.advise(&outlook, &offers)) {
                prop_assert!(offers[index].prompt < outlook.prompt);
                economist.adopted(offers[index].retention, outlook.history);
            }
        }
    }
}

fn figure() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(1), Just(u64::MAX), 0..400_000_u64, any::<u64>()]
}

fn money() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(f64::MAX), Just(f64::MIN_POSITIVE), 0.0..20.0_f64]
}
