//! A text as the terms that carry its meaning: stems and values, each with whether it is denied.
//!
//! A clause that has a "not" is denied as a whole; behind "without", "instead of" and the like only what follows is. That is
//! coarse, and the same for what is claimed and for what was said, so that a turned meaning shows as a difference.

use rust_stemmers::Algorithm;
use rust_stemmers::Stemmer;

use super::lexicon::Concept;
use super::lexicon::Entry;
use super::lexicon::Use;
use super::lexicon::folded;
use super::lexicon::is_invisible;
use super::lexicon::known;

/// One word of a text, as it stands there.
#[derive(Clone, Debug)]
pub(super) struct Word<'a> {
    /// Where it begins in the text.
    pub(super) at: usize,
    /// The word, without what stands around it.
    pub(super) raw: &'a str,
    /// In lower case, without accents.
    pub(super) folded: String,
    /// What is known of it.
    pub(super) entry: Entry,
    /// Whether it must be spelled exactly: a path, a number, a name in code.
    pub(super) is_value: bool,
    /// Whether a clause ends behind it.
    pub(super) ends_clause: bool,
    /// Whether a sentence ends behind it; a colon ends none.
    pub(super) ends_sentence: bool,
    /// Whether a sentence, or what stands behind a colon, begins with it.
    pub(super) begins: bool,
    /// The last sign that stands directly behind it.
    pub(super) behind: Option<char>,
    /// The last sign that stands directly before it.
    pub(super) before: Option<char>,
    /// Whether an apostrophe joins it to the word behind it.
    pub(super) is_joined: bool,
}

/// Something that a text speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Term {
    /// Its stem, or the value in lower case.
    pub(super) stem: String,
    /// Whether it must be found exactly.
    pub(super) is_value: bool,
    /// Whether the text denies it.
    pub(super) is_denied: bool,
    /// Whether all that its clause denies stands behind one "without" or "instead of", and it does, too.
    pub(super) is_left_out: bool,
    /// Whether its clause names a condition under which it holds.
    pub(super) is_restricted: bool,
    /// What it means besides.
    pub(super) concept: Option<Concept>,
}

/// Longest word that is stemmed; longer ones are no words of a language.
const LONGEST_WORD: usize = 40;

/// Signs that part words wherever they stand.
const PARTS: &str = "()[]{}\"`“”«»„;=|<>";

/// The words of a text.
pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    let mut words: Vec<Word<'_>> = Vec::new();
    let (mut begins, mut opened) = (true, None);
    let mut at = 0;
    for chunk in text.split_inclusive(|letter: char| letter.is_whitespace() || PARTS.contains(letter)) {
        let start = at;
        at += chunk.len();
        let sign = chunk.chars().next_back().filter(|letter| PARTS.contains(*letter));
        let token = match sign {
            Some(sign) => &chunk[..chunk.len() - sign.len_utf8()],
            None => chunk.trim_end(),
        };
        let ends_line = chunk.ends_with('\n');
        let core = token.trim_matches(is_around);
        let lead = token.find(core).unwrap_or_default();
        let (before, behind) = (&token[..lead], &token[lead + core.len()..]);
        let first = words.len();
        split(core, start + lead, &mut words);
        if let Some(word) = words.get_mut(first) {
            word.begins = begins;
            word.before = before.chars().next_back().or(opened);
            begins = false;
        }
        let parts = |signs: &[char]| behind.contains(signs) || core.is_empty() && before.contains(signs);
        let ends_sentence = parts(&['.', '!', '?', '。', '！', '？']) || ends_line;
        let is_led_in = parts(&[':', '：']);
        // A dash between spaces parts clauses, as do brackets and quotes, but for those around one word in code.
        let is_parted = parts(&[',', '—', '–', '，', '、'])
            || core.is_empty() && !token.is_empty()
            || sign.is_some_and(|sign| sign != '`');
        if let Some(word) = words.last_mut() {
            word.behind = sign
                .or(behind.chars().next_back())
                .or(word.behind.filter(|_| core.is_empty()));
            word.ends_sentence |= ends_sentence;
            word.ends_clause |= ends_sentence || is_led_in || is_parted;
        }
        begins |= ends_sentence || is_led_in;
        opened = sign.or(opened.filter(|_| token.is_empty()));
    }
    words
}

/// Signs around a word. A leading slash, dot or dash may belong to a value.
fn is_around(letter: char) -> bool {
    !letter.is_alphanumeric() && !matches!(letter, '/' | '_' | '@' | '#' | '~' | '$' | '%' | '€')
        || matches!(letter, '`' | '*')
}

/// A token as a value, or as the words that it is made of.
fn split<'a>(core: &'a str, at: usize, words: &mut Vec<Word<'a>>) {
    let value = core.trim_end_matches(['/', '%']).trim_start_matches(['#', '@']);
    if is_value(value) {
        let offset = core.find(value).unwrap_or_default();
        push(value, at + offset, true, words);
        return;
    }
    let is_inner = |letter: char| letter.is_alphanumeric() || is_invisible(letter);
    let mut start = None;
    for (place, letter) in core.char_indices() {
        match (start, is_inner(letter)) {
            (None, true) => start = Some(place),
            (Some(from), false) => {
                let is_apostrophe = matches!(letter, '\'' | '’' | '`');
                let piece = &core[from..place];
                // "don't" is one word.
                let rest = &core[place + letter.len_utf8()..];
                if is_apostrophe && rest.eq_ignore_ascii_case("t") && piece.ends_with(['n', 'N']) {
                    push(piece, at + from, false, words);
                    if let Some(word) = words.last_mut() {
                        word.folded.push('t');
                        word.entry = known(&word.folded);
                    }
                    return;
                }
                push(piece, at + from, false, words);
                if let Some(word) = words.last_mut() {
                    word.is_joined = is_apostrophe;
                }
                start = None;
            }
            (None, false) | (Some(_), true) => {}
        }
    }
    if let Some(from) = start {
        push(&core[from..], at + from, false, words);
    }
}

fn push<'a>(raw: &'a str, at: usize, is_value: bool, words: &mut Vec<Word<'a>>) {
    let folded = match is_value {
        true => plain_value(raw),
        false => folded(raw),
    };
    let entry = match is_value {
        true => Entry::default(),
        false => known(&folded),
    };
    words.push(Word {
        at,
        raw,
        folded,
        entry,
        is_value,
        ends_clause: false,
        ends_sentence: false,
        begins: false,
        behind: None,
        before: None,
        is_joined: false,
    });
}

/// Whether a token must be spelled exactly: it has a digit, or signs between its letters that words do not have.
pub(super) fn is_value(token: &str) -> bool {
    let has_letters = token.chars().any(char::is_alphanumeric);
    let inner = token.trim_matches(|letter: char| !letter.is_alphanumeric());
    let is_joined = |sign: char| {
        inner.match_indices(sign).any(|(at, _)| {
            let after = inner[at + sign.len_utf8()..].chars().next();
            after.is_some_and(char::is_alphanumeric)
        })
    };
    let is_camel = token
        .as_bytes()
        .windows(2)
        .any(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase());
    let is_path = token.starts_with(['/', '~']) || token.matches('/').count() > 1;
    has_letters
        && (token.bytes().any(|byte| byte.is_ascii_digit())
            || is_path
            || token.starts_with("--")
            || inner.len() > 3 && ['_', '@', '.', '\\'].into_iter().any(is_joined)
            || inner.contains("::")
            || is_camel && token.len() > 4)
}

/// A value as it is compared: lower case, numbers without separators of thousands.
pub(super) fn plain_value(value: &str) -> String {
    let lower = value.to_lowercase();
    let is_grouped = |sign: char| {
        let mut groups = lower.split(sign);
        let is_number = |group: &str| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit());
        groups.next().is_some_and(|first| is_number(first) && first.len() <= 3)
            && lower.contains(sign)
            && groups.all(|group| is_number(group) && group.len() == 3)
    };
    match [',', '_', '\u{a0}', '\''].into_iter().find(|sign| is_grouped(*sign)) {
        Some(sign) => lower.replace(sign, ""),
        None => lower,
    }
}

/// The terms of a text, in order.
pub(super) fn terms(text: &str) -> Vec<Term> {
    terms_of(&words(text), false)
}

/// The terms of words, all of them turned round where `is_denied`.
pub(super) fn terms_of(words: &[Word<'_>], is_denied: bool) -> Vec<Term> {
    let mut terms = Vec::new();
    let mut start = 0;
    for (place, word) in words.iter().enumerate() {
        let breaks = word.entry.is(Use::Break) && !word.is_value;
        if breaks && place > start {
            clause(&words[start..place], is_denied, &mut terms);
            start = place;
        }
        if word.ends_clause {
            clause(&words[start..=place], is_denied, &mut terms);
            start = place + 1;
        }
    }
    clause(&words[start.min(words.len())..], is_denied, &mut terms);
    terms
}

fn clause(words: &[Word<'_>], is_denied: bool, terms: &mut Vec<Term>) {
    let has = |one: Use| words.iter().any(|word| word.entry.is(one));
    let (mut whole, mut has_contrast) = (false, false);
    let mut next_from: Vec<usize> = Vec::new();
    for (place, word) in words.iter().enumerate() {
        if word.entry.is(Use::Negator) {
            let before = place.checked_sub(1).map(|before| &words[before]);
            let is_contrast = matches!(word.folded.as_str(), "not" | "nicht")
                && before.is_some_and(|before| !before.entry.is(Use::Aux) && !before.entry.is(Use::Dull))
                && words[place + 1..].iter().any(carries_meaning);
            match is_contrast {
                true => {
                    has_contrast = true;
                    next_from.push(place);
                }
                false => whole = true,
            }
        } else if word.entry.is(Use::NegatorNext) {
            next_from.push(place);
        }
    }
    let is_restricted = has(Use::Only) || has(Use::Restricts);
    for (place, word) in words.iter().enumerate() {
        if !carries_meaning(word) {
            continue;
        }
        // Many languages deny twice to deny once, so two turns are one.
        let turned = whole || next_from.iter().any(|from| *from < place);
        terms.push(Term {
            stem: match word.is_value {
                true => word.folded.clone(),
                false => stem(&word.folded),
            },
            is_value: word.is_value,
            is_denied: turned ^ is_denied,
            is_left_out: turned && !whole && !has_contrast && next_from.len() == 1 && !is_denied,
            is_restricted,
            concept: word.entry.concept,
        });
    }
}

/// Whether a word says what a text is about.
pub(super) fn carries_meaning(word: &Word<'_>) -> bool {
    if word.is_value {
        return true;
    }
    let is_turn = word.entry.is_any(&[Use::Negator, Use::NegatorNext]);
    let letters = word.folded.chars().count();
    !is_turn && !word.entry.is(Use::Dull) && (letters >= 2 || word.folded.bytes().any(|byte| byte >= 0x80))
}

/// A stem; of words in other languages than English and Russian what is common of their forms is their beginning.
pub(super) fn stem(word: &str) -> String {
    let language = match word.chars().any(|letter| matches!(letter, '\u{400}'..='\u{4ff}')) {
        true => Algorithm::Russian,
        false => Algorithm::English,
    };
    match word.len() <= LONGEST_WORD {
        true => Stemmer::create(language).stem(word).into_owned(),
        false => word.to_owned(),
    }
}

/// Letters that two stems must share to be forms of one word, and hundredths of the longer one.
const LEAST_SHARED: usize = 4;
const SHARED: usize = 65;

/// Whether two stems are forms of one word.
pub(super) fn are_forms(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let shared = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let longer = one.chars().count().max(other.chars().count());
    shared >= LEAST_SHARED && shared * 100 >= SHARED * longer
}

/// The letters by which forms of a word are looked for.
pub(super) fn beginning(stem: &str) -> &str {
    let end = stem.char_indices().nth(LEAST_SHARED).map_or(stem.len(), |(at, _)| at);
    &stem[..end]
}
