//! One text, call or result as a record.

use std::borrow::Cow;

use crate::decide::marker;
use crate::transcript::Author;
use crate::transcript::Input;
use crate::transcript::ToolOutcome;
use crate::transcript::ToolResult;

use super::arguments;
use super::cut;
use super::guard::guarded;
use super::raw_part::RawPart;
use super::raw_part::What;
use super::raw_part::media_mark;
use super::raw_part::name;
use super::repeats;
use super::repeats::Fate;
use super::repeats::Known;
use super::tool_output;

/// Arguments are cut at this many characters, by the requirement.
const MOST_ARGUMENTS: usize = 400;
/// Results are cut at this many characters, by the requirement.
const MOST_RESULT: usize = 3_000;
/// Texts are cut at this many characters: 99 of 100 messages that people type are shorter, longer ones are pasted.
const MOST_TEXT: usize = 6_000;
/// Summaries by other programs are cut at this many characters: the longest that agents write have some 20,000.
const MOST_SUMMARY: usize = 24_000;
/// Instructions are cut at this many characters: a conversation keeps them, whatever is replaced.
const MOST_INSTRUCTIONS: usize = 1_000;
/// Records of so many bytes are short: four lines for what a gap says in one.
const SHORT: usize = 200;
/// What matters most comes first; newer before older inside of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// The person's words, and earlier summaries, which hold them.
    Person,
    /// The model's words and instructions.
    Model,
    /// Calls, and notes by the agent program.
    Call,
    /// Results that tell of a failure.
    Failure,
    /// Other results.
    Result,
}

/// A record that may be written.
#[derive(Debug)]
pub(super) struct Item<'a> {
    raw: &'a RawPart<'a>,
    fate: Fate,
    known: &'a Known,
    pub class: Class,
}

impl<'a> Item<'a> {
    pub(super) fn new(raw: &'a RawPart<'a>, fate: Fate, known: &'a Known) -> Self {
        let class = match &raw.what {
            What::Text(Author::User | Author::Summary, _) | What::Media(Author::User | Author::Summary, _) => {
                Class::Person
            }
            What::Text(Author::Assistant | Author::System, _) | What::Media(Author::Assistant | Author::System, _) => {
                Class::Model
            }
            What::Text(Author::Host | Author::Tool, _) | What::Media(Author::Host | Author::Tool, _) => Class::Call,
            What::Call(_) => Class::Call,
            What::Result { result, text, .. } => match has_failed(result, text) {
                true => Class::Failure,
                false => Class::Result,
            },
        };
        Self {
            raw,
            fate,
            known,
            class,
        }
    }

    /// The number of its message.
    pub(super) fn first(&self) -> u32 {
        self.raw.number
    }

    /// The number of the last message that it stands for.
    pub(super) fn last(&self) -> u32 {
        self.fate.last
    }

    /// Whether it costs hardly more than the line that would stand for it.
    pub(super) fn is_short(&self) -> bool {
        let length = match &self.raw.what {
            What::Text(_, text) => text.len(),
            What::Call(call) => call.input.as_str().len(),
            What::Result { text, .. } => text.len(),
            What::Media(..) => 0,
        };
        length <= SHORT || self.fate.is_short()
    }

    /// What an elision calls it.
    pub(super) fn noun(&self) -> (&'static str, &'static str) {
        match (&self.raw.what, self.class) {
            (What::Call(_), _) => ("call", "calls"),
            (What::Result { .. }, _) => ("tool result", "tool results"),
            (What::Text(..) | What::Media(..), Class::Person) => ("user message", "user messages"),
            (What::Text(..) | What::Media(..), Class::Model) => ("assistant text", "assistant texts"),
            (What::Text(..) | What::Media(..), _) => ("note", "notes"),
        }
    }

    /// The record as text, without a line break at its end.
    pub(super) fn text(&self) -> String {
        let header = self.header();
        let body = self.body();
        let is_inline = matches!(&self.raw.what, What::Call(_)) && !body.contains('\n') || self.fate.is_short();
        match (body.is_empty(), is_inline) {
            (true, _) => header,
            (false, true) => format!("{header} {body}"),
            (false, false) => format!("{header}\n{body}"),
        }
    }

    /// `[m14 tool bash, failed]`.
    fn header(&self) -> String {
        let numbers = match self.last() == self.first() {
            true => format!("m{}", self.first()),
            false => format!("m{}–m{}", self.first(), self.last()),
        };
        let who = match &self.raw.what {
            What::Text(author, _) | What::Media(author, _) => author.name().to_owned(),
            What::Call(call) => format!("assistant calls {}", name(&call.name)),
            What::Result { tool, .. } => format!("tool {}", name(tool)).trim_end().to_owned(),
        };
        let ended = match &self.raw.what {
            What::Result { result, .. } => match result.outcome {
                ToolOutcome::Failure => ", failed",
                ToolOutcome::Success | ToolOutcome::Unstated => "",
            },
            What::Text(..) | What::Call(_) | What::Media(..) => "",
        };
        let times = match self.fate.times {
            0 | 1 => String::new(),
            times => format!(", {times} times the same"),
        };
        format!("[{numbers} {who}{ended}{times}]")
    }

    fn body(&self) -> String {
        if self.fate.is_old_summary {
            return "(an earlier summary; the previous summary holds what it says)".to_owned();
        }
        if let Some(number) = self.fate.same_as {
            return format!("(the same output as in m{number})");
        }
        let body = match &self.raw.what {
            What::Text(Author::Summary, text) => cut::ends(text.trim(), MOST_SUMMARY),
            What::Text(Author::System, text) => cut::ends(text.trim(), MOST_INSTRUCTIONS),
            What::Text(_, text) => cut::ends(text.trim(), MOST_TEXT),
            What::Call(call) => input(&call.input),
            What::Result { text, .. } => self.output(text),
            What::Media(_, media) => Cow::Owned(media_mark(media)),
        };
        guarded(&body).into_owned()
    }

    fn output<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let trimmed = text.trim_matches('\n').trim_end();
        if trimmed.is_empty() {
            return Cow::Borrowed("(no output)");
        }
        if marker::is_placeholder(trimmed) {
            return Cow::Borrowed(trimmed);
        }
        let news = self.known.without(trimmed).map_or(Cow::Borrowed(trimmed), Cow::Owned);
        let folded = repeats::folded(&news).map_or(news, Cow::Owned);
        match folded {
            Cow::Borrowed(text) => tool_output::output(text, MOST_RESULT),
            Cow::Owned(text) => Cow::Owned(tool_output::output(&text, MOST_RESULT).into_owned()),
        }
    }
}

fn input(input: &Input) -> Cow<'_, str> {
    match input {
        // Guarded before and behind: a string that is cut is spelled anew.
        Input::Json(text) if arguments::is_json(text) => {
            Cow::Owned(arguments::fit(&guarded(&arguments::dense(text)), MOST_ARGUMENTS))
        }
        Input::Json(text) | Input::Text(text) => cut::ends(text.trim(), MOST_ARGUMENTS),
    }
}

/// Where a tool says that something went wrong: at the start or at the end of what it prints.
const WHERE_TROUBLE_STANDS: usize = 1_500;

/// What programs print when they fail.
const TROUBLE: [&str; 10] = [
    "error:",
    "Error:",
    "error[",
    "ERROR",
    "FAILED",
    "FAIL:",
    "panicked at",
    "Traceback (most recent",
    "fatal:",
    "command not found",
];

fn has_failed(result: &ToolResult, text: &str) -> bool {
    match result.outcome {
        ToolOutcome::Failure => true,
        ToolOutcome::Success | ToolOutcome::Unstated => {
            let head = &text[..text.floor_char_boundary(WHERE_TROUBLE_STANDS)];
            let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(WHERE_TROUBLE_STANDS))..];
            TROUBLE.iter().any(|word| head.contains(word) || tail.contains(word))
        }
    }
}
