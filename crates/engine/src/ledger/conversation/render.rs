//! Writes what was chosen of a conversation: a line a message, in order, with its author and number.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;

use crate::ledger::conversation::ConversationLog;
use crate::ledger::conversation::person_pastes::large_pastes;
use crate::ledger::conversation::record::ConversationRecord;
use crate::ledger::conversation::record::LaterWord;
use crate::ledger::conversation::record::Speaker;
use crate::ledger::conversation::selection::Selection;
use crate::ledger::conversation::spoken::paste_name;
use crate::ledger::page::view_words;
use crate::ledger::quote::defused;
use crate::ledger::source_mark::source;
use crate::transcript::Author;
use crate::transcript::PassageKind;
use crate::transcript::split_pastes;

/// Stands where sentences were left out.
const LEFT_OUT: &str = "[…]";

/// What a sentence corrects of what is not shown, by the place of the correcting one: numbers of messages and their words.
type HiddenOld<'a> = BTreeMap<(usize, usize), Vec<(u32, &'a str)>>;

/// The chosen sentences as lines.
pub fn render(log: &ConversationLog, selection: &Selection) -> String {
    let mut text = String::new();
    let hidden = hidden_old(log, selection);
    for (position, chosen) in selection {
        let record = &log.records()[*position];
        if chosen.iter().any(|chosen| *chosen) {
            let _ = write!(
                text,
                "- {} ",
                source(author(record.speaker), record.number, record.number)
            );
            write_words(&mut text, log, *position, chosen, &hidden);
            text.push('\n');
        }
    }
    text
}

/// Who a speaker is in the marks of lines.
pub fn author(speaker: Speaker) -> Author {
    match speaker {
        Speaker::Person => Author::User,
        Speaker::Agent => Author::Assistant,
        Speaker::Host => Author::Host,
    }
}

/// Sentences that are certainly corrected and not chosen. The correction says what it replaces, so that nobody who finds the old
/// value elsewhere, in a file or a result, takes it for the new one.
fn hidden_old<'a>(log: &'a ConversationLog, selection: &Selection) -> HiddenOld<'a> {
    let mut hidden = HiddenOld::new();
    for (position, record) in log.records().iter().enumerate() {
        let chosen = selection.get(&position);
        for (index, sentence) in record.sentences.iter().enumerate() {
            let is_shown = chosen.is_some_and(|chosen| chosen.get(index) == Some(&true));
            if let Some(later) = sentence.later.filter(|later| later.corrects && !is_shown) {
                let place = (later.record as usize, later.sentence as usize);
                hidden
                    .entry(place)
                    .or_default()
                    .push((record.number, record.words_of(sentence)));
            }
        }
    }
    hidden
}

fn write_words(text: &mut String, log: &ConversationLog, position: usize, chosen: &[bool], hidden: &HiddenOld<'_>) {
    let record = &log.records()[position];
    let pastes = shortened_pastes(record, chosen);
    let mut marks = Vec::new();
    let mut is_open = false;
    let mut gap = false;
    let mut before: Option<usize> = None;
    for (index, (sentence, is_chosen)) in record.sentences.iter().zip(chosen).enumerate() {
        let paste = pastes.iter().find(|paste| paste.sentences.contains(&index));
        if let Some(paste) = paste.filter(|paste| paste.sentences.start == index) {
            if is_open {
                end_line(text, &mut gap, &mut marks);
            }
            open_gap(text, &mut gap);
            text.push_str(&paste.mark);
            is_open = true;
        }
        if !is_chosen {
            gap |= paste.is_none();
            continue;
        }
        let start = sentence.start as usize;
        // A sentence that began a line of its own begins one here; lines of a message are indented under its first.
        let breaks = paste.is_some() || before.is_none_or(|end| record.text[end..start].contains('\n'));
        match (is_open, breaks) {
            (false, _) => {}
            (true, true) => end_line(text, &mut gap, &mut marks),
            (true, false) => text.push(' '),
        }
        open_gap(text, &mut gap);
        if paste.is_some() {
            text.push_str("> ");
        }
        text.push_str(&quoted(record.words_of(sentence)));
        if let Some(later) = sentence.later {
            marks.push(later_mark(
                log,
                record.words_of(sentence),
                later,
                record.sentences.len() == 1,
            ));
        }
        // The newest one is enough: what it corrected itself is older still.
        if let Some((number, old)) = hidden.get(&(position, index)).and_then(|all| all.last()) {
            let old = differing(old, record.words_of(sentence)).replace(['(', ')'], "");
            marks.push(format!("(corrects m{number}: {old})"));
        }
        is_open = true;
        before = Some(sentence.end as usize);
    }
    if gap {
        text.push(' ');
        text.push_str(LEFT_OUT);
    }
    write_marks(text, &mut marks);
}

/// A paste of which only some lines are shown.
struct ShortenedPaste {
    sentences: Range<usize>,
    /// Says what was pasted, and how much of it.
    mark: String,
}

/// The large pastes of a message that are not shown whole.
fn shortened_pastes(record: &ConversationRecord, chosen: &[bool]) -> Vec<ShortenedPaste> {
    let mut found = Vec::new();
    let large = large_pastes(record);
    let mut cut = large
        .into_iter()
        .filter(|range| !chosen[range.clone()].iter().all(|chosen| *chosen))
        .peekable();
    if cut.peek().is_none() {
        return found;
    }
    let passages = split_pastes(&record.text);
    for sentences in cut {
        let start = record.sentences[sentences.start].start as usize;
        let end = record.sentences[sentences.end - 1].end as usize;
        let kind = passages.iter().find_map(|passage| match passage.kind {
            PassageKind::Pasted(kind) if passage.range.contains(&start) => Some(kind),
            PassageKind::Pasted(_) | PassageKind::Said => None,
        });
        let name = kind.map_or("text", paste_name);
        let lines = record.text[start..end].lines().count();
        found.push(ShortenedPaste {
            mark: format!("[pasted {name}, {lines} lines]"),
            sentences,
        });
    }
    found
}

/// Ends a line, and begins the next one of the same message. What was left out between them is marked on the line that is over: in front
/// of a line the mark would look like an item of a list.
fn end_line(text: &mut String, gap: &mut bool, marks: &mut Vec<String>) {
    if std::mem::take(gap) {
        text.push(' ');
        text.push_str(LEFT_OUT);
    }
    write_marks(text, marks);
    text.push_str("\n  ");
}

/// Marks what was left out in front of a sentence.
fn open_gap(text: &mut String, gap: &mut bool) {
    if std::mem::take(gap) {
        text.push_str(LEFT_OUT);
        text.push(' ');
    }
}

/// Marks stand at the end of the line they belong to: its words stay in one piece, and nobody reads on without them.
fn write_marks(text: &mut String, marks: &mut Vec<String>) {
    for mark in marks.drain(..) {
        text.push(' ');
        text.push_str(&mark);
    }
}

/// Says which later message bears on a sentence. Where the message has several, the words around the value say which one is meant.
fn later_mark(log: &ConversationLog, words: &str, later: LaterWord, is_alone: bool) -> String {
    let what = match is_alone {
        true => String::new(),
        false => format!("{} ", differing(words, log.sentence(later).unwrap_or_default())),
    };
    match later.corrects {
        true => format!("({what}→ corrected m{})", later.message),
        false => format!("({what}→ see m{})", later.message),
    }
}

/// Words around what one sentence has and the other does not.
const AROUND: usize = 4;

/// A few words of a sentence around the value in which it differs from another; its beginning where there is none.
pub fn differing(words: &str, other: &str) -> String {
    let plain = |word: &str| {
        word.trim_matches(|letter: char| !letter.is_alphanumeric())
            .to_lowercase()
    };
    let known: BTreeSet<String> = other.split_whitespace().map(plain).collect();
    let all: Vec<&str> = words.split_whitespace().collect();
    let is_value = |word: &&str| {
        let inside = |letter: char| letter.is_ascii_digit() || matches!(letter, '-' | '_' | '/' | '.' | ':');
        plain(word).contains(inside) && !known.contains(&plain(word))
    };
    let is_name = |word: &&str| word.starts_with(char::is_uppercase) && !known.contains(&plain(word));
    let at = all.iter().position(is_value).or_else(|| all.iter().rposition(is_name));
    let Some(at) = at else {
        return view_words(words);
    };
    let range = at.saturating_sub(AROUND)..all.len().min(at + AROUND);
    let before = if range.start > 0 { "…" } else { "" };
    let after = if range.end < all.len() { "…" } else { "" };
    view_words(&format!("{before}{}{after}", all[range].join(" ")))
}

/// Words as they may stand in a block: on their lines, which are indented, and without marks of ours.
fn quoted(words: &str) -> String {
    // First without what cannot be seen: it must not hide a mark that stands there when it is gone.
    let plain: String = words
        .chars()
        .filter(|letter| *letter == '\n' || !letter.is_control())
        .collect();
    let plain = defused(&plain);
    if !plain.contains('\n') {
        return plain.trim().to_owned();
    }
    let mut lines = plain.lines().map(str::trim_end).filter(|line| !line.trim().is_empty());
    let mut text = lines.next().unwrap_or_default().trim_start().to_owned();
    for line in lines {
        text.push_str("\n  ");
        text.push_str(line);
    }
    text
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;
