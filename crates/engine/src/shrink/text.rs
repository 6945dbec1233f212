//! Prose and everything unknown: head and tail, and between them the lines that hold something to act on.

use std::collections::HashMap;

use super::pick::Line;
use super::pick::MUST;
use super::shape::shape;
use super::signals;

/// Lines of the head and of the tail that come first.
const ENDS: usize = 2;

/// And those that come next, with the paths.
const NEAR_ENDS: usize = 8;

/// Lines of one shape up to which none of them is a repeat.
const REPEATS: usize = 3;

/// The lines with their ranks.
pub(super) fn rank(text: &str) -> Vec<Line<'_>> {
    let count = text.lines().count();
    let mut seen: HashMap<u64, usize> = HashMap::new();
    let lines = text.lines().enumerate();
    lines
        .map(|(index, line)| {
            let repeats = seen.entry(shape(line)).or_insert(0);
            *repeats += 1;
            if signals::is_report(line) {
                return Line::new(line, MUST, "");
            }
            if *repeats > REPEATS && !line.trim().is_empty() {
                return Line::new(line, 6, "repeats");
            }
            let from_end = index.min(count - 1 - index);
            let rank = if from_end < ENDS || signals::is_summary(line) {
                1
            } else if line.starts_with('#') || signals::is_mention(line) {
                2
            } else if from_end < NEAR_ENDS || signals::is_place(line) {
                3
            } else if line.bytes().any(|byte| byte.is_ascii_digit()) {
                4
            } else {
                5
            };
            Line::new(line, rank, "")
        })
        .collect()
}
