//! Commands with how often they were run and how they ended last, and the errors they left open.

use serde::Deserialize;
use serde::Serialize;

use super::failures::Failure;
use super::failures::Report;
use super::path;
use super::program;
use super::program::Run;
use super::shelf::Room;
use super::shelf::Shelf;
use super::shelf::Shelved;
use crate::decide::cut;
use crate::ledger::entry::Entry;
use crate::ledger::entry::Kind;
use crate::ledger::entry::Status;
use crate::transcript::Author;

/// Most commands: the longest recorded sessions run a few hundred different ones; those that only look make room first.
const MOST_COMMANDS: Room = Room { all: 240, light: 40 };

/// Most errors; those that went away make room first.
const MOST_ERRORS: Room = Room { all: 150, light: 60 };

/// Longest note.
const NOTE: usize = 240;

/// A command and how it went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Ran {
    entry: Entry,
    is_look: bool,
}

impl Shelved for Ran {
    fn entry(&self) -> &Entry {
        &self.entry
    }

    fn is_light(&self) -> bool {
        self.is_look
    }
}

/// An error and where it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Fault {
    entry: Entry,
    /// The command that showed it.
    command: Box<str>,
    family: Box<str>,
    is_test: bool,
    file: Option<Box<str>>,
    /// Whether its file was changed since it was last seen.
    is_edited: bool,
}

impl Shelved for Fault {
    fn entry(&self) -> &Entry {
        &self.entry
    }

    fn is_light(&self) -> bool {
        self.entry.status == Status::Closed
    }
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It did what it should; this is what came of it, where it says so.
    Well(String),
    /// It failed, and this tells why.
    Badly(String),
    /// It goes on, or nobody can tell.
    Unknown,
}

/// All commands and errors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Runs {
    commands: Shelf<Ran>,
    errors: Shelf<Fault>,
}

impl Runs {
    /// The commands, the one run longest ago first.
    pub(super) fn commands(&self) -> impl Iterator<Item = &Entry> {
        self.commands.items().map(|ran| &ran.entry)
    }

    /// The errors, the one seen longest ago first.
    pub(super) fn errors(&self) -> impl Iterator<Item = &Entry> {
        self.errors.items().map(|fault| &fault.entry)
    }

    /// A command was run; `counts` is false where an earlier run of it only goes on.
    pub(super) fn ran(&mut self, message: u32, run: &Run, end: &End, exit: Option<i64>, counts: bool) {
        let taken = self.commands.take(&run.key);
        let mut ran = taken.unwrap_or_else(|| {
            let mut entry = Entry::new(Kind::Command, &run.key, "", Status::Current, Author::Assistant, message);
            entry.times = 0;
            Ran {
                entry,
                is_look: run.is_look,
            }
        });
        ran.entry.last = message;
        ran.entry.times += u32::from(counts || ran.entry.times == 0);
        ran.entry.value = match ran.entry.times {
            1 => run.key.clone(),
            times => format!("{} ×{times}", run.key).into(),
        };
        ran.entry.note = match (end, exit) {
            (End::Well(what), _) if what.is_empty() => Some("ok".into()),
            (End::Well(what), _) => Some(cut(&format!("ok: {what}"), NOTE).into()),
            (End::Badly(why), Some(code)) if code != 0 && why.is_empty() => Some(format!("exit {code}").into()),
            (End::Badly(why), Some(code)) if code != 0 => Some(cut(&format!("exit {code}: {why}"), NOTE).into()),
            (End::Badly(why), _) if why.is_empty() => Some("failed".into()),
            (End::Badly(why), _) => Some(cut(&format!("failed: {why}"), NOTE).into()),
            (End::Unknown, _) => ran.entry.note,
        };
        self.commands.put(&run.key, ran, MOST_COMMANDS);
    }

    /// What a command's output says of errors: those it shows are open, those it shows no more are closed.
    pub(super) fn report(&mut self, message: u32, run: &Run, end: &End, report: &Report) {
        for failure in &report.failures {
            self.fail(message, run, failure);
        }
        if !report.passed.is_empty() {
            let mut passed: Vec<&str> = report.passed.iter().map(String::as_str).collect();
            passed.sort_unstable();
            self.close(message, |fault| {
                let is_passed = fault.is_test && passed.binary_search(&&*fault.entry.key).is_ok();
                is_passed.then(|| "the test passed".to_owned())
            });
        }
        let is_shown = |fault: &Fault| report.failures.iter().any(|failure| *failure.key == *fault.entry.key);
        match end {
            End::Well(_) => self.close(message, |fault| {
                let is_covered = fault.family == run.family && (run.is_tool || covers(&run.key, &fault.command));
                // Another way to judge the code, after the file was mended, says the same.
                let is_mended =
                    fault.is_edited && fault.file.is_some() && !fault.is_test && program::is_verdict(&run.family);
                let told = cut(&run.key, 80);
                match (is_covered, is_mended) {
                    (true, _) => Some(format!("`{told}` succeeded")),
                    (false, true) => Some(format!("its file was changed and `{told}` succeeded")),
                    (false, false) => None,
                }
            }),
            End::Badly(_) => self.close(message, |fault| {
                // A build that fails says nothing of the tests that did not run.
                let could_show = fault.command == run.key && fault.is_edited && (!fault.is_test || report.has_tests);
                (could_show && report.is_failing() && !is_shown(fault))
                    .then(|| "not shown again after an edit".to_owned())
            }),
            End::Unknown => {}
        }
    }

    fn fail(&mut self, message: u32, run: &Run, failure: &Failure) {
        let taken = self.errors.take(&failure.key);
        let mut fault = taken.unwrap_or_else(|| {
            let mut entry = Entry::new(Kind::Error, &failure.key, "", Status::Open, Author::Tool, message);
            entry.times = 0;
            Fault {
                entry,
                command: "".into(),
                family: "".into(),
                is_test: failure.test.is_some(),
                file: None,
                is_edited: false,
            }
        });
        let came_back = fault.entry.status == Status::Closed;
        fault.entry.value = failure.line.as_str().into();
        fault.entry.last = message;
        fault.entry.times += 1;
        fault.entry.status = Status::Open;
        let from = format!("from `{}`", cut(&run.key, 120));
        fault.entry.note = Some(match came_back {
            true => format!("{from}; came back m{message}").into(),
            false => from.into(),
        });
        fault.command = run.key.clone();
        fault.family = run.family.clone();
        // Tools that run in a folder of their own name files beside it.
        let file = failure.file.as_deref().map(path::normalise);
        fault.file = file.map(|file| file.trim_start_matches("../").into());
        fault.is_edited = false;
        self.errors.put(&failure.key, fault, MOST_ERRORS);
    }

    fn close(&mut self, message: u32, why: impl Fn(&Fault) -> Option<String>) {
        self.errors.amend_all(|fault| {
            if fault.entry.status == Status::Open
                && fault.entry.last < message
                && let Some(why) = why(fault)
            {
                fault.entry.status = Status::Closed;
                fault.entry.last = message;
                fault.entry.note = Some(why.into());
            }
        });
    }

    /// A file was changed: what was wrong in it may be no more, when it is run again.
    pub(super) fn edited(&mut self, file: &str) {
        self.errors.amend_all(|fault| {
            let names = fault.file.as_deref();
            // A failing test is mended wherever its code is.
            if names.is_none()
                || names.is_some_and(|named| path::ends_with(file, named) || path::ends_with(named, file))
            {
                fault.is_edited = true;
            }
        });
    }
}

/// Whether a command that went well did all that another one did: it names nothing that the other does not.
fn covers(new: &str, old: &str) -> bool {
    new == old || {
        let wanted: Vec<&str> = old.split(' ').collect();
        let mut words = new.split(' ');
        words.all(|word| word.starts_with('-') || matches!(word, "./..." | "." | "...") || wanted.contains(&word))
    }
}
