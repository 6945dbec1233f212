//! Compactions that the source itself recorded: somebody else's, before we came.

use serde::Deserialize;
use serde::Serialize;

use crate::transcript::message::Timestamp;

/// A compaction recorded in a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionEvent {
    /// It happened before the message at this index (or after the last one).
    pub before: usize,
    /// What it did.
    pub kind: CompactionKind,
    /// Who asked for it.
    pub trigger: Trigger,
    /// The context's size before, as recorded.
    pub tokens_before: Option<u64>,
    /// The context's size after, as recorded.
    pub tokens_after: Option<u64>,
    /// The message that holds the summary it wrote, when that message is part of the transcript.
    pub summary: Option<usize>,
    /// When it happened.
    pub at: Option<Timestamp>,
}

/// What a recorded compaction did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionKind {
    /// Older messages were replaced by a summary.
    Summary,
    /// Older messages were left out, and nothing stands in for them.
    Truncation,
    /// Old tool results were cleared in place.
    Clearing,
    /// The provider compacted into a sealed item.
    Sealed,
}

/// Who asked for a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// The agent, by its own rule.
    Automatic,
    /// The user.
    Manual,
    /// The source does not say.
    Unstated,
}
