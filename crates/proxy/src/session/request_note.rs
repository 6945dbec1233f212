//! The action that was taken for a request, and why, for headers, logs and metrics. Holds no content.

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestAction {
    /// It went out as it came: nothing had to be done.
    #[default]
    Nothing,
    /// Its beginning went out as an earlier pass has left it.
    KnownPrefix,
    /// Giant tool results in it went out in a smaller form, and nothing else was changed.
    Trimmed,
    /// A pass was made for it.
    Compacted,
    /// It was repaired: its calls and results did not belong together.
    Repaired,
    /// It was passed through: its history is on the provider's side, or it is of no form that we know.
    PassedThrough,
    /// Something should have been done and could not be; it went out as it came.
    FailedOpen,
}

impl RequestAction {
    /// Its name in headers, logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            RequestAction::Nothing => "none",
            RequestAction::KnownPrefix => "known-prefix",
            RequestAction::Trimmed => "trimmed",
            RequestAction::Compacted => "compacted",
            RequestAction::Repaired => "repaired",
            RequestAction::PassedThrough => "passed-through",
            RequestAction::FailedOpen => "failed-open",
        }
    }
}

/// What was done with a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestNote {
    /// What was done.
    pub deed: RequestAction,
    /// Why, in a few words without content; for [`RequestAction::FailedOpen`] what went wrong.
    pub reason: Option<String>,
    /// The conversation, as the store calls it.
    pub conversation: Option<String>,
    /// The model that the request names.
    pub model: Option<String>,
    /// The prompt's tokens as it came, as far as they are counted.
    pub tokens_before: Option<u64>,
    /// The prompt's tokens as it goes out.
    pub tokens_after: Option<u64>,
    /// The window it is held against.
    pub window: Option<u64>,
    /// The checkpoint in force.
    pub checkpoint: Option<String>,
    /// Levels of pressure that this prompt reached first, mildest first.
    pub pressure: Vec<&'static str>,
    /// How many tool results were shrunk at insertion, in all of the prompt.
    pub trimmed: u64,
}
