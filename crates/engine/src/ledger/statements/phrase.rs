//! One pattern: fixed words, choices, beginnings and endings of words, gaps; and its matching against words.

use std::ops::Range;

use crate::ledger::statements::words::Break;
use crate::ledger::statements::words::Words;

/// The most words that a gap in the middle of a pattern takes: a noun phrase with some company.
pub(super) const LONGEST_GAP: usize = 12;

/// A gap of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ledger) enum Slot {
    /// What a value belongs to.
    Subject,
    /// The value, the new one where there are two.
    Value,
    /// The value that no longer holds.
    Old,
    /// What a phrase is about.
    What,
}

/// One element of a pattern.
#[derive(Clone, Debug)]
pub(super) enum Element {
    /// A word in this form.
    Word(Box<str>),
    /// A word that begins like this.
    Prefix(Box<str>),
    /// A word that ends like this.
    Suffix(Box<str>),
    /// One of these.
    Either(Vec<Element>),
    /// This, or nothing.
    Optional(Box<Element>),
    /// Any words.
    Gap(Slot),
    /// A colon or a dash behind the word before.
    Pause,
    /// A comma or a stronger break behind the word before.
    Comma,
}

/// Reads a pattern as a table spells it.
pub(super) fn parse(pattern: &str) -> Option<Vec<Element>> {
    let mut elements = Vec::new();
    for token in pattern.split(' ').filter(|token| !token.is_empty()) {
        let signs = token.chars().all(|letter| matches!(letter, '\u{3400}'..='\u{9fff}'));
        if signs {
            elements.extend(token.chars().map(|letter| Element::Word(letter.to_string().into())));
            continue;
        }
        elements.push(element(token)?);
    }
    (!elements.is_empty()).then_some(elements)
}

fn element(token: &str) -> Option<Element> {
    if let Some(inside) = token.strip_prefix('(') {
        return Some(Element::Optional(Box::new(element(inside.strip_suffix(')')?)?)));
    }
    Some(match token {
        "<s>" => Element::Gap(Slot::Subject),
        "<v>" => Element::Gap(Slot::Value),
        "<o>" => Element::Gap(Slot::Old),
        "<w>" => Element::Gap(Slot::What),
        ":" => Element::Pause,
        "," => Element::Comma,
        _ if token.contains('|') => Element::Either(token.split('|').map(element).collect::<Option<_>>()?),
        _ if token.ends_with('*') => Element::Prefix(token.strip_suffix('*')?.into()),
        _ if token.starts_with('*') => Element::Suffix(token.strip_prefix('*')?.into()),
        _ => Element::Word(token.into()),
    })
}

/// Where a match that goes on at a word ends, with its gaps. A gap at the end of a pattern reaches to the end of the sentence, and
/// the match ends before it.
pub(super) fn matches(
    elements: &[Element],
    words: &Words<'_>,
    begin: usize,
    at: usize,
    slots: &mut Vec<(Slot, Range<usize>)>,
) -> Option<usize> {
    let Some((first, rest)) = elements.split_first() else {
        return Some(at);
    };
    let before = at.checked_sub(1).map_or(Break::End, |index| words.after(index));
    match first {
        Element::Optional(inside) => {
            if is_word(inside, words, at)
                && let Some(end) = matches(rest, words, begin, at + 1, slots)
            {
                return Some(end);
            }
            matches(rest, words, begin, at, slots)
        }
        Element::Pause => {
            let paused = matches!(before, Break::Colon | Break::Dash);
            paused.then(|| matches(rest, words, begin, at, slots)).flatten()
        }
        Element::Comma => {
            let apart = before > Break::None;
            apart.then(|| matches(rest, words, begin, at, slots)).flatten()
        }
        Element::Gap(slot) => gap(*slot, rest, words, begin, at, slots),
        Element::Word(_) | Element::Prefix(_) | Element::Suffix(_) | Element::Either(_) => {
            let joined = at == begin || before < Break::Semicolon;
            if !joined || !is_word(first, words, at) {
                return None;
            }
            matches(rest, words, begin, at + 1, slots)
        }
    }
}

fn gap(
    slot: Slot,
    rest: &[Element],
    words: &Words<'_>,
    begin: usize,
    at: usize,
    slots: &mut Vec<(Slot, Range<usize>)>,
) -> Option<usize> {
    if at >= words.len() {
        return None;
    }
    if rest.is_empty() {
        slots.push((slot, at..words.len()));
        return Some(at);
    }
    let known = slots.len();
    for end in at + 1..=(at + LONGEST_GAP).min(words.len()) {
        slots.push((slot, at..end));
        if let Some(found) = matches(rest, words, begin, end, slots) {
            return Some(found);
        }
        slots.truncate(known);
        if words.after(end - 1) >= Break::Semicolon {
            break;
        }
    }
    None
}

fn is_word(element: &Element, words: &Words<'_>, at: usize) -> bool {
    let Some(place) = words.list.get(at) else {
        return false;
    };
    let word = words.at(at);
    !place.quoted
        && !place.marked
        && match element {
            Element::Word(fixed) => **fixed == *word,
            Element::Prefix(start) => word.starts_with(&**start),
            Element::Suffix(end) => word.len() > end.len() && word.ends_with(&**end),
            Element::Either(choices) => choices.iter().any(|choice| is_word(choice, words, at)),
            Element::Optional(_) | Element::Gap(_) | Element::Pause | Element::Comma => false,
        }
}
