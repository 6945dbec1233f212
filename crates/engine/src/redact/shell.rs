//! Passwords on command lines, by program.
//!
//! A command line is what stands after a program's name up to the end of the line or the next command. Its words are
//! split as a shell does, roughly: quotes are taken off, escapes are left alone.

use crate::redact::chars::line_end;
use crate::redact::scan::Label;
use crate::redact::scan::Scanner;
use crate::redact::value::Candidate;

/// How much of a command line is looked at.
const LINE: usize = 600;
/// How many words of it.
const WORDS: usize = 60;

/// A word of a command line, without its quotes.
#[derive(Clone, Copy, Debug)]
struct Argument {
    start: usize,
    end: usize,
}

/// Whether a name of the table is one of a class: one word that begins with a capital.
fn is_constructor(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_uppercase()) && name.bytes().all(|byte| byte.is_ascii_alphabetic())
}

impl Scanner<'_> {
    /// The passwords in the arguments of a program.
    pub fn command(&mut self, number: u16, start: usize, end: usize) {
        let boundary = |at: Option<&u8>| {
            at.is_none_or(|byte| {
                !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'-' | b'=' | b'.' | b'@' | b':')
            })
        };
        let before = start.checked_sub(1).map(|before| self.bytes[before]);
        let escaped = start >= 2 && self.bytes[start - 2] == b'\\';
        let called = self.bytes.get(end) == Some(&b'(') && before == Some(b'.');
        let command = &self.rules.commands[number as usize];
        if !(escaped || called || boundary(before.as_ref())) || !self.is_invoked(&command.name, start, end) {
            return;
        }
        if !self.affords(start, LINE) {
            return;
        }
        let arguments = self.arguments(end);
        let command = &self.rules.commands[number as usize];
        let literal = is_constructor(&command.name);
        for flag in &command.flags {
            let place = match &**flag {
                "first" => Some(0),
                "second" => Some(1),
                "third" => Some(2),
                "last" => Some(arguments.len().saturating_sub(1)),
                _ => None,
            };
            if let Some(place) = place {
                let argument = arguments.get(place).copied();
                self.chosen(argument.filter(|argument| !literal || self.is_literal(*argument)));
                continue;
            }
            match &**flag {
                "netuse" => self.net_use(&arguments),
                "htpasswd" => self.htpasswd(&arguments),
                "chpasswd" => self.piped_pair(start),
                "u/p" => self.pair(arguments.first().copied(), b'/'),
                flag => match flag.strip_prefix("after=") {
                    Some(count) => self.positional(&arguments, count.parse().unwrap_or(0)),
                    None => self.flagged(&arguments, flag),
                },
            }
        }
    }

    /// Whether the name is a program that is started, or a constructor that is called. `wallet.Open(…)` and `Wallet wallet` are neither.
    fn is_invoked(&self, name: &str, start: usize, end: usize) -> bool {
        let rest = &self.bytes[end..];
        if is_constructor(name) {
            return self.bytes[start..end] == *name.as_bytes() && rest.starts_with(b"(");
        }
        match rest {
            [] | [b' ' | b'(' | b'\t' | b'\n' | b'"', ..] => true,
            _ => [".exe", ".cmd", ".bat", ".sh"]
                .iter()
                .any(|extension| rest.starts_with(extension.as_bytes())),
        }
    }

    /// Of the arguments of a constructor only literals are values; the others are names of variables.
    fn is_literal(&self, argument: Argument) -> bool {
        let before = argument.start.checked_sub(1).map(|before| self.bytes[before]);
        matches!(before, Some(b'"' | b'\'' | b'`'))
    }

    /// Splits a command line into words.
    fn arguments(&self, from: usize) -> Vec<Argument> {
        let stop = self.command_end(from);
        let mut arguments = Vec::new();
        let mut at = from;
        while at < stop && arguments.len() < WORDS {
            match self.bytes[at] {
                b' ' | b'\t' | b'(' | b',' | b')' => at += 1,
                b'\\' if self.bytes.get(at + 1) == Some(&b'\n') => at += 2,
                b'\\' if matches!(self.bytes.get(at + 1), Some(b'n' | b'r')) => break,
                b'|' | b';' | b'\n' | b'#' => break,
                b'&' if self.bytes.get(at + 1) == Some(&b'&') => break,
                b'"' | b'\'' | b'\\' => match self.quoted(at) {
                    Some(value) if value.end > value.start && value.end <= stop => {
                        arguments.push(Argument {
                            start: value.start,
                            end: value.end,
                        });
                        at = value.end + 1;
                    }
                    _ => at += 1,
                },
                _ => {
                    let end = self.argument_end(at, stop);
                    arguments.push(Argument { start: at, end });
                    at = end.max(at + 1);
                }
            }
        }
        arguments
    }

    /// Where a command line ends: at a line break that is not escaped.
    fn command_end(&self, from: usize) -> usize {
        let mut at = from;
        loop {
            let end = line_end(self.bytes, at, LINE.saturating_sub(at - from));
            let continued =
                end > from && end < self.bytes.len() && self.bytes[end - 1] == b'\\' && self.bytes[end] == b'\n';
            if !continued || end + 1 - from >= LINE {
                return end;
            }
            at = end + 1;
        }
    }

    fn argument_end(&self, from: usize, stop: usize) -> usize {
        let mut end = from;
        while end < stop {
            match self.bytes[end] {
                b' ' | b'\t' | b'"' | b'`' | b'|' | b';' | b'<' | b'>' => break,
                b'\'' if end > from && !matches!(self.bytes[end - 1], b'=' | b'p') => break,
                b'\'' | b')' if self.bytes.get(end + 1).is_none_or(|next| !next.is_ascii_alphanumeric()) => break,
                b'\\' if matches!(self.bytes.get(end + 1), Some(b'n' | b'r' | b'"' | b'\'' | b'\\')) => break,
                _ => end += 1,
            }
        }
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        end
    }

    fn word_of(&self, argument: Argument) -> &str {
        self.text.get(argument.start..argument.end).unwrap_or("")
    }

    /// A flag of the table: `-p~`, `-p=`, `-p!`, `-u:u:p`.
    fn flagged(&mut self, arguments: &[Argument], rule: &str) {
        let (flag, form) = match rule
            .split_once(':')
            .filter(|(_, form)| matches!(*form, "u:p" | "u%p" | "u,p" | "pass" | "cookie"))
        {
            Some(parts) => parts,
            None => rule.split_at(rule.len() - 1),
        };
        let arguments = arguments
            .iter()
            .copied()
            .enumerate()
            .map(|(at, argument)| (argument, arguments.get(at + 1).copied()));
        for (argument, next) in arguments {
            let Some(rest) = self.word_of(argument).strip_prefix(flag) else {
                continue;
            };
            let glued = Argument {
                start: argument.end - rest.len(),
                end: argument.end,
            };
            let long = flag.starts_with("--");
            let value = match rest.bytes().next() {
                None if form == "!" => None,
                None => next,
                Some(b'=') => Some(Argument {
                    start: glued.start + 1,
                    ..glued
                }),
                // `-ppassword`, `-uname:password`; a long flag is another flag then, and so is `-profile` for a flag that stands alone.
                Some(_) if long || form == "=" => None,
                Some(b'\'') => Some(Argument {
                    start: glued.start + 1,
                    ..glued
                }),
                Some(_) => Some(glued),
            };
            match form {
                "u:p" => self.pair(value, b':'),
                "u%p" => self.pair(value, b'%'),
                "u,p" => self.pair(value, b','),
                "pass" => self.pair(value, b':'),
                "cookie" => value.map_or((), |value| self.cookie_pairs(value.start, value.end)),
                _ => self.chosen(value),
            }
        }
    }

    /// A password that stands alone.
    fn chosen(&mut self, argument: Option<Argument>) {
        let Some(argument) = argument else {
            return;
        };
        let word = Candidate::new(self.word_of(argument));
        if word.len() < 4
            || word.is_placeholder()
            || word.is_reference()
            || word.is_path()
            || word.contains("://")
            || word.starts_with("--")
        {
            return;
        }
        self.push(
            argument.start,
            argument.end,
            Label::Code("password", "password on a command line"),
        );
    }

    /// A password after a name: `name:password`.
    fn pair(&mut self, argument: Option<Argument>, separator: u8) {
        let Some(argument) = argument else {
            return;
        };
        let word = self.word_of(argument);
        let Some(at) = word.bytes().position(|byte| byte == separator) else {
            return;
        };
        if word.contains("://")
            || word.contains("${")
            || word.contains(":$")
            || word.contains('{')
            || word.starts_with('$')
        {
            return;
        }
        let password = Argument {
            start: argument.start + at + 1,
            end: argument.end,
        };
        if self.word_of(password).len() >= 4 {
            self.chosen(Some(password));
            return;
        }
        // `curl -u sk_live_…:` has the secret where the name is.
        let name = Argument {
            end: argument.start + at,
            ..argument
        };
        if password.start == password.end && crate::redact::look::Look::at(self.word_of(name).as_bytes()).is_random(16)
        {
            self.chosen(Some(name));
        }
    }

    fn net_use(&mut self, arguments: &[Argument]) {
        let user = arguments
            .iter()
            .position(|argument| self.word_of(*argument).to_ascii_lowercase().starts_with("/user:"));
        let Some(user) = user else {
            return;
        };
        for next in [
            arguments.get(user + 1),
            user.checked_sub(1).and_then(|before| arguments.get(before)),
        ]
        .into_iter()
        .flatten()
        {
            let word = self.word_of(*next);
            if !word.starts_with('/') && !word.starts_with('\\') && !word.ends_with(':') && word != "*" {
                return self.chosen(Some(*next));
            }
        }
    }

    fn htpasswd(&mut self, arguments: &[Argument]) {
        let batch = arguments.iter().any(|argument| {
            let word = self.word_of(*argument);
            word.starts_with('-') && !word.starts_with("--") && word.contains('b')
        });
        if batch {
            self.chosen(arguments.last().copied());
        }
    }

    fn positional(&mut self, arguments: &[Argument], count: usize) {
        let plain: Vec<Argument> = arguments
            .iter()
            .copied()
            .filter(|argument| !self.word_of(*argument).starts_with('-'))
            .collect();
        self.chosen(plain.get(count.wrapping_sub(1)).copied());
    }

    /// `echo name:password | chpasswd`.
    fn piped_pair(&mut self, start: usize) {
        let from = crate::redact::chars::line_start(self.bytes, start, LINE);
        let line = &self.bytes[from..start];
        let Some(echo) = memchr::memmem::rfind(line, b"echo ") else {
            return;
        };
        let arguments = self.arguments(from + echo + 5);
        if let Some(argument) = arguments.first().copied().filter(|argument| argument.end <= start) {
            self.pair(Some(argument), b':');
        }
    }
}
