//! Cuts a text into the pieces that evidence is chosen from: lines, and very long lines at their natural joints.
//!
//! Pieces follow one another without gaps or overlaps, end on character boundaries, and no identifier is cut. A line
//! break always ends a piece; a joint does so only where the piece would grow too long to be one statement.

use std::ops::Range;

use crate::ledger::evidence::scan::Found;

/// Longer lines are cut between sentences and clauses. Shorter pieces keep a hundredth more of the identifiers, but a reader
/// understands lines, not clauses.
const LONG_LINE: usize = 110;

/// Where no joint was met for so long, a space will do.
const TOO_LONG: usize = 180;

/// The pieces of a text, without those that hold only white space.
pub fn cut(text: &str, found: &[Found]) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut pieces = Vec::new();
    let mut found = found.iter().peekable();
    let mut start = 0;
    let mut joint = 0;
    for end in 1..=bytes.len() {
        while found.next_if(|one| one.range.end <= end).is_some() {}
        let is_inside = found.peek().is_some_and(|one| one.range.start < end);
        if is_inside || !text.is_char_boundary(end) {
            continue;
        }
        let is_end = end == bytes.len() || bytes[end - 1] == b'\n';
        if !is_end && !is_joint(bytes, end, end - start.max(joint)) {
            continue;
        }
        if end - start > LONG_LINE && joint > start {
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
