//! The store's key: what makes its credential references and frames its own.
//!
//! It is made once, from the database's random source, and never leaves the store but for the engine's use. Whoever lacks
//! it can neither confirm a guessed secret by its reference nor forge a frame.

use rusqlite::OptionalExtension;

use crate::Store;
use crate::error::StoreError;
use crate::seal::Hash;
use crate::seal::Seal;

fn seal_of(bytes: &[u8]) -> Hash {
    Seal::new("key").bytes(bytes).finish()
}

impl Store {
    /// The key; made when it is asked for the first time.
    pub fn key(&mut self) -> Result<[u8; 32], StoreError> {
        if let Some(key) = self.kept_key()? {
            return Ok(key);
        }
        let fresh: Vec<u8> = self
            .connection
            .query_row("SELECT randomblob(32)", [], |row| row.get(0))?;
        // Another process may make one at the same time: the first one stays.
        self.connection.execute(
            "INSERT OR IGNORE INTO key (id, bytes, seal) VALUES (1, ?1, ?2)",
            (&fresh, &seal_of(&fresh)[..]),
        )?;
        self.kept_key()?
            .ok_or_else(|| StoreError::damaged("the key that was just written is not there"))
    }

    pub(crate) fn kept_key(&self) -> Result<Option<[u8; 32]>, StoreError> {
        let row = self
            .connection
            .query_row("SELECT bytes, seal FROM key WHERE id = 1", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            });
        let Some((bytes, seal)): Option<(Vec<u8>, Vec<u8>)> = row.optional()? else {
            return Ok(None);
        };
        let damaged = || StoreError::damaged("its key is not what was written");
        if seal_of(&bytes)[..] != seal[..] {
            return Err(damaged());
        }
        bytes.try_into().map(Some).map_err(|_| damaged())
    }
}
