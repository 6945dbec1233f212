//! Forms of a line that several kinds look for: complaints of compilers, frames of stack traces, entries of logs.

use std::sync::LazyLock;

use regex::Regex;

use super::signals::pattern;

/// What compilers and linters say of a place: `path:line:column: message`.
static DIAGNOSTIC: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\s*[^\s:()]+(?::\d+:\d+:? |:\d+: (?:fatal )?(?:error|warning|note|Error|Warning)\b|\(\d+,\d+\): )\S|^\s*\d+:\d+ +(?:error|warning) ",
    )
});

/// Whether a line is a compiler's or linter's complaint about a place.
pub(super) fn is_diagnostic(line: &str) -> bool {
    DIAGNOSTIC.is_match(line)
}

/// A frame of a stack trace, in the spellings of a dozen runtimes.
static FRAME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"^\s+at \S|^\s*File ".+", line \d+|^\s*(?:#\d+|\d+:) +(?:0x[0-9a-fA-F]+|\S+::|in )|^\s+\S+\.go:\d+(?: \+0x|$)|^\s+from \S+:\d+:in |^goroutine \d+ "#,
        r"|^\S+\.rb:\d+:in |^\s*\(?\S+\.exs?:\d+: |^\s+\S+\.(?:php|swift|kt)\(\d+\)|^#\d+ \S+\(\d+\): |^\s+\S+/\S+\.\S+:\d+:in |^\s*Frame #?\d+|^\s+\.\.\. \d+ (?:more|common)|^\S+\(.*(?:0x[0-9a-f]+|\.\.\.)\)$",
    ))
});

/// Whether a line is a frame of a stack trace.
pub(super) fn is_frame(line: &str) -> bool {
    FRAME.is_match(line)
}

/// A log entry: a time or a level where lines begin.
static ENTRY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^\W{0,3}(?:\S{1,40}[\s|]+(?:[^\d\n]{0,40}[\s|]+)?)?\W{0,3}\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|^\W{0,2}\d\d:\d\d:\d\d\b|^(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d+ \d\d:\d\d:\d\d",
        r"|^\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|trace|debug|info|warn|error)\]?[\s:]|^[IWEF]\d{4} \d\d:|\btime=\S+ level=|^level=|^ts=|\[\d\d/\w{3}/\d{4}[: ]|^\[\s*\d+\.\d+\] |^\d{10,13}(?:\.\d+)?[ \t]|^\[\d{4}-\d\d-\d\d",
    ))
});

/// Whether a line begins as log entries do.
pub(super) fn is_log_entry(line: &str) -> bool {
    ENTRY.is_match(line)
}
