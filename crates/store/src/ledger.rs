//! Ledger states: what a conversation's ledger knew at a checkpoint, by the name under which the next pass looks for it.
//!
//! A state is kept in the transaction of its checkpoint and goes when that goes. A newer state of the same name takes
//! the place of the older one.

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use crate::Store;
use crate::bodies::Packer;
use crate::bodies::Unpacker;
use crate::checkpoint::CheckpointId;
use crate::checkpoint::NewLedger;
use crate::error::StoreError;
use crate::kept::Kept;
use crate::seal::Hash;
use crate::seal::Seal;

/// A ledger state with the checkpoint that kept it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptLedger {
    /// The checkpoint.
    pub checkpoint: CheckpointId,
    /// The state, as the engine wrote it.
    pub state: Vec<u8>,
}

fn seal_of(name: &str, checkpoint: i64, state: &[u8]) -> Hash {
    Seal::new("ledger").text(name).number(checkpoint).bytes(state).finish()
}

pub(crate) fn put(
    transaction: &Connection,
    packer: &mut Packer,
    checkpoint: i64,
    new: &NewLedger<'_>,
) -> Result<(), StoreError> {
    let state = packer.pack_blob(new.state);
    transaction.execute(
        "INSERT INTO ledger (name, checkpoint, state, seal) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (name) DO UPDATE SET checkpoint = excluded.checkpoint, state = excluded.state, seal = excluded.seal",
        (
            new.name,
            checkpoint,
            &state,
            &seal_of(new.name, checkpoint, &state)[..],
        ),
    )?;
    Ok(())
}

impl Store {
    /// The ledger state that was kept under a name.
    pub fn ledger(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.ledger_of_checkpoint(name)?.map(|(_, state)| state))
    }

    /// The same, and the checkpoint that it was kept with.
    pub fn ledger_of_checkpoint(&self, name: &str) -> Result<Option<(CheckpointId, Vec<u8>)>, StoreError> {
        let mut select = self.connection.prepare_cached(
            "SELECT ledger.checkpoint, id, state, ledger.seal FROM ledger LEFT JOIN checkpoint ON seq = ledger.checkpoint
             WHERE name = ?1",
        )?;
        let row = select.query_row([name], |row| {
            let (checkpoint, id): (i64, Option<String>) = (row.get(0)?, row.get(1)?);
            let (state, seal): (Vec<u8>, Vec<u8>) = (row.get(2)?, row.get(3)?);
            Ok((checkpoint, id, state, seal))
        });
        let Some((checkpoint, id, state, seal)) = row.optional()? else {
            return Ok(None);
        };
        let state = unsealed(name, checkpoint, &state, &seal)?;
        let id = id.ok_or_else(|| StoreError::damaged(format!("the checkpoint of the ledger {name} is gone")))?;
        Ok(Some((CheckpointId(id), state)))
    }

    /// The newest ledger state among a conversation's checkpoints, under whatever name it was kept.
    pub fn newest_ledger(&self, conversation: &str) -> Result<Option<KeptLedger>, StoreError> {
        let view = self.connection.unchecked_transaction()?;
        // What a proxy sends in place of a chain is kept beside ledgers and is none. Where a checkpoint has several, the one that is not just the conversation's own knows more: what a block showed.
        let mut select = view.prepare_cached(
            "SELECT checkpoint.id, ledger.name, ledger.checkpoint, ledger.state, ledger.seal
             FROM checkpoint CROSS JOIN ledger ON ledger.checkpoint = checkpoint.seq
             WHERE checkpoint.conversation = ?1 AND ledger.name NOT LIKE 'chain %'
             ORDER BY checkpoint.seq DESC, ledger.name = ?1, ledger.name LIMIT 1",
        )?;
        let mut rows = select.query([conversation])?;
        let Some(row) = rows.next()? else {
            return Ok(None);
        };
        let id = CheckpointId(row.get(0)?);
        let (name, checkpoint): (String, i64) = (row.get(1)?, row.get(2)?);
        let (state, seal): (Vec<u8>, Vec<u8>) = (row.get(3)?, row.get(4)?);
        if Kept::load(&view, &id)?.conversation != conversation {
            return Err(StoreError::damaged("the index of conversations leads astray"));
        }
        Ok(Some(KeptLedger {
            state: unsealed(&name, checkpoint, &state, &seal)?,
            checkpoint: id,
        }))
    }
}

/// A state as it was written, if it still is.
fn unsealed(name: &str, checkpoint: i64, state: &[u8], seal: &[u8]) -> Result<Vec<u8>, StoreError> {
    if seal_of(name, checkpoint, state)[..] != seal[..] {
        return Err(StoreError::damaged(format!(
            "the ledger {name} is not what was written"
        )));
    }
    Unpacker::new()?.unpack_blob(state)
}
