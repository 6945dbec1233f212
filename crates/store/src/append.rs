//! Appending a checkpoint: one transaction, durable when it returns.
//!
//! The store is append-only: nothing here changes or removes a row. Hashing, compressing and stemming happen before the
//! store is locked.

use rusqlite::Connection;
use rusqlite::TransactionBehavior;

use crate::Store;
use crate::bodies::Incoming;
use crate::checkpoint::CheckpointId;
use crate::checkpoint::NewCheckpoint;
use crate::checkpoint::NewDropped;
use crate::error::StoreError;
use crate::kept::Columns;
use crate::kept::Entry;
use crate::kept::Record;
use crate::ledger;
use crate::manifest;
use crate::manifest::Whole;
use crate::passages;
use crate::passages::Mentioner;
use crate::seal;
use crate::seal::Hash;
use crate::words::Stemmers;

/// What is worked out before the lock is taken.
struct Prepared {
    incoming: Incoming,
    original: Vec<Hash>,
    result: Vec<Hash>,
    plan: Hash,
    /// For each dropped text its hash and, when its reference is new, what search shall find it by.
    texts: Vec<(Hash, Option<(String, String)>)>,
    record: String,
    dropped: Vec<u8>,
}

impl Store {
    /// Keeps a checkpoint. When this returns it is on disk, whole; when it fails, nothing of it is.
    ///
    /// A reference that already stands for other content is an error.
    pub fn append(&mut self, new: &NewCheckpoint<'_>) -> Result<CheckpointId, StoreError> {
        let mut prepared = prepare(&self.connection, new)?;
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let original = put_chunks(&transaction, &mut prepared.incoming, &prepared.original, new.original)?;
        let result = put_chunks(&transaction, &mut prepared.incoming, &prepared.result, new.result)?;
        prepared
            .incoming
            .put(&transaction, &prepared.plan, new.plan.as_bytes())?;

        let seq: i64 =
            transaction.query_row("SELECT coalesce(max(seq), 0) + 1 FROM checkpoint", [], |row| row.get(0))?;
        let columns = Columns {
            seq,
            conversation: new.conversation,
            created: new.created.0,
            record: &prepared.record,
            original: &manifest::pack(prepared.incoming.packer(), &original),
            result: &manifest::pack(prepared.incoming.packer(), &result),
            dropped: &prepared.dropped,
        };
        let id = insert(&transaction, &columns)?;
        let by = Mentioner {
            conversation: new.conversation,
            seq,
            id: &id,
            created: new.created.0,
        };
        for (dropped, (hash, index)) in new.dropped.iter().zip(prepared.texts) {
            prepared.incoming.put(&transaction, &hash, dropped.text.as_bytes())?;
            let index = || index.unwrap_or_else(|| Stemmers::new().columns(dropped.text));
            let passage = passages::put(&transaction, dropped.reference, &hash, index)?;
            passages::mention(&transaction, passage, by, &entry(dropped))?;
        }
        for new in new.ledgers {
            ledger::put(&transaction, prepared.incoming.packer(), seq, new)?;
        }
        transaction.commit()?;
        Ok(id)
    }
}

fn prepare(connection: &Connection, new: &NewCheckpoint<'_>) -> Result<Prepared, StoreError> {
    let mut incoming = Incoming::new()?;
    let mut expect_all = |chunks: &[&[u8]]| -> Result<Vec<Hash>, StoreError> {
        chunks.iter().map(|chunk| incoming.expect(connection, chunk)).collect()
    };
    let original = expect_all(new.original)?;
    let result = expect_all(new.result)?;
    let plan = incoming.expect(connection, new.plan.as_bytes())?;
    let mut stemmers = Stemmers::new();
    let mut texts = Vec::with_capacity(new.dropped.len());
    for dropped in new.dropped {
        let hash = incoming.expect(connection, dropped.text.as_bytes())?;
        let known = passages::by_reference(connection, dropped.reference)?.is_some();
        texts.push((hash, (!known).then(|| stemmers.columns(dropped.text))));
    }
    let entries: Vec<Entry> = new.dropped.iter().map(entry).collect();
    let entries = serde_json::to_vec(&entries).expect("an entry has only names and numbers");
    Ok(Prepared {
        dropped: incoming.packer().pack_blob(&entries),
        record: record(new, &plan),
        incoming,
        original,
        result,
        plan,
        texts,
    })
}

fn record(new: &NewCheckpoint<'_>, plan: &Hash) -> String {
    let owned = |(name, hash): &(&str, &str)| ((*name).to_owned(), (*hash).to_owned());
    let record = Record {
        source: new.source.to_owned(),
        format: new.format.to_owned(),
        form: new.form.to_owned(),
        model: new.model.map(str::to_owned),
        original: Whole::of(new.original),
        result: Whole::of(new.result),
        dropped: new.dropped.len(),
        metrics: new.metrics.clone(),
        plan: seal::hex(plan),
        prompts: new.prompts.iter().map(owned).collect(),
        engine_version: new.engine_version.to_owned(),
    };
    serde_json::to_string(&record).expect("a record has only names and numbers")
}

fn entry(dropped: &NewDropped<'_>) -> Entry {
    Entry {
        reference: dropped.reference.to_owned(),
        message: dropped.message,
        part: dropped.part,
        role: dropped.role,
        author: dropped.author,
        tool: dropped.tool.map(str::to_owned),
        action: dropped.action.to_owned(),
        tokens: dropped.tokens,
        failed: dropped.failed,
    }
}

fn put_chunks(
    transaction: &Connection,
    incoming: &mut Incoming,
    hashes: &[Hash],
    chunks: &[&[u8]],
) -> Result<Vec<i64>, StoreError> {
    let pairs = hashes.iter().zip(chunks);
    // An empty chunk is no bytes of the document.
    let pairs = pairs.filter(|(_, chunk)| !chunk.is_empty());
    pairs
        .map(|(hash, chunk)| incoming.put(transaction, hash, chunk))
        .collect()
}

fn insert(transaction: &Connection, columns: &Columns<'_>) -> Result<CheckpointId, StoreError> {
    let seal = columns.seal();
    let id = CheckpointId::of_seal(&seal);
    let mut insert = transaction.prepare_cached(
        "INSERT INTO checkpoint (seq, id, conversation, created, record, original, result, dropped, seal)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    insert.execute((
        columns.seq,
        id.as_str(),
        columns.conversation,
        columns.created,
        columns.record,
        columns.original,
        columns.result,
        columns.dropped,
        &seal[..],
    ))?;
    Ok(id)
}

#[cfg(test)]
#[path = "full_disk_tests.rs"]
mod tests;
