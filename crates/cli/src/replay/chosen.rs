//! Which profiles and policies are replayed.

use std::collections::BTreeMap;

use mainstay_engine::economy::Profile;
use mainstay_eval::replay::Recording;
use mainstay_eval::replay::Strategy;
use mainstay_llm::profile;
use mainstay_llm::profile::Client;

/// Profiles beside those of the recorded models where nobody names any: the ways of caching that differ most, marks for five
/// minutes, marks for half an hour, and any beginning.
const USUAL: [&str; 3] = ["anthropic-sonnet-5.5", "openai-gpt-6.1-sol", "gemini-3.1-pro"];
/// So many profiles of recorded models are priced where nobody names any, those of the most sessions: a report of more is not
/// read, and each costs time.
const MOST_RECORDED: usize = 3;
/// A name that is further off than this was not meant.
const FURTHEST: f64 = 0.6;

/// The profiles to price by.
pub struct Chosen {
    /// They.
    pub profiles: Vec<Profile>,
    /// How they were chosen, where nobody named them.
    pub reason: Option<String>,
}

impl Chosen {
    /// Profiles that were named.
    pub fn named(profiles: Vec<Profile>) -> Self {
        Self { profiles, reason: None }
    }
}

/// The profiles of these names, each once; none where there are no names.
pub fn profiles(names: &[String]) -> anyhow::Result<Option<Vec<Profile>>> {
    if names.is_empty() {
        return Ok(None);
    }
    let mut profiles: Vec<Profile> = Vec::new();
    for name in names {
        let found = match name.as_str() {
            "all" => profile::all(),
            name => vec![by_name(name)?],
        };
        profiles.extend(found);
    }
    let mut seen = std::collections::BTreeSet::new();
    profiles.retain(|profile| seen.insert(profile.name.clone()));
    Ok(Some(profiles))
}

/// The profile of this name.
pub fn by_name(name: &str) -> anyhow::Result<Profile> {
    if let Some(profile) = profile::named(name) {
        return Ok(profile);
    }
    let known = profile::all();
    let near = nearest(name, known.iter().map(|profile| profile.name.as_str()));
    anyhow::bail!("no profile {name:?}{near}; `mainstay replay --profiles` lists those that there are")
}

/// The policies of these names, and the baselines.
pub fn strategies(names: &[String]) -> anyhow::Result<Vec<Strategy>> {
    let known = Strategy::USUAL.map(|strategy| strategy.name());
    for name in names {
        if !matches!(name.as_str(), "all" | "baselines") && !known.contains(&name.as_str()) {
            let near = nearest(name, known.into_iter());
            anyhow::bail!(
                "no policy {name:?}{near}; there are {}, baselines and all",
                known.join(", ")
            );
        }
    }
    let wants = |strategy: &Strategy| {
        let mut names = names.iter();
        strategy.is_baseline() || names.any(|name| name == "all" || name == strategy.name())
    };
    Ok(Strategy::USUAL.into_iter().filter(wants).collect())
}

/// What somebody may have meant, as a question.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let likeness = |known: &str| strsim::normalized_damerau_levenshtein(name, known);
    let best = known
        .map(|known| (likeness(known), known))
        .max_by(|one, other| one.0.total_cmp(&other.0));
    let meant = best.filter(|(likeness, _)| *likeness >= FURTHEST);
    meant.map_or(String::new(), |(_, known)| format!(" (did you mean {known:?}?)"))
}

/// The profiles of the models that were recorded, those of the most sessions first, and the usual ones beside them.
pub fn suiting(recordings: &[Recording]) -> anyhow::Result<Chosen> {
    let mut asked: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for recording in recordings {
        let model = recording.model.as_deref().unwrap_or_default();
        *asked.entry((model, &*recording.source)).or_default() += 1;
    }
    let mut unknown = 0;
    let mut found: BTreeMap<String, (usize, Profile)> = BTreeMap::new();
    for ((model, source), sessions) in asked {
        match profile::of_model(model, Client::of_format(source)) {
            Some(profile) => found.entry(profile.name.clone()).or_insert((0, profile)).0 += sessions,
            None => unknown += sessions,
        }
    }
    let mut found: Vec<(usize, Profile)> = found.into_values().collect();
    // Stable, and by name before: equal counts stay in the order of their names.
    found.sort_by_key(|(sessions, _)| std::cmp::Reverse(*sessions));
    let left_out = found.len().saturating_sub(MOST_RECORDED);
    found.truncate(MOST_RECORDED);
    let mut profiles: Vec<Profile> = found.into_iter().map(|(_, profile)| profile).collect();
    let recorded = list(&profiles);
    let first_usual = profiles.len();
    for name in USUAL {
        if profiles.iter().all(|profile| profile.name != name) {
            profiles.push(by_name(name)?);
        }
    }
    let usual = list(&profiles[first_usual..]);
    let mut reason = match first_usual {
        0 => format!("Priced as {usual}: no session names a model whose prices and cache are known."),
        _ => format!("Priced as {recorded}, for the recorded models, and for comparison as {usual}."),
    };
    if left_out > 0 {
        reason.push_str(&format!(" Left out: {left_out} more of recorded models."));
    }
    if unknown > 0 && first_usual > 0 {
        reason.push_str(&format!(
            " {unknown} of {} sessions name no model with known prices.",
            recordings.len()
        ));
    }
    reason.push_str(" --profile names others.");
    Ok(Chosen {
        profiles,
        reason: Some(reason),
    })
}

fn list(profiles: &[Profile]) -> String {
    let names: Vec<&str> = profiles.iter().map(|profile| profile.name.as_str()).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
