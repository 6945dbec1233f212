//! Where a line says what the person said, wants, decided or agreed to.
//!
//! "The user wants X", "User: X", "as requested by the user, X", "X (user)", "it was agreed that X", and lines under a title such as
//! "User preferences". What is told of a case ("if the user wants", "ask the user to confirm") or of users of a program is none.

use std::ops::Range;

use super::lexicon::Use;
use super::terms::Term;
use super::terms::Word;
use super::terms::terms_of;
use super::terms::words;

/// Whose word a claim needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backing {
    /// The person's.
    Person,
    /// The person's or the model's: something was decided, and nobody is said to have decided it.
    Anybody,
}

/// A sentence that says what somebody said or wants.
#[derive(Clone, Debug)]
pub struct AttributedClaim {
    /// Where its sentence stands in the line.
    pub range: Range<usize>,
    /// Whose word it needs.
    pub backing: Backing,
    /// What it says they said.
    pub(super) terms: Vec<Term>,
}

/// What is found in a sentence.
struct Found {
    backing: Backing,
    /// Words that tell whose it is, not what it is.
    frame: Vec<usize>,
    is_denied: bool,
}

/// So many words may stand between the person and the verb.
const REACH: usize = 4;

/// The claims of a line. Every sentence is one where the line stands under a title that makes it the person's.
pub fn attributed_claims(line: &str, is_under_title: bool) -> Vec<AttributedClaim> {
    let skipped = line.len() - without_number(line).len();
    let all = words(&line[skipped..]);
    let mut claims = Vec::new();
    let mut start = 0;
    for end in 0..all.len() {
        if !all[end].ends_sentence && end + 1 < all.len() {
            continue;
        }
        let sentence = &all[start..=end];
        let range = sentence[0].at + skipped..match all.get(end + 1) {
            Some(next) => next.at + skipped,
            None => line.len(),
        };
        start = end + 1;
        let found = find(sentence).or(is_under_title.then_some(Found {
            backing: Backing::Person,
            frame: Vec::new(),
            is_denied: false,
        }));
        let Some(found) = found else { continue };
        let mut content: Vec<Word<'_>> = Vec::with_capacity(sentence.len());
        for (place, word) in sentence.iter().enumerate() {
            if !found.frame.contains(&place) && !is_mark(word.raw) {
                content.push(word.clone());
            } else if let Some(last) = content.last_mut() {
                last.ends_clause |= word.ends_clause;
            }
        }
        claims.push(AttributedClaim {
            range,
            backing: found.backing,
            terms: terms_of(&content, found.is_denied),
        });
    }
    claims
}

/// Whether a title makes the lines below it the person's.
pub fn titles_person(title: &str) -> bool {
    let words = words(title);
    let has = |uses: &[Use]| words.iter().any(|word| word.entry.is_any(uses));
    has(&[Use::Owned]) && words.len() <= REACH
        || has(&[Use::Person]) && has(&[Use::Noun, Use::Owned, Use::Will, Use::Say, Use::Consent])
}

/// Whether a line leads in a list of what the person said.
pub fn leads_in(line: &str) -> bool {
    let bare = line.trim().trim_end_matches(['*', '_']);
    bare.ends_with([':', '：']) && {
        let words = words(bare);
        find(&words).is_some() || titles_person(bare)
    }
}

/// A line without the number of its list.
fn without_number(line: &str) -> &str {
    let text = line.trim_start();
    let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    match rest.len() < text.len() {
        true => rest.strip_prefix(['.', ')']).unwrap_or(line),
        false => line,
    }
}

/// Whether a word is the number of a message.
fn is_mark(word: &str) -> bool {
    let digits = word.strip_prefix('m').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether somebody said or wants something in a sentence.
fn find(words: &[Word<'_>]) -> Option<Found> {
    let people = words.iter().enumerate().filter(|(_, word)| word.entry.is(Use::Person));
    let mut is_person_named = false;
    for (place, _) in people {
        is_person_named = true;
        if is_case(words, place) {
            continue;
        }
        let found = speaker(words, place)
            .or_else(|| by_person(words, place))
            .or_else(|| deed(words, place))
            .or_else(|| property(words, place));
        if found.is_some() {
            return found;
        }
    }
    match is_person_named {
        true => None,
        false => pronoun(words).or_else(|| nobody(words)),
    }
}

fn person(frame: Vec<usize>, is_denied: bool) -> Option<Found> {
    Some(Found {
        backing: Backing::Person,
        frame,
        is_denied,
    })
}

/// Whether the sentence speaks of what may be: "if the user wants", "ask the user". Past tense tells of what was.
fn is_case(words: &[Word<'_>], place: usize) -> bool {
    let before = &words[place.saturating_sub(3)..place];
    let is_past = words[place + 1..].iter().take(REACH).any(|word| is_past(word));
    before.iter().any(|word| word.entry.is(Use::Condition)) && !is_past
}

fn is_past(word: &Word<'_>) -> bool {
    let is_verb = word.entry.is_any(&[Use::Say, Use::Will, Use::Consent, Use::Refuse]);
    let endings = ["ed", "said", "told", "chose", "gave", "wrote", "ил", "ал", "ла", "ился"];
    is_verb && endings.iter().any(|ending| word.folded.ends_with(ending))
}

/// `User: X`, `X (user)`.
fn speaker(words: &[Word<'_>], place: usize) -> Option<Found> {
    let word = &words[place];
    let is_label = matches!(word.behind, Some(':' | '：' | '*')) && word.ends_clause && place <= 2;
    let is_remark = matches!(word.before, Some('(' | '[')) && matches!(word.behind, Some(')' | ']'));
    (is_label || is_remark).then(|| person(vec![place], false)).flatten()
}

/// `requested by the user`, `vom Benutzer genehmigt`.
fn by_person(words: &[Word<'_>], place: usize) -> Option<Found> {
    let itself = words[place].entry.is(Use::By);
    let before = words[..place]
        .iter()
        .rev()
        .find(|word| !(word.entry.is(Use::Determiner) || word.is_joined && word.folded.len() <= 2));
    if !itself && !before.is_some_and(|word| word.entry.is(Use::By)) {
        return None;
    }
    let verbs = [
        Use::Settled,
        Use::Decided,
        Use::Will,
        Use::Consent,
        Use::Refuse,
        Use::Say,
    ];
    let verb = words
        .iter()
        .enumerate()
        .filter(|(at, word)| *at != place && word.entry.is_any(&verbs) && !word.entry.is(Use::Person))
        .min_by_key(|(at, _)| at.abs_diff(place))?;
    // "not asked for by the user" claims nothing.
    if words[verb.0.saturating_sub(2)..verb.0]
        .iter()
        .any(|word| word.entry.is(Use::Negator))
    {
        return None;
    }
    person(vec![place, verb.0], verb.1.entry.is(Use::Refuse))
}

/// `The user wants X`.
fn deed(words: &[Word<'_>], place: usize) -> Option<Found> {
    let verbs = [Use::Say, Use::Will, Use::Consent, Use::Refuse];
    let is_sure = is_certain(words, place);
    let mut reach = REACH;
    let mut is_negated = false;
    for at in place + 1..words.len() {
        if at > place + reach || words[at - 1].ends_clause && at > place + 1 {
            break;
        }
        let word = &words[at];
        let entry = word.entry;
        if word.is_value || matches!(word.folded.as_str(), "to" | "who" | "whose") {
            break;
        }
        is_negated |= entry.is(Use::Negator);
        let is_passive = matches!(
            words[at - 1].folded.as_str(),
            "is" | "are" | "was" | "were" | "be" | "been"
        ) && entry.is_any(&verbs)
            && (is_past(word) || word.folded == "required");
        let is_noun = entry.is(Use::Noun) && !is_sure;
        let is_verb = entry.is_any(&verbs) && !is_passive && !is_noun;
        if !is_verb {
            // "hat den Bericht gewünscht", "a toujours voulu": the verb may stand at the end.
            if at == place + 1 && matches!(word.folded.as_str(), "hat" | "hatte" | "a" | "ha" | "wollte") {
                reach = words.len();
            }
            continue;
        }
        // What somebody has not said or agreed to gives no right to anything.
        if is_negated && entry.is_any(&[Use::Say, Use::Consent]) && !entry.is(Use::Will) {
            return None;
        }
        // Who lifts a rule must have said that it is lifted; that somebody wants or says something needs no words of its own.
        let is_act = entry.concept.is_some_and(|concept| concept.is_act);
        let mut frame = vec![place];
        frame.extend((!is_act).then_some(at));
        let next = words
            .get(at + 1)
            .filter(|next| next.entry.is_any(&[Use::Noun, Use::Say]));
        frame.extend(next.filter(|_| entry.is(Use::Consent)).map(|_| at + 1));
        // "approved X and wants Y": the second verb belongs to the frame, too.
        let joined = words.windows(2).enumerate().skip(at);
        let joined =
            joined.filter(|(_, two)| two[0].entry.is(Use::Break) && two[1].entry.is_any(&verbs) && is_third(&two[1]));
        frame.extend(joined.map(|(first, _)| first + 1));
        return person(frame, entry.is(Use::Refuse) && !entry.is(Use::Will));
    }
    None
}

/// Whether a verb is in the third person or the past.
fn is_third(word: &Word<'_>) -> bool {
    word.folded.ends_with('s') || is_past(word)
}

/// Whether a name of a person is the one who is worked for: with an article, at the beginning, or of another language. "user
/// requests" may be requests that a server gets.
fn is_certain(words: &[Word<'_>], place: usize) -> bool {
    let word = &words[place];
    let is_determined = place
        .checked_sub(1)
        .is_some_and(|before| words[before].entry.is_any(&[Use::Determiner, Use::By]) || words[before].is_joined);
    place == 0
        || word.begins
        || word.is_joined
        || is_determined
        || word.raw.starts_with(char::is_uppercase)
        || !matches!(word.folded.as_str(), "user" | "person" | "human" | "customer" | "owner")
}

/// `the user's request: X`, `по просьбе пользователя`, `user constraint: X`.
fn property(words: &[Word<'_>], place: usize) -> Option<Found> {
    if !is_certain(words, place) {
        return None;
    }
    let is_noun = |at: &usize| {
        let word = &words[*at];
        word.entry.is_any(&[Use::Noun, Use::Owned]) && !word.is_value
    };
    let mut after =
        (place + 1..words.len().min(place + 4)).take_while(|at| !words[at - 1].ends_clause || words[*at].raw == "s");
    let after = after.find(is_noun);
    let before = (place.saturating_sub(3)..place).rev().find(is_noun);
    // "user's budget: X": whatever it is, it is said to be theirs.
    let is_labelled = words[place].is_joined
        && words[place..]
            .iter()
            .take(REACH)
            .any(|word| matches!(word.behind, Some(':' | '：')));
    match after.or(before) {
        Some(noun) => person(vec![place, noun], false),
        None if is_labelled => person(vec![place], false),
        None => None,
    }
}

/// `They want X`, where nobody else is named.
fn pronoun(words: &[Word<'_>]) -> Option<Found> {
    let (place, _) = words
        .iter()
        .enumerate()
        .find(|(place, word)| word.entry.is(Use::Pronoun) && (*place == 0 || word.begins))?;
    let next = words.get(place + 1)?;
    let is_said = next.entry.is_any(&[Use::Will, Use::Consent, Use::Refuse, Use::Say]);
    // Packages require and need things, too.
    let is_things = [
        "requir", "need", "expect", "allow", "permit", "accept", "add", "set", "call", "note",
    ]
    .iter()
    .any(|verb| next.folded.starts_with(verb));
    (is_said && !is_things)
        .then(|| person(vec![place, place + 1], next.entry.is(Use::Refuse)))
        .flatten()
}

/// `It was agreed that X`, `Decided: X`.
fn nobody(words: &[Word<'_>]) -> Option<Found> {
    let (place, word) = words
        .iter()
        .enumerate()
        .find(|(_, word)| word.entry.is_any(&[Use::Settled, Use::Decided]))?;
    let is_led_in =
        word.begins && (word.behind == Some(':') || word.ends_clause || is_clause_word(words.get(place + 1)));
    let before = &words[place.saturating_sub(2)..place];
    let is_passive = before.iter().any(|word| word.entry.is(Use::Was));
    let has_other = words
        .get(place + 1)
        .is_some_and(|next| matches!(next.folded.as_str(), "by" | "von" | "vom" | "por" | "par"));
    if has_other || !is_led_in && !is_passive {
        return None;
    }
    // A request or an address that was requested is nothing that anybody agreed to.
    if word.folded == "requested" && !is_clause_word(words.get(place + 1)) {
        return None;
    }
    Some(Found {
        backing: match word.entry.is(Use::Settled) {
            true => Backing::Person,
            false => Backing::Anybody,
        },
        frame: vec![place],
        is_denied: false,
    })
}

fn is_clause_word(word: Option<&Word<'_>>) -> bool {
    word.is_some_and(|word| {
        matches!(
            word.folded.as_str(),
            "to" | "that" | "on" | "what" | "что" | "dass" | "zu" | "que" | "de" | "with"
        )
    })
}
