//! Who answers which state: a Latin square over arms and answerers.
//!
//! An answerer that has seen a session under one arm knows more than the state of another arm tells. So the arms of a session go to
//! different answerers. The assignment moves on by one with every session, so that every answerer meets every arm equally often and
//! a strong answerer does not favour one arm.

/// The assignment of states to answerers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswererSchedule {
    answerers: usize,
    arms: usize,
    /// Whether there are enough answerers for each to see a session once in all, at one of its cuts and sizes.
    is_once: bool,
}

impl AnswererSchedule {
    /// A schedule for this many arms, in sessions with up to `places` cuts and sizes; none where there are fewer answerers than arms.
    pub fn new(answerers: usize, arms: usize, places: usize) -> Option<Self> {
        (answerers >= arms && arms > 0).then_some(Self {
            answerers,
            arms,
            is_once: answerers >= arms * places,
        })
    }

    /// Whether an answerer sees a session once in all. Otherwise it meets the same arm again at another cut or size of the session.
    pub fn is_once(&self) -> bool {
        self.is_once
    }

    /// The answerer, counted from zero, of an arm at a place of a session.
    pub fn answerer(&self, session: usize, place: usize, arm: usize) -> usize {
        let offset = if self.is_once { place * self.arms } else { 0 };
        (session + offset + arm) % self.answerers
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn nobody_sees_a_session_under_two_arms_and_everybody_meets_every_arm_equally_often() {
        for (answerers, arms, places) in [(3, 3, 1), (5, 3, 1), (6, 3, 2), (4, 3, 2), (12, 4, 3)] {
            let schedule = AnswererSchedule::new(answerers, arms, places).unwrap();
            let mut met: BTreeMap<(usize, usize), usize> = BTreeMap::new();
            for session in 0..answerers * 2 {
                let mut seen: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
                let mut times: BTreeMap<usize, usize> = BTreeMap::new();
                for place in 0..places {
                    for arm in 0..arms {
                        let answerer = schedule.answerer(session, place, arm);
                        seen.entry(answerer).or_default().insert(arm);
                        *times.entry(answerer).or_default() += 1;
                        *met.entry((answerer, arm)).or_default() += 1;
                    }
                }
                assert!(seen.values().all(|arms| arms.len() == 1), "{answerers} {arms} {places}");
                assert!(!schedule.is_once() || times.values().all(|times| *times == 1));
            }
            let counts: BTreeSet<usize> = met.values().copied().collect();
            assert_eq!(met.len(), answerers * arms, "everybody meets every arm");
            assert_eq!(counts.len(), 1, "{answerers} answerers, {arms} arms: {counts:?}");
        }
    }

    #[test]
    fn fewer_answerers_than_arms_make_no_schedule() {
        assert_eq!(AnswererSchedule::new(2, 3, 1), None);
        assert_eq!(AnswererSchedule::new(2, 0, 1), None);
        assert!(!AnswererSchedule::new(5, 3, 2).unwrap().is_once());
    }
}
