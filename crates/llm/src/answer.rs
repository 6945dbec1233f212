//! What a model answered.

use serde::Deserialize;
use serde::Serialize;

/// Why the model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// It was done.
    End,
    /// It ran into its limit.
    Length,
    /// It, or a filter, refused.
    Refusal,
    /// It called a tool instead of answering, or besides.
    ToolCall,
    /// For another reason, or for none that was given.
    Other,
}

/// Tokens that a request cost, as the provider reported them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens of the prompt, cached ones included.
    pub input: u64,
    /// Of these, read from the provider's cache.
    pub cache_read: u64,
    /// Of these, written to the provider's cache.
    pub cache_write: u64,
    /// Tokens of the answer, reasoning included.
    pub output: u64,
}

impl Usage {
    /// Everything together.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// What it says.
    pub text: String,
    /// Why it ends.
    pub stop: Stop,
    /// What it cost, where the provider said so.
    pub usage: Option<Usage>,
    /// The model that answered, as the provider names it.
    pub served_by: Option<String>,
}
