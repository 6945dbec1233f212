//! Cutting one long line, so that what it says about failure stays.
//!
//! Never inside a character, never longer than before.

use std::borrow::Cow;

use super::base64;
use super::marker::CLOSE;
use super::marker::OPEN;
use super::signals;

/// The line, or its head, its tail and what stands around words of failure, in about `most` bytes.
pub(super) fn elide(line: &str, most: usize) -> Cow<'_, str> {
    if line.len() <= most {
        return Cow::Borrowed(line);
    }
    let line = base64::without_blobs(line);
    if line.len() <= most {
        return line;
    }
    let mut kept: Vec<(usize, usize)> = vec![(0, most / 2)];
    for (start, end) in signals::failure_spans(&line).take(WINDOWS) {
        kept.push((start.saturating_sub(WINDOW / 4), end.saturating_add(WINDOW)));
    }
    kept.push((line.len() - most / 4, line.len()));
    let short = join(&line, &kept);
    if short.len() < line.len() {
        Cow::Owned(short)
    } else {
        line
    }
}

/// Bytes kept after a word of failure: a message is a sentence. A quarter of that stays before it.
const WINDOW: usize = 160;

/// Places of failure kept in one line; a minified bundle has thousands.
const WINDOWS: usize = 8;

/// The kept spans with markers between them. Spans begin in ascending order.
fn join(line: &str, kept: &[(usize, usize)]) -> String {
    let mut text = String::new();
    let mut at = 0;
    for (start, end) in kept {
        let start = line.floor_char_boundary((*start).max(at));
        let end = line.floor_char_boundary((*end).min(line.len()));
        if end <= at {
            continue;
        }
        // A marker is about this long; a shorter gap stays.
        if start > at + 32 {
            text.push_str(&format!("{OPEN} {} bytes dropped{CLOSE}", start - at));
            text.push_str(&line[start..end]);
        } else {
            text.push_str(&line[at..end]);
        }
        at = end;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_tail_and_failures_of_a_long_line_stay() {
        let line = format!(
            "{}error: disk full{}",
            "words and ".repeat(500),
            " and words".repeat(500)
        );
        let short = elide(&line, 200);
        assert!(short.len() < 700, "{}", short.len());
        assert!(short.starts_with("words and") && short.ends_with("and words"));
        assert!(short.contains("error: disk full"));
        assert!(short.contains(" bytes dropped⟧"));
    }

    #[test]
    fn characters_are_never_cut() {
        let line = "ж".repeat(3000);
        for most in [160, 161, 163, 400, 1999] {
            assert!(elide(&line, most).len() < line.len());
        }
        assert_eq!(elide("short", 160), "short");
    }
}
