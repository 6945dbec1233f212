//! How often a conversation says what: its words, and its turns of phrase.

use std::collections::HashMap;

use crate::ledger::conversation::record::ConversationRecord;
use crate::ledger::conversation::turns_of_phrase::TurnsOfPhrase;

/// How often the conversation says what.
pub struct WordUse {
    /// In how many records a word stands.
    pub frequencies: HashMap<String, u32>,
    /// What is said again and again.
    pub turns_of_phrase: TurnsOfPhrase,
}

impl WordUse {
    /// Of all words of a conversation.
    pub(super) fn of(records: &[ConversationRecord]) -> Self {
        let mut frequencies: HashMap<String, u32> = HashMap::new();
        let mut turns_of_phrase = TurnsOfPhrase::default();
        for record in records {
            turns_of_phrase.learn(&record.text);
            let mut words: Vec<String> = plain_words(&record.text).collect();
            words.sort_unstable();
            words.dedup();
            for word in words {
                *frequencies.entry(word).or_default() += 1;
            }
        }
        Self {
            frequencies,
            turns_of_phrase,
        }
    }
}

/// Words in lower case that may tell sentences apart.
pub(super) fn plain_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .filter(|word| word.chars().count() > 2)
        .map(str::to_lowercase)
}
