//! Why a source could not be read at all. Anything less is a finding.

use std::path::Path;

/// A source that could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The disk or the stream failed.
    #[error("{name}: {cause}")]
    Io {
        /// What was being read.
        name: String,
        /// What went wrong.
        cause: std::io::Error,
    },
    /// The database failed.
    #[error("{name}: database: {cause}")]
    Database {
        /// What was being read.
        name: String,
        /// What went wrong.
        cause: rusqlite::Error,
    },
    /// The source is readable, but holds no conversation of a kind we know.
    #[error("{name}: {reason}")]
    Refused {
        /// What was being read.
        name: String,
        /// Why it is refused.
        reason: String,
    },
    /// The source holds several conversations, and not the one that was asked for.
    #[error("{name}: no conversation {wanted:?} in it; it holds {have}")]
    NoSuchSession {
        /// What was being read.
        name: String,
        /// The id that was asked for.
        wanted: String,
        /// The ids it holds, shortened.
        have: String,
    },
    /// A format name that does not exist.
    #[error("unknown format {wanted:?}; known: {known}")]
    UnknownFormat {
        /// The name that was given.
        wanted: String,
        /// The names that exist.
        known: String,
    },
}

impl ReadError {
    /// The disk or the stream failed.
    pub fn io(path: &Path, cause: std::io::Error) -> Self {
        ReadError::Io {
            name: path.display().to_string(),
            cause,
        }
    }

    /// The database failed.
    pub fn database(name: &str, cause: rusqlite::Error) -> Self {
        ReadError::Database {
            name: name.to_owned(),
            cause,
        }
    }

    /// Nothing in it that can be read as a conversation.
    pub fn refused(name: &str, reason: impl Into<String>) -> Self {
        ReadError::Refused {
            name: name.to_owned(),
            reason: reason.into(),
        }
    }
}
