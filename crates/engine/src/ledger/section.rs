//! The sections of a block's page: their headings, and which entry is listed where.

use crate::ledger::entry::Entry;
use crate::ledger::entry::Kind;
use crate::ledger::entry::Status;
use crate::transcript::Author;

/// The sections of a page, in the order in which they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// The person's rules.
    Constraints,
    /// What was decided.
    Decisions,
    /// What somebody still has to do.
    Obligations,
    /// What waits for an answer.
    Questions,
    /// Values that hold.
    Facts,
    /// Values that do not hold any more.
    Superseded,
    /// The plan.
    Tasks,
    /// Files.
    Files,
    /// Commands.
    Commands,
    /// Commits, branches, pull requests.
    Commits,
    /// What went wrong.
    Errors,
    /// Rows of data that differ from their neighbours.
    OddRows,
    /// Credentials by reference.
    Credentials,
}

impl Section {
    /// All sections, in the order in which they stand.
    pub const ALL: [Section; 13] = [
        Section::Constraints,
        Section::Decisions,
        Section::Obligations,
        Section::Questions,
        Section::Facts,
        Section::Superseded,
        Section::Tasks,
        Section::Files,
        Section::Commands,
        Section::Commits,
        Section::Errors,
        Section::OddRows,
        Section::Credentials,
    ];

    /// Its heading.
    pub fn heading(self) -> &'static str {
        match self {
            Section::Constraints => "Constraints",
            Section::Decisions => "Decisions",
            Section::Obligations => "Obligations",
            Section::Questions => "Unresolved questions",
            Section::Facts => "Active facts",
            Section::Superseded => "Superseded facts",
            Section::Tasks => "Tasks",
            Section::Files => "Files",
            Section::Commands => "Commands",
            Section::Commits => "Commits",
            Section::Errors => "Errors",
            Section::OddRows => "Odd rows",
            Section::Credentials => "Credential refs",
        }
    }

    /// Where an entry is listed; `None` for what is settled, and for what only certain words may say: questions, promises and proposals
    /// come from the conversation.
    pub fn of(entry: &Entry) -> Option<Section> {
        match (entry.kind, entry.status) {
            (Kind::Fact, Status::Superseded) if entry.author == Author::Tool => Some(Section::Superseded),
            (_, Status::Superseded | Status::Proposed) => None,
            (Kind::Constraint, _) => Some(Section::Constraints),
            (Kind::Decision, _) if entry.author != Author::User || entry.is_by_consent() => None,
            (Kind::Decision, _) => Some(Section::Decisions),
            (Kind::Obligation | Kind::Question, _) => None,
            (Kind::Fact, _) => Some(Section::Facts),
            (Kind::Task, Status::Closed) => None,
            (Kind::Task, _) => Some(Section::Tasks),
            (Kind::File, _) => Some(Section::Files),
            (Kind::Command, _) => Some(Section::Commands),
            (Kind::Error, Status::Closed) => None,
            (Kind::Error, _) => Some(Section::Errors),
            (Kind::Credential, _) => Some(Section::Credentials),
        }
    }
}
