//! What of a person's message they said themselves, and what they pasted into it.
//!
//! Whoever pastes a log, a help text or a mail does not wish what it says. A line is taken for pasted only where its form shows it; a
//! list, a heading or a numbered request is how people write briefs and stays theirs, and so does whatever is uncertain.

use std::ops::Range;

use crate::transcript::paste_forms;
use crate::transcript::paste_kind::PasteKind;
use crate::transcript::paste_lines::Line;

/// Whether a stretch was said or pasted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PassageKind {
    /// The person's own words.
    Said,
    /// Something they brought along.
    Pasted(PasteKind),
}

/// A stretch of a person's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonPassage<'a> {
    /// Where it stands in the text.
    pub range: Range<usize>,
    /// Whether it was said or pasted.
    pub kind: PassageKind,
    /// The stretch itself.
    pub text: &'a str,
}

/// Splits a person's text into what they said and what they pasted. The passages follow each other without a gap.
pub fn split_pastes(text: &str) -> Vec<PersonPassage<'_>> {
    let mut at = 0;
    let lines: Vec<Line<'_>> = text
        .split_inclusive('\n')
        .map(|line| {
            at += line.len();
            Line::new(line.trim_end(), at - line.len()..at)
        })
        .collect();
    let kinds = paste_forms::classify(text, &lines);
    let mut passages: Vec<PersonPassage<'_>> = Vec::new();
    for (line, kind) in lines.iter().zip(kinds) {
        let kind = kind.map_or(PassageKind::Said, PassageKind::Pasted);
        match passages.last_mut() {
            Some(last) if last.kind == kind || line.is_blank() && kind == PassageKind::Said => {
                last.range.end = line.range.end;
                last.text = &text[last.range.clone()];
            }
            // Blank lines before a paste belong to it.
            Some(last) if last.text.trim().is_empty() => {
                last.kind = kind;
                last.range.end = line.range.end;
                last.text = &text[last.range.clone()];
            }
            _ => passages.push(PersonPassage {
                range: line.range.clone(),
                kind,
                text: &text[line.range.clone()],
            }),
        }
    }
    join(text, passages)
}

/// Passages of one kind that only blank space parted are one.
fn join<'a>(text: &'a str, passages: Vec<PersonPassage<'a>>) -> Vec<PersonPassage<'a>> {
    let mut joined: Vec<PersonPassage<'a>> = Vec::with_capacity(passages.len());
    for passage in passages {
        match joined.last_mut() {
            Some(last) if last.kind == passage.kind => {
                last.range.end = passage.range.end;
                last.text = &text[last.range.clone()];
            }
            _ => joined.push(passage),
        }
    }
    joined
}

#[cfg(test)]
#[path = "pastes_tests.rs"]
mod tests;
