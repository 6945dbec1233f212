//! A plan, as data: what a pass will do, part by part, and how far earlier passes have come.

use std::collections::BTreeSet;

use crate::account::ProviderTokens;
use crate::decide::boundary::Boundary;
use crate::decide::reason::PlanReason;
use crate::decide::span::Span;
use crate::decide::survey::Superseded;
use crate::decide::way::Way;
use crate::transcript::Spot;

/// A story below this has fewer sections: the headings and first lines of all would fill it.
const BRIEF_STORY: u64 = 700;
/// About what a placeholder costs: tool, what it was asked, how it ended, size, preview, reference.
pub const PLACEHOLDER: u64 = 75;

/// What is done to one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// An output that stands again later becomes a reference to it.
    Duplicate(Spot),
    /// A read that a later change or read made stale becomes a line.
    Stale(Superseded),
    /// An old output becomes a line.
    OldOutput,
    /// Oversized arguments of an old call are shortened.
    OldArguments,
    /// An old picture or file becomes a marker.
    OldMedia,
    /// Old reasoning is left out.
    OldReasoning,
    /// The message is replaced by the block.
    Replaced,
}

impl Action {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Action::Duplicate(_) => "duplicate",
            Action::Stale(_) => "stale read",
            Action::OldOutput => "old output",
            Action::OldArguments => "old arguments",
            Action::OldMedia => "old media",
            Action::OldReasoning => "old reasoning",
            Action::Replaced => "replaced",
        }
    }
}

/// One thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Which part.
    pub spot: Spot,
    /// The call it answers, where it is a tool result.
    pub call: Option<Spot>,
    /// What is done to it.
    pub action: Action,
    /// What it costs now.
    pub tokens: u64,
    /// About what it will save.
    pub saves: u64,
}

/// What kind of pass it will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nothing needs doing, or nothing can be done.
    Nothing,
    /// Pruning is enough.
    PruneOnly,
    /// Pruning is not enough: the middle has to be replaced.
    Full,
}

impl Mode {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Nothing => "nothing",
            Mode::PruneOnly => "prune-only",
            Mode::Full => "full",
        }
    }
}

/// What a pass will do, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What kind of pass.
    pub mode: Mode,
    /// What is kept as it is.
    pub boundary: Boundary,
    /// The turn that is going on starts here; its reasoning is left alone.
    pub turn_start: usize,
    /// Arguments, media and reasoning before this message are old enough to be pruned.
    pub old_before: usize,
    /// What is done, in the order of pruning.
    pub actions: Vec<Planned>,
    /// The size of the prompt now.
    pub tokens_before: ProviderTokens,
    /// About its size after pruning.
    pub tokens_expected: ProviderTokens,
    /// What it has to come down to.
    pub target: ProviderTokens,
    /// What a full pass replaces.
    pub replacement: Option<Replacement>,
    /// The summary that a model writes of it.
    pub writing: Option<Writing>,
    /// Why it is so.
    pub reasons: Vec<PlanReason>,
}

/// How far earlier passes have come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Outputs before this index are decided.
    pub outputs: usize,
    /// Arguments of calls before this index are decided.
    pub arguments: usize,
    /// Reasoning parts before this index are decided.
    pub thinking: usize,
    /// Media parts before this index are decided.
    pub media: usize,
    /// Parts that were changed.
    pub changed: BTreeSet<Spot>,
    /// Messages before this index were replaced, or kept by a full pass apart from its tail.
    pub replaced: usize,
}

/// What a full pass replaces, and with how much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// What stays.
    pub span: Span,
    /// The tokens, as counted, that the block may have.
    pub block_tokens: u64,
}

/// A planned summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writing {
    /// Whether the ledger stands beside it.
    pub has_ledger: bool,
    /// In which way it is asked for.
    pub way: Way,
    /// About how many tokens it shall have.
    pub tokens: u64,
    /// How many tokens of records are sent in all.
    pub input: u64,
    /// How many tokens of records fit one request.
    pub input_each: u64,
}

impl Writing {
    /// Whether it is so short that the prompts for little room are used.
    pub fn is_brief(&self) -> bool {
        self.tokens < BRIEF_STORY
    }
}
