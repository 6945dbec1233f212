//! Data of people, where a host asks for it: addresses, numbers and names that belong to one person.
//!
//! A number counts by its form and its check digits, or by the word that stands before it; an order number or a timestamp has neither.

use memchr::memchr_iter;
use memchr::memmem;

use crate::redact::chars::line_start;
use crate::redact::scan::Found;
use crate::redact::scan::Label;

/// How far before a number the word stands that says what it is.
const CONTEXT: usize = 48;

/// Names of accounts and directories that are nobody's.
const NOBODY: &[&str] = &[
    "user",
    "users",
    "runner",
    "root",
    "ubuntu",
    "admin",
    "administrator",
    "public",
    "shared",
    "default",
    "vagrant",
    "node",
    "app",
    "git",
    "circleci",
    "travis",
    "jenkins",
    "ec2-user",
    "codespace",
    "vscode",
    "coder",
    "gitpod",
    "username",
    "you",
    "me",
    "name",
    "yourname",
    "www-data",
    "postgres",
    "noreply",
    "no-reply",
    "donotreply",
    "test",
    "example",
    "runneradmin",
    "appuser",
    "builder",
    "developer",
    "dev",
    "sandbox",
    "agent",
    "all",
    "guest",
    "nobody",
    "service",
];

/// Everything about people in a text.
pub(super) fn find(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    mails_and_handles(text, &mut found);
    homes(text, &mut found);
    numbers(text, &mut found);
    hardware(text, &mut found);
    accounts(text, &mut found);
    found
}

fn note(found: &mut Vec<Found>, start: usize, end: usize, kind: &'static str) {
    found.push(Found {
        start,
        end,
        label: Label::Code(kind, "data of a person"),
    });
}

fn mails_and_handles(text: &str, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    for at in memchr_iter(b'@', bytes) {
        let local = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'+' | b'%');
        let name = bytes[..at].iter().rev().take(64).take_while(|byte| local(byte)).count();
        let host = bytes[at + 1..]
            .iter()
            .take(120)
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'))
            .count();
        if name == 0 {
            mention(text, at, found);
            continue;
        }
        let start = at - name;
        let mut end = at + 1 + host;
        while end > at && matches!(bytes[end - 1], b'.' | b'-') {
            end -= 1;
        }
        let domain = &text[at + 1..end];
        let last = domain.rsplit('.').next().unwrap_or("");
        let spoken = domain.contains('.') && last.len() >= 2 && last.bytes().all(|byte| byte.is_ascii_alphabetic());
        let person = text[start..at].trim_start_matches('.').to_ascii_lowercase();
        let example = matches!(
            domain,
            "example.com" | "example.org" | "example.net" | "users.noreply.github.com"
        );
        let remote = bytes.get(end) == Some(&b':') && person == "git";
        if !spoken || remote || example || NOBODY.contains(&person.as_str()) {
            continue;
        }
        let author = author_start(text, start).filter(|_| bytes.get(end) == Some(&b'>'));
        match author {
            Some(author) => note(found, author, end + 1, "pii_author"),
            None => note(found, start, end, "pii_email"),
        }
    }
}

/// Where the name before `<mail>` begins in a line of git.
fn author_start(text: &str, mail: usize) -> Option<usize> {
    if mail == 0 || text.as_bytes()[mail - 1] != b'<' {
        return None;
    }
    let line = line_start(text.as_bytes(), mail, 160);
    let before = text.get(line..mail)?;
    let marks = [
        "Author: ",
        "author ",
        "Co-authored-by: ",
        "Signed-off-by: ",
        "Committer: ",
        "committer ",
        "Reviewed-by: ",
        "Commit: ",
        "AuthorName: ",
        "From: ",
    ];
    let found = marks
        .iter()
        .find_map(|mark| before.find(mark).map(|at| at + mark.len()))?;
    Some(line + found + (before[found..].len() - before[found..].trim_start().len()))
}

/// `<@123456>` and `@some_person`.
fn mention(text: &str, at: usize, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let before = at.checked_sub(1).map(|before| bytes[before]);
    let name = bytes[at + 1..]
        .iter()
        .take(33)
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
        .count();
    let end = at + 1 + name;
    let spelled = &text[at + 1..end];
    let digits = !spelled.is_empty() && spelled.bytes().all(|byte| byte.is_ascii_digit());
    if before == Some(b'<') && bytes.get(end) == Some(&b'>') && digits && name >= 6 {
        return note(found, at - 1, end + 1, "pii_mention");
    }
    let apart = before
        .is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b'(' | b'"' | b'\'' | b',' | b'`' | b':'));
    let goes_on = matches!(bytes.get(end), Some(b'/' | b'(' | b'{' | b'@' | b'='))
        || (bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric));
    // Decorators and packages are words; handles of people mostly have an underscore or a number.
    let personal = (5..=32).contains(&name)
        && spelled.as_bytes()[0].is_ascii_alphabetic()
        && spelled.bytes().any(|byte| byte.is_ascii_digit() || byte == b'_');
    let starts_line = bytes[line_start(bytes, at, 64)..at].trim_ascii().is_empty();
    let decorator = starts_line && !spelled.bytes().any(|byte| byte.is_ascii_digit());
    if apart && !goes_on && personal && !decorator && !digits {
        note(found, at, end, "pii_handle");
    }
}

/// Home directories: the directory with its owner's name.
fn homes(text: &str, found: &mut Vec<Found>) {
    for root in ["/home/", "/Users/", ":\\Users\\", ":\\\\Users\\\\", ":/Users/"] {
        for at in memmem::find_iter(text.as_bytes(), root) {
            let start = if root.starts_with(':') {
                match at
                    .checked_sub(1)
                    .filter(|drive| text.as_bytes()[*drive].is_ascii_alphabetic())
                {
                    Some(drive) => drive,
                    None => continue,
                }
            } else {
                at
            };
            let from = at + root.len();
            let name = text.as_bytes()[from..]
                .iter()
                .take(64)
                .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
                .count();
            let spelled = text[from..from + name].trim_end_matches('.');
            let glued = start > 0 && text.as_bytes()[start - 1].is_ascii_alphanumeric();
            if spelled.len() >= 2 && !glued && !NOBODY.contains(&spelled.to_ascii_lowercase().as_str()) {
                note(found, start, from + spelled.len(), "pii_home");
            }
        }
    }
}

/// Phones, cards, documents: everything that begins with a digit, a plus or a bracket.
fn numbers(text: &str, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let begins = bytes[at].is_ascii_digit() || matches!(bytes[at], b'+' | b'(');
        let glued = at > 0
            && (bytes[at - 1].is_ascii_alphanumeric() || matches!(bytes[at - 1], b'_' | b'#' | b'.' | b'-' | b'/'));
        if !begins || glued {
            at += 1;
            continue;
        }
        let part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b' ' | b'-' | b'(' | b')' | b'+');
        let size = bytes[at..].iter().take(40).take_while(|byte| part(byte)).count();
        let mut end = at + size;
        while end > at && !bytes[end - 1].is_ascii_digit() {
            end -= 1;
        }
        let next = bytes.get(end).copied().unwrap_or(b' ');
        let whole = !next.is_ascii_alphanumeric()
            && next != b'_'
            && !(matches!(next, b'.' | b':' | b'/') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit));
        match number(text, at, end).filter(|_| whole) {
            Some((kind, end)) => {
                note(found, at, end, kind);
                at = end;
            }
            // Go on after the first run of digits, for a second number may begin after a space.
            None => {
                at += bytes[at..]
                    .iter()
                    .take_while(|byte| byte.is_ascii_digit())
                    .count()
                    .max(1)
            }
        }
    }
}

/// What a number is, and where it ends.
fn number(text: &str, start: usize, end: usize) -> Option<(&'static str, usize)> {
    let spelled = text.get(start..end)?;
    let digits: Vec<u8> = spelled
        .bytes()
        .filter(u8::is_ascii_digit)
        .map(|byte| byte - b'0')
        .collect();
    let mut from = start.saturating_sub(CONTEXT);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let context = text[from..start].to_lowercase();
    let near = |words: &[&str]| words.iter().any(|word| context.contains(word));
    let plus = spelled.starts_with('+');
    let groups: Vec<usize> = spelled
        .split([' ', '-', '(', ')', '+'])
        .map(str::len)
        .filter(|size| *size > 0)
        .collect();
    match digits.len() {
        9 if near(&["ssn", "social security"]) && groups == [3, 2, 4] => return Some(("pii_ssn", end)),
        11 if groups == [3, 3, 3, 2] && (near(&["снилс", "snils"]) || is_snils(&digits)) => {
            return Some(("pii_snils", end));
        }
        12 if near(&["инн", "inn"]) && groups == [12] => return Some(("pii_inn", end)),
        10 if near(&["паспорт", "passport"]) => return Some(("pii_passport", end)),
        13..=19
            if is_card(&digits)
                && groups.iter().all(|size| *size >= 4)
                && (groups.len() > 1 || near(&["card", "карт", "pan", "visa", "mastercard", "amex"])) =>
        {
            return Some(("pii_card", end));
        }
        _ => {}
    }
    let russian = digits.len() == 11
        && matches!(digits[0], 7 | 8)
        && matches!(digits[1], 3 | 4 | 8 | 9)
        && (plus || groups.len() >= 4 || near(&["тел", "phone", "звон", "tel"]));
    let american =
        digits.len() == 10 && groups == [3, 3, 4] && (spelled.starts_with('(') || near(&["call", "tel", "phone"]));
    let abroad = plus && (9..=15).contains(&digits.len()) && digits[0] != 0 && !spelled[1..].contains('+');
    (russian || american || abroad).then_some(("pii_phone", end))
}

/// A card's check digit, and a first digit that issuers use.
fn is_card(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| {
            let value = u32::from(*digit) * if at % 2 == 1 { 2 } else { 1 };
            if value > 9 { value - 9 } else { value }
        })
        .sum();
    matches!(digits[0], 2..=6) && sum.is_multiple_of(10)
}

fn is_snils(digits: &[u8]) -> bool {
    let sum: u32 = digits[..9]
        .iter()
        .zip((1..=9).rev())
        .map(|(digit, weight)| u32::from(*digit) * weight)
        .sum();
    let check = sum % 101 % 100;
    u32::from(digits[9]) * 10 + u32::from(digits[10]) == check
}

/// Hardware addresses: six pairs of hex digits.
fn hardware(text: &str, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let mut done = 0;
    for at in memchr::memchr2_iter(b':', b'-', bytes) {
        let start = at.saturating_sub(2);
        if at < 2 || start < done || start + 17 > bytes.len() {
            continue;
        }
        let address = &bytes[start..start + 17];
        let fits = address.iter().enumerate().all(|(place, byte)| {
            if place % 3 == 2 {
                *byte == bytes[at]
            } else {
                byte.is_ascii_hexdigit()
            }
        });
        let apart = |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != bytes[at]);
        if fits && apart(start.checked_sub(1).map(|before| &bytes[before])) && apart(bytes.get(start + 17)) {
            note(found, start, start + 17, "pii_mac");
            done = start + 17;
        }
    }
}

/// Bank accounts: two letters, two check digits, and a remainder of one.
fn accounts(text: &str, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at + 15 <= bytes.len() {
        let begins = bytes[at].is_ascii_uppercase()
            && bytes[at + 1].is_ascii_uppercase()
            && bytes[at + 2].is_ascii_digit()
            && bytes[at + 3].is_ascii_digit();
        if !begins || (at > 0 && bytes[at - 1].is_ascii_alphanumeric()) {
            at += 1;
            continue;
        }
        let mut end = at + 4;
        let mut value: Vec<u8> = bytes[at..at + 4].to_vec();
        while end < bytes.len() && value.len() < 34 {
            match bytes[end] {
                byte if byte.is_ascii_uppercase() || byte.is_ascii_digit() => value.push(byte),
                b' ' if (end - at) % 5 == 4 => {}
                _ => break,
            }
            end += 1;
        }
        while bytes[end - 1] == b' ' {
            end -= 1;
        }
        let apart = bytes.get(end).is_none_or(|byte| !byte.is_ascii_alphanumeric());
        if value.len() >= 15 && apart && is_account(&value) {
            note(found, at, end, "pii_iban");
        }
        at = end;
    }
}

fn is_account(value: &[u8]) -> bool {
    let rotated = value[4..].iter().chain(&value[..4]);
    let rest = rotated.fold(0u32, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        _ => (rest * 100 + u32::from(byte - b'A') + 10) % 97,
    });
    rest == 1
}
