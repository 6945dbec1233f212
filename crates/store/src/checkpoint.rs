//! Checkpoints: what one compaction took in, gave out and dropped.
//!
//! A checkpoint's id is the beginning of its seal, so an id leads to exactly what was written under it or to an error.
//! Order is the order of appending; times are the host's and may run backwards.

use std::fmt;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transform;
use serde::Deserialize;
use serde::Serialize;

use crate::seal;
use crate::seal::Hash;

/// How many bytes of the seal are the id: 64 bits, so that among a million checkpoints two alike are not to be expected.
const ID_BYTES: usize = 8;

/// The name of a checkpoint. Comes from [`crate::Store::append`], [`crate::Store::checkpoints`] or
/// [`crate::Store::find_checkpoint`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct CheckpointId(pub(crate) String);

impl CheckpointId {
    /// The id as text: sixteen hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn of_seal(seal: &Hash) -> Self {
        CheckpointId(seal::hex(&seal[..ID_BYTES]))
    }
}

impl fmt::Display for CheckpointId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A compaction to be kept.
#[derive(Clone, Debug)]
pub struct NewCheckpoint<'a> {
    /// The host's key of the conversation.
    pub conversation: &'a str,
    /// The path or name it was read from.
    pub source: &'a str,
    /// The format it was read in.
    pub format: &'a str,
    /// The form it is written in.
    pub form: &'a str,
    /// The model it is for.
    pub model: Option<&'a str>,
    /// When, by the host's clock.
    pub created: Timestamp,
    /// The document that came in, in consecutive chunks; together they are its exact bytes. Chunks should be cut where
    /// messages begin: chunks the store has seen before cost nothing.
    pub original: &'a [&'a [u8]],
    /// The document that goes out, in the same way.
    pub result: &'a [&'a [u8]],
    /// What was replaced or removed, in order.
    pub dropped: &'a [NewDropped<'a>],
    /// What it cost and gained.
    pub metrics: Metrics,
    /// The plan, as JSON text.
    pub plan: &'a str,
    /// The prompts that were used, by name and hash.
    pub prompts: &'a [(&'a str, &'a str)],
    /// The version of the engine.
    pub engine_version: &'a str,
    /// What the ledger knows now, by name.
    pub ledgers: &'a [NewLedger<'a>],
}

impl<'a> NewCheckpoint<'a> {
    /// An empty checkpoint of a conversation, to be filled in.
    pub fn new(conversation: &'a str, created: Timestamp) -> Self {
        NewCheckpoint {
            conversation,
            source: "",
            format: "",
            form: "",
            model: None,
            created,
            original: &[],
            result: &[],
            dropped: &[],
            metrics: Metrics::default(),
            plan: "{}",
            prompts: &[],
            engine_version: "",
            ledgers: &[],
        }
    }
}

/// A ledger state to keep.
#[derive(Clone, Copy, Debug)]
pub struct NewLedger<'a> {
    /// The name under which it is looked for.
    pub name: &'a str,
    /// The state, as the engine writes it.
    pub state: &'a [u8],
}

/// Something a compaction replaced or removed.
#[derive(Clone, Copy, Debug)]
pub struct NewDropped<'a> {
    /// The reference by which it can be fetched. The same one may come again with the same text.
    pub reference: &'a str,
    /// The original text.
    pub text: &'a str,
    /// The message it stood in.
    pub message: usize,
    /// The part of that message.
    pub part: usize,
    /// The message's role.
    pub role: Role,
    /// Who wrote it.
    pub author: Author,
    /// The tool it belongs to.
    pub tool: Option<&'a str>,
    /// What happened to it.
    pub action: &'a str,
    /// Its tokens.
    pub tokens: u64,
    /// Whether it tells of a failure. Failures are found before other tool output.
    pub failed: bool,
}

impl<'a> From<&'a transform::Dropped> for NewDropped<'a> {
    fn from(dropped: &'a transform::Dropped) -> Self {
        Self {
            reference: &dropped.reference,
            text: &dropped.text,
            message: dropped.spot.message as usize,
            part: dropped.spot.part as usize,
            role: dropped.role,
            author: dropped.author,
            tool: dropped.tool.as_deref(),
            action: dropped.action.name(),
            tokens: dropped.tokens,
            failed: dropped.failed,
        }
    }
}

/// Something a compaction replaced or removed, as it was kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// The reference by which it can be fetched.
    pub reference: String,
    /// The original text.
    pub text: String,
    /// The message it stood in.
    pub message: usize,
    /// The part of that message.
    pub part: usize,
    /// The message's role.
    pub role: Role,
    /// Who wrote it.
    pub author: Author,
    /// The tool it belongs to.
    pub tool: Option<String>,
    /// What happened to it.
    pub action: String,
    /// Its tokens.
    pub tokens: u64,
    /// Whether it tells of a failure.
    pub failed: bool,
}

/// What a compaction cost and gained. The host counts; the store adds up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metrics {
    /// How it was done: `prune`, `ledger`, `summary`, `hybrid`. Anything but `prune` counts as a full pass.
    pub mode: String,
    /// Why it was done.
    pub trigger: String,
    /// Tokens that came in.
    pub tokens_before: u64,
    /// Tokens that go out.
    pub tokens_after: u64,
    /// Messages that came in.
    pub messages_before: u64,
    /// Messages that go out.
    pub messages_after: u64,
    /// Turns of the conversation so far, earlier compactions included: the figure only ever grows.
    pub turns: u64,
    /// The first message that changed; before it, the provider's prompt cache still holds.
    pub earliest_changed: Option<u64>,
    /// Tokens of the summary that a model wrote; none without one.
    pub summary_tokens: u64,
    /// Calls to a summarising model.
    pub summary_calls: u64,
    /// Tokens that those calls took and gave.
    pub auxiliary_tokens: u64,
    /// Prompt tokens the conversation has sent since its last checkpoint, as far as the host knows.
    pub prompt_tokens: u64,
    /// How long it took.
    pub duration_ms: u64,
}

/// A checkpoint as lists show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckpointRow {
    /// Its name.
    pub id: CheckpointId,
    /// The host's key of the conversation.
    pub conversation: String,
    /// The path or name it was read from.
    pub source: String,
    /// The format it was read in.
    pub format: String,
    /// The form it is written in.
    pub form: String,
    /// The model it is for.
    pub model: Option<String>,
    /// When, by the host's clock.
    pub created: Timestamp,
    /// Bytes that came in.
    pub original_size: u64,
    /// Bytes that went out.
    pub result_size: u64,
    /// How many texts were replaced or removed.
    pub dropped: usize,
    /// What it cost and gained.
    pub metrics: Metrics,
}

/// A checkpoint with everything but its documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Checkpoint {
    /// What lists show.
    pub row: CheckpointRow,
    /// The plan, as JSON text.
    pub plan: String,
    /// The prompts that were used, by name and hash.
    pub prompts: Vec<(String, String)>,
    /// The version of the engine.
    pub engine_version: String,
}
