//! Whether two sentences give values of the same thing.

use std::ops::Range;

use crate::ledger::conversation::subject::SentenceSubject;
use crate::ledger::conversation::subject::SubjectTerm;
use crate::ledger::conversation::subject::TermJoint;

/// Terms that may stand between a phrase and its value: "the count *reads* 35", "the code got changed under our *feet*: 35".
const FAR_TERMS: usize = 2;
/// A phrase of so many words names a thing; a single word may be part of many names.
const PHRASE_TERMS: usize = 2;

/// How surely two sentences give values of the same thing, from not at all to certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sameness {
    /// They do not, or nothing tells.
    Other,
    /// They share a phrase with another name beside it, which need not be its value.
    Named,
    /// They have many words in common.
    Related,
    /// They share the phrase, but one of them has more of it: "the port", "the port of the proxy".
    Near,
    /// They share a single word, and the later one does not give the value as that of the word.
    Word,
    /// They share the phrase that has the value.
    Phrase,
    /// They share the phrase, and say nothing of it but the value.
    Exact,
}

/// A phrase that stands in both sentences.
struct SharedPhrase {
    earlier: Range<usize>,
    later: Range<usize>,
}

/// Compares an earlier sentence with a later one, whose own terms are in a range: those around it only say what it is about.
pub fn compare(
    earlier: &SentenceSubject,
    later: &SentenceSubject,
    own: &Range<usize>,
    is_rare: &dyn Fn(&SubjectTerm) -> bool,
) -> Sameness {
    if is_other_object(earlier, later) {
        return Sameness::Other;
    }
    let comparison = Comparison { earlier, later, own };
    let phrases = shared_phrases(earlier, later);
    let judged: Option<Vec<Sameness>> = phrases.iter().map(|phrase| comparison.judge(phrase, is_rare)).collect();
    match judged {
        // What they have in common goes on differently.
        None => Sameness::Other,
        Some(judged) => match judged.into_iter().max() {
            Some(best) if best > Sameness::Other => best,
            Some(_) | None if comparison.is_related() => Sameness::Related,
            Some(_) | None => Sameness::Other,
        },
    }
}

struct Comparison<'a> {
    earlier: &'a SentenceSubject,
    later: &'a SentenceSubject,
    own: &'a Range<usize>,
}

impl Comparison<'_> {
    /// How surely a shared phrase is what has the value; `None` where it is part of two names.
    fn judge(&self, phrase: &SharedPhrase, is_rare: &dyn Fn(&SubjectTerm) -> bool) -> Option<Sameness> {
        let pairs = self.pairs();
        let distance = |pair: &(usize, usize)| {
            let earlier = between(self.earlier, &phrase.earlier, pair.0);
            let later = between(self.later, &phrase.later, pair.1);
            earlier.max(later)
        };
        let Some(pair) = pairs.iter().min_by_key(|pair| distance(pair)) else {
            return Some(Sameness::Other);
        };
        let distance = distance(pair);
        if distance > FAR_TERMS {
            return Some(Sameness::Other);
        }
        let before = (
            neighbour_before(self.earlier, &phrase.earlier, pair.0),
            neighbour_before(self.later, &phrase.later, pair.1),
        );
        let behind = (
            neighbour_behind(self.earlier, &phrase.earlier, pair.0),
            neighbour_behind(self.later, &phrase.later, pair.1),
        );
        // "The staging port", "the admin port": what a phrase goes on with tells two things apart.
        let has_article = !is_cyrillic(&self.later.terms[phrase.later.start].stem);
        if before == (true, true) && has_article || behind == (true, true) {
            return None;
        }
        let is_whole = before == (false, false) && behind == (false, false);
        let is_single = phrase.earlier.len() < PHRASE_TERMS;
        let is_name = !self.earlier.terms[pair.0].is_exact();
        let is_stated = self.is_stated(phrase, pair.1);
        // One word names a thing where hardly anything else is called so. A capital alone makes a name of any noun in some languages:
        // it is the value only of a thing that is seldom spoken of, not of "every year".
        let has_rare_word = self.earlier.terms[phrase.earlier.clone()].iter().any(is_rare);
        let is_told = has_rare_word || !is_single && !is_name;
        Some(match (is_single, is_whole, is_name) {
            _ if !is_told || is_single && !is_whole => Sameness::Other,
            (false, true, false) if distance == 0 && is_stated => Sameness::Exact,
            (false, true, true) if is_stated => Sameness::Phrase,
            (true, true, true) if !is_stated => Sameness::Other,
            (_, _, true) => Sameness::Named,
            (false, true, false) => Sameness::Phrase,
            (true, true, false) if distance == 0 && is_stated => Sameness::Phrase,
            // A word in common beside two values proves nothing by itself: "source failed at 12:40", "the 3 sources".
            (true, true, false) if distance == 0 => Sameness::Word,
            (_, _, false) => Sameness::Near,
        })
    }

    /// Whether the later sentence gives the value as that of the phrase: "the code is 35", not "try the code 35 times".
    fn is_stated(&self, phrase: &SharedPhrase, value: usize) -> bool {
        let second = phrase.later.start.max(value);
        self.later.terms[second].joint == TermJoint::Stated
    }

    /// Values of the earlier sentence with those of one form that the later one gives instead.
    fn pairs(&self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for (index, old) in self.earlier.terms.iter().enumerate() {
            for place in self.own.clone() {
                let new = &self.later.terms[place];
                if old.is_like(new) && !self.earlier.has(&new.stem) {
                    pairs.push((index, place));
                }
            }
        }
        pairs
    }

    /// Whether they have most words in common, and values that can hardly be anything else.
    fn is_related(&self) -> bool {
        let is_exact = |pair: &(usize, usize)| self.earlier.terms[pair.0].is_exact();
        let shared = self.earlier.words().filter(|word| self.later.has(&word.stem)).count();
        let fewer = self.earlier.words().count().min(self.later.words().count());
        shared >= 2 && shared * 2 >= fewer && self.pairs().iter().any(is_exact)
    }
}

/// Whether both name several exact things, and none of them is the same: they speak of different objects.
fn is_other_object(earlier: &SentenceSubject, later: &SentenceSubject) -> bool {
    let exact = |subject: &SentenceSubject| subject.terms.iter().filter(|term| term.is_exact()).count();
    let shares = earlier
        .terms
        .iter()
        .any(|term| term.is_exact() && later.has(&term.stem));
    exact(earlier) > 1 && exact(later) > 1 && !shares
}

/// How many terms stand between a phrase and a value.
fn between(subject: &SentenceSubject, phrase: &Range<usize>, value: usize) -> usize {
    let gap = match value < phrase.start {
        true => value + 1..phrase.start,
        false => phrase.end..value,
    };
    subject.terms.get(gap).map_or(0, <[SubjectTerm]>::len)
}

/// Whether a word is of a language without articles: there an adverb before a phrase cannot be told from a part of it.
fn is_cyrillic(stem: &str) -> bool {
    stem.starts_with(|letter: char| ('а'..='я').contains(&letter))
}

/// Whether a phrase has a word before it that is part of what it names.
fn neighbour_before(subject: &SentenceSubject, phrase: &Range<usize>, value: usize) -> bool {
    let Some(before) = phrase.start.checked_sub(1) else {
        return false;
    };
    before != value && subject.terms[phrase.start].joint == TermJoint::Adjacent && !subject.terms[before].is_exact()
}

/// Whether a phrase goes on behind what is shared of it.
fn neighbour_behind(subject: &SentenceSubject, phrase: &Range<usize>, value: usize) -> bool {
    let next = subject.terms.get(phrase.end);
    next.is_some_and(|next| phrase.end != value && next.joint < TermJoint::Labelled)
}

/// Runs of words, as long as they go, that stand in both sentences as one phrase or part of one.
fn shared_phrases(earlier: &SentenceSubject, later: &SentenceSubject) -> Vec<SharedPhrase> {
    let is_word = |term: &SubjectTerm| !term.is_exact();
    let same = |one: usize, other: usize| {
        let (one, other) = (earlier.terms.get(one), later.terms.get(other));
        one.zip(other)
            .is_some_and(|(one, other)| is_word(one) && is_word(other) && one.stem == other.stem)
    };
    let goes_on = |one: usize, other: usize| {
        same(one, other) && earlier.terms[one].joint < TermJoint::Stated && later.terms[other].joint < TermJoint::Stated
    };
    let mut phrases = Vec::new();
    for start in 0..earlier.terms.len() {
        for place in 0..later.terms.len() {
            let is_inside = start > 0 && place > 0 && goes_on(start, place) && same(start - 1, place - 1);
            if !same(start, place) || is_inside {
                continue;
            }
            let mut length = 1;
            while goes_on(start + length, place + length) {
                length += 1;
            }
            phrases.push(SharedPhrase {
                earlier: start..start + length,
                later: place..place + length,
            });
        }
    }
    phrases
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::statements::words::Words;

    fn sameness(earlier: &str, later: &str) -> Sameness {
        let read = |text: &str| SentenceSubject::read(&Words::read(text, 60));
        let (earlier, later) = (read(earlier), read(later));
        let own = 0..later.terms.len();
        compare(&earlier, &later, &own, &|_| true)
    }

    #[test]
    fn a_shared_phrase_names_the_same_thing() {
        for (earlier, later, expected) in [
            (
                "The door code of the garage is 4711.",
                "The door code of the garage is 1337.",
                Sameness::Exact,
            ),
            (
                "AB-1201 is grandma's train number",
                "grandma's train number is AB-1777",
                Sameness::Exact,
            ),
            // Without a word that states it, the value may be of something else.
            ("Disk usage: 35", "Disk usage: 48", Sameness::Phrase),
            ("Номер вагона 1284.", "Номер вагона 1655.", Sameness::Phrase),
            (
                "Try the door code 3 times.",
                "Try the door code 5 times.",
                Sameness::Phrase,
            ),
            (
                "The contact at the bank is Ilse.",
                "The contact at the bank is Gerda.",
                Sameness::Phrase,
            ),
            (
                "Ask Ilse at the front desk.",
                "Ask Gerda at the front desk.",
                Sameness::Named,
            ),
        ] {
            assert_eq!(sameness(earlier, later), expected, "{earlier} {later}");
        }
    }

    #[test]
    fn what_a_phrase_goes_on_with_tells_things_apart() {
        for (earlier, later) in [
            ("The staging database port is 5432.", "The live database port is 6432."),
            (
                "The door code of the garage is 4711.",
                "The door code of the cellar is 1337.",
            ),
            ("The api port is 8080.", "The api timeout is 3000."),
            ("The red team meets at 10:20.", "The red team leaves at 12:40."),
            ("Set the limit of queue1 to 100.", "Set the limit of queue2 to 200."),
        ] {
            assert_eq!(sameness(earlier, later), Sameness::Other, "{earlier} {later}");
        }
    }

    #[test]
    fn a_longer_name_is_only_near() {
        assert_eq!(
            sameness("The database port is 5432.", "The database port of staging is 6432."),
            Sameness::Near
        );
    }
}
