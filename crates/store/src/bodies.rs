//! Bodies: pieces of content, each kept once under its hash, compressed where that helps, and checked at every read.

use std::collections::HashMap;

use rusqlite::Connection;
use rusqlite::OptionalExtension;
use zstd::bulk::Compressor;
use zstd::bulk::Decompressor;

use crate::error::StoreError;
use crate::seal;
use crate::seal::Hash;

/// Zstandard's own default: about 300 MB/s, and within a tenth of what slower levels make of messages.
const LEVEL: i32 = 3;

/// How a body's bytes are kept.
const PLAIN: i64 = 0;
const ZSTANDARD: i64 = 1;

/// Compresses small blobs: bodies, manifests, lists.
pub(crate) struct Packer(Compressor<'static>);

/// The opposite of [`Packer`].
pub(crate) struct Unpacker(Decompressor<'static>);

/// A body ready to be written.
pub(crate) struct Packed {
    size: i64,
    coding: i64,
    bytes: Vec<u8>,
}

impl Packer {
    pub(crate) fn new() -> Result<Self, StoreError> {
        let compressor = Compressor::new(LEVEL).map_err(|cause| StoreError::damaged(format!("zstd: {cause}")))?;
        Ok(Packer(compressor))
    }

    /// Compresses, unless that would not save anything.
    pub(crate) fn pack(&mut self, plain: &[u8]) -> Packed {
        let size = plain.len() as i64;
        match self.0.compress(plain) {
            Ok(bytes) if bytes.len() < plain.len() => Packed {
                size,
                coding: ZSTANDARD,
                bytes,
            },
            _ => Packed {
                size,
                coding: PLAIN,
                bytes: plain.to_vec(),
            },
        }
    }

    /// A packed blob that carries its own size and coding, for columns beside bodies.
    pub(crate) fn pack_blob(&mut self, plain: &[u8]) -> Vec<u8> {
        let packed = self.pack(plain);
        let mut blob = Vec::with_capacity(packed.bytes.len() + 9);
        blob.push(packed.coding as u8);
        blob.extend_from_slice(&packed.size.to_le_bytes());
        blob.extend_from_slice(&packed.bytes);
        blob
    }
}

impl Unpacker {
    pub(crate) fn new() -> Result<Self, StoreError> {
        let decompressor = Decompressor::new().map_err(|cause| StoreError::damaged(format!("zstd: {cause}")))?;
        Ok(Unpacker(decompressor))
    }

    fn unpack(&mut self, size: i64, coding: i64, bytes: Vec<u8>) -> Result<Vec<u8>, StoreError> {
        let damaged = |why: &str| StoreError::damaged(format!("a body {why}"));
        match coding {
            PLAIN => Ok(bytes),
            ZSTANDARD => {
                let size = usize::try_from(size).map_err(|_| damaged("has no size"))?;
                let mut plain = Vec::new();
                // A damaged size may be any number; reserving it must not end the process.
                plain
                    .try_reserve_exact(size)
                    .map_err(|_| damaged("has an impossible size"))?;
                let unpacked = self.0.decompress_to_buffer(&bytes, &mut plain);
                unpacked.map_err(|_| damaged("does not decompress"))?;
                Ok(plain)
            }
            _ => Err(damaged("is kept in an unknown way")),
        }
    }

    pub(crate) fn unpack_blob(&mut self, blob: &[u8]) -> Result<Vec<u8>, StoreError> {
        let damaged = || StoreError::damaged("a list is cut short");
        let (coding, rest) = blob.split_first().ok_or_else(damaged)?;
        let (size, bytes) = rest.split_first_chunk::<8>().ok_or_else(damaged)?;
        self.unpack(i64::from_le_bytes(*size), i64::from(*coding), bytes.to_vec())
    }

    fn check(&mut self, row: Row) -> Result<Vec<u8>, StoreError> {
        let (hash, size, coding, bytes) = row;
        let plain = self.unpack(size, coding, bytes)?;
        if seal::hash(&plain)[..] != hash[..] {
            return Err(StoreError::damaged("a body is not what its hash says"));
        }
        Ok(plain)
    }

    /// The body with this hash.
    pub(crate) fn read(&mut self, connection: &Connection, hash: &Hash) -> Result<Vec<u8>, StoreError> {
        let mut select = connection.prepare_cached("SELECT hash, size, coding, bytes FROM body WHERE hash = ?1")?;
        let row = select.query_row([&hash[..]], columns).optional()?;
        let row = row.ok_or_else(|| StoreError::damaged("a body is missing"))?;
        if row.0 != hash {
            return Err(StoreError::damaged("the index of bodies leads astray"));
        }
        self.check(row)
    }

    /// The body with this number; which content that should be, only the whole document's hash can say.
    pub(crate) fn read_number(&mut self, connection: &Connection, id: i64) -> Result<Vec<u8>, StoreError> {
        let mut select = connection.prepare_cached("SELECT hash, size, coding, bytes FROM body WHERE id = ?1")?;
        let row = select.query_row([id], columns).optional()?;
        self.check(row.ok_or_else(|| StoreError::damaged("a body is missing"))?)
    }
}

type Row = (Vec<u8>, i64, i64, Vec<u8>);

fn columns(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
}

/// The number of the body with this hash, when there is one.
pub(crate) fn number_of(connection: &Connection, hash: &Hash) -> Result<Option<i64>, StoreError> {
    let mut select = connection.prepare_cached("SELECT id FROM body WHERE hash = ?1")?;
    Ok(select.query_row([&hash[..]], |row| row.get(0)).optional()?)
}

/// Bodies on their way in. Compressing happens before the store is locked, so that writers wait for disks and not for
/// each other's arithmetic.
pub(crate) struct Incoming {
    packer: Packer,
    packed: HashMap<Hash, Packed>,
    numbers: HashMap<Hash, i64>,
}

impl Incoming {
    pub(crate) fn new() -> Result<Self, StoreError> {
        Ok(Incoming {
            packer: Packer::new()?,
            packed: HashMap::new(),
            numbers: HashMap::new(),
        })
    }

    pub(crate) fn packer(&mut self) -> &mut Packer {
        &mut self.packer
    }

    /// Hashes a piece, and compresses it when the store does not have it yet.
    pub(crate) fn expect(&mut self, connection: &Connection, plain: &[u8]) -> Result<Hash, StoreError> {
        let hash = seal::hash(plain);
        if !self.packed.contains_key(&hash) && number_of(connection, &hash)?.is_none() {
            let packed = self.packer.pack(plain);
            self.packed.insert(hash, packed);
        }
        Ok(hash)
    }

    /// Writes a piece that [`Incoming::expect`] has seen, inside the transaction. Whether the store has it is looked up
    /// again: another process may have added or erased it in between.
    pub(crate) fn put(&mut self, transaction: &Connection, hash: &Hash, plain: &[u8]) -> Result<i64, StoreError> {
        if let Some(number) = self.numbers.get(hash) {
            return Ok(*number);
        }
        let number = match number_of(transaction, hash)? {
            Some(number) => number,
            None => {
                let packed = self.packed.remove(hash).unwrap_or_else(|| self.packer.pack(plain));
                let mut insert = transaction
                    .prepare_cached("INSERT INTO body (hash, size, coding, bytes) VALUES (?1, ?2, ?3, ?4)")?;
                insert.execute((&hash[..], packed.size, packed.coding, &packed.bytes))?;
                transaction.last_insert_rowid()
            }
        };
        self.numbers.insert(*hash, number);
        Ok(number)
    }
}
