//! A look at what a model wrote: what is wrong with it, what it lacks, and how it may be shown.

use std::collections::BTreeSet;

use crate::account::TextKind;
use crate::account::TokenCounter;
use crate::compaction::Compactor;
use crate::compaction::PassInput;
use crate::decide::Span;
use crate::ledger::entry::Status;
use crate::ledger::page::Lost;
use crate::ledger::page::lost_lines;
use crate::ledger::quote::Quoting;
use crate::ledger::quote::defused;
use crate::summary::Stop;
use crate::summary::fitting::fitted;
use crate::summary::records::Record;
use crate::summary::references::References;
use crate::summary::references::seen_names;
use crate::summary::said::Said;
use crate::summary::sections::changed_lines;
use crate::transcript::Author;
use crate::transcript::Content;
use crate::transcript::Message;
use crate::transcript::Part;
use crate::verify::Expected;
use crate::verify::Flaw;
use crate::verify::FlawKind;
use crate::verify::Weight;
use crate::verify::check_answer;
use crate::verify::cleaned;
use crate::verify::most_shown;

/// Without a ledger beside it, a summary that lacks more than this part of what must not be lost is worth a repair.
const REPAIRED_SHARE: usize = 4;

/// What came of looking at an answer.
#[derive(Debug)]
pub struct Review {
    /// The answer as it may be shown.
    pub clean: String,
    /// How much of what must not be lost it lacks.
    pub missing: usize,
    /// What must not be lost.
    pub references: References,
    flaws: Vec<Flaw>,
}

/// What the writer of an answer had to read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading<'a> {
    /// The summary that it went on from.
    pub previous: Option<&'a str>,
    /// The records, where what they left out is not the writer's fault: beside a ledger.
    pub records: Option<&'a [String]>,
    /// Whether the answer stands beside the ledger's own sections.
    pub is_beside_ledger: bool,
}

impl Compactor {
    /// What must not be lost of everything that a span does not keep.
    pub(super) fn references(&self, input: &PassInput<'_>, span: &Span, previous: Option<&str>) -> Option<References> {
        let scribe = self.scribe.as_ref()?;
        Some(References::of(scribe.ledger(), &self.records(input, span)?, previous))
    }

    /// What a span does not keep and no model has told of, as records.
    pub(super) fn records<'m>(&'m self, input: &PassInput<'m>, span: &Span) -> Option<Vec<Record<'m>>> {
        let untold = self.scribe.as_ref()?.untold(input.transcript.messages(), span);
        let record = |(number, message)| Record { number, message };
        Some(untold.into_iter().map(record).collect())
    }

    /// Looks at what a model wrote of everything that a span does not keep; `None` where there is nothing to hold it
    /// against.
    pub(super) fn review(
        &self,
        input: &PassInput<'_>,
        span: &Span,
        text: &str,
        stop: Stop,
        reading: Reading<'_>,
        most_tokens: u64,
    ) -> Option<Review> {
        let previous = reading.previous;
        let scribe = self.scribe.as_ref()?;
        let messages = input.transcript.messages();
        let references = self.references(input, span, previous)?;
        let asked_for = match reading.records {
            Some(records) => references.found_in(records, previous.unwrap_or_default()),
            None => references.clone(),
        };
        let mut said = Said::default();
        for index in 0..messages.len() {
            said.hear(scribe.shown(messages, index));
        }
        // Of what is not in the conversation any more the ledger has the person's words.
        let entries = scribe.ledger().entries();
        for entry in entries.filter(|entry| entry.author == Author::User && entry.status != Status::Superseded) {
            said.hear_statement(&entry.value);
        }
        if let Some(previous) = previous {
            said.hear_earlier(previous);
        }
        // Before anything else: what is found wrong with an answer is reported in its words.
        let hidden = scribe.hide(text);
        let text = hidden.as_deref().unwrap_or(text);
        let put_in = hidden_names(text);
        let shown = (0..messages.len()).flat_map(|index| texts_of(scribe.shown(messages, index)));
        let seen = seen_names(text, shown);
        let family = self.tally.family();
        let cold = (0..messages.len()).filter(|index| !span.keeps(*index));
        let cold: u64 = cold.map(|index| self.tally.messages()[index].total()).sum();
        let expected = Expected {
            references: &asked_for,
            previous,
            quoting: &Quoting::new(scribe.ledger()),
            said: &said,
            knows: &|name| {
                scribe.evidence().knows(name)
                    || seen.contains(name)
                    || put_in.contains(name)
                    || previous.is_some_and(|previous| previous.contains(name))
                    || references.list().iter().any(|reference| reference.text.contains(name))
            },
            is_beside_ledger: reading.is_beside_ledger,
            most_tokens,
            replaced_tokens: cold.max(1),
            count: &|text| family.count(text, TextKind::Prose),
        };
        let mut flaws = check_answer(text, stop, &expected);
        if hidden.is_some() {
            let detail = "the answer had something secret in it, which is hidden";
            flaws.push(Flaw::warning(FlawKind::Leak, None, detail));
        }
        let clean = cleaned(text, &expected);
        let clean = scribe.hide(&clean).unwrap_or(clean);
        // Its headings are its own; no other line can pass for structure of a block.
        let clean = changed_lines(&clean, defused);
        let clean = fitted(&clean, most_shown(most_tokens), &|text| {
            family.count(text, TextKind::Prose)
        });
        let missing = references.missing(&clean).len();
        Some(Review {
            clean,
            missing,
            references,
            flaws,
        })
    }
}

impl Review {
    /// The first flaw that refuses the answer.
    pub fn fatal(&self) -> Option<&Flaw> {
        self.flaws.iter().find(|flaw| flaw.weight == Weight::Fatal)
    }

    /// Why the answer is not even worth mending.
    pub fn unusable(&self) -> Option<&Flaw> {
        let fatal = self.flaws.iter().filter(|flaw| flaw.weight == Weight::Fatal);
        fatal.into_iter().find(|flaw| flaw.kind != FlawKind::Unfaithful)
    }

    /// Whether a request for repair is worth its price. What the ledger adds anyway need not be asked for.
    pub fn wants_repair(&self, has_ledger: bool) -> bool {
        let is_poor = self.missing * REPAIRED_SHARE > self.references.list().len();
        self.fatal().is_some() || (!has_ledger && (is_poor || self.has(FlawKind::DroppedEarlier)))
    }

    fn has(&self, kind: FlawKind) -> bool {
        self.flaws.iter().any(|flaw| flaw.kind == kind)
    }

    /// The flaws in words, one a line, for whoever mends them.
    pub fn problems(&self) -> String {
        let lines = self.flaws.iter().map(|flaw| {
            let what = match flaw.kind {
                FlawKind::Missing | FlawKind::DroppedEarlier => "is missing",
                FlawKind::Superseded => "no longer holds",
                FlawKind::Invented => "does not occur in the conversation",
                FlawKind::Unsupported => "was never said by the user",
                _ => "is wrong",
            };
            format!("- {what}: {}", defused(&flaw.detail))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// What the answer lacks, one line a message.
    pub fn lost_lines(&self, budget: u64, count: &dyn Fn(&str) -> u64) -> String {
        lost_lines(lost_in(&self.references, &self.clean), budget, count)
    }

    /// What is worth reporting of an answer that was taken.
    pub fn warnings(&self) -> impl Iterator<Item = Flaw> + '_ {
        self.flaws.iter().map(|flaw| Flaw {
            weight: Weight::Warning,
            ..flaw.clone()
        })
    }
}

/// Everything that a message shows.
fn texts_of(message: &Message) -> impl Iterator<Item = &str> {
    message.parts.iter().flat_map(texts_of_part)
}

fn texts_of_part(part: &Part) -> Vec<&str> {
    match part {
        Part::Text(text) => vec![&**text],
        Part::Call(call) => vec![&*call.name, call.input.as_str()],
        Part::Result(result) => {
            let shown = result.content.iter().filter_map(|content| match content {
                Content::Text(text) => Some(&**text),
                Content::Media(_) | Content::Opaque(_) => None,
            });
            shown.collect()
        }
        Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => Vec::new(),
    }
}

/// What must not be lost and is not in a text.
pub fn lost_in(references: &References, text: &str) -> Vec<Lost> {
    let missing = references.missing(text).into_iter();
    missing
        .map(|reference| Lost {
            author: reference.author,
            number: reference.message,
            text: reference.text.clone(),
        })
        .collect()
}

/// The names by which a text calls what is hidden in it: nobody has invented them.
fn hidden_names(text: &str) -> BTreeSet<&str> {
    let after = text.split("credential_ref:").skip(1);
    let ends = |letter: char| !letter.is_ascii_alphanumeric() && !"_:-".contains(letter);
    let whole = after.filter_map(|rest| rest.split(ends).next());
    whole.flat_map(|name| name.split(':')).collect()
}
