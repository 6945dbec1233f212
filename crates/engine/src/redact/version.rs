//! Whether four numbers with dots between them are a version, a section or an identifier rather than an address.
//!
//! The word right before them tells. A word further off does not: a release goes to a server, and `server` only looks as if it
//! ended in an abbreviation of `version`.

use core::net::Ipv4Addr;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::redact::key::lists;

/// How far back words are looked at, in bytes.
const CONTEXT: usize = 96;
/// How many words back something of a network is looked for.
const NEAR: usize = 4;

/// The lists of `numbers.txt`.
static LISTS: LazyLock<BTreeMap<&str, BTreeSet<&str>>> = LazyLock::new(|| lists(include_str!("numbers.txt")));

fn listed(list: &str, word: &str) -> bool {
    LISTS.get(list).is_some_and(|words| words.contains(word))
}

/// Whether the four numbers at this place are no address.
pub(super) fn is_version(text: &str, start: usize, end: usize, address: Ipv4Addr) -> bool {
    let mut from = start.saturating_sub(CONTEXT);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let context = text[from..start].rsplit('\n').next().unwrap_or("");
    let after = &text[end..];
    let is_small = address.octets().into_iter().all(|octet| octet < 32);
    if is_among_decimals(context, after) || is_named_by_dots(context) {
        return true;
    }
    if let Some(told) = told_by_word(context, is_small) {
        return told;
    }
    // A port or a mask follows, or a scheme or a login stands before: that is an address however small its numbers are.
    let is_reached = context.ends_with("//")
        || context.ends_with('@')
        || matches!(after.as_bytes(), [b':' | b'/', digit, ..] if digit.is_ascii_digit());
    is_small && !address.is_private() && !is_reached && !is_near_network(context)
}

/// What the nearest word says, stepping over linking words and over versions in a row; `None` where it says nothing.
fn told_by_word(context: &str, is_small: bool) -> Option<bool> {
    let mut at_once = true;
    for word in words_back(context).take(NEAR + 2) {
        if word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            at_once &= word.contains('.');
            continue;
        }
        let last = last_part(word);
        if listed("version", &last) || is_identifier_name(word) {
            return Some(true);
        }
        if at_once && listed("version_at_once", &last) {
            return Some(true);
        }
        let is_linking = listed("linking", &last) || is_small && listed("moving", &last);
        if !is_linking {
            return listed("host", &last).then_some(false);
        }
        at_once = false;
    }
    None
}

/// Whether one of the words just before is about a network.
fn is_near_network(context: &str) -> bool {
    words_back(context).take(NEAR).any(|word| {
        let last = last_part(word);
        last.len() > 1 && listed("host", &last)
    })
}

/// The words of a text from its end: letters, digits and what names have inside.
fn words_back(text: &str) -> impl Iterator<Item = &str> {
    let part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '§');
    text.rsplit(move |letter: char| !part(letter))
        .map(|word| word.trim_matches(['.', '-']))
        .filter(|word| !word.is_empty())
}

/// The last word of a name, in lower case: `Version` of `AssemblyVersion`, `ip` of `host_ip`.
fn last_part(word: &str) -> String {
    let word = word.rsplit(['_', '-', '.']).next().unwrap_or(word);
    let word = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let mut begin = 0;
    let mut before = ' ';
    for (at, letter) in word.char_indices() {
        if letter.is_uppercase() && before.is_lowercase() {
            begin = at;
        }
        before = letter;
    }
    word[begin..].to_lowercase()
}

/// Whether a name is one of an object identifier: `OID_EDDSA`, `ObjectIdentifier`.
fn is_identifier_name(word: &str) -> bool {
    word.eq_ignore_ascii_case("objectidentifier") || word.split('_').any(|part| part.eq_ignore_ascii_case("oid"))
}

/// A dotted name of capitals before it: `Microsoft.Azure.Storage 7.4.14.14`, but not `api.example.com 7.4.14.14`.
fn is_named_by_dots(context: &str) -> bool {
    let Some(before) = context.strip_suffix(' ') else {
        return false;
    };
    let word = before.rsplit([' ', '"', '(', '\t']).next().unwrap_or("");
    word.contains('.')
        && word
            .split('.')
            .all(|part| part.bytes().next().is_some_and(|byte| byte.is_ascii_uppercase()))
        && word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'.')
}

/// Decimal numbers to both sides: the path of a drawing writes `118 3.176.77.84 1.235`.
fn is_among_decimals(context: &str, after: &str) -> bool {
    let is_decimal = |word: &str| {
        (1..=2).contains(&word.bytes().filter(|byte| *byte == b'.').count())
            && word.bytes().any(|byte| byte.is_ascii_digit())
    };
    let number = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let (Some(before), Some(next)) = (context.strip_suffix([' ', ',']), after.strip_prefix([' ', ','])) else {
        return false;
    };
    let next = next.strip_prefix('-').unwrap_or(next);
    let size = next.as_bytes().iter().take(24).take_while(|byte| number(byte)).count();
    let tail = before
        .as_bytes()
        .iter()
        .rev()
        .take(24)
        .take_while(|byte| number(byte))
        .count();
    is_decimal(&before[before.len() - tail..]) && is_decimal(&next[..size])
}
