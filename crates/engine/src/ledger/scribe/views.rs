//! Views on the conversation and the work: a line each, from records that know their message and their last state.

use std::collections::BTreeSet;

use crate::ledger::Ledger;
use crate::ledger::conversation::open_points::PointKind;
use crate::ledger::conversation::render::author;
use crate::ledger::conversation::render::differing;
use crate::ledger::entry::Entry;
use crate::ledger::entry::Kind;
use crate::ledger::entry::Status;
use crate::ledger::page::Section;
use crate::ledger::page::ViewLine;
use crate::ledger::page::flat;
use crate::ledger::page::source;
use crate::ledger::page::view_words;
use crate::transcript::Author;

/// A task list with at least this many messages behind it may be behind the work.
const TASKS_AGE: u32 = 6;

/// Whether views tell it better than the entry itself: records of what was done know their last state.
pub fn tell(entry: &Entry) -> bool {
    matches!(entry.kind, Kind::Task | Kind::File | Kind::Command | Kind::Error)
}

/// All views, of each section what matters most first. What a story tells already is left out.
pub fn views(ledger: &Ledger, kept: &BTreeSet<u32>, story: &str) -> Vec<ViewLine> {
    let mut views = said(ledger, kept);
    views.extend(done(ledger, story));
    views
}

/// What certainly waits, and what was certainly corrected.
fn said(ledger: &Ledger, kept: &BTreeSet<u32>) -> Vec<ViewLine> {
    let log = ledger.conversation();
    let mut views = Vec::new();
    let mut push = |section: Section, number: u32, by: Author, words: String| {
        let text = format!("- {} {words}", source(by, number, number));
        views.push(ViewLine { section, number, text });
    };
    let waiting: Vec<_> = log.open_points().waiting().collect();
    for point in waiting.into_iter().rev() {
        let record = &log.records()[point.record as usize];
        let Some(sentence) = record.sentences.get(point.sentence as usize) else {
            continue;
        };
        let section = match point.kind {
            PointKind::Question => Section::Questions,
            PointKind::Promise => Section::Obligations,
        };
        let words = view_words(record.words_of(sentence));
        push(section, record.number, author(record.speaker), words);
    }
    for record in log
        .records()
        .iter()
        .rev()
        .filter(|record| !kept.contains(&record.number))
    {
        for sentence in &record.sentences {
            if let Some(later) = sentence.later.filter(|later| later.corrects) {
                let old = record.words_of(sentence);
                let new = log.sentence(later).unwrap_or_default();
                let words = format!(
                    "{} → corrected m{}: {}",
                    differing(old, new),
                    later.message,
                    differing(new, old)
                );
                push(Section::Superseded, record.number, author(record.speaker), words);
            }
        }
    }
    views
}

/// What was done, and what went wrong.
fn done(ledger: &Ledger, story: &str) -> Vec<ViewLine> {
    let deeds = ledger.deeds();
    let mut views = Vec::new();
    let is_told = |words: &str| !story.is_empty() && story.contains(words);
    // Records name their message themselves, and what they are says whose doing it was.
    let mut push = |section: Section, number: u32, line: String| {
        let text = format!("- {}", flat(&line));
        views.push(ViewLine { section, number, text });
    };
    let mut tasks: Vec<_> = deeds.tasks().collect();
    // What is open comes first; what is done shows how far the list has come.
    tasks.sort_by_key(|task| task.status() == Status::Closed);
    // Agents go on without ticking off: how old a list is tells how far it can be trusted.
    let updated = tasks.iter().map(|task| task.last()).max();
    let is_open = tasks.iter().any(|task| task.status() != Status::Closed);
    if let Some(updated) = updated.filter(|updated| is_open && updated + TASKS_AGE < ledger.folded()) {
        push(
            Section::Tasks,
            0,
            format!("(list last updated m{updated}; work went on since)"),
        );
    }
    for task in tasks.into_iter().filter(|task| !is_told(task.words())) {
        push(Section::Tasks, task.first(), task.line());
    }
    for file in deeds.changed_files().filter(|file| !is_told(file.path())) {
        push(Section::Files, file.last(), file.line());
    }
    let mut commands: Vec<_> = deeds.commands().filter(|command| !command.is_look()).collect();
    commands.reverse();
    commands.sort_by_key(|command| command.check().is_none());
    for command in commands {
        push(Section::Commands, command.last(), command.line());
    }
    let commits: Vec<_> = deeds.commits().collect();
    for commit in commits.into_iter().rev().filter(|commit| !is_told(commit.name())) {
        push(Section::Commits, commit.message(), commit.line());
    }
    let mut errors: Vec<_> = deeds.errors().collect();
    errors.reverse();
    errors.sort_by_key(|error| (error.is_weak(), error.gone_since().is_some()));
    for error in errors.into_iter().filter(|error| !is_told(error.text())) {
        push(Section::Errors, error.last_seen(), error.line());
    }
    let rows: Vec<_> = deeds.odd_rows().collect();
    for row in rows.into_iter().rev() {
        push(Section::OddRows, row.last(), row.line());
    }
    views
}

#[cfg(test)]
#[path = "views_tests.rs"]
mod tests;
