//! Passages: texts that were replaced, removed or trimmed, each fetchable by its reference.
//!
//! A passage is kept once, whoever mentions it. A mention says where a conversation first lost it; passages live as long
//! as a mention does.

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Timestamp;
use rusqlite::Connection;
use rusqlite::TransactionBehavior;
use serde::Deserialize;
use serde::Serialize;

use crate::Store;
use crate::bodies::Incoming;
use crate::bodies::Unpacker;
use crate::checkpoint::CheckpointId;
use crate::error::StoreError;
use crate::kept::Entry;
use crate::seal;
use crate::seal::Hash;
use crate::seal::Seal;
use crate::words::Stemmers;

/// Hexadecimal digits of a new reference. With 40 bits, one store in twenty thousand has two alike among its first ten
/// thousand, and then the later one gets more digits.
const REFERENCE_DIGITS: usize = 10;

/// What is said to have happened to a trimmed output.
const TRIMMED: &str = "trimmed";

/// Where a text stood, and what happened to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mention {
    /// The conversation; none for an output that was trimmed outside of one.
    pub conversation: Option<String>,
    /// The first checkpoint of that conversation that dropped it; none for a trimmed output.
    pub checkpoint: Option<CheckpointId>,
    /// When, by the host's clock.
    pub created: Timestamp,
    /// The message it stood in.
    pub message: Option<usize>,
    /// The part of that message.
    pub part: Option<usize>,
    /// The message's role.
    pub role: Option<Role>,
    /// Who wrote it.
    pub author: Author,
    /// The tool it belongs to.
    pub tool: Option<String>,
    /// What happened to it.
    pub action: String,
    /// Its tokens.
    pub tokens: u64,
    /// Whether it tells of a failure.
    pub failed: bool,
}

/// The original behind a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The reference.
    pub reference: String,
    /// The whole original.
    pub original: Vec<u8>,
    /// Where it stood.
    pub mention: Mention,
}

/// A tool output that was trimmed before it entered a conversation.
#[derive(Clone, Copy, Debug)]
pub struct NewTrimmed<'a> {
    /// The conversation it belongs to, where there is one.
    pub conversation: Option<&'a str>,
    /// The tool, or what else made it.
    pub tool: &'a str,
    /// The whole output.
    pub original: &'a [u8],
    /// Its tokens.
    pub tokens: u64,
    /// Whether it tells of a failure.
    pub failed: bool,
    /// When, by the host's clock.
    pub created: Timestamp,
}

/// A row of the table, its seal checked.
#[derive(Clone, Debug)]
pub(crate) struct Passage {
    pub(crate) id: i64,
    pub(crate) reference: String,
    pub(crate) body: Hash,
}

fn seal_of(id: i64, reference: &str, body: &[u8]) -> Hash {
    Seal::new("passage").number(id).text(reference).bytes(body).finish()
}

pub(crate) fn read(row: &rusqlite::Row<'_>) -> Result<Passage, StoreError> {
    let (id, reference): (i64, String) = (row.get(0)?, row.get(1)?);
    let (body, written): (Vec<u8>, Vec<u8>) = (row.get(2)?, row.get(3)?);
    match Hash::try_from(&body[..]) {
        Ok(body) if seal_of(id, &reference, &body)[..] == written[..] => Ok(Passage { id, reference, body }),
        _ => Err(StoreError::damaged(format!(
            "passage {reference} is not what was written"
        ))),
    }
}

/// The passage behind a reference.
pub(crate) fn by_reference(connection: &Connection, reference: &str) -> Result<Option<Passage>, StoreError> {
    let mut select = connection.prepare_cached("SELECT id, reference, body, seal FROM passage WHERE reference = ?1")?;
    let mut rows = select.query([reference])?;
    match rows.next()?.map(read).transpose()? {
        Some(passage) if passage.reference != reference => {
            Err(StoreError::damaged("the index of references leads astray"))
        }
        found => Ok(found),
    }
}

/// The passage with this number.
pub(crate) fn by_number(connection: &Connection, id: i64) -> Result<Option<Passage>, StoreError> {
    let mut select = connection.prepare_cached("SELECT id, reference, body, seal FROM passage WHERE id = ?1")?;
    let mut rows = select.query([id])?;
    rows.next()?.map(read).transpose()
}

/// Keeps a passage whose body is written already; `index` gives the text for search when the passage is new.
pub(crate) fn put(
    transaction: &Connection,
    reference: &str,
    body: &Hash,
    index: impl FnOnce() -> (String, String),
) -> Result<i64, StoreError> {
    if let Some(known) = by_reference(transaction, reference)? {
        return match known.body == *body {
            true => Ok(known.id),
            false => Err(StoreError::ReferenceTaken {
                reference: reference.to_owned(),
            }),
        };
    }
    let mut next = transaction.prepare_cached("SELECT coalesce(max(id), 0) + 1 FROM passage")?;
    let id: i64 = next.query_row([], |row| row.get(0))?;
    let mut insert =
        transaction.prepare_cached("INSERT INTO passage (id, reference, body, seal) VALUES (?1, ?2, ?3, ?4)")?;
    insert.execute((id, reference, &body[..], &seal_of(id, reference, body)[..]))?;
    let (words, stems) = index();
    let mut insert =
        transaction.prepare_cached("INSERT INTO passage_text (rowid, words, stems) VALUES (?1, ?2, ?3)")?;
    insert.execute((id, words, stems))?;
    Ok(id)
}

/// The part of a mention that is kept as JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Record {
    checkpoint: Option<String>,
    message: Option<usize>,
    part: Option<usize>,
    role: Option<Role>,
    author: Author,
    tool: Option<String>,
    action: String,
    tokens: u64,
    failed: bool,
}

/// The checkpoint that mentions a passage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mentioner<'a> {
    pub(crate) conversation: &'a str,
    pub(crate) seq: i64,
    pub(crate) id: &'a CheckpointId,
    pub(crate) created: i64,
}

/// Notes that a checkpoint dropped a passage, unless its conversation has a mention of it.
pub(crate) fn mention(
    transaction: &Connection,
    passage: i64,
    by: Mentioner<'_>,
    entry: &Entry,
) -> Result<(), StoreError> {
    let mut known = transaction.prepare_cached("SELECT 1 FROM mention WHERE conversation = ?1 AND passage = ?2")?;
    if known.exists((by.conversation, passage))? {
        return Ok(());
    }
    let record = Record {
        checkpoint: Some(by.id.as_str().to_owned()),
        message: Some(entry.message),
        part: Some(entry.part),
        role: Some(entry.role),
        author: entry.author,
        tool: entry.tool.clone(),
        action: entry.action.clone(),
        tokens: entry.tokens,
        failed: entry.failed,
    };
    write_mention(transaction, passage, by.conversation, Some(by.seq), by.created, &record)
}

fn write_mention(
    transaction: &Connection,
    passage: i64,
    conversation: &str,
    checkpoint: Option<i64>,
    created: i64,
    record: &Record,
) -> Result<(), StoreError> {
    let record = serde_json::to_string(record).expect("a record has only names and numbers");
    let seal = mention_seal(passage, conversation, checkpoint, created, &record);
    let mut insert = transaction.prepare_cached(
        "INSERT OR IGNORE INTO mention (conversation, passage, checkpoint, created, record, seal)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    insert.execute((conversation, passage, checkpoint, created, record, &seal[..]))?;
    Ok(())
}

fn mention_seal(passage: i64, conversation: &str, checkpoint: Option<i64>, created: i64, record: &str) -> Hash {
    let seal = Seal::new("mention").number(passage).text(conversation);
    seal.number(checkpoint.unwrap_or(0))
        .number(created)
        .text(record)
        .finish()
}

/// The columns that [`read_mention`] wants, in its order.
pub(crate) const MENTION_COLUMNS: &str = "passage, conversation, checkpoint, created, record, seal";

pub(crate) fn read_mention(row: &rusqlite::Row<'_>) -> Result<Mention, StoreError> {
    let (passage, conversation, checkpoint): (i64, String, Option<i64>) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let (created, record, written): (i64, String, Vec<u8>) = (row.get(3)?, row.get(4)?, row.get(5)?);
    if mention_seal(passage, &conversation, checkpoint, created, &record)[..] != written[..] {
        return Err(StoreError::damaged("a mention is not what was written"));
    }
    let record: Record = serde_json::from_str(&record)
        .map_err(|cause| StoreError::damaged(format!("a mention cannot be read: {cause}")))?;
    Ok(Mention {
        conversation: (!conversation.is_empty()).then_some(conversation),
        checkpoint: record.checkpoint.map(CheckpointId),
        created: Timestamp(created),
        message: record.message,
        part: record.part,
        role: record.role,
        author: record.author,
        tool: record.tool,
        action: record.action,
        tokens: record.tokens,
        failed: record.failed,
    })
}

/// Where a passage was mentioned: in this conversation, or else where it was mentioned last.
pub(crate) fn mention_of(
    connection: &Connection,
    passage: i64,
    conversation: Option<&str>,
) -> Result<Option<Mention>, StoreError> {
    let mut select = connection.prepare_cached(&format!(
        "SELECT {MENTION_COLUMNS} FROM mention WHERE passage = ?1 AND (?2 IS NULL OR conversation = ?2)
         ORDER BY checkpoint DESC, conversation LIMIT 1"
    ))?;
    let mut rows = select.query((passage, conversation))?;
    rows.next()?.map(read_mention).transpose()
}

impl Store {
    /// The whole original behind a reference.
    pub fn fetch(&self, reference: &str) -> Result<Option<Fetched>, StoreError> {
        let view = self.connection.unchecked_transaction()?;
        let Some(passage) = by_reference(&view, reference)? else {
            return Ok(None);
        };
        let mention = mention_of(&view, passage.id, None)?;
        let mention = mention.ok_or_else(|| StoreError::damaged(format!("nothing mentions {reference}")))?;
        fetched(&view, passage, mention).map(Some)
    }

    /// The same, where this conversation has lost it.
    pub fn fetch_of(&self, conversation: &str, reference: &str) -> Result<Option<Fetched>, StoreError> {
        let view = self.connection.unchecked_transaction()?;
        let Some(passage) = by_reference(&view, reference)? else {
            return Ok(None);
        };
        match mention_of(&view, passage.id, Some(conversation))? {
            Some(mention) => fetched(&view, passage, mention).map(Some),
            None => Ok(None),
        }
    }

    /// Keeps the original of an output that enters a conversation trimmed, and gives its reference: the same for the same
    /// bytes. Durable when it returns.
    pub fn keep_trimmed(&mut self, new: &NewTrimmed<'_>) -> Result<String, StoreError> {
        let mut incoming = Incoming::new()?;
        let body = incoming.expect(&self.connection, new.original)?;
        let index = Stemmers::new().columns(&String::from_utf8_lossy(new.original));
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        incoming.put(&transaction, &body, new.original)?;
        let reference = free_reference(&transaction, &body)?;
        let passage = put(&transaction, &reference, &body, || index)?;
        let record = Record {
            checkpoint: None,
            message: None,
            part: None,
            role: None,
            author: Author::Tool,
            tool: Some(new.tool.to_owned()),
            action: TRIMMED.to_owned(),
            tokens: new.tokens,
            failed: new.failed,
        };
        let conversation = new.conversation.unwrap_or("");
        write_mention(&transaction, passage, conversation, None, new.created.0, &record)?;
        transaction.commit()?;
        Ok(reference)
    }
}

fn fetched(view: &Connection, passage: Passage, mention: Mention) -> Result<Fetched, StoreError> {
    Ok(Fetched {
        original: Unpacker::new()?.read(view, &passage.body)?,
        mention,
        reference: passage.reference,
    })
}

/// A reference made of the body's hash, longer where a shorter one stands for something else.
fn free_reference(connection: &Connection, body: &Hash) -> Result<String, StoreError> {
    let digits = seal::hex(body);
    for length in REFERENCE_DIGITS..=digits.len() {
        let reference = format!("t{}", &digits[..length]);
        match by_reference(connection, &reference)? {
            Some(passage) if passage.body != *body => {}
            _ => return Ok(reference),
        }
    }
    Err(StoreError::ReferenceTaken {
        reference: format!("t{digits}"),
    })
}
