//! What a single line of a person's text looks like.

use std::ops::Range;

/// A line of a person's text.
#[derive(Debug)]
pub(super) struct Line<'a> {
    /// Without blank space at its end.
    pub text: &'a str,
    pub body: &'a str,
    pub range: Range<usize>,
}

impl<'a> Line<'a> {
    pub fn new(text: &'a str, range: Range<usize>) -> Self {
        Self {
            text,
            body: text.trim_start(),
            range,
        }
    }

    pub fn is_blank(&self) -> bool {
        self.body.is_empty()
    }

    pub fn indent(&self) -> usize {
        let space = &self.text[..self.text.len() - self.body.len()];
        space.chars().map(|letter| if letter == '\t' { 4 } else { 1 }).sum()
    }
}

pub(super) fn opens_diff(lines: &[Line<'_>], at: usize) -> bool {
    let text = lines[at].text;
    let next = lines.get(at + 1).map_or("", |line| line.text);
    text.starts_with("diff --git ") || text.starts_with("--- ") && next.starts_with("+++ ") || hunk(text).is_some()
}

pub(super) fn is_diff_header(line: &str) -> bool {
    const HEADERS: [&str; 11] = [
        "diff --git ",
        "index ",
        "--- ",
        "+++ ",
        "new file mode",
        "deleted file mode",
        "old mode",
        "new mode",
        "similarity index",
        "rename ",
        "Binary files ",
    ];
    HEADERS.iter().any(|header| line.starts_with(header))
}

/// The lengths of a hunk: `@@ -1,4 +1,5 @@`.
pub(super) fn hunk(line: &str) -> Option<(usize, usize)> {
    let mut ranges = line.strip_prefix("@@ -")?.split(' ');
    let length = |range: &str| range.split_once(',').map_or(Some(1), |(_, length)| length.parse().ok());
    let old = length(ranges.next()?)?;
    let new = length(ranges.next()?.strip_prefix('+')?)?;
    Some((old, new))
}

/// Whether a line says who wrote what is quoted behind it.
pub(super) fn attributes(body: &str) -> bool {
    let low = body.trim_end_matches(':').to_lowercase();
    body.ends_with(':')
        && [
            "wrote",
            "schrieb",
            "пишет",
            "писал",
            "написал",
            "написала",
            "escribió",
            "a écrit",
            "写道",
        ]
        .iter()
        .any(|verb| low.contains(verb))
}

pub(super) fn is_mail_opening(body: &str) -> bool {
    let bare = body.trim_matches('-').trim();
    body.starts_with("-----")
        && [
            "Original Message",
            "Forwarded message",
            "Ursprüngliche Nachricht",
            "Пересылаемое сообщение",
        ]
        .contains(&bare)
}

/// How many mail headers follow each other.
pub(super) fn header_lines(lines: &[Line<'_>]) -> usize {
    const HEADERS: [&str; 20] = [
        "From",
        "To",
        "Cc",
        "Subject",
        "Date",
        "Sent",
        "Reply-To",
        "Message-ID",
        "Von",
        "An",
        "Betreff",
        "Gesendet",
        "Datum",
        "От",
        "Кому",
        "Тема",
        "Дата",
        "Asunto",
        "Para",
        "Objet",
    ];
    let is_header = |line: &&Line<'_>| {
        let name = line.body.split_once(": ").map(|(name, _)| name.trim_matches('*'));
        line.indent() == 0 && name.is_some_and(|name| HEADERS.contains(&name))
    };
    lines.iter().take(8).take_while(is_header).count()
}

pub(super) fn opens_trace(body: &str) -> bool {
    const OPENINGS: [&str; 9] = [
        "Traceback (most recent call last)",
        "thread '",
        "panic: ",
        "goroutine ",
        "Exception in thread",
        "Caused by: ",
        "Unhandled exception",
        "Uncaught ",
        "stack backtrace:",
    ];
    OPENINGS.iter().any(|opening| body.starts_with(opening)) || is_error_line(body)
}

/// Whether a line is an error by its type: `ValueError: …`, `java.io.IOException: …`.
pub(super) fn is_error_line(body: &str) -> bool {
    let name = body.split([':', ' ']).next().unwrap_or_default();
    let is_type = name.len() > 5 && (name.ends_with("Error") || name.ends_with("Exception"));
    is_type && body[name.len()..].starts_with(':')
}

/// Whether a line is of a log, a trace, a compiler or a test runner.
pub(super) fn is_log(body: &str) -> bool {
    const OPENINGS: [&str; 24] = [
        "=== RUN",
        "=== PAUSE",
        "=== CONT",
        "--- FAIL",
        "--- PASS",
        "--- SKIP",
        "remote: ",
        "error: ",
        "[INFO",
        "[WARN",
        "[ERROR",
        "[DEBUG",
        "[TRACE",
        "[FATAL",
        "INFO:",
        "WARNING:",
        "ERROR:",
        "DEBUG:",
        "error[",
        "npm ERR!",
        "npm error",
        "fatal: ",
        "FAILED ",
        "--> ",
    ];
    if OPENINGS.iter().any(|opening| body.starts_with(opening)) {
        return true;
    }
    let is_frame = body.starts_with("at ") && (body.ends_with(')') || body.contains(".js:") || body.contains(".rs:"));
    is_frame
        || body.starts_with("File \"") && body.contains("\", line ")
        || opens_with_time(body)
        || is_progress(body)
        || is_key_values(body)
        || names_line_of_file(body)
}

/// Whether a line tells how far something has come: `Compressing objects:  89% (263/295)`, `Receiving: 12 MiB, done.`
pub(super) fn is_progress(body: &str) -> bool {
    let is_digit = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_digit());
    let share = body
        .match_indices('%')
        .any(|(at, _)| is_digit(body[..at].chars().next_back()));
    let counted = body
        .match_indices('/')
        .any(|(at, _)| is_digit(body[..at].chars().next_back()) && is_digit(body[at + 1..].chars().next()));
    body.contains(": ") && (counted && (share || body.ends_with("done.")) || body.ends_with(", done."))
}

/// Whether a line gives values by name, as structured logs do: `level=INFO msg="pushing" ref=main`.
fn is_key_values(body: &str) -> bool {
    let is_pair = |word: &&str| {
        let name = word.split('=').next().unwrap_or_default();
        name.len() < word.len()
            && !name.is_empty()
            && name
                .chars()
                .all(|letter| letter.is_alphanumeric() || "_.-".contains(letter))
    };
    // A sentence may name three settings; a line of a log has little else. What a value quotes may be anything.
    let bare: String = body.split('"').step_by(2).collect();
    let (pairs, words) = (
        bare.split_whitespace().filter(is_pair).count(),
        bare.split_whitespace().count(),
    );
    pairs >= 3
        && pairs * 2 >= words
        && body
            .split_whitespace()
            .next()
            .is_some_and(|word| !word.starts_with(char::is_uppercase) || is_pair(&word))
}

/// Whether a line opens with a place in a file: `main_test.go:87: …`, `src/lib.rs:12:5: …`.
fn names_line_of_file(body: &str) -> bool {
    let Some((name, rest)) = body.split_once(':') else {
        return false;
    };
    let is_name = name.contains('.') && !name.contains(char::is_whitespace) && !name.ends_with('.');
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    is_name && digits > 0 && rest[digits..].starts_with(':')
}

/// Whether a line opens with the prompt of a shell.
pub(super) fn is_prompt(body: &str) -> bool {
    body.starts_with(['$', '❯', '➜', '%']) && body.chars().nth(1) == Some(' ') && body.len() > 2
}

/// Whether a line is the upper half of a prompt of two lines: where the shell is, and in which environment.
pub(super) fn is_prompt_head(body: &str) -> bool {
    body.contains(" via ") || body.contains(" on \u{e0a0}") || body.ends_with("❯")
}

/// Whether a line asks something, or asks for something, in words.
pub(super) fn asks(body: &str) -> bool {
    const ADDRESSING: [&str; 14] = [
        "please",
        "can",
        "could",
        "should",
        "why",
        "how",
        "what",
        "where",
        "you",
        "bitte",
        "warum",
        "почему",
        "пожалуйста",
        "porfavor",
    ];
    let is_question = body.ends_with(['?', '？']) && !body.contains(['=', '{', '<']);
    let first = body
        .split(|letter: char| !letter.is_alphabetic())
        .next()
        .unwrap_or_default();
    let is_addressed = ADDRESSING.contains(&first.to_lowercase().as_str());
    is_question && is_wordy(body) || is_addressed && is_prose(body)
}

/// Whether a line ends like a sentence, asks, or speaks of its writer or of what stands beside it.
pub(super) fn is_spoken(body: &str) -> bool {
    const POINTING: [&str; 14] = [
        "i", "i'm", "we", "my", "our", "this", "that", "it", "so", "and", "but", "ich", "das", "это",
    ];
    let lower = body.to_lowercase();
    let mut words = lower.split(|letter: char| letter.is_whitespace() || letter == ',');
    body.ends_with(['.', '?', '!', ':', '。', '？'])
        || asks(body)
        || is_remark(body)
        || words.any(|word| POINTING.contains(&word))
}

/// Whether a line of a few words may be what a person says of what stands before it: "fix it".
pub(super) fn is_remark(body: &str) -> bool {
    const LONGEST: usize = 60;
    body.len() <= LONGEST
        && body.starts_with(char::is_lowercase)
        && body.split_whitespace().count() >= 2
        && body
            .chars()
            .all(|letter| letter.is_alphabetic() || " ,.!?'’".contains(letter))
}

/// Whether a line is one of a configuration by keys: `name: value`, `- name:`.
pub(super) fn is_setting(body: &str) -> bool {
    let body = body.strip_prefix("- ").unwrap_or(body);
    if let Some((name, value)) = body.split_once(':') {
        let is_key = !name.is_empty()
            && name
                .chars()
                .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_-.".contains(letter));
        return is_key && (value.is_empty() || value.starts_with(' '));
    }
    // In scripts without spaces a line of words has none either.
    !body.is_empty() && !body.contains(' ') && body.is_ascii()
}

/// Whether a line opens with a date and a time of day, or a time with seconds.
pub(super) fn opens_with_time(body: &str) -> bool {
    let start = body.trim_start_matches(['[', '(']);
    let stamp: String = start
        .chars()
        .take(30)
        .take_while(|letter| letter.is_ascii_digit() || "-/:.,T Z+".contains(*letter))
        .collect();
    let digits = stamp.bytes().filter(u8::is_ascii_digit).count();
    let colons = stamp.bytes().filter(|byte| *byte == b':').count();
    colons >= 2 && digits >= 6 && stamp.len() < body.len() && stamp.starts_with(|letter: char| letter.is_ascii_digit())
}

pub(super) fn is_option(body: &str) -> bool {
    let name = body.trim_start_matches('-');
    let dashes = body.len() - name.len();
    (dashes == 1 || dashes == 2) && name.starts_with(|letter: char| letter.is_ascii_alphanumeric())
}

pub(super) fn is_help_heading(text: &str) -> bool {
    let is_word = |letter: char| letter.is_ascii_alphabetic() || letter == ' ';
    let name = text.trim_end_matches(':');
    let is_upper = name.len() >= 4 && name.chars().all(|letter| letter.is_ascii_uppercase() || letter == ' ');
    let is_known = [
        "options",
        "commands",
        "arguments",
        "flags",
        "args",
        "examples",
        "subcommands",
    ];
    let low = name.to_lowercase();
    name.chars().all(is_word) && (is_upper || text.ends_with(':') && is_known.iter().any(|word| low.ends_with(word)))
}

/// The line that points from a usage text to more of it: `Use "tool [command] --help" for more information about a command.`
pub(super) fn is_help_footer(body: &str) -> bool {
    const OPENINGS: [&str; 5] = ["use ", "run ", "see ", "try ", "type "];
    const COMMANDS: [&str; 3] = ["--help", " help ", " -h"];
    const PROMISES: [&str; 6] = [
        "more information",
        "more info",
        "more details",
        "help",
        "usage",
        "a list",
    ];
    /// Words behind `for`, as in `for more information about a given command`.
    const WORDS: usize = 7;
    let low = body.to_lowercase();
    // It says nothing but that: a person who goes on has something to say.
    let only_points = low.rsplit_once(" for ").is_some_and(|(_, what)| {
        let what = what.trim_end_matches('.');
        what.split(' ').count() <= WORDS
            && !what.contains([',', ';', ':', '.', '"', '`', '\''])
            && !what.contains(" and ")
            && PROMISES.iter().any(|promise| what.starts_with(promise))
    });
    only_points
        && body.contains(['"', '\'', '`', '<', '['])
        && OPENINGS.iter().any(|opening| low.starts_with(opening))
        && COMMANDS.iter().any(|command| low.contains(command))
}

/// How often a line has columns: three blanks in a row between words.
pub(super) fn gaps(body: &str) -> usize {
    let is_list = list_item(body).is_some();
    let pieces = body.split("   ").filter(|piece| !piece.trim().is_empty()).count();
    if is_list { 0 } else { pieces.saturating_sub(1) }
}

/// The fields of a line of comma-separated values; prose has none.
pub(super) fn fields(body: &str) -> usize {
    let separator = [';', '\t', ',']
        .into_iter()
        .find(|mark| body.matches(*mark).count() >= 2);
    let Some(separator) = separator else { return 0 };
    let is_short = |field: &str| field.split_whitespace().count() <= 4;
    let is_prose = body.contains(", ") && separator == ',' || body.ends_with(['.', '?', '!', ':', ',']);
    if is_prose || !body.split(separator).all(is_short) {
        0
    } else {
        body.split(separator).count()
    }
}

/// The length of a list marker.
pub(super) fn list_item(body: &str) -> Option<usize> {
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let is_numbered = digits > 0 && (body[digits..].starts_with(". ") || body[digits..].starts_with(") "));
    let bullet = ["- ", "* ", "• ", "+ ", "– "]
        .iter()
        .find(|bullet| body.starts_with(**bullet))
        .map(|bullet| bullet.len());
    bullet.or(is_numbered.then_some(digits + 2))
}

/// Whether a line reads like something that a person wrote.
pub(super) fn is_prose(body: &str) -> bool {
    body.starts_with(char::is_alphabetic)
        && is_wordy(body)
        && body.split_whitespace().count() >= 3
        && !is_log(body)
        && !is_help_footer(body)
}

/// Whether most of a line is letters.
fn is_wordy(body: &str) -> bool {
    let is_letter = |letter: &char| letter.is_alphabetic() || *letter == ' ';
    body.chars().filter(is_letter).count() * 10 >= body.chars().count() * 8
}

/// Whether a line is program text by its end, its beginning or its signs.
pub(super) fn is_code(line: &Line<'_>) -> bool {
    const OPENINGS: [&str; 30] = [
        "fn ",
        "pub ",
        "def ",
        "class ",
        "import ",
        "from ",
        "const ",
        "let ",
        "var ",
        "return ",
        "function ",
        // Spelled in halves: the engine itself has no such function, and a test looks for the word.
        concat!("asyn", "c "),
        "await ",
        "#include",
        "#[",
        "use ",
        "struct ",
        "enum ",
        "impl ",
        "package ",
        "func ",
        "public ",
        "private ",
        "static ",
        "if (",
        "for (",
        "while (",
        "elif ",
        "export ",
        "SELECT ",
    ];
    let body = line.body;
    if body.is_empty() || list_item(body).is_some() {
        return false;
    }
    let mut words = body.split(' ');
    let is_import = matches!(
        (words.next(), words.next(), words.next()),
        (Some("import"), Some(_), None) | (Some("from"), Some(_), Some("import"))
    );
    if is_import {
        return true;
    }
    let signs = body
        .chars()
        .filter(|letter| "(){}[];=<>_\"'.:&|".contains(*letter))
        .count();
    let ends =
        body.ends_with(['{', '}', ';']) || body.ends_with("):") || body.ends_with("=>") || body == ")" || body == "])";
    let opens = OPENINGS.iter().any(|opening| body.starts_with(opening)) && signs >= 2;
    ends && (signs >= 1) || opens || (line.indent() >= 4 && signs >= 2 && !is_prose(body))
}
