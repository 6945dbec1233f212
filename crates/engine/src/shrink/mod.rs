//! One tool output in a small form that is still of use.
//!
//! Kind is detected from the content, never configured. Errors, failing tests and summaries win over everything and stay
//! even past the goal; then come paths, odd ones out and identifiers; prose and repeats come last. What was left out is
//! said where it stood, in brackets (`⟦… 214 lines dropped: passing tests⟧`) that no program prints. Of more than eight
//! errors that differ only in numbers the first and the last stay, with `⟦… ×N similar⟧` between them.
//!
//! What holds for every text: the result is smaller in bytes and in tokens, JSON stays JSON, and the work grows with the
//! length of the text. Not here: which outputs are shrunk and when, and where the original is kept.

mod base64;
mod build_log;
mod clean;
mod code;
mod diff;
mod elide;
mod html;
mod json;
mod json_string;
mod json_weight;
mod kind;
mod line_forms;
mod listing;
mod log;
mod marker;
mod odd;
mod offered_line;
mod pick;
mod search_hits;
mod shape;
mod signals;
mod stack_trace;
mod table;
mod tape;
mod telling;
mod telling_json;
mod telling_noise;
mod test_log;
mod text;

pub use telling::ExcerptKind;
pub use telling::OutputExcerpt;
pub use telling::ToldLine;
pub use telling::excerpt;
pub use telling::opening_line;
pub use telling::tell;
pub use telling::telling_line;
pub use telling::telling_lines;

use std::borrow::Cow;

use crate::account::Family;
use crate::account::TextKind;
use crate::account::TokenCounter;

/// What a tool printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContentKind {
    /// The run of a test suite.
    TestLog,
    /// The run of a compiler, linter, packager or image builder.
    BuildLog,
    /// One or more stack traces.
    StackTrace,
    /// One JSON value.
    Json,
    /// A JSON value a line.
    JsonLines,
    /// A unified diff, perhaps with commits around it.
    Diff,
    /// Lines found in files.
    SearchHits,
    /// Names of files.
    Listing,
    /// Rows and columns: CSV, TSV, Markdown, aligned.
    Table,
    /// A web page.
    Html,
    /// Encoded bytes.
    Base64,
    /// Source code, perhaps with line numbers.
    Code,
    /// Entries with times or levels.
    Log,
    /// Everything else.
    Text,
}

impl ContentKind {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            ContentKind::TestLog => "test-log",
            ContentKind::BuildLog => "build-log",
            ContentKind::StackTrace => "stack-trace",
            ContentKind::Json => "json",
            ContentKind::JsonLines => "json-lines",
            ContentKind::Diff => "diff",
            ContentKind::SearchHits => "search-hits",
            ContentKind::Listing => "listing",
            ContentKind::Table => "table",
            ContentKind::Html => "html",
            ContentKind::Base64 => "base64",
            ContentKind::Code => "code",
            ContentKind::Log => "log",
            ContentKind::Text => "text",
        }
    }
}

/// How small the result should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Goal {
    /// Bytes that the result should not exceed, except for errors and failures. A text that is shorter is only
    /// cleaned of terminal escapes.
    pub most_bytes: usize,
}

/// An output in its small form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// What it was taken for.
    pub kind: ContentKind,
    /// The small form.
    pub text: String,
    /// How many lines fewer of the original it has; markers are not counted.
    pub dropped_lines: usize,
    /// How many bytes shorter it is.
    pub dropped_bytes: usize,
}

/// Whether a line announces a failure or counts an outcome.
pub fn is_telling_line(line: &str) -> bool {
    signals::is_report(line) || signals::is_summary(line)
}

/// The kind of a text, from its content.
pub fn kind_of(text: &str) -> ContentKind {
    let clean = clean::clean(text);
    kind::detect(envelope(&clean).1)
}

/// The small form of a tool output, or `None` when nothing is gained.
///
/// ```
/// use mainstay_engine::shrink::{ContentKind, Goal, shrink};
///
/// let mut log = String::from("running 301 tests\n");
/// for number in 0..300 {
///     log.push_str(&format!("test parses_{number} ... ok\n"));
/// }
/// log.push_str("test adds ... FAILED\ntest result: FAILED. 300 passed; 1 failed");
/// let small = shrink(&log, Goal { most_bytes: 1000 }).expect("there is much to drop");
/// assert_eq!(small.kind, ContentKind::TestLog);
/// assert!(small.text.contains("⟦… 300 lines dropped: passing tests⟧\ntest adds ... FAILED"));
/// ```
pub fn shrink(text: &str, goal: Goal) -> Option<Shrunk> {
    let clean = clean::clean(text);
    let (head, body) = envelope(&clean);
    let kind = kind::detect(body);
    let small = if clean.len() <= goal.most_bytes {
        clean
    } else {
        let most_bytes = goal.most_bytes.saturating_sub(head.len());
        let short = by_kind(kind, body, most_bytes);
        let end = if body.ends_with('\n') && !short.ends_with('\n') {
            "\n"
        } else {
            ""
        };
        Cow::Owned([head, &short, end].concat())
    };
    if small.len() >= text.len() || !has_fewer_tokens(&small, text) {
        return None;
    }
    let kept = small.lines().filter(|line| !marker::is_marker(line)).count();
    Some(Shrunk {
        kind,
        dropped_lines: text.lines().count().saturating_sub(kept),
        dropped_bytes: text.len() - small.len(),
        text: small.into_owned(),
    })
}

/// No token is longer: the longest of the vocabulary is half of that, of spaces.
const LONGEST_TOKEN: usize = 256;

/// Whether a text has fewer tokens than another. A giant is not counted where its length alone decides.
fn has_fewer_tokens(small: &str, text: &str) -> bool {
    let tokens = |text: &str| Family::O200k.count(text, TextKind::Output);
    let count = tokens(small);
    count < (text.len() / LONGEST_TOKEN) as u64 || count < tokens(text)
}

fn by_kind(kind: ContentKind, body: &str, most_bytes: usize) -> String {
    let lines = match kind {
        ContentKind::Json | ContentKind::JsonLines => {
            let tape = match kind {
                ContentKind::Json => tape::Tape::document(body),
                _ => tape::Tape::lines(body),
            };
            return tape.map_or_else(|| body.to_owned(), |tape| json::shrink(&tape, most_bytes));
        }
        ContentKind::SearchHits => return search_hits::shrink(body, most_bytes),
        ContentKind::Listing => return listing::shrink(body, most_bytes),
        ContentKind::Html => return html::shrink(body, most_bytes),
        ContentKind::Base64 => {
            let short = base64::without_blobs(body);
            return pick::pick(text::rank(&short), most_bytes);
        }
        ContentKind::TestLog => test_log::rank(body),
        ContentKind::BuildLog => build_log::rank(body),
        ContentKind::StackTrace => stack_trace::rank(body),
        ContentKind::Diff => diff::rank(body),
        ContentKind::Table => table::rank(body),
        ContentKind::Code => code::rank(body),
        ContentKind::Log => log::rank(body),
        ContentKind::Text => text::rank(body),
    };
    pick::pick(lines, most_bytes)
}

/// A text inside another output, shortened by its kind. JSON inside JSON is shortened as text, so that nesting costs no
/// more passes.
fn shrink_lines(text: &str, most_bytes: usize) -> String {
    let clean = clean::clean(text);
    let kind = match kind::detect(&clean) {
        ContentKind::Json | ContentKind::JsonLines => ContentKind::Text,
        kind => kind,
    };
    by_kind(kind, &clean, most_bytes)
}

/// Lines in which a program's wrapper says how it ran, before the output. They stay.
const ENVELOPE: usize = 12;

/// Most bytes of a wrapper's lines; a longer head is output.
const ENVELOPE_BYTES: usize = 2000;

/// What a wrapper says first, and the output itself: behind a line that announces it, or where a page or a JSON value
/// begins that fills the rest.
fn envelope(text: &str) -> (&str, &str) {
    let (mut at, mut split) = (0, 0);
    for line in text.split_inclusive('\n').take(ENVELOPE) {
        if at > ENVELOPE_BYTES {
            break;
        }
        let rest = &text[at..];
        let is_page = line.len() < 200 && line.trim_start().starts_with("<!") && html::is_html(rest.trim_start());
        let is_value = line.starts_with(['{', '[']);
        if is_page || is_value && tape::Tape::document(rest).is_some() {
            return text.split_at(at);
        }
        // Lines of JSON, or code: what follows is no wrapper's.
        if is_value {
            break;
        }
        at += line.len();
        if matches!(
            line.trim(),
            "Output:" | "Observation:" | "stdout:" | "OUTPUT:" | "STDOUT:" | "Result:"
        ) {
            split = at;
        }
    }
    text.split_at(split)
}

#[cfg(test)]
mod proof;
#[cfg(test)]
#[path = "shrink_tests.rs"]
mod tests;
