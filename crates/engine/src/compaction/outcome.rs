//! What a pass came to.

use std::collections::BTreeMap;
use std::fmt;

use crate::account::CountedTokens;
use crate::account::ProviderTokens;
use crate::decide::Plan;
use crate::decide::PlanReason;
use crate::decide::Seat;
use crate::decide::Span;
use crate::decide::Way;
use crate::decide::joined;
use crate::ledger::memory::Carried;
use crate::transcript::Message;
use crate::transcript::Spot;
use crate::transform::Change;
use crate::transform::Dropped;
use crate::verify::Flaw;
use crate::verify::FlawKind;
use crate::verify::Weight;

/// What a pass came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The conversation was compacted.
    Compacted,
    /// It stays as it is, for this reason.
    Unchanged(Refusal),
}

/// Why a conversation stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The plan has nothing to do, and says why.
    Planned(Vec<PlanReason>),
    /// There is no block to put in place of anything.
    LedgerNotWritten,
    /// The result has a fatal flaw.
    Flawed {
        /// Of which kind.
        kind: FlawKind,
        /// What is wrong.
        detail: String,
    },
    /// Pruning, and nothing else was allowed, stays above the target.
    AboveTarget {
        /// What it comes down to.
        size: u64,
        /// The target.
        target: u64,
    },
}

impl Refusal {
    /// What programs match on: it does not change when the sentence does.
    pub fn code(&self) -> &'static str {
        match self {
            // Why a summary was not written is not why nothing was changed.
            Refusal::Planned(reasons) => {
                let deciding = reasons.iter().rfind(|reason| !reason.is_about_summary());
                deciding.map_or("nothing-to-do", PlanReason::code)
            }
            Refusal::LedgerNotWritten => "ledger-not-written",
            Refusal::Flawed { kind, .. } => kind.code(),
            Refusal::AboveTarget { .. } => "above-target",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Planned(reasons) => formatter.write_str(&joined(reasons)),
            Refusal::LedgerNotWritten => formatter.write_str("the ledger could not be written, so nothing was changed"),
            Refusal::Flawed { kind, detail } => {
                write!(formatter, "the result was refused ({}): {detail}", kind.code())
            }
            Refusal::AboveTarget { size, target } => {
                write!(
                    formatter,
                    "pruning comes down to {size} tokens, above the target of {target}"
                )
            }
        }
    }
}

/// How a pass was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassMode {
    /// By pruning alone.
    Prune,
    /// With a ledger and nothing by a model.
    Ledger,
    /// With a model's summary alone.
    Summary,
    /// With a model's summary beside the ledger.
    Hybrid,
}

impl PassMode {
    /// Its name in reports and checkpoints.
    pub fn name(self) -> &'static str {
        match self {
            PassMode::Prune => "prune",
            PassMode::Ledger => "ledger",
            PassMode::Summary => "summary",
            PassMode::Hybrid => "hybrid",
        }
    }
}

impl fmt::Display for PassMode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Everything there is to say about a pass.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What it came to.
    pub verdict: Verdict,
    /// What was planned.
    pub plan: Plan,
    /// What was changed, beside what earlier passes had changed.
    pub changes: BTreeMap<Spot, Change>,
    /// The block that now stands for what was replaced, and what stays beside it.
    pub block: Option<Block>,
    /// What models did for it.
    pub writing: Option<WritingDone>,
    /// What was taken out.
    pub dropped: Vec<Dropped>,
    /// What verify found.
    pub flaws: Vec<Flaw>,
    /// The counted size before, without what the log does not show.
    pub counted_before: CountedTokens,
    /// The counted size after.
    pub counted_after: CountedTokens,
    /// The size of the next prompt after, on the scale of the situation's prompt; what a refused result would have had.
    pub prompt_after: ProviderTokens,
    /// The first message that this pass changed: from here on the provider's cache is cold.
    pub earliest_changed: Option<usize>,
}

impl Outcome {
    /// An outcome before anything was done.
    pub(super) fn untouched(plan: Plan, counted: CountedTokens, prompt: ProviderTokens) -> Self {
        Self {
            verdict: Verdict::Unchanged(Refusal::Planned(plan.reasons.clone())),
            changes: BTreeMap::new(),
            block: None,
            writing: None,
            dropped: Vec::new(),
            flaws: Vec::new(),
            counted_before: counted,
            counted_after: counted,
            prompt_after: prompt,
            earliest_changed: None,
            plan,
        }
    }

    /// How the pass was made; [`PassMode::Prune`] where there is no block.
    pub fn mode(&self) -> PassMode {
        match (&self.block, &self.writing) {
            (None, _) => PassMode::Prune,
            (Some(_), Some(writing)) if writing.was_used && writing.has_ledger => PassMode::Hybrid,
            (Some(_), Some(writing)) if writing.was_used => PassMode::Summary,
            (Some(_), _) => PassMode::Ledger,
        }
    }

    /// Whether the result is above the target that was asked for.
    pub fn missed_target(&self) -> bool {
        self.flaws.iter().any(|flaw| flaw.kind == FlawKind::OverTarget)
    }

    /// Whether a fatal flaw refuses the result; the verdict then says why.
    pub(super) fn is_refused(&mut self) -> bool {
        let Some(flaw) = self.flaws.iter().find(|flaw| flaw.weight == Weight::Fatal) else {
            return false;
        };
        self.verdict = Verdict::Unchanged(Refusal::Flawed {
            kind: flaw.kind,
            detail: flaw.detail.clone(),
        });
        true
    }
}

/// What models did for a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WritingDone {
    /// Whether the ledger stands beside what they wrote.
    pub has_ledger: bool,
    /// In which way they were asked last.
    pub way: Way,
    /// How many requests were answered.
    pub answers: u64,
    /// Whether what they wrote is in the result; otherwise the ledger stands alone.
    pub was_used: bool,
    /// The tokens of the summary in the result.
    pub tokens: u64,
    /// How many records were sent, and how many were left out for want of room.
    pub records: (usize, usize),
    /// The prompts, by name and hash.
    pub prompts: Vec<(&'static str, String)>,
}

/// A message that stands for others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The message.
    pub message: Message,
    /// What stays beside it.
    pub span: Span,
    /// Where it goes out.
    pub seat: Seat,
    /// The evidence it shows.
    pub carried: Vec<Carried>,
}
