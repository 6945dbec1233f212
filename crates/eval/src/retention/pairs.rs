//! Identifiers that stood next to each other: a bag of words keeps the words and loses which belongs to which.

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::sync::Arc;

use memchr::memmem::Finder;

use crate::retention::mersenne::Random;
use crate::retention::needed::Needed;
use crate::retention::notes::Id;
use crate::retention::notes::Notes;

/// Two identifiers stand together when they begin within this many characters of each other.
const NEAR: usize = 200;
/// So far apart are the texts of two messages: further than [`NEAR`].
const APART: usize = 262;
/// Of one action so many identifiers are paired, so that a pasted file does not drown the rest.
const MOST_OF_AN_ACTION: usize = 25;
/// So many pairs of a cut are scored; from more of them a sample is drawn with [`SEED`].
const MOST_PAIRS: usize = 150;
const SEED: u32 = 3;
/// So many places of one identifier are looked at.
const MOST_PLACES: usize = 400;

/// Two identifiers that belong together.
pub type Pair = (Id, Id);

/// The pairs of needed identifiers that the agent uses in one action and that stood together in the prefix.
pub fn pairs(notes: &Notes, prefix: &[Arc<str>], needed: &Needed) -> Vec<Pair> {
    let mut candidates = Vec::new();
    let mut seen = HashSet::new();
    for action in &needed.actions {
        let used = &action[..action.len().min(MOST_OF_AN_ACTION)];
        for (index, first) in used.iter().enumerate() {
            for second in &used[index + 1..] {
                let (one, other) = (notes.name(*first), notes.name(*second));
                let contains = one.contains(&**other) || other.contains(&**one);
                if !contains && seen.insert((*first, *second)) {
                    candidates.push((*first, *second));
                }
            }
        }
    }
    let places = places(notes, prefix, &candidates);
    candidates.retain(|(first, second)| are_near(&places[first], &places[second]));
    if candidates.len() <= MOST_PAIRS {
        return candidates;
    }
    let drawn = Random::new(SEED).sample(candidates.len(), MOST_PAIRS);
    drawn.into_iter().map(|place| candidates[place]).collect()
}

/// The share of the pairs that stand together in these texts; `None` where there are no pairs.
pub fn share_kept(notes: &Notes, texts: &[Arc<str>], pairs: &[Pair]) -> Option<f64> {
    let places = places(notes, texts, pairs);
    let kept = pairs
        .iter()
        .filter(|(first, second)| are_near(&places[first], &places[second]))
        .count();
    (!pairs.is_empty()).then(|| kept as f64 / pairs.len() as f64)
}

/// Where the identifiers of these pairs begin, in characters from the first text's start.
fn places(notes: &Notes, texts: &[Arc<str>], pairs: &[Pair]) -> BTreeMap<Id, Vec<usize>> {
    let ids: BTreeMap<Id, Vec<usize>> = pairs
        .iter()
        .flat_map(|(first, second)| [*first, *second])
        .map(|id| (id, Vec::new()))
        .collect();
    let mut places = ids;
    let starts: Vec<usize> = texts
        .iter()
        .scan(0, |start, text| {
            let own = *start;
            *start += text.chars().count() + APART;
            Some(own)
        })
        .collect();
    for (id, found) in &mut places {
        let name = notes.name(*id);
        let finder = Finder::new(name.as_bytes());
        let first = name.chars().next().map_or(1, char::len_utf8);
        'texts: for (text, start) in texts.iter().zip(&starts) {
            let mut counted = (0, *start);
            let mut from = 0;
            while let Some(offset) = finder.find(&text.as_bytes()[from..]) {
                let byte = from + offset;
                counted = (byte, counted.1 + text[counted.0..byte].chars().count());
                found.push(counted.1);
                if found.len() == MOST_PLACES {
                    break 'texts;
                }
                from = byte + first;
            }
        }
    }
    places
}

fn are_near(first: &[usize], second: &[usize]) -> bool {
    let (mut one, mut other) = (0, 0);
    while let (Some(left), Some(right)) = (first.get(one), second.get(other)) {
        if left.abs_diff(*right) <= NEAR {
            return true;
        }
        if left < right { one += 1 } else { other += 1 }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_not_bytes_and_messages_stand_apart() {
        let mut notes = Notes::default();
        let kept = |notes: &mut Notes, texts: &[&str]| {
            let texts: Vec<Arc<str>> = texts.iter().map(|text| Arc::from(*text)).collect();
            let all = notes.find(&"alpha_one beta_two".into());
            share_kept(notes, &texts, &[(all[0].0, all[1].0)])
        };
        let near = format!("alpha_one{}beta_two", "ж".repeat(191));
        let far = format!("alpha_one{}beta_two", "ж".repeat(192));
        assert_eq!(kept(&mut notes, &[&near]), Some(1.0));
        assert_eq!(kept(&mut notes, &[&far]), Some(0.0));
        assert_eq!(kept(&mut notes, &["alpha_one", "beta_two"]), Some(0.0));
        assert_eq!(kept(&mut notes, &["alpha_one", &near, "beta_two"]), Some(1.0));
        assert_eq!(share_kept(&notes, &[], &[]), None);
    }
}
