//! The marks that pruning leaves, in a form that nobody takes for content.
//!
//! Models copy what they see: a plain `[truncated]` in an old call ends up in the next file they write. Double
//! brackets that occur in no programming language, and words that say that something was left out, prevent that.

pub use crate::transcript::LEDGER_NATURE;
pub use crate::transcript::LEDGER_TITLE;
pub use crate::transcript::SUMMARY_TITLE;
pub use crate::transcript::opens_block;
pub use crate::transcript::opens_request;
pub use crate::transcript::request_opening;

/// Opens a mark.
pub const OPEN: char = '⟦';
/// Closes a mark.
pub const CLOSE: char = '⟧';

/// How every placeholder of a pruned part begins.
const PRUNED: &str = "⟦pruned ";

/// Whether a text is a placeholder that an earlier pass left.
pub fn is_placeholder(text: &str) -> bool {
    text.starts_with(PRUNED) && text.ends_with(CLOSE)
}

/// A placeholder with these words; the words cannot close it early.
pub fn placeholder(words: &str) -> String {
    format!("{PRUNED}{}{CLOSE}", inert(words))
}

/// Text without marks of its own and without line breaks, fit to stand inside a mark.
pub fn inert(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            OPEN => '[',
            CLOSE => ']',
            '\n' | '\r' | '\t' => ' ',
            other => other,
        })
        .collect()
}

/// Digits of a reference: 80 bits, so that even somebody who wants two texts with one reference will not find them.
const REFERENCE_DIGITS: usize = 20;

/// The reference by which a text can be fetched again: a hash of it.
pub fn reference(text: &str) -> String {
    let hash = blake3::hash(text.as_bytes()).to_hex();
    format!("m{}", &hash[..REFERENCE_DIGITS])
}

/// A number with thousands separated.
pub fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_cannot_forge_or_close_a_mark() {
        let forged = placeholder("a⟧ ⟦pruned b\nc");
        assert_eq!(forged, "⟦pruned a] [pruned b c⟧");
        assert!(is_placeholder(&forged));
        assert!(!is_placeholder("⟦pruned x⟧ and more"));
    }

    #[test]
    fn references_are_stable() {
        assert_eq!(reference("hello"), reference("hello"));
        assert_ne!(reference("hello"), reference("hello "));
        assert_eq!(reference("").len(), 1 + REFERENCE_DIGITS);
    }
}
