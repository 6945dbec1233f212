//! What a provider reported about one request, in one vocabulary for all providers.
//!
//! `input` is the whole prompt. Providers differ in whether cached tokens are part of their input figure;
//! the readers settle that, so that `input` always includes `cache_read` and `cache_write`.

use serde::Deserialize;
use serde::Serialize;

/// Token counts reported by a provider for one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Prompt tokens, cached ones included.
    pub input: u64,
    /// Prompt tokens that were read from the provider's cache.
    pub cache_read: u64,
    /// Prompt tokens that were written to the provider's cache.
    pub cache_write: u64,
    /// Tokens the model wrote, reasoning included.
    pub output: u64,
    /// Tokens of reasoning among the output, where the provider tells them apart.
    pub reasoning: u64,
    /// The window of the model, where the source reports it.
    pub window: Option<u64>,
}

impl Usage {
    /// Adds another request's figures to this one; the window is the newer one.
    pub fn add(&mut self, other: &Usage) {
        self.input = self.input.saturating_add(other.input);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.output = self.output.saturating_add(other.output);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
        self.window = other.window.or(self.window);
    }
}
