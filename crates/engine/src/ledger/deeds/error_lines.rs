//! Lines by which builds, tests and programs report a failure, and lines that only repeat one.

use std::sync::LazyLock;

use regex::Regex;

/// Whether a line repeats or explains an error that stands elsewhere.
pub(super) fn is_echo(plain: &str) -> bool {
    ECHOES.iter().any(|opening| plain.starts_with(opening))
}

/// Whether an echo names no cause at all, so that any other one tells more.
pub(super) fn is_bare_code(plain: &str) -> bool {
    let code = plain
        .strip_prefix("npm ERR! code")
        .or(plain.strip_prefix("npm error code"));
    code.map(str::trim)
        .is_some_and(|code| code == "ELIFECYCLE" || code.bytes().all(|byte| byte.is_ascii_digit()))
}

/// What goes wrong according to a build tool that announces its cause; empty where the cause stands on the next line.
pub(super) fn announced_cause(plain: &str) -> Option<&str> {
    plain.strip_prefix("* What went wrong:").map(str::trim)
}

/// Whether a line is the status of an HTTP answer that failed.
pub(super) fn is_failed_answer(plain: &str) -> bool {
    FAILED_ANSWER.is_match(plain)
}

/// Whether a line is a header of an HTTP answer.
pub(super) fn is_header(plain: &str) -> bool {
    HEADER.is_match(plain)
}

/// A message without the paths in it: one cause that strikes in several places is one error.
pub(super) fn without_paths(line: &str) -> String {
    static PATH: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?:/[\w.@+#-]+){3,}/?"));
    // Every file of a stopped merge has its line.
    if line.starts_with("CONFLICT (") {
        return "CONFLICT".to_owned();
    }
    PATH.replace_all(line, "/…").into_owned()
}

/// The file of a frame of a Python trace.
pub(super) fn python_frame(plain: &str) -> Option<&str> {
    let (file, rest) = plain.strip_prefix("File \"")?.split_once('"')?;
    rest.starts_with(", line ").then_some(file)
}

/// Lines that repeat or explain an error which stands elsewhere.
const ECHOES: [&str; 31] = [
    "error: could not apply",
    "Could not apply",
    "error: Failed to merge in the changes",
    "Automatic merge failed",
    "mise ERROR Run with",
    "Run with --verbose",
    "error: failed to push some refs",
    "hint: ",
    "Usage: ",
    "npm ERR! workspace",
    "npm error workspace",
    "npm ERR! location",
    "npm error location",
    "npm ERR! command",
    "npm error command",
    "npm ERR! Lifecycle",
    "npm error Lifecycle",
    "error: could not compile",
    "error: aborting due to",
    "error: test failed, to rerun",
    "error: process didn't exit successfully",
    "error: recipe ",
    "npm ERR! A complete log",
    "npm error A complete log",
    "npm ERR! code",
    "npm error code",
    "npm ERR! path",
    "npm error path",
    "error Command failed",
    "FAILED (",
    "FAILURE: Build failed with an exception",
];

/// A line that reports the absence of an error.
pub(super) const NO_ERROR: &str = "Error: (none)";

fn pattern(text: &str) -> Regex {
    // Word boundaries of ASCII keep the regex engine on its fast path.
    Regex::new(&text.replace(r"\b", r"(?-u:\b)"))
        .expect("the patterns of this file are well formed, which a test shows")
}

/// A place, then what is wrong there.
pub(super) static PLACED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^((?:[A-Za-z]:)?[\w./@+~-]+\.[A-Za-z]\w{0,5})(?::\d+:\d+:|\(\d+,\d+\):|:\d+:\d+ -|:\d+:(?: (?:fatal |internal )?error:))\s*(\S.*)$",
    )
});

/// A Rust panic, in its old and new spelling.
pub(super) static PANICKED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"panicked at (?:'(.*)', )?([^\s:']+\.rs(?::\d+)*):?$"));

/// An exception with its message, where lines begin.
pub(super) static THROWN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^(?:E\s{2,})?(?:Uncaught |Caused by: |Exception in thread "[^"]*" )?(?:[\w$]+\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Panic)(?:: .*| \[.*\]: .*)?$"#,
    )
});

/// A linter's complaint below the path of its file.
pub(super) static COMPLAINT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s+\d+:\d+\s+error\s+\S"));

/// What a test saw, and what it wanted.
pub(super) static DETAIL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^E\s{2,}\S|^(?i:expected|received|actual|got|want|left|right)\b\s*:|^(?:AssertionError|assertion )|^Error: |^\+ (?:expected|actual)|^Diff:|^panicked at |^thread '[^']*' panicked: |^Failure/Error: ",
    )
});

/// A place in a file before a message.
pub(super) static PLACE_BEFORE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[\w./-]+\.\w{1,5}:\d+: \S"));

/// A line that announces an error without a place.
pub(super) static ANNOUNCED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:error|Error|ERROR|fatal|Fatal|FATAL|fatal error|Fatal error|panic|runtime error)(?:\[\w+\])?: \S|^error TS\d+: |^npm (?:ERR!|error) \S|^\[ERROR\] \S",
        r"|^(?:ba|z|da|k)?sh: .*(?:not found|No such file|denied)|: command not found$|: No such file or directory$|: Permission denied$|: Is a directory$|^command not found: ",
        r"|: undefined reference to |^Segmentation fault|^! \[rejected\]|^CONFLICT \(|^× \S|^curl: \(\d+\)|^\S+: error: \S|^(?:g?make)(?:\[\d+\])?: \*\*\* \S",
    ))
});

static FAILED_ANSWER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^HTTP/\d(?:\.\d)? [45]\d\d\b"));

static HEADER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[A-Za-z][A-Za-z0-9-]*: \S"));
