//! Reading checkpoints back: lists of them, their exact documents, and what they dropped.
//!
//! Everything is checked against its hash or seal while it is read: it is what was written, or an error.

use crate::Store;
use crate::bodies::Unpacker;
use crate::checkpoint::Checkpoint;
use crate::checkpoint::CheckpointId;
use crate::checkpoint::CheckpointRow;
use crate::checkpoint::Dropped;
use crate::error::StoreError;
use crate::kept;
use crate::kept::COLUMNS;
use crate::kept::Entry;
use crate::kept::Kept;
use crate::manifest;
use crate::passages;

/// How many ids an ambiguous prefix lists: enough to see what they have in common.
const EXAMPLES: usize = 5;

impl Store {
    /// The checkpoints of a conversation, or of all, newest first.
    pub fn checkpoints(&self, conversation: Option<&str>, most: usize) -> Result<Vec<CheckpointRow>, StoreError> {
        let which = kept::of_conversation(conversation);
        let mut select = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM checkpoint WHERE {which} ORDER BY seq DESC LIMIT ?2"
        ))?;
        let mut rows = select.query((conversation, i64::try_from(most).unwrap_or(i64::MAX)))?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(Kept::read(row)?.into_row());
        }
        Ok(found)
    }

    /// The one checkpoint whose id begins like this.
    pub fn find_checkpoint(&self, prefix: &str) -> Result<CheckpointId, StoreError> {
        let wanted = prefix.trim().to_ascii_lowercase();
        let missing = || StoreError::NoSuchCheckpoint {
            wanted: prefix.to_owned(),
        };
        if wanted.is_empty() || !wanted.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(missing());
        }
        let mut select = self
            .connection
            .prepare_cached("SELECT id FROM checkpoint WHERE id >= ?1 AND id < ?1 || 'g' ORDER BY id LIMIT ?2")?;
        let ids = select.query_map((&wanted, EXAMPLES as i64), |row| row.get(0))?;
        let mut ids = ids.collect::<rusqlite::Result<Vec<String>>>()?;
        match ids.len() {
            0 => Err(missing()),
            1 => Ok(CheckpointId(ids.remove(0))),
            _ => Err(StoreError::Ambiguous { wanted, matches: ids }),
        }
    }

    /// Everything about a checkpoint but its documents.
    pub fn load(&self, id: &CheckpointId) -> Result<Checkpoint, StoreError> {
        let view = self.connection.unchecked_transaction()?;
        let kept = Kept::load(&view, id)?;
        let plan = Unpacker::new()?.read(&view, &kept.record.plan_hash()?)?;
        let plan = String::from_utf8(plan).map_err(|_| StoreError::damaged("a plan is no text"))?;
        Ok(Checkpoint {
            plan,
            prompts: kept.record.prompts.clone(),
            engine_version: kept.record.engine_version.clone(),
            row: kept.into_row(),
        })
    }

    /// The exact bytes that came in.
    pub fn original(&self, id: &CheckpointId) -> Result<Vec<u8>, StoreError> {
        let view = self.connection.unchecked_transaction()?;
        let kept = Kept::load(&view, id)?;
        manifest::read(&view, &kept.original, &kept.record.original)
    }

    /// The exact bytes that went out.
    pub fn result(&self, id: &CheckpointId) -> Result<Vec<u8>, StoreError> {
        let view = self.connection.unchecked_transaction()?;
        let kept = Kept::load(&view, id)?;
        manifest::read(&view, &kept.result, &kept.record.result)
    }

    /// What this compaction replaced or removed, in order, with the original texts.
    pub fn dropped(&self, id: &CheckpointId) -> Result<Vec<Dropped>, StoreError> {
        let view = self.connection.unchecked_transaction()?;
        let mut unpacker = Unpacker::new()?;
        let entries = Kept::load(&view, id)?.entries(&mut unpacker)?;
        let with_text = |entry: Entry| {
            let passage = passages::by_reference(&view, &entry.reference)?;
            let passage = passage.ok_or_else(|| StoreError::damaged(format!("{} is missing", entry.reference)))?;
            let text = String::from_utf8(unpacker.read(&view, &passage.body)?)
                .map_err(|_| StoreError::damaged(format!("{} is no text", entry.reference)))?;
            Ok(Dropped {
                text,
                reference: entry.reference,
                message: entry.message,
                part: entry.part,
                role: entry.role,
                author: entry.author,
                tool: entry.tool,
                action: entry.action,
                tokens: entry.tokens,
                failed: entry.failed,
            })
        };
        entries.into_iter().map(with_text).collect()
    }
}
