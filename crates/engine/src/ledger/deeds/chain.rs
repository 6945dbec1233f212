//! How the commands of one call ended, when it ran several: each is judged by the lines that it can have printed.
//!
//! One output holds the lines of all of them, and one status is told. A line of a known form goes to the command whose program
//! prints it. Other lines go to the one command that can print anything, where there is only one; otherwise to nobody, and an
//! error among them is told under the first words of the call.

use std::borrow::Cow;

use super::failure_report::Report;
use super::judgement;
use super::outcome::Outcome;
use super::output_forms;
use super::program::Run;
use super::run_end::End;

/// Bytes of an output that are read from each of its ends, as where failures are read.
const END: usize = 96 * 1024;

/// How the commands of a call ended.
pub(super) struct ChainVerdict {
    /// One a command, in order.
    pub ends: Vec<(End, Report)>,
    /// The command to which the status of the call belongs.
    pub blamed: Option<usize>,
    /// What the lines say that no command can be named for, under the first words of the call.
    pub stray: Option<(Run, Report)>,
}

/// Judges the commands of a call. `shows_text` says that files or hits of a search may stand in the same output.
pub(super) fn judge(runs: &[Run], outcome: &Outcome<'_>, shows_text: bool) -> ChainVerdict {
    let last_of = |wanted: &dyn Fn(&Run) -> bool| runs.iter().rposition(wanted);
    let blamed = last_of(&|run| run.is_check)
        .or_else(|| last_of(&|run| !run.is_look))
        .or(runs.len().checked_sub(1));
    let mut verdict = ChainVerdict {
        ends: Vec::new(),
        blamed,
        stray: None,
    };
    if runs.len() < 2 || outcome.is_running || outcome.is_declined() {
        let judged = runs.iter().enumerate().map(|(at, run)| {
            let (run, outcome) = told(run, outcome, outcome);
            judgement::command(&run, &outcome, Some(at) == blamed, shows_text)
        });
        verdict.ends = judged.collect();
        return verdict;
    }
    let mut shares = Shares::of(runs, &outcome.body, blamed);
    let taker = shares.taker(runs, blamed, outcome.has_failed);
    let rest = std::mem::take(&mut shares.rest);
    let is_stray = taker.is_none();
    if let Some(taker) = taker {
        shares.of[taker] = format!("{}{rest}", shares.of[taker]);
    }
    let own = |at: usize| {
        let share = Outcome {
            body: Cow::Owned(shares.of[at].clone()),
            ..outcome.clone()
        };
        told(&runs[at], outcome, &share)
    };
    let unstated = |at: usize| {
        let (run, share) = own(at);
        let share = Outcome {
            has_failed: false,
            is_success: false,
            exit: None,
            ..share
        };
        judgement::command(&run, &share, true, shows_text)
    };
    let is_bad = |end: &End| matches!(end, End::Badly(_) | End::Shows(_));
    // Where the lines of another command show a failure, and those of the blamed one do not, the status is not its own.
    let failing = runs.iter().enumerate().filter(|(_, run)| !run.is_look);
    let failing: Vec<usize> = failing
        .filter(|(at, _)| is_bad(&unstated(*at).0))
        .map(|(at, _)| at)
        .collect();
    let culprit = match (outcome.has_failed, blamed) {
        (true, Some(blamed)) if !failing.contains(&blamed) => failing.last().copied().or(Some(blamed)),
        _ => blamed,
    };
    for (at, run) in runs.iter().enumerate() {
        let (named, share) = own(at);
        let is_told = share.exit != outcome.exit || named.is_piped != run.is_piped;
        let judged = if Some(at) == culprit || is_told {
            judgement::command(&named, &share, true, shows_text)
        } else if run.is_look {
            judgement::command(run, outcome, false, shows_text)
        } else {
            match unstated(at) {
                (End::Ended, report) => {
                    let is_before = failing.last().is_some_and(|culprit| at < *culprit);
                    let leads_on = runs[at..culprit.unwrap_or(at).max(at)].iter().all(|run| run.leads_on);
                    let is_clean = !outcome.has_failed && judgement::lists_what_is_wrong(&run.key);
                    if is_clean || outcome.has_failed && is_before && leads_on && !run.is_piped {
                        (End::Well(String::new()), report)
                    } else {
                        (judgement::command(run, outcome, false, shows_text).0, report)
                    }
                }
                judged => judged,
            }
        };
        verdict.ends.push(judged);
    }
    verdict.blamed = culprit;
    if is_stray && !shows_text {
        let report = judgement::stray(&rest);
        let first = runs.iter().find(|run| !output_forms::is_terse(run)).or(runs.first());
        if let (true, Some(first)) = (report.is_failing(), first) {
            let run = Run {
                key: format!("{} …", first.key).into(),
                is_piped: true,
                ..first.clone()
            };
            verdict.stray = Some((run, report));
        }
    }
    verdict
}

/// A command and its outcome, with the status that the script itself printed of it.
fn told<'a>(run: &Run, whole: &Outcome<'_>, share: &Outcome<'a>) -> (Run, Outcome<'a>) {
    let (mut run, mut share) = (run.clone(), share.clone());
    let mut lines = whole.printed.lines().map(str::trim);
    let code = run.says_code.as_deref().and_then(|before| {
        let numbers = lines.by_ref().filter_map(|line| line.strip_prefix(before.trim_end()));
        let mut numbers = numbers.filter_map(leading_number);
        // Where several commands print their status in the same words, nobody knows which line is whose.
        numbers.next().filter(|_| numbers.next().is_none())
    });
    // A program may print the same word before it fails.
    let says_ok = run.says_ok.as_deref().filter(|_| !whole.has_failed);
    let is_said = says_ok.is_some_and(|said| whole.printed.lines().any(|line| line.trim() == said));
    if let Some(code) = code {
        (share.exit, share.has_failed, share.is_success) = (Some(code), code != 0, code == 0);
        run.is_piped = false;
    } else if is_said {
        (share.has_failed, share.is_success) = (false, true);
        run.is_piped = false;
    }
    (run, share)
}

fn leading_number(text: &str) -> Option<i64> {
    let text = text.trim_start_matches([' ', '=', ':']);
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// The lines of an output, by the command that printed them.
struct Shares {
    of: Vec<String>,
    /// Lines of no known form.
    rest: String,
}

impl Shares {
    fn of(runs: &[Run], body: &str, blamed: Option<usize>) -> Shares {
        let mut shares = Shares {
            of: vec![String::new(); runs.len()],
            rest: String::new(),
        };
        let lister = runs.iter().position(|run| judgement::lists_what_is_wrong(&run.key));
        let mut owner: Option<usize> = None;
        let head = body.floor_char_boundary(END.min(body.len()));
        let tail = body.ceil_char_boundary(body.len().saturating_sub(END).max(head));
        for line in body[..head].lines().chain(body[tail..].lines()) {
            // What is indented says more about the line above.
            if !(line.starts_with([' ', '\t']) && owner.is_some() && output_forms::printers(line.trim()).is_none()) {
                owner = match output_forms::printers(line.trim_end()) {
                    Some(printers) => owner_of(runs, printers, blamed),
                    None => lister.filter(|_| is_file_alone(line)),
                };
            }
            let share = owner.map_or(&mut shares.rest, |at| &mut shares.of[at]);
            share.push_str(line);
            share.push('\n');
        }
        shares
    }

    /// The one command that can have printed the lines of no known form.
    fn taker(&self, runs: &[Run], blamed: Option<usize>, has_failed: bool) -> Option<usize> {
        let mut free = (0..runs.len()).filter(|at| !output_forms::is_terse(&runs[*at]));
        match (free.next(), free.next()) {
            (Some(only), None) => Some(only),
            (None, _) => blamed,
            // What fails ends a chain, so that the last one is meant.
            (Some(_), Some(_)) => blamed.filter(|_| has_failed),
        }
    }
}

/// The command that a line of a form is from: one whose program prints it, otherwise one that may run such a program.
fn owner_of(runs: &[Run], printers: &[&str], blamed: Option<usize>) -> Option<usize> {
    for wanted in [true, false] {
        let fitting = |at: &usize| output_forms::fits(&runs[*at], printers) == Some(wanted);
        if let Some(at) = blamed.filter(|at| fitting(at)) {
            return Some(at);
        }
        if let Some(at) = (0..runs.len()).rev().find(fitting) {
            return Some(at);
        }
    }
    None
}

fn is_file_alone(line: &str) -> bool {
    let line = line.trim_end();
    !line.is_empty() && !line.contains([' ', ':', '=']) && super::path::is_path(line) && line.contains('.')
}
