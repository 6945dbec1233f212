//! What a sentence is about: its meaningful words in order, which of them may be values, and how each is joined to the one before.
//!
//! Words that are joined without a verb or a pause between them form a phrase, and a phrase is what names a thing: "the door code of
//! the garage". Two sentences speak of the same thing where they share a phrase; single words in common prove little.

use serde::Deserialize;
use serde::Serialize;

use crate::ledger::conversation::correction_words::CueStrength;
use crate::ledger::conversation::correction_words::cue_of;
use crate::ledger::conversation::correction_words::is_cue;
use crate::ledger::conversation::correction_words::is_listed;
use crate::ledger::statements::patterns::List;
use crate::ledger::statements::patterns::PATTERNS;
use crate::ledger::statements::value::Shape;
use crate::ledger::statements::value::shape_of;
use crate::ledger::statements::words::Break;
use crate::ledger::statements::words::Words;
use crate::ledger::statements::words::is_sign;
use crate::ledger::statements::words::stem;

/// Up to this many words a sentence that begins with a capital may begin with a name.
const NAME_WORDS: usize = 5;

/// How a term is joined to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TermJoint {
    /// Nothing stands between them.
    Adjacent,
    /// Prepositions and articles: "code of the garage".
    Linked,
    /// A sign behind a label: "code: 35". Logs and configurations are full of them.
    Labelled,
    /// Words by which a value is given: "the code is 35", "35 as the code".
    Stated,
    /// Another verb, a pause, or the beginning of the sentence.
    Apart,
}

/// A meaningful word of a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubjectTerm {
    /// Its stem; of a value the value as it was written, in lower case.
    pub stem: Box<str>,
    /// Its form where it may be a value.
    pub(in crate::ledger) form: Option<Shape>,
    /// The word behind a number that says what it counts: minutes, euros.
    pub unit: Option<Box<str>>,
    /// How it is joined to the term before it.
    pub joint: TermJoint,
    /// Whether the words before it set it aside: "not 8080", "instead of 8080".
    #[serde(default)]
    pub is_rejected: bool,
}

impl SubjectTerm {
    /// Whether it can hardly be anything but a value: a number, a time, an id with digits. Names and words with a hyphen may be
    /// part of what something is called.
    pub fn is_exact(&self) -> bool {
        self.form.is_some_and(Shape::is_strong) && !is_compound(&self.stem)
    }

    /// Whether both are values of one form, and not the same: both times, both numbers of minutes, both names.
    pub fn is_like(&self, other: &Self) -> bool {
        let is_unit_alike = match (&self.unit, &other.unit) {
            (Some(one), Some(other)) => one == other,
            (None, _) | (_, None) => true,
        };
        self.form.is_some() && self.form == other.form && self.stem != other.stem && is_unit_alike
    }
}

/// What a sentence is about, and the values it gives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentenceSubject {
    /// Its meaningful words, in order.
    pub terms: Vec<SubjectTerm>,
}

impl SentenceSubject {
    /// Reads a sentence. What is quoted from somebody else says nothing here.
    pub(in crate::ledger) fn read(words: &Words<'_>) -> Self {
        let mut subject = Self::default();
        let mut joint = TermJoint::Apart;
        let mut index = 0;
        while index < words.len() {
            let form = form_of(words, index).filter(|_| !words.list[index].quoted);
            let unit = form.and_then(|form| unit_behind(words, index, form));
            let width = 1 + usize::from(unit.is_some());
            match stem_of(words, index, form) {
                Some(stem) => {
                    subject.terms.push(SubjectTerm {
                        stem,
                        form,
                        unit,
                        joint,
                        is_rejected: form.is_some() && is_rejected(words, index),
                    });
                    joint = TermJoint::Adjacent;
                }
                None => joint = joint.max(joint_by(words.at(index))),
            }
            joint = joint.max(match words.after(index + width - 1) {
                Break::None => TermJoint::Adjacent,
                Break::Colon | Break::Dash => TermJoint::Labelled,
                Break::Comma | Break::Arrow | Break::Semicolon | Break::End => TermJoint::Apart,
            });
            index += width;
        }
        subject
    }

    /// Words that tell what it is about: everything that is not certainly a value.
    pub fn words(&self) -> impl Iterator<Item = &SubjectTerm> {
        self.terms.iter().filter(|term| !term.is_exact())
    }

    /// What may be its values.
    pub fn values(&self) -> impl Iterator<Item = &SubjectTerm> {
        self.terms.iter().filter(|term| term.form.is_some())
    }

    /// Whether a term of it is this one.
    pub fn has(&self, stem: &str) -> bool {
        self.terms.iter().any(|term| *term.stem == *stem)
    }
}

/// Prepositions and articles by which a phrase goes on, in their plain form.
const LINKING: &str = "of for at in on the a an our my your their its this these to der die das des dem den von vom für bei beim im am zum \
    zur mein meine unser unsere от для в на у из по к с de del la el los las para en le les du au aux à pour d 的";

/// Words between a thing and its value, in their plain form.
const STATING: &str = "is are was were be been has have as it's that's that'd reads equals means becomes remains stays currently ist sind \
    war wird als lautet heißt gilt bleibt derzeit это был была было будет сейчас теперь равен равно es son era será est \
    sont était sera 是";

/// Words of German before a noun, in their plain form.
const GERMAN_DETERMINERS: &str = "der die das dem den ein eine einen einem einer eines kein keine keinen mein meine meinen meinem meiner \
    dein deine deinen sein seine seinen seinem seiner ihr ihre ihren ihrem ihrer unser unsere unseren unserem unserer euer eure vom \
    zum zur beim ins ans jeder jede jedes jeden dieser diese dieses diesen";

/// Words of German, Spanish, French and Russian that carry no meaning of their own.
const FUNCTION_WORDS: &str = "лучше дня als bei beim hat habe haben hatte ab aus nach vor wie noch auch mal schon sich uns euch mir dir mich dich ihm ihn da \
    dann hier man wurde bin kann im am zum zur vom um über unter durch gegen so was nimm falls bevor eben lo le se te me \
    nos como está están fue ce cette ces on sur avec c'est вот про речь кстати так раз себя пиши";

/// Words that set aside what stands behind them, besides words of negation.
const REJECTING: &str = "scratch strike forget ignore disregard drop replace swap instead away isn't wasn't statt anstatt streich streiche \
    vergiss ersetze tausche вместо вычеркни замени забудь tacha olvida reemplaza sustituye vez oublie remplace lieu";

/// Words that may stand between a word that rejects and what it rejects, besides those by which a phrase goes on.
const BETWEEN: &str = "be use about by mehr mit про sur";

/// Words before an old value and behind it, where a new one follows: "from 8080 to 9090".
const FROM: &str = "from von с со de du 从";
const TO: &str = "to auf nach zu на a à au 到 成";

/// Whether the words around one set it aside.
fn is_rejected(words: &Words<'_>, index: usize) -> bool {
    let is_start = index > 0 && is_listed(FROM, words.at(index - 1));
    let behind = index + 1..index + 3;
    if is_start && behind.into_iter().any(|next| is_listed(TO, words.at(next))) {
        return true;
    }
    for before in (index.saturating_sub(3)..index).rev() {
        let word = words.at(before);
        if words.after(before) > Break::None {
            return false;
        }
        if is_listed(REJECTING, word) || PATTERNS.is(List::Negation, word) {
            return true;
        }
        if !is_listed(LINKING, word) && !is_listed(BETWEEN, word) {
            return false;
        }
    }
    false
}

/// The stem of a word that tells what a sentence is about; of a value the value itself.
fn stem_of(words: &Words<'_>, index: usize, form: Option<Shape>) -> Option<Box<str>> {
    let word = words.at(index);
    match form {
        Some(form) if form.is_strong() => Some(word.into()),
        None if is_sign_pair(words, index) => Some(format!("{word}{}", words.at(index + 1)).into()),
        None if says_nothing(word) || words.list[index].quoted => None,
        Some(_) | None => Some(stem(root(word)).into()),
    }
}

/// How a word without meaning joins those around it.
fn joint_by(word: &str) -> TermJoint {
    if is_listed(LINKING, word) {
        TermJoint::Linked
    } else if is_listed(STATING, word) {
        TermJoint::Stated
    } else if cue_of(word) == CueStrength::Weak {
        // "The port now is 9090" is still one statement.
        TermJoint::Linked
    } else {
        TermJoint::Apart
    }
}

/// A word without what is joined to it by an apostrophe: "that" of "that'd", "heure" of "l'heure".
fn root(word: &str) -> &str {
    const ELIDED: usize = 2;
    match word.split_once('\'') {
        Some((head, rest)) if head.chars().count() <= ELIDED => rest,
        Some((head, _)) => head,
        None => word,
    }
}

fn says_nothing(word: &str) -> bool {
    let is_plain = |word: &str| {
        PATTERNS.is_dull(word)
            || PATTERNS.is(List::Negation, word)
            || PATTERNS.is(List::Filler, word)
            || is_listed(FUNCTION_WORDS, word)
    };
    let root = root(word);
    // Whoever is addressed is not what is spoken of.
    let is_address = word.starts_with('@');
    root.chars().count() < 2
        || is_address
        || is_plain(word)
        || is_plain(root)
        || is_listed(STATING, word)
        || is_cue(word)
}

/// Whether two signs of a script without spaces stand side by side: together they make a word, alone they say little.
fn is_sign_pair(words: &Words<'_>, index: usize) -> bool {
    let is_told = |word: &str| word.starts_with(is_sign) && !PATTERNS.is_dull(word) && !is_cue(word);
    is_told(words.at(index)) && words.after(index) == Break::None && is_told(words.at(index + 1))
}

/// The form of a word that may be a value; names count, and so do words made of several by hyphens.
fn form_of(words: &Words<'_>, index: usize) -> Option<Shape> {
    let word = words.at(index);
    match shape_of(words, index) {
        Shape::Plain if is_compound(word) => Some(Shape::Id),
        Shape::Plain => None,
        Shape::Name if is_compound(word) && word.is_ascii() => Some(Shape::Id),
        // Every sentence begins with a capital; a name on its own does, too.
        Shape::Name if index == 0 && words.len() > NAME_WORDS && !is_set_off(words) => None,
        // "Go" inside of a sentence is a name, whatever "go" is.
        Shape::Name if index == 0 && says_nothing(word) => None,
        Shape::Name if is_cue(word) || word.chars().count() < 2 || word.contains('\'') => None,
        Shape::Name if is_listed(LINKING, word) || is_listed(STATING, word) => None,
        // German writes every noun with a capital: "der Bäcker" is not what somebody is called.
        Shape::Name if index > 0 && is_listed(GERMAN_DETERMINERS, words.at(index - 1)) => None,
        Shape::Name => Some(Shape::Name),
        form => Some(form),
    }
}

/// Whether the first word of a sentence stands by itself: "Morwenna is the one", "Hamish, since today".
fn is_set_off(words: &Words<'_>) -> bool {
    words.after(0) > Break::None || is_listed(STATING, words.at(1))
}

/// Whether a word is made of several by hyphens.
pub fn is_compound(word: &str) -> bool {
    word.split_once('-').is_some_and(|(one, other)| {
        let is_part = |part: &str| part.chars().count() > 1 && part.chars().all(char::is_alphabetic);
        is_part(one) && other.split('-').all(is_part)
    })
}

/// The word behind a number that says what it counts.
fn unit_behind(words: &Words<'_>, index: usize, form: Shape) -> Option<Box<str>> {
    if form != Shape::Number || words.after(index) != Break::None || index + 1 >= words.len() {
        return None;
    }
    let next = words.at(index + 1);
    let is_word = next.chars().all(char::is_alphabetic)
        && !next.starts_with(is_sign)
        && !says_nothing(next)
        && !PATTERNS.is(List::Joint, next)
        && !is_listed(LINKING, next);
    is_word.then(|| stem(next).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(text: &str) -> Vec<String> {
        let subject = SentenceSubject::read(&Words::read(text, 60));
        subject.terms.iter().map(|term| term.stem.to_string()).collect()
    }

    #[test]
    fn a_phrase_goes_on_through_prepositions_and_ends_at_verbs_and_pauses() {
        let subject = SentenceSubject::read(&Words::read("The door code of the garage is 23080, as usual.", 60));
        let joints: Vec<TermJoint> = subject.terms.iter().map(|term| term.joint).collect();
        assert_eq!(
            joints,
            [
                TermJoint::Apart,
                TermJoint::Adjacent,
                TermJoint::Linked,
                TermJoint::Stated,
                TermJoint::Apart
            ]
        );
    }

    #[test]
    fn signs_make_words_in_pairs() {
        assert_eq!(stems("门禁密码是8080"), ["门禁", "禁密", "密码", "8080"]);
    }

    #[test]
    fn a_first_word_is_a_name_where_it_stands_by_itself() {
        let form = |text: &str| SentenceSubject::read(&Words::read(text, 60)).terms[0].form;
        assert_eq!(form("Morwenna is what we have for on-call duty"), Some(Shape::Name));
        assert_eq!(form("Restart the gateway of the staging cluster tonight"), None);
    }

    #[test]
    fn what_somebody_else_said_is_left_out() {
        assert_eq!(
            stems("Bob wrote \"the api port is 9090 these days\"."),
            ["bob", "wrote"]
        );
    }

    #[test]
    fn compounds_have_hyphens_between_letters() {
        for word in ["tinkai-ro", "cut-off", "eu-west"] {
            assert!(is_compound(word), "{word}");
        }
        for word in ["plain", "-x", "a-", "--flag", "x-y", "well-.", "db-11"] {
            assert!(!is_compound(word), "{word}");
        }
    }
}
