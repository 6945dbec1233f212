//! Which arms of a run came to the same texts.

use std::collections::BTreeMap;

use crate::record::ArmUsed;
use crate::record::Sample;
use crate::record::StateRecord;
use crate::run::report::IdenticalArms;

/// The pairs of arms, in the order given, that have a text in common.
pub fn identical(arms: &[(&ArmUsed, &[StateRecord])], samples: &[Sample]) -> Vec<IdenticalArms> {
    // By arm: the answers by fixture, probe and repeat.
    let mut answers: BTreeMap<&str, BTreeMap<(&str, &str, u32), &str>> = BTreeMap::new();
    for sample in samples {
        if let Some(answer) = &sample.answer {
            let name = (sample.fixture.as_str(), sample.probe.as_str(), sample.repeat);
            answers.entry(&sample.arm).or_default().insert(name, answer);
        }
    }
    let none = BTreeMap::new();
    let mut pairs = Vec::new();
    for (place, (one, own)) in arms.iter().enumerate() {
        for (other, others) in &arms[place + 1..] {
            let of = |arm: &ArmUsed| answers.get(arm.name.as_str()).unwrap_or(&none);
            let (said, heard) = (of(one), of(other));
            let both: Vec<bool> = said
                .iter()
                .filter_map(|(name, answer)| Some(heard.get(name)? == answer))
                .collect();
            let states: Vec<bool> = match one.has_recall || other.has_recall {
                true => Vec::new(),
                false => own.iter().filter_map(|state| is_same(state, others)).collect(),
            };
            let pair = IdenticalArms {
                arms: [one.name.clone(), other.name.clone()],
                answers: both.len(),
                same_answers: both.iter().filter(|same| **same).count(),
                states: states.len(),
                same_states: states.iter().filter(|same| **same).count(),
            };
            if pair.same_answers + pair.same_states > 0 {
                pairs.push(pair);
            }
        }
    }
    pairs
}

/// Whether the state of another arm for the same fixture and repeat shows the same texts; `None` where there is none.
fn is_same<'a>(state: &'a StateRecord, others: &'a [StateRecord]) -> Option<bool> {
    let other = others
        .iter()
        .find(|other| other.fixture == state.fixture && other.repeat == state.repeat)?;
    let texts = |state: &'a StateRecord| state.after.iter().map(|shown| shown.text.as_str());
    Some(texts(state).eq(texts(other)))
}
