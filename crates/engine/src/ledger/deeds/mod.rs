//! What was done: files, commands, errors, tasks and configured values, from tool calls and their results.

use serde::Deserialize;
use serde::Serialize;

use crate::ledger::entry::Entry;
use crate::ledger::facts::Facts;
use crate::transcript::Message;

/// What was done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deeds {
    entries: Vec<Entry>,
}

impl Deeds {
    /// Takes in the calls and results of a message.
    pub fn fold(&mut self, _index: u32, _message: &Message, _facts: &mut Facts) {}

    /// Tasks, files, commands and errors, each kind in the order in which it was last touched.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }
}
