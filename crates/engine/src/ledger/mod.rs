//! The ledger: what an agent has to know of its history, folded message by message.
//!
//! A [`Ledger`] is a state. It takes one message at a time and never looks back, so that a thousand messages folded
//! at once, one by one, or across restarts give the same bytes. Every entry knows its message and its author, and the
//! author decides what an entry may become: only the person's own words make their decisions, constraints and
//! obligations; what a tool says is a reading of that tool. Messages come in redacted.

pub mod conversation;
pub(crate) mod credentials;
pub(crate) mod deeds;
pub mod entry;
pub mod evidence;
pub(crate) mod facts;
pub(crate) mod frame;
mod lost_lines;
pub mod memory;
pub mod page;
pub mod quote;
pub mod scribe;
pub mod section;
pub mod source_mark;
pub(crate) mod statements;
pub(crate) mod steps;
mod view_line;

use serde::Deserialize;
use serde::Serialize;

use crate::ledger::conversation::ConversationLog;
use crate::ledger::credentials::Credentials;
use crate::ledger::deeds::Deeds;
use crate::ledger::entry::Entry;
use crate::ledger::facts::Facts;
use crate::ledger::facts::ReplacedValue;
use crate::ledger::statements::Statements;
use crate::transcript::Author;
use crate::transcript::Message;

/// What is known of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    folded: u32,
    facts: Facts,
    statements: Statements,
    #[serde(default)]
    conversation: ConversationLog,
    deeds: Deeds,
    credentials: Credentials,
}

impl Ledger {
    /// Takes in the next message.
    pub fn fold(&mut self, message: &Message) {
        let index = self.folded;
        self.folded += 1;
        self.conversation.fold(index, message);
        self.statements.fold(index, message, &mut self.facts);
        self.mark_replaced(index);
        self.deeds.fold(index, message, &mut self.facts);
        // Readings of tools replace each other without a word of anybody's.
        drop(self.facts.take_replaced());
        for shown in self.deeds.done() {
            self.statements.close_by_deed(index, &shown.words);
        }
    }

    /// Marks the sentences whose values this message replaced.
    fn mark_replaced(&mut self, index: u32) {
        let replaced = self.facts.take_replaced();
        let is_spoken = |value: &&ReplacedValue| matches!(value.author, Author::User | Author::Assistant);
        // Within one message another value of a name is another line of a list or a configuration.
        let is_earlier = |value: &&ReplacedValue| value.message != index;
        for value in replaced.iter().filter(is_spoken).filter(is_earlier) {
            self.conversation.note_replaced(value, index);
        }
    }

    /// What was said, in order.
    pub fn conversation(&self) -> &ConversationLog {
        &self.conversation
    }

    /// How many messages were taken in.
    pub fn folded(&self) -> u32 {
        self.folded
    }

    /// Values that no longer hold, each with the one that does.
    pub fn replaced(&self) -> impl Iterator<Item = (&Entry, Option<&Entry>)> {
        self.facts.replaced()
    }

    /// Every entry: statements, facts, then what was done.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.statements
            .entries()
            .chain(self.facts.entries())
            .chain(self.deeds.entries())
            .chain(self.credentials.entries())
    }

    /// What was done, and what went wrong.
    pub fn deeds(&self) -> &Deeds {
        &self.deeds
    }

    /// Takes in what redaction hid in a text of the message that comes next.
    pub fn note_hidden(&mut self, raw: &str, clean: &str, author: Author) {
        self.credentials.fold(raw, clean, author, self.folded);
    }
}
