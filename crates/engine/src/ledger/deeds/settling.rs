//! What came of calls that run commands, act in the world or look something up.

use super::Deeds;
use super::MOST_SESSIONS;
use super::background::LaterOutput;
use super::call::Pending;
use super::call::Sort;
use super::chain;
use super::commits;
use super::failure_report::Report;
use super::judgement;
use super::outcome;
use super::outcome::Outcome;
use super::path;
use super::program;
use super::program::Run;
use super::run_end::End;
use super::touch;
use super::touch::Act;
use crate::decide::cut;
use crate::ledger::entry::Kind;
use crate::ledger::facts::Facts;

impl Deeds {
    pub(super) fn settle_runs(
        &mut self,
        index: u32,
        pending: &Pending,
        outcome: Option<&Outcome<'_>>,
        facts: &mut Facts,
    ) {
        let body = outcome.map(|outcome| &*outcome.body).unwrap_or_default();
        let complaints = outcome::complaints(body);
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
    pub(super) fn settle_commands(
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
            let is_sure = matches!(end, End::Well(_)) || !commits::may_have_failed(run, &outcome.body);
            if matches!(end, End::Well(_) | End::Ended) && is_sure {
                self.commits.take_in(index, run, &outcome.body);
            }
            if matches!(end, End::Well(_) | End::Ended) {
                self.trail.version_control(index, &run.key);
            }
        }
        if let Some((run, report)) = &verdict.stray {
            self.runs.report(index, run, &End::Unknown, report);
        }
    }

    /// Rows that differ from their neighbours, in an output that is data.
    pub(super) fn settle_rows(&mut self, index: u32, pending: &Pending, outcome: Option<&Outcome<'_>>) {
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
    pub(super) fn settle_shown_log(&mut self, index: u32, pending: &Pending, outcome: &Outcome<'_>) {
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
    pub(super) fn settle_look(&mut self, index: u32, pending: &Pending, outcome: Option<&Outcome<'_>>) {
        let (Some(run), Some(outcome)) = (pending.runs.first(), outcome) else {
            return;
        };
        let (end, report) = judgement::look(run, outcome);
        self.runs.report(index, run, &end, &report);
    }

    pub(super) fn settle_act(&mut self, index: u32, pending: &Pending, outcome: Option<&Outcome<'_>>) {
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

    /// A command in the background whose output is read. What does not say how it ended says that it goes on.
    pub(super) fn settle_later(&mut self, index: u32, later: &LaterOutput<'_>) {
        let verdict = chain::judge(&later.runs, &later.outcome, false);
        let says_end = |end: &End| matches!(end, End::Well(_) | End::Badly(_) | End::Shows(_));
        if verdict.ends.iter().any(|(end, _)| says_end(end)) {
            self.settle_commands(index, &later.runs, Some(&later.outcome), false, false);
        }
    }
}

fn first_act(pending: &Pending) -> Act {
    pending.touches.0.first().map_or(Act::Read, |touch| touch.act)
}
