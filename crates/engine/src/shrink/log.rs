//! Logs: errors and warnings, and of every message that repeats its first and last entry.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::pick::Line;
use super::pick::MUST;
use super::pick::NOISE;
use super::pick::surround;
use super::shape::shape;
use super::signals;
use super::signals::pattern;

/// Entries of one shape up to which a message is rare, and shown whole while there is room.
const RARE: usize = 2;

/// Lines after an error that belong to it: a trace, a detail.
const AFTER: usize = 4;

/// The lines with their ranks.
pub(super) fn rank(text: &str) -> Vec<Line<'_>> {
    struct Seen {
        count: usize,
        last: usize,
    }
    let mut seen: HashMap<u64, Seen> = HashMap::new();
    let shapes: Vec<u64> = text.lines().map(shape).collect();
    for (index, shape) in shapes.iter().enumerate() {
        let seen = seen.entry(*shape).or_insert(Seen { count: 0, last: index });
        seen.count += 1;
        seen.last = index;
    }
    let mut shown: HashMap<u64, usize> = HashMap::new();
    let mut lines = Vec::with_capacity(shapes.len());
    for (index, line) in text.lines().enumerate() {
        let repeats = &seen[&shapes[index]];
        let is_first = *shown.entry(shapes[index]).or_insert(index) == index;
        let is_end = is_first || repeats.last == index;
        lines.push(
            if (signals::is_mention(line) && !CALM.is_match(line)) || signals::is_summary(line) {
                Line::new(line, MUST, "")
            } else if signals::is_warning(line) {
                Line::new(line, if is_end { 1 } else { 4 }, "warnings")
            } else if line.trim().is_empty() {
                Line::new(line, NOISE, "")
            } else if repeats.count <= RARE {
                Line::new(line, 3, "entries")
            } else if is_end {
                Line::new(line, if is_first { 2 } else { 3 }, "repeats")
            } else {
                Line::new(line, NOISE, "repeats")
            },
        );
    }
    surround(&mut lines, 1, AFTER);
    lines
}

/// A measurement that names failure and found none. Levels are not asked: entries of a calm level may still report one.
static CALM: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b(?:error|failure) (?:rate|count|budget)\b[^a-z]*0(?:\.0+)?%?\s*$"));
