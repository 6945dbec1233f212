//! Links an earlier sentence of the person to a later one that gives another value for the same thing.
//!
//! A link is certain where the later sentence has words of correction, names the old value beside a new one, or speaks of the same subject
//! in nearly the same words. Otherwise the earlier sentence only points at the later one: both stay, in order, and the reader
//! decides. Two sentences about different objects (another id, name or path) are not linked. The cost of a message is its
//! length: every word leads to its newest few sentences.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;

use crate::ledger::conversation::correction_words::CUES;
use crate::ledger::conversation::correction_words::TAKES_BACK;
use crate::ledger::conversation::record::ConversationRecord;
use crate::ledger::conversation::record::LaterWord;
use crate::ledger::conversation::record::Speaker;
use crate::ledger::statements::patterns::List;
use crate::ledger::statements::patterns::PATTERNS;
use crate::ledger::statements::value::Shape;
use crate::ledger::statements::value::shape_of;
use crate::ledger::statements::words::Break;
use crate::ledger::statements::words::Words;
use crate::ledger::statements::words::stem;

/// Sentences that a word leads to: the newest ones. Older ones about the same thing were linked when these came.
const SENTENCES_A_WORD: usize = 12;
/// A word that leads to no more sentences than this tells what a sentence is about on its own.
const RARE_WORD_SENTENCES: usize = 3;
/// Words of a sentence that are looked at.
const SENTENCE_WORDS: usize = 60;
/// A sentence of so few words that begins with a capital may begin with a name.
const NAME_WORDS: usize = 5;
/// A message longer than this is a brief or a document: its sentences give values of many things, and corrections are short.
const MESSAGE_SENTENCES: usize = 24;

/// A sentence of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct SentencePlace {
    record: u32,
    sentence: u32,
}

/// A value that a sentence gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct GivenValue {
    text: Box<str>,
    form: Shape,
    /// The word behind a number: minutes, euros.
    unit: Option<Box<str>>,
}

/// What a sentence is about, and the values it gives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct SentenceSubject {
    stems: Vec<Box<str>>,
    values: Vec<GivenValue>,
}

/// Where words and values stand in the person's sentences that give a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubjectIndex {
    subjects: BTreeMap<u32, Vec<(u32, SentenceSubject)>>,
    by_stem: BTreeMap<Box<str>, Vec<SentencePlace>>,
    by_value: BTreeMap<Box<str>, Vec<SentencePlace>>,
}

/// A link that was found: the earlier sentence and what bears on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundLink {
    /// The position of the earlier record.
    pub record: usize,
    /// The sentence in it.
    pub sentence: usize,
    /// The later message.
    pub later: LaterWord,
}

impl SubjectIndex {
    /// Takes in a record at its position, and finds the earlier sentences that it bears on.
    pub fn learn(&mut self, position: usize, record: &ConversationRecord) -> Vec<FoundLink> {
        if record.speaker != Speaker::Person || record.sentences.len() > MESSAGE_SENTENCES {
            return Vec::new();
        }
        let mut links = Vec::new();
        let subjects: Vec<(SentenceSubject, bool)> = record
            .sentences
            .iter()
            .map(|sentence| {
                let words = Words::read(record.words_of(sentence), SENTENCE_WORDS);
                (subject_of(&words), sentence.signs.corrects || has_cue(&words))
            })
            .collect();
        for (index, (subject, corrects)) in subjects.iter().enumerate() {
            if subject.values.is_empty() || !is_plain_sentence(record.words_of(&record.sentences[index])) {
                continue;
            }
            let wide = with_neighbours(&subjects, index);
            let place = SentencePlace {
                record: position as u32,
                sentence: index as u32,
            };
            // "The port? That'd be 1490": a sentence that only gives the value is about what stands beside it.
            let own = match subject.stems.len() {
                0 | 1 => SentenceSubject {
                    stems: wide.0.stems.clone(),
                    values: subject.values.clone(),
                },
                _ => subject.clone(),
            };
            if record.sentences[index].signs.question {
                self.insert(place, own);
                continue;
            }
            let later = LaterWord {
                message: record.number,
                record: position as u32,
                sentence: index as u32,
                corrects: false,
            };
            let corrects = *corrects || wide.1;
            // Within one message only words of correction make a link: sentences side by side give values of different things.
            let found = self.links(later, subject, &wide.0, corrects);
            let takes_back = TAKES_BACK
                .iter()
                .any(|cue| has_word(record.words_of(&record.sentences[index]), cue));
            links.extend(found.into_iter().filter(|link| link.record != position || takes_back));
            self.insert(place, own);
        }
        links
    }

    fn insert(&mut self, place: SentencePlace, subject: SentenceSubject) {
        let push = |places: &mut Vec<SentencePlace>| {
            places.push(place);
            if places.len() > SENTENCES_A_WORD {
                places.remove(0);
            }
        };
        for stem in &subject.stems {
            push(self.by_stem.entry(stem.clone()).or_default());
        }
        for value in &subject.values {
            push(self.by_value.entry(value.text.clone()).or_default());
        }
        self.subjects
            .entry(place.record)
            .or_default()
            .push((place.sentence, subject));
    }

    fn subject(&self, place: SentencePlace) -> Option<&SentenceSubject> {
        let sentences = self.subjects.get(&place.record)?;
        let found = sentences.iter().find(|(sentence, _)| *sentence == place.sentence);
        found.map(|(_, subject)| subject)
    }

    /// The earlier sentences that a sentence bears on. `wide` is its subject with that of its neighbours.
    fn links(
        &self,
        later: LaterWord,
        subject: &SentenceSubject,
        wide: &SentenceSubject,
        corrects: bool,
    ) -> Vec<FoundLink> {
        let mut found: BTreeMap<SentencePlace, bool> = BTreeMap::new();
        // "replace 21:35 by 10:20", "not 8080 but 9090": old and new value side by side.
        for value in &wide.values {
            for place in self.by_value.get(&value.text).into_iter().flatten() {
                let Some(earlier) = self.subject(*place) else {
                    continue;
                };
                let new = subject
                    .values
                    .iter()
                    .find(|new| is_like(value, new) && !self.by_value.contains_key(&new.text));
                if new.is_some() && (corrects || shared_stems(earlier, wide) > 0) {
                    found.insert(*place, corrects);
                }
            }
        }
        let mut candidates: BTreeMap<SentencePlace, (usize, bool)> = BTreeMap::new();
        for stem in &wide.stems {
            let places = self.by_stem.get(stem).map_or(&[][..], Vec::as_slice);
            let is_rare = places.len() <= RARE_WORD_SENTENCES;
            for place in places {
                let (shared, rare) = candidates.entry(*place).or_default();
                *shared += 1;
                *rare |= is_rare;
            }
        }
        for (place, (shared, is_rare)) in candidates {
            let Some(earlier) = self.subject(place) else {
                continue;
            };
            if !gives_another_value(earlier, subject, wide) {
                continue;
            }
            let fewer = earlier.stems.len().min(wide.stems.len());
            let is_same = shared >= 2 && shared * 2 >= fewer;
            let is_nearly_equal = shared >= 2 && shared * 3 >= fewer * 2;
            let is_named = is_rare && (corrects || fewer <= 3);
            // Names and words with a hyphen are often no values at all: between them only nearly equal subjects make a link.
            if !is_nearly_equal && !shares_exact_form(earlier, subject) {
                continue;
            }
            if is_same || is_named {
                let is_certain = corrects && (is_same || fewer <= 2);
                let known = found.entry(place).or_insert(is_certain);
                *known |= is_certain;
            }
        }
        let links = found.into_iter().map(|(place, corrects)| FoundLink {
            record: place.record as usize,
            sentence: place.sentence as usize,
            later: LaterWord { corrects, ..later },
        });
        links.collect()
    }
}

/// A sentence's subject together with that of the sentences beside it: "the read replica… we switched. tinkai-ro".
fn with_neighbours(subjects: &[(SentenceSubject, bool)], index: usize) -> (SentenceSubject, bool) {
    let mut wide = subjects[index].0.clone();
    let mut corrects = false;
    let around = [index.checked_sub(2), index.checked_sub(1), Some(index + 1)];
    for place in around.into_iter().flatten() {
        let Some((other, is_correction)) = subjects.get(place) else {
            continue;
        };
        // A neighbour that gives a value of its own speaks of something else, unless it takes that value back.
        let is_other = !other.values.is_empty() && !is_correction;
        if is_other {
            continue;
        }
        corrects |= is_correction;
        for stem in &other.stems {
            if !wide.stems.contains(stem) {
                wide.stems.push(stem.clone());
            }
        }
        for value in &other.values {
            if !wide.values.contains(value) {
                wide.values.push(value.clone());
            }
        }
    }
    (wide, corrects)
}

fn shared_stems(one: &SentenceSubject, other: &SentenceSubject) -> usize {
    one.stems.iter().filter(|stem| other.stems.contains(stem)).count()
}

/// Whether two values are of one form: both times, both numbers of minutes, both names.
fn is_like(one: &GivenValue, other: &GivenValue) -> bool {
    let is_unit_alike = match (&one.unit, &other.unit) {
        (Some(one), Some(other)) => one == other,
        (None, _) | (_, None) => true,
    };
    one.text != other.text && one.form == other.form && is_unit_alike
}

/// Whether two sentences give values of one form that can hardly be anything but values: numbers, times, versions, paths.
fn shares_exact_form(earlier: &SentenceSubject, later: &SentenceSubject) -> bool {
    let is_exact = |value: &&GivenValue| value.form != Shape::Name && !is_compound(&value.text);
    let mut exact = later.values.iter().filter(is_exact);
    exact.any(|value| {
        earlier
            .values
            .iter()
            .filter(is_exact)
            .any(|known| is_like(known, value))
    })
}

/// Whether a later sentence gives another value of a form that the earlier one has, for the same object as far as they name one.
fn gives_another_value(earlier: &SentenceSubject, later: &SentenceSubject, wide: &SentenceSubject) -> bool {
    let gives = |value: &&GivenValue| {
        let is_known = earlier.values.iter().any(|known| known.text == value.text);
        !is_known && earlier.values.iter().any(|known| is_like(known, value))
    };
    let is_strong = |value: &&GivenValue| value.form != Shape::Name;
    // A capital letter may be that of the first word: "Set queue1 to 5", "Set queue2 to 7".
    let shares_value = earlier
        .values
        .iter()
        .filter(is_strong)
        .any(|known| wide.values.iter().any(|value| value.text == known.text));
    let (ours, theirs) = (
        later.values.iter().filter(is_strong).count(),
        earlier.values.iter().filter(is_strong).count(),
    );
    // Where both name several things and none of them is the same, they speak of different objects.
    let is_other_object = ours > 1 && theirs > 1 && !shares_value;
    later.values.iter().any(|value| gives(&value)) && !is_other_object
}

/// What a sentence is about: stems of its meaningful words that are no values, and its values.
fn subject_of(words: &Words<'_>) -> SentenceSubject {
    let mut subject = SentenceSubject::default();
    let mut index = 0;
    while index < words.len() {
        let word = words.at(index);
        let form = form_of(words, index);
        if let Some(form) = form {
            let unit = unit_behind(words, index, form);
            index += 1 + usize::from(unit.is_some());
            if !subject.values.iter().any(|known| *known.text == *word) {
                subject.values.push(GivenValue {
                    text: word.into(),
                    form,
                    unit,
                });
            }
            continue;
        }
        index += 1;
        let is_plain = PATTERNS.is_dull(word)
            || PATTERNS.is(List::Negation, word)
            || PATTERNS.is(List::Filler, word)
            || CUES.contains(&word);
        if word.chars().count() < 2 || is_plain {
            continue;
        }
        let stem = stem(word);
        if !subject.stems.iter().any(|known| **known == *stem) {
            subject.stems.push(stem.into());
        }
    }
    subject
}

/// The form of a word that is a value; names count, and so do words made of several by hyphens.
fn form_of(words: &Words<'_>, index: usize) -> Option<Shape> {
    let word = words.at(index);
    match shape_of(words, index) {
        Shape::Plain if is_compound(word) => Some(Shape::Id),
        Shape::Plain => None,
        Shape::Name if is_compound(word) && word.is_ascii() => Some(Shape::Id),
        // Every sentence begins with a capital; a name on its own does, too.
        Shape::Name if index == 0 && words.len() > NAME_WORDS => None,
        Shape::Name if PATTERNS.is_dull(word) || PATTERNS.is(List::Filler, word) => None,
        Shape::Name => Some(Shape::Name),
        form => Some(form),
    }
}

/// Whether a word is made of several by hyphens.
pub fn is_compound(word: &str) -> bool {
    word.split_once('-').is_some_and(|(one, other)| {
        let is_part = |part: &str| part.chars().count() > 1 && part.chars().all(char::is_alphanumeric);
        is_part(one) && other.split('-').all(is_part)
    })
}

/// The word behind a number that says what it counts.
fn unit_behind(words: &Words<'_>, index: usize, form: Shape) -> Option<Box<str>> {
    if form != Shape::Number || words.after(index) != Break::None || index + 1 >= words.len() {
        return None;
    }
    let next = words.at(index + 1);
    let is_word = next.chars().all(char::is_alphabetic) && !PATTERNS.is_dull(next) && !PATTERNS.is(List::Joint, next);
    is_word.then(|| stem(next).into())
}

/// Whether a sentence is something that people say: neither a line of a log, of a configuration or of code, nor quoted or pasted.
fn is_plain_sentence(sentence: &str) -> bool {
    const LONGEST: usize = 240;
    let plain = sentence
        .chars()
        .filter(|letter| letter.is_alphabetic() || letter.is_whitespace());
    let is_prose = plain.count() * 4 >= sentence.chars().count() * 3;
    let is_short = sentence.chars().count() <= 24;
    sentence.len() <= LONGEST
        && !sentence.starts_with(['>', '[', '`', '$', '❯', '-', '+', '{'])
        && !sentence.contains("://")
        && (is_prose || is_short && !sentence.contains(['=', '{', '}', '<', '>', '|']))
}

fn has_cue(words: &Words<'_>) -> bool {
    (0..words.len()).any(|index| CUES.contains(&words.at(index)) || words.after(index) == Break::Arrow)
}

fn has_word(text: &str, word: &str) -> bool {
    let lower = text.to_lowercase();
    lower
        .split(|letter: char| !letter.is_alphanumeric())
        .any(|one| one == word)
}

#[cfg(test)]
#[path = "links_tests.rs"]
mod tests;
