//! Views on the conversation and the work: a line each, from records that know their message and their last state.

use std::collections::BTreeSet;

use crate::ledger::Ledger;
use crate::ledger::conversation::open_points::PointKind;
use crate::ledger::conversation::record::Speaker;
use crate::ledger::conversation::render::author;
use crate::ledger::conversation::render::differing;
use crate::ledger::deeds::records::CheckKind;
use crate::ledger::deeds::records::CommandEnding;
use crate::ledger::deeds::records::CommandRecord;
use crate::ledger::deeds::tasks::TaskRecord;
use crate::ledger::entry::Entry;
use crate::ledger::entry::Kind;
use crate::ledger::entry::Status;
use crate::ledger::page::ViewLine;
use crate::ledger::page::view_words;
use crate::ledger::quote::flat;
use crate::ledger::section::Section;
use crate::ledger::source_mark::source;
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
        views.push(ViewLine::new(section, number, text));
    };
    let mut waiting: Vec<_> = log.open_points().waiting().collect();
    waiting.reverse();
    // A question that needs the sentence before it takes the room of two others.
    waiting.sort_by_key(|point| point.is_pointing);
    for point in waiting {
        let record = &log.records()[point.record as usize];
        let Some(sentence) = record.sentences.get(point.sentence as usize) else {
            continue;
        };
        let section = match point.kind {
            PointKind::Question => Section::Questions,
            PointKind::Promise => Section::Obligations,
        };
        let before = (point.sentence as usize).checked_sub(1).filter(|_| point.is_pointing);
        let words = match before.and_then(|before| record.sentences.get(before)) {
            Some(before) => format!(
                "{} {}",
                view_words(record.words_of(before)),
                view_words(record.words_of(sentence))
            ),
            None => view_words(record.words_of(sentence)),
        };
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
    let is_told = |words: &str| !words.is_empty() && !story.is_empty() && story.contains(words);
    // Records name their message themselves, and what they are says whose doing it was.
    let view = |section: Section, number: u32, line: &str| ViewLine::new(section, number, format!("- {}", flat(line)));
    views.extend(tasks(ledger, &is_told));
    let mut files: Vec<_> = deeds.changed_files().filter(|file| !is_told(file.path())).collect();
    files.sort_by_key(|file| deeds.is_temporary(file));
    for file in files {
        views.push(ViewLine {
            is_spare: deeds.is_temporary(file),
            ..view(Section::Files, file.last(), &file.line())
        });
    }
    let mut commits: Vec<_> = deeds.commits().collect();
    commits.sort_by_key(|commit| u32::MAX - commit.message());
    let has_commits = !commits.is_empty();
    for commit in commits.into_iter().filter(|commit| !is_told(commit.name())) {
        views.push(view(Section::Commits, commit.message(), &commit.line()));
    }
    let mut commands: Vec<_> = deeds.commands().filter(|command| !command.is_look()).collect();
    // What was committed, pushed or opened stands under its own heading.
    commands.retain(|command| !has_commits || !is_of_commits(command));
    commands.reverse();
    commands.sort_by_key(|command| worth(command));
    for command in commands {
        views.push(view(Section::Commands, command.last(), &command.line()));
    }
    let mut errors: Vec<_> = deeds.errors().collect();
    errors.reverse();
    errors.sort_by_key(|error| {
        let is_over = error.gone_since().is_some();
        // Programs in a folder of temporary files are trials.
        let is_trial = error.command().split(' ').any(|word| word.starts_with("/tmp/"));
        let is_meant = (error.said().is_some() || is_trial) && !is_over;
        (is_meant, is_over, error.passed_since().is_some(), error.is_weak())
    });
    for error in errors.into_iter().filter(|error| !is_told(error.text())) {
        views.push(view(Section::Errors, error.last_seen(), &error.line()));
    }
    let rows: Vec<_> = deeds.odd_rows().collect();
    for row in rows.into_iter().rev() {
        views.push(view(Section::OddRows, row.last(), &row.line()));
    }
    views
}

/// Whether a command went well that makes what is listed under Commits.
fn is_of_commits(command: &CommandRecord) -> bool {
    let makers = [
        "git add",
        "git commit",
        "git push",
        "git tag",
        "gh pr create",
        "checkout -b",
        "switch -c",
    ];
    let is_maker = makers.iter().any(|maker| command.command().contains(maker));
    // Whether a commit without a status was made is for the reader to judge.
    let may_have_failed = command.command().contains("git commit");
    is_maker
        && match command.ending() {
            CommandEnding::Ok => true,
            CommandEnding::Ended => !may_have_failed,
            _ => false,
        }
}

/// The order of commands: checks before others, and last what a wider run has overtaken.
fn worth(command: &CommandRecord) -> u8 {
    match command.check() {
        _ if command.covered().is_some() => 3,
        Some(CheckKind::Version) => 1,
        Some(_) => 0,
        None => 2,
    }
}

/// The task list: what is open with its words, a list that is done in one line.
fn tasks(ledger: &Ledger, is_told: &dyn Fn(&str) -> bool) -> Vec<ViewLine> {
    let mut views = Vec::new();
    let mut push = |number: u32, line: &str| {
        views.push(ViewLine::new(Section::Tasks, number, format!("- {}", flat(line))));
    };
    // What is on no list any more was replaced with the list.
    let tasks = ledger.deeds().tasks().filter(|task| !task.is_replaced());
    let tasks: Vec<_> = tasks.collect();
    let reports = match tasks.iter().any(|task| task.status() == Status::Open) {
        true => newest_reports(ledger),
        false => Vec::new(),
    };
    let mut tasks: Vec<_> = tasks
        .into_iter()
        .map(|task| (task, later_word(ledger, task, &reports)))
        .collect();
    let Some(updated) = tasks.iter().map(|(task, _)| task.last()).max() else {
        return views;
    };
    let is_open = |task: &TaskRecord| task.status() == Status::Open;
    if tasks.iter().all(|(task, _)| task.status() == Status::Closed) {
        push(updated, &format!("all {} done, m{updated}", tasks.len()));
        return views;
    }
    // What is open comes first; what is done shows how far the list has come.
    tasks.sort_by_key(|(task, later)| (!is_open(task), later.is_some()));
    // Agents go on without ticking off: how old a list is tells how far it can be trusted.
    if updated + TASKS_AGE < ledger.folded() {
        push(0, &format!("(list last updated m{updated}; work went on since)"));
    }
    for (task, later) in tasks.iter().filter(|(task, _)| !is_told(task.words())) {
        match later {
            Some(later) => push(task.first(), &format!("{} ({later})", task.line())),
            None => push(task.first(), &task.line()),
        }
    }
    views
}

/// Shorter words say nothing of what a task is about.
const LEAST_TASK_WORD: usize = 4;

/// Reports in which a task is looked for, and sentences of each: what was done lately stands in the newest of them.
const NEWEST_REPORTS: usize = 60;
const REPORT_SENTENCES: usize = 60;

/// A report of the agent: its message, and the words of each sentence.
type ReportWords = (u32, Vec<BTreeSet<String>>);

/// The agent's newest reports, oldest first.
fn newest_reports(ledger: &Ledger) -> Vec<ReportWords> {
    let records = ledger.conversation().records().iter().rev();
    let reports = records.filter(|record| record.speaker == Speaker::Agent && record.closes_turn);
    let mut reports: Vec<ReportWords> = reports
        .take(NEWEST_REPORTS)
        .map(|record| {
            let sentences = record.sentences.iter().take(REPORT_SENTENCES);
            let words = sentences.map(|sentence| task_words(record.words_of(sentence)));
            (record.number, words.collect())
        })
        .collect();
    reports.reverse();
    reports
}

/// A commit, or a report of the agent, that came after the list and has the words of a task which the list still calls open.
fn later_word(ledger: &Ledger, task: &TaskRecord, reports: &[ReportWords]) -> Option<String> {
    if task.status() != Status::Open {
        return None;
    }
    let wanted = task_words(task.words());
    let has_words = |said: &BTreeSet<String>| {
        let found = wanted.iter().filter(|word| said.contains(*word)).count();
        // Two words are in many sentences.
        found >= 3 && found * 3 >= wanted.len() * 2
    };
    let mut commits = ledger.deeds().commits().filter(|commit| commit.message() > task.last());
    if let Some(commit) = commits.find(|commit| has_words(&task_words(commit.title()))) {
        let name = match commit.name() {
            "" => String::new(),
            name => format!("{name} "),
        };
        return Some(format!("later: commit {name}m{}", commit.message()));
    }
    let mut later = reports.iter().filter(|(number, _)| *number > task.last());
    let report = later.find(|(_, sentences)| sentences.iter().any(has_words));
    report.map(|(number, _)| format!("later: agent m{number}"))
}

/// The words of a task or a sentence, without their endings.
fn task_words(text: &str) -> BTreeSet<String> {
    // Enough letters to tell words apart, few enough that `commit` and `committed` meet.
    const STEM: usize = 6;
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| word.chars().count() >= LEAST_TASK_WORD)
        .map(|word| word.to_lowercase().chars().take(STEM).collect())
        .collect()
}

#[cfg(test)]
#[path = "views_tests.rs"]
mod tests;
