//! Diffs: files, hunks and changed lines; context far from a change is counted.
//!
//! Of a long stretch of changes the beginning is worth more than the rest: a new file is recognised by its first lines.

use super::pick::Line;
use super::pick::MUST;
use super::pick::NOISE;
use super::signals;

/// Changed lines at the start of a stretch that come before all others, and before the rest of it.
const FIRST: usize = 2;
/// As above, a little further.
const OPENING: usize = 6;

/// Context lines on each side of a change that are kept while there is room.
const NEAR: usize = 1;

/// The lines with their ranks.
pub(super) fn rank(text: &str) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut in_hunk = false;
    let mut stretch = 0;
    let mut is_git = false;
    for line in text.lines() {
        let header = is_header(line, in_hunk);
        if header {
            in_hunk = line.starts_with("@@");
        } else if !line.is_empty() && !line.starts_with([' ', '+', '-', '\\', '\t']) {
            in_hunk = false;
        }
        let changed = !header && line.starts_with(['+', '-']);
        stretch = if changed { stretch + 1 } else { 0 };
        lines.push(if header {
            Line::new(line, header_rank(line, &mut is_git), "headers")
        } else if changed {
            let label = if line.starts_with('+') { "added" } else { "removed" };
            let rank = if line.len() == 1 {
                6
            } else if stretch <= FIRST {
                2
            } else if stretch <= OPENING {
                3
            } else {
                4
            };
            Line::new(line, rank, label)
        } else if in_hunk {
            Line::new(line, NOISE, "context")
        } else if signals::is_report(line) || signals::is_summary(line) {
            Line::new(line, MUST, "")
        } else {
            // What stands before the first hunk: a commit message, a list of files.
            Line::new(line, 3, "notes")
        });
    }
    mark_near(&mut lines);
    // Changed lines that speak of failure are what somebody will look for.
    for line in lines
        .iter_mut()
        .filter(|line| line.rank == 4 && signals::is_mention(line.text))
    {
        line.rank = 3;
    }
    lines
}

/// Files first, then hunks together with the opening of their changes. What git repeats of a file comes last.
fn header_rank(line: &str, is_git: &mut bool) -> u8 {
    *is_git |= line.starts_with("diff --git ");
    match line {
        _ if line.starts_with("@@") => 2,
        _ if line.starts_with("index ") || line.starts_with("similarity ") => 6,
        _ if *is_git && (line.starts_with("--- ") || line.starts_with("+++ ")) => 5,
        _ => 1,
    }
}

fn mark_near(lines: &mut [Line<'_>]) {
    let changed: Vec<bool> = lines
        .iter()
        .map(|line| matches!(line.label, "added" | "removed"))
        .collect();
    for (index, line) in lines.iter_mut().enumerate().filter(|(_, line)| line.rank == NOISE) {
        let near = index.saturating_sub(NEAR)..(index + NEAR + 1).min(changed.len());
        if changed[near].iter().any(|changed| *changed) {
            line.rank = 5;
        }
    }
}

fn is_header(line: &str, in_hunk: bool) -> bool {
    const ALWAYS: &[&str] = &[
        "diff ",
        "@@ ",
        "commit ",
        "Binary files ",
        "rename ",
        "new file mode",
        "deleted file mode",
    ];
    const BETWEEN: &[&str] = &[
        "--- ",
        "+++ ",
        "index ",
        "similarity ",
        "old mode",
        "new mode",
        "Author:",
        "Date:",
        "Merge:",
    ];
    ALWAYS.iter().any(|prefix| line.starts_with(prefix))
        || (line.starts_with("--- ") || line.starts_with("+++ ")) && (line.contains(['/', '\t']) || !in_hunk)
        || !in_hunk && BETWEEN.iter().any(|prefix| line.starts_with(prefix))
}
