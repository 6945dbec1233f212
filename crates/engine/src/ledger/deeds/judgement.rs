//! How a command, a call or a look ended, and what its output says of it.
//!
//! A status that is reported decides. Where none is, the output may say beyond doubt that all went well, or show failures;
//! otherwise it ended, and nobody says how.

use super::failure_report::Failure;
use super::failure_report::Report;
use super::failure_report::mask;
use super::failure_words;
use super::failures;
use super::log_line::cut_at_word;
use super::outcome;
use super::outcome::Outcome;
use super::outcome::complaints;
use super::program::Run;
use super::run_end::End;
use crate::decide::cut;
use crate::json;
use crate::json::Kind;
use crate::json::Object;
use crate::json::Raw;

/// What is said of a call that the person did not let happen.
const DECLINED: &str = "not run, the person declined";

/// Longest line that tells why.
const WHY: usize = 200;

/// Most names that are told of a list of what is wrong.
const MOST_LISTED: usize = 4;

/// Most lines that have nothing but words of failure which are taken from one output: more are somebody's text.
const MOST_WORDS: usize = 4;

/// Whether whatever a command prints is wrong.
pub(super) fn lists_what_is_wrong(key: &str) -> bool {
    let mut words = key.split(' ').skip_while(|word| word.contains('='));
    let name = words.next().unwrap_or_default();
    matches!(name, "gofmt" | "goimports" | "gofumpt") && words.any(|word| word == "-l")
}

/// How a command ended. `shows_text` says that files or hits of a search may stand in the same output.
pub(super) fn command(run: &Run, outcome: &Outcome<'_>, is_blamed: bool, shows_text: bool) -> (End, Report) {
    if outcome.is_running {
        return (End::Running, Report::default());
    }
    if outcome.is_declined() {
        return (End::Badly(DECLINED.to_owned()), Report::default());
    }
    if !is_blamed {
        // Its lines cannot be told from those of the others.
        let end = match (outcome.has_failed, outcome.is_success && !run.is_piped) {
            (true, _) => End::Unknown,
            (false, true) => End::Well(String::new()),
            (false, false) => End::Ended,
        };
        return (end, Report::default());
    }
    if run.is_look && run.check.is_none() {
        return looked(run, outcome);
    }
    let mut report = survey(&outcome.body, outcome.has_failed, shows_text);
    if outcome.has_failed {
        // What marks a failure says more than the sentences around it.
        if report.is_failing() {
            report.words.clear();
        }
        let why = report
            .telling()
            .or_else(|| report.words.first().map(|failure| failure.line.clone()))
            .unwrap_or_else(|| outer_line(&outcome.body));
        // What fails without any line that says so is known by its last one.
        let is_unsaid = !report.is_failing() && report.words.is_empty() && !report.is_good();
        if is_unsaid && !why.is_empty() && !run.is_look {
            report.failures.push(failure(&run.key, &why));
        }
        return (End::Badly(why), report);
    }
    // Formatters that list files list those that are not as they should be, and call that a success.
    if lists_what_is_wrong(&run.key) {
        let listed: Vec<&str> = outcome
            .body
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        if let Some((first, rest)) = listed.split_first() {
            let mut told = cut_at_word(first, WHY);
            let mut more = rest.len();
            for name in rest.iter().take(MOST_LISTED - 1) {
                if told.len() + name.len() + 2 > WHY {
                    break;
                }
                told.push_str(", ");
                told.push_str(name);
                more -= 1;
            }
            if more > 0 {
                told.push_str(&format!(" and {more} more"));
            }
            return (End::Shows(told), report);
        }
    }
    let made = made(run, &outcome.body);
    let is_stated = outcome.is_success && !run.is_piped;
    if run.is_look {
        let told = status(&outcome.body);
        report.failures.clear();
        report.words.clear();
        return (
            if is_stated || outcome.is_success {
                End::Well(told)
            } else {
                End::Ended
            },
            report,
        );
    }
    // A command that reports its own success may mention failures in passing, but not mark them.
    if is_stated || !made.is_empty() || report.is_good() {
        report.words.clear();
    }
    // The status of a filter or of a later command says little, but that words are only words.
    if outcome.is_success {
        report
            .words
            .retain(|failure| failure_words::has_error_form(&failure.line));
    }
    if let Some(why) = report
        .telling()
        .or_else(|| report.words.first().map(|failure| failure.line.clone()))
    {
        // A count of tests that failed is as good as a status.
        let end = if report.failed > 0 {
            End::Badly(why)
        } else {
            End::Shows(why)
        };
        return (end, report);
    }
    // The end of a run may be all that is shown of it: `go test … | tail -5`.
    if let Some(why) = report
        .bad_summary
        .clone()
        .filter(|_| run.check.is_some() && !shows_text)
    {
        report.failures.push(failure(&run.key, &why));
        return (End::Shows(why), report);
    }
    let summary = report.summary.as_ref().map(|(line, _)| line.clone());
    let end = match (made.is_empty(), is_stated || report.is_good()) {
        (false, _) => End::Well(made),
        (true, true) => End::Well(summary.unwrap_or_default()),
        (true, false) => End::Ended,
    };
    (end, report)
}

/// How a command that only looks ended: what it shows is content.
fn looked(run: &Run, outcome: &Outcome<'_>) -> (End, Report) {
    if is_log_viewer(&run.family) && !outcome.has_failed {
        let end = if outcome.is_success {
            End::Well(String::new())
        } else {
            End::Ended
        };
        return (end, log(&outcome.body));
    }
    if !outcome.has_failed {
        let end = if outcome.is_success {
            End::Well(String::new())
        } else {
            End::Ended
        };
        return (end, Report::default());
    }
    if outcome.exit == Some(1) && outcome.body.trim().len() < 20 {
        return (End::Badly("nothing found".to_owned()), Report::default());
    }
    let why = complaints(&outcome.body)
        .first()
        .map(|line| cut(line, WHY))
        .unwrap_or_default();
    (End::Badly(why), Report::default())
}

/// Programs that show what others logged.
fn is_log_viewer(family: &str) -> bool {
    family
        .split(' ')
        .any(|word| matches!(word, "logs" | "journalctl" | "dmesg" | "log-tail"))
}

/// The errors in a log: lines whose level or status says so.
pub(super) fn log(body: &str) -> Report {
    let mut report = survey(body, false, true);
    report.has_tests = false;
    report.passed.clear();
    report
}

/// The errors in lines of which nobody knows the command: only what is marked as one.
pub(super) fn stray(lines: &str) -> Report {
    let mut report = survey(lines, false, true);
    report.words.clear();
    report.passed.clear();
    (report.has_tests, report.summary, report.failed) = (false, None, 0);
    report
}

/// How a search or a fetch ended: what it brought is content, unless it is an answer that says it failed.
pub(super) fn look(run: &Run, outcome: &Outcome<'_>) -> (End, Report) {
    let answer = answered(&outcome.body);
    let is_short = outcome.body.len() < 400;
    let why = match (answer, outcome.has_failed || is_short && outcome.says_failure()) {
        (Some(why), _) => why,
        (None, true) => reason(outcome),
        (None, false) => return (End::Ended, Report::default()),
    };
    let mut report = Report::default();
    if !why.is_empty() {
        report.failures.push(failure(&run.family, &why));
    }
    (End::Badly(why), report)
}

/// How a call to a tool that acts ended.
pub(super) fn act(run: &Run, outcome: &Outcome<'_>) -> (End, Report) {
    let mut report = Report::default();
    if outcome.is_declined() {
        return (End::Badly(DECLINED.to_owned()), report);
    }
    let answer = answered(&outcome.body);
    if outcome.says_failure() || answer.is_some() {
        let why = answer.unwrap_or_else(|| reason(outcome));
        if !why.is_empty() {
            report.failures.push(failure(&run.family, &why));
        }
        return (End::Badly(why), report);
    }
    let is_data = outcome.body.trim_start().starts_with(['{', '[']) && json::value(outcome.body.trim()).is_ok();
    if !is_data {
        report = survey(&outcome.body, false, run.is_look);
        report.passed.clear();
        if let Some(why) = report
            .telling()
            .or_else(|| report.words.first().map(|failure| failure.line.clone()))
        {
            return (End::Shows(why), report);
        }
    }
    let end = match outcome.is_success {
        true => End::Well(String::new()),
        false => End::Ended,
    };
    (end, report)
}

/// Why a call failed: the line of its output that says so, or the first.
fn reason(outcome: &Outcome<'_>) -> String {
    let first = outcome.reason();
    if first.len() < outcome.body.trim().len() {
        let report = failures::read(&outcome.body);
        let line = report.failures.first().or(report.words.first());
        if let Some(failure) = line {
            return failure.line.clone();
        }
    }
    first
}

/// What an answer in JSON says of its own failure, in words: `status: failed, message: no route`.
fn answered(body: &str) -> Option<String> {
    let object = outcome::as_object(body)?;
    let own = failing(&object);
    let inner = || {
        // One wrapper around the answer: `{"result": {"status": "failed"}}`.
        let mut members = object.members().filter(|(_, value)| json::kind(value) == Kind::Object);
        members.find_map(|(_, value)| failing(&Object::of(value)?))
    };
    own.or_else(inner)
}

/// The fields of an object that says it failed.
fn failing(object: &Object<'_>) -> Option<String> {
    let has_failed = object
        .members()
        .any(|(name, value)| is_bad_field(&name.to_ascii_lowercase(), value));
    if !has_failed {
        return None;
    }
    let shown = object.members().filter_map(|(name, value)| {
        let text = match json::kind(value) {
            Kind::String => json::text(value)?.to_string(),
            Kind::Number | Kind::Bool => value.get().to_owned(),
            Kind::Object => {
                let inner = Object::of(value)?;
                inner
                    .text("message")
                    .or_else(|| inner.text("code"))
                    .or_else(|| inner.text("type"))?
                    .to_string()
            }
            Kind::Null | Kind::Array => return None,
        };
        (!text.trim().is_empty()).then(|| format!("{name}: {}", text.split_whitespace().collect::<Vec<_>>().join(" ")))
    });
    Some(cut_at_word(&shown.take(8).collect::<Vec<_>>().join(", "), WHY))
}

fn is_bad_field(name: &str, value: Raw<'_>) -> bool {
    const BAD: [&str; 16] = [
        "failed",
        "failure",
        "fail",
        "error",
        "errored",
        "rejected",
        "denied",
        "refused",
        "declined",
        "aborted",
        "timeout",
        "timed_out",
        "crashed",
        "unhealthy",
        "down",
        "not_found",
    ];
    let is_bad_word = || json::text(value).is_some_and(|word| BAD.contains(&&*word.to_ascii_lowercase()));
    match name {
        "ok" | "success" | "succeeded" | "successful" => value.get() == "false",
        "status" | "state" | "result" | "outcome" | "conclusion" | "verdict" | "health" => {
            is_bad_word() || is_bad_answer(value)
        }
        "status_code" | "statuscode" | "http_status" | "httpstatus" => is_bad_answer(value),
        "error" | "err" | "errormessage" | "error_message" | "exception" => match json::kind(value) {
            Kind::String => json::text(value).is_some_and(|text| !text.trim().is_empty() && &*text != "none"),
            Kind::Object => value.get().len() > 2,
            Kind::Bool => value.get() == "true",
            Kind::Null | Kind::Number | Kind::Array => false,
        },
        "is_error" | "iserror" => value.get() == "true",
        _ => false,
    }
}

fn is_bad_answer(value: Raw<'_>) -> bool {
    json::number(value).is_some_and(|code| (400.0..600.0).contains(&code))
}

/// What an output shows of failures. Text that was only shown, such as code and hits of a search, is none of it.
fn survey(body: &str, has_failed: bool, shows_text: bool) -> Report {
    let mut report = failures::read(body);
    if shows_text {
        report.words.clear();
    }
    if report.words.len() > MOST_WORDS {
        report.words.truncate(MOST_WORDS);
    }
    if has_failed || report.failures.is_empty() && report.words.is_empty() {
        return report;
    }
    let is_json = body.trim_start().starts_with(['{', '[']);
    let is_shown = failure_words::is_shown_text(body);
    if is_json || is_shown {
        report.words.clear();
    }
    if is_shown && !report.has_tests {
        report.failures.clear();
    }
    report
}

fn failure(tool: &str, why: &str) -> Failure {
    Failure {
        key: cut(&format!("{tool}: {}", mask(why)), 240),
        line: why.to_owned(),
        test: None,
        file: None,
    }
}

/// What version control says of its state, in a line.
fn status(body: &str) -> String {
    let lines: Vec<&str> = body.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let clean = lines.iter().find(|line| line.contains("working tree clean"));
    let branch = lines
        .iter()
        .find(|line| line.starts_with("On branch ") || line.starts_with("## "));
    let changed = lines
        .iter()
        .filter(|line| {
            let mark = line.split(' ').next().unwrap_or_default();
            line.starts_with("modified:")
                || line.starts_with("new file:")
                || line.starts_with("deleted:")
                || matches!(mark, "M" | "A" | "D" | "??" | "MM" | "AM" | "R" | "UU")
        })
        .count();
    let said = [
        branch.map(|line| (*line).to_owned()),
        clean.map(|_| "working tree clean".to_owned()),
        (changed > 0).then(|| format!("{changed} changed or new")),
    ];
    said.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What a command made that is known by a name: a commit, a pull request.
fn made(run: &Run, body: &str) -> String {
    let mut lines = body.lines().map(str::trim);
    let line = match &*run.family {
        // `[main 1a2b3c4] words`
        "git commit" => lines.find(|line| line.starts_with('[') && line.contains(']')),
        "git push" => lines
            .find(|line| line.contains(" -> ") && !line.starts_with('!') || line.starts_with("Everything up-to-date")),
        "gh pr" | "gh issue" | "gh release" | "glab mr" if run.key.contains(" create") => {
            lines.find(|line| line.starts_with("https://"))
        }
        _ => None,
    };
    cut_at_word(line.unwrap_or_default(), 160)
}

/// The last line, with which programs end that fail; the first where code follows, as hosts show it that ask for leave to run it.
fn outer_line(body: &str) -> String {
    let mut lines: Vec<&str> = body.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if !failure_words::is_shown_text(body) {
        lines.reverse();
    }
    lines.truncate(20);
    // `FAIL` alone says nothing.
    let telling = lines.iter().find(|line| line.contains(' ')).or(lines.first());
    cut_at_word(telling.copied().unwrap_or_default(), WHY)
}
