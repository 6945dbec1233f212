//! What two lines have in common when only their numbers differ.
//!
//! A shape is a hash of the line with digits, hexadecimal ids, UUIDs and therefore timestamps masked and
//! runs of white space joined. Lines of one shape are repeats of one message.

use std::hash::DefaultHasher;
use std::hash::Hasher;

/// The hash of the masked line. Only good for comparing within one call.
pub(super) fn shape(line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii_alphanumeric() {
            let run = bytes[at..]
                .iter()
                .take_while(|byte| byte.is_ascii_alphanumeric())
                .count();
            if byte.is_ascii_hexdigit() && run == 8 && is_uuid(&bytes[at..]) {
                hasher.write_u8(b'#');
                at += UUID;
            } else {
                mask(&bytes[at..at + run], &mut hasher);
                at += run;
            }
        } else if byte.is_ascii_whitespace() {
            hasher.write_u8(b' ');
            at += bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        } else {
            hasher.write_u8(byte);
            at += 1;
        }
    }
    hasher.finish()
}

/// The length of a UUID in its usual spelling.
pub(super) const UUID: usize = 36;

/// Whether a text begins with a UUID.
pub(super) fn is_uuid(bytes: &[u8]) -> bool {
    bytes.len() >= UUID
        && bytes[..UUID].iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Shortest run of hexadecimal digits without a decimal one that is an id rather than a word: English has
/// none of eight letters in everyday use.
const HEX_ID: usize = 8;

/// Shortest run with a decimal digit that is one: shorter ones are names such as `a1` and `E0308`.
const MIXED_ID: usize = 6;

fn mask(run: &[u8], hasher: &mut impl Hasher) {
    let digits = run.strip_prefix(b"0x").unwrap_or(run);
    let hex = digits.iter().all(u8::is_ascii_hexdigit);
    let decimal = digits.iter().any(u8::is_ascii_digit);
    if hex && (digits.len() != run.len() || digits.len() >= HEX_ID || (decimal && digits.len() >= MIXED_ID)) {
        hasher.write_u8(b'#');
        return;
    }
    let mut in_number = false;
    for byte in run {
        if !byte.is_ascii_digit() {
            hasher.write_u8(*byte);
        } else if !in_number {
            hasher.write_u8(b'#');
        }
        in_number = byte.is_ascii_digit();
    }
}

/// Most ranges that a list of values names; a longer list says less than its ends.
const MOST_RANGES: usize = 16;

/// The values of the one number in which lines of one shape differ: `2-7, 9`. `None` when they differ in
/// nothing or in more than one place, or when the number is no plain one.
pub(super) fn spread(lines: &[&str]) -> Option<String> {
    let first: Vec<&str> = numbers(lines.first()?).collect();
    let mut differing: Option<usize> = None;
    let mut values = Vec::with_capacity(lines.len());
    for line in &lines[1..] {
        let mut count = 0;
        for (place, number) in numbers(line).enumerate() {
            count += 1;
            if first.get(place) != Some(&number) && *differing.get_or_insert(place) != place {
                return None;
            }
        }
        if count != first.len() {
            return None;
        }
    }
    let place = differing?;
    for line in lines {
        values.push(numbers(line).nth(place)?.parse::<u64>().ok()?);
    }
    values.sort_unstable();
    values.dedup();
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for value in &values {
        match ranges.last_mut() {
            Some((_, end)) if end.checked_add(1) == Some(*value) => *end = *value,
            _ => ranges.push((*value, *value)),
        }
    }
    if ranges.len() > MOST_RANGES {
        return Some(format!(
            "{} values from {} to {}",
            values.len(),
            values[0],
            values[values.len() - 1]
        ));
    }
    let spelled = ranges.iter().map(|(start, end)| match start == end {
        true => start.to_string(),
        false => format!("{start}-{end}"),
    });
    Some(spelled.collect::<Vec<_>>().join(", "))
}

fn numbers(line: &str) -> impl Iterator<Item = &str> {
    line.split(|character: char| !character.is_ascii_digit())
        .filter(|run| !run.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_differ_in_numbers_and_ids_have_one_shape() {
        let same = [
            ("at 12:01:59.123 took 4ms", "at 23:11:02.9 took 1200ms"),
            ("commit deadbeef", "commit 0a1b2c3d4e"),
            (
                "id 123e4567-e89b-12d3-a456-426614174000",
                "id abcdefab-abcd-abcd-abcd-abcdefabcdef",
            ),
            ("test_case1   ok", "test_case22 ok"),
            ("0x7ffe12 free", "0xffeedd free"),
        ];
        for (one, other) in same {
            assert_eq!(shape(one), shape(other), "{one} / {other}");
        }
        let different = [
            ("error: a", "error: b"),
            ("decade", "facade"),
            ("x 1", "x"),
            ("тест", "тост"),
        ];
        for (one, other) in different {
            assert_ne!(shape(one), shape(other), "{one} / {other}");
        }
    }

    #[test]
    fn the_values_of_a_run_are_named() {
        assert_eq!(
            spread(&["t[1] x2", "t[2] x2", "t[3] x2", "t[7] x2"]).as_deref(),
            Some("1-3, 7")
        );
        assert_eq!(spread(&["t[1] x2", "t[2] x3"]), None);
        assert_eq!(spread(&["same", "same"]), None);
        assert_eq!(spread(&["t1", "t18446744073709551616"]), None);
        assert_eq!(spread(&[]), None);
        let many: Vec<String> = (0..40).map(|n| format!("t{}", n * 2)).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(spread(&many).as_deref(), Some("40 values from 0 to 78"));
    }
}
