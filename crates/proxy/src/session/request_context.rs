//! What is known of one request once its conversation was recognised.

use mainstay_engine::account::Budget;
use mainstay_engine::account::Fit;
use mainstay_llm::profile::Client;
use mainstay_wire::reading::WireForm;

use crate::session::RequestNote;
use crate::session::model_registry::KnownModel;
use crate::session::parsed_request::ParsedRequest;
use crate::session::session_cache::SharedConversation;

/// Tokens of what stands around a chain, as counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct PrefaceTokens {
    pub instructions: u64,
    pub tools: u64,
}

impl PrefaceTokens {
    pub fn total(self) -> u64 {
        self.instructions + self.tools
    }
}

/// What is known of a request before anything is decided.
#[derive(Clone)]
pub struct RequestContext {
    pub taken: ParsedRequest,
    pub shared: SharedConversation,
    pub model: String,
    pub known: KnownModel,
    pub budget: Budget,
    pub preface: PrefaceTokens,
    pub client: Client,
    /// What a count means to the provider, where it has just told us.
    pub fit: Option<Fit>,
}

impl RequestContext {
    /// What a count means to the provider.
    pub fn fit(&self) -> Fit {
        self.fit.unwrap_or_else(|| self.known.fit())
    }

    /// A note in which nothing was done yet.
    pub fn note(&self) -> RequestNote {
        RequestNote {
            model: Some(self.model.clone()),
            window: Some(self.budget.window),
            ..RequestNote::default()
        }
    }
}

/// Only agents that mark their prompts for the cache themselves are like Claude Code.
pub fn client_of(taken: &ParsedRequest) -> Client {
    let is_marked = memchr::memmem::find(&taken.body, b"cache_control").is_some();
    match taken.form {
        WireForm::Anthropic if is_marked => Client::ClaudeCode,
        _ => Client::Mainstay,
    }
}
