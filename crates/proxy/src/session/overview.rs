//! The status of all sessions for the dashboard: figures and names, no content.

use mainstay_session::Redaction;
use std::path::PathBuf;

use serde::Serialize;

use crate::session::conversation::LiveConversation;
/// Where what was compacted away is kept, and what is hidden of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreLocation {
    /// Where the store is; there need not be one yet.
    pub store: PathBuf,
    /// What is hidden, unless somebody asks for texts as they are.
    pub redaction: Redaction,
}

/// How a conversation goes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionStatus {
    /// Its name in the store.
    pub conversation: String,
    /// The model it was last for.
    pub model: String,
    /// When its first request came, in milliseconds.
    pub began: i64,
    /// When its last one did.
    pub last: i64,
    /// Requests so far.
    pub requests: u64,
    /// Messages that the client sends.
    pub messages: usize,
    /// Tokens of the last prompt, as it went out.
    pub prompt: u64,
    /// What it would have been without us.
    pub prompt_whole: u64,
    /// The window that it is held against.
    pub window: u64,
    /// From where on a pass is due at the latest.
    pub threshold: u64,
    /// Passes that were made.
    pub passes: u64,
    /// The checkpoint in force.
    pub checkpoint: Option<String>,
    /// How many messages it stands for.
    pub covered: usize,
    /// Tool results that go out in a smaller form.
    pub trimmed: usize,
    /// Tokens of all prompts that went out.
    pub prompts: u64,
    /// The same without us.
    pub prompts_whole: u64,
    /// Dollars by the model's prices, where they are known.
    pub cost: f64,
    /// The same without us, as far as can be told.
    pub cost_whole: f64,
    /// Whether a pass is being made or prepared.
    pub is_passing: bool,
    /// Whether one is prepared and not in force yet.
    pub is_prepared: bool,
    /// Why the last pass was made, or why none is.
    pub reason: String,
}

/// How it goes in all.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionsOverview {
    /// When passes are made, in words.
    pub timing: String,
    /// What compacts.
    pub engine: &'static str,
    /// Whether models write summaries.
    pub writes_summaries: bool,
    /// Tool results of more tokens are shrunk.
    pub trim: Option<u64>,
    /// Where the store is.
    pub store: String,
    /// The conversations that are remembered, those last seen first.
    pub sessions: Vec<SessionStatus>,
    /// About how many bytes they take.
    pub memory: usize,
}

impl SessionStatus {
    pub(super) fn of(conversation: &LiveConversation) -> Self {
        let stats = &conversation.stats;
        let replacement = conversation.replacement();
        Self {
            conversation: conversation.name.clone(),
            model: conversation.model.clone(),
            began: stats.began.0,
            last: stats.last.map_or(stats.began.0, |last| last.at.0),
            requests: stats.requests,
            messages: conversation.seen.len(),
            prompt: stats.last.map_or(0, |last| last.prompt),
            prompt_whole: stats.last.map_or(0, |last| last.whole),
            window: stats.window,
            threshold: stats.due_at,
            passes: stats.passes,
            checkpoint: replacement
                .map(|replacement| replacement.checkpoint.clone())
                .filter(|id| !id.is_empty()),
            covered: replacement.map_or(0, |replacement| replacement.covers),
            trimmed: conversation.trims.len(),
            prompts: stats.prompts,
            prompts_whole: stats.prompts_whole,
            cost: stats.cost,
            cost_whole: stats.cost_whole,
            is_passing: conversation.is_passing || conversation.is_preparing,
            is_prepared: conversation.prepared.is_some(),
            reason: stats.reason.clone(),
        }
    }
}
