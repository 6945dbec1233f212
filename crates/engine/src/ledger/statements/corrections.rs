//! Values that are taken in, and values that are taken back: by the subject that is named, by the old value that is named, or by
//! the newest value that looks alike.

use std::ops::Range;

use crate::ledger::facts::Claim;
use crate::ledger::facts::Facts;
use crate::ledger::statements::Recent;
use crate::ledger::statements::Statements;
use crate::ledger::statements::claims;
use crate::ledger::statements::claims::key_of;
use crate::ledger::statements::patterns::Hit;
use crate::ledger::statements::patterns::PATTERNS;
use crate::ledger::statements::patterns::Says;
use crate::ledger::statements::phrase::Slot;
use crate::ledger::statements::sentence::Sentence;
use crate::ledger::statements::value::Shape;
use crate::ledger::statements::value::extent;
use crate::ledger::statements::value::shape_of;
use crate::ledger::statements::words::Break;
use crate::ledger::statements::words::Words;
use crate::transcript::Author;

/// So many of the person's newest values can be meant by a correction that names none.
const MOST_RECENT: usize = 12;

/// A correction that names nothing is short: "no, beta.corp", "scratch that, 9090".
const LONGEST_BARE: usize = 8;

impl Statements {
    /// Takes in the values that a sentence gives or takes back.
    pub(super) fn take_values(&mut self, index: u32, sentence: &Sentence<'_>, author: Author, facts: &mut Facts) {
        let by_user = author == Author::User;
        let found = claims::find(&sentence.words, &sentence.hits, by_user);
        let corrects = sentence.says(Says::Correct);
        let words = sentence.shown();
        let mut taken = false;
        for claim in found {
            let value = sentence.words.raw(claim.value.clone());
            if let Some(current) = facts.current(&claim.key)
                && !corrects
                && claim.shape == Shape::Plain
                && strong_text(&current.value)
            {
                // "The server is slow" says nothing against "the server is alpha.corp".
                continue;
            }
            taken = true;
            let claimed = Claim {
                key: &claim.key,
                value,
                words: &words,
                author,
                message: index,
            };
            self.claim(claimed, claim.shape, facts);
        }
        if by_user && !taken {
            self.correct(index, sentence, &words, facts);
            self.follow_arrows(index, sentence, &words, facts);
        }
    }

    /// "alpha-1 -> beta-2": whatever was alpha-1.
    fn follow_arrows(&mut self, index: u32, sentence: &Sentence<'_>, words: &str, facts: &mut Facts) {
        let all = &sentence.words;
        for place in (0..all.len()).filter(|place| all.after(*place) == Break::Arrow) {
            let (value, shape) = extent(all, place + 1..all.len());
            if let Some(key) = self.key_of_value(all.raw(place..place + 1), facts)
                && !value.is_empty()
            {
                self.claim(corrected(&key, all.raw(value), words, index), shape, facts);
            }
        }
    }

    fn claim(&mut self, claim: Claim<'_>, shape: Shape, facts: &mut Facts) {
        facts.claim(claim);
        if claim.author == Author::User {
            self.recent.retain(|known| *known.key != *claim.key);
            self.recent.push(Recent {
                key: claim.key.into(),
                shape,
            });
            if self.recent.len() > MOST_RECENT {
                self.recent.remove(0);
            }
        } else if facts
            .current(claim.key)
            .is_some_and(|current| current.author == Author::User)
        {
            self.pending.facts.push(claim.key.into());
        }
    }

    /// A correction that names no subject with a value.
    fn correct(&mut self, index: u32, sentence: &Sentence<'_>, words: &str, facts: &mut Facts) {
        for hit in sentence.hits(Says::Correct) {
            let old = hit.slot(Slot::Old).map(|range| extent(&sentence.words, range).0);
            let new = hit.slot(Slot::Value).map(|range| new_value(sentence, hit, range));
            let old_text = old
                .map(|range| sentence.words.raw(range))
                .filter(|text| !text.is_empty());
            let subject = hit
                .slot(Slot::Subject)
                .and_then(|range| key_of(&sentence.words, range))
                .map(|(key, _)| key);
            let named = subject.filter(|key| facts.current(key).is_some());
            let key = named.or_else(|| old_text.and_then(|old| self.key_of_value(old, facts)));
            match (new, key) {
                (Some((value, shape)), Some(key)) if !value.is_empty() => {
                    self.claim(corrected(&key, value, words, index), shape, facts);
                    return;
                }
                // A sentence that names what it speaks of does not mean the newest value of something else.
                (Some((value, shape)), None) if old_text.is_none() && shape.is_strong() && !names_more(sentence) => {
                    if let Some(key) = self.recent_key(shape) {
                        self.claim(corrected(&key, value, words, index), shape, facts);
                        return;
                    }
                }
                (None, Some(key)) if old_text.is_some() => {
                    facts.retract(&key, index, words);
                    return;
                }
                _ => {}
            }
        }
        self.correct_bare(index, sentence, words, facts);
    }

    /// "Actually beta.corp": the newest value of the same form.
    fn correct_bare(&mut self, index: u32, sentence: &Sentence<'_>, words: &str, facts: &mut Facts) {
        let bare = sentence.hits(Says::Correct).any(|hit| hit.slots.is_empty()) || sentence.says(Says::Refuse);
        if !bare || sentence.words.len() > LONGEST_BARE || sentence.question || means_more(sentence) {
            return;
        }
        let values: Vec<(usize, Shape)> = (0..sentence.words.len())
            .map(|place| (place, shape_of(&sentence.words, place)))
            .filter(|(_, shape)| shape.is_strong())
            .collect();
        if let [(place, shape)] = values[..]
            && let Some(key) = self.recent_key(shape)
        {
            let value = sentence.words.raw(place..place + 1);
            self.claim(corrected(&key, value, words, index), shape, facts);
        }
    }

    /// The key of a value that is named as no longer right: in full, or by its first part.
    fn key_of_value(&self, old: &str, facts: &Facts) -> Option<String> {
        if let Some(key) = facts.keys_of(old).next_back() {
            return Some(key.to_owned());
        }
        let old = old.to_lowercase();
        let part_of = |recent: &&Recent| {
            facts.current(&recent.key).is_some_and(|current| {
                let value = current.value.to_lowercase();
                old.len() >= 3 && value.split([' ', '.', ':', '/']).any(|part| part == old)
            })
        };
        self.recent
            .iter()
            .rev()
            .find(part_of)
            .map(|recent| recent.key.to_string())
    }

    fn recent_key(&self, shape: Shape) -> Option<String> {
        // A few statements back is what people still mean by "actually".
        const NEAR: usize = 4;
        let newest = self
            .recent
            .iter()
            .rev()
            .take(NEAR)
            .find(|recent| recent.shape == shape)?;
        Some(newest.key.to_string())
    }
}

/// "Don't forget the notes of api-3" refuses nothing and corrects nothing: a bare correction says the new value and hardly more.
fn means_more(sentence: &Sentence<'_>) -> bool {
    let other = [Says::Todo, Says::Rule, Says::Done, Says::Decide];
    other.into_iter().any(|says| sentence.says(says)) || names_more(sentence)
}

/// Whether a sentence has words of its own besides a value and what corrects: they say what it is about.
fn names_more(sentence: &Sentence<'_>) -> bool {
    let telling = |place: &usize| {
        let told = |hit: &Hit| matches!(hit.says, Says::Correct | Says::Refuse) && hit.words.contains(place);
        !shape_of(&sentence.words, *place).is_strong()
            && !PATTERNS.is_dull(sentence.words.at(*place))
            && !sentence.hits.iter().any(told)
    };
    (0..sentence.words.len()).filter(telling).count() > 1
}

fn corrected<'a>(key: &'a str, value: &'a str, words: &'a str, message: u32) -> Claim<'a> {
    Claim {
        key,
        value,
        words,
        author: Author::User,
        message,
    }
}

/// The new value of a correction. Before the word that contrasts it stands at the end of its clause, after it at the beginning.
fn new_value<'a>(sentence: &Sentence<'a>, hit: &Hit, range: Range<usize>) -> (&'a str, Shape) {
    let words = &sentence.words;
    if range.end == hit.words.start && range.len() > 1 {
        let last = range.end - 1;
        return (words.raw(last..range.end), shape_of(words, last));
    }
    let (value, shape) = extent(words, range);
    (words.raw(value), shape)
}

/// Whether a stored value is of a form that a plain word does not replace.
fn strong_text(value: &str) -> bool {
    let words = Words::read(value, 4);
    (0..words.len()).any(|index| shape_of(&words, index).is_strong())
}
