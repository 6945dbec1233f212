//! What the person said, so that a claim about it can be looked up: every message of theirs with the proposal that it answers.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::collections::HashSet;
use std::sync::OnceLock;

use super::claims::AttributedClaim;
use super::claims::Backing;
use super::claims::attributed_claims;
use super::lexicon::Use;
use super::terms::Term;
use super::terms::Word;
use super::terms::are_forms;
use super::terms::beginning;
use super::terms::stem;
use super::terms::terms;
use super::terms::terms_of;
use super::terms::words;

/// A longer message is looked at in pieces of so many terms that overlap by half: with enough words anything can be found.
const WINDOW: usize = 100;
/// So many terms of the end of a model's text are what a reply answers.
const PROPOSAL: usize = 60;
/// A choice among alternatives is made in so few words.
const MOST_CHOOSING: usize = 8;
/// How far into a message its yes or no stands, in words.
const REPLY_WITHIN: usize = 4;

const OWN: u8 = 1;
const OWN_DENIED: u8 = 2;
const PROPOSED: u8 = 4;
const PROPOSED_DENIED: u8 = 8;
const RESTRICTED: u8 = 16;

/// How a message answers what the model said before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    Choice(usize),
    Other,
}

#[derive(Clone, Debug)]
struct Utterance {
    answer: Answer,
    is_cyrillic: bool,
}

/// Everything that the person said, by its terms.
#[derive(Clone, Debug, Default)]
pub struct SpokenRecord {
    spoken: Index,
    /// What the model said last, until it is answered.
    proposal: Option<String>,
    /// What the model said, for what somebody decided.
    answers: Vec<String>,
    decided: OnceLock<Box<Index>>,
}

#[derive(Clone, Debug, Default)]
struct Index {
    utterances: Vec<Utterance>,
    stems: HashMap<String, BTreeMap<u32, u8>>,
    /// Stems by their first letters.
    beginnings: HashMap<String, HashSet<String>>,
    concepts: HashMap<u8, BTreeMap<u32, u8>>,
}

impl SpokenRecord {
    /// Takes in what the person wrote.
    pub fn hear_person(&mut self, text: &str) {
        let proposal = self.proposal.take();
        self.spoken.add_message(&own_lines(text), proposal.as_deref());
    }

    /// Takes in instructions, which bind as the person's words do and answer nobody.
    pub fn hear_instructions(&mut self, text: &str) {
        self.spoken.add_message(text, None);
    }

    /// Takes in what the model wrote.
    pub fn hear_model(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.proposal = Some(text.to_owned());
            self.answers.push(text.to_owned());
            self.decided = OnceLock::new();
        }
    }

    /// Takes in a line of an earlier summary that was found to be the person's when it was new.
    pub fn hear_earlier(&mut self, line: &str) {
        for claim in attributed_claims(line, true) {
            self.spoken.add(Answer::Other, &claim.terms, &[]);
        }
    }

    /// Whether somebody whose word a claim needs said it.
    pub fn supports(&self, claim: &AttributedClaim) -> bool {
        self.spoken.supports(&claim.terms) || claim.backing == Backing::Anybody && self.decided().supports(&claim.terms)
    }

    fn decided(&self) -> &Index {
        self.decided.get_or_init(|| {
            let mut index = Index::default();
            for text in &self.answers {
                index.add_message(text, None);
            }
            Box::new(index)
        })
    }
}

/// What a person typed of a message: not what they pasted in fences or quoted, nor what a program put between tags.
fn own_lines(text: &str) -> String {
    let (mut own, mut is_fenced, mut tag) = (String::with_capacity(text.len()), false, None::<String>);
    for line in text.lines() {
        let bare = line.trim_start();
        if let Some(close) = &tag {
            if line.contains(close.as_str()) {
                tag = None;
            }
            continue;
        }
        if bare.starts_with("```") {
            is_fenced = !is_fenced;
            continue;
        }
        if let Some(name) = opened_tag(bare) {
            let close = format!("</{name}>");
            tag = (!line.contains(&close)).then_some(close);
            continue;
        }
        if !is_fenced && !bare.starts_with('>') {
            own.push_str(line);
            own.push('\n');
        }
    }
    own
}

/// The name of a tag of several words that opens a line: `<system-reminder>`, `<command_output>`.
fn opened_tag(line: &str) -> Option<&str> {
    let (name, _) = line.strip_prefix('<')?.split_once('>')?;
    let is_name = name
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_'));
    (is_name && name.contains(['-', '_'])).then_some(name)
}

impl Index {
    fn add_message(&mut self, text: &str, proposal: Option<&str>) {
        let said = words(text);
        let own = terms_of(&said, false);
        let (mut answer, mut proposed) = (Answer::Other, Vec::new());
        if let Some(proposal) = proposal {
            let alternatives = alternatives(proposal);
            answer = answer_of(&said, alternatives.len());
            proposed = match answer {
                Answer::Choice(chosen) => chosen_terms(&alternatives, chosen),
                Answer::Yes | Answer::No | Answer::Other => {
                    let all = terms(proposal);
                    all[all.len().saturating_sub(PROPOSAL)..].to_vec()
                }
            };
        }
        self.add(answer, &own[..own.len().min(WINDOW)], &proposed);
        let mut start = WINDOW / 2;
        while start + WINDOW / 2 < own.len() {
            self.add(Answer::Other, &own[start..own.len().min(start + WINDOW)], &[]);
            start += WINDOW / 2;
        }
    }

    fn add(&mut self, answer: Answer, own: &[Term], proposed: &[Term]) {
        let place = self.utterances.len() as u32;
        let is_cyrillic = own.iter().any(|term| is_cyrillic(&term.stem));
        self.utterances.push(Utterance { answer, is_cyrillic });
        for (list, flags) in [(own, [OWN, OWN_DENIED]), (proposed, [PROPOSED, PROPOSED_DENIED])] {
            for term in list {
                let restricted = if term.is_restricted { RESTRICTED } else { 0 };
                self.note(place, &term.stem, flags[usize::from(term.is_denied)] | restricted);
                if let Some(concept) = term.concept {
                    let is_denied = term.is_denied ^ concept.is_opposite;
                    let seen = self.concepts.entry(concept.id).or_default();
                    *seen.entry(place).or_default() |= flags[usize::from(is_denied)] | restricted;
                }
                if term.is_value {
                    // A file is known by its name, a name by the words in it.
                    let pieces = term.stem.split(|letter: char| !letter.is_alphanumeric());
                    let file = term.stem.rsplit('/').next().filter(|file| file.len() < term.stem.len());
                    let is_word = |piece: &&str| piece.chars().count() > 2;
                    for piece in pieces.filter(is_word).map(stem).chain(file.map(str::to_owned)) {
                        self.note(place, &piece, flags[usize::from(term.is_denied)]);
                    }
                }
            }
        }
    }

    fn note(&mut self, place: u32, stem: &str, flags: u8) {
        if !self.stems.contains_key(stem) {
            let alike = self.beginnings.entry(beginning(stem).to_owned()).or_default();
            alike.insert(stem.to_owned());
        }
        *self.stems.entry(stem.to_owned()).or_default().entry(place).or_default() |= flags;
    }

    /// Where a term was spoken of, and how.
    fn seen(&self, term: &Term) -> BTreeMap<u32, u8> {
        let mut seen: BTreeMap<u32, u8> = BTreeMap::new();
        let mut join = |found: &BTreeMap<u32, u8>| {
            for (place, flags) in found {
                *seen.entry(*place).or_default() |= flags;
            }
        };
        if term.is_value {
            let file = term.stem.rsplit('/').next().unwrap_or_default();
            for value in [&*term.stem, file] {
                self.stems.get(value).map(&mut join);
            }
            return seen;
        }
        let alike = self.beginnings.get(beginning(&term.stem)).into_iter().flatten();
        for stem in alike.filter(|stem| are_forms(stem, &term.stem)) {
            self.stems.get(stem).map(&mut join);
        }
        if let Some(concept) = term.concept
            && let Some(found) = self.concepts.get(&concept.id)
        {
            for (place, flags) in found {
                let flags = if concept.is_opposite { turned(*flags) } else { *flags };
                *seen.entry(*place).or_default() |= flags;
            }
        }
        seen
    }

    fn supports(&self, terms: &[Term]) -> bool {
        let terms = once_each(terms);
        if terms.is_empty() {
            return true;
        }
        let seen: Vec<BTreeMap<u32, u8>> = terms.iter().map(|(term, _)| self.seen(term)).collect();
        let places: HashSet<u32> = seen.iter().flat_map(|found| found.keys().copied()).collect();
        places.into_iter().any(|place| {
            let flags: Vec<u8> = seen
                .iter()
                .map(|found| found.get(&place).copied().unwrap_or(0))
                .collect();
            is_said(&terms, &flags, &self.utterances[place as usize])
        })
    }
}

/// Whether what one message says, with what it answers, says this.
fn is_said(terms: &[(Term, Option<bool>)], flags: &[u8], utterance: &Utterance) -> bool {
    let own = flags.iter().filter(|flags| **flags & (OWN | OWN_DENIED) != 0).count();
    // A reply that says it in its own words turns nothing of what it answers round.
    let only_fills = utterance.answer == Answer::Other || utterance.answer == Answer::No && own * 2 >= terms.len();
    let (mut matched, mut conflicts, mut exact) = (0, 0, 0);
    for ((term, denied), flags) in terms.iter().zip(flags) {
        let is_act = term.concept.is_some_and(|concept| concept.is_act);
        let said = match (flags & (OWN | OWN_DENIED), (flags & (PROPOSED | PROPOSED_DENIED)) >> 2) {
            (0, 0) if term.is_value || is_act && *denied != Some(true) => return false,
            (0, 0) => continue,
            (0, _) if only_fills => OWN | OWN_DENIED,
            (0, proposed) if utterance.answer == Answer::No => turned(proposed),
            (0, proposed) => proposed,
            (own, _) => own,
        };
        matched += 1;
        exact += usize::from(term.is_value || term.concept.is_some());
        let is_restricted = term.is_restricted && flags & RESTRICTED != 0;
        let is_conflict = match denied {
            Some(true) => said & OWN_DENIED == 0,
            Some(false) => said & OWN == 0,
            None => false,
        };
        if is_conflict && !is_restricted {
            if term.is_value || is_act {
                return false;
            }
            conflicts += 1;
        }
        // "merged without review", where a review was asked for.
        if is_conflict && term.is_left_out && *denied == Some(true) {
            return false;
        }
    }
    if only_fills && own * 4 < terms.len() {
        return false;
    }
    let is_foreign = utterance.is_cyrillic != terms.iter().any(|(term, _)| is_cyrillic(&term.stem));
    // In another alphabet only values and what they are said to do can be told apart.
    let needed = match is_foreign && exact > 0 {
        true => exact,
        false => needed(terms.len()),
    };
    matched >= needed && conflicts * 3 <= matched
}

/// How many of so many terms must be found.
fn needed(terms: usize) -> usize {
    match terms {
        0..=2 => terms,
        3..=10 => (terms * 3).div_ceil(5),
        _ => terms.div_ceil(2),
    }
}

fn turned(flags: u8) -> u8 {
    let (positive, denied) = (flags & (OWN | PROPOSED), flags & (OWN_DENIED | PROPOSED_DENIED));
    positive << 1 | denied >> 1 | flags & RESTRICTED
}

/// Terms without repeats; what is both said and denied is neither.
fn once_each(terms: &[Term]) -> Vec<(Term, Option<bool>)> {
    let mut list: Vec<(Term, Option<bool>)> = Vec::new();
    for term in terms {
        match list.iter_mut().find(|(known, _)| known.stem == term.stem) {
            Some((_, denied)) if *denied != Some(term.is_denied) => *denied = None,
            Some(_) => {}
            None => list.push((term.clone(), Some(term.is_denied))),
        }
    }
    list
}

fn is_cyrillic(stem: &str) -> bool {
    stem.chars().any(|letter| matches!(letter, '\u{400}'..='\u{4ff}'))
}

/// How a message answers.
fn answer_of(words: &[Word<'_>], alternatives: usize) -> Answer {
    let first = words
        .iter()
        .position(|word| word.ends_sentence)
        .map_or(words.len(), |end| end + 1);
    if alternatives > 1 && first <= MOST_CHOOSING {
        let chosen = words[..first].iter().find_map(choice);
        if let Some(chosen) = chosen.filter(|chosen| *chosen < alternatives) {
            return Answer::Choice(chosen);
        }
    }
    let mut answer = Answer::Other;
    for (place, word) in words.iter().take(REPLY_WITHIN).enumerate() {
        let next = words.get(place + 1);
        if word.entry.is(Use::No) {
            return match next.is_some_and(|next| next.entry.is(Use::NotNo)) {
                true => Answer::Yes,
                false => Answer::No,
            };
        }
        if word.entry.is(Use::Yes) {
            answer = Answer::Yes;
            // "please don't" is no yes.
            if word.folded != "please" {
                break;
            }
        }
    }
    answer
}

/// Which alternative a word names. A single letter does where it is a capital.
fn choice(word: &Word<'_>) -> Option<usize> {
    let digits = ["1", "2", "3"].iter().position(|digit| *digit == word.raw);
    let named = [Use::First, Use::Second, Use::Third]
        .iter()
        .position(|one| word.entry.is(*one));
    let is_letter = word.raw.len() == 1;
    digits.or(named.filter(|_| !is_letter || word.raw.bytes().all(|byte| byte.is_ascii_uppercase())))
}

/// The alternatives that a text ends with: the items of its last numbered list, or what stands around its last "or".
fn alternatives(text: &str) -> Vec<Vec<Term>> {
    let mut items: Vec<&str> = Vec::new();
    for line in text.lines() {
        let bare = line.trim_start().trim_start_matches(['*', '-', ' ']);
        let rest = bare.strip_prefix(|letter: char| letter.is_ascii_digit() || ('A'..='C').contains(&letter));
        if let Some(item) = rest.and_then(|rest| rest.strip_prefix(['.', ')', ':'])) {
            if bare.starts_with(['1', 'A']) {
                items.clear();
            }
            items.push(item);
        }
    }
    if items.len() > 1 {
        return items.into_iter().map(terms).collect();
    }
    let words = words(text);
    let sentences = words.split_inclusive(|word| word.ends_sentence);
    let is_either = |word: &Word<'_>| word.entry.is(Use::Either) && !word.is_value;
    match sentences.rev().find(|sentence| sentence.iter().any(is_either)) {
        Some(sentence) => sentence.split(is_either).map(|part| terms_of(part, false)).collect(),
        None => Vec::new(),
    }
}

/// The terms of alternatives of which one was chosen: the others were not.
fn chosen_terms(alternatives: &[Vec<Term>], chosen: usize) -> Vec<Term> {
    let turned = |place: usize, term: &Term| Term {
        is_denied: term.is_denied ^ (place != chosen),
        ..term.clone()
    };
    let all = alternatives.iter().enumerate();
    all.flat_map(|(place, terms)| terms.iter().map(move |term| turned(place, term)))
        .collect()
}
