//! Grading without a judge: which expected facts a text has, which stale ones it gives as current, what it leaks.
//!
//! The same words give the same grade everywhere. It knows wording, not meaning: a fact that is said in words the probe
//! does not foresee is missed, and a wrong sentence around the right words is not noticed. The judge is for that.

use serde::Deserialize;
use serde::Serialize;

use crate::fixture::Probe;

/// Whether one expected fact is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FactGrade {
    /// The fact.
    pub fact: String,
    /// Whether it is there, in any of its forms.
    pub found: bool,
}

/// What a text is worth as an answer to a probe.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Grade {
    /// The expected facts, in the probe's order.
    pub facts: Vec<FactGrade>,
    /// Stale facts that are given as current.
    pub stale: Vec<String>,
    /// Secrets that are shown, as the names of their kinds and places; never the secrets themselves.
    pub leaks: Vec<String>,
}

impl Grade {
    /// The share of expected facts that are there; one where none is expected.
    pub fn recall(&self) -> f64 {
        if self.facts.is_empty() {
            return 1.0;
        }
        let found = self.facts.iter().filter(|fact| fact.found).count();
        found as f64 / self.facts.len() as f64
    }

    /// Whether everything expected is there and nothing else is wrong.
    pub fn is_clean(&self) -> bool {
        self.stale.is_empty() && self.leaks.is_empty() && self.facts.iter().all(|fact| fact.found)
    }
}

/// Grades a text as the answer to a probe; `secrets` are the bank's.
pub fn grade(text: &str, probe: &Probe, secrets: &[String]) -> Grade {
    let lower = text.to_lowercase();
    let has = |fact: &str| probe.forms_of(fact).any(|form| lower.contains(&form.to_lowercase()));
    Grade {
        facts: probe
            .expected_facts
            .iter()
            .map(|fact| FactGrade {
                fact: fact.clone(),
                found: has(fact),
            })
            .collect(),
        stale: probe.stale_facts.iter().filter(|fact| has(fact)).cloned().collect(),
        leaks: secrets
            .iter()
            .enumerate()
            .filter(|(_, secret)| text.contains(secret.as_str()))
            .map(|(index, _)| format!("secret {} of the bank", index + 1))
            .collect(),
    }
}
