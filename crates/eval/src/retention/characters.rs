//! Which characters count as words, digits and spaces. The metric was defined with Python's `re`, whose classes
//! follow Unicode's general categories; Rust's `is_alphanumeric` also takes marks and circled letters.

use std::sync::LazyLock;

use regex::Regex;

static LETTER_OR_NUMBER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\A[\p{L}\p{N}]").expect("the pattern is a valid constant"));
static DECIMAL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\A\p{Nd}").expect("the pattern is a valid constant"));

/// `\w`: letters, numbers of all kinds and the underscore.
pub fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    c.is_alphanumeric() && LETTER_OR_NUMBER.is_match(c.encode_utf8(&mut [0; 4]))
}

/// `\d`: decimal digits of any script.
pub fn is_digit(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_digit();
    }
    c.is_numeric() && DECIMAL.is_match(c.encode_utf8(&mut [0; 4]))
}

/// `\s`: white space, and the four ASCII separators that Unicode does not call so.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// The character that starts at this byte.
pub fn at(text: &str, index: usize) -> Option<char> {
    text[index..].chars().next()
}

/// The character that ends before this byte.
pub fn before(text: &str, index: usize) -> Option<char> {
    text[..index].chars().next_back()
}

/// Where a run of such characters ends that starts at this byte.
pub fn run_end(text: &str, index: usize, belongs: impl Fn(char) -> bool) -> usize {
    let rest = &text[index..];
    index + rest.find(|c| !belongs(c)).unwrap_or(rest.len())
}

/// Where the word ends that starts at this byte.
pub fn word_end(text: &str, index: usize) -> usize {
    run_end(text, index, is_word)
}

/// Whether a word goes on or begins at this byte.
pub fn is_word_at(text: &str, index: usize) -> bool {
    at(text, index).is_some_and(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classes_are_those_of_the_definition() {
        // As `re.match(r"\w", c)` and friends answer.
        for (c, word, digit, space) in [
            ('é', true, false, false),
            ('ж', true, false, false),
            ('漢', true, false, false),
            ('²', true, false, false),
            ('٣', true, true, false),
            ('\u{0301}', false, false, false),
            ('\u{093e}', false, false, false),
            ('Ⓐ', false, false, false),
            ('\u{1d}', false, false, true),
            ('\u{a0}', false, false, true),
            ('\u{200b}', false, false, false),
            ('-', false, false, false),
        ] {
            assert_eq!((is_word(c), is_digit(c), is_space(c)), (word, digit, space), "{c:?}");
        }
    }
}
