//! Values that a sentence gives, each with the key of what it is a value of.

use std::ops::Range;

use crate::ledger::statements::patterns::Hit;
use crate::ledger::statements::patterns::List;
use crate::ledger::statements::patterns::PATTERNS;
use crate::ledger::statements::patterns::Says;
use crate::ledger::statements::phrase::Slot;
use crate::ledger::statements::value::Shape;
use crate::ledger::statements::value::newest;
use crate::ledger::statements::value::shape_of;
use crate::ledger::statements::words::Break;
use crate::ledger::statements::words::Words;
use crate::ledger::statements::words::is_sign;
use crate::ledger::statements::words::stem;

/// A subject of more words is a description, not a name.
const LONGEST_SUBJECT: usize = 6;

/// What a name may begin with.
const DETERMINERS: [&str; 12] = [
    "the", "my", "our", "your", "его", "мой", "моя", "наш", "наша", "der", "el", "le",
];

/// One value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) key: String,
    pub(super) value: Range<usize>,
    pub(super) shape: Shape,
}

/// The values that a sentence gives.
pub(super) fn find(words: &Words<'_>, hits: &[Hit], by_user: bool) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for hit in hits.iter().filter(|hit| hit.says == Says::Fact) {
        push(&mut found, stated(words, hit, hits, by_user));
    }
    if by_user {
        for index in 0..words.len() {
            push(&mut found, labelled(words, hits, index));
        }
        for hit in hits
            .iter()
            .filter(|hit| matches!(hit.says, Says::Decide | Says::Correct))
        {
            for index in hit.words.start..(hit.words.end + 4).min(words.len()) {
                push(&mut found, released(words, index));
            }
        }
    }
    found
}

/// The key of a subject, and whether it names something that has values.
pub(super) fn key_of(words: &Words<'_>, range: Range<usize>) -> Option<(String, bool)> {
    let mut names: Vec<(String, Option<&'static str>)> = Vec::new();
    let mut reversed = false;
    let mut index = range.start;
    while index < range.end {
        let word = words.at(index);
        let pair = format!("{word} {}", words.at(index + 1));
        if index + 1 < range.end
            && let Some(noun) = PATTERNS.noun(&pair)
        {
            names.push((noun.to_owned(), Some(noun)));
            index += 2;
            continue;
        }
        index += 1;
        reversed |= PATTERNS.is(List::Of, word);
        let noun = PATTERNS.noun(word.strip_suffix("'s").unwrap_or(word));
        if noun.is_none() && (PATTERNS.is_dull(word) || PATTERNS.is(List::Vague, word)) {
            continue;
        }
        // Russian puts what it has before what has it.
        reversed |=
            noun.is_some() && names.is_empty() && word.starts_with(|letter: char| ('а'..='я').contains(&letter));
        names.push((noun.map_or_else(|| stem(word).into_owned(), str::to_owned), noun));
    }
    if is_in_signs(words, &range) {
        let all: String = range.map(|index| words.at(index)).collect();
        return Some((all, false));
    }
    if names.is_empty() || names.len() > 4 {
        return None;
    }
    let is_noun = |(_, noun): &(String, Option<&str>)| noun.is_some();
    let attribute = if reversed {
        names.iter().position(is_noun)
    } else {
        names.iter().rposition(is_noun)
    };
    let Some(attribute) = attribute else {
        let all: Vec<String> = names.into_iter().map(|(name, _)| name).collect();
        return Some((all.join(" "), false));
    };
    let (attribute, _) = names.remove(attribute);
    let rest: Vec<String> = names.into_iter().map(|(name, _)| name).collect();
    let key = if rest.is_empty() {
        attribute
    } else {
        format!("{} · {attribute}", rest.join(" "))
    };
    Some((key, true))
}

fn push(found: &mut Vec<Found>, new: Option<Found>) {
    if let Some(new) = new
        && !found
            .iter()
            .any(|known| known.key == new.key || known.value == new.value)
    {
        found.push(new);
    }
}

/// "The server is alpha", "X runs on port 8080", "my name is Mia".
fn stated(words: &Words<'_>, hit: &Hit, hits: &[Hit], by_user: bool) -> Option<Found> {
    if hit.key == "last" {
        return named_first(words, hit);
    }
    let (value, shape) = newest(words, hit.slot(Slot::Value)?);
    if !is_value(words, &value, shape) {
        return None;
    }
    let subject = hit.slot(Slot::Subject).map(|range| subject_in(words, hits, range));
    if hit.key == "inverse" {
        return inverse(words, hit, subject?, value, shape);
    }
    if !hit.key.is_empty() && !hit.key.contains("<s>") {
        let short = value.len() <= 4 || shape.is_strong();
        return (by_user && short).then(|| Found {
            key: hit.key.to_owned(),
            value,
            shape,
        });
    }
    // A row without a subject names it in its own words: "теперь сервер beta".
    let subject = subject.unwrap_or(hit.words.clone());
    let most = if is_in_signs(words, &subject) {
        2 * LONGEST_SUBJECT
    } else {
        LONGEST_SUBJECT
    };
    if subject.len() > most || words.list[subject.clone()].iter().any(|word| word.quoted) {
        return None;
    }
    let (key, noun) = key_of(words, subject.clone())?;
    let located = hit.key.contains("location");
    // Without a verb between them a name is one word at the end of its clause: "server alpha", not "server side rendering".
    let bare = hit.slot(Slot::Subject).is_none();
    let behind = words.after(value.end.saturating_sub(1));
    // What a colon or a dash follows is the end of a longer name: "сервер стенда: alpha".
    let ends = (behind > Break::None && !matches!(behind, Break::Colon | Break::Dash)) || value.end >= words.len();
    let most = if bare { 1 } else { 3 };
    let plain_enough = value.len() <= most && (ends || !bare) && !is_participle(words, &value) && !located;
    let fits = match (noun, by_user) {
        (true, true) => shape.is_strong() || plain_enough || (shape == Shape::Name && value.len() <= 5),
        (true, false) => shape.is_strong() && value.len() == 1,
        (false, true) => {
            let named = is_named(words, &subject) || (is_in_signs(words, &subject) && value.len() == 1);
            shape.is_strong() && shape != Shape::Code && value.len() <= 4 && named
        }
        (false, false) => false,
    };
    let key = hit.key.strip_prefix("<s>").map_or(key.clone(), |suffix| {
        let suffix = if noun && located { "" } else { suffix };
        format!("{key}{suffix}")
    });
    fits.then_some(Found { key, value, shape })
}

/// "We use alpha-2 as the server", "alpha-2 is our server": what has the value stands last, so the sentence has to end with its name.
fn inverse(words: &Words<'_>, hit: &Hit, subject: Range<usize>, value: Range<usize>, shape: Shape) -> Option<Found> {
    let whole = hit.slot(Slot::Value)?;
    let alone = whole.end == value.end && value.len() <= 3;
    let ends = words.after(subject.end - 1) > Break::None || subject.end >= words.len();
    if !alone || !ends || subject.len() > 4 {
        return None;
    }
    let (key, noun) = key_of(words, subject)?;
    let fits = noun && (shape.is_strong() || (shape == Shape::Name && value.len() == 1));
    fits.then_some(Found { key, value, shape })
}

/// "Eigentlich ist der Server alpha-2": verb first, then the name, and its value last.
fn named_first(words: &Words<'_>, hit: &Hit) -> Option<Found> {
    let range = hit.slot(Slot::Subject)?;
    let last = range
        .clone()
        .find(|index| words.after(*index) > Break::None || index + 1 >= range.end)?;
    let shape = shape_of(words, last);
    let subject = range.start..last;
    if subject.is_empty() || subject.len() > 3 || !shape.is_strong() {
        return None;
    }
    let (key, _) = key_of(words, subject)?;
    Some(Found {
        key,
        value: last..last + 1,
        shape,
    })
}

/// Whether words are written in signs without spaces: each is a word of its own, and together they are one name.
fn is_in_signs(words: &Words<'_>, range: &Range<usize>) -> bool {
    !range.is_empty() && range.clone().all(|index| words.at(index).starts_with(is_sign))
}

/// A subject without what leads to it ("actually", "на самом деле"), up to the end of its clause.
fn subject_in(words: &Words<'_>, hits: &[Hit], range: Range<usize>) -> Range<usize> {
    let start = past_lead_in(words, hits, range.clone());
    // Only a gap at the end of a pattern reaches beyond its clause.
    let open = range.end >= words.len();
    let ends = |index: &usize| words.after(*index) > Break::None || PATTERNS.is(List::Joint, words.at(index + 1));
    let end = (start..range.end).find(ends).filter(|_| open);
    start..end.map_or(range.end, |index| index + 1)
}

fn past_lead_in(words: &Words<'_>, hits: &[Hit], range: Range<usize>) -> usize {
    let mut start = range.start;
    let leads = |hit: &&Hit, at: usize| hit.says == Says::Correct && hit.slots.is_empty() && hit.words.start == at;
    while start < range.end {
        let next = match hits.iter().find(|hit| leads(hit, start)) {
            Some(hit) => hit.words.end,
            None if PATTERNS.is(List::Filler, words.at(start)) => start + 1,
            None => break,
        };
        if next >= range.end {
            break;
        }
        start = next;
    }
    start
}

/// "server: alpha", "дедлайн — пятница", "port 8080", "порт 9090".
fn labelled(words: &Words<'_>, hits: &[Hit], index: usize) -> Option<Found> {
    let after = words.after(index);
    let next = index + 1;
    if next >= words.len() || words.list[index].quoted || words.list[next].quoted {
        return None;
    }
    let start = past_lead_in(words, hits, PATTERNS.clause_start(words, index)..next);
    let subject = start..next;
    if subject.is_empty() || subject.len() > 4 {
        return None;
    }
    let paused = matches!(after, Break::Colon | Break::Dash);
    let adjacent = after == Break::None && PATTERNS.noun(words.at(index)).is_some();
    if !paused && !adjacent {
        return None;
    }
    // What has the value stands last, or first where Russian or "of" turns it around.
    let reversed = words.at(start).starts_with(|letter: char| !letter.is_ascii())
        || subject.clone().any(|place| PATTERNS.is(List::Of, words.at(place)));
    let head = match reversed {
        true => (start..next).find(|place| !describes(words, *place)).unwrap_or(start),
        false => index,
    };
    PATTERNS.noun(words.at(head))?;
    let (key, noun) = key_of(words, subject.clone())?;
    let (value, shape) = newest(words, next..words.len());
    if !is_value(words, &value, shape) || !noun {
        return None;
    }
    let key = topic(words, hits, start).map_or(key.clone(), |topic| format!("{topic} {key}"));
    let pointing = |place: usize| PATTERNS.is_dull(words.at(place)) && !DETERMINERS.contains(&words.at(place));
    let fits = if paused {
        shape.is_strong() || value.len() <= 3
    } else if (start..index).any(pointing) {
        false
    } else {
        // Without a verb only a form that is nothing else will do, right behind its name and at the end of its clause.
        shape.is_strong() && value.start == next && subject.len() <= 3 && value.len() <= 2 && shape != Shape::Code
    };
    fits.then_some(Found { key, value, shape })
}

/// Whose values a list gives: "Passenger one: first name - Emily".
fn topic(words: &Words<'_>, hits: &[Hit], start: usize) -> Option<String> {
    let end = (0..start.min(4)).find(|index| words.after(*index) == Break::Colon)? + 1;
    let stems = words.stems(0..end, |word| PATTERNS.is_dull(word));
    let named = (0..end).any(|index| PATTERNS.noun(words.at(index)).is_some());
    // "Correction: server: beta" corrects; it does not say whose server.
    let named = named
        || hits
            .iter()
            .any(|hit| hit.says == Says::Correct && hit.words.start < end);
    (!named && !stems.is_empty()).then(|| stems.join(" "))
}

/// "use Python 3.12", "переходим на redis 3.2".
fn released(words: &Words<'_>, index: usize) -> Option<Found> {
    let version = index + 1;
    let name = words.at(index);
    let is_name = name.chars().all(|letter| letter.is_ascii_alphabetic() || letter == '-') && !PATTERNS.is_dull(name);
    let joined = words.after(index) == Break::None && PATTERNS.noun(name).is_none() && !name.is_empty();
    let shape = shape_of(words, version);
    (is_name && joined && shape == Shape::Version).then(|| Found {
        key: format!("{name} · version"),
        value: version..version + 1,
        shape,
    })
}

fn is_value(words: &Words<'_>, value: &Range<usize>, shape: Shape) -> bool {
    let first = words.at(value.start);
    !value.is_empty()
        && !words.list[value.clone()].iter().any(|word| word.quoted)
        && (shape_of(words, value.start) != Shape::Plain
            || !(PATTERNS.is(List::State, first) || PATTERNS.is_dull(first)))
        && (shape.is_strong() || !PATTERNS.is(List::State, first))
        && !PATTERNS.is(List::Negation, first)
}

/// "основной" before its noun.
fn describes(words: &Words<'_>, index: usize) -> bool {
    const ENDS: [&str; 9] = ["ый", "ий", "ой", "ая", "яя", "ое", "ее", "ые", "ие"];
    let word = words.at(index);
    PATTERNS.noun(word).is_none() && (PATTERNS.is_dull(word) || ENDS.iter().any(|end| word.ends_with(end)))
}

/// "running", "updated": what happens to a thing is not what it is.
fn is_participle(words: &Words<'_>, value: &Range<usize>) -> bool {
    const ENDS: [&str; 9] = ["ing", "ed", "en", "ly", "able", "ен", "ется", "ает", "ит"];
    value
        .clone()
        .any(|index| ENDS.iter().any(|end| words.at(index).ends_with(end)))
}

/// "the parser", "my cat", "Postgres": something that has a name, not "what I mean".
fn is_named(words: &Words<'_>, subject: &Range<usize>) -> bool {
    let first = words.at(subject.start);
    let determined = DETERMINERS.contains(&first) || first.ends_with("'s");
    (determined && subject.len() <= 4) || (subject.len() == 1 && !PATTERNS.is_dull(first))
}
