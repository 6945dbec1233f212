//! What a policy did to a session: the prompts it would have sent, and its passes.

use mainstay_engine::economy::Segment;

use crate::retention::Score;

/// One request as the policy sends it: the prompt before, changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// So many segments of the prompt before stay.
    pub keep: usize,
    /// These follow.
    pub added: Vec<Segment>,
    /// The whole prompt, in tokens.
    pub prompt: u64,
    /// When it is sent, in milliseconds since the session began.
    pub at: i64,
    /// The tokens that come back.
    pub output: u64,
}

/// What a pass did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PassKind {
    /// Old outputs became lines; nothing was summarised.
    Prune,
    /// The ledger took the place of the middle.
    Ledger,
    /// A model's summary took its place.
    Summary,
    /// The provider cleared old tool results.
    Clearing,
    /// The agent's own compaction, as recorded.
    Recorded,
}

/// A call that wrote a summary.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct SummaryCall {
    /// Whether the same model was asked behind the conversation's own prompt, so that the cache pays for most of it.
    pub is_in_place: bool,
    /// What the cache has of what it reads.
    pub cached: u64,
    /// The rest of what it reads.
    pub input: u64,
    /// What it writes.
    pub output: u64,
}

/// One pass: history was changed once.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Pass {
    /// The request before which it was made.
    pub request: usize,
    /// What it did.
    pub kind: PassKind,
    /// The prompt's tokens before.
    pub before: u64,
    /// And after.
    pub after: u64,
    /// Tokens of everything that had been said.
    pub said: u64,
    /// The first message of the prompt that it changed.
    pub earliest: usize,
    /// The call that wrote a summary.
    pub summary: Option<SummaryCall>,
    /// What was kept of what the agent went on to use; none where that was too little to ask.
    pub kept: Option<Kept>,
}

/// What was kept of what the agent went on to use.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Kept {
    /// The share of identifiers.
    pub fur: f64,
    /// The share of pairs that stood together; none where there were none.
    pub pair: Option<f64>,
}

impl Kept {
    /// What was lost: the mean over identifiers and pairs, as far as there were any.
    pub fn lost(&self) -> f64 {
        1.0 - self.pair.map_or(self.fur, |pair| (self.fur + pair) / 2.0)
    }
}

impl From<Score> for Kept {
    fn from(score: Score) -> Self {
        Self {
            fur: score.fur,
            pair: score.pair,
        }
    }
}

/// What a policy made of a session.
#[derive(Clone, Debug, Default)]
pub struct Track {
    /// The requests.
    pub steps: Vec<Step>,
    /// The passes, in order.
    pub passes: Vec<Pass>,
    /// Requests whose prompt did not fit the window.
    pub overflowing: usize,
    /// What was kept at the moments at which all policies are asked, in their order; those at which nothing was lost yet
    /// have everything.
    pub kept: Vec<Kept>,
}
