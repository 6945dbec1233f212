//! What went wrong, from what builds, tests and programs print: failing tests, compiler errors, exceptions.
//!
//! One pass over the lines. Only outputs that are known to report something are read here: a file that is shown, or hits of a
//! search, may speak of errors without there being one.

use super::error_lines;
use super::error_lines::ANNOUNCED;
use super::error_lines::COMPLAINT;
use super::error_lines::DETAIL;
use super::error_lines::PANICKED;
use super::error_lines::PLACE_BEFORE;
use super::error_lines::PLACED;
use super::error_lines::THROWN;
use super::error_lines::python_frame;
use super::failure_report::Failure;
use super::failure_report::LINE;
use super::failure_report::Report;
use super::failure_report::mask;
use super::failure_report::readable;
use super::failure_words;
use super::failure_words::Strength;
use super::log_line;
use super::log_line::cut_at_word;
use super::path;
use super::runner_lines;
use crate::decide::cut;

/// Most failures of one output: what fails in more places fails for one reason.
const MOST: usize = 12;

/// Most names of passing tests that one output is searched for.
const MOST_PASSED: usize = 2000;

/// Bytes of an output that are read from each of its ends: longer logs repeat themselves in between.
const END: usize = 96 * 1024;

/// What stands between a failing test and what it saw.
const DETAIL_JOINT: &str = " — ";

/// Reads an output.
pub(super) fn read(output: &str) -> Report {
    let mut reading = Reading::default();
    let (head, tail) = ends(output);
    for line in head.lines().chain(tail.lines()) {
        reading.line(line);
    }
    reading.finish()
}

fn ends(output: &str) -> (&str, &str) {
    if output.len() <= 2 * END {
        return (output, "");
    }
    let head = output.floor_char_boundary(END);
    let tail = output.ceil_char_boundary(output.len() - END);
    (&output[..head], &output[tail..])
}

/// How many lines below a failing test say what it saw: a trace or a comparison is told by its first.
const NEAR: u8 = 12;

#[derive(Default)]
struct Reading {
    report: Report,
    /// The file of the newest frame of a Python trace.
    frame: Option<String>,
    /// An error whose place stands on one of the next lines.
    placeless: u8,
    /// A panic whose message stands on the next line.
    panic_place: Option<String>,
    /// A path that stands alone above its complaints.
    heading: Option<String>,
    /// The failing test whose details stand on the next lines, and how many of them.
    test: Option<(usize, u8)>,
    /// What the line before told by a mark or by words: an indented line below it says more.
    above: Option<Strength>,
    /// The HTTP answer that failed and whose body is still to come: it says why.
    answer: Option<usize>,
    /// Whether the next line is the cause that a build tool announced.
    is_announced: bool,
    /// The line that repeats an error best: told where the error itself was cut off.
    echo: Option<String>,
}

impl Reading {
    fn line(&mut self, line: &str) {
        let line = log_line::plain(&line[..line.floor_char_boundary(line.len().min(1000))]);
        let plain = line.trim();
        if plain.is_empty() {
            return;
        }
        if let Some(place) = self.panic_place.take() {
            return self.panicked(plain, &place);
        }
        if self.say_more(&line, plain) || self.answer_body(plain) || self.cause(plain) {
            return;
        }
        self.count(plain);
        if self.attach_place(plain) || self.test(&line, plain) || self.detail(&line, plain) {
            return;
        }
        if let Some(frame) = python_frame(plain) {
            if !frame.contains("site-packages") && !frame.contains("/lib/python") && !frame.starts_with('<') {
                self.frame = Some(frame.to_owned());
            }
            return;
        }
        self.error(&line, plain);
        if path::is_path(&line) && line.contains(['/', '.']) && !line.contains([' ', ':']) {
            self.heading = Some(line.into_owned());
        }
    }

    /// An indented line below one that was told by a mark or by words: `  overflow in column x`.
    fn say_more(&mut self, line: &str, plain: &str) -> bool {
        let Some(strength) = self.above.take() else {
            return false;
        };
        let is_more = line.starts_with([' ', '\t'])
            && plain.contains(' ')
            // A line of code that opens a block says nothing of the one above.
            && !plain.ends_with([':', '{', ';'])
            && !["at ", "File ", "|", "-->", "in "]
                .iter()
                .any(|opening| plain.starts_with(opening));
        let failures = match strength {
            Strength::Mark => &mut self.report.failures,
            Strength::Words => &mut self.report.words,
        };
        match failures.last_mut().filter(|_| is_more) {
            Some(failure) => failure.line = cut_at_word(&format!("{}{DETAIL_JOINT}{plain}", failure.line), LINE),
            None => return false,
        }
        true
    }

    /// The first line of the body of an HTTP answer that failed: `{"code": "quota_exceeded"}`. The status alone names no cause.
    fn answer_body(&mut self, plain: &str) -> bool {
        let Some(at) = self.answer else { return false };
        let is_error = ANNOUNCED.is_match(plain);
        if error_lines::is_header(plain) && !is_error {
            return true;
        }
        self.answer = None;
        // The markup of an error page says less than its status, and another answer says nothing of this one.
        let says_why = !is_error && !plain.starts_with('<') && !plain.starts_with("HTTP/");
        match self.report.failures.get_mut(at).filter(|_| says_why) {
            Some(failure) => {
                failure.line = cut_at_word(&format!("{}{DETAIL_JOINT}{}", failure.line, readable(plain)), LINE);
                true
            }
            None => false,
        }
    }

    /// The cause of a failed build, on the line that announces it or on the next one.
    fn cause(&mut self, plain: &str) -> bool {
        let cause = match error_lines::announced_cause(plain) {
            Some("") => {
                self.is_announced = true;
                return true;
            }
            Some(cause) => cause,
            None if std::mem::take(&mut self.is_announced) => plain,
            None => return false,
        };
        self.fail(cause, None, None);
        true
    }

    /// What was read, with the best echo of an error that is not in the output itself.
    fn finish(mut self) -> Report {
        self.drop_bare_flags();
        if let Some(echo) = self.echo.take()
            && !self.report.is_failing()
            && self.report.words.is_empty()
        {
            self.fail(&echo, None, None);
        }
        self.report
    }

    /// `"ok": false` says that it failed and not why; where another line does, that one is told.
    fn drop_bare_flags(&mut self) {
        let report = &mut self.report;
        let is_flag = |failure: &Failure| failure_words::is_bare_flag(&failure.line);
        if report.failures.iter().any(is_flag) && report.failures.iter().all(is_flag) {
            report.failures.append(&mut report.words);
        }
        if !report.failures.iter().all(is_flag) {
            report.failures.retain(|failure| !is_flag(failure));
        }
        for failure in report.failures.iter_mut().filter(|failure| is_flag(failure)) {
            failure.line = format!("failed ({})", failure.line);
        }
    }

    fn repeat(&mut self, plain: &str) {
        let is_better = self.echo.as_deref().is_none_or(error_lines::is_bare_code);
        if is_better {
            self.echo = Some(plain.to_owned());
        }
    }

    /// The message of a panic: a detail of the test that failed by it, or an error of its own.
    fn panicked(&mut self, message: &str, place: &str) {
        let test = self.test.and_then(|(at, _)| self.report.failures.get_mut(at));
        match test {
            Some(failure) => {
                failure.line = cut_at_word(&format!("{}{DETAIL_JOINT}{message} ({place})", failure.line), LINE)
            }
            None => self.fail(message, None, Some(place)),
        }
    }

    /// `   --> src/a.rs:3:5` under `error[E0308]: …`
    fn attach_place(&mut self, plain: &str) -> bool {
        if self.placeless == 0 {
            return false;
        }
        self.placeless -= 1;
        let Some(place) = plain.strip_prefix("--> ") else {
            return false;
        };
        self.placeless = 0;
        if let Some(failure) = self.report.failures.last_mut() {
            let file = place.split(':').next().unwrap_or(place);
            failure.file = Some(file.to_owned());
            failure.key = cut(&format!("{file}: {}", mask(&failure.line)), LINE);
            failure.line = cut_at_word(&format!("{} ({place})", failure.line), LINE);
        }
        true
    }

    fn count(&mut self, plain: &str) {
        let Some(counts) = runner_lines::summary(plain) else {
            return;
        };
        let report = &mut self.report;
        report.has_tests |= counts.has_tests;
        if counts.has_tests {
            report.failed = report.failed.saturating_add(counts.failed);
            report.passing = report.passing.saturating_add(counts.passed);
        }
        if counts.is_bad && report.bad_summary.is_none() {
            report.bad_summary = Some(cut_at_word(&readable(plain), LINE));
        }
        // What failed is not made good by a later part that went well.
        let is_news = report.summary.as_ref().is_none_or(|(_, is_good)| *is_good);
        if is_news {
            report.summary = Some((cut_at_word(&readable(plain), LINE), counts.is_good));
        }
    }

    fn test(&mut self, line: &str, plain: &str) -> bool {
        if let Some(name) = runner_lines::passed_test(plain) {
            self.test = None;
            self.report.has_tests = true;
            if self.report.passed.len() < MOST_PASSED {
                self.report.passed.push(name.to_owned());
            }
            return true;
        }
        let Some(name) = runner_lines::failed_test(line, plain) else {
            return false;
        };
        self.report.has_tests = true;
        let known = |report: &Report| {
            let mut failures = report.failures.iter();
            failures.position(|failure| failure.test.as_deref() == Some(name))
        };
        if known(&self.report).is_none() {
            self.fail(plain, Some(name), None);
        }
        self.test = known(&self.report).map(|at| (at, NEAR));
        true
    }

    /// What a failing test saw: `    a_test.go:41: got 3, want 0`, `E   assert 3 == 4`.
    fn detail(&mut self, line: &str, plain: &str) -> bool {
        let Some((at, left)) = self.test else { return false };
        self.test = (left > 1).then_some((at, left - 1));
        let is_indented = line.starts_with([' ', '\t']);
        let is_seen = DETAIL.is_match(plain) || is_indented && PLACE_BEFORE.is_match(plain);
        let Some(failure) = self.report.failures.get_mut(at).filter(|_| is_seen) else {
            return false;
        };
        // The message and the two values it compares.
        let said = failure.line.matches(DETAIL_JOINT).count();
        if said < 3 {
            let plain = plain.strip_prefix("E ").map_or(plain, str::trim_start);
            failure.line = cut_at_word(&format!("{}{DETAIL_JOINT}{plain}", failure.line), LINE);
        }
        true
    }

    fn error(&mut self, line: &str, plain: &str) {
        if plain.starts_with(error_lines::NO_ERROR) {
            return;
        }
        if error_lines::is_echo(plain) {
            return self.repeat(plain);
        }
        if let Some(found) = PLACED.captures(plain) {
            let message = &found[2];
            let is_milder = ["warning", "Warning", "note", "info", "hint", "style"]
                .iter()
                .any(|word| message.trim_start_matches('[').starts_with(word));
            if !is_milder {
                self.fail(plain, None, Some(&found[1]));
            }
        } else if let Some(found) = PANICKED.captures(plain) {
            match found.get(1).map(|message| message.as_str().to_owned()) {
                Some(_) => self.fail(plain, None, found.get(2).map(|place| place.as_str())),
                None => self.panic_place = found.get(2).map(|place| place.as_str().to_owned()),
            }
        } else if THROWN.is_match(line) {
            let frame = self.frame.take();
            self.fail(plain, None, frame.as_deref());
        } else if let (true, Some(heading)) = (COMPLAINT.is_match(line), self.heading.clone()) {
            self.fail(&format!("{heading}:{plain}"), None, Some(&heading));
        } else if ANNOUNCED.is_match(plain) {
            self.placeless = 3;
            self.fail(plain, None, None);
        } else if self
            .report
            .summary
            .as_ref()
            .is_some_and(|(said, _)| *said == readable(plain))
        {
            // It is told as what it is.
        } else {
            let strength = failure_words::strength(line);
            self.above = strength;
            match strength {
                Some(Strength::Mark) => {
                    let place = self.report.failures.len();
                    self.fail(plain, None, None);
                    let is_answer = error_lines::is_failed_answer(plain) && self.report.failures.len() > place;
                    self.answer = is_answer.then_some(place);
                }
                Some(Strength::Words) if self.report.words.len() < MOST => {
                    let failure = Failure::new(plain, None, None);
                    if self.report.words.iter().all(|known| known.key != failure.key) {
                        self.report.words.push(failure);
                    }
                }
                Some(Strength::Words) | None => {}
            }
        }
    }

    fn fail(&mut self, line: &str, test: Option<&str>, file: Option<&str>) {
        if self.report.failures.len() >= MOST {
            return;
        }
        let failure = Failure::new(line, test, file);
        if self.report.failures.iter().all(|known| known.key != failure.key) {
            self.report.failures.push(failure);
        }
    }
}

#[cfg(test)]
#[path = "failures_tests.rs"]
mod tests;
