//! Build logs: every error with its place and frame, warnings while there is room; steps are counted.

use std::sync::LazyLock;

use regex::Regex;

use super::line_forms::is_diagnostic;
use super::pick::Line;
use super::pick::MUST;
use super::pick::NOISE;
use super::pick::surround;
use super::signals;
use super::signals::pattern;

/// Lines after an error that belong to it: rustc's longest everyday frames with notes are about this long.
const AFTER: usize = 10;
/// Lines before it: the command that failed.
const BEFORE: usize = 2;

/// The lines with their ranks.
pub(super) fn rank(text: &str) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut in_warning = false;
    for line in text.lines() {
        let mut judged = judge(line);
        // A warning's place and frame go with the warning, not with the errors.
        in_warning = match judged.rank {
            _ if signals::is_warning(line) && judged.rank != MUST => true,
            MUST if !line.trim_start().starts_with("-->") => false,
            _ => in_warning && !line.trim().is_empty(),
        };
        if in_warning && !signals::is_warning(line) {
            judged = Line::new(line, 4, "notes on warnings");
        }
        lines.push(judged);
    }
    surround(&mut lines, BEFORE, AFTER);
    lines
}

fn judge(line: &str) -> Line<'_> {
    let warns = signals::is_warning(line);
    let reports = signals::is_report(line) || signals::is_mention(line);
    if warns && !FAILS_TOO.is_match(line) && !signals::is_summary(line) {
        return Line::new(line, 3, "warnings");
    }
    if STEP.is_match(line) && !signals::is_report(line) {
        return Line::new(line, NOISE, "build steps");
    }
    if reports || signals::is_summary(line) {
        return Line::new(line, MUST, "");
    }
    if is_diagnostic(line) {
        // A note on an error, or a linter's complaint: as good as one.
        return Line::new(line, if line.contains(": note:") { 2 } else { MUST }, "");
    }
    Line::new(line, 5, "output")
}

/// A warning that is also an error.
static FAILS_TOO: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\berrors?\b|\bfail|\bfatal\b|-Werror"));

/// A step on the way that went well.
static STEP: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^\s*(?:Compiling|Checking|Downloading|Downloaded|Building|Linking|Fresh|Updating|Locking|Adding|Installing|Documenting|Unpacking|Preparing|Fetching|Resolving|Collecting|Selecting) \S",
        r"|^\[ *\d+%\] |^\[\d+/\d+\] |^go: (?:downloading|finding)|^> Task :\S+(?: UP-TO-DATE| NO-SOURCE| FROM-CACHE| SKIPPED)?$|^-- (?:Looking|Check|Detecting|Performing|Found)|^(?:Get|Hit|Ign):\d+ ",
        r"|^Requirement already|^\s+Using cached|^Using cached|^(?:Setting up|Preparing to|Processing triggers|Reading) |^\s+(?:CC|LD|AR|CXX|GEN|HOSTCC|OBJCOPY)(?:\s|\s.*\s)\S+$|^\[INFO\] (?:Download|-{3,}|\s*$)",
        r"|^ ---> [0-9a-f]{12}$|^Removing intermediate|^#\d+ (?:sha256|extracting|CACHED|DONE|\d+\.\d+ (?:Get|Selecting|Unpacking|Setting up|Preparing))",
    ))
});
