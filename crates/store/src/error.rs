//! Why the store could not do what was asked.

use std::path::Path;
use std::path::PathBuf;

use rusqlite::ErrorCode;

/// What went wrong. Nothing was written when an operation gives one of these, except where it says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no store, and none was to be made.
    #[error("no store at {}; `mainstay compact` makes one", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The path is no safe place for a store, or holds something else.
    #[error("store {}: {reason}", path.display())]
    Refused {
        /// The path that was given.
        path: PathBuf,
        /// Why it is refused.
        reason: String,
    },
    /// A newer Mainstay wrote this store.
    #[error("store {}: written by a newer version (format {found}, this program knows {known}); left as it is", path.display())]
    Newer {
        /// The store.
        path: PathBuf,
        /// The format it has.
        found: i64,
        /// The newest format known here.
        known: i64,
    },
    /// The file system refused.
    #[error("store {}: {cause}", path.display())]
    Io {
        /// What was being touched.
        path: PathBuf,
        /// What it said.
        cause: std::io::Error,
    },
    /// The disk is full.
    #[error("no space left for the store; nothing was written, and what it holds is still readable")]
    Full,
    /// The store cannot be written.
    #[error("the store is read-only here: its file or its directory cannot be written")]
    ReadOnly,
    /// Another process held the store for too long.
    #[error("another process keeps the store locked")]
    Busy,
    /// The content is not what was written.
    #[error("the store is damaged: {what}")]
    Damaged {
        /// Where the damage showed.
        what: String,
    },
    /// No checkpoint has this id.
    #[error("no checkpoint {wanted:?}")]
    NoSuchCheckpoint {
        /// What was asked for.
        wanted: String,
    },
    /// Several checkpoints begin like this.
    #[error("{wanted:?} is the beginning of several checkpoints: {}", matches.join(", "))]
    Ambiguous {
        /// What was asked for.
        wanted: String,
        /// Some of the ids that begin with it.
        matches: Vec<String>,
    },
    /// No conversation has this key.
    #[error("no conversation {wanted:?}")]
    NoSuchConversation {
        /// What was asked for.
        wanted: String,
    },
    /// Several conversations begin like this.
    #[error("{wanted:?} is the beginning of several conversations: {}", matches.join(", "))]
    AmbiguousConversation {
        /// What was asked for.
        wanted: String,
        /// Some of the keys that begin with it.
        matches: Vec<String>,
    },
    /// A reference already stands for other content.
    #[error("reference {reference:?} already stands for other content")]
    ReferenceTaken {
        /// The reference.
        reference: String,
    },
    /// The database failed in another way.
    #[error("the store's database: {0}")]
    Database(rusqlite::Error),
}

impl StoreError {
    pub(crate) fn refused(path: &Path, reason: impl Into<String>) -> Self {
        StoreError::Refused {
            path: path.to_owned(),
            reason: reason.into(),
        }
    }

    pub(crate) fn io(path: &Path, cause: std::io::Error) -> Self {
        match cause.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => StoreError::Full,
            std::io::ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly,
            _ => StoreError::Io {
                path: path.to_owned(),
                cause,
            },
        }
    }

    pub(crate) fn no_conversation(wanted: &str) -> Self {
        StoreError::NoSuchConversation {
            wanted: wanted.to_owned(),
        }
    }

    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        StoreError::Damaged { what: what.into() }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(cause: rusqlite::Error) -> Self {
        use rusqlite::Error;
        match &cause {
            Error::SqliteFailure(failure, _) => match failure.code {
                ErrorCode::DiskFull => StoreError::Full,
                ErrorCode::ReadOnly => StoreError::ReadOnly,
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::Busy,
                ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => StoreError::damaged(cause.to_string()),
                _ => StoreError::Database(cause),
            },
            // Columns are strictly typed when they are written: another type in them is damage.
            Error::FromSqlConversionFailure(..)
            | Error::InvalidColumnType(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::Utf8Error(..)
            | Error::QueryReturnedNoRows => StoreError::damaged(cause.to_string()),
            _ => StoreError::Database(cause),
        }
    }
}
