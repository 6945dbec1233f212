//! Checkpoints as rows of the table: what their seal covers, and how they are read.

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Timestamp;
use rusqlite::Connection;
use serde::Deserialize;
use serde::Serialize;

use crate::bodies::Unpacker;
use crate::checkpoint::CheckpointId;
use crate::checkpoint::CheckpointRow;
use crate::checkpoint::Metrics;
use crate::error::StoreError;
use crate::manifest::Whole;
use crate::seal;
use crate::seal::Hash;
use crate::seal::Seal;

/// The part of a checkpoint that is kept as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) source: String,
    pub(crate) format: String,
    pub(crate) form: String,
    pub(crate) model: Option<String>,
    pub(crate) original: Whole,
    pub(crate) result: Whole,
    pub(crate) dropped: usize,
    pub(crate) metrics: Metrics,
    pub(crate) plan: String,
    pub(crate) prompts: Vec<(String, String)>,
    pub(crate) engine_version: String,
}

impl Record {
    pub(crate) fn plan_hash(&self) -> Result<Hash, StoreError> {
        seal::unhex(&self.plan).ok_or_else(|| StoreError::damaged("a checkpoint names no plan"))
    }
}

/// A line of the list of what a checkpoint dropped; the text is a passage of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) reference: String,
    pub(crate) message: usize,
    pub(crate) part: usize,
    pub(crate) role: Role,
    pub(crate) author: Author,
    pub(crate) tool: Option<String>,
    pub(crate) action: String,
    pub(crate) tokens: u64,
    pub(crate) failed: bool,
}

/// A row of the table, its seal checked.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) seq: i64,
    pub(crate) id: CheckpointId,
    pub(crate) conversation: String,
    pub(crate) created: i64,
    pub(crate) record: Record,
    pub(crate) original: Vec<u8>,
    pub(crate) result: Vec<u8>,
    pub(crate) dropped: Vec<u8>,
}

/// The columns of a checkpoint that its seal covers.
pub(crate) struct Columns<'a> {
    pub(crate) seq: i64,
    pub(crate) conversation: &'a str,
    pub(crate) created: i64,
    pub(crate) record: &'a str,
    pub(crate) original: &'a [u8],
    pub(crate) result: &'a [u8],
    pub(crate) dropped: &'a [u8],
}

impl Columns<'_> {
    pub(crate) fn seal(&self) -> Hash {
        let seal = Seal::new("checkpoint").number(self.seq).text(self.conversation);
        let seal = seal.number(self.created).text(self.record);
        seal.bytes(self.original)
            .bytes(self.result)
            .bytes(self.dropped)
            .finish()
    }
}

/// The columns that [`Kept::read`] wants, in its order.
pub(crate) const COLUMNS: &str = "seq, id, conversation, created, record, original, result, dropped, seal";

impl Kept {
    pub(crate) fn read(row: &rusqlite::Row<'_>) -> Result<Kept, StoreError> {
        let (seq, id, record): (i64, String, String) = (row.get(0)?, row.get(1)?, row.get(4)?);
        let (conversation, created): (String, i64) = (row.get(2)?, row.get(3)?);
        let (original, result, dropped): (Vec<u8>, Vec<u8>, Vec<u8>) = (row.get(5)?, row.get(6)?, row.get(7)?);
        let written: Vec<u8> = row.get(8)?;
        let columns = Columns {
            seq,
            conversation: &conversation,
            created,
            record: &record,
            original: &original,
            result: &result,
            dropped: &dropped,
        };
        let found = columns.seal();
        if found[..] != written[..] || CheckpointId::of_seal(&found).0 != id {
            return Err(StoreError::damaged(format!("checkpoint {id} is not what was written")));
        }
        let record = serde_json::from_str(&record)
            .map_err(|cause| StoreError::damaged(format!("checkpoint {id} cannot be read: {cause}")))?;
        Ok(Kept {
            seq,
            id: CheckpointId(id),
            conversation,
            created,
            record,
            original,
            result,
            dropped,
        })
    }

    pub(crate) fn load(connection: &Connection, id: &CheckpointId) -> Result<Kept, StoreError> {
        let mut select = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM checkpoint WHERE id = ?1"))?;
        let mut rows = select.query([&id.0])?;
        let Some(row) = rows.next()? else {
            return Err(StoreError::NoSuchCheckpoint { wanted: id.0.clone() });
        };
        let kept = Kept::read(row)?;
        if kept.id != *id {
            return Err(StoreError::damaged("the index of checkpoints leads astray"));
        }
        Ok(kept)
    }

    pub(crate) fn entries(&self, unpacker: &mut Unpacker) -> Result<Vec<Entry>, StoreError> {
        let json = unpacker.unpack_blob(&self.dropped)?;
        serde_json::from_slice(&json)
            .map_err(|cause| StoreError::damaged(format!("the list of checkpoint {}: {cause}", self.id)))
    }

    pub(crate) fn into_row(self) -> CheckpointRow {
        CheckpointRow {
            id: self.id,
            conversation: self.conversation,
            source: self.record.source,
            format: self.record.format,
            form: self.record.form,
            model: self.record.model,
            created: Timestamp(self.created),
            original_size: self.record.original.size,
            result_size: self.record.result.size,
            dropped: self.record.dropped,
            metrics: self.record.metrics,
        }
    }
}

/// The condition for one conversation or all, with the key as first parameter; spelled so that the index serves it.
pub(crate) fn of_conversation(conversation: Option<&str>) -> &'static str {
    match conversation {
        Some(_) => "conversation = ?1",
        None => "?1 IS NULL",
    }
}

/// Calls back for every checkpoint, of one conversation or all, oldest first.
pub(crate) fn for_each(
    connection: &Connection,
    conversation: Option<&str>,
    mut take: impl FnMut(Kept) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let which = of_conversation(conversation);
    let mut select =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM checkpoint WHERE {which} ORDER BY seq"))?;
    let mut rows = select.query([conversation])?;
    while let Some(row) = rows.next()? {
        take(Kept::read(row)?)?;
    }
    Ok(())
}
