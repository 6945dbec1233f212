//! Identifiers in a text: what an agent must have exactly right to go on. Addresses, paths, ids, symbols, numbers.
//!
//! The classes are tried in this order; addresses and paths are blanked out before the next class looks. Each
//! scanner walks the text once and takes what the metric's defining regular expression takes, leftmost first; the
//! expression stands above it. Lengths count characters.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::retention::characters::at;
use crate::retention::characters::before;
use crate::retention::characters::is_digit;
use crate::retention::characters::is_space;
use crate::retention::characters::is_word;
use crate::retention::characters::is_word_at;
use crate::retention::characters::run_end;
use crate::retention::characters::word_end;
use crate::retention::paths;

/// What kind of identifier it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// An address on the web.
    Url,
    /// A path or a file name.
    Path,
    /// A hash, a UUID, a record's number.
    Id,
    /// A name from code, or a flag.
    Symbol,
    /// A number, a version, a date.
    Number,
}

impl Class {
    /// All classes, in the order in which they are tried.
    pub const ALL: [Class; 5] = [Class::Url, Class::Path, Class::Id, Class::Symbol, Class::Number];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Class::Url => "url",
            Class::Path => "path",
            Class::Id => "id",
            Class::Symbol => "symbol",
            Class::Number => "number",
        }
    }
}

/// What is cut off the end of a match: punctuation of the sentence around it.
const TRAILING: &[char] = &['.', ',', ';', ':', ')', ']', '}', '\'', '"', '`'];

/// The identifiers of a text, each once, in the order in which they are found: by class, then by place.
pub fn find(text: &str) -> Vec<(Box<str>, Class)> {
    let mut found = Vec::new();
    let mut seen: HashSet<Box<str>> = HashSet::new();
    let mut rest = Cow::Borrowed(text);
    for class in Class::ALL {
        let mut spans = Vec::new();
        scan(class, &rest, &mut |start, end| {
            let name = rest[start..end].trim_end_matches(TRAILING);
            if !counts(class, name) {
                return;
            }
            spans.push((start, end));
            if !seen.contains(name) {
                seen.insert(name.into());
                found.push((name.into(), class));
            }
        });
        if matches!(class, Class::Url | Class::Path) && !spans.is_empty() {
            rest = Cow::Owned(blanked(&rest, &spans));
        }
    }
    found
}

fn scan(class: Class, text: &str, take: &mut dyn FnMut(usize, usize)) {
    match class {
        Class::Url => scan_urls(text, take),
        Class::Path => paths::scan(text, take),
        Class::Id => scan_ids(text, take),
        Class::Symbol => scan_symbols(text, take),
        Class::Number => scan_numbers(text, take),
    }
}

/// Whether a match is long enough to mean something.
fn counts(class: Class, name: &str) -> bool {
    let least = match class {
        Class::Path | Class::Symbol => 5,
        Class::Url | Class::Id | Class::Number => 3,
    };
    let two_letters = |pair: &[u8]| pair[0].is_ascii_alphabetic() && pair[1].is_ascii_alphabetic();
    name.chars().nth(least - 1).is_some() && (class != Class::Path || name.as_bytes().windows(2).any(two_letters))
}

/// The text with spaces in place of these spans.
fn blanked(text: &str, spans: &[(usize, usize)]) -> String {
    let mut blank = String::with_capacity(text.len());
    let mut last = 0;
    for (start, end) in spans {
        blank.push_str(&text[last..*start]);
        blank.extend(std::iter::repeat_n(' ', end - start));
        last = *end;
    }
    blank.push_str(&text[last..]);
    blank
}

/// ``https?://[^\s"'`<>)\]}\\]+``
fn scan_urls(text: &str, take: &mut dyn FnMut(usize, usize)) {
    let belongs = |c: char| !is_space(c) && !matches!(c, '"' | '\'' | '`' | '<' | '>' | ')' | ']' | '}' | '\\');
    let mut index = 0;
    while let Some(offset) = text[index..].find("http") {
        let start = index + offset;
        let rest = &text[start..];
        let scheme = ["https://", "http://"]
            .into_iter()
            .find(|scheme| rest.starts_with(scheme));
        let end = scheme.map_or(start, |scheme| run_end(text, start + scheme.len(), belongs));
        if scheme.is_some_and(|scheme| end > start + scheme.len()) {
            take(start, end);
            index = end;
        } else {
            index = start + 1;
        }
    }
}

/// `\b(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b|\b<UUID>\b|\b(?=[A-Z0-9]*[0-9])(?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,12}\b|#\d{2,6}\b`
///
/// Words are skipped whole, so that a word character is always met at the start of its word.
fn scan_ids(text: &str, take: &mut dyn FnMut(usize, usize)) {
    let mut index = 0;
    while let Some(c) = at(text, index) {
        if !is_word(c) {
            let end = if c == '#' { record_end(text, index + 1) } else { None };
            if let Some(end) = end {
                take(index, end);
            }
            index = end.unwrap_or(index + c.len_utf8());
            continue;
        }
        let end = word_end(text, index);
        let word = &text.as_bytes()[index..end];
        let is_whole = is_mixed(word, 7..=40, u8::is_ascii_lowercase, |b| matches!(b, b'a'..=b'f'))
            || (uuid_end(text, index).is_none() && is_mixed(word, 5..=12, u8::is_ascii_uppercase, |_| true));
        let taken = match is_whole {
            true => Some(end),
            false => uuid_end(text, index),
        };
        if let Some(taken) = taken {
            take(index, taken);
        }
        index = taken.unwrap_or(end);
    }
}

/// Whether a word of digits and such letters has both, and this length.
fn is_mixed(
    word: &[u8],
    lengths: std::ops::RangeInclusive<usize>,
    is_case: fn(&u8) -> bool,
    is_allowed: fn(u8) -> bool,
) -> bool {
    let is_letter = |byte: &u8| is_case(byte) && is_allowed(*byte);
    lengths.contains(&word.len())
        && word.iter().all(|byte| byte.is_ascii_digit() || is_letter(byte))
        && word.iter().any(u8::is_ascii_digit)
        && word.iter().any(is_letter)
}

/// The end of two to six digits that are a word.
fn record_end(text: &str, start: usize) -> Option<usize> {
    let end = run_end(text, start, is_digit);
    let digits = text[start..end].chars().count();
    ((2..=6).contains(&digits) && !is_word_at(text, end)).then_some(end)
}

fn uuid_end(text: &str, start: usize) -> Option<usize> {
    const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];
    let bytes = text.as_bytes();
    let mut index = start;
    for (place, length) in GROUPS.into_iter().enumerate() {
        if place > 0 {
            (bytes.get(index) == Some(&b'-')).then_some(())?;
            index += 1;
        }
        let group = bytes.get(index..index + length)?;
        let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        group.iter().all(is_hex).then_some(())?;
        index += length;
    }
    (!is_word_at(text, index)).then_some(index)
}

/// `\b[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b|\b(?:[A-Z][a-z0-9]+){2,}\b|`
/// `\b[A-Za-z_][A-Za-z0-9_]{2,}(?:\.[A-Za-z_][A-Za-z0-9_]{2,})+\b|--[a-z][a-z0-9-]{3,}`
fn scan_symbols(text: &str, take: &mut dyn FnMut(usize, usize)) {
    let mut index = 0;
    while let Some(c) = at(text, index) {
        if !is_word(c) {
            let end = if c == '-' { flag_end(text, index) } else { None };
            if let Some(end) = end {
                take(index, end);
                // A flag may end inside of a word, and no symbol starts there.
                index = if before(text, end).is_some_and(is_word) {
                    word_end(text, end)
                } else {
                    end
                };
            } else {
                index += c.len_utf8();
            }
            continue;
        }
        let end = word_end(text, index);
        let word = &text.as_bytes()[index..end];
        let taken = if is_snake(word) || is_humped(word) {
            Some(end)
        } else {
            dotted_end(text, index, end)
        };
        if let Some(taken) = taken {
            take(index, taken);
        }
        index = taken.unwrap_or(end);
    }
}

fn flag_end(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_flag = bytes.get(start + 1) == Some(&b'-') && bytes.get(start + 2).is_some_and(u8::is_ascii_lowercase);
    is_flag.then_some(())?;
    let belongs = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let end = run_end(text, start + 3, belongs);
    (end - start >= 6).then_some(end)
}

/// Underscores between letters and digits, none of them at an end or doubled.
fn is_snake(word: &[u8]) -> bool {
    let mut pieces = word.split(|byte| *byte == b'_');
    word.first().is_some_and(u8::is_ascii_alphabetic)
        && word.contains(&b'_')
        && pieces.all(|piece| !piece.is_empty() && piece.iter().all(u8::is_ascii_alphanumeric))
}

/// `camelCase` or `PascalCase`: capitals that each begin a piece of more than one letter.
fn is_humped(word: &[u8]) -> bool {
    let capitals = word.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let first_capital = word.iter().position(u8::is_ascii_uppercase);
    let Some(first_capital) = first_capital else {
        return false;
    };
    let starts_low = first_capital > 0;
    word[..first_capital].iter().all(u8::is_ascii_lowercase)
        && word[first_capital..].iter().all(u8::is_ascii_alphanumeric)
        && !word.windows(2).any(|pair| pair.iter().all(u8::is_ascii_uppercase))
        && !word.last().is_some_and(u8::is_ascii_uppercase)
        && (starts_low || capitals >= 2)
}

/// The end of words joined by single dots, at least two of them, each of three characters or more.
fn dotted_end(text: &str, start: usize, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_name = |word: &[u8]| {
        word.len() >= 3
            && !word[0].is_ascii_digit()
            && word.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    is_name(&bytes[start..end]).then_some(())?;
    let mut last = end;
    while bytes.get(last) == Some(&b'.') {
        let next = word_end(text, last + 1);
        if !is_name(&bytes[last + 1..next]) {
            break;
        }
        last = next;
    }
    (last > end).then_some(last)
}

/// `(?<![\w.])\d{1,4}(?:[.:/-]\d{1,4}){1,3}(?![\w])|(?<![\w.])\d{3,10}(?![\w.])`
fn scan_numbers(text: &str, take: &mut dyn FnMut(usize, usize)) {
    let mut index = 0;
    while let Some(c) = at(text, index) {
        if !is_digit(c) {
            index += c.len_utf8();
            continue;
        }
        let end = run_end(text, index, is_digit);
        let stands_alone = before(text, index).is_none_or(|c| !is_word(c) && c != '.');
        let taken = stands_alone.then(|| grouped_end(text, index, end).or_else(|| plain_end(text, index, end)));
        let taken = taken.flatten();
        if let Some(taken) = taken {
            take(index, taken);
        }
        index = taken.unwrap_or(end);
    }
}

/// Groups of one to four digits, two to four of them, as in versions, dates and times.
fn grouped_end(text: &str, start: usize, end: usize) -> Option<usize> {
    (text[start..end].chars().count() <= 4).then_some(())?;
    let mut last = end;
    for _ in 0..3 {
        if !matches!(text.as_bytes().get(last), Some(b'.' | b':' | b'/' | b'-')) {
            break;
        }
        let next = run_end(text, last + 1, is_digit);
        let digits = text[last + 1..next].chars().count();
        if !(1..=4).contains(&digits) || is_word_at(text, next) {
            break;
        }
        last = next;
    }
    (last > end).then_some(last)
}

fn plain_end(text: &str, start: usize, end: usize) -> Option<usize> {
    let digits = text[start..end].chars().count();
    let follows = at(text, end);
    ((3..=10).contains(&digits) && follows.is_none_or(|c| !is_word(c) && c != '.')).then_some(end)
}

#[cfg(test)]
#[path = "identifiers_tests.rs"]
mod tests;
