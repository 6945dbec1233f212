//! Runs of words that come again and again: "but who am I to judge". A sentence made of them says nothing that was not said before.

use std::collections::HashMap;
use std::collections::HashSet;
use std::hash::BuildHasher;
use std::hash::BuildHasherDefault;
use std::hash::DefaultHasher;

/// Words of a run.
const RUN_WORDS: usize = 3;
/// A run that stands in so many messages is a turn of phrase.
const MESSAGES: u32 = 3;

/// How many messages each run of words stands in.
#[derive(Clone, Debug, Default)]
pub struct TurnsOfPhrase {
    messages: HashMap<u64, u32>,
}

impl TurnsOfPhrase {
    /// Counts the runs of a message.
    pub fn learn(&mut self, text: &str) {
        let runs: HashSet<u64> = text.lines().flat_map(runs).collect();
        for run in runs {
            *self.messages.entry(run).or_default() += 1;
        }
    }

    /// Whether at least half of a sentence is turns of phrase.
    pub fn make_up(&self, sentence: &str) -> bool {
        let runs = runs(sentence);
        let is_known = |run: &&u64| self.messages.get(run).is_some_and(|count| *count >= MESSAGES);
        !runs.is_empty() && runs.iter().filter(is_known).count() * 2 >= runs.len()
    }
}

/// The runs of a text, as numbers.
fn runs(text: &str) -> Vec<u64> {
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let words: Vec<String> = text
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.windows(RUN_WORDS).map(|run| hasher.hash_one(run)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_of_what_was_said_often_is_made_of_turns_of_phrase() {
        let mut known = TurnsOfPhrase::default();
        for who in ["The cat", "My aunt", "A pigeon"] {
            known.learn(&format!("{who} sang all night, but who am I to judge."));
        }
        assert!(known.make_up("The postman sang all night, but who am I to judge."));
        assert!(!known.make_up("The postman brings the parcel on Friday, but who am I to judge."));
        assert!(!known.make_up("ok"));
    }
}
