//! Fixtures of which a state has lost a large part at once.
//!
//! A mean over all fixtures hides one that collapsed, and no statistics over a dozen fixtures can tell one of them from chance.
//! Where no model had a part in a state there is no chance: what is lost is lost.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use crate::compare::pairing::Pair;
use crate::fixture::Exam;
use crate::grade::FactGrade;
use crate::record::Sample;

/// So large a part of a fixture's expected facts has to go at once: twice what any single line of a state holds in the exam
/// that comes with the program, and half of what its chained fixtures have from before their first cut.
const PART: f64 = 0.25;

/// Where the facts of chained fixtures stand.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    /// By fixture and probe: facts that stand before the first compaction.
    early: BTreeMap<(String, String), BTreeSet<String>>,
}

impl Origins {
    /// What an exam says of them.
    pub fn new(exam: &Exam) -> Self {
        let mut early: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
        for subject in &exam.subjects {
            let Some(cut) = subject.head.chain.first() else {
                continue;
            };
            for probe in &subject.bank.probes {
                let is_early = |fact: &&String| probe.spans.get(*fact).is_some_and(|span| span.1 < *cut);
                let facts = probe.expected_facts.iter().filter(is_early).cloned();
                early.insert((subject.name().to_owned(), probe.id.clone()), facts.collect());
            }
        }
        Self { early }
    }

    fn is_early(&self, pair: &Pair<'_>, fact: &str) -> bool {
        let facts = self.early.get(&(pair.fixture.to_owned(), pair.probe.to_owned()));
        facts.is_some_and(|facts| facts.contains(fact))
    }
}

/// What became of one fixture's facts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fall {
    /// How many facts there are.
    pub facts: usize,
    /// How many of them the first run's states have and the second's have not.
    pub lost: usize,
    /// How many the second run's states have and the first's have not.
    pub won: usize,
    /// Of the lost ones, those from before the first compaction of a chain.
    pub early: usize,
}

impl Fall {
    /// Whether so much more was lost than won that the fixture counts as collapsed.
    pub fn is_collapse(&self) -> bool {
        self.lost > self.won && (self.lost - self.won) as f64 >= PART * self.facts as f64
    }

    /// The same with the runs the other way round.
    pub fn is_recovery(&self) -> bool {
        self.won > self.lost && (self.won - self.lost) as f64 >= PART * self.facts as f64
    }

    /// In words.
    pub fn words(&self, fixture: &str) -> String {
        let early = match self.early {
            0 => String::new(),
            early => format!(", {early} of them from before its first compaction"),
        };
        format!("{fixture} lost {} of {} facts{early}", self.lost, self.facts)
    }
}

/// What became of the facts of each fixture, in the order of the pairs.
pub fn falls<'a>(pairs: &'a [Pair<'a>], origins: &Origins) -> Vec<(&'a str, Fall)> {
    let mut falls: Vec<(&str, Fall)> = Vec::new();
    for pair in pairs {
        if falls.last().is_none_or(|(fixture, _)| *fixture != pair.fixture) {
            falls.push((pair.fixture, Fall::default()));
        }
        let Some((_, fall)) = falls.last_mut() else { continue };
        let (ours, theirs) = (had(&pair.a), had(&pair.b));
        fall.facts += facts(&pair.a).count();
        fall.lost += ours.difference(&theirs).count();
        fall.won += theirs.difference(&ours).count();
        fall.early += ours
            .difference(&theirs)
            .filter(|fact| origins.is_early(pair, fact))
            .count();
    }
    falls
}

/// The expected facts of a probe.
fn facts<'a>(samples: &[&'a Sample]) -> impl Iterator<Item = &'a FactGrade> {
    samples.first().into_iter().flat_map(|sample| &sample.state.facts)
}

/// The facts that every repeat's state has.
fn had<'a>(samples: &[&'a Sample]) -> BTreeSet<&'a str> {
    let found = |sample: &'a Sample| -> BTreeSet<&'a str> {
        let facts = sample.state.facts.iter().filter(|fact| fact.found);
        facts.map(|fact| fact.fact.as_str()).collect()
    };
    let all = samples.iter().map(|sample| found(sample));
    all.reduce(|had, next| &had & &next).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixture_collapses_where_a_quarter_is_gone_and_never_without_facts() {
        let fall = |facts, lost, won| Fall {
            facts,
            lost,
            won,
            early: 0,
        };
        assert!(fall(20, 5, 0).is_collapse() && !fall(20, 4, 0).is_collapse());
        assert!(!fall(20, 6, 2).is_collapse() && fall(20, 2, 7).is_recovery());
        assert!(!fall(0, 0, 0).is_collapse() && !fall(0, 0, 0).is_recovery());
    }
}
