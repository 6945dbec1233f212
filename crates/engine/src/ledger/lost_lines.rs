//! What a story left out, as lines with their sources.

use std::fmt::Write;

use crate::ledger::quote::flat;
use crate::ledger::source_mark::source;
use crate::transcript::Author;

/// Something that a story left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Who said it.
    pub author: Author,
    /// In which message.
    pub number: u32,
    /// The exact words.
    pub text: Box<str>,
}

/// Lines for what a story left out, one a message, as far as they fit.
pub fn lost_lines(lost: Vec<Lost>, budget: u64, count: &dyn Fn(&str) -> u64) -> String {
    let mut used = 0;
    let mut by_message: Vec<(u32, Author, Vec<String>)> = Vec::new();
    for one in lost {
        let words = flat(&one.text);
        used += count(&words) + 2;
        let line = by_message
            .iter_mut()
            .find(|(number, author, _)| (*number, *author) == (one.number, one.author));
        if line.is_none() {
            used += count("- [assistant m1000] ");
        }
        if used > budget {
            break;
        }
        match line {
            Some((_, _, listed)) => listed.push(words),
            None => by_message.push((one.number, one.author, vec![words])),
        }
    }
    if by_message.is_empty() {
        return String::new();
    }
    by_message.sort_by_key(|(number, author, _)| (*number, *author));
    let mut text = String::new();
    for (number, author, words) in by_message {
        let _ = writeln!(text, "- {} {}", source(author, number, number), words.join(" · "));
    }
    text
}
