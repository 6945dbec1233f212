//! Erasing: the one thing that removes rows, and then the bytes are really gone.
//!
//! Deleted content is overwritten in the transaction that deletes it, the index is merged without it, the write-ahead log is
//! written back and cut to nothing, and the file is rebuilt without its gaps. Content that something else still
//! needs stays.

use std::collections::BTreeSet;
use std::collections::HashSet;

use mainstay_engine::transcript::Timestamp;
use rusqlite::Connection;
use rusqlite::TransactionBehavior;
use serde::Serialize;

use crate::Store;
use crate::bodies;
use crate::bodies::Unpacker;
use crate::checkpoint::CheckpointId;
use crate::error::StoreError;
use crate::kept;
use crate::kept::Kept;
use crate::manifest;
use crate::passages;
use crate::passages::Mentioner;

/// What to erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Erase<'a> {
    /// Everything about one conversation.
    Conversation(&'a str),
    /// One checkpoint.
    Checkpoint(&'a CheckpointId),
    /// All checkpoints and trimmed outputs from before this moment, by the host's clock.
    Before(Timestamp),
    /// All of it.
    Everything,
}

/// What was erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Erased {
    /// Checkpoints that are gone.
    pub checkpoints: u64,
    /// References that no longer lead anywhere.
    pub references: u64,
    /// Pieces of content that are gone.
    pub bodies: u64,
    /// Whether the bytes are gone from the files too. When other processes were reading all the while, or the disk has
    /// no room to rebuild the file, erasing again later sees to it.
    pub scrubbed: bool,
}

impl Store {
    /// Erases. A damaged checkpoint among those that stay is an error, because what it needs cannot be told.
    pub fn erase(&mut self, what: Erase<'_>) -> Result<Erased, StoreError> {
        self.connection.pragma_update(None, "secure_delete", true)?;
        let erased = self.erase_rows(what).and_then(|mut erased| {
            erased.scrubbed = self.scrub()?;
            Ok(erased)
        });
        self.connection.pragma_update(None, "secure_delete", false)?;
        erased
    }

    fn erase_rows(&mut self, what: Erase<'_>) -> Result<Erased, StoreError> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut erased = Erased::default();
        if what == Erase::Everything {
            erased.checkpoints = delete(&transaction, "DELETE FROM checkpoint", [])?;
            erased.references = delete(&transaction, "DELETE FROM passage", [])?;
            erased.bodies = delete(&transaction, "DELETE FROM body", [])?;
            transaction.execute_batch(
                "DELETE FROM mention; DELETE FROM calibration; DELETE FROM ledger; DELETE FROM key;
                 INSERT INTO passage_text (passage_text) VALUES ('delete-all');",
            )?;
        } else {
            let touched = delete_checkpoints(&transaction, what, &mut erased)?;
            for conversation in touched {
                mention_again(&transaction, &conversation)?;
            }
            erased.references = sweep_passages(&transaction)?;
            erased.bodies = sweep_bodies(&transaction)?;
            transaction.execute_batch("INSERT INTO passage_text (passage_text) VALUES ('optimize');")?;
        }
        transaction.commit()?;
        Ok(erased)
    }

    /// Writes the log back, rebuilds the file, and cuts the log to nothing. Whether all of that could be done.
    fn scrub(&self) -> Result<bool, StoreError> {
        let cut = |connection: &Connection| {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))
        };
        // Deleted bytes are overwritten already, so this much works on a full disk too. What the index left behind in free
        // pages when it merged itself earlier is only gone with the rebuilding.
        cut(&self.connection)?;
        match self.connection.execute_batch("VACUUM").map_err(StoreError::from) {
            Ok(()) => Ok(cut(&self.connection)? == 0),
            Err(StoreError::Busy | StoreError::Full) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn delete(transaction: &Connection, sql: &str, parameters: impl rusqlite::Params) -> Result<u64, StoreError> {
    Ok(transaction.execute(sql, parameters)? as u64)
}

/// Deletes checkpoints and their mentions; gives the conversations in which other checkpoints may mention the same.
fn delete_checkpoints(
    transaction: &Connection,
    what: Erase<'_>,
    erased: &mut Erased,
) -> Result<BTreeSet<String>, StoreError> {
    let (condition, key, moment) = match what {
        Erase::Conversation(key) => ("conversation = ?1 AND ?2 IS NULL", Some(key), None),
        Erase::Checkpoint(id) => ("id = ?1 AND ?2 IS NULL", Some(id.as_str()), None),
        Erase::Before(moment) => ("?1 IS NULL AND created < ?2", None, Some(moment.0)),
        Erase::Everything => ("?1 IS NULL AND ?2 IS NULL", None, None),
    };
    let mut select = transaction.prepare(&format!("SELECT seq, conversation FROM checkpoint WHERE {condition}"))?;
    let rows = select.query_map((key, moment), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let victims = rows.collect::<rusqlite::Result<Vec<(i64, String)>>>()?;
    if let (Erase::Checkpoint(id), true) = (what, victims.is_empty()) {
        return Err(StoreError::NoSuchCheckpoint {
            wanted: id.as_str().to_owned(),
        });
    }
    let mut touched = BTreeSet::new();
    for (seq, conversation) in victims {
        erased.checkpoints += delete(transaction, "DELETE FROM checkpoint WHERE seq = ?1", [seq])?;
        delete(transaction, "DELETE FROM mention WHERE checkpoint = ?1", [seq])?;
        delete(transaction, "DELETE FROM ledger WHERE checkpoint = ?1", [seq])?;
        touched.insert(conversation);
    }
    match what {
        Erase::Conversation(key) => delete(transaction, "DELETE FROM mention WHERE conversation = ?1", [key])?,
        Erase::Before(moment) => delete(
            transaction,
            "DELETE FROM mention WHERE checkpoint IS NULL AND created < ?1",
            [moment.0],
        )?,
        Erase::Checkpoint(_) | Erase::Everything => 0,
    };
    Ok(touched)
}

/// Lets the checkpoints that stay mention what only an erased one mentioned before them.
fn mention_again(transaction: &Connection, conversation: &str) -> Result<(), StoreError> {
    let mut unpacker = Unpacker::new()?;
    kept::for_each(transaction, Some(conversation), |kept| {
        let by = Mentioner {
            conversation,
            seq: kept.seq,
            id: &kept.id,
            created: kept.created,
        };
        for entry in kept.entries(&mut unpacker)? {
            let passage = passages::by_reference(transaction, &entry.reference)?;
            let passage = passage.ok_or_else(|| StoreError::damaged(format!("{} is missing", entry.reference)))?;
            passages::mention(transaction, passage.id, by, &entry)?;
        }
        Ok(())
    })
}

/// Removes passages that nothing mentions any more, and what search knows of them.
fn sweep_passages(transaction: &Connection) -> Result<u64, StoreError> {
    const ORPHANS: &str = "SELECT id FROM passage WHERE id NOT IN (SELECT passage FROM mention)";
    delete(
        transaction,
        &format!("DELETE FROM passage_text WHERE rowid IN ({ORPHANS})"),
        [],
    )?;
    delete(transaction, &format!("DELETE FROM passage WHERE id IN ({ORPHANS})"), [])
}

/// Removes bodies that no checkpoint and no passage needs any more.
fn sweep_bodies(transaction: &Connection) -> Result<u64, StoreError> {
    let mut needed = HashSet::new();
    let mut unpacker = Unpacker::new()?;
    kept::for_each(transaction, None, |kept: Kept| {
        needed.extend(manifest::unpack(&mut unpacker, &kept.original)?);
        needed.extend(manifest::unpack(&mut unpacker, &kept.result)?);
        needed.extend(bodies::number_of(transaction, &kept.record.plan_hash()?)?);
        Ok(())
    })?;
    let mut select = transaction.prepare("SELECT id, reference, body, seal FROM passage")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        needed.extend(bodies::number_of(transaction, &passages::read(row)?.body)?);
    }
    let mut select = transaction.prepare("SELECT id FROM body")?;
    let all = select
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<i64>>>()?;
    let mut gone = 0;
    for body in all.iter().filter(|body| !needed.contains(body)) {
        gone += delete(transaction, "DELETE FROM body WHERE id = ?1", [body])?;
    }
    Ok(gone)
}
