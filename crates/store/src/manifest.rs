//! Manifests: which bodies, one after the other, make up a document.
//!
//! Bodies that come in together get consecutive numbers, so a list of differences is mostly ones and compresses to a few
//! bytes however long the conversation has become. The document's own hash stands in the checkpoint's record.

use rusqlite::Connection;
use serde::Deserialize;
use serde::Serialize;

use crate::bodies::Packer;
use crate::bodies::Unpacker;
use crate::error::StoreError;
use crate::seal;

/// The size and hash of a whole document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Whole {
    pub(crate) size: u64,
    pub(crate) hash: String,
}

impl Whole {
    pub(crate) fn of(chunks: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new();
        let mut size = 0;
        for chunk in chunks {
            hasher.update(chunk);
            size += chunk.len() as u64;
        }
        Whole {
            size,
            hash: seal::hex(hasher.finalize().as_bytes()),
        }
    }
}

/// Packs a list of bodies.
pub(crate) fn pack(packer: &mut Packer, bodies: &[i64]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bodies.len());
    let mut before = 0i64;
    for body in bodies {
        let difference = body.wrapping_sub(before);
        before = *body;
        // Small differences of either sign become small numbers, and small numbers one byte.
        let mut rest = (difference << 1 ^ difference >> 63) as u64;
        while rest >= 0x80 {
            plain.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        plain.push(rest as u8);
    }
    packer.pack_blob(&plain)
}

/// Unpacks a list of bodies.
pub(crate) fn unpack(unpacker: &mut Unpacker, blob: &[u8]) -> Result<Vec<i64>, StoreError> {
    let plain = unpacker.unpack_blob(blob)?;
    let mut bodies = Vec::with_capacity(plain.len());
    let (mut body, mut rest, mut shift) = (0i64, 0u64, 0u32);
    for byte in plain {
        let bits = u64::from(byte & 0x7f);
        rest |= bits
            .checked_shl(shift)
            .ok_or_else(|| StoreError::damaged("a manifest makes no sense"))?;
        shift += 7;
        if byte < 0x80 {
            let difference = (rest >> 1) as i64 ^ -((rest & 1) as i64);
            body = body.wrapping_add(difference);
            bodies.push(body);
            (rest, shift) = (0, 0);
        }
    }
    match shift {
        0 => Ok(bodies),
        _ => Err(StoreError::damaged("a manifest is cut short")),
    }
}

/// Puts a document together, and gives it only if it is the one that was written.
pub(crate) fn read(connection: &Connection, blob: &[u8], whole: &Whole) -> Result<Vec<u8>, StoreError> {
    let mut unpacker = Unpacker::new()?;
    let mut document = Vec::new();
    for body in unpack(&mut unpacker, blob)? {
        let piece = unpacker.read_number(connection, body)?;
        if (document.len() + piece.len()) as u64 > whole.size {
            return Err(StoreError::damaged("a document is longer than it was"));
        }
        document.extend_from_slice(&piece);
    }
    if Whole::of(&[&document]) != *whole {
        return Err(StoreError::damaged("a document is not what its hash says"));
    }
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_back() {
        let mut packer = Packer::new().unwrap();
        let mut unpacker = Unpacker::new().unwrap();
        let lists = [
            vec![],
            vec![1],
            vec![1, 2, 3, 3, 2, 900_000, 1],
            vec![i64::MAX, i64::MIN, 0, -1],
            (1..5_000).collect(),
        ];
        for list in lists {
            let blob = pack(&mut packer, &list);
            assert_eq!(unpack(&mut unpacker, &blob).unwrap(), list);
        }
    }

    #[test]
    fn a_long_list_of_neighbours_is_short() {
        let mut packer = Packer::new().unwrap();
        let list: Vec<i64> = (1..100_000).collect();
        assert!(pack(&mut packer, &list).len() < 64);
    }

    #[test]
    fn any_bytes_give_a_list_or_an_error() {
        let mut unpacker = Unpacker::new().unwrap();
        for length in 0..64 {
            let blob: Vec<u8> = (0..length).map(|index: u8| index.wrapping_mul(151) | 0x80).collect();
            let _ = unpack(&mut unpacker, &blob);
            let plain = [&[0u8][..], &9i64.to_le_bytes(), &blob].concat();
            let _ = unpack(&mut unpacker, &plain);
        }
    }
}
