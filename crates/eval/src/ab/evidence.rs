//! What can be told about a sample by its words: what it lacks and where that stood, what it gives that no longer holds, what it shows
//! that compaction had to hide.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use mainstay_engine::redact::Addresses;
use mainstay_engine::redact::Key;
use mainstay_engine::redact::Options;
use mainstay_engine::redact::Redactor;

use crate::fixture::Bank;
use crate::fixture::Probe;
use crate::grade::grade;
use crate::record::Fate;
use crate::record::Sample;
use crate::record::StateRecord;

/// An expected fact, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// The fact.
    pub fact: String,
    /// Whether what the answering model saw holds it.
    pub in_state: bool,
    /// Whether the messages that compaction took out or shortened held it.
    pub in_cold: bool,
}

/// What the words of a sample tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Whether an answer was looked at; else it was the state.
    pub is_answer: bool,
    /// Every expected fact.
    pub expected: Vec<Lack>,
    /// Those that are lacking.
    pub lacking: Vec<Lack>,
    /// What is given as current and no longer holds.
    pub stale: Vec<String>,
    /// What is shown and had to be hidden: kinds, never the values.
    pub exposed: Vec<String>,
}

/// The history of a state by what compaction did to it.
#[derive(Debug)]
pub struct Cold {
    /// Messages that were taken out or shortened.
    pub taken: String,
    /// Messages that stand as they were.
    pub kept: String,
    redactor: Redactor,
}

impl Cold {
    /// Divides the messages that a state was made of.
    pub fn new(record: &StateRecord) -> Self {
        let of = |wanted: fn(&Fate) -> bool| {
            let messages = record.before.iter().zip(&record.fates);
            let texts = messages
                .filter(|(_, fate)| wanted(fate))
                .map(|(message, _)| &message.text);
            texts.map(|text| format!("{text}\n\n")).collect()
        };
        let options = Options {
            addresses: Addresses::All,
            ..Options::default()
        };
        Self {
            taken: of(|fate| *fate != Fate::Kept),
            kept: of(|fate| *fate == Fate::Kept),
            // References are not shown: any key does.
            redactor: Redactor::new(Key::new([0; 32]), options),
        }
    }

    /// Credentials and addresses that a text shows and that only the compacted history held, by kind; each value once. Those that the
    /// bank lists are left out.
    fn found<'a>(&self, text: &'a str, bank: &Bank) -> BTreeSet<(String, &'a str)> {
        let values = self.redactor.find(text).into_iter();
        let values = values.filter_map(|span| Some((span.kind.to_string(), text.get(span.start..span.end)?)));
        let is_listed = |value: &str| {
            let mut secrets = bank.secrets.iter();
            secrets.any(|secret| secret.contains(value) || value.contains(secret.as_str()))
        };
        let is_cold = |value: &str| self.taken.contains(value) && !self.kept.contains(value);
        values
            .filter(|(_, value)| is_cold(value) && !is_listed(value))
            .collect()
    }

    /// How many credentials and addresses a text shows that compaction had to hide, by kind.
    pub fn exposed_in(&self, text: &str, bank: &Bank) -> BTreeMap<String, usize> {
        let mut kinds = BTreeMap::new();
        for (kind, _) in self.found(text, bank) {
            *kinds.entry(kind).or_default() += 1;
        }
        let listed = bank
            .secrets
            .iter()
            .filter(|secret| text.contains(secret.as_str()))
            .count();
        if listed > 0 {
            kinds.insert("listed".to_owned(), listed);
        }
        kinds
    }
}

impl Evidence {
    /// What a sample tells; `None` where it has an answer to give and gave none.
    pub fn of(sample: &Sample, probe: &Probe, bank: &Bank, cold: &Cold, wants_answers: bool) -> Option<Self> {
        let looked_at = match (&sample.graded, wants_answers) {
            (Some(graded), _) => graded,
            (None, true) => return None,
            (None, false) => &sample.state,
        };
        let held = |fact: &str| sample.state.facts.iter().any(|grade| grade.fact == fact && grade.found);
        let in_cold = grade(&cold.taken, probe, &[]);
        let expected: Vec<Lack> = in_cold
            .facts
            .into_iter()
            .map(|grade| Lack {
                in_state: held(&grade.fact),
                in_cold: grade.found,
                fact: grade.fact,
            })
            .collect();
        let is_lacking = |lack: &&Lack| {
            let mut facts = looked_at.facts.iter();
            facts.any(|grade| grade.fact == lack.fact && !grade.found)
        };
        Some(Self {
            is_answer: sample.graded.is_some(),
            lacking: expected.iter().filter(is_lacking).cloned().collect(),
            stale: looked_at.stale.clone(),
            exposed: sample
                .answer
                .as_ref()
                .map_or_else(Vec::new, |answer| exposed(sample, answer, probe, bank, cold)),
            expected,
        })
    }
}

/// What an answer shows: what the grader found, and what of the compacted history was not asked for.
fn exposed(sample: &Sample, answer: &str, probe: &Probe, bank: &Bank, cold: &Cold) -> Vec<String> {
    let mut shown: Vec<String> = sample.graded.iter().flat_map(|graded| graded.leaks.clone()).collect();
    // What the question or a right answer names may be named.
    let mut asked = probe.question.clone();
    for fact in probe.expected_facts.iter().flat_map(|fact| probe.forms_of(fact)) {
        asked.push(' ');
        asked.push_str(fact);
    }
    for (kind, value) in cold.found(answer, bank) {
        if !asked.contains(value) && !shown.contains(&kind) {
            shown.push(kind);
        }
    }
    shown
}
