//! Links an earlier sentence of the person to a later one that gives another value for the same thing.
//!
//! Two sentences speak of the same thing where they share the phrase that names it, or where the later one names the old value. A link is
//! certain where, besides, the later sentence has words of correction, or both do nothing but give a value of that phrase. Otherwise
//! the earlier sentence only points at the later one: both stay, in order, and the reader decides. Two sentences about different
//! objects (another id, name or path) are not linked. The cost of a message is its length: every word leads to its newest few
//! sentences.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use serde::Serialize;

use crate::ledger::conversation::correction_words::CueStrength;
use crate::ledger::conversation::correction_words::cue_of;
use crate::ledger::conversation::correction_words::has_cue_phrase;
use crate::ledger::conversation::record::ConversationRecord;
use crate::ledger::conversation::record::LaterWord;
use crate::ledger::conversation::record::Speaker;
use crate::ledger::conversation::same_thing::Sameness;
use crate::ledger::conversation::same_thing::compare;
use crate::ledger::conversation::subject::SentenceSubject;
use crate::ledger::conversation::subject::SubjectTerm;
use crate::ledger::conversation::subject::TermJoint;
use crate::ledger::statements::patterns::List;
use crate::ledger::statements::patterns::PATTERNS;
use crate::ledger::statements::value::Shape;
use crate::ledger::statements::words::Break;
use crate::ledger::statements::words::Words;

/// Sentences that a word leads to: the newest ones. Older ones about the same thing were linked when these came.
const SENTENCES_A_WORD: usize = 12;
/// A word that leads to no more sentences than this tells what a sentence is about on its own.
const RARE_WORD_SENTENCES: usize = 3;
/// Words of a sentence that are looked at.
const SENTENCE_WORDS: usize = 60;
/// A message of more sentences is a brief or a document: it gives values of many things and corrects nothing, because corrections are short.
const CORRECTING_SENTENCES: usize = 24;
/// Sentences of one message that are remembered.
const SENTENCES_A_MESSAGE: usize = 64;
/// A sentence with at most this many words of its own is about what stands beside it: "The port? That'd be 1490".
const BARE_WORDS: usize = 1;
/// An old value of at least this many characters is known again wherever it stands.
const TELLING_CHARACTERS: usize = 3;

/// A message of at most this many sentences that begins with an apology says one thing.
const APOLOGY_SENTENCES: usize = 2;
/// Messages of the person before an apology that it may be about.
const APOLOGY_MESSAGES: usize = 4;
/// How messages begin that take back what their writer said, in lower case.
const APOLOGIES: [&str; 13] = [
    "sorry",
    "oops",
    "whoops",
    "correction",
    "i meant",
    "my bad",
    "typo",
    "entschuldigung",
    "извини",
    "ошибся",
    "perdón",
    "pardon",
    "抱歉",
];

/// A sentence of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct SentencePlace {
    record: u32,
    sentence: u32,
}

/// Where words and values stand in the person's sentences that give a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubjectIndex {
    subjects: BTreeMap<u32, Vec<(u32, SentenceSubject)>>,
    by_word: BTreeMap<Box<str>, Vec<SentencePlace>>,
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

/// A sentence as it is compared with earlier ones.
struct LaterSentence {
    /// Its terms, and those of its neighbours where it says little itself.
    subject: SentenceSubject,
    /// Which of the terms are its own.
    own: Range<usize>,
    /// What its words, and those beside it, say about correction.
    cue: CueStrength,
}

impl SubjectIndex {
    /// Takes in a record at its position, and finds the earlier sentences that it bears on.
    pub fn learn(&mut self, position: usize, record: &ConversationRecord) -> Vec<FoundLink> {
        if record.speaker != Speaker::Person {
            return Vec::new();
        }
        let may_correct = record.sentences.len() <= CORRECTING_SENTENCES;
        let read: Vec<ReadSentence> = record
            .sentences
            .iter()
            .map(|sentence| {
                let words = record.words_of(sentence);
                if sentence.signs.pasted || !is_plain_sentence(words) {
                    return Default::default();
                }
                let words = Words::read(words, SENTENCE_WORDS);
                let cue = match sentence.signs.corrects {
                    true => CueStrength::Strong,
                    false => cue_in(&words),
                };
                (SentenceSubject::read(&words), cue)
            })
            .collect();
        let mut links = Vec::new();
        let giving = (0..read.len()).filter(|index| read[*index].0.values().next().is_some());
        for index in giving.take(SENTENCES_A_MESSAGE) {
            let later = LaterSentence::read(&read, index);
            if may_correct && !record.sentences[index].signs.question {
                let word = LaterWord {
                    message: record.number,
                    record: position as u32,
                    sentence: index as u32,
                    corrects: false,
                };
                // "scratch 1758. 1474": the sentence beside it is the first half of the same correction.
                let is_half = |link: &FoundLink| {
                    link.record == position
                        && read[link.sentence].1 > CueStrength::None
                        && beside(&read, index).any(|place| place == link.sentence)
                };
                let found = self.links(word, &later);
                let is_alone = found.is_empty() && record.sentences.len() <= APOLOGY_SENTENCES;
                if is_alone && apologises(record.words_of(&record.sentences[0])) {
                    links.extend(self.newest_like(word, &later));
                }
                links.extend(found.into_iter().filter(|link| !is_half(link)));
            }
            let place = SentencePlace {
                record: position as u32,
                sentence: index as u32,
            };
            self.insert(place, earlier_subject(&read, index));
        }
        links
    }

    fn insert(&mut self, place: SentencePlace, subject: SentenceSubject) {
        let push = |places: &mut Vec<SentencePlace>| {
            if places.last() == Some(&place) {
                return;
            }
            places.push(place);
            if places.len() > SENTENCES_A_WORD {
                places.remove(0);
            }
        };
        for word in subject.words() {
            push(self.by_word.entry(word.stem.clone()).or_default());
        }
        for value in subject.values() {
            push(self.by_value.entry(value.stem.clone()).or_default());
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

    /// The earlier sentences that a sentence bears on.
    fn links(&self, word: LaterWord, later: &LaterSentence) -> Vec<FoundLink> {
        let mut found = self.by_old_value(later);
        for place in self.sharing_words(later) {
            let Some(earlier) = self.subject(place) else { continue };
            let is_rare = |word: &SubjectTerm| {
                let places = self.by_word.get(&word.stem).map_or(0, Vec::len);
                places <= RARE_WORD_SENTENCES
            };
            let sameness = compare(earlier, &later.subject, &later.own, &is_rare);
            let corrects = match (sameness, later.cue) {
                (Sameness::Other, _) | (Sameness::Named, CueStrength::None) => continue,
                // Without words of correction a single word must stand nowhere else: not "source", of which everything speaks.
                (Sameness::Word, CueStrength::None) if !self.shares_unique_word(earlier, later) => continue,
                // Sentences of one message that nothing sets against each other give values of different things.
                (_, CueStrength::None) | (Sameness::Related, _) if place.record == word.record => continue,
                // "avocet-54 的更新日志还得补上", and the same of bittern-39.
                (Sameness::Exact | Sameness::Phrase, cue)
                    if cue < CueStrength::Strong && later.is_about_its_value() =>
                {
                    continue;
                }
                (Sameness::Exact, _) => true,
                (Sameness::Phrase | Sameness::Word, cue) => cue > CueStrength::None,
                (Sameness::Near | Sameness::Named, cue) => cue == CueStrength::Strong,
                (Sameness::Related, _) => false,
            };
            // Nobody is sent on to the message that they are reading.
            if place.record == word.record && !corrects {
                continue;
            }
            let known = found.entry(place).or_insert(corrects);
            *known |= corrects;
        }
        let links = found.into_iter().map(|(place, corrects)| FoundLink {
            record: place.record as usize,
            sentence: place.sentence as usize,
            later: LaterWord { corrects, ..word },
        });
        links.collect()
    }

    /// "Sorry, version would be v0.4.2": the newest message that gave one value of this form, however it named it.
    fn newest_like(&self, word: LaterWord, later: &LaterSentence) -> Option<FoundLink> {
        let mut own = later.subject.terms[later.own.clone()]
            .iter()
            .filter(|term| term.is_exact());
        let (value, None) = (own.next()?, own.next()) else {
            return None;
        };
        // A bare number is a value of anything.
        if value.form == Some(Shape::Number) {
            return None;
        }
        let earlier = self.subjects.range(..word.record).rev().take(APOLOGY_MESSAGES);
        for (record, sentences) in earlier {
            let gives = |(_, subject): &&(u32, SentenceSubject)| subject.values().any(|term| term.is_like(value));
            let mut giving = sentences.iter().filter(gives);
            if let Some((sentence, _)) = giving.next() {
                return giving.next().is_none().then_some(FoundLink {
                    record: *record as usize,
                    sentence: *sentence as usize,
                    later: LaterWord { corrects: true, ..word },
                });
            }
        }
        None
    }

    /// Whether a sentence gives a value, and does not take it back itself.
    fn gives(&self, place: SentencePlace, value: &SubjectTerm) -> bool {
        let terms = self.subject(place).map_or(&[][..], |subject| &subject.terms);
        terms.iter().any(|term| term.stem == value.stem && !term.is_rejected)
    }

    /// Whether two sentences share a word that no other sentence has.
    fn shares_unique_word(&self, earlier: &SentenceSubject, later: &LaterSentence) -> bool {
        let is_unique = |word: &SubjectTerm| self.by_word.get(&word.stem).is_some_and(|places| places.len() == 1);
        earlier
            .words()
            .any(|word| later.subject.has(&word.stem) && is_unique(word))
    }

    fn sharing_words(&self, later: &LaterSentence) -> Vec<SentencePlace> {
        let words = later.subject.words();
        let mut places: Vec<SentencePlace> = words
            .filter_map(|word| self.by_word.get(&word.stem))
            .flatten()
            .copied()
            .collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// "Replace 21:35 by 10:20", "not 8080 but 9090": the earlier sentences whose value is named beside a new one.
    fn by_old_value(&self, later: &LaterSentence) -> BTreeMap<SentencePlace, bool> {
        let mut found = BTreeMap::new();
        let own = &later.subject.terms[later.own.clone()];
        for old in later.subject.values() {
            let is_certain = old.is_rejected || later.cue == CueStrength::Strong;
            // A name stands in many sentences that are not about its being the value of something.
            if !old.is_exact() && !old.is_rejected {
                continue;
            }
            let news: Vec<&SubjectTerm> = own.iter().filter(|new| old.is_like(new) && !new.is_rejected).collect();
            let is_known = |new: &&SubjectTerm| self.by_value.contains_key(&new.stem);
            // Of two values that were both given before, only words tell which is the old one.
            let is_told = old.is_rejected || !news.iter().any(is_known);
            if news.is_empty() || later.cue == CueStrength::None && !old.is_rejected {
                continue;
            }
            let places = self.by_value.get(&old.stem).map_or(&[][..], Vec::as_slice);
            let places: Vec<SentencePlace> = places.iter().copied().filter(|place| self.gives(*place, old)).collect();
            let is_about = |place: &&SentencePlace| {
                let earlier = self.subject(**place);
                earlier.is_some_and(|earlier| {
                    let mut words = earlier
                        .words()
                        .filter(|word| !old.is_like(word) && word.stem != old.stem);
                    let gives_new = news.iter().any(|new| earlier.has(&new.stem));
                    !gives_new && words.any(|word| later.subject.has(&word.stem))
                })
            };
            let mut about: Vec<SentencePlace> = places.iter().filter(is_about).copied().collect();
            if about.is_empty() && is_certain && is_told && is_telling(old) {
                // It names nothing but the values: the newest sentence that gave the old one is meant.
                about.extend(places.last());
            }
            found.extend(about.into_iter().map(|place| (place, is_certain)));
        }
        found
    }
}

/// Whether a sentence begins by taking back what its writer said.
fn apologises(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let behind = APOLOGIES.iter().find_map(|words| lower.strip_prefix(words));
    // "Sorry for the late reply" takes nothing back.
    behind.is_some_and(|behind| {
        let next = behind.trim_start();
        lower.starts_with("i meant")
            || next.starts_with([',', ':', ';', '.', '!', '-', '–', '—', '，', '：'])
            || next.starts_with("i meant")
    })
}

/// Whether a value is hardly ever used for two things: not "3", nor a word with a capital that may begin a sentence.
fn is_telling(value: &SubjectTerm) -> bool {
    value.stem.chars().count() >= TELLING_CHARACTERS
}

/// A sentence of a message as it was read: its subject, and what its words say about correction.
type ReadSentence = (SentenceSubject, CueStrength);

/// Whether a sentence says so little that it is about what stands beside it: "the read replica… we switched. tinkai-ro".
fn is_bare(subject: &SentenceSubject) -> bool {
    subject.words().filter(|word| word.form.is_none()).count() <= BARE_WORDS
}

fn gives_exact_value((subject, _): &ReadSentence) -> bool {
    subject.values().any(SubjectTerm::is_exact)
}

/// Sentences beside one, in order.
fn beside(read: &[ReadSentence], index: usize) -> impl Iterator<Item = usize> {
    let around = [index.checked_sub(2), index.checked_sub(1), Some(index + 1)];
    let last = read.len();
    around.into_iter().flatten().filter(move |place| *place < last)
}

/// What a sentence is about when a later one is compared with it: no value but its own.
fn earlier_subject(read: &[ReadSentence], index: usize) -> SentenceSubject {
    let around: Vec<usize> = beside(read, index)
        .filter(|place| is_bare(&read[index].0) && !gives_exact_value(&read[*place]))
        .collect();
    joined(read, index, &around).0
}

impl LaterSentence {
    /// Whether the sentence begins with a value and goes on in a script without spaces: there it is what the sentence is about, and
    /// all that follows is one word to us.
    fn is_about_its_value(&self) -> bool {
        let mut own = self.subject.terms[self.own.clone()].iter();
        let first = own
            .next()
            .is_some_and(|term| self.subject.values().any(|value| std::ptr::eq(value, term)));
        first
            && own
                .next()
                .is_some_and(|term| term.stem.starts_with(|letter: char| letter >= '\u{2e80}'))
    }

    fn read(read: &[ReadSentence], index: usize) -> Self {
        // A neighbour that gives a value of its own speaks of something else, unless it takes that value back.
        let around: Vec<usize> = beside(read, index)
            .filter(|place| !gives_exact_value(&read[*place]) || read[*place].1 > CueStrength::None)
            .collect();
        // Words of correction in the next sentence speak of this one: "the count is 35. Ignore the other number."
        let cues = around.iter().map(|place| read[*place].1);
        let cue = cues.fold(read[index].1, CueStrength::max);
        let around = if is_bare(&read[index].0) { around } else { Vec::new() };
        let (subject, own) = joined(read, index, &around);
        Self { subject, own, cue }
    }
}

/// The terms of a sentence among those of others, in order, and where its own stand.
fn joined(read: &[ReadSentence], index: usize, around: &[usize]) -> (SentenceSubject, Range<usize>) {
    let mut places = around.to_vec();
    places.push(index);
    places.sort_unstable();
    let mut subject = SentenceSubject::default();
    let mut own = 0..0;
    for place in places {
        let start = subject.terms.len();
        subject.terms.extend(read[place].0.terms.iter().cloned());
        if place == index {
            own = start..subject.terms.len();
        } else if let Some(first) = subject.terms.get_mut(start) {
            first.joint = TermJoint::Apart;
        }
    }
    (subject, own)
}

/// Whether a sentence is something that people say: neither a line of a log, of a configuration or of code, nor quoted or pasted.
fn is_plain_sentence(sentence: &str) -> bool {
    const LONGEST: usize = 240;
    const SHORT: usize = 40;
    sentence.len() <= LONGEST
        && !sentence.starts_with(['>', '[', '`', '$', '❯', '-', '+', '{'])
        && !sentence.contains("://")
        && !sentence.contains(['{', '}', '<', '|'])
        && (is_prose(sentence) || sentence.chars().count() <= SHORT)
}

/// Whether most of a text is words. Values may be long, so words count besides letters.
fn is_prose(text: &str) -> bool {
    let letters = text
        .chars()
        .filter(|letter| letter.is_alphabetic() || letter.is_whitespace());
    let is_word = |word: &&str| {
        let word = word.trim_matches(|letter: char| letter.is_ascii_punctuation());
        !word.is_empty()
            && word
                .chars()
                .all(|letter| letter.is_alphabetic() || matches!(letter, '\'' | '’' | '-'))
    };
    let words = text.split_whitespace();
    letters.count() * 4 >= text.chars().count() * 3 || words.clone().filter(is_word).count() * 3 >= words.count() * 2
}

/// What the words of a sentence say about correction. At its beginning "now" only says what comes next.
fn cue_in(words: &Words<'_>) -> CueStrength {
    let plain: Vec<&str> = (0..words.len()).map(|index| words.at(index)).collect();
    let mut strongest = match has_cue_phrase(&plain.join(" ")) {
        true => CueStrength::Weak,
        false => CueStrength::None,
    };
    let mut has_begun = false;
    for index in 0..words.len() {
        let word = words.at(index);
        let cue = cue_of(word);
        if cue == CueStrength::Strong || has_begun {
            strongest = strongest.max(cue);
        }
        if words.after(index) == Break::Arrow {
            strongest = CueStrength::Strong;
        }
        has_begun |= cue == CueStrength::None && !PATTERNS.is(List::Filler, word);
    }
    strongest
}

#[cfg(test)]
#[path = "links_tests.rs"]
mod tests;
