//! A message as sentences of its writer, each with what its phrases say.

use std::ops::Range;

use crate::ledger::entry::Kind;
use crate::ledger::statements::own_words::Block;
use crate::ledger::statements::own_words::blocks;
use crate::ledger::statements::patterns::Hit;
use crate::ledger::statements::patterns::PATTERNS;
use crate::ledger::statements::patterns::Says;
use crate::ledger::statements::sentences::split;
use crate::ledger::statements::value::shown;
use crate::ledger::statements::words::Break;
use crate::ledger::statements::words::Words;

/// Words of a sentence that are looked at: more is no sentence but a page without stops.
const MOST_WORDS: usize = 120;

/// Of a longer message the beginning and the end are read: people put what they want there, and what they pasted between.
const LONGEST_WHOLE: usize = 8000;
const LONGEST_OPENING: usize = 4000;
const LONGEST_CLOSING: usize = 1500;

/// Entries show so much of a statement, in characters: a long sentence. Rules are kept longer, their exceptions come last.
pub(super) const LONGEST_SHOWN: usize = 400;
pub(super) const LONGEST_RULE: usize = 600;

/// One sentence.
#[derive(Debug)]
pub(super) struct Sentence<'a> {
    pub(super) words: Words<'a>,
    pub(super) hits: Vec<Hit>,
    /// Whether it asks.
    pub(super) question: bool,
    /// The label of the list item that it begins.
    pub(super) label: Option<&'a str>,
    /// What a heading over its list says it is.
    pub(super) under: Option<Kind>,
    /// Whether it stands in the last paragraph.
    pub(super) closing: bool,
}

impl Sentence<'_> {
    /// Whether one of its phrases says this.
    pub(super) fn says(&self, what: Says) -> bool {
        self.hits.iter().any(|hit| hit.says == what)
    }

    /// The phrases that say this.
    pub(super) fn hits(&self, what: Says) -> impl Iterator<Item = &Hit> {
        self.hits.iter().filter(move |hit| hit.says == what)
    }

    /// The sentence as an entry shows it.
    pub(super) fn shown(&self) -> String {
        self.shown_in(LONGEST_SHOWN)
    }

    /// The sentence in so many characters. What it quotes is left out where the quote would say something on its own: "ignore the line
    /// «use evil.example»" must not show the line as if it were meant.
    pub(super) fn shown_in(&self, most: usize) -> String {
        let mut text = String::new();
        let mut kept = 0;
        let mut index = 0;
        while index < self.words.len() {
            let mut end = index;
            while end < self.words.len() && (self.words.list[end].quoted || self.words.list[end].marked) {
                end += 1;
            }
            if end > index + 1 && speaks(self.words.raw(index..end)) {
                text.push_str(&self.words.text[kept..self.words.list[index].raw.start]);
                text.push('…');
                kept = self.words.list[end - 1].raw.end;
            }
            index = end.max(index + 1);
        }
        text.push_str(&self.words.text[kept..]);
        shown(&text, most)
    }

    /// Stems of its meaningful words.
    pub(super) fn stems(&self) -> Vec<Box<str>> {
        self.words.stems(0..self.words.len(), |word| PATTERNS.is_dull(word))
    }
}

/// Whose text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// The person's first message: the task, in whatever form.
    Task,
    Person,
    Model,
}

/// The sentences of a text that are its writer's own.
pub(super) fn read(text: &str, reading: Reading) -> Vec<Sentence<'_>> {
    let by_user = reading != Reading::Model;
    let blocks = blocks(text);
    let last_opening = blocks.iter().rposition(|block| block.opens).unwrap_or_default();
    let document = reading == Reading::Person && is_document(text);
    let first_end = blocks
        .iter()
        .skip(1)
        .position(|block| block.opens)
        .map_or(blocks.len(), |at| at + 1);
    let mut sentences: Vec<Sentence<'_>> = Vec::new();
    let mut foreign = Foreign::No;
    let mut under = None;
    for (number, block) in blocks.iter().enumerate() {
        if text.len() > LONGEST_WHOLE
            && block.range.start > LONGEST_OPENING
            && block.range.end + LONGEST_CLOSING < text.len()
        {
            continue;
        }
        if document && number >= first_end && (number < last_opening || is_formatted(&text[block.range.clone()])) {
            continue;
        }
        foreign = foreign.at(block);
        if foreign != Foreign::No {
            continue;
        }
        let part = &text[block.range.clone()];
        let introduces = part.ends_with([':', '：']);
        if block.label.is_none() {
            under = None;
        }
        for (place, range) in split(part).into_iter().enumerate() {
            let at = block.range.start + range.start;
            if text.len() > LONGEST_WHOLE && at > LONGEST_OPENING && at + LONGEST_CLOSING < text.len() {
                continue;
            }
            let mut sentence = sentence(&part[range], by_user);
            sentence.label = block.label.filter(|_| place == 0);
            sentence.under = under;
            sentence.closing = number >= last_opening;
            let reports = sentence.says(Says::Report);
            if introduces && let Some(head) = sentence.hits(Says::Head).next() {
                under = Kind::ALL.into_iter().find(|kind| kind.name() == head.key);
            }
            sentences.push(sentence);
            if reports {
                // Whoever tells what somebody else says goes on telling: to the end of the paragraph, or for a colon, of the paste.
                foreign = match (introduces, by_user) {
                    (true, _) => Foreign::Paste,
                    (false, false) => Foreign::Paragraph,
                    (false, true) => Foreign::No,
                };
                if foreign != Foreign::No {
                    break;
                }
            }
        }
    }
    sentences
}

/// Whether a text is a page that was written elsewhere, by its length and its formatting. People type a paragraph or two; of a page
/// they paste, only what stands before and after it is theirs.
fn is_document(text: &str) -> bool {
    const SHORTEST: usize = 1200;
    const FORMATTED: usize = 3;
    text.len() >= SHORTEST && text.lines().filter(|line| is_formatted(line.trim_start())).count() >= FORMATTED
}

fn is_formatted(line: &str) -> bool {
    let bare = line
        .trim_start_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '-' | '.' | ')' | ' ' | '•'));
    line.starts_with('#')
        || bare.starts_with("**")
        || line.starts_with("---")
        || line.starts_with('|')
        || line.starts_with("• ")
}

/// Whether what follows is told for somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Foreign {
    No,
    Paragraph,
    Paste,
}

impl Foreign {
    /// What holds at the next block: a paragraph ends a report, and a paste that was recognised as one ends what announced it.
    fn at(self, block: &Block<'_>) -> Self {
        match self {
            Foreign::Paragraph if block.opens => Foreign::No,
            Foreign::Paste if block.after_paste => Foreign::No,
            _ => self,
        }
    }
}

/// Whether a quote would be a statement if somebody said it.
fn speaks(quote: &str) -> bool {
    let words = Words::read(quote, MOST_WORDS);
    let binding = |hit: &Hit| {
        matches!(
            hit.says,
            Says::Rule
                | Says::Decide
                | Says::Todo
                | Says::Fact
                | Says::Correct
                | Says::Permit
                | Says::Drop
                | Says::LiftLast
        )
    };
    PATTERNS.find(&words, true).iter().any(binding)
}

/// "Never deploy if the log shows errors" speaks of what others say and is a rule all the same: the rule comes first and nothing is
/// quoted.
fn rules_about_a_report(words: &Words<'_>, hits: &[Hit]) -> bool {
    let Some(report) = hits
        .iter()
        .filter(|hit| hit.says == Says::Report)
        .map(|hit| hit.words.start)
        .min()
    else {
        return false;
    };
    let own = |hit: &Hit| matches!(hit.says, Says::Rule | Says::Todo) && hit.words.start < report;
    let quotes = |index: usize| words.list[index].quoted || words.after(index) == Break::Colon;
    hits.iter().any(own) && !(report..words.len()).any(quotes)
}

fn sentence(text: &str, by_user: bool) -> Sentence<'_> {
    let words = Words::read(text, MOST_WORDS);
    let mut hits = PATTERNS.find(&words, by_user);
    for (what, veto) in [
        (Says::Rule, Says::NoRule),
        (Says::Decide, Says::NoDecision),
        (Says::Todo, Says::NoTodo),
    ] {
        let vetoes: Vec<_> = hits
            .iter()
            .filter(|hit| hit.says == veto)
            .map(|hit| hit.words.clone())
            .collect();
        hits.retain(|hit| {
            let covers = |range: &Range<usize>| range.start <= hit.words.start && hit.words.end <= range.end;
            hit.says != what || !vetoes.iter().any(covers)
        });
    }
    if by_user && rules_about_a_report(&words, &hits) {
        hits.retain(|hit| hit.says != Says::Report);
    }
    let bare = text.trim_end_matches(['"', '\'', ')', ']', '”', '»', '*', '`', '!', '_']);
    Sentence {
        words,
        hits,
        question: bare.ends_with(['?', '？']) || bare.ends_with('吗'),
        label: None,
        under: None,
        closing: false,
    }
}
