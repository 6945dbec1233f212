//! Seals: a hash over the fields of a row, so that a row is either what was written or an error.
//!
//! SQLite notices a page that makes no sense, not a number that has become another number.

/// A BLAKE3 hash.
pub(crate) type Hash = [u8; 32];

/// Collects the fields of a row; each goes in with its length, so that no two rows run together.
pub(crate) struct Seal(blake3::Hasher);

impl Seal {
    /// A seal for one kind of row.
    pub(crate) fn new(kind: &str) -> Self {
        Seal(blake3::Hasher::new()).bytes(kind.as_bytes())
    }

    pub(crate) fn bytes(mut self, field: &[u8]) -> Self {
        self.0.update(&(field.len() as u64).to_le_bytes());
        self.0.update(field);
        self
    }

    pub(crate) fn text(self, field: &str) -> Self {
        self.bytes(field.as_bytes())
    }

    pub(crate) fn number(self, field: i64) -> Self {
        self.bytes(&field.to_le_bytes())
    }

    pub(crate) fn finish(self) -> Hash {
        *self.0.finalize().as_bytes()
    }
}

/// The hash of some bytes, by which a body is addressed.
pub(crate) fn hash(bytes: &[u8]) -> Hash {
    *blake3::hash(bytes).as_bytes()
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).expect("a nibble is below sixteen");
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

/// The hash that these digits spell.
pub(crate) fn unhex(digits: &str) -> Option<Hash> {
    let digits = digits.as_bytes();
    let mut hash = [0; 32];
    if digits.len() != 2 * hash.len() {
        return None;
    }
    for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
        let high = char::from(pair[0]).to_digit(16)?;
        let low = char::from(pair[1]).to_digit(16)?;
        *byte = (high << 4 | low) as u8;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_run_together() {
        let one = Seal::new("row").text("ab").text("c").finish();
        let other = Seal::new("row").text("a").text("bc").finish();
        assert_ne!(one, other);
    }

    #[test]
    fn digits_spell_the_hash() {
        let sample = hash(b"sample");
        assert_eq!(unhex(&hex(&sample)), Some(sample));
        assert_eq!(unhex("zz"), None);
        assert_eq!(unhex(&"ж".repeat(32)), None);
    }
}
