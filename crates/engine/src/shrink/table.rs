//! Tables: the header, the first and last rows, the odd rows; the others are counted.

use super::odd::Cell;
use super::odd::odd;
use super::pick::Line;
use super::pick::MUST;
use super::signals;

/// Rows shown at the head and at the tail before any other.
const ENDS: usize = 3;

/// Most columns that are compared; wider tables are compared by these.
const COLUMNS: usize = 64;

/// How the columns of a table are parted.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Parting {
    Pipe,
    Mark(char),
    Spaces,
}

/// Whether the lines are a table.
pub(super) fn is_table(lines: &[&str]) -> bool {
    parting(lines).is_some()
}

/// The lines with their ranks.
pub(super) fn rank(text: &str) -> Vec<Line<'_>> {
    let all: Vec<&str> = text.lines().collect();
    let sample: Vec<&str> = all
        .iter()
        .filter(|line| !line.trim().is_empty())
        .take(200)
        .copied()
        .collect();
    let parting = parting(&sample).unwrap_or(Parting::Spaces);
    let rows: Vec<Vec<Cell<'_>>> = all.iter().map(|line| cells(line, parting)).collect();
    let flags = odd(&rows);
    let mut lines: Vec<Line<'_>> = all.iter().map(|line| Line::new(line, 4, "rows")).collect();
    let count = lines.len();
    let head = lines
        .iter()
        .position(|line| !cells(line.text, parting).is_empty())
        .unwrap_or(0);
    for (index, line) in lines.iter_mut().enumerate() {
        if index == head || signals::is_report(line.text) || signals::is_summary(line.text) {
            // The header names the columns of everything that stays.
            line.rank = MUST;
        } else if index <= head + ENDS || index + ENDS >= count || is_rule(line.text) && index < head + ENDS {
            line.rank = 1;
        } else if flags[index] || signals::is_mention(line.text) {
            line.rank = 2;
        }
    }
    lines
}

/// Which lines of a table differ from their neighbours in some column.
pub(super) fn odd_rows(lines: &[&str]) -> Vec<bool> {
    let sample: Vec<&str> = lines.iter().take(200).copied().collect();
    let parting = parting(&sample).unwrap_or(Parting::Spaces);
    let rows: Vec<Vec<Cell<'_>>> = lines.iter().map(|line| cells(line, parting)).collect();
    // The first row names the columns and is odd among values.
    let values = rows.get(1..).unwrap_or_default();
    let rules = values.iter().map(Vec::is_empty);
    let flags = odd(values).into_iter().zip(rules).map(|(odd, is_rule)| odd && !is_rule);
    std::iter::once(false).chain(flags).take(lines.len()).collect()
}

/// The parting that nearly all lines share, in the same number.
fn parting(lines: &[&str]) -> Option<Parting> {
    if lines.len() < 3 {
        return None;
    }
    let pipes = lines
        .iter()
        .filter(|line| line.trim().starts_with('|') && line.trim().ends_with('|'))
        .count();
    let bars = lines
        .iter()
        .filter(|line| line.matches(" | ").count() >= 1 || is_rule(line))
        .count();
    if pipes * 100 >= lines.len() * 80 || bars * 100 >= lines.len() * 75 && lines.iter().any(|line| is_rule(line)) {
        return Some(Parting::Pipe);
    }
    for mark in ['\t', ',', ';'] {
        let counts: Vec<usize> = lines.iter().map(|line| line.matches(mark).count()).collect();
        let usual = usual(&counts);
        let agree = counts.iter().filter(|count| **count == usual).count();
        let prose = lines
            .iter()
            .filter(|line| line.contains(", ") || line.trim_end().ends_with([';', '{', ',']))
            .count();
        let plenty = usual >= 2 || mark == '\t' && usual >= 1;
        if plenty && agree * 100 >= lines.len() * 85 && (mark == '\t' || prose * 100 < lines.len() * 20) {
            return Some(Parting::Mark(mark));
        }
    }
    is_aligned(lines).then_some(Parting::Spaces)
}

/// The most frequent count.
fn usual(counts: &[usize]) -> usize {
    let mut sorted = counts.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|one, other| one == other);
    runs.max_by_key(|run| run.len()).map_or(0, |run| run[0])
}

/// A header of capitals over columns parted by two spaces or more, as `docker ps` and `kubectl get` print.
fn is_aligned(lines: &[&str]) -> bool {
    let columns = |line: &str| cells(line, Parting::Spaces).len();
    let header = columns(lines[0]);
    let capitals = lines[0]
        .chars()
        .filter(|character| character.is_alphabetic())
        .all(char::is_uppercase);
    let alike = lines.iter().filter(|line| columns(line).abs_diff(header) <= 1).count();
    header >= 3 && alike * 100 >= lines.len() * 85 && (capitals || header >= 4) && !lines[0].starts_with(' ')
}

/// A line of dashes between header and rows.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3
        && line
            .chars()
            .all(|character| matches!(character, '-' | '|' | ':' | ' ' | '+' | '=' | '─' | '┼'))
}

fn cells(line: &str, parting: Parting) -> Vec<Cell<'_>> {
    if line.trim().is_empty() || is_rule(line) {
        return Vec::new();
    }
    let cell = |(column, text)| Cell {
        column: column as u64,
        text: str::trim(text),
    };
    match parting {
        Parting::Pipe => line.split('|').enumerate().take(COLUMNS).map(cell).collect(),
        Parting::Mark(mark) => line.split(mark).enumerate().take(COLUMNS).map(cell).collect(),
        Parting::Spaces => {
            let parts = line.split("  ").filter(|part| !part.trim().is_empty());
            parts.enumerate().take(COLUMNS).map(cell).collect()
        }
    }
}
