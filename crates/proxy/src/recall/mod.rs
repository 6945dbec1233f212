//! Recall for agents: what was compacted away, asked for by the agent that needs it again. Nothing here knows how a question
//! came in.
//!
//! What comes out is what somebody said or a tool printed earlier. It comes without secrets, unless the operator shows
//! them, and framed so that it cannot pass for anything but a quotation. Answers are bounded and say how to go on. The store
//! is opened for every question, only where there is one, and nothing in it changes.

mod arguments;
mod checkpoints;
mod dropped;
mod error;
mod fetch;
mod ledger;
mod offer;
mod page;
pub(crate) mod quote;
pub(crate) mod recall_store;
mod search;
mod tool;

use std::path::PathBuf;

use mainstay_session::Redaction;
use serde_json::Map;
use serde_json::Value;

use crate::recall::recall_store::RecallStore;

pub use error::RecallError;
pub use offer::OFFERED;
pub use offer::definition;
pub use tool::RecallTool;

/// What an agent may ask about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecallScope {
    /// Everything in the store.
    Everything,
    /// One conversation: its key, or how that begins.
    Conversation(String),
}

/// An answer to one question.
#[derive(Clone, Debug, PartialEq)]
pub struct RecallAnswer {
    /// For a model to read.
    pub text: String,
    /// The same for a program: an object.
    pub structured: Value,
}

/// Answers questions about what was compacted away.
#[derive(Clone, Debug)]
pub struct Recall {
    store: PathBuf,
    redaction: Redaction,
    scope: RecallScope,
}

impl Recall {
    /// Over the store at a path, which need not be there yet.
    pub fn new(store: PathBuf, redaction: Redaction, scope: RecallScope) -> Self {
        Self {
            store,
            redaction,
            scope,
        }
    }

    /// Uses a tool. The error is for whoever called it: it says what to do instead.
    pub fn call(&self, tool: RecallTool, arguments: &Map<String, Value>) -> Result<RecallAnswer, RecallError> {
        let asked = arguments::read(tool, arguments)?;
        let desk = self.open()?;
        match asked {
            arguments::Asked::Search(asked) => search::search(&desk, &asked),
            arguments::Asked::Fetch(asked) => fetch::fetch(&desk, &asked),
            arguments::Asked::Ledger(asked) => ledger::ledger(&desk, &asked),
            arguments::Asked::Checkpoints(asked) => checkpoints::checkpoints(&desk, &asked),
            arguments::Asked::Dropped(asked) => dropped::dropped(&desk, &asked),
        }
    }

    /// Whether there is a store to ask, and it holds the conversation that the scope names; for a host that wants to say so
    /// early.
    pub fn check(&self) -> Result<(), RecallError> {
        self.open().map(drop)
    }

    /// What answers a call of the one tool of [`definition`], in this conversation and no other. What went wrong is an answer
    /// too.
    pub fn answer(&self, conversation: &str, input: &str) -> String {
        let answered = offer::read(input).and_then(|asked| {
            let desk = RecallStore::open(&self.store, self.redaction)?.within(conversation);
            match asked {
                offer::Asked::Words(asked) => search::search(&desk, &asked),
                offer::Asked::Reference(asked) => fetch::fetch(&desk, &asked),
            }
        });
        match answered {
            Ok(answer) => answer.text,
            Err(error) => error.to_string(),
        }
    }

    fn open(&self) -> Result<RecallStore, RecallError> {
        let desk = RecallStore::open(&self.store, self.redaction)?;
        match &self.scope {
            RecallScope::Everything => Ok(desk),
            RecallScope::Conversation(beginning) => {
                let key = desk.store.find_conversation(beginning)?;
                Ok(desk.within(&key))
            }
        }
    }
}

#[cfg(test)]
#[path = "recall_tests.rs"]
mod tests;
