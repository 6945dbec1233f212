//! States of two runs: their sizes, their flaws, and whether a model had a hand in them.

use std::collections::BTreeMap;

use crate::compare::pairing::ArmPair;
use crate::record::Run;
use crate::record::StateRecord;

/// What the states of one fixture come to, over the repeats that are there.
#[derive(Clone, Debug)]
pub struct States {
    /// The fixture.
    pub fixture: String,
    /// Tokens by repeat: of the first run, of the second.
    pub tokens: (Vec<f64>, Vec<f64>),
    /// How many flaws by repeat.
    pub flaws: (Vec<f64>, Vec<f64>),
    /// Flaws that the second has more of in some repeat than the first in any, by their code.
    pub new_flaws: Vec<String>,
    /// Flaws that the first has more of.
    pub gone_flaws: Vec<String>,
}

/// The states of an arm in both runs.
#[derive(Clone, Debug, Default)]
pub struct ArmStates {
    /// By fixture; only where both runs have states.
    pub fixtures: Vec<States>,
    /// How many states should be there and are not.
    pub missing: usize,
    /// Whether a model wrote any of them: then they are not the same every time.
    pub is_model_made: bool,
    /// How the compactions of both runs were made: how often each way.
    pub made: (BTreeMap<String, usize>, BTreeMap<String, usize>),
}

impl ArmStates {
    /// What is to be said where compactions were made in other ways than before: summaries that were refused, above all.
    pub fn remade(&self, arm: &str) -> Option<String> {
        let (before, after) = &self.made;
        let told = |made: &BTreeMap<String, usize>| {
            let ways: Vec<String> = made.iter().map(|(way, count)| format!("{count} {way}")).collect();
            ways.join(", ")
        };
        (before != after).then(|| {
            format!(
                "compactions of {arm} were made in other ways: {}; before {}",
                told(after),
                told(before)
            )
        })
    }
}

/// Reads the states of an arm.
pub fn read(a: &Run, b: &Run, arm: &ArmPair, fixtures: &[String]) -> ArmStates {
    // What a search found belongs to the state, and a model chose what to search for.
    let searched = |run: &Run, name: &str| {
        let has_recall = run.manifest.arms.iter().any(|arm| arm.name == name && arm.has_recall);
        has_recall && run.manifest.answerer.is_some()
    };
    let mut found = ArmStates {
        is_model_made: searched(a, &arm.a) || searched(b, &arm.b),
        ..ArmStates::default()
    };
    for fixture in fixtures {
        let ours = of(a, fixture, &arm.a, &mut found);
        let theirs = of(b, fixture, &arm.b, &mut found);
        count_ways(&mut found.made.0, &ours);
        count_ways(&mut found.made.1, &theirs);
        if ours.is_empty() || theirs.is_empty() {
            continue;
        }
        let tokens = |states: &[StateRecord]| states.iter().map(|state| state.tokens_after as f64).collect();
        let flaws = |states: &[StateRecord]| states.iter().map(|state| state.flaws.len() as f64).collect();
        let (before, after) = (codes(&ours), codes(&theirs));
        found.fixtures.push(States {
            fixture: fixture.clone(),
            tokens: (tokens(&ours), tokens(&theirs)),
            flaws: (flaws(&ours), flaws(&theirs)),
            new_flaws: more(&after, &before),
            gone_flaws: more(&before, &after),
        });
    }
    found
}

fn count_ways(made: &mut BTreeMap<String, usize>, states: &[StateRecord]) {
    for pass in states.iter().flat_map(|state| &state.passes) {
        *made.entry(pass.made.clone()).or_default() += 1;
    }
}

fn of(run: &Run, fixture: &str, arm: &str, found: &mut ArmStates) -> Vec<StateRecord> {
    let mut states = Vec::new();
    for repeat in 1..=run.manifest.repeats {
        match run.state(fixture, arm, repeat) {
            Ok(state) => {
                let is_written = |made: &str| made.contains("summary") || made.contains("hybrid");
                found.is_model_made |= state.passes.iter().any(|pass| is_written(&pass.made));
                states.push(state);
            }
            // A state that cannot be seen may have been written by whoever was there to write.
            Err(_) => {
                found.missing += 1;
                found.is_model_made |= !run.manifest.summarisers.is_empty();
            }
        }
    }
    states
}

/// How often each kind of flaw occurs, in the repeat that has most of it. The words of a flaw name places, which move.
fn codes(states: &[StateRecord]) -> BTreeMap<String, usize> {
    let mut most: BTreeMap<String, usize> = BTreeMap::new();
    for state in states {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for flaw in &state.flaws {
            let code = flaw.split([':', ' ']).next().unwrap_or(flaw);
            *counts.entry(code).or_default() += 1;
        }
        for (code, count) in counts {
            let known = most.entry(code.to_owned()).or_default();
            *known = count.max(*known);
        }
    }
    most
}

fn more(one: &BTreeMap<String, usize>, other: &BTreeMap<String, usize>) -> Vec<String> {
    let is_more = |(code, count): &(&String, &usize)| *count > other.get(*code).unwrap_or(&0);
    one.iter().filter(is_more).map(|(code, _)| code.clone()).collect()
}
