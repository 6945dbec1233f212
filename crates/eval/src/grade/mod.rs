//! Grading without a judge: which expected facts a text has, which stale ones it gives as current, what it leaks.
//!
//! The same words give the same grade everywhere. It knows wording, not meaning: a fact that is said in words the probe
//! does not foresee is missed, and a wrong sentence around the right words is not noticed. The judge is for that.
//!
//! # When a text has a fact
//!
//! Text and fact are brought to one spelling (see `fold`). A text has a fact when one of the fact's forms stands in it
//!
//! - as a whole, at the edges of words, numbers, names and paths (`edges`): `40` is not in `401`, `1.40` or `40:10`, `auth.rs` is in
//!   `src/auth.rs:12` and not in `oauth.rs` or `auth.rs.bak`; numbers from four digits on in any grouping;
//! - or, a single word of prose, with another ending of number or case; tenses are no such endings;
//! - or in other words: all words of the form that say something, in any order, in one sentence and within a stretch of at most
//!   three times as many words, with no denial in it or before it.
//!
//! What the text denies (`not X`, `no longer X`, `instead of X`, `X is not used`) it does not have, unless the form is a denial itself or
//! the question asks for what is denied. A bare `yes` or `no` is one only where it is an answer: first in its sentence and set apart, or
//! last behind a word that announces it. A bare number of one or two digits stands in almost any long text; validation warns of such facts.
//!
//! # When a stale fact is given as current
//!
//! In an answer: wherever it stands as a whole, unless its clause says that it is past (`bearing`): was, formerly, no longer,
//! instead of, from X to Y, X → Y, deleted, renamed, undone, struck through, in a section whose heading says so; or its line carries a
//! block's mark (`ledger_text::corrections`): corrected m147, until m12; or it is a piece of an expected fact. What was not deleted, will be deleted
//! or should be deleted is still there.
//!
//! In a state that is another question: old messages rightly stand there word for word. See [`grade_state`].

mod bearing;
mod edges;
mod fold;
mod leaks;
mod marks;
mod phrase;
mod removal;
mod words;

use std::ops::Range;

use serde::Deserialize;
use serde::Serialize;

use crate::fixture::Probe;
use crate::grade::fold::Folded;
use crate::grade::leaks::Exposed;
use crate::grade::phrase::Phrase;
use crate::ledger_text;
use crate::ledger_text::LedgerEntryView;
use crate::ledger_text::Section;
use crate::ledger_text::Status;

/// From this mean over the dimensions on a judge passes an answer: the first whole score above the middle of the scale.
pub const JUDGE_PASSES: f64 = 3.0;

/// An answer passes with this share of the expected facts: the share of its scale that a judge's passing score is.
const PASSES: f64 = JUDGE_PASSES / 5.0;

/// Whether one expected fact is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FactGrade {
    /// The fact.
    pub fact: String,
    /// Whether it is there, in any of its forms.
    pub found: bool,
}

/// What a text is worth as an answer to a probe.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Grade {
    /// The expected facts, in the probe's order.
    pub facts: Vec<FactGrade>,
    /// Stale facts that are given as current.
    pub stale: Vec<String>,
    /// Secrets that are shown, as the names of their kinds and places; never the secrets themselves.
    pub leaks: Vec<String>,
}

impl Grade {
    /// The share of expected facts that are there; one where none is expected.
    pub fn recall(&self) -> f64 {
        if self.facts.is_empty() {
            return 1.0;
        }
        let found = self.facts.iter().filter(|fact| fact.found).count();
        found as f64 / self.facts.len() as f64
    }

    /// Whether everything expected is there and nothing else is wrong.
    pub fn is_clean(&self) -> bool {
        self.stale.is_empty() && self.leaks.is_empty() && self.facts.iter().all(|fact| fact.found)
    }

    /// Whether it is good enough: three fifths of the facts, nothing stale, no leak.
    pub fn passes(&self) -> bool {
        self.stale.is_empty() && self.leaks.is_empty() && self.recall() >= PASSES
    }

    /// One figure, from 0 to 1: the recall, half of it with something stale, nothing with a leak.
    pub fn score(&self) -> f64 {
        match (self.leaks.is_empty(), self.stale.is_empty()) {
            (false, _) => 0.0,
            (true, false) => self.recall() / 2.0,
            (true, true) => self.recall(),
        }
    }
}

/// Whether a text gives a value as current: it has it somewhere, and does not say there that it is past.
pub fn gives_as_current(text: &str, value: &str) -> bool {
    let folded = Folded::new(text);
    Phrase::new(value).any_whole(&folded, &mut |place| !bearing::is_past(&folded, &place))
}

/// Texts that many facts are looked for in, prepared once.
pub struct Pages(Vec<Folded>);

impl Pages {
    /// Prepares texts.
    pub fn new<S: AsRef<str>>(texts: &[S]) -> Self {
        Self(texts.iter().map(|text| Folded::new(text.as_ref())).collect())
    }

    /// Which of them name a fact in any of the given forms, even where they deny it.
    pub fn naming<'a>(&self, forms: impl IntoIterator<Item = &'a str>) -> Vec<usize> {
        let forms: Vec<Phrase> = forms.into_iter().map(Phrase::new).collect();
        let names = |folded: &Folded| forms.iter().any(|form| form.is_in(folded, true));
        let pages = self.0.iter().enumerate();
        pages
            .filter(|(_, folded)| names(folded))
            .map(|(index, _)| index)
            .collect()
    }
}

/// Grades a text as the answer to a probe; `secrets` are the bank's.
pub fn grade(text: &str, probe: &Probe, secrets: &[String]) -> Grade {
    let folded = Folded::new(text);
    let sheet = Sheet::new(probe);
    let exposed = Exposed::new(text);
    let mut leaks = exposed.leaks(secrets);
    if leaks.is_empty() {
        let expected: Vec<&str> = probe
            .expected_facts
            .iter()
            .flat_map(|fact| probe.forms_of(fact))
            .collect();
        leaks = exposed.credentials(|found| expected.iter().any(|form| form.contains(found) || found.contains(form)));
    }
    Grade {
        facts: sheet.facts(&folded),
        stale: sheet.stale(|_, forms| sheet.is_given_as_current(&folded, forms)),
        leaks,
    }
}

/// Grades what a model would see instead of a conversation: a state, message by message.
///
/// Facts and the bank's secrets are looked for as in an answer. A stale fact may well stand in a state: in old messages that are kept
/// word for word, beside newer ones that correct it. It is given as current
///
/// - where an entry of a ledger's standing sections has it without a mark that it is past, and has no expected fact beside it;
/// - or where the state has it somewhere without such a mark and nowhere has an expected fact that could take its place, so that no
///   reader could know better. The facts that can take its place are those that look like it: numbers for a number or for words with
///   one, names for a name, words for words; all where none does.
pub fn grade_state<S: AsRef<str>>(messages: &[S], probe: &Probe, secrets: &[String]) -> Grade {
    StatePaper::new(messages).grade(probe, secrets)
}

/// A state that many probes are asked of: its texts are prepared once.
pub struct StatePaper {
    folded: Vec<Folded>,
    standing: Vec<Folded>,
    text: String,
}

impl StatePaper {
    /// Prepares a state.
    pub fn new<S: AsRef<str>>(messages: &[S]) -> Self {
        let standing = messages.iter().flat_map(|message| standing_entries(message.as_ref()));
        Self {
            standing: standing.map(|entry| Folded::new(&entry.text)).collect(),
            folded: messages.iter().map(|message| Folded::new(message.as_ref())).collect(),
            text: messages.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join("\n"),
        }
    }

    /// Grades it for a probe, as [`grade_state`] does.
    pub fn grade(&self, probe: &Probe, secrets: &[String]) -> Grade {
        let sheet = Sheet::new(probe);
        let mut facts: Vec<FactGrade> = probe
            .expected_facts
            .iter()
            .map(|fact| FactGrade {
                fact: fact.clone(),
                found: false,
            })
            .collect();
        for folded in &self.folded {
            for (known, grade) in facts.iter_mut().zip(&sheet.expected) {
                known.found = known.found || sheet.has(folded, grade);
            }
        }
        let stale = sheet.stale(|_, forms| {
            let is_standing = self.standing.iter().any(|entry| {
                sheet.is_given_as_current(entry, forms) && !sheet.expected.iter().any(|fact| sheet.has(entry, fact))
            });
            let is_rival = |fact: &&Vec<Phrase>| match (forms.first(), fact.first()) {
                (Some(stale), Some(fact)) => stale.is_replaced_by(fact),
                _ => false,
            };
            let has_rivals = sheet.expected.iter().any(|fact| is_rival(&fact));
            let knows_better = sheet
                .expected
                .iter()
                .zip(&facts)
                .any(|(fact, grade)| grade.found && (!has_rivals || is_rival(&fact)));
            is_standing
                || (!knows_better
                    && self
                        .folded
                        .iter()
                        .any(|folded| sheet.is_given_as_current(folded, forms)))
        });
        Grade {
            facts,
            stale,
            leaks: match secrets {
                [] => Vec::new(),
                secrets => Exposed::new(&self.text).leaks(secrets),
            },
        }
    }
}

/// The entries of a ledger that say how things are; none in any other message.
fn standing_entries(message: &str) -> Vec<LedgerEntryView> {
    if !message.contains(ledger_text::LEDGER_NAME) {
        return Vec::new();
    }
    let lines = ledger_text::read(message).into_iter();
    lines
        .filter_map(|line| match line {
            ledger_text::LedgerLine::Entry(entry) => Some(entry),
            ledger_text::LedgerLine::Title(_) | ledger_text::LedgerLine::Prose(_) => None,
        })
        .filter(|entry| {
            let is_standing = matches!(
                entry.section,
                Section::ActiveFacts | Section::Decisions | Section::Constraints | Section::Obligations
            );
            is_standing && entry.status == Status::Open
        })
        .collect()
}

/// A probe, ready to be graded.
struct Sheet<'a> {
    probe: &'a Probe,
    /// The forms of every expected fact.
    expected: Vec<Vec<Phrase>>,
    may_be_denied: bool,
}

impl<'a> Sheet<'a> {
    fn new(probe: &'a Probe) -> Self {
        let facts = probe.expected_facts.iter();
        Self {
            probe,
            expected: facts.map(|fact| forms(probe, fact)).collect(),
            may_be_denied: marks::asks_for_denied(&Folded::new(&probe.question).text),
        }
    }

    fn has(&self, folded: &Folded, fact: &[Phrase]) -> bool {
        fact.iter().any(|form| form.is_in(folded, self.may_be_denied))
    }

    fn facts(&self, folded: &Folded) -> Vec<FactGrade> {
        let facts = self.probe.expected_facts.iter().zip(&self.expected);
        facts
            .map(|(fact, forms)| FactGrade {
                fact: fact.clone(),
                found: self.has(folded, forms),
            })
            .collect()
    }

    /// The stale facts of which something holds.
    fn stale(&self, holds: impl Fn(&str, &[Phrase]) -> bool) -> Vec<String> {
        let facts = self.probe.stale_facts.iter();
        facts
            .filter(|fact| holds(fact, &forms(self.probe, fact)))
            .cloned()
            .collect()
    }

    /// Whether a text has a stale fact without saying that it is past.
    fn is_given_as_current(&self, folded: &Folded, stale: &[Phrase]) -> bool {
        stale.iter().any(|form| {
            let mut longer: Vec<Range<usize>> = Vec::new();
            for fact in self
                .expected
                .iter()
                .flatten()
                .filter(|fact| fact.longest() > form.longest())
            {
                fact.any_whole(folded, &mut |place| {
                    longer.push(place);
                    false
                });
            }
            longer.sort_by_key(|place| place.start);
            form.any_whole(folded, &mut |place| {
                let next = longer.partition_point(|range| range.start <= place.start);
                let is_piece = longer[..next].iter().rev().take(4).any(|range| range.end >= place.end);
                !is_piece && !bearing::is_past(folded, &place)
            })
        })
    }
}

fn forms(probe: &Probe, fact: &str) -> Vec<Phrase> {
    probe.forms_of(fact).map(Phrase::new).collect()
}

#[cfg(test)]
#[path = "grade_tests.rs"]
mod tests;
