//! Profiles against the published table, and their prices against the list they come from.

use genai_prices::Usage;
use genai_prices::UsageKey;
use mainstay_engine::account::Family;
use mainstay_engine::economy::Rates;
use mainstay_engine::economy::Served;
use mainstay_engine::economy::ThinkingRule;
use mainstay_engine::economy::charge;

use super::*;

const HOUR: i64 = 60 * rules::MINUTE;

fn profile(name: &str) -> Profile {
    named(name).unwrap_or_else(|| panic!("{name}"))
}

/// Input, output, reading, writing.
fn quotes(rates: &Rates) -> [f64; 4] {
    [rates.input, rates.output, rates.cache_read, rates.cache_write]
}

/// The base, and each tier with where it begins.
fn tariff(name: &str) -> ([f64; 4], Vec<(u64, [f64; 4])>) {
    let tariff = profile(name).tariff;
    let tiers = tariff.tiers.iter().map(|tier| (tier.above, quotes(&tier.rates)));
    (quotes(&tariff.base), tiers.collect())
}

#[test]
fn every_row_is_a_profile() {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    let names: Vec<_> = lines.map(|line| line.split('\t').next().unwrap()).collect();
    let all = all();
    assert_eq!(all.iter().map(|profile| &profile.name).collect::<Vec<_>>(), names);
    for profile in &all {
        assert_eq!(named(&profile.name).as_ref(), Some(profile));
        assert_ne!(profile.family, Family::Unknown, "{}", profile.name);
        assert!(!profile.title.is_empty());
    }
    assert_eq!(named("no-such-profile"), None);
    assert_eq!(named("claude-code-gpt-5.5"), None);
    for (prefix, columns) in rules::lines() {
        assert!(rules::parse(columns).is_some(), "{prefix}");
        assert_eq!(rules::lines().filter(|line| line.0 == prefix).count(), 1, "{prefix}");
    }
}

#[test]
fn rates_are_in_order_and_tiers_ascend() {
    for profile in all() {
        let name = &profile.name;
        let tiers = profile.tariff.tiers.iter().map(|tier| tier.rates);
        for rates in [profile.tariff.base].into_iter().chain(tiers) {
            assert!(quotes(&rates).iter().all(|rate| *rate > 0.0), "{name}");
            assert!(rates.cache_read < rates.input, "{name}");
            assert!(rates.input <= rates.cache_write, "{name}");
            assert!(rates.cache_write < rates.output, "{name}");
        }
        let starts: Vec<_> = profile.tariff.tiers.iter().map(|tier| tier.above).collect();
        assert!(starts.is_sorted_by(|a, b| a < b), "{name} {starts:?}");
        assert!(starts.iter().all(|start| *start < profile.window), "{name} {starts:?}");
        let cache = &profile.cache;
        assert!(cache.granularity > 0 && cache.least < profile.window && cache.lifetime > 0);
        assert!((0.0..0.5).contains(&cache.missed));
    }
}

#[test]
fn windows_are_those_of_the_price_list() {
    for profile in all() {
        let provider = rules::of(&account::plain_name(&profile.model)).unwrap().provider;
        let known = genai_prices::Calculator::bundled().find_provider(Some(provider), None);
        let known = known.unwrap().unwrap();
        let model = known.models().find(|model| model.id() == profile.model).unwrap();
        if let Some(window) = model.context_window() {
            assert_eq!(window, profile.window, "{}", profile.name);
        }
    }
}

#[test]
fn prices_are_the_published_ones() {
    assert_eq!(tariff("anthropic-opus-5.5"), ([4.0, 20.0, 0.2, 5.0], vec![]));
    assert_eq!(tariff("claude-code-opus-5.5"), ([4.0, 20.0, 0.2, 8.0], vec![]));
    assert_eq!(tariff("claude-code-opus-4.8"), ([5.0, 25.0, 0.5, 10.0], vec![]));
    assert_eq!(tariff("anthropic-sonnet-5.5"), ([2.0, 10.0, 0.1, 2.5], vec![]));
    assert_eq!(tariff("claude-code-sonnet-5.5"), ([2.0, 10.0, 0.1, 4.0], vec![]));
    assert_eq!(tariff("anthropic-fable-5.1"), ([10.0, 50.0, 0.25, 12.5], vec![]));
    let haiku = ([0.1, 0.5, 0.01, 0.125], vec![(100_000, [0.5, 2.5, 0.05, 0.625])]);
    assert_eq!(tariff("anthropic-haiku-5.5"), haiku);
    let sol = ([2.0, 10.0, 0.1, 2.5], vec![(272_000, [4.0, 15.0, 0.2, 5.0])]);
    assert_eq!(tariff("openai-gpt-6.1-sol"), sol);
    let sol = ([4.0, 20.0, 0.4, 5.0], vec![(272_000, [8.0, 30.0, 0.8, 10.0])]);
    assert_eq!(tariff("openai-gpt-5.6-sol"), sol);
    // Writes are free: they cost what reading a prompt without a cache costs.
    let gpt = ([2.5, 15.0, 0.25, 2.5], vec![(272_000, [5.0, 22.5, 0.5, 5.0])]);
    assert_eq!(tariff("openai-gpt-5.4"), gpt);
    let gemini = ([2.0, 12.0, 0.2, 2.0], vec![(200_000, [4.0, 18.0, 0.4, 4.0])]);
    assert_eq!(tariff("gemini-3.1-pro"), gemini);
    // Its dear prices hold from 200,000 tokens on, not above them.
    let grok = ([2.0, 6.0, 0.5, 2.0], vec![(199_999, [4.0, 12.0, 1.0, 4.0])]);
    assert_eq!(tariff("grok-4.7"), grok);
    let minimax = ([0.3, 1.2, 0.06, 0.3], vec![(512_000, [0.6, 2.4, 0.12, 0.6])]);
    assert_eq!(tariff("minimax-m3"), minimax);
    assert_eq!(tariff("kimi-k3.1-pro"), ([2.0, 10.0, 0.2, 2.0], vec![]));
    // Off-peak.
    assert_eq!(tariff("deepseek-flash"), ([0.15, 0.6, 0.003, 0.15], vec![]));
    assert_eq!(tariff("deepseek-v4-pro"), ([0.66, 1.98, 0.022, 0.66], vec![]));
}

#[test]
fn caches_are_those_of_the_providers() {
    let marks = |name: &str| match profile(name).cache.matching {
        Matching::Marked { places, lookback } => (places, lookback),
        Matching::Longest => panic!("{name}"),
    };
    let host = vec![Place::Preface, Place::Back(2), Place::Back(0)];
    let own = vec![Place::Preface, Place::Anchor, Place::Back(0)];
    assert_eq!(marks("claude-code-opus-5.5"), (host, 20));
    assert_eq!(marks("anthropic-opus-5.5"), (own.clone(), 20));
    assert_eq!(marks("openai-gpt-6.1-sol"), (own, u64::MAX));
    assert_eq!(marks("deepseek-flash"), (vec![Place::Back(0)], u64::MAX));
    for name in ["openai-gpt-5.4", "openai-gpt-5.5", "gemini-3.1-pro", "minimax-m3"] {
        assert_eq!(profile(name).cache.matching, Matching::Longest, "{name}");
    }
    for (name, least, lifetime, granularity) in [
        ("claude-code-opus-5.5", 512, HOUR, 1),
        ("claude-code-opus-4.8", 1_024, HOUR, 1),
        ("anthropic-opus-5.5", 512, HOUR / 12, 1),
        ("anthropic-fable-5.1", 512, HOUR / 12, 1),
        ("openai-gpt-5.4", 1_024, HOUR / 12, 128),
        ("openai-gpt-5.5", 1_024, HOUR / 12, 512),
        ("openai-gpt-6.1-sol", 1_024, HOUR / 2, 1),
        ("gemini-3.1-pro", 4_096, HOUR / 12, 1),
        ("deepseek-v4-pro", 64, 3 * HOUR, 1),
    ] {
        let cache = profile(name).cache;
        assert_eq!(
            (cache.least, cache.lifetime, cache.granularity),
            (least, lifetime, granularity),
            "{name}"
        );
    }
}

#[test]
fn recorded_names_find_their_profile() {
    let found = |model: &str, client| of_model(model, client).map(|profile| profile.name);
    for (model, client, name) in [
        ("claude-opus-4-7", Client::ClaudeCode, "claude-code-opus-4.7"),
        ("claude-opus-4-8", Client::ClaudeCode, "claude-code-opus-4.8"),
        ("claude-opus-4-8", Client::Mainstay, "anthropic-opus-4.8"),
        (
            "claude-sonnet-4-5-20250929",
            Client::ClaudeCode,
            "claude-code-sonnet-4.5",
        ),
        (
            "us.anthropic.claude-opus-5-5-v1:0",
            Client::ClaudeCode,
            "claude-code-opus-5.5",
        ),
        ("anthropic/claude-opus-5.5", Client::Mainstay, "anthropic-opus-5.5"),
        ("gpt-5.4", Client::Mainstay, "openai-gpt-5.4"),
        ("gpt-5.4", Client::ClaudeCode, "openai-gpt-5.4"),
        ("gpt-5.3-codex", Client::Mainstay, "openai-gpt-5.3-codex"),
        ("gemini-3.1-pro-preview", Client::Mainstay, "gemini-3.1-pro"),
        ("MiniMax-M2", Client::Mainstay, "minimax-m2"),
    ] {
        assert_eq!(found(model, client).as_deref(), Some(name), "{model}");
    }
    for model in ["<synthetic>", "", "gpt-99-imaginary", "qwen2.5-coder", "claude"] {
        assert_eq!(found(model, Client::ClaudeCode), None, "{model}");
    }
    let old = of_model("claude-opus-4-7", Client::of_format("claude-code")).unwrap();
    assert_eq!(quotes(&old.tariff.base), [5.0, 25.0, 0.5, 10.0]);
    assert_eq!((old.cache.least, old.cache.lifetime), (2_048, HOUR));
    assert_eq!(Client::of_format("codex"), Client::Mainstay);
}

#[test]
fn finished_thinking_stays_with_newer_claude_models() {
    for (model, thinking) in [
        ("claude-opus-4-1", ThinkingRule::DroppedByNextTurn),
        ("claude-sonnet-4-5", ThinkingRule::DroppedByNextTurn),
        ("claude-haiku-4-5", ThinkingRule::DroppedByNextTurn),
        ("claude-opus-4-5", ThinkingRule::Kept),
        ("claude-sonnet-4-6", ThinkingRule::Kept),
        ("claude-opus-5-5", ThinkingRule::Kept),
        ("gpt-5.5", ThinkingRule::DroppedByNextTurn),
        ("deepseek-v4-pro", ThinkingRule::Kept),
    ] {
        let profile = of_model(model, Client::Mainstay).unwrap_or_else(|| panic!("{model}"));
        assert_eq!(profile.cache.thinking, thinking, "{model}");
    }
}

/// Numbers that are the same in every run: xorshift, with Marsaglia's shifts.
fn next(state: &mut u64, below: u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state % below.max(1)
}

/// What the price list itself says to this usage.
fn listed(profile: &Profile, served: &Served, output: f64) -> f64 {
    let mut usage = Usage::from([
        (UsageKey::INPUT_TOKENS, served.prompt()),
        (UsageKey::OUTPUT_TOKENS, output),
        (UsageKey::CACHE_READ_TOKENS, served.read),
        (UsageKey::CACHE_WRITE_TOKENS, served.write),
    ]);
    if profile.name.starts_with("claude-code") {
        usage.insert(UsageKey::CACHE_WRITE_1H_TOKENS, served.write);
    }
    let provider = rules::of(&account::plain_name(&profile.model)).unwrap().provider;
    list::ask(provider, &profile.model, &usage).unwrap().total_price
}

#[test]
fn any_usage_costs_what_the_price_list_says() {
    let mut profiles = all();
    for model in ["claude-haiku-5-5", "claude-opus-4-7"] {
        profiles.push(of_model(model, Client::ClaudeCode).unwrap());
    }
    for model in ["gpt-5.2", "gpt-6-luna", "deepseek-chat", "grok-4.3", "MiniMax-M2.7"] {
        profiles.push(of_model(model, Client::Mainstay).unwrap());
    }
    let mut state = 0x9E37_79B9_7F4A_7C15;
    for profile in profiles {
        let edges: Vec<u64> = profile.tariff.tiers.iter().map(|tier| tier.above).collect();
        for round in 0..200 {
            // Every fourth prompt is as long as a threshold, or longer by one.
            let prompt = match edges.get(round / 8 % edges.len().max(1)) {
                Some(edge) if round % 4 == 0 => edge + next(&mut state, 2),
                _ => 1 + next(&mut state, profile.window),
            };
            let read = next(&mut state, prompt + 1);
            let write = next(&mut state, prompt - read + 1);
            let output = next(&mut state, 100_000) as f64;
            let served = Served {
                read: read as f64,
                write: write as f64,
                fresh: (prompt - read - write) as f64,
            };
            let ours = charge(&profile.tariff, &served, output).total();
            let theirs = listed(&profile, &served, output);
            assert!(
                (ours - theirs).abs() <= 1e-9 * theirs.max(1.0),
                "{} {served:?} {output}: {ours} {theirs}",
                profile.name
            );
        }
    }
}

#[test]
fn a_profile_that_was_formed_is_found_by_its_name() {
    let asked = [
        ("claude-sonnet-4-5-20250929", Client::ClaudeCode),
        ("claude-opus-4-7", Client::Mainstay),
        ("gpt-5.2", Client::Mainstay),
        ("gpt-5.5-codex", Client::Mainstay),
        ("gemini-2.5-pro", Client::Mainstay),
    ];
    for (model, client) in asked {
        let Some(profile) = of_model(model, client) else {
            continue;
        };
        assert_eq!(named(&profile.name).as_ref(), Some(&profile), "{model}");
    }
    assert!(of_model("claude-opus-4-7", Client::Mainstay).is_some());
}
