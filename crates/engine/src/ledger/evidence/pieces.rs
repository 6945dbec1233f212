//! Cuts a text into the pieces that evidence is chosen from: lines, and long lines at their natural joints.
//!
//! Pieces follow one another without gaps or overlaps, end on character boundaries, and no identifier is cut. A line
//! break, written out or escaped inside JSON, always ends a piece; a joint does so only where the piece would grow too long.

use std::ops::Range;

use crate::ledger::evidence::scan::Found;

/// Longer lines are cut between clauses and sentences. Measured on recorded sessions, 40 to 200: more keeps fewer identifiers,
/// less parts those that belong together.
const LONG_LINE: usize = 50;

/// Longer lines of JSON are cut between fields: about one key with its value. Measured as above, 25 to 90.
const LONG_RECORD: usize = 40;

/// Where no joint was met for so long, a space will do: what is left is a line of prose on a wide screen.
const TOO_LONG: usize = 180;

/// The pieces of a text, without those that hold only white space. Inside JSON, escaped line breaks count.
pub fn cut(text: &str, is_json: bool, found: &[Found]) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut pieces = Vec::new();
    let mut found = found.iter().peekable();
    let mut start = 0;
    let mut joint = 0;
    let longest = if is_json || looks_like_json(text) {
        LONG_RECORD
    } else {
        LONG_LINE
    };
    for end in 1..=bytes.len() {
        while found.next_if(|one| one.range.end <= end).is_some() {}
        let is_inside = found.peek().is_some_and(|one| one.range.start < end);
        if is_inside || !text.is_char_boundary(end) {
            continue;
        }
        let is_end = end == bytes.len() || ends_line(bytes, end, is_json);
        if !is_end && !is_joint(bytes, end, end - start.max(joint)) {
            continue;
        }
        if end - start > longest && joint > start {
            keep(text, start..joint, &mut pieces);
            start = joint;
        }
        joint = end;
        if is_end {
            keep(text, start..end, &mut pieces);
            start = end;
        }
    }
    pieces
}

fn keep(text: &str, range: Range<usize>, pieces: &mut Vec<Range<usize>>) {
    if !text[range.clone()].trim_ascii().is_empty() {
        pieces.push(range);
    }
}

/// Whether a line ends before this position. An escaped break stands at the head of the next piece, so that what the
/// escape is glued to keeps its spelling.
fn ends_line(bytes: &[u8], end: usize, is_json: bool) -> bool {
    bytes[end - 1] == b'\n' || (is_json && bytes[end..].starts_with(b"\\n") && bytes[end - 1] != b'\\')
}

/// Whether a text begins like a JSON object or array with something in it.
fn looks_like_json(text: &str) -> bool {
    let mut marks = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    matches!(marks.next(), Some(b'{' | b'[')) && matches!(marks.next(), Some(b'"' | b'\'' | b'{' | b'['))
}

/// Whether a line may be parted before this position: after a field, a clause, a command or a sentence, or at any space when
/// the last joint is too far back.
fn is_joint(bytes: &[u8], end: usize, since: usize) -> bool {
    let last = bytes[end - 1];
    let before = if end > 1 { bytes[end - 2] } else { 0 };
    let next = bytes[end];
    match last {
        b' ' => match before {
            b',' | b';' | b'}' | b']' => true,
            b'.' | b'!' | b'?' => next.is_ascii_uppercase() || matches!(next, b'*' | b'`' | b'[' | b'('),
            _ => since > TOO_LONG,
        },
        b',' => matches!(before, b'}' | b'"') && next != b' ',
        b'&' => before == b'&',
        _ => bytes[end..].starts_with(b"\\n") && last != b'\\',
    }
}
