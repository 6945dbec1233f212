//! How small a conversation can get: the smallest target that a pass would meet.
//!
//! Asked for only where a target was missed, so that it may cost a few more plans and attempts.

use crate::account::CountedTokens;
use crate::compaction::Compactor;
use crate::compaction::PassInput;
use crate::compaction::Verdict;
use crate::decide::Engine;
use crate::decide::Mode;
use crate::decide::Plan;
use crate::decide::Policy;

/// How often everything is pruned to see what it comes to. It settles after two or three.
const MOST_TRIALS: usize = 12;
/// The first step above a target that cannot be met; each further one is twice as long.
const FIRST_STEP: u64 = 64;
/// A block is written to see whether it fits, which costs more than a plan: the target found is one part in this many too
/// high at most.
const TRIAL_PRECISION: u64 = 50;

impl Compactor {
    /// The smallest target that a pass without any model meets; `None` where no pass makes the conversation smaller.
    pub fn smallest_target(&self, input: &PassInput<'_>) -> Option<u64> {
        match input.policy.engine {
            Engine::Prune => self.smallest_pruned(input),
            Engine::Auto | Engine::Ledger | Engine::Summary | Engine::Hybrid => self.smallest_replaced(input),
        }
    }

    /// What everything pruned comes to. A smaller target leaves a smaller tail and with it more to prune, so that the size is
    /// found from below: the first target at or above the size that it leads to.
    fn smallest_pruned(&self, input: &PassInput<'_>) -> Option<u64> {
        let mut target = 1;
        for _ in 0..MOST_TRIALS {
            let policy = with_target(input, target);
            let mut situation = input.situation;
            situation.margin = target;
            let trial = PassInput {
                policy: &policy,
                situation,
                ..*input
            };
            let plan = self.plan(&trial);
            if plan.mode != Mode::PruneOnly {
                return None;
            }
            let saved = self.pruned(&trial, &plan).saved();
            let size = situation.prompt_without(CountedTokens(saved)).0;
            if size <= target {
                return Some(target);
            }
            target = size;
        }
        Some(target)
    }

    /// Plans tell where there is room for a block; whether it fits is tried.
    fn smallest_replaced(&self, input: &PassInput<'_>) -> Option<u64> {
        let prompt = input.situation.prompt.0;
        let can_be_planned = |target: u64| {
            let policy = with_target(input, target);
            let plan = self.plan(&PassInput {
                policy: &policy,
                ..*input
            });
            is_feasible(&plan)
        };
        let planned = first_met(input.policy.target.unwrap_or(0), prompt, 1, can_be_planned)?;
        let is_met = |target: u64| {
            let policy = with_target(input, target);
            let trial = PassInput {
                policy: &policy,
                writers: None,
                ..*input
            };
            let outcome = self.clone().pass_alone(&trial, self.plan(&trial));
            outcome.verdict == Verdict::Compacted
        };
        if is_met(planned) {
            return Some(planned);
        }
        first_met(planned, prompt, (planned / TRIAL_PRECISION).max(1), is_met)
    }
}

/// The first target above one that is missed and below the prompt that is met, to within this many tokens.
fn first_met(missed: u64, prompt: u64, precision: u64, is_met: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut missed, mut step) = (missed, FIRST_STEP);
    let mut found = loop {
        let next = if missed + step < prompt {
            missed + step
        } else {
            missed + prompt.saturating_sub(missed) / 2
        };
        if next <= missed {
            return None;
        }
        if is_met(next) {
            break next;
        }
        missed = next;
        step *= 2;
    };
    while found - missed > precision {
        let middle = missed + (found - missed) / 2;
        match is_met(middle) {
            true => found = middle,
            false => missed = middle,
        }
    }
    Some(found)
}

fn with_target(input: &PassInput<'_>, target: u64) -> Policy {
    Policy {
        target: Some(target),
        ..input.policy.clone()
    }
}

fn is_feasible(plan: &Plan) -> bool {
    match plan.mode {
        Mode::PruneOnly => plan.tokens_expected <= plan.target,
        Mode::Full => plan.replacement.is_some(),
        Mode::Nothing => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_target_that_is_met_is_found_wherever_it_is() {
        for met in [11, 74, 75, 5_000, 9_990] {
            assert_eq!(first_met(10, 10_000, 1, |target| target >= met), Some(met));
            let near = first_met(10, 10_000, 100, |target| target >= met).expect("it is below the prompt");
            assert!((met..met + 100).contains(&near), "{met}: {near}");
        }
        assert_eq!(first_met(10, 10_000, 1, |_| false), None);
        assert_eq!(first_met(10, 10, 1, |_| true), None);
        assert_eq!(first_met(20, 10, 1, |_| true), None);
    }
}
