//! References, as people and models copy them.

/// How a reference begins: `m` for a text that a compaction dropped, `t` for an output that was trimmed.
const BEGINNINGS: [char; 2] = ['m', 't'];

/// The fewest digits of a reference: those of a trimmed output, which are the shorter ones.
const LEAST_DIGITS: usize = 10;

/// The one reference that a text is, however it was copied: `⟦… recall m0123…⟧` is one too. `None` for words to look for.
pub fn reference_in(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let last = words
        .last()?
        .trim_matches(|letter: char| !letter.is_ascii_alphanumeric())
        .to_ascii_lowercase();
    let digits = last.strip_prefix(BEGINNINGS)?;
    let is_one = digits.len() >= LEAST_DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_one && (words.len() == 1 || words.contains(&"recall"))).then_some(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_known_however_it_was_copied() {
        let whole = "m0123456789abcdef0123";
        for copied in [
            "m0123456789abcdef0123",
            " M0123456789ABCDEF0123 ",
            "⟦m0123456789abcdef0123⟧",
            "⟦pruned 4,000 tokens of bash; recall m0123456789abcdef0123⟧",
        ] {
            assert_eq!(reference_in(copied).as_deref(), Some(whole), "{copied}");
        }
        for words in [
            "",
            "m",
            "message",
            "t012345678",
            "the port of m0123456789abcdef0123",
            "migrate",
        ] {
            assert_eq!(reference_in(words), None, "{words}");
        }
    }
}
