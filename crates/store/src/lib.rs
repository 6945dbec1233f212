//! The append-only store: every original is kept, and any compaction can be inspected, undone and searched.
//!
//! One SQLite file. A checkpoint is durable when [`Store::append`] returns; a host adopts a compaction only after
//! that. Content is addressed by its hash and compressed, so a conversation that grows costs what is new in it, and
//! every byte is checked against its hash each time it is read. The store reads no clock and no environment: times,
//! keys and references are given by the host.
//!
//! ```
//! use mainstay_engine::transcript::Timestamp;
//! use mainstay_store::{Metrics, NewCheckpoint, Store};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("kept/store.db");
//! let mut store = Store::open(&path)?;
//! let id = store.append(&NewCheckpoint {
//!     original: &[b"first message, ", b"second message"],
//!     result: &[b"second message"],
//!     metrics: Metrics { mode: "prune".into(), ..Metrics::default() },
//!     ..NewCheckpoint::new("conversation 7", Timestamp(1_700_000_000_000))
//! })?;
//! assert_eq!(store.original(&id)?, b"first message, second message");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Not here: how a conversation is read or cut into chunks, what a reference looks like, and any policy.

use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use rusqlite::Connection;

mod error;

mod seal;

mod guard;

mod format;

mod bodies;

mod manifest;

mod checkpoint;

mod loss;

mod kept;

mod words;

mod passages;

mod ledger;

mod append;

mod load;

pub mod memory;

mod snippet;

mod reference;

mod search;

mod stats;

mod conversations;

mod erase;

mod calibration;

mod key;

mod check;

pub mod html;

pub use checkpoint::Checkpoint;
pub use checkpoint::CheckpointId;
pub use checkpoint::CheckpointRow;
pub use checkpoint::Dropped;
pub use checkpoint::Metrics;
pub use checkpoint::NewCheckpoint;
pub use checkpoint::NewDropped;
pub use checkpoint::NewLedger;
pub use erase::Erase;
pub use erase::Erased;
pub use error::StoreError;
pub use ledger::KeptLedger;
pub use loss::Loss;
pub use passages::Fetched;
pub use passages::Mention;
pub use passages::NewTrimmed;
pub use reference::reference_in;
pub use search::Hit;
pub use search::Matched;
pub use search::Scope;
pub use stats::Stats;

/// An open store. Any number of processes may have the same one open.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens the store at a path, and makes one where there is none: the directory for the owner alone, the file too,
    /// whatever the umask.
    ///
    /// Refused, and left as they are: a symbolic link, a directory in which others may write, a file that is no store
    /// of ours, and a store of a newer version.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        format::open(path, guard::Absent::Make)
    }

    /// Opens a store that exists; for commands that must not make one.
    pub fn open_existing(path: &Path) -> Result<Store, StoreError> {
        format::open(path, guard::Absent::Refuse)
    }

    /// Waits for other writers no longer than this from now on; by default for half a minute.
    pub fn wait_at_most(&self, patience: Duration) -> Result<(), StoreError> {
        Ok(self.connection.busy_timeout(patience)?)
    }

    /// A number that changes when somebody else has written: until then, what was not there is not there.
    pub fn foreign_writes(&self) -> Result<i64, StoreError> {
        Ok(self
            .connection
            .pragma_query_value(None, "data_version", |row| row.get(0))?)
    }

    /// Where the store is, links in its directory resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
