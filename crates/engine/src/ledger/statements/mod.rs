//! What people and the model said: constraints, decisions, obligations, questions and facts, by patterns that are data.

use serde::Deserialize;
use serde::Serialize;

use crate::ledger::entry::Entry;
use crate::ledger::facts::Facts;
use crate::transcript::Message;

/// What was said so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statements {
    entries: Vec<Entry>,
}

impl Statements {
    /// Takes in what a message says.
    pub fn fold(&mut self, _index: u32, _message: &Message, _facts: &mut Facts) {}

    /// Constraints, decisions, obligations and questions, in the order in which they came up.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }
}
