//! What a host may set about compaction, and the seed numbers that follow from a window.

use serde::Deserialize;
use serde::Serialize;

use crate::account::Budget;
use crate::account::BudgetPolicy;
use crate::decide::way::WayWanted;

/// Tools whose newest outputs stay: what they show is what the agent asked to keep in mind.
const PROTECTED_TOOLS: [&str; 5] = ["read_file", "memory", "clarify", "skill_view", "todo"];
/// The tail has at least this many messages, however long they are.
const TAIL_MESSAGES: usize = 8;

/// Which engine compacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// Pruning where it buys enough, a full pass where it does not.
    #[default]
    Auto,
    /// Pruning only, whatever it buys.
    Prune,
    /// A full pass with the ledger, without pruning first.
    Ledger,
    /// A full pass with a summary by a model, without pruning first.
    Summary,
    /// A full pass with a summary by a model and the ledger, without pruning first.
    Hybrid,
}

impl Engine {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Auto => "auto",
            Engine::Prune => "prune",
            Engine::Ledger => "ledger",
            Engine::Summary => "summary",
            Engine::Hybrid => "hybrid",
        }
    }
}

/// How many tokens of records a summariser gets to read where nobody says otherwise: the median of what recorded
/// compactions replaced, its outputs cut as records cut them. More costs money and minutes and adds what the ledger has.
const SUMMARY_INPUT: u64 = 60_000;

/// The settings of summaries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SummaryPolicy {
    /// In which way a model is asked.
    pub way: WayWanted,
    /// How many tokens of records are sent in all.
    pub input: u64,
    /// The most tokens a summary is asked to have; by default it follows from the room of the block.
    pub output: Option<u64>,
}

impl Default for SummaryPolicy {
    fn default() -> Self {
        Self {
            way: WayWanted::Auto,
            input: SUMMARY_INPUT,
            output: None,
        }
    }
}

/// The part of the threshold that a ledger block may fill where no target was asked for. At a tenth of the history the
/// ledger keeps four fifths of what the agent goes on to use; twice as much would keep a tenth more of it and be paid
/// for with every request.
const LEDGER_SHARE: u64 = 10;

/// The tokens of a ledger block where no target was asked for.
pub fn ledger_tokens(threshold: u64) -> u64 {
    threshold / LEDGER_SHARE
}

/// The settings of compaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    /// Which engine compacts.
    pub engine: Engine,
    /// How the budget is made.
    pub budget: BudgetPolicy,
    /// The size to come down to; by default it follows from the threshold.
    pub target: Option<u64>,
    /// Whether a target is a size to fill; otherwise it is only the most that may be left, and what is free is room to go on in.
    pub fills_target: bool,
    /// How much of the newest history stays verbatim; by default the budget's tail.
    pub tail: Option<u64>,
    /// How many messages the tail has at least.
    pub tail_messages: usize,
    /// Tools whose outputs are not pruned for their age. What a later output repeats or makes stale is.
    pub protected_tools: Vec<String>,
    /// How many tokens of the newest tool outputs are not pruned; by default by the window.
    pub recent_outputs: Option<u64>,
    /// How a model summarises.
    pub summary: SummaryPolicy,
    /// What to keep most of.
    pub focus: Option<String>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            engine: Engine::Auto,
            budget: BudgetPolicy::default(),
            target: None,
            fills_target: true,
            tail: None,
            tail_messages: TAIL_MESSAGES,
            protected_tools: PROTECTED_TOOLS.map(str::to_owned).to_vec(),
            recent_outputs: None,
            summary: SummaryPolicy::default(),
            focus: None,
        }
    }
}

/// How many tokens of the newest tool outputs are protected in a window of this size.
pub fn protected_outputs(window: u64) -> u64 {
    match window {
        500_000.. => 100_000,
        128_000.. => 40_000,
        64_000.. => 20_000,
        _ => 10_000,
    }
}

/// Pruning must reclaim at least this much in a window of this size.
pub fn least_reclaimed(window: u64) -> u64 {
    (window / 20).max(5_000)
}

/// Pruning alone is enough when it comes down to this.
pub fn low_water(threshold: u64, window: u64) -> u64 {
    let share = u64::try_from(u128::from(threshold) * 15 / 100).unwrap_or(u64::MAX);
    let runway = least_reclaimed(window).max(share);
    threshold.saturating_sub(runway)
}

/// The budget of a pass that was asked for before it is due: everything is as large as if the prompt had just reached its
/// threshold. A tail for the whole window would keep all of a conversation that fills a tenth of it.
pub fn budget_before_due(budget: &Budget, prompt: u64) -> Budget {
    if prompt >= budget.threshold {
        return budget.clone();
    }
    let tail = u128::from(budget.tail) * u128::from(prompt) / u128::from(budget.threshold.max(1));
    Budget {
        threshold: prompt,
        tail: u64::try_from(tail).unwrap_or(budget.tail),
        ..budget.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protection_follows_the_window_on_both_sides_of_every_step() {
        for (window, tokens) in [
            (0, 10_000),
            (63_999, 10_000),
            (64_000, 20_000),
            (127_999, 20_000),
            (128_000, 40_000),
            (499_999, 40_000),
            (500_000, 100_000),
            (2_000_000, 100_000),
        ] {
            assert_eq!(protected_outputs(window), tokens, "window {window}");
        }
    }

    #[test]
    fn the_minimum_is_a_twentieth_but_at_least_5000() {
        for (window, tokens) in [
            (8_000, 5_000),
            (100_000, 5_000),
            (100_020, 5_001),
            (128_000, 6_400),
            (1_000_000, 50_000),
        ] {
            assert_eq!(least_reclaimed(window), tokens, "window {window}");
        }
    }

    #[test]
    fn before_it_is_due_a_pass_has_the_shares_of_one_that_is() {
        let budget = Budget {
            model: "m".to_owned(),
            window: 200_000,
            output: 0,
            threshold: 150_000,
            tail: 30_000,
        };
        let early = budget_before_due(&budget, 15_000);
        assert_eq!((early.threshold, early.tail, early.window), (15_000, 3_000, 200_000));
        assert_eq!(budget_before_due(&budget, 150_000), budget);
        assert_eq!(budget_before_due(&budget, 0).tail, 0);
    }

    #[test]
    fn the_low_water_mark_leaves_a_runway() {
        // 15 % of the threshold decides where it is more than the minimum, the minimum where it is not.
        assert_eq!(low_water(64_000, 128_000), 64_000 - 9_600);
        assert_eq!(low_water(20_000, 40_000), 15_000);
        assert_eq!(low_water(42_667, 128_000), 42_667 - 6_400);
        assert_eq!(low_water(42_674, 128_000), 42_674 - 6_401);
        assert_eq!(low_water(3_000, 8_000), 0);
        assert!(low_water(u64::MAX, u64::MAX) > 0);
    }
}
