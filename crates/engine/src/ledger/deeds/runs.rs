//! Commands with how often they were run and how they ended last, and the errors they left open.

use serde::Deserialize;
use serde::Serialize;

use super::arguments::is_assignment;
use super::closing;
use super::failure_report::Failure;
use super::failure_report::Report;
use super::log_line::cut_at_word;
use super::path;
use super::program;
use super::program::Run;
use super::records::CheckKind;
use super::records::CommandEnding;
use super::records::CommandRecord;
use super::records::ErrorRecord;
use super::run_end::End;
use super::shelf::Room;
use super::shelf::Shelf;
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

/// All commands and errors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Runs {
    commands: Shelf<CommandRecord>,
    errors: Shelf<ErrorRecord>,
}

impl Runs {
    /// The commands, the one run longest ago first.
    pub(super) fn commands(&self) -> impl Iterator<Item = &CommandRecord> {
        self.commands.items()
    }

    /// The errors, the one seen longest ago first.
    pub(super) fn errors(&self) -> impl Iterator<Item = &ErrorRecord> {
        self.errors.items()
    }

    /// A command was run; `counts` is false where an earlier run of it only goes on.
    pub(super) fn ran(&mut self, message: u32, run: &Run, end: &End, exit: Option<i64>, counts: bool) {
        let taken = self.commands.take(&run.key);
        let mut ran = taken.unwrap_or_else(|| {
            let mut entry = Entry::new(Kind::Command, &run.key, "", Status::Current, Author::Assistant, message);
            entry.times = 0;
            CommandRecord {
                entry,
                is_look: run.is_look,
                check: run.check,
                ending: CommandEnding::Unknown,
                telling: "".into(),
                is_outdated: false,
                before: None,
                covered: None,
            }
        });
        let previous = std::mem::replace(&mut ran.entry.last, message);
        ran.entry.times += u32::from(counts || ran.entry.times == 0);
        ran.entry.value = match ran.entry.times {
            1 => run.key.clone(),
            times => format!("{} ×{times}", run.key).into(),
        };
        // `==== 38 passed ====`: the rules around a summary say nothing.
        let telling = end.telling().trim_matches(|letter| matches!(letter, '=' | ' '));
        let ending = end.ending();
        if matches!(ending, CommandEnding::Unknown | CommandEnding::Running) {
            // How an earlier run ended says nothing of this one.
            if !matches!(ran.ending, CommandEnding::Unknown | CommandEnding::Running) {
                ran.before = Some((ran.ending, previous));
            }
            ran.entry.note = Some(ending.words().into());
            ran.telling = "".into();
        } else {
            let code = exit.filter(|code| *code != 0 && ending == CommandEnding::Failed);
            let said = match code {
                Some(code) => format!("exit {code}"),
                // A tool that starts an agent returns at once: only a command can be said to have ended.
                None if run.is_tool && ending == CommandEnding::Ended => "returned".to_owned(),
                None => ending.words().to_owned(),
            };
            ran.entry.note = Some(match telling.is_empty() {
                true => said.into(),
                false => cut_at_word(&format!("{said}: {telling}"), NOTE).into(),
            });
            ran.telling = cut_at_word(telling, NOTE).into();
            ran.before = None;
        }
        (ran.ending, ran.is_outdated, ran.covered) = (ending, false, None);
        if ending == CommandEnding::Ok && run.check.is_some_and(|kind| kind != CheckKind::Version) {
            self.cover(message, run);
        }
        self.commands.put(&run.key, ran, MOST_COMMANDS);
    }

    /// A check went well: narrower runs of it that were made before say nothing any more.
    fn cover(&mut self, message: u32, run: &Run) {
        self.commands.amend_all(|ran| {
            let is_narrower = ran.check == run.check && ran.covered.is_none() && *ran.entry.key != *run.key;
            if is_narrower && covers(&run.key, &ran.entry.key) {
                ran.covered = Some(message);
            }
        });
    }

    /// What the agent said beside the call that showed these errors: the failure is meant to be.
    pub(super) fn said(&mut self, shown_in: u32, message: u32, words: &str) {
        self.errors.amend_all(|fault| {
            if fault.seen == shown_in && fault.entry.status == Status::Open && fault.said.is_none() {
                fault.said = Some((message, words.into()));
            }
        });
    }

    /// What a command's output says of errors: those it shows are open, those it shows no more are closed.
    pub(super) fn report(&mut self, message: u32, run: &Run, end: &End, report: &Report) {
        for failure in &report.failures {
            self.fail(message, run, failure, false);
        }
        for failure in &report.words {
            self.fail(message, run, failure, true);
        }
        if !report.passed.is_empty() {
            let mut passed: Vec<&str> = report.passed.iter().map(String::as_str).collect();
            passed.sort_unstable();
            self.close(message, |fault| {
                let is_passed = fault.is_test && passed.binary_search(&&*fault.entry.key).is_ok();
                is_passed.then(|| "the test passed".to_owned())
            });
        }
        let is_shown = |fault: &ErrorRecord| {
            let mut failures = report.failures.iter().chain(&report.words);
            failures.any(|failure| identity(run, failure) == *fault.entry.key)
        };
        if !run.is_look {
            self.close(message, |fault| {
                closing::other_way(fault, run, end).filter(|_| !is_shown(fault))
            });
        }
        // A filter behind it may have taken the error away; a script that is given in the call prints all it has.
        let is_whole = matches!(end, End::Ended) && (!run.is_piped || closing::is_inline(run));
        if (matches!(end, End::Well(_)) || is_whole) && closing::is_same_for_all_arguments(run) {
            self.errors.amend_all(|fault| {
                let is_same =
                    fault.family == run.family && fault.seen < message && closing::is_as_demanding(run, &fault.command);
                if is_same && fault.entry.status == Status::Open {
                    let since = match end {
                        End::Well(_) => &mut fault.passed_since,
                        _ => &mut fault.ran_since,
                    };
                    since.get_or_insert(message);
                }
            });
        }
        match end {
            End::Well(_) => self.close(message, |fault| {
                // A wider run of the same check covers a narrower one; any other program has its own target.
                let is_covered = fault.command == run.key
                    || fault.family == run.family
                        && program::is_verdict(&run.family)
                        && covers(&run.key, &fault.command);
                // Another way to judge the code, after the file was mended, says the same.
                let is_mended = fault.is_edited
                    && fault.file.is_some()
                    && !fault.is_test
                    && program::is_verdict(&run.family)
                    && closing::could_show(run, fault);
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
            // The very same command, whose output shows nothing of it any more.
            End::Ended | End::Shows(_) => self.close(message, |fault| {
                let is_same =
                    fault.command == run.key && (!fault.is_test || report.has_tests || matches!(end, End::Ended));
                // A pipe may have filtered it away.
                (is_same && !run.is_piped && !is_shown(fault)).then(|| "the same command no longer shows it".to_owned())
            }),
            End::Running | End::Unknown => {}
        }
    }

    fn fail(&mut self, message: u32, run: &Run, failure: &Failure, is_weak: bool) {
        let key = identity(run, failure);
        let taken = self.errors.take(&key);
        let mut fault = taken.unwrap_or_else(|| {
            let mut entry = Entry::new(Kind::Error, &key, "", Status::Open, Author::Tool, message);
            entry.times = 0;
            ErrorRecord {
                entry,
                command: "".into(),
                family: "".into(),
                is_test: failure.test.is_some(),
                file: None,
                is_edited: false,
                seen: message,
                is_weak,
                check: None,
                passed_since: None,
                ran_since: None,
                said: None,
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
        fault.seen = message;
        fault.is_weak = is_weak;
        (fault.check, fault.passed_since, fault.ran_since, fault.said) = (run.check, None, None, None);
        self.errors.put(&key, fault, MOST_ERRORS);
    }

    fn close(&mut self, message: u32, why: impl Fn(&ErrorRecord) -> Option<String>) {
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
        // Checks do not look at what stands outside of the project or is only read by people.
        if path::is_scratch(file) || path::is_document(file) {
            return;
        }
        self.commands.amend_all(|ran| {
            // What version control showed was true then, and its commits still are.
            ran.is_outdated |= ran.check.is_some_and(|kind| kind != CheckKind::Version);
        });
    }
}

/// What an error is known by. One without a test and a place is another one for every command: the same words about another
/// target are another trouble.
fn identity(run: &Run, failure: &Failure) -> String {
    match (&failure.test, &failure.file) {
        (None, None) => format!("{} @ {}", failure.key, cut(&run.key, 90)),
        _ => failure.key.clone(),
    }
}

/// Whether a command that went well did all that another one did: it names nothing that the other does not.
fn covers(new: &str, old: &str) -> bool {
    let variables = |key: &str| key.split(' ').take_while(|word| is_assignment(word)).count();
    new == old
        || variables(new) == variables(old) && {
            let wanted: Vec<&str> = old.split(' ').collect();
            let mut words = new.split(' ');
            closing::runs_as_much(new, old)
                && words.all(|word| {
                    word.starts_with('-') || matches!(word, "./..." | "." | "...") || wanted.contains(&word)
                })
        }
}
