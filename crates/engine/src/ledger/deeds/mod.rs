//! What was done: files, commands, errors, tasks and configured values, from tool calls and their results.
//!
//! A call says what it is going to do and waits, as a part of the state, for the result that says what came of it. Everything
//! is bounded: what makes room is what was touched longest ago. Text that a tool printed becomes a reading of that tool and
//! nothing else; arguments are the model's.

mod arguments;
mod asides;
mod background;
mod call;
mod chain;
mod checks;
mod claims;
mod closing;
pub(crate) mod commits;
mod echoed;
mod error_lines;
mod failure_report;
mod failure_words;
mod failures;
pub(crate) mod file_record;
mod grid;
mod inline_code;
mod judgement;
mod log_line;
pub(crate) mod odd_rows;
mod outcome;
mod output_forms;
mod patch;
mod path;
mod program;
mod readings;
pub(crate) mod records;
mod run_end;
mod runner_lines;
mod runs;
mod script;
mod settling;
mod shelf;
mod shell;
mod stream;
pub(crate) mod tasks;
mod touch;
mod trail;
mod values;
pub(crate) mod viewing;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;

use crate::decide::spawns_agent;
use crate::ledger::deeds::background::Background;
use crate::ledger::deeds::call::Pending;
use crate::ledger::deeds::call::Sort;
use crate::ledger::deeds::claims::Claims;
use crate::ledger::deeds::commits::CommitRecord;
use crate::ledger::deeds::commits::Commits;
use crate::ledger::deeds::file_record::FileRecord;
use crate::ledger::deeds::odd_rows::OddRow;
use crate::ledger::deeds::odd_rows::OddRows;
use crate::ledger::deeds::outcome::Outcome;
use crate::ledger::deeds::program::Run;
use crate::ledger::deeds::records::CommandRecord;
use crate::ledger::deeds::records::ErrorRecord;
use crate::ledger::deeds::runs::Runs;
use crate::ledger::deeds::tasks::Plan;
use crate::ledger::deeds::tasks::TaskRecord;
use crate::ledger::deeds::tasks::Tasks;
use crate::ledger::deeds::touch::Act;
use crate::ledger::deeds::trail::Trail;
use crate::ledger::entry::Entry;
use crate::ledger::entry::Kind;
use crate::ledger::facts::Facts;
use crate::transcript::Author;
use crate::transcript::Message;
use crate::transcript::Part;
use crate::transcript::ToolCall;
use crate::transcript::ToolResult;

pub use call::files_of;

/// Most calls that wait for their results at once: more than any model makes in parallel. The oldest one is settled without.
const MOST_PENDING: usize = 64;

/// Most commands that are remembered to run on: agents end them before.
const MOST_SESSIONS: usize = 32;

/// Most things that one message is said to have shown as done.
const MOST_SHOWN: usize = 32;

/// How many messages may stand between a call or result and the words that speak of it: thinking, and the call itself.
const BESIDE: u32 = 2;

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
    #[serde(default)]
    background: Background,
    /// What the agent said last, where it calls a failure expected, with its message.
    #[serde(default)]
    provoked: Option<(u32, Box<str>)>,
    /// The newest message with a result.
    #[serde(default)]
    newest_result: Option<u32>,
}

impl Deeds {
    /// Takes in the calls and results of a message.
    pub fn fold(&mut self, index: u32, message: &Message, facts: &mut Facts) {
        self.shown.clear();
        for part in &message.parts {
            match part {
                Part::Call(call) => self.call(index, call, facts),
                Part::Result(result) => self.result(index, result, facts),
                Part::Text(text) if message.author == Author::Assistant => self.agent_text(index, text),
                Part::Text(text) => self.other_text(index, text, message.author),
                Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => {}
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

    /// Whether a file stands outside of the folders that are worked in, where temporary files are put.
    pub fn is_temporary(&self, file: &FileRecord) -> bool {
        self.trail.is_temporary(file.path())
    }

    /// The tasks as the todo tools last left them: the agent's own first, each list in its order.
    pub fn tasks(&self) -> impl Iterator<Item = &TaskRecord> {
        self.tasks.items().into_iter()
    }

    /// What the message that was taken in last showed as done.
    pub fn done(&self) -> &[Shown] {
        &self.shown
    }

    fn agent_text(&mut self, index: u32, text: &str) {
        let words = asides::provoked(text);
        if let (Some(words), Some(shown)) = (&words, self.newest_result)
            && shown + BESIDE >= index
        {
            self.runs.said(shown, index, words);
        }
        self.provoked = words.map(|words| (index, words));
    }

    fn other_text(&mut self, index: u32, text: &str, author: Author) {
        if author == Author::Host && asides::is_fork(text) {
            self.tasks = Tasks::default();
        }
        if let Some(later) = self.background.ended(text) {
            self.settle_commands(index, &later.runs, Some(&later.outcome), false, false);
        }
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
        if spawns_agent(&pending.tool) && asides::is_fork(&outcome.body) {
            self.tasks = Tasks::default();
        }
        if outcome.is_running {
            self.background.start(&outcome.body, &pending.runs);
        } else if let Some(later) = self.background.shown(&pending, &outcome) {
            self.settle_later(index, &later);
            if later.is_only {
                return;
            }
        }
        let called = pending.message;
        self.settle(index, pending, Some(&outcome), facts);
        self.newest_result = Some(index);
        if let Some((said, words)) = self.provoked.as_ref().filter(|(said, _)| said + BESIDE >= called) {
            self.runs.said(index, *said, words);
        }
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
        let is_readable = |outcome: &&Outcome<'_>| !outcome.says_failure() && !background::is_host_job(&pending.tool);
        if let (Sort::Acts | Sort::Other, Some(outcome)) = (pending.sort, outcome.filter(is_readable)) {
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
        for swap in touch::without_moves(&pending.swaps) {
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

#[cfg(test)]
#[path = "agents_tests.rs"]
mod agents_tests;
#[cfg(test)]
#[path = "open_errors_tests.rs"]
mod open_errors_tests;
#[cfg(test)]
#[path = "outcomes_tests.rs"]
mod outcomes_tests;
#[cfg(test)]
#[path = "deeds_tests.rs"]
mod tests;
