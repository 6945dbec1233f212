//! What went wrong, from what builds, tests and programs print: failing tests, compiler errors, exceptions.
//!
//! One pass over the lines. Only outputs that are known to report something are read here: a file that is shown, or hits of a
//! search, may speak of errors without there being one.

use std::sync::LazyLock;

use regex::Regex;

use super::path;
use crate::decide::cut;

/// Most failures of one output: what fails in more places fails for one reason.
const MOST: usize = 12;

/// Most names of passing tests that one output is searched for.
const MOST_PASSED: usize = 2000;

/// Longest line that is kept.
const LINE: usize = 240;

/// Bytes of an output that are read from each of its ends: longer logs repeat themselves in between.
const END: usize = 96 * 1024;

/// Something that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// What it is known by: the test's name, or place and message without numbers.
    pub key: String,
    /// The line that tells of it.
    pub line: String,
    /// The test that failed.
    pub test: Option<String>,
    /// The file that it names.
    pub file: Option<String>,
}

/// What an output reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// What failed, in order.
    pub failures: Vec<Failure>,
    /// The tests that passed, where they are listed.
    pub passed: Vec<String>,
    /// How many tests failed, where it is counted.
    pub failed: u32,
    /// Whether tests were run at all.
    pub has_tests: bool,
}

impl Report {
    /// Whether anything failed.
    pub(super) fn is_failing(&self) -> bool {
        self.failed > 0 || !self.failures.is_empty()
    }

    /// What to say of it in a line: `2 failed: a, b`, or the first error.
    pub(super) fn telling(&self) -> Option<String> {
        let tests: Vec<&str> = self
            .failures
            .iter()
            .filter_map(|failure| failure.test.as_deref())
            .collect();
        let count = self.failed.max(u32::try_from(tests.len()).unwrap_or(u32::MAX));
        match (tests.as_slice(), self.failures.first()) {
            ([], None) if count > 0 => Some(format!("{count} failed")),
            ([], first) => first.map(|failure| failure.line.clone()),
            (tests, _) => Some(cut(&format!("{count} failed: {}", tests.join(", ")), LINE)),
        }
    }
}

/// Reads an output.
pub(super) fn read(output: &str) -> Report {
    let mut reading = Reading::default();
    let (head, tail) = ends(output);
    for line in head.lines().chain(tail.lines()) {
        reading.line(line);
    }
    reading.report
}

fn ends(output: &str) -> (&str, &str) {
    if output.len() <= 2 * END {
        return (output, "");
    }
    let head = output.floor_char_boundary(END);
    let tail = output.ceil_char_boundary(output.len() - END);
    (&output[..head], &output[tail..])
}

#[derive(Default)]
struct Reading<'a> {
    report: Report,
    /// The file of the newest frame of a Python trace.
    frame: Option<&'a str>,
    /// An error whose place stands on one of the next lines.
    placeless: u8,
    /// A panic whose message stands on the next line.
    panic_place: Option<String>,
    /// A path that stands alone above its complaints.
    heading: Option<&'a str>,
}

impl<'a> Reading<'a> {
    fn line(&mut self, line: &'a str) {
        let line = &line[..line.floor_char_boundary(line.len().min(1000))];
        let plain = line.trim();
        if plain.is_empty() {
            return;
        }
        if let Some(place) = self.panic_place.take() {
            return self.fail(plain, None, Some(&place));
        }
        self.count(plain);
        if self.attach_place(plain) || self.test(line, plain) {
            return;
        }
        if let Some(frame) = python_frame(plain) {
            if !frame.contains("site-packages") && !frame.contains("/lib/python") && !frame.starts_with('<') {
                self.frame = Some(frame);
            }
            return;
        }
        self.error(line, plain);
        if path::is_path(line) && line.contains(['/', '.']) && !line.contains([' ', ':']) {
            self.heading = Some(line);
        }
    }

    /// `   --> src/a.rs:3:5` under `error[E0308]: …`
    fn attach_place(&mut self, plain: &str) -> bool {
        if self.placeless == 0 {
            return false;
        }
        self.placeless -= 1;
        let Some(place) = plain.strip_prefix("--> ") else {
            return false;
        };
        self.placeless = 0;
        if let Some(failure) = self.report.failures.last_mut() {
            let file = place.split(':').next().unwrap_or(place);
            failure.file = Some(file.to_owned());
            failure.key = cut(&format!("{file}: {}", mask(&failure.line)), LINE);
            failure.line = cut(&format!("{} ({place})", failure.line), LINE);
        }
        true
    }

    fn count(&mut self, plain: &str) {
        if !plain.bytes().any(|byte| byte.is_ascii_digit()) {
            return;
        }
        if let Some(found) = COUNTED.captures(plain) {
            self.report.has_tests = true;
            let number = found
                .iter()
                .skip(1)
                .flatten()
                .next()
                .and_then(|number| number.as_str().parse::<u32>().ok());
            self.report.failed = self.report.failed.saturating_add(number.unwrap_or(0));
        }
    }

    fn test(&mut self, line: &str, plain: &str) -> bool {
        if let Some(name) = passed_test(plain) {
            self.report.has_tests = true;
            if self.report.passed.len() < MOST_PASSED {
                self.report.passed.push(name.to_owned());
            }
            return true;
        }
        let Some(name) = failed_test(line, plain) else {
            return false;
        };
        self.report.has_tests = true;
        let is_known = self
            .report
            .failures
            .iter()
            .any(|failure| failure.test.as_deref() == Some(name));
        if !is_known {
            self.fail(plain, Some(name), None);
        }
        true
    }

    fn error(&mut self, line: &str, plain: &str) {
        if ECHOES.iter().any(|opening| plain.starts_with(opening)) {
            return;
        }
        if let Some(found) = PLACED.captures(plain) {
            let message = &found[2];
            if !message.starts_with("warning") && !message.starts_with("note") && !message.starts_with("Warning") {
                self.fail(plain, None, Some(&found[1]));
            }
        } else if let Some(found) = PANICKED.captures(plain) {
            match found.get(1).map(|message| message.as_str().to_owned()) {
                Some(_) => self.fail(plain, None, found.get(2).map(|place| place.as_str())),
                None => self.panic_place = found.get(2).map(|place| place.as_str().to_owned()),
            }
        } else if THROWN.is_match(line) {
            let frame = self.frame.take();
            self.fail(plain, None, frame);
        } else if let (true, Some(heading)) = (COMPLAINT.is_match(line), self.heading) {
            self.fail(&format!("{heading}:{plain}"), None, Some(heading));
        } else if ANNOUNCED.is_match(plain) {
            self.placeless = 3;
            self.fail(plain, None, None);
        }
    }

    fn fail(&mut self, line: &str, test: Option<&str>, file: Option<&str>) {
        if self.report.failures.len() >= MOST {
            return;
        }
        let file = file
            .map(|file| file.split(':').next().unwrap_or(file))
            .filter(|file| path::is_path(file));
        let masked = mask(line);
        let key = match (test, file) {
            (Some(test), _) => test.to_owned(),
            (None, Some(file)) if !masked.contains(&mask(file)) => format!("{file}: {masked}"),
            (None, _) => masked,
        };
        let failure = Failure {
            key: cut(&key, LINE),
            line: cut(line, LINE),
            test: test.map(|test| cut(test, LINE)),
            file: file.map(str::to_owned),
        };
        if self.report.failures.iter().all(|known| known.key != failure.key) {
            self.report.failures.push(failure);
        }
    }
}

/// Lines that repeat or explain an error which stands elsewhere.
const ECHOES: [&str; 22] = [
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
    "Error: (none)",
];

/// A line without what differs from run to run: numbers, addresses, times.
pub(super) fn mask(line: &str) -> String {
    let mut masked = String::with_capacity(line.len());
    let mut run = String::new();
    let flush = |run: &mut String, masked: &mut String| {
        let has_digit = run.bytes().any(|byte| byte.is_ascii_digit());
        let is_hex = run.bytes().all(|byte| byte.is_ascii_hexdigit());
        // Codes such as E0308 and names such as storeV2 are no numbers; ids that could be hexadecimal are.
        let is_code = run.starts_with(|character: char| character.is_ascii_alphabetic()) && run.len() <= 40 && !is_hex;
        if has_digit && !(is_code || (is_hex && run.starts_with('E') && run.len() == 5)) {
            // Times, dates and versions are one number.
            let is_joined = masked.ends_with([':', '.', '-', '/']) && masked[..masked.len() - 1].ends_with('#');
            if is_joined {
                masked.pop();
            } else if !masked.ends_with('#') {
                masked.push('#');
            }
        } else {
            masked.push_str(run);
        }
        run.clear();
    };
    for character in line.chars() {
        if character.is_ascii_alphanumeric() {
            run.push(character);
            continue;
        }
        flush(&mut run, &mut masked);
        match character.is_whitespace() {
            true if masked.ends_with(' ') => {}
            true => masked.push(' '),
            false => masked.push(character),
        }
    }
    flush(&mut run, &mut masked);
    cut(masked.trim(), LINE)
}

fn python_frame(plain: &str) -> Option<&str> {
    let (file, rest) = plain.strip_prefix("File \"")?.split_once('"')?;
    rest.starts_with(", line ").then_some(file)
}

/// The name of a test that passed.
fn passed_test(plain: &str) -> Option<&str> {
    if let Some(rest) = plain.strip_prefix("test ") {
        return rest.strip_suffix(" ... ok");
    }
    if let Some(rest) = plain.strip_prefix("--- PASS: ") {
        return Some(without_time(rest));
    }
    if let Some(name) = plain
        .strip_prefix("PASSED ")
        .or_else(|| plain.split_once(" PASSED").map(|(name, _)| name))
    {
        return name.contains("::").then(|| name.trim());
    }
    if let Some(rest) = plain.strip_prefix("ok ") {
        return numbered(rest);
    }
    let ticked = plain.strip_prefix('✓').or_else(|| plain.strip_prefix('✔'))?;
    Some(without_time(ticked.trim()))
}

/// The name of a test that failed.
fn failed_test<'a>(line: &'a str, plain: &'a str) -> Option<&'a str> {
    if let Some(rest) = plain.strip_prefix("test ") {
        return rest.strip_suffix(" ... FAILED");
    }
    if let Some(rest) = plain.strip_prefix("--- FAIL: ") {
        return Some(without_time(rest));
    }
    if let Some(rest) = plain.strip_prefix("[  FAILED  ] ") {
        return Some(without_time(rest)).filter(|name| name.contains('.'));
    }
    if let Some(rest) = plain.strip_prefix("not ok ") {
        return numbered(rest);
    }
    for opening in ["FAILED ", "ERROR "] {
        if let Some(rest) = plain.strip_prefix(opening) {
            let name = rest.split(" - ").next().unwrap_or(rest).trim();
            return (name.contains("::") || name.ends_with(".py"))
                .then_some(name)
                .filter(|name| !name.contains(' ') || name.contains('['));
        }
    }
    for opening in ["FAIL: ", "ERROR: "] {
        if let Some(rest) = line.strip_prefix(opening) {
            return rest
                .split_once(" (")
                .map(|(name, _)| name)
                .filter(|name| name.starts_with("test") && !name.contains(' '));
        }
    }
    if let Some(rest) = plain.strip_prefix("FAIL ") {
        let rest = rest.trim();
        let rest = rest.split_once("] ").map_or(rest, |(_, rest)| rest);
        return (rest.contains(['.', '>']) && !rest.contains('\t')).then_some(rest);
    }
    if let Some(rest) = plain.strip_prefix('●') {
        return rest.contains('›').then(|| rest.trim());
    }
    let crossed = ['✗', '✕', '✘'].iter().find_map(|mark| plain.strip_prefix(*mark))?;
    Some(without_time(crossed.trim())).filter(|name| name.len() > 2)
}

fn without_time(name: &str) -> &str {
    name.split_once(" (").map_or(name, |(name, _)| name).trim()
}

/// `3 - adds numbers`
fn numbered(rest: &str) -> Option<&str> {
    let (number, name) = rest.split_once(' ')?;
    number.parse::<u32>().ok()?;
    Some(name.trim_start_matches('-').trim()).filter(|name| !name.is_empty() && !name.starts_with('#'))
}

fn pattern(text: &str) -> Regex {
    // Word boundaries of ASCII keep the regex engine on its fast path.
    Regex::new(&text.replace(r"\b", r"(?-u:\b)"))
        .expect("the patterns of this file are well formed, which a test shows")
}

/// Counts of failing tests.
static COUNTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^test result: (?:ok|FAILED)\. \d+ passed; (\d+) failed|^=+ .*?\b(\d+) failed\b.* =+$|^(\d+) failed\b(?:, \d+ passed)? in |^Tests:?\s+(\d+) failed",
        r"|^(\d+) failing$|^Tests run: \d+, Failures: (\d+)|^FAILED \((?:failures|errors)=(\d+)|^\d+ examples?, (\d+) failures?|^# fail (\d+)$|^=+ \d+ passed.* =+$",
    ))
});

/// A place, then what is wrong there.
static PLACED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^((?:[A-Za-z]:)?[\w./@+~-]+\.[A-Za-z]\w{0,5})(?::\d+:\d+:|\(\d+,\d+\):|:\d+:\d+ -|:\d+:(?: (?:fatal |internal )?error:))\s*(\S.*)$",
    )
});

/// A Rust panic, in its old and new spelling.
static PANICKED: LazyLock<Regex> = LazyLock::new(|| pattern(r"panicked at (?:'(.*)', )?([^\s:']+\.rs(?::\d+)*):?$"));

/// An exception with its message, where lines begin.
static THROWN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^(?:E   )?(?:Uncaught |Caused by: |Exception in thread "[^"]*" )?(?:[\w$]+\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Panic)(?:: .*| \[.*\]: .*)?$"#,
    )
});

/// A linter's complaint below the path of its file.
static COMPLAINT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s+\d+:\d+\s+error\s+\S"));

/// A line that announces an error without a place.
static ANNOUNCED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:error|Error|ERROR|fatal|Fatal|FATAL|fatal error|Fatal error|panic|runtime error)(?:\[\w+\])?: \S|^error TS\d+: |^npm (?:ERR!|error) \S|^\[ERROR\] \S",
        r"|^(?:ba|z|da|k)?sh: .*(?:not found|No such file|denied)|: command not found$|: No such file or directory$|: Permission denied$|: Is a directory$|^command not found: ",
        r"|: undefined reference to |^Segmentation fault|^! \[rejected\]|^CONFLICT \(|^× \S|^curl: \(\d+\)|^\S+: error: \S|^(?:g?make)(?:\[\d+\])?: \*\*\* \S",
    ))
});

#[cfg(test)]
#[path = "failures_tests.rs"]
mod tests;
