//! The few lines of a tool output that tell most, for places where one line stands for all of it.
//!
//! Failures come first, then counts of an outcome, then what differs from its neighbours; an output with nothing of that
//! is told by how it ends, or by how it begins where it is a file, a page or a list. Lines are shown without time stamps
//! and ids, in at most 160 characters. The work grows with the length of the output.

use std::collections::HashMap;
use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::ContentKind;
use super::clean;
use super::code;
use super::envelope;
use super::json_string;
use super::kind;
use super::offered_line::LineSignal;
use super::offered_line::OfferedLine;
use super::shape::shape;
use super::signals;
use super::signals::pattern;
use super::table;
use super::tape::Tape;
use super::telling_json;
use super::telling_json::JsonOffer;
use super::telling_noise::MOST_CHARACTERS;
use super::telling_noise::cut_at_word;
use super::telling_noise::has_words;
use super::telling_noise::is_hint;
use super::telling_noise::without_noise;

/// The line of an output that tells most, without time stamps and ids, in at most 160 characters.
///
/// ```
/// use mainstay_engine::shrink::telling_line;
///
/// let output = "2026-01-31T10:20:30Z INFO starting\n2026-01-31T10:20:31Z ERROR disk full\n2026-01-31T10:20:32Z INFO stopped";
/// assert_eq!(telling_line(output).as_deref(), Some("ERROR disk full"));
/// assert_eq!(telling_line(r#"{"id":7,"status":"failed","log":null}"#).as_deref(), Some("status: failed, id: 7"));
/// assert_eq!(telling_line(" \n"), None);
/// ```
pub fn telling_line(output: &str) -> Option<String> {
    tell(output).map(|told| told.text)
}

/// A telling line, and whether it is told for a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldLine {
    /// The line without time stamps and ids.
    pub text: String,
    /// Whether it reports a failure.
    pub reports_failure: bool,
}

/// The line of an output that tells most, and whether it reports a failure.
pub fn tell(output: &str) -> Option<ToldLine> {
    let told = choose(offers(output, 0, 1), 1).pop()?;
    Some(ToldLine {
        reports_failure: told.signal == LineSignal::Failure,
        text: told.text,
    })
}

/// The lines of an output that tell most, at most so many, in the order in which they stand there. Lines that differ only
/// in numbers are shown once.
pub fn telling_lines(output: &str, most: usize) -> Vec<String> {
    let chosen = choose(offers(output, 0, most), most);
    chosen.into_iter().map(|telling| telling.text).collect()
}

/// The lines of an output that are shown of it, and how many more there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputExcerpt {
    /// The lines, in the order in which they stand there.
    pub lines: Vec<String>,
    /// How many lines that say something are not shown.
    pub left_out: usize,
    /// The exit code that a wrapper names in a line of its own; no line repeats it.
    pub exit_code: Option<i64>,
}

/// Which lines an output is told by where it is too long to stand whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExcerptKind {
    /// Those that tell most of how it ended.
    Telling,
    /// Those with which it begins.
    Opening,
}

/// At most so many lines of an output: all of it where it is that short, because the one line that matters may look like nothing.
pub fn excerpt(output: &str, kind: ExcerptKind, most: usize) -> OutputExcerpt {
    let clean = clean::clean(output);
    let (head, mut body) = envelope(&clean);
    let mut exit_code = head.lines().find_map(exit_line);
    // Some wrappers put it in front of the output without any other mark.
    if let Some((first, rest)) = body.split_once('\n').or(Some((body, "")))
        && let Some(code) = exit_line(first).filter(|code| *code != 0)
    {
        exit_code = exit_code.or(Some(code));
        body = rest;
    }
    let is_document = matches!(kind::detect(body), ContentKind::Json | ContentKind::JsonLines);
    let says = || body.lines().filter(|line| has_words(line) && !is_hint(line));
    let count = says().count();
    let whole = || says().map(|line| without_noise(line).unwrap_or_else(|| cut_at_word(line.trim(), MOST_CHARACTERS)));
    let lines: Vec<String> = match kind {
        _ if !is_document && count <= most => whole().collect(),
        ExcerptKind::Telling => telling_lines(body, most),
        ExcerptKind::Opening => opening_lines(body, most),
    };
    OutputExcerpt {
        left_out: if is_document {
            0
        } else {
            count.saturating_sub(lines.len())
        },
        lines,
        exit_code,
    }
}

/// A line in which a wrapper names how the program ended, and nothing else.
static EXIT_LINE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:Exit code|Process exited with code|Command exited with code)[: ]+(-?\d{1,10})\.?$"));

fn exit_line(line: &str) -> Option<i64> {
    EXIT_LINE.captures(line.trim())?.get(1)?.as_str().parse().ok()
}

/// The line with which an output begins, in the same form: for a file that was read, whose words of failure are its
/// content and not how reading it went.
pub fn opening_line(output: &str) -> Option<String> {
    opening_lines(output, 1).pop()
}

/// The lines with which an output begins, at most so many. A diff begins with its first changed line.
fn opening_lines(output: &str, most: usize) -> Vec<String> {
    let clean = clean::clean(output);
    let body = envelope(&clean).1;
    let kind = kind::detect(body);
    if let (ContentKind::Json, Some(tape)) = (kind, Tape::document(body)) {
        let offers = of_json(&tape, 0);
        return offers.into_iter().take(most).map(|telling| telling.text).collect();
    }
    let is_shown = |line: &&str| kind != ContentKind::Diff || is_change(line);
    let lines = body.lines().filter(is_shown).map(code::bare_view);
    let lines = lines.filter(|line| !is_hint(line));
    lines.filter_map(without_noise).take(most).collect()
}

/// Whether a line of a diff is one that was put in or taken out.
fn is_change(line: &str) -> bool {
    line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---")
}

/// All lines that may be shown, in order. Of an output that says nothing in particular these are the last or first `most`.
fn offers(output: &str, nested: usize, most: usize) -> Vec<OfferedLine> {
    let clean = clean::clean(output);
    let (head, body) = envelope(&clean);
    let kind = kind::detect(body);
    let mut offers = match kind {
        ContentKind::Json => Tape::document(body).map(|tape| of_json(&tape, nested)),
        ContentKind::JsonLines => Tape::lines(body).map(|tape| of_json(&tape, nested)),
        _ => None,
    }
    .unwrap_or_else(|| of_lines(kind, body, most));
    // A wrapper says how the program ended before its output; only a failure is worth a line.
    let ends = head
        .lines()
        .filter(|line| exit_code(line).is_some_and(|code| code != 0));
    offers.extend(ends.filter_map(|line| OfferedLine::of(LineSignal::Summary, 0, line)));
    offers
}

/// Levels of outputs inside strings of outputs that are looked into.
const MOST_NESTED: usize = 2;

/// The lines of a JSON document; a string that is an output in its own right gives the lines of that output. `nested` says how
/// deep the document stands in other outputs.
fn of_json(tape: &Tape<'_>, nested: usize) -> Vec<OfferedLine> {
    let mut lines = Vec::new();
    for offer in telling_json::offers(tape) {
        match offer {
            JsonOffer::Line(line) => lines.push(line),
            JsonOffer::Output { place } if nested < MOST_NESTED => {
                if let Some(output) = json_string::read(tape.raw(place)) {
                    let inside = offers(&output, nested + 1, 2);
                    lines.extend(inside.into_iter().map(|line| OfferedLine { place, ..line }));
                }
            }
            JsonOffer::Output { .. } => {}
        }
    }
    lines
}

/// Takes the strongest lines. Where there is room for two, failures leave one for the outcome.
fn choose(mut offers: Vec<OfferedLine>, most: usize) -> Vec<OfferedLine> {
    offers.sort_by_key(|telling| telling.place);
    let mut seen = HashSet::new();
    offers.retain(|telling| seen.insert((telling.signal, shape(&telling.text))));
    // What says little stands only where nothing says more.
    let lowest = match offers.iter().map(|telling| telling.signal).min() {
        Some(signal) if signal < LineSignal::Plain => LineSignal::Mention,
        Some(signal) => signal,
        None => return Vec::new(),
    };
    offers.retain(|telling| telling.signal <= lowest);
    let summary = best_summary(&offers);
    let mut order: Vec<usize> = (0..offers.len()).collect();
    // Of lines that are as strong the first is nearest to the cause.
    order.sort_by_key(|index| (offers[*index].signal, summary != Some(*index)));
    order.truncate(most);
    if let Some(summary) = summary.filter(|summary| most > 1 && !order.contains(summary)) {
        order.pop();
        order.push(summary);
    }
    order.sort_unstable();
    order.into_iter().map(|index| offers[index].clone()).collect()
}

/// A summary that says only how long it took.
static TIMING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^(?:finished|time|duration|done in|start at|total test time)\b"));

/// Of many counts the last that names a failure, else the last that counted anything: an empty suite at the end says
/// nothing about the full one before it.
fn best_summary(offers: &[OfferedLine]) -> Option<usize> {
    let is_summary = |telling: &OfferedLine| telling.signal == LineSignal::Summary;
    let last = |wanted: &dyn Fn(&str) -> bool| offers.iter().rposition(|one| is_summary(one) && wanted(&one.text));
    last(&signals::is_mention)
        .or_else(|| last(&counts_something))
        .or_else(|| last(&|line| !TIMING.is_match(line)))
        .or_else(|| last(&|_| true))
}

/// Whether a line has a whole number above zero; `0.01s` is a time.
fn counts_something(line: &str) -> bool {
    let words = line.split(|c: char| !c.is_alphanumeric() && c != '.');
    let mut numbers = words.filter_map(|word| word.parse::<u64>().ok());
    numbers.any(|number| number > 0)
}

/// Headings that announce failures and name none.
static HEADING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^\W*(?:failures?|errors?|failed(?: tests?| examples?)?|short test summary info|traceback \(most recent call last\)|caused by|stderr|during handling of the above exception.*)\W*$",
    )
});

/// What only a program that failed prints at the start of a line: a short trace shows more code than anything else.
static THROWN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:(?:[\w$]+\.)*[A-Z]\w*(?:Error|Exception): \S|(?:error|fatal|panic)(?:\[\w+\])?: \S|thread '.*' panicked at )",
    )
});

/// The code in a line that names how a program ended.
static EXIT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:exit(?:ed)?(?: with)?(?: code| status)?|(?:exit|return)[ _]?code|return(?:ed)?(?: code)?)[ :=]{1,3}(-?\d{1,10})\b",
    )
});

fn exit_code(line: &str) -> Option<i64> {
    EXIT.captures(line)?.get(1)?.as_str().parse().ok()
}

/// The most bytes of a line that are searched: longer lines are data.
const SEARCHED: usize = 2000;

fn of_lines(kind: ContentKind, body: &str, most: usize) -> Vec<OfferedLine> {
    let lines: Vec<&str> = body.lines().filter(|line| has_words(line) && !is_hint(line)).collect();
    // Code that raises an error has not failed, and a file that was found is not one that is broken.
    let is_content = matches!(
        kind,
        ContentKind::Code
            | ContentKind::Diff
            | ContentKind::SearchHits
            | ContentKind::Listing
            | ContentKind::Html
            | ContentKind::Base64
    );
    let odd = match kind {
        ContentKind::Table => table::odd_rows(&lines),
        ContentKind::Log => rare_entries(&lines),
        _ => Vec::new(),
    };
    let mut offers = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let looked_at = &line[..line.floor_char_boundary(SEARCHED.min(line.len()))];
        let is_odd = odd.get(place).copied().unwrap_or(false);
        let signal = match is_content {
            true => (kind == ContentKind::Code && THROWN.is_match(looked_at)).then_some(LineSignal::Failure),
            false => signal_of(kind, looked_at, is_odd),
        };
        offers.extend(signal.and_then(|signal| OfferedLine::of(signal, place, line)));
    }
    if offers.is_empty() {
        let shown = |(place, line): (usize, &&str)| OfferedLine::of(LineSignal::Plain, place, code::bare_view(line));
        let numbered = lines.iter().enumerate();
        // A file or a list is told by how it begins, everything else by how it ended.
        offers = match is_content || kind == ContentKind::Table {
            true => numbered.filter_map(shown).take(most).collect(),
            false => numbered.rev().filter_map(shown).take(most).collect(),
        };
    }
    offers
}

fn signal_of(kind: ContentKind, line: &str, is_odd: bool) -> Option<LineSignal> {
    if let Some(code) = exit_code(line) {
        return Some(if code == 0 {
            LineSignal::Calm
        } else {
            LineSignal::Summary
        });
    }
    if signals::is_summary(line) {
        return Some(LineSignal::Summary);
    }
    if HEADING.is_match(line) {
        return None;
    }
    if signals::is_report(line) || kind == ContentKind::Log && signals::is_mention(line) {
        return Some(LineSignal::Failure);
    }
    if is_odd {
        return Some(LineSignal::Odd);
    }
    if signals::is_warning(line) {
        return Some(LineSignal::Warning);
    }
    signals::is_mention(line).then_some(LineSignal::Mention)
}

/// Entries of a log whose message comes once among messages that come again and again.
fn rare_entries(lines: &[&str]) -> Vec<bool> {
    let shapes: Vec<u64> = lines.iter().map(|line| shape(line)).collect();
    let mut counts: HashMap<u64, usize> = HashMap::new();
    for shape in &shapes {
        *counts.entry(*shape).or_insert(0) += 1;
    }
    let rare = shapes.iter().filter(|shape| counts[shape] == 1).count();
    // Where many messages come once, none of them is odd.
    if rare * 10 > shapes.len() {
        return Vec::new();
    }
    shapes.iter().map(|shape| counts[shape] == 1).collect()
}

#[cfg(test)]
#[path = "telling_tests.rs"]
mod tests;
