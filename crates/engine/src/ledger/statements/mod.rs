//! What people and the model said: constraints, decisions, obligations, questions and facts, by patterns that are data.
//!
//! Only text is read, only the person's and the model's, and of it only what they say themselves: never a tool's output, what the
//! agent program adds, an earlier summary, or what somebody pastes or quotes. Who wrote a message decides what its words may become;
//! no wording changes that. The cost of a message is its length: what came before is found by key, or among the newest live
//! statements.

mod answers;
mod book;
mod claims;
mod corrections;
mod introduced;
mod model;
mod once;
pub(in crate::ledger) mod own_words;
pub(in crate::ledger) mod patterns;
mod person;
pub(in crate::ledger) mod phrase;
mod sentence;
pub(crate) mod sentences;
pub(in crate::ledger) mod value;
pub(in crate::ledger) mod words;

use serde::Deserialize;
use serde::Serialize;

use crate::decide::marker::opens_block;
use crate::ledger::entry::Entry;
use crate::ledger::entry::Kind;
use crate::ledger::entry::Status;
use crate::ledger::facts::Facts;
use crate::ledger::statements::book::Book;
use crate::ledger::statements::introduced::before_document;
use crate::ledger::statements::introduced::before_introduced;
use crate::ledger::statements::introduced::hands_over_document;
use crate::ledger::statements::patterns::PATTERNS;
use crate::ledger::statements::sentence::Reading;
use crate::ledger::statements::value::Shape;
use crate::ledger::statements::words::Words;
use crate::transcript::Author;
use crate::transcript::Message;
use crate::transcript::Part;
use crate::transcript::PassageKind;
use crate::transcript::Role;
use crate::transcript::split_pastes;

/// What was said so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statements {
    book: Book,
    pending: Pending,
    /// The values that the person gave last, newest last: what a correction without a name may mean.
    recent: Vec<Recent>,
    /// The person's newest message.
    person: u32,
    /// Whether the person spoke before: the first message is the task in full, later long ones are pasted.
    begun: bool,
}

/// What the model's newest words wait for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Pending {
    /// Proposals, the one that was asked about last.
    proposals: Vec<u32>,
    /// Questions.
    questions: Vec<u32>,
    /// Numbered things to choose from.
    options: Vec<Choice>,
    /// Values that contradict the person's.
    facts: Vec<Box<str>>,
    /// Promises for soon: whoever goes on working at once is keeping them.
    promises: Vec<u32>,
    /// The message that put them forward.
    message: u32,
}

/// One of several numbered things.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Choice {
    label: Box<str>,
    text: Box<str>,
}

/// A value that was given not long ago.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Recent {
    key: Box<str>,
    shape: Shape,
}

impl Statements {
    /// Takes in what a message says.
    pub fn fold(&mut self, index: u32, message: &Message, facts: &mut Facts) {
        let by_user = match (message.author, message.role) {
            (Author::User, Role::User) => true,
            (Author::Assistant, Role::Assistant) => false,
            _ => return,
        };
        let reading = match (by_user, self.begun) {
            (true, false) => Reading::Task,
            (true, true) => Reading::Person,
            (false, _) => Reading::Model,
        };
        let texts: Vec<&str> = match by_user {
            // What a program or a paste says in the person's message is not their wish.
            true => message
                .person_words()
                .into_iter()
                .flat_map(|words| said(words, reading))
                .collect(),
            false => message.parts.iter().filter_map(text_of).collect(),
        };
        // A block may sit in a message of the person's; its words are nobody's here.
        let own = texts.into_iter().filter(|text| !opens_block(text));
        let spoken: Vec<_> = own.flat_map(|text| sentence::read(text, reading)).collect();
        let calls = message.calls().next().is_some();
        if by_user {
            self.fold_person(index, &spoken, facts);
        } else {
            self.fold_model(index, &spoken, calls, facts);
        }
    }

    /// Constraints, decisions, obligations and questions, in the order in which they came up.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.book.entries()
    }

    /// Ends the obligations that a deed fulfils, and says how many. A deed is told in a few words: what was done and to what, as in
    /// `updated docs/usage.md` or `ran cargo test: 52 passed`. Most of an obligation's words have to be in it, at least two.
    pub fn close_by_deed(&mut self, message: u32, deed: &str) -> usize {
        let words = Words::read(deed, 60);
        let stems = words.stems(0..words.len(), |word| PATTERNS.is_dull(word));
        let done: Vec<u32> = self
            .book
            .live(Kind::Obligation)
            .filter(|(_, item)| {
                let shared = item.stems.iter().filter(|one| within(one, &stems)).count();
                shared >= 2 && shared * 3 >= item.stems.len() * 2 && !is_of_another(&item.stems, &stems)
            })
            .map(|(id, _)| id)
            .collect();
        for id in &done {
            self.book.settle(*id, Status::Closed, message, deed);
        }
        done.len()
    }
}

/// What of the person's words they said themselves, for certain: behind words that introduce somebody else's text nothing is theirs.
fn said(words: &str, reading: Reading) -> Vec<&str> {
    let passages = split_pastes(words).into_iter();
    let own = passages.filter(|passage| passage.kind == PassageKind::Said);
    let own = own.map(|passage| match reading {
        Reading::Task if hands_over_document(words) => before_document(passage.text, passage.range.start),
        Reading::Task => passage.text,
        Reading::Person | Reading::Model => before_introduced(passage.text),
    });
    own.collect()
}

fn text_of(part: &Part) -> Option<&str> {
    match part {
        Part::Text(text) => Some(text),
        Part::Call(_) | Part::Result(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => None,
    }
}

/// Whether two stems are of one word.
fn alike(one: &str, other: &str) -> bool {
    // Stems of one word in two forms share their beginning; four letters keep "port" and "ports" and part "in" from "inner".
    const SHORTEST: usize = 4;
    let short = one.len().min(other.len());
    one == other
        || (short >= SHORTEST
            && short * 4 >= one.len().max(other.len()) * 3
            && (one.starts_with(other) || other.starts_with(one)))
}

/// Whether a stem is among others; parts of paths and addresses count.
fn within(one: &str, stems: &[Box<str>]) -> bool {
    stems
        .iter()
        .any(|other| alike(one, other) || other.split(['/', '.', '-', '_']).any(|part| alike(one, part)))
}

/// Whether a stem can hardly be anything but a name: of a file, a machine, a ticket.
pub(in crate::ledger) fn is_identifier(stem: &str) -> bool {
    stem.contains(|letter: char| letter.is_ascii_digit() || matches!(letter, '/' | '_' | '.' | '@'))
}

/// Whether two sayings name things, and not the same: "updated the notes of api-2" says nothing about those of api-3.
fn is_of_another(one: &[Box<str>], other: &[Box<str>]) -> bool {
    let mut names = one.iter().filter(|stem| is_identifier(stem)).peekable();
    names.peek().is_some() && other.iter().any(|stem| is_identifier(stem)) && !names.any(|stem| within(stem, other))
}

#[cfg(test)]
#[path = "statements_tests.rs"]
mod tests;
