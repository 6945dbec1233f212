//! Where a word ends: whether something found in a text stands there by itself, or is a piece of something longer.

use std::ops::Range;

/// Numbers of fewer digits are too often pieces of dates, ranges, versions and names.
const LONG_NUMBER: usize = 4;

/// Whether a character is part of words and names.
pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a script writes without spaces, so that words have no edges.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' | '\u{e00}'..='\u{e7f}')
}

/// Whether a place of a folded text is no piece of a longer word, number, name or path.
pub fn fit(text: &str, place: &Range<usize>) -> bool {
    let found = &text[place.clone()];
    let (Some(first), Some(last)) = (found.chars().next(), found.chars().next_back()) else {
        return false;
    };
    let mut left = text[..place.start].chars().rev();
    let mut right = text[place.end..].chars();
    let left = (left.next(), left.next());
    let right = (right.next(), right.next());
    // `_word_` is emphasis.
    let is_aside = |c: Option<char>| c.is_none_or(|c| !is_word(c) && !matches!(c, '/' | '.' | '-'));
    let is_emphasised = left.0 == Some('_') && right.0 == Some('_') && is_aside(left.1) && is_aside(right.1);
    is_emphasised || (fits_left(text, place, first, left) && fits_right(text, place, last, right))
}

type Two = (Option<char>, Option<char>);

fn is_digit(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_ascii_digit())
}

fn fits_left(text: &str, place: &Range<usize>, first: char, (near, far): Two) -> bool {
    let Some(near) = near else {
        return true;
    };
    let touches = is_word(near) && !is_unspaced(near) && !is_unspaced(first);
    if !first.is_ascii_digit() {
        return match first {
            first if is_word(first) => !touches,
            '.' | '/' | '-' | '~' => !is_word(near) || is_unspaced(near),
            _ => true,
        };
    }
    let is_short = digits(&text[place.clone()]) < LONG_NUMBER;
    match near {
        // A version.
        'v' => far.is_none_or(|c| !is_word(c)),
        '.' => far.is_some_and(|c| c.is_alphabetic() || c == '.'),
        ',' => !is_digit(far) || is_listed(text, place.start - 1),
        '-' => far.is_some_and(char::is_alphanumeric) && !is_short,
        ':' => !is_digit(far) || !is_short,
        _ => !touches,
    }
}

fn fits_right(text: &str, place: &Range<usize>, last: char, (near, far): Two) -> bool {
    let Some(near) = near else {
        return true;
    };
    if !is_word(last) {
        return true;
    }
    let found = &text[place.clone()];
    if is_word(near) && !is_unspaced(near) && !is_unspaced(last) {
        return (near == 't' && is_digit(far) && ends_with_date(found)) || is_short_hash(found, &text[place.end..]);
    }
    let is_short = found.bytes().rev().take_while(u8::is_ascii_digit).count() < LONG_NUMBER;
    let is_number = last.is_ascii_digit();
    match near {
        '.' if is_number => !is_digit(far),
        // `auth.rs.bak` is another file than `auth.rs`.
        '.' => !(found.contains('.') && !found.contains(' ') && far.is_some_and(is_word)),
        ',' if is_number => !is_digit(far) || is_listed(text, place.end),
        '-' if is_number => !(is_digit(far) && is_short),
        ':' if is_number => !(is_digit(far) && digits(found) < 3),
        _ => true,
    }
}

/// Whether something ends with `2026-11-16`: a time may stand right behind it.
fn ends_with_date(found: &str) -> bool {
    let bytes = found.as_bytes();
    let date = bytes.len().checked_sub(10).map_or(&[][..], |start| &bytes[start..]);
    let is_dashed = |(at, byte): (usize, &u8)| {
        if at == 4 || at == 7 {
            *byte == b'-'
        } else {
            byte.is_ascii_digit()
        }
    };
    date.len() == 10 && date.iter().enumerate().all(is_dashed)
}

/// Whether something is the start of a hash that goes on: seven digits, the least that git shows, with letters among them.
fn is_short_hash(found: &str, behind: &str) -> bool {
    // The longest in use has 64 digits; what goes on longer is no hash.
    let rest = behind
        .bytes()
        .take(65)
        .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let is_hexadecimal = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
    found.len() >= 7
        && found.bytes().all(|byte| is_hexadecimal(&byte))
        && found.bytes().any(|byte| byte.is_ascii_digit())
        && found.bytes().any(|byte| byte.is_ascii_alphabetic())
        && rest.clone().count() <= 64
        && rest.clone().all(|byte| is_hexadecimal(&byte))
}

fn digits(found: &str) -> usize {
    found.bytes().take_while(u8::is_ascii_digit).count()
}

/// Whether a comma between digits stands in a list, not between thousands and not before decimals: there are more than two numbers
/// and they are no groups of three behind a shorter one, or all of them have three digits.
fn is_listed(text: &str, comma: usize) -> bool {
    // Longer runs of digits and commas are lists.
    const MOST: usize = 40;
    let bytes = text.as_bytes();
    let belongs = |byte: &&u8| byte.is_ascii_digit() || **byte == b',';
    let before = bytes[..comma].iter().rev().take(MOST).take_while(belongs).count();
    let behind = bytes[comma..].iter().take(MOST).take_while(belongs).count();
    if before == MOST || behind == MOST {
        return true;
    }
    let groups: Vec<usize> = bytes[comma - before..comma + behind]
        .split(|byte| *byte == b',')
        .map(<[u8]>::len)
        .filter(|length| *length > 0)
        .collect();
    let is_grouped = groups[1..].iter().all(|length| *length == 3) && groups[0] < 3;
    let is_decimal = groups.len() == 2 && groups[1] != 3;
    !is_grouped && !is_decimal
}
