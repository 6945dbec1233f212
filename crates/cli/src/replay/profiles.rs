//! The price profiles and the rules of their caches, listed.

use mainstay_engine::economy::CacheRules;
use mainstay_engine::economy::Matching;
use mainstay_engine::economy::Place;
use mainstay_engine::economy::Profile;
use mainstay_engine::economy::Rates;
use mainstay_engine::economy::Tariff;
use serde::Serialize;

use crate::replay::print::wrapped;
use crate::screen::Screen;
use crate::screen::number;

/// A profile as JSON.
#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    title: &'a str,
    model: &'a str,
    tokenizer: &'static str,
    window: u64,
    tariff: &'a Tariff,
    cache: &'a CacheRules,
}

/// Lists them.
pub fn list(profiles: &[Profile], as_json: bool, screen: &mut Screen) -> anyhow::Result<()> {
    if as_json {
        let listed = profiles.iter().map(|profile| Listed {
            name: &profile.name,
            title: &profile.title,
            model: &profile.model,
            tokenizer: profile.family.name(),
            window: profile.window,
            tariff: &profile.tariff,
            cache: &profile.cache,
        });
        return screen.json(&listed.collect::<Vec<_>>());
    }
    let titles = [
        "PROFILE",
        ">IN",
        ">OUT",
        ">READ",
        ">WRITE",
        ">WINDOW",
        ">LEAST",
        ">LIFE",
        "FINDS",
        "PRICE STEPS",
    ];
    screen.table(&titles, profiles.iter().map(row).collect())?;
    screen.line("")?;
    screen.faint(&wrapped(
        "IN, OUT, READ, WRITE: dollars a million tokens of input, output, read from the cache and written to it; where writing is free \
         it costs what input costs. LEAST: shorter beginnings are not cached. LIFE: how long one is kept after its last use. FINDS: any \
         beginning that was sent before, or only marked ones: instructions (preface), what the last compaction left or put in place \
         (anchor), the last message (end) or one so many before it (end-2). PRICE STEPS: by how much prices of longer prompts rise, \
         input / output. Other models of these providers have profiles too, named like these: --profile openai-gpt-5.2.",
    ))
}

fn row(profile: &Profile) -> Vec<String> {
    let rates = &profile.tariff.base;
    let cache = &profile.cache;
    let steps = profile.tariff.tiers.iter().map(|tier| {
        let times = |of: fn(&Rates) -> f64| dollars(of(&tier.rates) / of(rates));
        format!(
            "{}k: x{} / x{}",
            tier.above.div_ceil(1000),
            times(|rates| rates.input),
            times(|rates| rates.output)
        )
    });
    vec![
        profile.name.clone(),
        dollars(rates.input),
        dollars(rates.output),
        dollars(rates.cache_read),
        dollars(rates.cache_write),
        number(profile.window),
        number(cache.least),
        minutes(cache.lifetime),
        matching(&cache.matching),
        steps.collect::<Vec<_>>().join("; "),
    ]
}

fn minutes(milliseconds: i64) -> String {
    match milliseconds / 60_000 {
        minutes if minutes >= 60 => format!("{} h", minutes / 60),
        minutes => format!("{minutes} min"),
    }
}

fn matching(matching: &Matching) -> String {
    let Matching::Marked { places, .. } = matching else {
        return "any beginning".to_owned();
    };
    let places = places.iter().map(|place| match place {
        Place::Preface => "preface".to_owned(),
        Place::Anchor => "anchor".to_owned(),
        Place::Back(0) => "end".to_owned(),
        Place::Back(steps) => format!("end-{steps}"),
    });
    places.collect::<Vec<_>>().join(", ")
}

fn dollars(rate: f64) -> String {
    format!("{}", (rate * 1e4).round() / 1e4)
}
