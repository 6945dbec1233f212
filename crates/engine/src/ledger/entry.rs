//! One line of the ledger: what is known, since when, from whom, and whether it still holds.

use serde::Deserialize;
use serde::Serialize;

use crate::transcript::Author;

/// What an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A rule of the person's that holds until they lift it; kept in their own words.
    Constraint,
    /// What was decided, with the reason where one was given.
    Decision,
    /// Something that somebody promised or was asked to do.
    Obligation,
    /// A question that waits for an answer.
    Question,
    /// A value of something: subject, attribute, value.
    Fact,
    /// A step of a plan or todo list.
    Task,
    /// A file that was read, changed, created, deleted or renamed.
    File,
    /// A command that was run, how often, and how it ended last.
    Command,
    /// Something that went wrong.
    Error,
    /// A credential that was seen, by its reference.
    Credential,
}

impl Kind {
    /// All kinds, in the order in which reports list them.
    pub const ALL: [Kind; 10] = [
        Kind::Constraint,
        Kind::Decision,
        Kind::Obligation,
        Kind::Question,
        Kind::Fact,
        Kind::Task,
        Kind::File,
        Kind::Command,
        Kind::Error,
        Kind::Credential,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Constraint => "constraint",
            Kind::Decision => "decision",
            Kind::Obligation => "obligation",
            Kind::Question => "question",
            Kind::Fact => "fact",
            Kind::Task => "task",
            Kind::File => "file",
            Kind::Command => "command",
            Kind::Error => "error",
            Kind::Credential => "credential",
        }
    }
}

/// Whether an entry still holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// A fact, decision or constraint that holds; a file, a command, a credential.
    Current,
    /// Replaced by something newer, or taken back.
    Superseded,
    /// An obligation, task, question or error that is not settled.
    Open,
    /// An obligation or task that was done, a question that was answered, an error that went away.
    Closed,
    /// Put forward, not agreed to.
    Proposed,
}

impl Status {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Status::Current => "current",
            Status::Superseded => "superseded",
            Status::Open => "open",
            Status::Closed => "closed",
            Status::Proposed => "proposed",
        }
    }
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// What it is about.
    pub kind: Kind,
    /// What it is known by: `subject · attribute` of a fact, the path of a file, the normalised words of a statement.
    pub key: Box<str>,
    /// What it says. Statements of the person are verbatim.
    pub value: Box<str>,
    /// Whether it still holds.
    pub status: Status,
    /// Whose words or doing it is. A tool's text is never the person's, whoever asked for it.
    pub author: Author,
    /// The message where it came up.
    pub first: u32,
    /// The message that last confirmed or changed it.
    pub last: u32,
    /// How often it was seen.
    pub times: u32,
    /// More about it: a decision's reason, what replaced a value, an answer, a command's last outcome.
    pub note: Option<Box<str>>,
}

impl Entry {
    /// Whether a decision is read out of a yes: its words are the agent's, and only the exchange says what was agreed to.
    pub fn is_by_consent(&self) -> bool {
        let words = ["agreed to", "chosen from"];
        self.note
            .as_deref()
            .is_some_and(|note| words.iter().any(|word| note.starts_with(word)))
    }

    /// Whether a fact was computed from a call or a result: nobody said it, so that there are no words to quote.
    pub fn is_computed(&self) -> bool {
        self.kind == Kind::Fact && (self.author == Author::Tool || self.note.is_none())
    }

    /// An entry that came up in one message.
    pub fn new(kind: Kind, key: &str, value: &str, status: Status, author: Author, message: u32) -> Self {
        Self {
            kind,
            key: key.into(),
            value: value.into(),
            status,
            author,
            first: message,
            last: message,
            times: 1,
            note: None,
        }
    }

    /// The same entry with a note.
    pub fn with_note(mut self, note: &str) -> Self {
        self.note = Some(note.into());
        self
    }
}
