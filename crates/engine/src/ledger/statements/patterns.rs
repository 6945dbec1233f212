//! What phrases mean: tables, a file a language, and the matching of a sentence against all of them at once.
//!
//! A row is `says  who  where  pattern  key`, separated by tabs; `patterns/README.md` says it in full. Rows are looked up by their
//! first fixed word, so the cost of a sentence is its words, not the rows. A gap takes at most [`LONGEST_GAP`] words and a row has at
//! most three gaps: every match is bounded.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use crate::ledger::statements::phrase::Element;
use crate::ledger::statements::phrase::LONGEST_GAP;
use crate::ledger::statements::phrase::Slot;
use crate::ledger::statements::phrase::matches;
use crate::ledger::statements::phrase::parse;
use crate::ledger::statements::words::Break;
use crate::ledger::statements::words::Words;
use crate::ledger::statements::words::stem;

/// Prefixes are found by this many first letters.
const PREFIX_LETTERS: usize = 3;

const TABLES: [(&str, &str); 6] = [
    ("en", include_str!("patterns/en.tsv")),
    ("ru", include_str!("patterns/ru.tsv")),
    ("de", include_str!("patterns/de.tsv")),
    ("es", include_str!("patterns/es.tsv")),
    ("fr", include_str!("patterns/fr.tsv")),
    ("zh", include_str!("patterns/zh.tsv")),
];

/// What a phrase says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::ledger) enum Says {
    Rule,
    NoRule,
    Permit,
    Drop,
    LiftLast,
    Decide,
    NoDecision,
    Propose,
    Confirm,
    Agree,
    Refuse,
    Choose,
    Todo,
    NoTodo,
    Promise,
    Done,
    Report,
    Request,
    Hedge,
    Intent,
    Onward,
    Correct,
    Fact,
    Reason,
    Head,
}

const SAYS: [(&str, Says); 25] = [
    ("rule", Says::Rule),
    ("no-rule", Says::NoRule),
    ("permit", Says::Permit),
    ("drop", Says::Drop),
    ("lift-last", Says::LiftLast),
    ("decide", Says::Decide),
    ("no-decision", Says::NoDecision),
    ("propose", Says::Propose),
    ("confirm", Says::Confirm),
    ("agree", Says::Agree),
    ("refuse", Says::Refuse),
    ("choose", Says::Choose),
    ("todo", Says::Todo),
    ("no-todo", Says::NoTodo),
    ("promise", Says::Promise),
    ("done", Says::Done),
    ("report", Says::Report),
    ("request", Says::Request),
    ("hedge", Says::Hedge),
    ("intent", Says::Intent),
    ("onward", Says::Onward),
    ("correct", Says::Correct),
    ("fact", Says::Fact),
    ("reason", Says::Reason),
    ("head", Says::Head),
];

/// A list of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ledger) enum List {
    /// What a sentence may begin with before it begins.
    Filler,
    /// What joins two clauses.
    Joint,
    /// What says nothing when statements are compared.
    Dull,
    /// How a thing is doing, not what it is.
    State,
    /// What forbids or limits.
    Negation,
    /// What stands between "is" and the value.
    Lead,
    /// What ends a value.
    End,
    /// What puts the attribute before its subject.
    Of,
    /// What does not tell two things apart.
    Vague,
    /// What says for which purpose.
    Purpose,
}

impl List {
    fn bit(self) -> u16 {
        1 << self as u16
    }
}

const LISTS: [(&str, List); 10] = [
    ("filler", List::Filler),
    ("joint", List::Joint),
    ("dull", List::Dull),
    ("state", List::State),
    ("negation", List::Negation),
    ("lead", List::Lead),
    ("end", List::End),
    ("of", List::Of),
    ("vague", List::Vague),
    ("purpose", List::Purpose),
];

/// Whose words a row reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    User,
    Assistant,
    Any,
}

/// Where in a sentence a pattern has to stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Where {
    /// At the beginning of the sentence, fillers aside.
    First,
    /// At the beginning of a clause.
    Start,
    Any,
    /// Nothing else in the sentence.
    Whole,
}

#[derive(Clone, Debug)]
struct Row {
    says: Says,
    who: Who,
    place: Where,
    /// A gap before the first fixed word.
    leading: Option<Slot>,
    elements: Vec<Element>,
    key: &'static str,
}

/// One place where a pattern was found.
#[derive(Clone, Debug)]
pub(in crate::ledger) struct Hit {
    /// What it says.
    pub(in crate::ledger) says: Says,
    /// Its words, without leading and trailing gaps.
    pub(in crate::ledger) words: Range<usize>,
    /// The gaps, by name; the last one reaches to the end of the sentence where the pattern ends in it.
    pub(in crate::ledger) slots: Vec<(Slot, Range<usize>)>,
    /// The key that the row gives to a value; empty where the subject gives it.
    pub(in crate::ledger) key: &'static str,
}

impl Hit {
    /// The words of a gap.
    pub(in crate::ledger) fn slot(&self, slot: Slot) -> Option<Range<usize>> {
        self.slots
            .iter()
            .find(|(name, _)| *name == slot)
            .map(|(_, range)| range.clone())
    }
}

/// All tables in one.
#[derive(Debug, Default)]
pub(in crate::ledger) struct Patterns {
    rows: Vec<Row>,
    by_word: HashMap<Box<str>, Vec<usize>>,
    by_prefix: HashMap<Box<str>, Vec<(Box<str>, usize)>>,
    /// Which lists a word is in, a bit each.
    lists: HashMap<Box<str>, u16>,
    nouns: HashMap<Box<str>, &'static str>,
}

/// The tables of all languages.
pub(in crate::ledger) static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let mut patterns = Patterns::default();
    for (language, table) in TABLES {
        for (number, line) in table.lines().enumerate() {
            let read = patterns.add(line);
            debug_assert!(read.is_some(), "{language}.tsv, line {}: {line}", number + 1);
        }
    }
    patterns
});

impl Patterns {
    /// Everything that is found in a sentence by one side.
    pub(in crate::ledger) fn find(&self, words: &Words<'_>, by_user: bool) -> Vec<Hit> {
        let mut hits = Vec::new();
        let mut prefix = String::new();
        for index in 0..words.len() {
            let word = words.at(index);
            if let Some(rows) = self.by_word.get(word) {
                for row in rows {
                    self.try_row(*row, words, index, by_user, &mut hits);
                }
            }
            prefix.clear();
            prefix.extend(word.chars().take(PREFIX_LETTERS));
            if let Some(rows) = self.by_prefix.get(prefix.as_str()) {
                for (start, row) in rows {
                    if word.starts_with(&**start) {
                        self.try_row(*row, words, index, by_user, &mut hits);
                    }
                }
            }
        }
        hits
    }

    /// Whether a word is in a list.
    pub(in crate::ledger) fn is(&self, list: List, word: &str) -> bool {
        self.lists.get(word).is_some_and(|lists| lists & list.bit() != 0)
    }

    /// Words that carry no meaning of their own when statements are compared.
    pub(in crate::ledger) fn is_dull(&self, word: &str) -> bool {
        let dull = List::Dull.bit() | List::Filler.bit() | List::Joint.bit();
        self.lists.get(word).is_some_and(|lists| lists & dull != 0)
    }

    /// The name under which values of this noun are kept.
    pub(in crate::ledger) fn noun(&self, word: &str) -> Option<&'static str> {
        self.nouns
            .get(word)
            .copied()
            .or_else(|| self.nouns.get(&*stem(word)).copied())
    }

    fn try_row(&self, row: usize, words: &Words<'_>, index: usize, by_user: bool, hits: &mut Vec<Hit>) {
        let number = row;
        let row = &self.rows[number];
        let wanted = match row.who {
            Who::User => by_user,
            Who::Assistant => !by_user,
            Who::Any => true,
        };
        if !wanted || words.list[index].quoted || words.list[index].marked {
            return;
        }
        // A pause before the first word ends the clause that the leading gap stands for.
        let paused = usize::from(matches!(row.elements.first(), Some(Element::Pause | Element::Comma)));
        let gap_end = index.saturating_sub(paused);
        let leading = row.leading.map(|slot| (slot, self.clause_start(words, gap_end)..index));
        if leading.as_ref().is_some_and(|(_, range)| range.is_empty()) {
            return;
        }
        let begins = leading.as_ref().map_or(index, |(_, range)| range.start);
        let placed = match row.place {
            Where::Any => true,
            Where::First | Where::Whole => self.begins_sentence(words, begins),
            Where::Start => self.begins_clause(words, begins),
        };
        if !placed {
            return;
        }
        let mut slots: Vec<(Slot, Range<usize>)> = leading.into_iter().collect();
        let Some(end) = matches(&row.elements, words, index, index, &mut slots) else {
            return;
        };
        if row.place == Where::Whole && !self.only_fillers(words, end) {
            return;
        }
        hits.push(Hit {
            says: row.says,
            words: index..end,
            slots,
            key: row.key,
        });
    }

    fn only_fillers(&self, words: &Words<'_>, from: usize) -> bool {
        (from..words.len()).all(|index| self.is(List::Filler, words.at(index)))
    }

    fn begins_sentence(&self, words: &Words<'_>, index: usize) -> bool {
        (0..index)
            .rev()
            .take(6)
            .all(|before| self.is(List::Filler, words.at(before)))
            && index <= 6
    }

    fn begins_clause(&self, words: &Words<'_>, index: usize) -> bool {
        let mut at = index;
        while at > 0 {
            let before = at - 1;
            if words.after(before) > Break::None || self.is(List::Joint, words.at(before)) {
                return true;
            }
            if !self.is(List::Filler, words.at(before)) {
                return false;
            }
            at = before;
        }
        true
    }

    /// Where the clause that holds a word begins, fillers left out, at most a gap away.
    pub(in crate::ledger) fn clause_start(&self, words: &Words<'_>, index: usize) -> usize {
        let mut start = index;
        while start > 0 && index - start < LONGEST_GAP {
            let before = start - 1;
            if words.after(before) > Break::None || self.is(List::Joint, words.at(before)) {
                break;
            }
            start = before;
        }
        while start < index && self.is(List::Filler, words.at(start)) {
            start += 1;
        }
        start
    }

    /// Takes in one line of a table.
    fn add(&mut self, line: &'static str) -> Option<()> {
        if line.is_empty() || line.starts_with('#') {
            return Some(());
        }
        let mut columns = line.split('\t').map(str::trim);
        let says = columns.next()?;
        let who = columns.next()?;
        let place = columns.next()?;
        let pattern = columns.next()?;
        let key = columns.next().unwrap_or_default();
        if let Some((_, list)) = LISTS.iter().find(|(name, _)| *name == says) {
            for word in pattern.split(' ') {
                *self.lists.entry(word.into()).or_default() |= list.bit();
            }
            return Some(());
        }
        if says == "noun" {
            for word in pattern.split(' ') {
                let word = word.replace('_', " ");
                self.nouns.insert(stem(&word).into(), key);
                self.nouns.insert(word.into(), key);
            }
            return Some(());
        }
        let says = SAYS.iter().find(|(name, _)| *name == says)?.1;
        let who = match who {
            "user" => Who::User,
            "assistant" => Who::Assistant,
            "any" => Who::Any,
            _ => return None,
        };
        let place = match place {
            "first" => Where::First,
            "start" => Where::Start,
            "any" => Where::Any,
            "whole" => Where::Whole,
            _ => return None,
        };
        self.add_row(Row {
            says,
            who,
            place,
            leading: None,
            elements: parse(pattern)?,
            key,
        })
    }

    /// Enters a row under its first fixed word. Optional words in front give rows of their own.
    fn add_row(&mut self, mut row: Row) -> Option<()> {
        match row.elements.first()?.clone() {
            Element::Gap(slot) if row.leading.is_none() => {
                row.elements.remove(0);
                row.leading = Some(slot);
                self.add_row(row)
            }
            Element::Gap(_) => None,
            Element::Pause | Element::Comma => {
                let number = self.rows.len();
                let second = row.elements.get(1)?.clone();
                self.rows.push(row);
                self.index(&second, number)
            }
            Element::Optional(inside) => {
                row.elements.remove(0);
                let mut with = row.clone();
                with.elements.insert(0, *inside);
                self.add_row(with)?;
                self.add_row(row)
            }
            Element::Suffix(_) => None,
            first => {
                let number = self.rows.len();
                self.rows.push(row);
                self.index(&first, number)
            }
        }
    }

    fn index(&mut self, first: &Element, number: usize) -> Option<()> {
        match first {
            Element::Word(word) => self.by_word.entry(word.clone()).or_default().push(number),
            Element::Prefix(prefix) => {
                let letters: String = prefix.chars().take(PREFIX_LETTERS).collect();
                if letters.chars().count() < PREFIX_LETTERS {
                    return None;
                }
                self.by_prefix
                    .entry(letters.into())
                    .or_default()
                    .push((prefix.clone(), number));
            }
            Element::Either(choices) => {
                for choice in choices {
                    self.index(choice, number)?;
                }
            }
            Element::Suffix(_) | Element::Optional(_) | Element::Gap(_) | Element::Pause | Element::Comma => {
                return None;
            }
        }
        Some(())
    }
}

#[cfg(test)]
#[path = "patterns_tests.rs"]
mod tests;
