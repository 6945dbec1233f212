//! Planning a summary: whether a model writes one, in which way, how long it may be, and how much it may read.

use crate::decide::pass_plan::Mode;
use crate::decide::pass_plan::Plan;
use crate::decide::pass_plan::Writing;
use crate::decide::policy::Engine;
use crate::decide::policy::Policy;
use crate::decide::reason::PlanReason;
use crate::decide::way::InPlace;
use crate::decide::way::Way;
use crate::decide::way::choose_way;

/// A story beside the ledger is asked to fill one of so many parts of the block. Agents continued best from a model's summary without its
/// lists of messages and files, which are a good third of it, and the ledger's lines in their place.
const STORY_PARTS: u64 = 2;
/// A story beside the ledger is at most this long: published ones have three thousand tokens in the median, and what it
/// takes is taken from verbatim evidence.
const MOST_BESIDE_LEDGER: u64 = 4_000;
/// A summary that stands alone is at most this long.
const MOST_ALONE: u64 = 10_000;
/// A block below this has no room for a story: some hundred words would be left for it, and hardly a line of the ledger beside them.
const LEAST_BLOCK_WITH_STORY: u64 = 500;
/// What instructions and headings of a request cost, with a margin for tokens that are counted differently elsewhere.
const REQUEST_OVERHEAD: u64 = 2_000;
/// The part of the window that a request may fill, in hundredths: counts of other vocabularies are estimates.
const FILLED_WINDOW: u64 = 85;
/// A summary has at most this part of a writer's window: request and update have to fit beside it.
const WINDOW_PARTS: u64 = 8;
/// A request with less room for records than this is not worth sending.
const LEAST_INPUT: u64 = 1_000;

/// What is known of the models that may write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writers {
    /// The smallest window among them: any of them may be asked.
    pub window: u64,
    /// The fewest tokens that one of them writes at most.
    pub output: u64,
    /// Whether the conversation's own model can be asked in place.
    pub in_place: InPlace,
}

/// Plans the summary of a plan that replaces something; a plan without one says why.
pub fn plan_writing(plan: &mut Plan, policy: &Policy, writers: Option<&Writers>) {
    let (Mode::Full, Some(replacement)) = (plan.mode, &plan.replacement) else {
        return;
    };
    let has_ledger = match (policy.engine, writers) {
        (Engine::Prune | Engine::Ledger, _) | (Engine::Auto, None) => return,
        (Engine::Summary | Engine::Hybrid, None) => {
            plan.reasons.push(PlanReason::NoModel);
            return;
        }
        (Engine::Summary, Some(_)) => false,
        (Engine::Auto | Engine::Hybrid, Some(_)) => true,
    };
    let Some(writers) = writers else { return };
    let block = replacement.block_tokens;
    if block < LEAST_BLOCK_WITH_STORY {
        plan.reasons.push(PlanReason::BlockTooSmallForSummary { tokens: block });
        return;
    }
    let tokens = match has_ledger {
        true => (block / STORY_PARTS).min(MOST_BESIDE_LEDGER),
        // Answers may be half as long again as was asked for.
        false => (block * 3 / 5).min(MOST_ALONE),
    };
    // A model that writes less than is asked for would be cut off in the middle.
    let most = policy.summary.output.unwrap_or(u64::MAX);
    let tokens = tokens
        .min(writers.output / 2)
        .min(writers.window / WINDOW_PARTS)
        .min(most)
        .max(1);
    let window = writers.window / 100 * FILLED_WINDOW;
    // An update carries the earlier summary besides the records.
    let each = window.saturating_sub(2 * tokens + REQUEST_OVERHEAD);
    let (way, because) = choose_way(
        policy.summary.way,
        &writers.in_place,
        plan.tokens_before.0 + tokens <= window,
    );
    if way == Way::Auxiliary && each < LEAST_INPUT {
        plan.reasons
            .push(PlanReason::WindowTooSmallForSummary { window: writers.window });
        return;
    }
    plan.reasons.push(PlanReason::SummaryByModel {
        has_ledger,
        tokens,
        way,
        because,
    });
    plan.writing = Some(Writing {
        has_ledger,
        way,
        tokens,
        input: policy.summary.input,
        input_each: each.min(policy.summary.input),
    });
}
