//! What the tests of every kind check alike.

use super::ContentKind;
use super::Goal;
use super::shrink;

/// Shrinks, checks what holds for every text, and that all these lines and words are there.
pub(super) fn check(kind: ContentKind, text: &str, most_bytes: usize, kept: &[&str]) -> String {
    let small = shrink(text, Goal { most_bytes }).unwrap_or_else(|| panic!("not shrunk: {text}"));
    assert_eq!(small.kind, kind, "{text}");
    assert!(small.text.len() < text.len());
    assert_eq!(small.dropped_bytes, text.len() - small.text.len());
    for line in kept {
        assert!(small.text.contains(line), "{line:?} is lost in:\n{}", small.text);
    }
    small.text
}

/// Numbered lines.
pub(super) fn repeat(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(|n| line(n) + "\n").collect()
}
