//! How one run of a command ended, with the line that tells it.

use super::records::CommandEnding;

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It did what it should; this is what came of it, where it says so.
    Well(String),
    /// It failed, and this tells why.
    Badly(String),
    /// Nothing says how it ended, but its output shows this failure.
    Shows(String),
    /// It ended; how, nobody says.
    Ended,
    /// It goes on.
    Running,
    /// Its result never came.
    Unknown,
}

impl End {
    /// What is recorded of it.
    pub(super) fn ending(&self) -> CommandEnding {
        match self {
            End::Well(_) => CommandEnding::Ok,
            End::Badly(_) => CommandEnding::Failed,
            End::Shows(_) => CommandEnding::ShowsFailures,
            End::Ended => CommandEnding::Ended,
            End::Running => CommandEnding::Running,
            End::Unknown => CommandEnding::Unknown,
        }
    }

    /// The line that tells how it ended; empty where there is none.
    pub(super) fn telling(&self) -> &str {
        match self {
            End::Well(line) | End::Badly(line) | End::Shows(line) => line,
            End::Ended | End::Running | End::Unknown => "",
        }
    }
}
