//! Facts that must still stand in a fixture, and what took away those that do not.

use serde::Serialize;

use crate::fixture::Bank;
use crate::scrub::pass::Pass;

/// A fact that stood in the session and does not stand in the fixture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostFact {
    /// The fact.
    pub fact: String,
    /// The probe that asks for it; none where the caller named it.
    pub probe: Option<String>,
    /// What took it away.
    pub pass: Pass,
}

/// A fact to be kept, in all forms that count.
#[derive(Clone, Debug)]
pub(super) struct Fact {
    /// As it is called.
    pub(super) fact: String,
    /// The probe that asks for it.
    pub(super) probe: Option<String>,
    /// In lower case.
    forms: Vec<String>,
}

impl Fact {
    /// Whether a text, given in lower case, has it.
    pub(super) fn stands_in(&self, lower: &str) -> bool {
        self.forms.iter().any(|form| lower.contains(form))
    }
}

/// All facts to be kept.
pub(super) fn facts(keep: &[String], bank: Option<&Bank>) -> Vec<Fact> {
    let named = keep.iter().map(|fact| Fact {
        fact: fact.clone(),
        probe: None,
        forms: vec![fact.to_lowercase()],
    });
    let mut facts: Vec<Fact> = named.collect();
    for probe in bank.iter().flat_map(|bank| &bank.probes) {
        facts.extend(probe.expected_facts.iter().chain(&probe.stale_facts).map(|fact| Fact {
            fact: fact.clone(),
            probe: Some(probe.id.clone()),
            forms: probe.forms_of(fact).map(str::to_lowercase).collect(),
        }));
    }
    facts
}

/// All spellings of all facts, for whoever can take care of them.
pub(super) fn spellings(facts: &[Fact]) -> Vec<String> {
    facts.iter().flat_map(|fact| fact.forms.iter().cloned()).collect()
}
