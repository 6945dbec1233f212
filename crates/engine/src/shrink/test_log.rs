//! Test logs: every failing test, what it saw, the summaries; passing tests are counted.

use std::sync::LazyLock;

use regex::Regex;

use super::pick::Line;
use super::pick::MUST;
use super::pick::NOISE;
use super::pick::surround;
use super::signals;
use super::signals::pattern;

/// Lines after a failure that explain it: assertion, values, the place, a short frame of code.
const AFTER: usize = 12;
/// Lines before it: captured output that led to it.
const BEFORE: usize = 3;

/// The lines with their ranks.
pub(super) fn rank(text: &str) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = text.lines().map(judge).collect();
    expect_more(&mut lines);
    surround(&mut lines, BEFORE, AFTER);
    lines
}

fn judge(line: &str) -> Line<'_> {
    if is_passing(line) {
        // The name of a passing test may speak of errors; such a name is still worth more than the others'.
        let rank = if signals::is_mention(line) { 7 } else { NOISE };
        return Line::new(line, rank, "passing tests");
    }
    if signals::is_report(line) || signals::is_mention(line) || signals::is_summary(line) {
        return Line::new(line, MUST, "");
    }
    if SKIPPED.is_match(line) {
        return Line::new(line, 6, "skipped tests");
    }
    if PROGRESS.is_match(line) {
        return Line::new(line, NOISE, "progress");
    }
    if signals::is_warning(line) {
        return Line::new(line, 4, "warnings");
    }
    Line::new(line, 5, "output")
}

/// A panic's message stands on the line after its place, and what a Go test saw on the line after its name.
fn expect_more(lines: &mut [Line<'_>]) {
    for index in 1..lines.len() {
        let is_named = lines[index - 1].text.trim_start().starts_with("--- FAIL");
        if is_named && SAW.is_match(lines[index].text) {
            lines[index].rank = MUST;
        }
        if lines[index - 1].text.contains("panicked at") && lines[index - 1].text.trim_end().ends_with(':') {
            lines[index].rank = MUST;
        }
    }
}

/// A test or suite that passed.
static PASSING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^\s*test .+ \.\.\. ok\b|^\s*(?:=== (?:RUN|PAUSE|CONT|NAME)|--- PASS:)|^\s*(?:✓|✔|√|✅)|^PASS(?:\s|$)|^\s*ok \d+\b|^ok\s+\S+\s+(?:[\d.]+s|\(cached\))|^\?\s+\S+\s+\[no test files\]",
        r"|(?:^|\s)PASSED\b|^\S+\.py [.sxX]+\s*(?:\[ *\d+%\])?$|^\s*\d+/\d+ Test +#\d+: .* Passed|^\s*Start +\d+: |\.\.\. ok$|^\[ RUN +\]|^\[ +OK \]|^\s*PASS \[ *[\d.]+s\]",
        r"|^(?:\[INFO\] )?(?:Running \S+|Tests run: \d+, Failures: 0, Errors: 0, Skipped: \d+, Time)|^Test (?:Case|Suite) '.+' (?:started|passed)|^\s*[.·]+$|^\+\d+: ",
    ))
});

fn is_passing(line: &str) -> bool {
    PASSING.is_match(line) && !signals::is_failing(line)
}

/// `    sum_test.go:12: got 3, want 4`
static SAW: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s+\S+\.\w+:\d+: \S"));

static SKIPPED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\.\.\. ignored|--- SKIP:|\bSKIP(?:PED)?\b|^\s*(?:○|-|⊝|↓) |\bskipped\b|\bXFAIL\b|\bpending\b")
});

/// What builds and installs print before tests run.
static PROGRESS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\s*(?:Compiling|Checking|Downloading|Downloaded|Fresh|Building|Updating|Locking|Blocking) |^go: downloading|^\[INFO\] (?:Download|-{3,}|\s*$)|^> Task :\S+(?: UP-TO-DATE| NO-SOURCE| FROM-CACHE)?$",
    )
});

#[cfg(test)]
#[path = "test_log_tests.rs"]
mod tests;
