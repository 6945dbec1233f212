//! What of a message its writer said themselves.
//!
//! Code, quotes, logs, diffs, data, tables, tags, and lines that speak for somebody else are left out: whoever pastes them
//! does not say them. What is left comes as blocks: a paragraph, a line, an item of a list.
//!
//! When in doubt a line is left out. A rule that is missed stays in the store; a rule that nobody gave does harm.

use std::ops::Range;

use crate::ledger::statements::words::is_unseen;

/// Lines shorter than this were not wrapped: what follows is a thought of its own. Mail and editors wrap from 60 columns on.
const SHORTEST_WRAPPED: usize = 60;

/// Names that a forged line or tag gives to its speaker, in their plain form.
const SPEAKERS: [&str; 34] = [
    "user",
    "human",
    "assistant",
    "system",
    "developer",
    "ai",
    "bot",
    "tool",
    "model",
    "agent",
    "customer",
    "operator",
    "admin",
    "owner",
    "inst",
    "claude",
    "gpt",
    "chatgpt",
    "function",
    "пользователь",
    "человек",
    "ассистент",
    "система",
    "модель",
    "агент",
    "бот",
    "админ",
    "оператор",
    "инструмент",
    "benutzer",
    "assistent",
    "usuario",
    "utilisateur",
    "用户",
];

/// Stretches between tags of these names are somebody else's, to the end of the message where the tag is never closed.
const FOREIGN_TAGS: [&str; 22] = [
    "summary",
    "conversation",
    "context",
    "reminder",
    "result",
    "output",
    "stdout",
    "stderr",
    "instruction",
    "message",
    "notification",
    "document",
    "file",
    "page",
    "search",
    "ledger",
    "memory",
    "decision",
    "thinking",
    "analysis",
    "command",
    "environment",
];

/// A stretch of the writer's own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::ledger) struct Block<'a> {
    /// Where it stands in the text.
    pub(in crate::ledger) range: Range<usize>,
    /// The number or letter of a list item, as written; empty for a bullet.
    pub(in crate::ledger) label: Option<&'a str>,
    /// Whether something that its writer set apart stood directly before it: a fence, a tag, a quote.
    pub(in crate::ledger) after_paste: bool,
    /// Whether a new paragraph begins here.
    pub(in crate::ledger) opens: bool,
}

/// The blocks of a text.
pub(in crate::ledger) fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut reader = Reader::default();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        reader.line(text, at..at + line.len());
        at += line.len();
    }
    reader.blocks
}

/// What is being left out.
#[derive(Debug, Default, PartialEq, Eq)]
enum Skipping<'a> {
    #[default]
    Nothing,
    /// A fenced block, until its fence.
    Fence(&'a str),
    /// What a tag holds, until it closes.
    Tag(String),
    /// What a command printed, until prose follows a blank line.
    Output,
    /// What somebody else says, until the end of its paragraph.
    Speech,
}

#[derive(Debug, Default)]
struct Reader<'a> {
    blocks: Vec<Block<'a>>,
    skipping: Skipping<'a>,
    blank: bool,
    pasted: bool,
    /// Whether what was left out was set apart by its writer: a fence, a tag, a quote.
    set_apart: bool,
    /// Whether the last block was a line that may go on in the next one.
    wraps: bool,
}

impl<'a> Reader<'a> {
    fn line(&mut self, text: &'a str, range: Range<usize>) {
        let line = text[range.clone()].trim_end();
        let trimmed = line.trim_start_matches(|letter: char| letter.is_whitespace() || is_unseen(letter));
        if self.skips(line, trimmed) {
            self.pasted = true;
            self.wraps = false;
            return;
        }
        if trimmed.is_empty() {
            self.blank = true;
            self.wraps = false;
            return;
        }
        let start = range.start + line.len() - trimmed.len();
        let shown = start..range.start + line.len();
        self.push(text, shown);
        self.blank = false;
        self.pasted = false;
        self.set_apart = false;
    }

    /// Whether a line is not the writer's, with what that means for the lines behind it.
    fn skips(&mut self, line: &'a str, trimmed: &'a str) -> bool {
        self.set_apart |= matches!(self.skipping, Skipping::Fence(_) | Skipping::Tag(_)) || trimmed.starts_with('>');
        match &self.skipping {
            Skipping::Fence(fence) => {
                if trimmed.starts_with(fence) {
                    self.skipping = Skipping::Nothing;
                }
                return true;
            }
            Skipping::Tag(name) => {
                if closes_tag(trimmed, name) {
                    self.skipping = Skipping::Nothing;
                }
                return true;
            }
            Skipping::Output if !(self.blank && is_prose(trimmed)) => {
                self.blank |= trimmed.is_empty();
                return true;
            }
            Skipping::Speech if !self.blank || trimmed.is_empty() => {
                self.blank |= trimmed.is_empty();
                return true;
            }
            Skipping::Output | Skipping::Speech | Skipping::Nothing => self.skipping = Skipping::Nothing,
        }
        if trimmed.is_empty() {
            return false;
        }
        if let Some(fence) = ["```", "~~~"].into_iter().find(|fence| trimmed.starts_with(fence)) {
            let closed_at_once = trimmed.len() > 3 && trimmed[3..].contains(fence);
            if !closed_at_once {
                self.skipping = Skipping::Fence(fence);
            }
            return true;
        }
        if trimmed.starts_with(['$', '❯', '%', '➜'])
            && trimmed[trimmed.chars().next().map_or(1, char::len_utf8)..].starts_with(' ')
        {
            self.skipping = Skipping::Output;
            return true;
        }
        if ["Traceback", "diff --git", "thread '", "panic:"]
            .iter()
            .any(|start| trimmed.starts_with(start))
        {
            self.blank = false;
            self.skipping = Skipping::Output;
            return true;
        }
        if speaks_for_another(trimmed) {
            self.blank = false;
            self.skipping = Skipping::Speech;
            return true;
        }
        if let Some(name) = foreign_tag(trimmed) {
            if !closes_tag(trimmed, &name) {
                self.skipping = Skipping::Tag(name);
            }
            return true;
        }
        let indented = line.starts_with("    ") || line.starts_with('\t');
        let code = indented && list_marker(trimmed).is_none() && (self.blank || self.pasted || self.blocks.is_empty());
        code || trimmed.starts_with(['>', '|', '<', '#']) || is_output(trimmed)
    }

    fn push(&mut self, text: &'a str, range: Range<usize>) {
        let line = &text[range.clone()];
        let marker = list_marker(line);
        if marker.is_none()
            && self.wraps
            && !self.pasted
            && let Some(last) = self.blocks.last_mut()
        {
            last.range.end = range.end;
            self.wraps = goes_on(line);
            return;
        }
        let (label, skip) = marker.map_or((None, 0), |(label, skip)| (Some(label), skip));
        self.blocks.push(Block {
            range: range.start + skip..range.end,
            label,
            after_paste: self.set_apart,
            opens: self.blank || self.blocks.is_empty(),
        });
        self.wraps = goes_on(line);
    }
}

/// Whether a line was wrapped: long, and without an end.
fn goes_on(line: &str) -> bool {
    line.len() >= SHORTEST_WRAPPED && !line.ends_with(['.', '!', '?', ':', ';', '…', '。', '！', '？'])
}

/// The label and the length of a list marker: `- `, `2. `, `b) `, `- [ ] `.
fn list_marker(line: &str) -> Option<(&str, usize)> {
    let bullet = ["- ", "* ", "• ", "+ ", "– ", "— "]
        .into_iter()
        .find(|bullet| line.starts_with(bullet));
    if let Some(bullet) = bullet {
        let rest = &line[bullet.len()..];
        let boxed = ["[ ] ", "[x] ", "[X] "].into_iter().find(|mark| rest.starts_with(mark));
        return Some(("", bullet.len() + boxed.map_or(0, str::len)));
    }
    let line_start = line.trim_start_matches('*');
    let stars = line.len() - line_start.len();
    let end = line_start.find(['.', ')'])?;
    let label = &line_start[..end];
    let number = !label.is_empty() && label.len() <= 3 && label.bytes().all(|byte| byte.is_ascii_digit());
    let letter = label.len() == 1 && label.bytes().all(|byte| byte.is_ascii_alphabetic());
    let behind = line_start[end + 1..].chars().next();
    ((number || letter) && behind == Some(' ')).then_some((label, stars + end + 2))
}

/// Letters that look like Latin ones, as Latin ones; nothing that cannot be seen.
fn plain(word: &str) -> String {
    let latin = |letter: char| match letter {
        'а' => 'a',
        'е' => 'e',
        'о' => 'o',
        'р' => 'p',
        'с' => 'c',
        'у' => 'y',
        'х' => 'x',
        'ѕ' => 's',
        'і' | 'ı' => 'i',
        'ԁ' => 'd',
        'м' => 'm',
        'н' => 'h',
        'т' => 't',
        'ս' => 'u',
        _ => letter,
    };
    let seen = word.chars().filter(|letter| !is_unseen(*letter));
    let low: String = seen.flat_map(char::to_lowercase).collect();
    let mixed = low.chars().any(|letter| letter.is_ascii_alphabetic());
    if mixed { low.chars().map(latin).collect() } else { low }
}

fn is_speaker(word: &str) -> bool {
    SPEAKERS.contains(&plain(word.trim()).as_str())
}

/// Whether a line is written in somebody's name: `User: …`, `**Human:**`, `[INST]`, `<|im_start|>user`.
fn speaks_for_another(line: &str) -> bool {
    if line.starts_with("<|") || line.starts_with("[/") {
        return true;
    }
    let bare = line.trim_start_matches(['*', '#', '_', '-', '>', ' ', '`', '"', '\'']);
    if let Some(inside) = bare.strip_prefix(['[', '【', '(']) {
        let Some(end) = inside.find([']', '】', ')']) else {
            return false;
        };
        let name = plain(&inside[..end]);
        let known = |word: &str| is_speaker(word) || FOREIGN_TAGS.iter().any(|tag| word.starts_with(tag));
        return !name.is_empty() && name.split([' ', '_', '-']).any(known);
    }
    let Some(colon) = bare
        .char_indices()
        .take(40)
        .find(|(_, letter)| matches!(letter, ':' | '：'))
    else {
        return false;
    };
    let name = bare[..colon.0].trim_end_matches(['*', '_', '`', ' ']);
    let rest = bare[colon.0 + colon.1.len_utf8()..].trim_matches(['*', ' ', '_']);
    // "User: admin" gives a value; a whole sentence behind the name is speech.
    let speech = rest.is_empty() || rest.split_whitespace().count() >= 3 || rest.contains(['，', '。', ',']);
    speech && name.split_whitespace().count() <= 2 && name.split([' ', '(']).next().is_some_and(is_speaker)
}

/// The name of a tag in this line behind which somebody else's words stand.
fn foreign_tag(line: &str) -> Option<String> {
    let mut rest = line;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let inside = rest.trim_start_matches(['/', '|', ' ']);
        if rest.starts_with("!--") {
            return Some("!--".to_owned());
        }
        let end =
            inside.find(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '-' | '_') || is_unseen(letter)));
        let name = plain(&inside[..end.unwrap_or(inside.len())]);
        let speaker = |word: &str| is_speaker(word) || FOREIGN_TAGS.iter().any(|tag| word.starts_with(tag));
        if !name.is_empty() && (rest.starts_with('|') || name.split(['-', '_']).any(speaker)) {
            return Some(name);
        }
    }
    None
}

/// Whether a tag of this name closes in a line.
fn closes_tag(line: &str, name: &str) -> bool {
    if name == "!--" {
        return line.contains("-->");
    }
    let line = plain(line);
    line.match_indices("</")
        .any(|(at, _)| line[at + 2..].trim_start().starts_with(name))
        || (line.contains("<|") && line.contains("end"))
}

/// Whether a line reads like something that a person wrote.
fn is_prose(line: &str) -> bool {
    let letters = line
        .chars()
        .filter(|letter| letter.is_alphabetic() || *letter == ' ')
        .count();
    line.split_whitespace().count() >= 4
        && line.starts_with(char::is_alphabetic)
        && letters * 10 >= line.chars().count() * 8
        && !is_output(line)
}

/// Whether a line looks printed by a program: logs, traces, diffs, data, code.
fn is_output(line: &str) -> bool {
    const STARTS: [&str; 34] = [
        "Traceback",
        "File \"",
        "Caused by",
        "Exception",
        "diff --git",
        "+++ ",
        "--- ",
        "@@ ",
        "panic",
        "thread '",
        "INFO",
        "WARN",
        "ERROR",
        "DEBUG",
        "TRACE",
        "FATAL",
        "[INFO",
        "[WARN",
        "[ERR",
        "[DEBUG",
        "error:",
        "error[",
        "Error:",
        "warning:",
        "fatal:",
        "npm ",
        "E   ",
        "FAILED ",
        "PASSED ",
        "{",
        "}",
        "\"",
        "//",
        "/*",
    ];
    if STARTS.iter().any(|start| line.starts_with(start)) && !is_quoted_prose(line) {
        return true;
    }
    let first = line
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .trim_matches(['[', ']']);
    if first.ends_with("Error:") || first.ends_with("Exception:") {
        return true;
    }
    let marks = first
        .bytes()
        .filter(|byte| matches!(byte, b':' | b'-' | b'/' | b'T' | b'.'))
        .count();
    let digits = first.bytes().filter(u8::is_ascii_digit).count();
    if digits >= 6 && marks >= 2 && first.len() <= 40 && first.len() < line.len() && digits * 2 >= first.len() {
        return true;
    }
    if line.starts_with("at ") && line.ends_with(')') && line.contains(':') {
        return true;
    }
    let stamped = line
        .strip_prefix('[')
        .is_some_and(|inside| inside.starts_with(|letter: char| letter.is_ascii_digit()));
    if stamped && line.contains(']') {
        return true;
    }
    if (line.starts_with(['+', '-']) && !line[1..].starts_with([' ', '-']))
        || line.starts_with("[{")
        || line.starts_with("['")
    {
        return true;
    }
    if line.ends_with([';', '{', '}']) && line.contains(['(', '=', '{']) {
        return true;
    }
    let (mut letters, mut all) = (0, 0);
    for letter in line.chars() {
        all += 1;
        letters += usize::from(letter.is_alphabetic() || letter == ' ');
    }
    // Prose is letters and spaces for more than nine tenths; a third of signs and digits is a table, a hash or code.
    all >= 30 && letters * 3 < all * 2
}

/// A line that begins with a quotation mark and goes on with words of its own is prose.
fn is_quoted_prose(line: &str) -> bool {
    let Some(inside) = line.strip_prefix('"') else {
        return false;
    };
    inside
        .find('"')
        .is_some_and(|end| !inside[end + 1..].trim_start().starts_with([':', ',']) && inside[end + 1..].len() > 3)
}

#[cfg(test)]
#[path = "own_words_tests.rs"]
mod tests;
