//! What an output reports of failures: each with what it is known by, and the line that tells of it.

use super::error_lines;
use super::log_line::cut_at_word;
use super::path;
use crate::decide::cut;

/// Longest line that is kept.
pub(super) const LINE: usize = 200;

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

impl Failure {
    /// A failure that this line tells of.
    pub(super) fn new(line: &str, test: Option<&str>, file: Option<&str>) -> Self {
        let file = file
            .map(|file| file.split(':').next().unwrap_or(file))
            .filter(|file| path::is_path(file));
        let line = readable(line);
        let masked = error_lines::without_paths(&mask(&line));
        let key = match (test, file) {
            (Some(test), _) => test.to_owned(),
            (None, Some(file)) if !masked.contains(&mask(file)) => format!("{file}: {masked}"),
            (None, _) => masked,
        };
        Self {
            key: cut(&key, LINE),
            line: cut_at_word(&line, LINE),
            test: test.map(|test| cut(test, LINE)),
            file: file.map(str::to_owned),
        }
    }
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
    /// How many passed, where it is counted.
    pub passing: u32,
    /// Lines with words of failure that are no mark of it, in order.
    pub words: Vec<Failure>,
    /// The line that sums the run up, and whether it says that all went well.
    pub summary: Option<(String, bool)>,
    /// The first line that sums the run up as failed.
    pub bad_summary: Option<String>,
}

impl Report {
    /// Whether anything failed.
    pub(super) fn is_failing(&self) -> bool {
        self.failed > 0 || !self.failures.is_empty()
    }

    /// Whether the output itself says beyond doubt that all went well.
    pub(super) fn is_good(&self) -> bool {
        !self.is_failing() && matches!(self.summary, Some((_, true)))
    }

    /// What to say of it in a line: `52 passed, 2 failed: a, b`, the first error, or the summary.
    pub(super) fn telling(&self) -> Option<String> {
        let tests: Vec<&str> = self
            .failures
            .iter()
            .filter_map(|failure| failure.test.as_deref())
            .collect();
        let count = self.failed.max(u32::try_from(tests.len()).unwrap_or(u32::MAX));
        let counted = match self.passing {
            0 => format!("{count} failed"),
            passing => format!("{passing} passed, {count} failed"),
        };
        match (tests.as_slice(), self.failures.first()) {
            ([], None) if count > 0 => Some(counted),
            ([], Some(first)) if count > 0 => Some(cut_at_word(&format!("{counted}: {}", first.line), LINE)),
            ([], first) => first.map(|failure| failure.line.clone()),
            (tests, _) => Some(cut_at_word(&format!("{counted}: {}", tests.join(", ")), LINE)),
        }
    }
}

/// A line of JSON without its punctuation; other lines as they are, with single spaces.
pub(super) fn readable(line: &str) -> String {
    let is_json = line.starts_with(['{', '[', '"']) && line.contains("\":");
    let bare: String = match is_json {
        true => {
            let letters = line
                .chars()
                .filter(|letter| !matches!(letter, '{' | '}' | '"' | '[' | ']'));
            letters.collect::<String>().replace(':', ": ").replace(",", ", ")
        }
        false => line.to_owned(),
    };
    let words: Vec<&str> = bare.split_whitespace().collect();
    words.join(" ").trim_end_matches(',').replace(" ,", ",")
}

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
