//! Which kind of content a tool printed, from the content alone.
//!
//! Structure first (JSON, markup, blobs, diffs), then the outputs whose lines announce themselves (tests, hits,
//! builds, traces, logs), then shapes (listings, tables), then source code; what is left is text. Only a sample of
//! lines is looked at, so that a kind costs little; JSON is checked whole, because it has to stay valid.

use std::sync::LazyLock;

use regex::Regex;

use super::ContentKind;
use super::base64;
use super::code;
use super::html;
use super::line_forms::is_diagnostic;
use super::line_forms::is_frame;
use super::line_forms::is_log_entry;
use super::listing;
use super::search_hits;
use super::signals;
use super::signals::pattern;
use super::table;
use super::tape::Tape;

/// Most lines looked at, from the head, the middle and the tail.
const SAMPLE: usize = 600;

/// Most bytes looked at of one line: signs of a kind stand at its beginning.
const LINE: usize = 400;

/// The kind of a text without escapes.
pub(super) fn detect(text: &str) -> ContentKind {
    let trimmed = text.trim();
    if trimmed.starts_with(['{', '[']) {
        if Tape::document(text).is_some() {
            return ContentKind::Json;
        }
        if Tape::lines(text).is_some() {
            return ContentKind::JsonLines;
        }
    }
    if html::is_html(trimmed) {
        return ContentKind::Html;
    }
    // More than half of it cannot be read, so that it is the blob that matters.
    if base64::share(text) > 50 {
        return ContentKind::Base64;
    }
    by_lines(&sample(trimmed))
}

/// Lines with something on them, cut; all of a short text, three stretches of a long one.
fn sample(text: &str) -> Vec<&str> {
    let cut = |line: &'_ str| line.floor_char_boundary(LINE.min(line.len()));
    let all: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let third = SAMPLE / 3;
    let picked: Vec<&str> = match all.len() {
        0..=SAMPLE => all,
        count => {
            let middle = (count - third) / 2;
            let stretches = [&all[..third], &all[middle..middle + third], &all[count - third..]];
            stretches.concat()
        }
    };
    picked.into_iter().map(|line| &line[..cut(line)]).collect()
}

/// Lines that belong to one kind, as a share of all.
struct Votes {
    hits: usize,
    lines: usize,
}

impl Votes {
    fn of(lines: &[&str], sign: impl Fn(&str) -> bool) -> Votes {
        let hits = lines.iter().filter(|line| sign(line)).count();
        Votes {
            hits,
            lines: lines.len(),
        }
    }

    /// At least so many lines, and at least so many of a hundred.
    fn reach(&self, hits: usize, percent: usize) -> bool {
        self.hits >= hits && self.hits * 100 >= self.lines * percent
    }
}

/// The shares below were set on recorded tool outputs of four agents: a wrapper's own lines (command, wall time, exit
/// code) and a few lines of another kind must not hide what the output is.
fn by_lines(lines: &[&str]) -> ContentKind {
    if is_diff(lines) {
        return ContentKind::Diff;
    }
    let is_view = code::is_numbered_view(lines);
    if !is_view {
        let hits = Votes::of(lines, search_hits::is_hit);
        if hits.reach(3, 60) && !Votes::of(lines, is_diagnostic).reach(2, 50) {
            return ContentKind::SearchHits;
        }
        let tests = Votes::of(lines, |line| TEST.is_match(line));
        if Votes::of(lines, |line| TEST_SURE.is_match(line)).hits > 0 && tests.reach(2, 1) || tests.reach(3, 30) {
            return ContentKind::TestLog;
        }
        let traces = Votes::of(lines, |line| is_frame(line) || THROWN.is_match(line));
        if Votes::of(lines, is_frame).reach(2, 20)
            && traces.reach(3, 35)
            && lines.iter().any(|line| signals::is_mention(line))
        {
            return ContentKind::StackTrace;
        }
        if Votes::of(lines, is_log_entry).reach(3, 50) {
            return ContentKind::Log;
        }
        if Votes::of(lines, |line| BUILD.is_match(line) || is_diagnostic(line)).reach(3, 15) {
            return ContentKind::BuildLog;
        }
        if listing::is_listing(lines) {
            return ContentKind::Listing;
        }
        if table::is_table(lines) {
            return ContentKind::Table;
        }
    }
    if code::is_code(lines, is_view) {
        return ContentKind::Code;
    }
    ContentKind::Text
}

fn is_diff(lines: &[&str]) -> bool {
    let hunks = lines.iter().filter(|line| line.starts_with("@@ ")).count();
    let files = lines
        .windows(2)
        .filter(|pair| pair[0].starts_with("--- ") && pair[1].starts_with("+++ "))
        .count();
    let headers = lines.iter().filter(|line| line.starts_with("diff --git ")).count();
    let changed = Votes::of(lines, |line| line.starts_with(['+', '-', ' ', '@']));
    (hunks > 0 && files + headers > 0 && changed.reach(3, 30)) || headers > 1 && changed.reach(2, 30)
}

/// A line that a test runner prints for one test or for all.
static TEST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^\s*test .+ \.\.\. (?:ok|FAILED|ignored)|^\s*test result:|^running \d+ tests?$|^\s*(?:=== (?:RUN|PAUSE|CONT)|--- (?:PASS|FAIL|SKIP):)",
        r"|^(?:ok|FAIL|\?)\s+\S+\s+(?:[\d.]+s|\(cached\)|\[no test files\])|::\S+.* (?:PASSED|FAILED|SKIPPED|ERROR|XFAIL)\b|^(?:FAILED|ERROR|PASSED) \S+\.py",
        r"|^=+ (?:test session starts|FAILURES|ERRORS|short test summary|.*\d+ (?:passed|failed|error).*) ?.*=+$|^\S+\.py [.FEsxX]+(?:\s|$)|^collected \d+ items?",
        r"|^(?:PASS|FAIL) \S+\.\w+|^\s*(?:✓|✔|√|✗|✘|✕|×) |^\s*(?:Tests|Test Suites|Test Files|Snapshots):?\s+\d|^\s*\d+ (?:passing|failing|pending)\b",
        r"|Tests run: \d+|^(?:\[\w+\] )?Running \S+Test\S*$|^\S+ > .+ (?:PASSED|FAILED|SKIPPED)$|^\d+ examples?, \d+ failures?|^(?:not )?ok \d+\b|^TAP version|^1\.\.\d+$",
        r"|^\s*\d+/\d+ Test +#\d+|^\s*Start +\d+: |\d+% tests passed|^test_\w+ \(.+\) ?\.\.\. |^Ran \d+ tests? in|^\[(?: RUN| +OK|  FAILED|-{10}|={10}|  PASSED) ?",
        r"|^\s*(?:PASS|FAIL|SIGABRT|TIMEOUT|SLOW|LEAK) \[ *[\d.]+s\]|^Test (?:Case|Suite) '.+' (?:started|passed|failed)|^> Task :\S*[tT]est\b|^\d+ tests? completed|^(?:OK|FAILURES!) ?\(?.*(?:tests|assertions)|^\s*● .+ › ",
        r"|^Failures:$|^Failed examples:$|^rspec \S+|^failures:$|^---- .+ ----$|^\+\d+(?: -\d+)?: ",
    ))
});

/// Of these, the ones that nothing but a test runner prints.
static TEST_SURE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^\s*test result: |^running \d+ tests?$|^=== RUN|^\s*--- (?:PASS|FAIL|SKIP): \S+ \(|^=+ (?:test session starts|short test summary|.*\d+ (?:passed|failed|error).* in )",
        r"|^\s*(?:Tests|Test Suites|Test Files):?\s+\d|^\s*\d+ (?:passing|failing) |Tests run: \d+, Fail|^\d+ examples?, \d+ failures?|^(?:not )?ok \d+ |^TAP version \d",
        r"|\d+% tests passed|^Ran \d+ tests? in |^\[==========\]|^(?:ok|FAIL)\s+\S+\s+(?:[\d.]+s|\(cached\))|::\S+ (?:PASSED|FAILED)|^\S+ > .+ (?:PASSED|FAILED)$|^FAILED \S+\.py|^OK \(\d+ tests",
        r"|^\s*Summary \[ *[\d.]+s\]|^(?:PASS|FAIL) \S+\.\w+$|^Test Suite '.+' (?:passed|failed)|^\s*Start +\d+: ",
    ))
});

/// A line that a compiler, linker, packager or image builder prints on its way.
static BUILD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^\s*(?:Compiling|Checking|Downloading|Downloaded|Building|Finished|Linking|Fresh|Updating|Locking|Installing|Documenting|Unpacking|Preparing|Fetching|Resolving) \S",
        r"|^(?:error|warning)(?:\[\w+\])?: |^\s+--> \S+:\d+|^\s+= (?:note|help):|^npm (?:ERR!|WARN|warn|error|notice)|^(?:added|removed) \d+ packages?|\): (?:error|warning) [A-Z]+\d+:",
        r"|^\[ *\d+%\] |^\[\d+/\d+\] |^(?:g?make|ninja)(?:\[\d+\])?: |^> Task :|^> Configure |BUILD (?:SUCCESS|FAIL)|^\[(?:INFO|ERROR|WARNING|DEBUG)\] |^(?:Step \d+/\d+ :|#\d+ |--->)",
        r"|^(?:gcc|g\+\+|cc|clang|clang\+\+|c\+\+|ld|ar|javac|rustc|tsc) |^go: (?:downloading|finding)|^-- (?:Configuring|Build files|Detecting|Check|Looking|Found|The )|^CMake (?:Error|Warning)",
        r"|^(?:Collecting|Requirement already|Using cached|Successfully|Get:\d+|Hit:\d+|Selecting|Setting up|Reading package|Processing triggers) ?\S*|^In file included from|^\s+(?:CC|LD|AR|CXX|GEN|HOSTCC) ",
        r"|^(?:vite|webpack|rollup|esbuild|tsup|next|turbo)\b|^(?:ERROR|WARNING) in |^Module not found|^(?:dist|build)/\S+ +[\d.]+ ?k?B|^(?:FAILED|BUILD): |^Found \d+ errors?",
    ))
});

/// What stands above or below the frames.
static THROWN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^Traceback |^(?:Caused by: )?(?:[\w$]+\.)*[A-Z]\w*(?:Error|Exception)(?::|$)|^Exception in thread|panicked at ",
    )
});

#[cfg(test)]
#[path = "kind_tests.rs"]
mod tests;
