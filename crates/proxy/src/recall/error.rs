//! Why a question has no answer, in words for the model that asked.

use mainstay_engine::ledger::quote::flat;
use mainstay_store::StoreError;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecallError {
    /// The arguments are not what the tool takes.
    #[error("{tool}: {}", within(why))]
    Arguments {
        /// The tool.
        tool: &'static str,
        /// What is wrong with them, and what would be right.
        why: String,
    },
    /// Nothing is kept under a reference, or another conversation lost it.
    #[error(
        "nothing is kept under the reference {:?}{place}; give it whole, as it stands behind `recall` in a marker, or search by words",
        within(reference)
    )]
    NoReference {
        /// What was asked for.
        reference: String,
        /// Where it was looked for.
        place: &'static str,
    },
    /// There is no such place in a text.
    #[error("{reference} ends at {size}, before the offset {offset}; begin at 0")]
    BehindTheEnd {
        /// The text.
        reference: String,
        /// Its size as it is shown.
        size: usize,
        /// What was asked for.
        offset: u64,
    },
    /// A checkpoint is not one of those that may be asked about.
    #[error(
        "checkpoint {:?} belongs to another conversation; `checkpoints` lists those of this one",
        within(wanted)
    )]
    AnotherConversation {
        /// What was asked for.
        wanted: String,
    },
    /// A conversation without a ledger.
    #[error(
        "no checkpoint of {:?} holds a ledger (its compactions only pruned); search by words, or list what was dropped with `dropped`",
        within(conversation)
    )]
    NoLedger {
        /// The conversation.
        conversation: String,
    },
    /// The ledger of another version.
    #[error(
        "the ledger of {:?} was written by another version of Mainstay; search by words instead",
        within(conversation)
    )]
    UnreadableLedger {
        /// The conversation.
        conversation: String,
    },
    /// Nothing was compacted yet.
    #[error("nothing was compacted yet: the store holds no checkpoint")]
    Empty,
    /// The store could not do what was asked.
    #[error("{}{}", within(&error.to_string()), what_to_do(error))]
    Store {
        /// Why.
        #[source]
        error: StoreError,
    },
}

impl From<StoreError> for RecallError {
    fn from(error: StoreError) -> Self {
        RecallError::Store { error }
    }
}

fn what_to_do(error: &StoreError) -> &'static str {
    match error {
        StoreError::NoSuchConversation { .. } => "; `checkpoints` lists the conversations",
        StoreError::AmbiguousConversation { .. } => "; give more of its key",
        StoreError::NoSuchCheckpoint { .. } => "; `checkpoints` lists them",
        StoreError::Ambiguous { .. } => "; give more of its id",
        StoreError::Busy => "; try again",
        StoreError::Damaged { .. } => "; tell the user, whose store it is",
        _ => "",
    }
}

/// An error says what is wrong in a few lines, whatever it quotes.
const MOST_LETTERS: usize = 400;

/// Text from elsewhere inside of an error: on one line, bounded, and nothing but text.
fn within(text: &str) -> String {
    match text.char_indices().nth(MOST_LETTERS) {
        Some((end, _)) => format!("{}…", flat(&text[..end])),
        None => flat(text),
    }
}
