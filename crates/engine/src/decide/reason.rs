//! Why a plan is as it is: a variant each, with the sentence that people read and the code that programs match on.

use std::fmt;

use crate::decide::way::Way;
use crate::decide::way::WayReason;

/// One reason of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanReason {
    /// The prompt is above the target that was asked for.
    AboveTarget {
        /// The size of the prompt.
        prompt: u64,
        /// The target.
        target: u64,
    },
    /// The prompt is not above the target that was asked for.
    NotAboveTarget {
        /// The size of the prompt.
        prompt: u64,
        /// The target.
        target: u64,
        /// Whether a compaction was asked for all the same.
        is_forced: bool,
    },
    /// The prompt has reached the threshold.
    ThresholdReached {
        /// The size of the prompt.
        prompt: u64,
        /// The threshold.
        threshold: u64,
    },
    /// The prompt is below the threshold.
    BelowThreshold {
        /// The size of the prompt.
        prompt: u64,
        /// The threshold.
        threshold: u64,
        /// Whether a compaction was asked for all the same.
        is_forced: bool,
    },
    /// There is no middle between head and tail.
    NoMiddle,
    /// Recent outputs are pruned too, to reach the target.
    RecentOutputsPruned,
    /// Nothing can be pruned.
    NothingToPrune,
    /// Pruning would reclaim too little to be worth a changed prefix.
    TooLittleToPrune {
        /// What it would reclaim.
        reclaimed: u64,
        /// The least that is worth it.
        least: u64,
    },
    /// Pruning alone reaches the target.
    PruningIsEnough {
        /// About what it comes down to.
        expected: u64,
        /// The target.
        target: u64,
    },
    /// Pruning does not reach the target, and nothing else is allowed.
    OnlyPruningAllowed {
        /// About what it comes down to.
        expected: u64,
        /// The target.
        target: u64,
    },
    /// Pruning does not reach the target, so the middle is replaced.
    PruningIsNotEnough {
        /// About what it comes down to.
        expected: u64,
        /// The target.
        target: u64,
    },
    /// What has to stay leaves no room for a ledger.
    NoRoomForLedger,
    /// Everything is kept.
    NothingToReplace,
    /// What has to stay leaves too little room for a ledger.
    TooLittleRoom {
        /// The tokens that are left.
        tokens: u64,
    },
    /// The newest step or words would fill the target.
    NewestShortened,
    /// A ledger stands for so many messages.
    Replaced {
        /// The most tokens that the ledger may have.
        tokens: u64,
        /// How many messages it stands for.
        replaced: usize,
        /// How many messages there are.
        messages: usize,
    },
    /// The ledger needs less than it may have: more of the newest step stays.
    MoreOfNewestStep,
    /// The ledger needs less than it may have: more messages stay.
    MoreMessagesStay {
        /// How many more.
        messages: usize,
    },
    /// No model is configured to write a summary.
    NoModel,
    /// The block has no room for a summary.
    BlockTooSmallForSummary {
        /// The tokens of the block.
        tokens: u64,
    },
    /// The window of the models that may be asked is too small.
    WindowTooSmallForSummary {
        /// The smallest window.
        window: u64,
    },
    /// A model writes a summary.
    SummaryByModel {
        /// Whether the ledger stands beside it.
        has_ledger: bool,
        /// About how many tokens it has.
        tokens: u64,
        /// How it is asked for.
        way: Way,
        /// Why in that way.
        because: WayReason,
    },
    /// There is no summary after all.
    LedgerOnly(SummaryFailure),
}

impl PlanReason {
    /// What programs match on: it does not change when the sentence does.
    pub fn code(&self) -> &'static str {
        match self {
            PlanReason::AboveTarget { .. } => "above-target",
            PlanReason::NotAboveTarget { is_forced: false, .. } => "not-above-target",
            PlanReason::NotAboveTarget { is_forced: true, .. } => "forced-not-above-target",
            PlanReason::ThresholdReached { .. } => "threshold-reached",
            PlanReason::BelowThreshold { is_forced: false, .. } => "below-threshold",
            PlanReason::BelowThreshold { is_forced: true, .. } => "forced-below-threshold",
            PlanReason::NoMiddle => "no-middle",
            PlanReason::RecentOutputsPruned => "recent-outputs-pruned",
            PlanReason::NothingToPrune => "nothing-to-prune",
            PlanReason::TooLittleToPrune { .. } => "too-little-to-prune",
            PlanReason::PruningIsEnough { .. } => "pruning-is-enough",
            PlanReason::OnlyPruningAllowed { .. } => "only-pruning-allowed",
            PlanReason::PruningIsNotEnough { .. } => "pruning-is-not-enough",
            PlanReason::NoRoomForLedger => "no-room-for-ledger",
            PlanReason::NothingToReplace => "nothing-to-replace",
            PlanReason::TooLittleRoom { .. } => "too-little-room",
            PlanReason::NewestShortened => "newest-shortened",
            PlanReason::Replaced { .. } => "replaced",
            PlanReason::MoreOfNewestStep => "more-of-newest-step",
            PlanReason::MoreMessagesStay { .. } => "more-messages-stay",
            PlanReason::NoModel => "no-model",
            PlanReason::BlockTooSmallForSummary { .. } => "block-too-small-for-summary",
            PlanReason::WindowTooSmallForSummary { .. } => "window-too-small-for-summary",
            PlanReason::SummaryByModel { .. } => "summary-by-model",
            PlanReason::LedgerOnly(_) => "ledger-only",
        }
    }

    /// Whether it only says how a summary is written, or why none is.
    pub fn is_about_summary(&self) -> bool {
        matches!(
            self,
            PlanReason::NoModel
                | PlanReason::BlockTooSmallForSummary { .. }
                | PlanReason::WindowTooSmallForSummary { .. }
                | PlanReason::SummaryByModel { .. }
                | PlanReason::LedgerOnly(_)
        )
    }

    /// Whether a compaction was asked for that is not due.
    pub fn is_forced(&self) -> bool {
        matches!(
            self,
            PlanReason::NotAboveTarget { is_forced: true, .. } | PlanReason::BelowThreshold { is_forced: true, .. }
        )
    }

    /// Whether the prompt is small enough as it is.
    pub fn is_below(&self) -> bool {
        matches!(
            self,
            PlanReason::NotAboveTarget { .. } | PlanReason::BelowThreshold { .. }
        )
    }
}

impl fmt::Display for PlanReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asked = |is_forced: bool| match is_forced {
            true => ", but a compaction was asked for",
            false => "",
        };
        match self {
            PlanReason::AboveTarget { prompt, target } => {
                write!(
                    formatter,
                    "the prompt of {prompt} tokens is above the target of {target}"
                )
            }
            PlanReason::NotAboveTarget {
                prompt,
                target,
                is_forced,
            } => write!(
                formatter,
                "the prompt of {prompt} tokens is not above the target of {target}{}",
                asked(*is_forced)
            ),
            PlanReason::ThresholdReached { prompt, threshold } => write!(
                formatter,
                "the prompt of {prompt} tokens has reached the threshold of {threshold}"
            ),
            PlanReason::BelowThreshold {
                prompt,
                threshold,
                is_forced,
            } => write!(
                formatter,
                "the prompt of {prompt} tokens is below the threshold of {threshold}{}",
                asked(*is_forced)
            ),
            PlanReason::NoMiddle => {
                formatter.write_str("everything is head or tail: there is nothing in between to prune")
            }
            PlanReason::RecentOutputsPruned => formatter.write_str("also pruned recent outputs to reach the target"),
            PlanReason::NothingToPrune => formatter.write_str("there is nothing to prune"),
            PlanReason::TooLittleToPrune { reclaimed, least } => write!(
                formatter,
                "pruning would reclaim {reclaimed} tokens, less than the {least} that make it worth a changed prefix"
            ),
            PlanReason::PruningIsEnough { expected, target } => write!(
                formatter,
                "pruning comes down to about {expected}, at or below {target}: no summary is needed"
            ),
            PlanReason::OnlyPruningAllowed { expected, target } => write!(
                formatter,
                "pruning comes down to about {expected}, above {target}, and only pruning is allowed"
            ),
            PlanReason::PruningIsNotEnough { expected, target } => write!(
                formatter,
                "pruning comes down to about {expected}, above {target}: not enough, so the middle is replaced"
            ),
            PlanReason::NoRoomForLedger => {
                formatter.write_str("the newest words and the open step alone leave no room for a ledger")
            }
            PlanReason::NothingToReplace => formatter.write_str("everything is kept: there is nothing to replace"),
            PlanReason::TooLittleRoom { tokens } => {
                write!(formatter, "what must stay leaves {tokens} tokens, too few for a ledger")
            }
            PlanReason::NewestShortened => formatter.write_str(
                "the newest step or words would fill the target: they are shortened, or given to the ledger",
            ),
            PlanReason::Replaced {
                tokens,
                replaced,
                messages,
            } => write!(
                formatter,
                "a ledger of at most {tokens} tokens stands for {replaced} of {messages} messages"
            ),
            PlanReason::MoreOfNewestStep => {
                formatter.write_str("the ledger needs less than that: more of the newest step stays")
            }
            PlanReason::MoreMessagesStay { messages } => write!(
                formatter,
                "the ledger needs less than that: {messages} more messages stay as they are"
            ),
            PlanReason::NoModel => {
                formatter.write_str("no model is configured to write a summary: the ledger stands alone")
            }
            PlanReason::BlockTooSmallForSummary { tokens } => write!(
                formatter,
                "{tokens} tokens are too few for a summary by a model: the ledger stands alone"
            ),
            PlanReason::WindowTooSmallForSummary { window } => write!(
                formatter,
                "a window of {window} tokens is too small to summarise anything: the ledger stands alone"
            ),
            PlanReason::SummaryByModel {
                has_ledger,
                tokens,
                way,
                because,
            } => {
                let what = match has_ledger {
                    true => "a model writes the story, the ledger keeps the exact values",
                    false => "a model writes the summary",
                };
                write!(formatter, "{what}: about {tokens} tokens, {} ({because})", way.name())
            }
            PlanReason::LedgerOnly(failure) => write!(formatter, "the ledger stands alone: {failure}"),
        }
    }
}

/// All reasons in one line.
pub fn joined(reasons: &[PlanReason]) -> String {
    let sentences: Vec<String> = reasons.iter().map(ToString::to_string).collect();
    sentences.join("; ")
}

/// Why there is no summary although a model was to write one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SummaryFailure {
    /// The host has no model any more.
    NoModelLeft,
    /// The models did not answer, or nothing of use; what they and their hosts said, with secrets hidden.
    NotAnswered(String),
    /// Requests stay longer than the model's window.
    AlwaysTooLong,
    /// The summary was refused.
    Refused {
        /// The code of the flaw.
        code: &'static str,
        /// What is wrong with it.
        detail: String,
    },
    /// The result with the summary in it was refused.
    ResultRefused(String),
    /// The answer has nothing to be held against.
    NotReviewed,
    /// Nothing is new.
    NothingToTell,
    /// The plan replaces nothing.
    NothingToReplace,
}

impl fmt::Display for SummaryFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SummaryFailure::NoModelLeft => formatter.write_str("there is no model any more"),
            SummaryFailure::NotAnswered(why) | SummaryFailure::ResultRefused(why) => formatter.write_str(why),
            SummaryFailure::AlwaysTooLong => formatter.write_str(
                "a request that was halved again and again is still too long for the model: its window is smaller than it \
                 is said to be",
            ),
            SummaryFailure::Refused { code, detail } => write!(formatter, "the summary was refused ({code}): {detail}"),
            SummaryFailure::NotReviewed => formatter.write_str("the answer could not be looked at"),
            SummaryFailure::NothingToTell => formatter.write_str("there is nothing to tell"),
            SummaryFailure::NothingToReplace => formatter.write_str("there is nothing to replace"),
        }
    }
}
