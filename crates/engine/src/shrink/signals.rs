//! What a line is worth, whatever kind of output it stands in.
//!
//! Three strengths: a *report* is a line that announces an error, a failing test or an exit; a *mention* has
//! the vocabulary of failure anywhere in it; a *summary* counts the outcome. In logs a mention is as good as a
//! report, in source code and prose it is not: code that raises an error has not failed.
//!
//! Patterns are data. All are linear: the regex engine does not backtrack.

use std::sync::LazyLock;

use regex::Regex;

/// Compiles a pattern that is written down in this room. Word boundaries are those of ASCII: with all of Unicode's the regex
/// engine leaves its fast path on every text that is not English.
pub(super) fn pattern(text: &str) -> Regex {
    Regex::new(&text.replace(r"\b", r"(?-u:\b)"))
        .expect("the patterns of this room are well formed, which a test shows")
}

/// A line that announces an error. Also what a compiler or linter says about a place in a file.
static REPORT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        // error: …, error[E0308]: …, error TS2304: …, Error: …, fatal: …, panic: …, ERROR …, npm ERR! …
        r"(?:^|[\s\[(:>'|])(?i:(?:fatal |internal |runtime |syntax |type |compile |linker )?error(?: ?[A-Z]{1,6}-?\d+|\[\w+\])?|fatal|panic|exception|failure)(?: ?:|!)",
        r"|\b(?:ERROR|ERRORS|FATAL|PANIC|CRITICAL|EMERG|ALERT|SEVERE)\b|\bERR!|\bE/\w",
        r"|(?:^|[\s\[(:>|])[EFC]\d{4} \d\d:\d\d", // klog
        r"|panicked at|\bTraceback \(|^goroutine \d+ \[|^Caused by:|\bcaused by:",
        r"|^\s*(?:[\w.$]+\.)?[A-Z]\w*(?:Error|Exception|Panic|Fault|Interrupt)\b(?::|\s*$|\s*\()",
        r"|\b(?:[Uu]ncaught|[Uu]nhandled)\b|[Ss]egmentation fault|core dumped|SIG(?:SEGV|ABRT|KILL|BUS|ILL)\b|AddressSanitizer",
        r"|^\s*\[(?i:error|fatal|fail|failed)\]|\blevel=(?i:error|fatal|panic|crit)",
        r"|^\s*-->\s\S+:\d+:\d+|\): error [A-Z]+\d+|: undefined reference to|\bcommand not found\b|No such file or directory|[Pp]ermission denied",
        r"|^(?:g?make|ninja)(?:\[\d+\])?: \*\*\*|\bout of memory\b|\bOOMKilled\b|\bConnection refused\b|\bECONN\w+\b|\bENOENT\b|\bEACCES\b",
    ))
});

/// A failing test or suite, of any runner.
static FAILING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\bFAILED\b|\bFAILURES?\b|\bFAIL\b|\*\*\*Failed|\*\*\*Exception|\*\*\*Timeout|\*\*\*Not Run|\bTIMED? ?OUT\b",
        r"|^\s*(?:not ok)\b|^\s*---- .+ ----\s*$",
        r"|^\s*(?:✗|✘|✕|✖|×|❌|⨯|●)\s*\S|^\s*\d+\) \S",
        r"|^(?:rspec|cargo test|pytest) \S+.*# ",
        r"|^E\s{2,}\S|^_{4,} .+ _{4,}$|^\s*(?:Expected|Received|expected|actual|got|want|left|right|Actual|Got|Want)\s*:",
        r"|^\S+\.\w+:\d+: (?:\w*Error|\w*Exception|[Ff]ailed)\b|assertion .*failed|[Aa]ssertion(?:Error| failed)",
        r"|<<< (?:FAILURE|ERROR)!|^\s*Failed tests?:|tests? failed\b|\bfailed to\b",
    ))
});

/// The vocabulary of failure anywhere in a line.
static MENTION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i:\b(?:errors?|failed|failures?|failing|fatal|panic(?:ked)?|exceptions?|traceback|critical|aborted|aborting|segfault|denied|refused|unhandled|uncaught|timed out|crash(?:ed)?)\b)",
        r"|\w(?:Error|Exception)\b|\berr=",
    ))
});

/// Words of failure that report its absence.
static ABSENCE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)\b(?:no|0|zero|without(?: any)?) (?:test )?(?:errors?|failures?|failed|failing|exceptions?|crashes)\b",
        r#"|\b(?:errors|failed|failures?|exceptions)\s*[:=]\s*0(?:[\s,;)]|$)|\berr(?:or)?=(?:<?nil>?|null|none|"")(?:\s|$)|"(?:errors?|failed|failures?|exceptions?|err)"\s*:\s*(?:null|false|\[\]|""|\{\})"#,
    ))
});

/// Counts of an outcome, exit codes, how long it took.
static SUMMARY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^\s*test result:|^=+ .*\b(?:passed|failed|error|errors|no tests ran|skipped)\b.* =+$|^\s*Summary \[|^\d+ (?:passed|failed)\b",
        r"|^\s*(?:Tests|Test Suites|Test Files|Snapshots|Suites|Assertions):?\s+.*\d|^\s*(?:Time|Duration|Start at):?\s+[\d.:]+",
        r"|Tests run:|^\s*\d+ (?:passing|failing|pending)\b|^\d+ examples?, \d+ failures?|\d+% tests passed|^Ran \d+ tests?|^OK\b|^1\.\.\d+",
        r"|^# (?:tests|pass|fail|ok|skip|suites|cancelled|duration)\b|^\d+ tests?, |^\d+ tests? completed|^Total Test time|^(?:ok|FAIL)\s+\S+\s+[\d.]+s$",
        r"|\bBUILD (?:SUCCESS\w*|FAILURE|FAILED)\b|^\s*Finished\b|generated \d+ warnings?|aborting due to|could not compile|^\d+ actionable tasks?",
        r"|^(?:added|removed|changed|up to date).*\bpackages?\b|^Found \d+ (?:errors?|issues?|problems?)|✖ \d+ problems?|^\d+ (?:errors?|warnings?|issues?)\b|\bSuccessfully (?:built|installed|tagged)\b",
        r"|(?i)\bexit(?:ed)?(?: with)?(?: code| status)[ :=]+-?\d+|\bexited (?:with )?\d+|\bexit[=:] ?\d+|\bexit status\b|\b(?:exit|return)[ _]?code\b|\breturned? -?\d+$|\bDone in [\d.]+|\bfiles? changed, \d+",
    ))
});

/// A place: a path with a directory or an extension and, often, a line.
static PLACE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:^|[\s\x22'`(\[=])(?:\.{0,2}/|[A-Za-z]:\\|~/)?[\w.@+-]+(?:[/\\][\w.@+-]+)+|\b[\w-]+\.[A-Za-z]{1,4}:\d+|https?://",
    )
});

/// A warning, in the spellings of compilers and loggers.
static WARNING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:^|[\s\[(:])(?i:warning)(?:\[\w+\]| [A-Z]+\d+)?\s?:|\bWARN(?:ING)?\b|\blevel=warn|npm warn|\bdeprecated\b|\bDeprecat",
    )
});

/// Whether a line announces an error or a failing test.
pub(super) fn is_report(line: &str) -> bool {
    (REPORT.is_match(line) || FAILING.is_match(line)) && !speaks_of_none(line)
}

/// Whether a line announces a failing test, or says what a test saw.
pub(super) fn is_failing(line: &str) -> bool {
    FAILING.is_match(line) && !speaks_of_none(line)
}

/// Whether a line has the vocabulary of failure anywhere.
pub(super) fn is_mention(line: &str) -> bool {
    (MENTION.is_match(line) || REPORT.is_match(line) || FAILING.is_match(line)) && !speaks_of_none(line)
}

/// Whether a line counts an outcome or names an exit code.
pub(super) fn is_summary(line: &str) -> bool {
    SUMMARY.is_match(line)
}

/// Whether a line names a path or a place in a file.
pub(super) fn is_place(line: &str) -> bool {
    PLACE.is_match(line)
}

/// Whether a line is a warning.
pub(super) fn is_warning(line: &str) -> bool {
    WARNING.is_match(line)
}

/// Where the words of failure stand, for cutting long lines around them.
pub(super) fn failure_spans(line: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    MENTION.find_iter(line).map(|found| (found.start(), found.end()))
}

/// Whether all that a line says of failure is that there was none.
fn speaks_of_none(line: &str) -> bool {
    if !ABSENCE.is_match(line) {
        return false;
    }
    let rest = ABSENCE.replace_all(line, " ");
    !(MENTION.is_match(&rest) || REPORT.is_match(&rest) || FAILING.is_match(&rest))
}

#[cfg(test)]
#[path = "signals_tests.rs"]
mod tests;
