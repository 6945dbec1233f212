//! What the host knows about the moment of a pass.

use crate::decide::seat::Roles;
use crate::transcript::Role;

/// How a provider treats old reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReasoningRule {
    /// Reasoning of finished turns may be left out whole.
    MayDrop,
    /// Reasoning belongs to the item after it and is left alone.
    MustKeep,
}

/// What the host knows about the moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Situation {
    /// The size of the next prompt: reported or calibrated, else counted.
    pub prompt: u64,
    /// Tokens of the prompt per token counted.
    pub scale: f64,
    /// Whether somebody asked for a compaction, due or not.
    pub forced: bool,
    /// How the provider treats old reasoning.
    pub reasoning: ReasoningRule,
    /// How far below a target to aim, where an earlier attempt just missed it.
    pub margin: u64,
    /// The role in which a block goes out: the provider's form decides where instructions may stand.
    pub block_role: Role,
    /// What the server wants of the order of roles.
    pub roles: Roles,
}
