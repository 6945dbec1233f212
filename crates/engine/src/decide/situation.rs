//! What the host knows at the time of a pass.

use crate::account::CountedTokens;
use crate::account::ProviderTokens;
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

/// Which structure a provider accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderForm {
    /// OpenAI Chat Completions: tool messages right behind the assistant message they answer.
    Chat,
    /// OpenAI Responses: every output has a call before it, every call an output.
    Responses,
    /// Anthropic Messages: results first in the next user message; the first message is the user's.
    Anthropic,
}

/// What a provider's form and server demand of a conversation. `wire` knows them for each form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderRules {
    /// The structure that is accepted.
    pub form: ProviderForm,
    /// The role in which a block goes out: the form decides where instructions may stand.
    pub block_role: Role,
    /// How the provider treats old reasoning.
    pub reasoning: ReasoningRule,
    /// What the server wants of the order of roles.
    pub roles: Roles,
}

/// What the host knows at the time of a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Situation {
    /// The size of the next prompt: reported or calibrated, else counted.
    pub prompt: ProviderTokens,
    /// Tokens of the prompt per token counted.
    pub scale: f64,
    /// Whether somebody asked for a compaction, due or not.
    pub forced: bool,
    /// How far below a target to aim, where an earlier attempt just missed it.
    pub margin: u64,
    /// What the provider demands.
    pub rules: ProviderRules,
}

impl Situation {
    /// The size of the prompt without so many counted tokens.
    pub fn prompt_without(&self, saved: CountedTokens) -> ProviderTokens {
        let saved = (saved.0 as f64 * self.scale) as u64;
        ProviderTokens(self.prompt.0.saturating_sub(saved))
    }
}
