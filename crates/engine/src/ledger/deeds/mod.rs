//! What was done: files, commands, errors, tasks and configured values, from tool calls and their results.
//!
//! A call says what it is going to do and waits, as a part of the state, for the result that says what came of it. Everything
//! is bounded: what makes room is what was touched longest ago. Text that a tool printed becomes a reading of that tool and
//! nothing else; arguments are the model's.

mod arguments;
mod call;
mod chain;
mod checks;
mod claims;
mod closing;
pub mod commits;
mod echoed;
mod error_lines;
mod failure_words;
mod failures;
pub mod file_record;
mod grid;
mod inline_code;
mod judgement;
mod log_line;
pub mod odd_rows;
mod outcome;
mod output_forms;
mod patch;
mod path;
mod program;
mod readings;
pub mod records;
mod runner_lines;
mod runs;
mod script;
mod shelf;
mod shell;
mod stream;
pub mod tasks;
mod touch;
mod trail;
mod values;
pub mod viewing;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;

use crate::decide::cut;
use crate::ledger::deeds::call::Pending;
use crate::ledger::deeds::call::Sort;
use crate::ledger::deeds::claims::Claims;
use crate::ledger::deeds::commits::CommitRecord;
use crate::ledger::deeds::commits::Commits;
use crate::ledger::deeds::failures::Report;
use crate::ledger::deeds::file_record::FileRecord;
use crate::ledger::deeds::odd_rows::OddRow;
use crate::ledger::deeds::odd_rows::OddRows;
use crate::ledger::deeds::outcome::Outcome;
use crate::ledger::deeds::program::Run;
use crate::ledger::deeds::records::CommandRecord;
use crate::ledger::deeds::records::ErrorRecord;
use crate::ledger::deeds::runs::End;
use crate::ledger::deeds::runs::Runs;
use crate::ledger::deeds::tasks::Plan;
use crate::ledger::deeds::tasks::TaskRecord;
use crate::ledger::deeds::tasks::Tasks;
use crate::ledger::deeds::touch::Act;
use crate::ledger::deeds::trail::Trail;
use crate::ledger::entry::Entry;
use crate::ledger::entry::Kind;
use crate::ledger::facts::Facts;
use crate::transcript::Message;
use crate::transcript::Part;
use crate::transcript::ToolCall;
use crate::transcript::ToolResult;

pub use touch::files_of;

/// Most calls that wait for their results at once: more than any model makes in parallel. The oldest one is settled without.
const MOST_PENDING: usize = 64;

/// Most commands that are remembered to run on: agents end them before.
const MOST_SESSIONS: usize = 32;

/// Most things that one message is said to have shown as done.
const MOST_SHOWN: usize = 32;

/// Something that was shown as done: a task ticked off, a command that went well, a file that was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// What it is: a task, a command or a file.
    pub kind: Kind,
    /// What was done, in the words of the list, the command, or as `created docs/a.md`.
    pub words: Box<str>,
    /// The message that showed it.
    pub message: u32,
}

/// What was done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deeds {
    pending: Vec<Pending>,
    /// Commands that run on, by the session an agent gave them.
    sessions: BTreeMap<u64, Vec<Run>>,
    trail: Trail,
    runs: Runs,
    tasks: Tasks,
    claims: Claims,
    shown: Vec<Shown>,
    #[serde(default)]
    odd_rows: OddRows,
    #[serde(default)]
    commits: Commits,
}

impl Deeds {
    /// Takes in the calls and results of a message.
    pub fn fold(&mut self, index: u32, message: &Message, facts: &mut Facts) {
        self.shown.clear();
        for part in &message.parts {
            match part {
                Part::Call(call) => self.call(index, call, facts),
                Part::Result(result) => self.result(index, result, facts),
                Part::Text(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => {}
            }
        }
    }

    /// Tasks, files, commands and errors, each kind in the order in which it was last touched.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        let commands = self.runs.commands().map(|command| &command.entry);
        self.tasks
            .entries()
            .chain(self.trail.entries())
            .chain(commands)
            .chain(self.runs.errors().map(|error| &error.entry))
    }

    /// The commands that were run and the tools that acted, the one that ran longest ago first.
    pub fn commands(&self) -> impl Iterator<Item = &CommandRecord> {
        self.runs.commands()
    }

    /// The tests, builds, linters, deployments and commands of version control, the one that ran longest ago first.
    pub fn checks(&self) -> impl Iterator<Item = &CommandRecord> {
        self.commands().filter(|command| command.check().is_some())
    }

    /// The errors that were seen, the one that was seen or went away longest ago first.
    pub fn errors(&self) -> impl Iterator<Item = &ErrorRecord> {
        self.runs.errors()
    }

    /// Rows of data that differ from their neighbours, the one seen longest ago first.
    pub fn odd_rows(&self) -> impl Iterator<Item = &OddRow> {
        self.odd_rows.items()
    }

    /// Commits, branches, tags, pushes and pull requests that were made, the oldest first.
    pub fn commits(&self) -> impl Iterator<Item = &CommitRecord> {
        self.commits.items()
    }

    /// The files that were changed, made, deleted, renamed or put back, the one touched last first.
    pub fn changed_files(&self) -> impl Iterator<Item = &FileRecord> {
        self.trail.changed()
    }

    /// The tasks as the todo tools last left them: the agent's own first, each list in its order.
    pub fn tasks(&self) -> impl Iterator<Item = &TaskRecord> {
        self.tasks.items().into_iter()
    }

    /// What the message that was taken in last showed as done.
    pub fn done(&self) -> &[Shown] {
        &self.shown
    }

    fn call(&mut self, index: u32, call: &ToolCall, facts: &mut Facts) {
        let pending = call::read(call, index, self.trail.folder());
        self.pending.push(pending);
        if self.pending.len() > MOST_PENDING {
            let oldest = self.pending.remove(0);
            self.settle(index, oldest, None, facts);
        }
    }

    fn result(&mut self, index: u32, result: &ToolResult, facts: &mut Facts) {
        let waiting = self.pending.iter().position(|pending| pending.id == result.id);
        let Some(at) = waiting else { return };
        let pending = self.pending.remove(at);
        let outcome = outcome::read(result);
        self.trail
            .learn_editor(outcome.open_file.as_deref(), outcome.folder.as_deref());
        self.settle(index, pending, Some(&outcome), facts);
    }

    /// A call with its outcome, or without one when it never came.
    fn settle(&mut self, index: u32, pending: Pending, outcome: Option<&Outcome<'_>>, facts: &mut Facts) {
        if let Some(folder) = &pending.folder {
            self.trail.learn_root(folder);
        }
        match pending.sort {
            Sort::Reads | Sort::Changes => self.settle_files(index, &pending, outcome, facts),
            Sort::Runs => self.settle_runs(index, &pending, outcome, facts),
            Sort::Acts => self.settle_act(index, &pending, outcome),
            Sort::Other => self.settle_look(index, &pending, outcome),
            Sort::Plans => {}
        }
        self.settle_rows(index, &pending, outcome);
        if let Some(plan) = &pending.plan {
            self.settle_plan(index, plan, outcome);
        } else if pending.sort == Sort::Plans
            && let Some(outcome) = outcome
        {
            let printed = tasks::printed(&outcome.body);
            for words in self.tasks.take_listed(index, &printed) {
                self.show(index, Kind::Task, &words);
            }
        }
        if let (Sort::Acts | Sort::Other, Some(outcome)) =
            (pending.sort, outcome.filter(|outcome| !outcome.says_failure()))
        {
            let readings = readings::record(pending.subject.as_ref(), pending.sort == Sort::Other, &outcome.body);
            self.claims.read(index, &readings, facts);
        }
    }

    fn settle_files(&mut self, index: u32, pending: &Pending, outcome: Option<&Outcome<'_>>, facts: &mut Facts) {
        let is_read = pending.sort == Sort::Reads;
        // A file that is shown may begin with any words at all: only a mark says that it could not be.
        let has_failed = outcome.is_some_and(|outcome| match is_read {
            true => outcome.has_failed || outcome.body.len() < 400 && outcome.says_failure(),
            false => outcome.says_failure(),
        });
        let reason = outcome.filter(|_| has_failed).map(Outcome::reason);
        // Some viewers list a folder when they are given one.
        let is_folder = outcome.is_some_and(|outcome| outcome.body.contains("files and directories up to"));
        if !(is_read && is_folder) {
            self.touch_all(index, pending, |_| reason.clone());
        }
        if has_failed {
            return;
        }
        for swap in &pending.swaps {
            self.trail.swap(pending.message, swap);
        }
        for change in &pending.changes {
            self.set(index, change, facts);
        }
        if let (true, [touch], Some(outcome)) = (is_read, pending.touches.0.as_slice(), outcome) {
            // Some agents hand a file over inside of an object.
            let inside = outcome::as_object(&outcome.body).and_then(|object| object.text("content"));
            self.read_settings(index, &touch.path, inside.as_deref().unwrap_or(&outcome.body), facts);
        }
    }

    fn set(&mut self, index: u32, change: &values::Change, facts: &mut Facts) {
        let mut change = change.clone();
        if change.place.contains(['/', '.'])
            && let Some(place) = self.trail.resolve(&change.place)
        {
            change.place = place;
        }
        self.claims.set(index, &change, facts);
    }

    fn read_settings(&mut self, index: u32, file: &str, body: &str, facts: &mut Facts) {
        if let Some(file) = self.trail.resolve(file) {
            let readings = readings::settings(&file, body);
            self.claims.read(index, &readings, facts);
        }
    }

    fn touch_all(&mut self, index: u32, pending: &Pending, failed: impl Fn(&str) -> Option<String>) {
        for touch in &pending.touches.0 {
            let reason = failed(&touch.path);
            let is_new = touch.act == Act::Write && self.trail.is_new(&touch.path);
            let Some(file) = self.trail.touch(pending.message, touch, reason.as_deref()) else {
                continue;
            };
            if touch.act != Act::Read && reason.is_none() {
                self.runs.edited(&file);
                let act = if is_new { Act::Create } else { touch.act };
                let act = if act == Act::Write { Act::Modify } else { act };
                self.show(index, Kind::File, &format!("{} {file}", act.name()));
            }
        }
    }

    fn settle_runs(&mut self, index: u32, pending: &Pending, outcome: Option<&Outcome<'_>>, facts: &mut Facts) {
        let body = outcome.map(|outcome| &*outcome.body).unwrap_or_default();
        let complaints = complaints(body);
        self.touch_all(index, pending, |path| {
            let name = path::name(path);
            let told = complaints.iter().find(|line| line.contains(name));
            told.map(|line| cut(line, 200))
        });
        let has_failed = outcome.is_some_and(|outcome| outcome.has_failed);
        if !has_failed {
            for change in &pending.changes {
                self.set(index, change, facts);
            }
            if let ([touch], [], Act::Read) = (
                pending.touches.0.as_slice(),
                pending.runs.as_slice(),
                first_act(pending),
            ) {
                self.read_settings(index, &touch.path, body, facts);
            }
        }
        // A call that only talks to a running command is about that command.
        let continued = pending
            .session
            .filter(|_| pending.runs.is_empty())
            .and_then(|session| self.sessions.remove(&session));
        let counts = continued.is_none();
        let runs = continued.unwrap_or_else(|| pending.runs.clone());
        let shows_text =
            pending.touches.0.iter().any(|touch| touch.act == Act::Read) || runs.iter().any(|run| run.is_look);
        self.settle_commands(index, &runs, outcome, counts, shows_text);
        if let (true, Some(outcome)) = (runs.is_empty(), outcome) {
            self.settle_shown_log(index, pending, outcome);
        }
        let session = outcome.and_then(|outcome| outcome.session).or(pending
            .session
            .filter(|_| outcome.is_some_and(|outcome| outcome.exit.is_none())));
        if let Some(session) = session.filter(|_| !runs.is_empty()) {
            self.sessions.insert(session, runs);
            if self.sessions.len() > MOST_SESSIONS {
                self.sessions.pop_first();
            }
        }
    }

    /// Commands of one script, each with what its own lines say.
    fn settle_commands(
        &mut self,
        index: u32,
        runs: &[Run],
        outcome: Option<&Outcome<'_>>,
        counts: bool,
        shows_text: bool,
    ) {
        let Some(outcome) = outcome else {
            for run in runs {
                self.runs.ran(index, run, &End::Unknown, None, counts);
            }
            return;
        };
        let verdict = chain::judge(runs, outcome, shows_text);
        for (at, (run, (end, report))) in runs.iter().zip(&verdict.ends).enumerate() {
            let exit = outcome.exit.filter(|_| Some(at) == verdict.blamed);
            self.runs.ran(index, run, end, exit, counts);
            self.runs.report(index, run, end, report);
            if !run.is_look && matches!(end, End::Well(_)) {
                self.show(index, Kind::Command, &run.key);
            }
            if matches!(end, End::Well(_) | End::Ended) {
                self.commits.take_in(index, run, &outcome.body);
                self.trail.version_control(index, &run.key);
            }
        }
        if let Some((run, report)) = &verdict.stray {
            self.runs.report(index, run, &End::Unknown, report);
        }
    }

    /// Rows that differ from their neighbours, in an output that is data.
    fn settle_rows(&mut self, index: u32, pending: &Pending, outcome: Option<&Outcome<'_>>) {
        let Some(outcome) = outcome.filter(|outcome| !outcome.has_failed) else {
            return;
        };
        let is_data_file = |touch: &touch::Touch| touch.act == Act::Read && path::is_data(&touch.path);
        // Hits of a search differ by chance.
        let is_search = pending.tool.to_lowercase().contains("search");
        let is_data = match pending.sort {
            Sort::Acts | Sort::Other => !is_search,
            Sort::Runs => {
                let is_listing =
                    pending.runs.is_empty() || pending.runs.iter().any(|run| program::is_file_look(&run.family));
                !is_listing || pending.touches.0.iter().any(is_data_file)
            }
            Sort::Reads => pending.touches.0.iter().any(is_data_file),
            Sort::Changes | Sort::Plans => false,
        };
        if !is_data {
            return;
        }
        let source = match (pending.runs.last(), pending.touches.0.first()) {
            (Some(run), _) => run.key.clone(),
            (None, Some(touch)) => touch.path.clone(),
            (None, None) => pending.tool.clone(),
        };
        self.odd_rows.take_in(index, &source, &outcome.body);
    }

    /// A log that was shown: its errors are errors, whoever only looked.
    fn settle_shown_log(&mut self, index: u32, pending: &Pending, outcome: &Outcome<'_>) {
        let logs = pending
            .touches
            .0
            .iter()
            .filter(|touch| touch.act == Act::Read && path::is_log(&touch.path));
        if let Some(touch) = logs.take(1).next() {
            let run = Run::look(&format!("log {}", touch.path));
            let report = judgement::log(&outcome.body);
            self.runs.report(index, &run, &End::Ended, &report);
        }
    }

    /// A search or a fetch that failed.
    fn settle_look(&mut self, index: u32, pending: &Pending, outcome: Option<&Outcome<'_>>) {
        let (Some(run), Some(outcome)) = (pending.runs.first(), outcome) else {
            return;
        };
        let (end, report) = judgement::look(run, outcome);
        self.runs.report(index, run, &end, &report);
    }

    fn settle_act(&mut self, index: u32, pending: &Pending, outcome: Option<&Outcome<'_>>) {
        let Some(run) = pending.runs.first() else { return };
        let (end, report) = match outcome {
            Some(outcome) => judgement::act(run, outcome),
            None => (End::Unknown, Report::default()),
        };
        let reason = match &end {
            End::Badly(reason) | End::Shows(reason) => Some(reason.clone()),
            End::Well(_) | End::Ended | End::Running | End::Unknown => None,
        };
        self.touch_all(index, pending, |_| reason.clone());
        self.runs.ran(index, run, &end, None, true);
        self.runs.report(index, run, &end, &report);
        if let (Some(outcome), End::Well(_) | End::Ended) = (outcome, &end) {
            self.commits.take_in(index, run, &outcome.body);
        }
        if matches!(end, End::Well(_)) && !run.is_look {
            self.show(index, Kind::Command, &run.key);
        }
    }

    fn settle_plan(&mut self, index: u32, plan: &Plan, outcome: Option<&Outcome<'_>>) {
        if outcome.is_some_and(|outcome| outcome.has_failed) {
            return;
        }
        let body = outcome.map(|outcome| &*outcome.body).unwrap_or_default();
        for words in self.tasks.take_in(index, plan, body) {
            self.show(index, Kind::Task, &words);
        }
    }

    fn show(&mut self, message: u32, kind: Kind, words: &str) {
        if self.shown.len() < MOST_SHOWN {
            self.shown.push(Shown {
                kind,
                words: words.into(),
                message,
            });
        }
    }
}

fn first_act(pending: &Pending) -> Act {
    pending.touches.0.first().map_or(Act::Read, |touch| touch.act)
}

/// Lines in which a shell says that a file could not be used.
fn complaints(body: &str) -> Vec<&str> {
    const WORDS: [&str; 5] = [
        "No such file or directory",
        "Is a directory",
        "Permission denied",
        "cannot ",
        "can't read",
    ];
    // Complaints stand at the ends of an output; what is in between is content.
    let head = &body[..body.floor_char_boundary(body.len().min(4096))];
    let lines = head
        .lines()
        .filter(|line| line.len() < 400 && WORDS.iter().any(|word| line.contains(word)));
    lines.filter(|line| line.contains(": ")).take(8).collect()
}

#[cfg(test)]
#[path = "agents_tests.rs"]
mod agents_tests;
#[cfg(test)]
#[path = "outcomes_tests.rs"]
mod outcomes_tests;
#[cfg(test)]
#[path = "deeds_tests.rs"]
mod tests;
