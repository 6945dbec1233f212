//! Planning a pass: what is pruned, and whether that is enough. Nothing here touches a body.

use crate::account::Budget;
use crate::account::ProviderTokens;
use crate::account::Tally;
use crate::decide::boundary::boundary;
use crate::decide::candidates::Candidates;
use crate::decide::pass_plan::Mode;
use crate::decide::pass_plan::Plan;
use crate::decide::pass_plan::Progress;
use crate::decide::policy::Engine;
use crate::decide::policy::Policy;
use crate::decide::policy::least_reclaimed;
use crate::decide::policy::low_water;
use crate::decide::policy::protected_outputs;
use crate::decide::reason::PlanReason;
use crate::decide::situation::Situation;
use crate::decide::survey::Survey;
use crate::transcript::Message;
use crate::transcript::Transcript;

/// Plans a pass. Where pruning alone is to meet a target and cannot, the tail gives way as well, down to its least number of
/// messages: nothing else is left to take from. A tail that was asked for stays.
pub fn plan(
    transcript: &Transcript,
    tally: &Tally,
    survey: &Survey,
    progress: &Progress,
    budget: &Budget,
    policy: &Policy,
    situation: Situation,
) -> Plan {
    let mut plan = plan_once(transcript, tally, survey, progress, budget, policy, situation);
    let (Engine::Prune, Some(target), None) = (policy.engine, policy.target, policy.tail) else {
        return plan;
    };
    let aim = target.saturating_sub(situation.margin);
    let mut tail = budget.tail.min(target / 2);
    while situation.prompt.0 > target && plan.tokens_expected.0 > aim && tail > 0 {
        tail /= 2;
        let shorter = Policy {
            tail: Some(tail),
            ..policy.clone()
        };
        plan = plan_once(transcript, tally, survey, progress, budget, &shorter, situation);
    }
    plan
}

fn plan_once(
    transcript: &Transcript,
    tally: &Tally,
    survey: &Survey,
    progress: &Progress,
    budget: &Budget,
    policy: &Policy,
    situation: Situation,
) -> Plan {
    let target = policy
        .target
        .unwrap_or_else(|| low_water(budget.threshold, budget.window));
    let tail = policy
        .tail
        .unwrap_or_else(|| policy.target.map_or(budget.tail, |target| budget.tail.min(target / 2)));
    let mut plan = Plan {
        mode: Mode::Nothing,
        boundary: boundary(transcript, tally, tail, policy.tail_messages),
        turn_start: transcript.messages().iter().rposition(Message::opens_turn).unwrap_or(0),
        old_before: 0,
        actions: Vec::new(),
        tokens_before: situation.prompt,
        tokens_expected: situation.prompt,
        target: ProviderTokens(target),
        replacement: None,
        writing: None,
        reasons: Vec::new(),
    };
    plan.boundary.head_end = plan.boundary.head_end.max(progress.replaced);
    let prompt = situation.prompt.0;
    let is_due = prompt_is_due(prompt, budget, policy);
    let is_forced = !is_due && situation.forced;
    plan.reasons.push(match (policy.target, budget.threshold) {
        (Some(target), _) if is_due => PlanReason::AboveTarget { prompt, target },
        (Some(target), _) => PlanReason::NotAboveTarget {
            prompt,
            target,
            is_forced,
        },
        (None, threshold) if is_due => PlanReason::ThresholdReached { prompt, threshold },
        (None, threshold) => PlanReason::BelowThreshold {
            prompt,
            threshold,
            is_forced,
        },
    });
    if !is_due && !situation.forced {
        return plan;
    }
    // Before a pass is due there is nothing to come down to but less than now.
    let is_early = !is_due && policy.target.is_none();
    if matches!(policy.engine, Engine::Ledger | Engine::Summary | Engine::Hybrid) {
        plan.replace_middle(is_early);
        return plan;
    }
    if plan.boundary.middle().is_empty() {
        plan.reasons.push(PlanReason::NoMiddle);
        if policy.engine == Engine::Auto && (is_early || plan.tokens_before > plan.target) {
            plan.replace_middle(is_early);
        }
        return plan;
    }
    let recent = policy
        .recent_outputs
        .unwrap_or_else(|| protected_outputs(budget.window));
    let mut candidates = Candidates::new(plan.turn_start, survey, progress, &plan.boundary, situation);
    candidates.collect(recent);
    let saved = |candidates: &Candidates<'_>| (candidates.saves as f64 * situation.scale) as u64;
    plan.tokens_expected = ProviderTokens(prompt.saturating_sub(saved(&candidates)));
    // A target that was asked for is worth more than the protection of recent outputs.
    let aim = target.saturating_sub(situation.margin);
    if policy.target.is_some() && plan.tokens_expected.0 > aim {
        let missing = ((plan.tokens_expected.0 - aim) as f64 / situation.scale).ceil() as u64;
        if candidates.press(missing) {
            plan.reasons.push(PlanReason::RecentOutputsPruned);
        }
        plan.tokens_expected = ProviderTokens(prompt.saturating_sub(saved(&candidates)));
    }
    let reclaimed = saved(&candidates);
    plan.old_before = candidates.old_before;
    plan.actions = candidates.actions;
    judge(&mut plan, reclaimed, budget, policy, situation);
    if plan.mode == Mode::Nothing && is_early && policy.engine == Engine::Auto {
        plan.replace_middle(is_early);
    }
    plan
}

impl Plan {
    fn replace_middle(&mut self, is_early: bool) {
        self.mode = Mode::Full;
        if is_early {
            self.target = ProviderTokens(self.tokens_before.0.saturating_sub(1));
        }
    }
}

/// Whether pruning is enough.
fn judge(plan: &mut Plan, reclaimed: u64, budget: &Budget, policy: &Policy, situation: Situation) {
    let least = least_reclaimed(budget.window);
    let explicit = situation.forced || policy.target.is_some() || policy.engine == Engine::Prune;
    if plan.actions.is_empty() || (reclaimed < least && !explicit) {
        plan.reasons.push(match plan.actions.is_empty() {
            true => PlanReason::NothingToPrune,
            false => PlanReason::TooLittleToPrune { reclaimed, least },
        });
        plan.actions.clear();
        plan.tokens_expected = plan.tokens_before;
        plan.mode = if policy.engine == Engine::Prune || plan.tokens_before <= plan.target {
            Mode::Nothing
        } else {
            Mode::Full
        };
        return;
    }
    // Where an attempt missed a target that was asked for, being expected to meet it is not enough.
    let aim = match policy.target {
        Some(target) => target.saturating_sub(situation.margin),
        None => plan.target.0,
    };
    let (expected, target) = (plan.tokens_expected.0, plan.target.0);
    let (mode, reason) = if expected <= aim {
        (Mode::PruneOnly, PlanReason::PruningIsEnough { expected, target })
    } else if policy.engine == Engine::Prune {
        (Mode::PruneOnly, PlanReason::OnlyPruningAllowed { expected, target })
    } else {
        (Mode::Full, PlanReason::PruningIsNotEnough { expected, target })
    };
    plan.mode = mode;
    plan.reasons.push(reason);
}

/// Whether the prompt is above the target that was asked for, or has reached the threshold.
fn prompt_is_due(prompt: u64, budget: &Budget, policy: &Policy) -> bool {
    match policy.target {
        Some(target) => prompt > target,
        None => prompt >= budget.threshold,
    }
}
