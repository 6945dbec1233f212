//! What the person and the agent say in a message, as the log keeps it.

use crate::decide::marker::opens_block;
use crate::shrink::is_telling_line;
use crate::shrink::telling_lines;
use crate::transcript::Message;
use crate::transcript::Part;
use crate::transcript::PassageKind;
use crate::transcript::PasteKind;
use crate::transcript::split_pastes;

/// A message up to this size is kept with what was pasted into it.
const PASTE_SHOWN_BYTES: usize = 2_000;
/// A paste of at most this many bytes stands in a longer message as well.
const SMALL_PASTE_BYTES: usize = 300;
/// Telling lines of something that was pasted.
const PASTE_LINES: usize = 4;
/// First and last lines of a paste that is all that the person sent.
const ALONE_LINES: (usize, usize) = (2, 4);
/// Bytes of such a line.
const LINE_BYTES: usize = 240;
/// The person's own words of a message; what they pasted into a long one is named, with its telling lines.
pub fn person_words(message: &Message) -> String {
    let words: Vec<String> = message
        .person_words()
        .into_iter()
        .filter(|words| !opens_block(words))
        .map(|words| match words.len() > PASTE_SHOWN_BYTES {
            true => without_pastes(words),
            false => without_noise(words),
        })
        .collect();
    words.join("\n")
}

/// Lines of noise in a row from which on only the last of them is kept.
const NOISE_LINES: usize = 4;

/// Words without runs of lines of binary data, which nobody can use.
fn without_noise(words: &str) -> String {
    let lines: Vec<&str> = words.split_inclusive('\n').collect();
    let mut said = String::with_capacity(words.len());
    let mut at = 0;
    while at < lines.len() {
        let run = lines[at..].iter().take_while(|line| is_noise(line.trim())).count();
        if run >= NOISE_LINES {
            said.push_str(&format!(
                "[pasted log, {run} lines]\n> {}\n",
                lines[at + run - 1].trim()
            ));
        } else {
            lines[at..at + run.max(1)].iter().for_each(|line| said.push_str(line));
        }
        at += run.max(1);
    }
    said.trim().to_owned()
}

/// Whether a line is binary data: mostly signs, and hardly any words.
fn is_noise(line: &str) -> bool {
    let is_word = |word: &&str| {
        let word = word.trim_matches(|letter: char| letter.is_ascii_punctuation());
        word.chars().count() >= 3 && word.chars().all(char::is_alphabetic)
    };
    let words = line.split_whitespace().filter(is_word).count();
    let signs = line.chars().filter(|letter| letter.is_ascii_punctuation()).count();
    let seen = line.chars().filter(|letter| !letter.is_whitespace()).count();
    // Prose has a sign in twenty letters, code one in five.
    let is_binary = line.len() >= 40 && signs * 20 >= seen * 7 && words <= 3;
    is_binary && line.contains("..")
}

fn without_pastes(words: &str) -> String {
    let passages = split_pastes(words);
    let is_alone = !passages
        .iter()
        .any(|passage| passage.kind == PassageKind::Said && !passage.text.trim().is_empty());
    let mut said = String::new();
    for passage in passages {
        match passage.kind {
            PassageKind::Said => said.push_str(passage.text),
            PassageKind::Pasted(_) if passage.text.len() <= SMALL_PASTE_BYTES => said.push_str(passage.text),
            PassageKind::Pasted(kind) => {
                let lines = passage.text.trim().lines().count();
                said.push_str(&format!("[pasted {}, {lines} lines]\n", paste_name(kind)));
                for line in paste_lines(passage.text, is_alone) {
                    said.push_str(&format!("> {line}\n"));
                }
            }
        }
    }
    said.trim().to_owned()
}

/// The lines that stand for a paste: those that tell most. Where nothing else was said, or nothing tells, how it begins and ends as well: "what
/// went wrong here?" is then asked by the paste itself.
fn paste_lines(text: &str, is_alone: bool) -> Vec<String> {
    let told = telling_lines(text, PASTE_LINES);
    let mut told: Vec<String> = told.into_iter().filter(|line| is_telling_line(line)).collect();
    let (first, last) = match (is_alone, told.is_empty()) {
        (true, _) => ALONE_LINES,
        (false, true) => (1, 1),
        (false, false) => return told,
    };
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let first = first.min(lines.len());
    let last = lines.len().saturating_sub(last).max(first);
    let (begins, ends) = (&lines[..first], &lines[last..]);
    told.retain(|line| !begins.iter().chain(ends).any(|end| end.contains(line.trim())));
    let begins = begins.iter().map(|line| shortened(line));
    let ends = ends.iter().map(|line| shortened(line));
    begins.chain(told).chain(ends).collect()
}

/// A line in at most [`LINE_BYTES`].
fn shortened(line: &str) -> String {
    match line.len() > LINE_BYTES {
        true => format!("{}…", &line[..line.floor_char_boundary(LINE_BYTES)]),
        false => line.to_owned(),
    }
}

/// What a paste is called.
pub(super) fn paste_name(kind: PasteKind) -> &'static str {
    match kind {
        PasteKind::Code => "code",
        PasteKind::Log => "log",
        PasteKind::CommandOutput => "command output",
        PasteKind::HelpText => "help text",
        PasteKind::Mail => "mail",
        PasteKind::Quote => "quote",
        PasteKind::Data => "data",
        PasteKind::Diff => "diff",
        PasteKind::Table => "table",
        PasteKind::Document => "document",
    }
}

/// The agent's texts in a message, without blocks of ours, which may sit in it, and without directives to its host.
pub(super) fn agent_words(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) if !opens_block(text) => Some(&**text),
        _ => None,
    });
    let words = texts.collect::<Vec<_>>().join("\n");
    if !words.contains("::") {
        return words;
    }
    let own = words.lines().filter(|line| !is_directive(line.trim()));
    own.collect::<Vec<_>>().join("\n")
}

/// Whether a line is a directive to the host: `::git-push{branch="main"}`.
fn is_directive(line: &str) -> bool {
    let Some(name) = line.strip_prefix("::") else {
        return false;
    };
    let end = name.find(|letter: char| !letter.is_ascii_lowercase() && letter != '-' && letter != '_');
    end.is_some_and(|end| end > 0 && name[end..].starts_with('{')) && line.ends_with('}')
}
