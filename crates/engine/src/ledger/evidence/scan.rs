//! Finds identifiers: the strings an agent must spell exactly, because a near miss is as bad as nothing.
//!
//! Five classes, tried in this order: addresses, paths, record ids, symbols, numbers. What an address or a path
//! covers is not searched again. One pass over a text finds addresses and paths, a second one looks between them;
//! both only step forward, so the time is linear on any input. Positions are bytes and never fall inside
//! a character: an identifier is plain ASCII, except that an address takes what stands in it.

use std::ops::Range;

/// What an identifier is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// An address on the web.
    Url,
    /// A path, or a file name with a known extension.
    Path,
    /// A commit, a record, an issue.
    Record,
    /// A name in code: snake, camel, dotted, or a long option.
    Symbol,
    /// A number of three digits or more, a version, a date, a time.
    Number,
}

/// An identifier in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where it stands.
    pub range: Range<usize>,
    /// What it is.
    pub class: Class,
}

/// Extensions that make a file name of a dotted word without a slash.
const EXTENSIONS: &str = " go py rs ts tsx js jsx mjs json jsonl md yaml yml toml sh txt c h cc cpp hpp java kt rb php html css scss \
    sql lock cfg ini mod sum xml csv ipynb rst proto swift log env golden tmpl ";

/// Shorter paths and symbols are words like `a/b` and `is_a`: they name nothing that could be looked up.
const LEAST_NAME: usize = 5;

/// Finds the identifiers of a text, in the order in which they stand.
pub fn scan(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut from = 0;
    for covered in addresses_and_paths(text, &mut found) {
        between(text, from..covered.start, &mut found);
        from = covered.end;
    }
    between(text, from..text.len(), &mut found);
    found.sort_by_key(|one| (one.range.start, one.class));
    found
}

/// Pushes addresses and paths, and returns what they cover, trailing punctuation included.
fn addresses_and_paths(text: &str, found: &mut Vec<Found>) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut covered = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if let Some(end) = address_end(bytes, at) {
            push(text, at..end, Class::Url, found);
            covered.push(at..end);
            at = end;
        } else if is_path_byte(bytes[at]) || matches!(bytes[at], b'/' | b'~') {
            at = paths_of_run(text, at, found, &mut covered);
        } else {
            at += 1;
        }
    }
    covered
}

/// Where an address that starts here ends.
fn address_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let scheme = [&b"https://"[..], &b"http://"[..]]
        .into_iter()
        .find(|scheme| rest.starts_with(scheme))?;
    let body = rest[scheme.len()..].iter().position(|byte| ends_address(*byte));
    let length = body.unwrap_or(rest.len() - scheme.len());
    (length > 0).then_some(at + scheme.len() + length)
}

fn ends_address(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b')' | b']' | b'}' | b'\\')
}

fn is_path_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'@' | b'+' | b'-')
}

/// Handles one run of bytes that paths are made of; returns where the search goes on.
fn paths_of_run(text: &str, start: usize, found: &mut Vec<Found>, covered: &mut Vec<Range<usize>>) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    if bytes[start] == b'~' {
        at += 1;
        // A home directory starts a path only where a slash follows.
        if bytes.get(at) != Some(&b'/') {
            return at;
        }
    }
    let head = at;
    while at < bytes.len() && is_path_byte(bytes[at]) {
        if bytes[at] == b'h' && address_end(bytes, at).is_some() {
            break;
        }
        at += 1;
    }
    let mut end = at;
    while bytes.get(end) == Some(&b'/') && bytes.get(end + 1).copied().is_some_and(is_path_byte) {
        end += 1;
        while end < bytes.len() && is_path_byte(bytes[end]) {
            end += 1;
        }
    }
    if end > at {
        if push(text, start..end, Class::Path, found) {
            covered.push(start..end);
        }
        return end;
    }
    if at > head {
        file_names(text, head..at, found, covered);
        return at;
    }
    start + 1
}

/// File names with a known extension in a run without slashes.
fn file_names(text: &str, run: Range<usize>, found: &mut Vec<Found>, covered: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let mut at = run.start;
    while at < run.end {
        let mut end = at;
        while end < run.end && !matches!(bytes[end], b'@' | b'+') {
            end += 1;
        }
        dotted_names(text, at..end, found, covered);
        at = end + 1;
    }
}

fn dotted_names(text: &str, run: Range<usize>, found: &mut Vec<Found>, covered: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let mut at = run.start;
    while at < run.end {
        while at < run.end && matches!(bytes[at], b'.' | b'-') {
            at += 1;
        }
        // A chain of components without empty ones; the last one that is an extension ends the name.
        let start = at;
        let mut end = None;
        let mut components = 0;
        while at < run.end {
            let component = at;
            while at < run.end && bytes[at] != b'.' {
                at += 1;
            }
            let word = component + bytes[component..at].iter().take_while(|byte| **byte != b'-').count();
            if components > 0 && is_extension(&text[component..word]) {
                end = Some(word);
            }
            components += 1;
            if bytes.get(at + 1).is_none_or(|next| *next == b'.') || at + 1 >= run.end {
                break;
            }
            at += 1;
        }
        if let Some(end) = end
            && !is_word_before(text, start)
        {
            if push(text, start..end, Class::Path, found) {
                covered.push(start..end);
            }
            at = at.max(end);
        }
        at += 1;
    }
}

fn is_extension(word: &str) -> bool {
    if word.is_empty() || word.len() > 6 || word.contains(' ') {
        return false;
    }
    EXTENSIONS.split_ascii_whitespace().any(|extension| extension == word)
}

/// Whether the character before a position belongs to a word.
fn is_word_before(text: &str, at: usize) -> bool {
    text[..at]
        .chars()
        .next_back()
        .is_some_and(|character| character.is_alphanumeric() || character == '_')
}

/// Records, symbols and numbers in a stretch that neither an address nor a path covers.
fn between(text: &str, range: Range<usize>, found: &mut Vec<Found>) {
    let stretch = &text[range.clone()];
    let bytes = stretch.as_bytes();
    let offset = range.start;
    let (mut at, mut symbol_from, mut number_from) = (0, 0, 0);
    while at < bytes.len() {
        let end = word_end(stretch, at);
        if end == at {
            if at >= symbol_from && bytes[at..].starts_with(b"--") {
                let end = option_end(bytes, at);
                if end > at {
                    push(text, offset + at..offset + end, Class::Symbol, found);
                    symbol_from = end;
                }
            }
            at += char_length(bytes[at]);
            continue;
        }
        let word = at..end;
        if bytes[word.clone()].is_ascii() {
            if let Some(range) = record(bytes, &word) {
                push(text, offset + range.start..offset + range.end, Class::Record, found);
            }
            if at >= symbol_from
                && let Some(range) = symbol(stretch, &word)
            {
                push(text, offset + range.start..offset + range.end, Class::Symbol, found);
                symbol_from = range.end;
            }
            if at >= number_from
                && let Some(range) = number(stretch, &word)
            {
                push(text, offset + range.start..offset + range.end, Class::Number, found);
                number_from = range.end;
            }
        }
        at = end;
    }
}

/// How many bytes the character has that starts with this byte.
fn char_length(first: u8) -> usize {
    match first {
        0..0xC0 => 1,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    }
}

/// Where the word that starts here ends; `at` itself when no word starts here.
fn word_end(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            at += 1;
        } else if byte >= 0x80 && text[at..].chars().next().is_some_and(char::is_alphanumeric) {
            at += char_length(byte);
        } else {
            break;
        }
    }
    at
}

/// Where a long option such as `--no-verify` ends; `at` itself when there is none.
fn option_end(bytes: &[u8], at: usize) -> usize {
    let name = at + 2;
    if !bytes.get(name).is_some_and(u8::is_ascii_lowercase) {
        return at;
    }
    let is_part = |byte: &&u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || **byte == b'-';
    let length = bytes[name..].iter().take_while(is_part).count();
    if length >= 4 { name + length } else { at }
}

/// The record id that this word is.
fn record(bytes: &[u8], word: &Range<usize>) -> Option<Range<usize>> {
    let one = &bytes[word.clone()];
    let digits = one.iter().filter(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        return None;
    }
    if digits == one.len() {
        let is_issue = (2..=6).contains(&digits) && word.start > 0 && bytes[word.start - 1] == b'#';
        return is_issue.then(|| word.start - 1..word.end);
    }
    let is_hash = (7..=40).contains(&one.len()) && one.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_code = (5..=12).contains(&one.len()) && one.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'Z'));
    (is_hash || is_code).then(|| word.clone())
}

/// The symbol that starts with this word.
fn symbol(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let one = &bytes[word.clone()];
    if is_snake(one) || is_camel(one) {
        return Some(word.clone());
    }
    let mut next = word.clone();
    let mut end = word.start;
    while is_dotted_component(&bytes[next.clone()]) {
        end = next.end;
        if bytes.get(end) != Some(&b'.') {
            break;
        }
        next = end + 1..word_end(text, end + 1);
    }
    (end > word.end).then_some(word.start..end)
}

/// The number, version, date or time that starts with this word.
fn number(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_digits = |range: &Range<usize>| !range.is_empty() && bytes[range.clone()].iter().all(u8::is_ascii_digit);
    if !is_digits(word) || (word.start > 0 && bytes[word.start - 1] == b'.') {
        return None;
    }
    let mut end = word.end;
    let mut groups = 0;
    // At most three more groups of at most four digits: a date, a time, a version, an address.
    while groups < 3 && word.len() <= 4 && matches!(bytes.get(end), Some(b'.' | b':' | b'/' | b'-')) {
        let group = end + 1..word_end(text, end + 1);
        if !is_digits(&group) || group.len() > 4 {
            break;
        }
        end = group.end;
        groups += 1;
    }
    if groups > 0 {
        return Some(word.start..end);
    }
    ((3..=10).contains(&word.len()) && bytes.get(end) != Some(&b'.')).then(|| word.clone())
}

fn is_snake(word: &[u8]) -> bool {
    word[0].is_ascii_alphabetic()
        && word.contains(&b'_')
        && word.split(|byte| *byte == b'_').all(|part| !part.is_empty())
}

/// `lowerCamel` with at least one hump, or `UpperCamel` with at least two; a hump is a capital and what follows it.
fn is_camel(word: &[u8]) -> bool {
    let lead = word.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    let mut humps = 0;
    let mut tail = 1;
    for byte in &word[lead..] {
        if byte.is_ascii_uppercase() {
            if tail == 0 {
                return false;
            }
            humps += 1;
            tail = 0;
        } else if byte.is_ascii_lowercase() || byte.is_ascii_digit() {
            if humps == 0 {
                return false;
            }
            tail += 1;
        } else {
            return false;
        }
    }
    tail > 0 && humps >= if lead > 0 { 1 } else { 2 }
}

fn is_dotted_component(word: &[u8]) -> bool {
    word.len() >= 3 && (word[0].is_ascii_alphabetic() || word[0] == b'_') && word.is_ascii()
}

/// Adds an identifier without the punctuation that ends a sentence; says whether it is one.
fn push(text: &str, range: Range<usize>, class: Class, found: &mut Vec<Found>) -> bool {
    const TRAILING: [char; 10] = ['.', ',', ';', ':', ')', ']', '}', '\'', '"', '`'];
    let one = text[range.clone()].trim_end_matches(TRAILING);
    let is_one = match class {
        Class::Url | Class::Record | Class::Number => one.len() >= 3,
        Class::Symbol => one.len() >= LEAST_NAME,
        Class::Path => {
            one.len() >= LEAST_NAME
                && one
                    .as_bytes()
                    .windows(2)
                    .any(|two| two.iter().all(u8::is_ascii_alphabetic))
        }
    };
    if is_one {
        found.push(Found {
            range: range.start..range.start + one.len(),
            class,
        });
    }
    is_one
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
