//! The words of a command: what stands before its name, its options, its plain words.

use super::path;
use super::shell::Word;

/// Words of the shell's grammar that stand before a command.
const KEYWORDS: [&str; 10] = ["if", "then", "else", "elif", "do", "while", "until", "!", "{", "time"];

/// The words from the command's own name on: without grammar, assignments, `sudo`, `env`, `timeout 60`.
pub(super) fn command(words: &[Word]) -> &[Word] {
    let mut rest = words;
    while let Some((first, more)) = rest.split_first() {
        let text = first.text.as_str();
        if first.is_quoted && !is_assignment(text) {
            return rest;
        }
        rest = match text {
            _ if KEYWORDS.contains(&text) || is_assignment(text) => more,
            "command" | "exec" | "builtin" | "nohup" | "unbuffer" | "caffeinate" | "eval" => more,
            "sudo" | "env" | "nice" | "ionice" | "stdbuf" | "doas" => after_options(more, &["-u", "-g", "-n", "-C"]),
            "timeout" | "gtimeout" => after_options(more, &["-s", "-k", "--signal", "--kill-after"])
                .get(1..)
                .unwrap_or_default(),
            _ => return rest,
        };
    }
    rest
}

/// Variables that change how much a command says, and not what it does.
const QUIET_VARIABLES: [&str; 14] = [
    "CI",
    "DEBUG",
    "FORCE_COLOR",
    "LANG",
    "LC_ALL",
    "LOG_LEVEL",
    "NODE_OPTIONS",
    "NO_COLOR",
    "PATH",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "VERBOSE",
];
/// Longest setting of a variable that is told.
const LONGEST_VARIABLE: usize = 40;

/// The variables set for a command that may change what it does, each with a space behind it.
pub(super) fn telling_variables(words: &[Word]) -> String {
    let before = words.len() - command(words).len();
    let mut told = String::new();
    for word in &words[..before] {
        let name = word.text.split('=').next().unwrap_or_default();
        let is_told = is_assignment(&word.text)
            && word.text.len() <= LONGEST_VARIABLE
            && !word.text.contains(char::is_whitespace);
        if is_told && !QUIET_VARIABLES.contains(&name) {
            told.push_str(&word.text);
            told.push(' ');
        }
    }
    told
}

fn after_options<'a>(words: &'a [Word], with_value: &[&str]) -> &'a [Word] {
    let mut rest = words;
    while let Some((first, more)) = rest.split_first() {
        if !first.text.starts_with('-') {
            break;
        }
        rest = match with_value.contains(&&*first.text) {
            true => more.get(1..).unwrap_or_default(),
            false => more,
        };
    }
    rest
}

/// Whether a word sets a variable: `NAME=…`.
pub(super) fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|character: char| character.is_ascii_digit())
            && name
                .chars()
                .all(|character| character.is_ascii_alphanumeric() || character == '_')
    })
}

/// A command's words, told apart.
pub(super) struct Options<'a> {
    /// What is no option and no option's value.
    pub words: Vec<&'a Word>,
    flags: Vec<&'a str>,
    values: Vec<(&'a str, &'a str)>,
}

impl<'a> Options<'a> {
    /// Tells options from words; those named take the next word as their value.
    pub(super) fn of(rest: &'a [Word], with_value: &[&str]) -> Self {
        let mut options = Options {
            words: Vec::new(),
            flags: Vec::new(),
            values: Vec::new(),
        };
        let mut only_words = false;
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            if only_words || !text.starts_with('-') || text == "-" {
                options.words.push(word);
            } else if text == "--" {
                only_words = true;
            } else if with_value.contains(&text) {
                options.flags.push(text);
                options
                    .values
                    .extend(words.next().map(|value| (text, value.text.as_str())));
            } else {
                options.flags.push(text);
            }
        }
        options
    }

    /// Whether a flag was given; short ones also in a bundle.
    pub(super) fn has(&self, flag: &str) -> bool {
        let short = flag.strip_prefix('-').filter(|letter| letter.len() == 1);
        self.flags.iter().any(|given| {
            *given == flag
                || short.is_some_and(|letter| !given.starts_with("--") && given.len() <= 6 && given.contains(letter))
        })
    }

    /// The value of an option.
    pub(super) fn value(&self, flag: &str) -> Option<&str> {
        self.values
            .iter()
            .find(|(name, _)| *name == flag)
            .map(|(_, value)| *value)
    }
}

/// The file that a copy or move of a source to a target makes.
pub(super) fn inside(target: &str, source: &str, sources: usize) -> String {
    let name = path::name(source.trim_end_matches('/'));
    // `mv a.rs src` has a folder for its target far more often than a file without an ending.
    let loses_ending =
        name.contains('.') && !name.starts_with('.') && !path::name(target).contains('.') && !target.is_empty();
    match target.ends_with('/') || sources > 1 || matches!(target, "." | "..") || loses_ending {
        true => format!("{}/{name}", target.trim_end_matches('/')),
        false => target.to_owned(),
    }
}

/// Whether a word is `12:40`.
pub(super) fn is_line_range(text: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once(':')
        .is_some_and(|(from, to)| is_number(from) && is_number(to))
}
