//! A fact as it is looked for: its spellings as a whole, and its words where it may be told in another order.

use std::ops::Range;

use memchr::memmem::Finder;

use crate::grade::bearing;
use crate::grade::edges;
use crate::grade::fold::Folded;
use crate::grade::marks;
use crate::grade::words;

/// A fact with only one word that says something is that word, if it is at least so long; shorter ones stand anywhere.
const LEAST_ALONE: usize = 4;

/// A fact, ready to be looked for.
#[derive(Clone, Debug)]
pub struct Phrase {
    /// The fact as a whole, in the spellings of its numbers and compounds.
    whole: Vec<String>,
    /// Spellings that only count where a comma stands before decimals and a point between thousands.
    continental: Vec<String>,
    /// What it says, word for word.
    words: Vec<Word>,
    is_negative: bool,
    is_polarity: bool,
}

/// A word that says something.
#[derive(Clone, Debug)]
struct Word {
    spellings: Vec<String>,
    /// The start that all its forms have, and the word, where it has forms.
    forms: Option<(String, String)>,
}

impl Phrase {
    /// A fact as a bank spells it.
    pub fn new(fact: &str) -> Self {
        let folded = Folded::new(fact).text;
        let bare = folded
            .trim_end_matches(['.', ',', ';', ':'])
            .trim_start_matches([',', ';', ':']);
        let whole = if bare.is_empty() { folded.as_str() } else { bare };
        let (numbers, continental) = number_spellings(whole);
        let mut spellings: Vec<String> = numbers.iter().flat_map(|text| compounds(text)).collect();
        spellings.retain(|text| !text.is_empty());
        let content = content_words(whole);
        let is_alone = content.len() == 1 && content[0].chars().count() < LEAST_ALONE && content[0] != whole;
        Phrase {
            is_negative: bearing::has_denial(whole),
            is_polarity: matches!(whole, "yes" | "no" | "ja" | "nein" | "да" | "нет"),
            words: match is_alone {
                true => Vec::new(),
                false => content.iter().map(|word| Word::new(word)).collect(),
            },
            whole: spellings,
            continental,
        }
    }

    /// Whether a text says it. With `may_be_denied` also where the text denies it.
    pub fn is_in(&self, folded: &Folded, may_be_denied: bool) -> bool {
        let accepts = |place: Range<usize>| may_be_denied || self.is_negative || !bearing::is_denied(folded, &place);
        self.any_whole(folded, &mut { accepts }) || self.is_in_other_words(folded, may_be_denied)
    }

    /// Whether any place at which the text has it as a whole is accepted.
    pub fn any_whole(&self, folded: &Folded, accepts: &mut dyn FnMut(Range<usize>) -> bool) -> bool {
        let text = &folded.text;
        if self.is_polarity {
            let word = &self.whole[0];
            return each(text, word, &mut |place| {
                edges::fit(text, &place) && is_said_alone(folded, &place) && accepts(place)
            });
        }
        let more = self.continental.iter().filter(|_| folded.is_continental);
        for spelling in self.whole.iter().chain(more) {
            if each(text, spelling, &mut |place| edges::fit(text, &place) && accepts(place)) {
                return true;
            }
        }
        match self.words.as_slice() {
            [word] => word.each(folded, accepts),
            _ => false,
        }
    }

    /// Whether all its words stand near each other in one sentence, in any order, and nothing denies them.
    fn is_in_other_words(&self, folded: &Folded, may_be_denied: bool) -> bool {
        if self.words.len() < 2 || self.is_polarity {
            return false;
        }
        let mut hits: Vec<(Range<usize>, usize)> = Vec::new();
        for (index, word) in self.words.iter().enumerate() {
            let known = hits.len();
            word.each(folded, &mut |place| {
                hits.push((place, index));
                false
            });
            if hits.len() == known {
                return false;
            }
        }
        hits.sort_by_key(|(place, index)| (place.start, *index));
        let mut counts = vec![0_usize; self.words.len()];
        let (mut first, mut missing) = (0, self.words.len());
        for last in 0..hits.len() {
            let counted = &mut counts[hits[last].1];
            missing -= usize::from(*counted == 0);
            *counted += 1;
            while counts[hits[first].1] > 1 {
                counts[hits[first].1] -= 1;
                first += 1;
            }
            if missing == 0 {
                let place = hits[first].0.start..hits[last].0.end.max(hits[first].0.end);
                if self.is_told_at(folded, &place, may_be_denied) {
                    return true;
                }
            }
        }
        false
    }

    fn is_told_at(&self, folded: &Folded, place: &Range<usize>, may_be_denied: bool) -> bool {
        // Beside each word that says something, two others. Wider than the two words and one that were tried before: on recorded
        // conversations that finds more of what they say and nothing more of what they do not.
        let most = 3 * self.words.len();
        let told = &folded.text[place.clone()];
        if told.split(' ').take(most + 1).count() > most || folded.spans_sentences(place) {
            return false;
        }
        may_be_denied || self.is_negative || !(bearing::has_denial(told) || bearing::follows_denial(folded, place))
    }

    /// How long it is at its longest: of two facts one of which stands in the other, the longer one is meant.
    pub fn longest(&self) -> usize {
        self.whole.iter().map(String::len).max().unwrap_or(0)
    }

    /// Whether another fact can take its place: one of the same kind, or a number where this one gives a number in words ("move it to 02:10").
    pub fn is_replaced_by(&self, other: &Phrase) -> bool {
        let text = self.whole.first().map_or("", String::as_str);
        let gives_number = || {
            let mut words = text.split_whitespace();
            words.any(|word| word.starts_with(|letter: char| letter.is_ascii_digit()))
        };
        self.kind() == other.kind() || other.kind() == FactKind::Number && gives_number()
    }

    /// Whether it is a number, a path or name, or prose.
    fn kind(&self) -> FactKind {
        let text = self.whole.first().map_or("", String::as_str);
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            FactKind::Number
        } else if !text.contains(' ') && text.contains(['/', '.', '_', '-']) {
            FactKind::Name
        } else {
            FactKind::Prose
        }
    }
}

/// What a fact looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FactKind {
    /// It begins with a number.
    Number,
    /// A path or another identifier.
    Name,
    /// Words.
    Prose,
}

impl Word {
    fn new(word: &str) -> Self {
        let own = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect();
        let spellings = match words::day(word) {
            Some(day) => own(day),
            None if marks::DENYING.contains(&word) => own(marks::DENYING),
            None => number_spellings(word).0,
        };
        let forms = words::inflects(word).then(|| (words::opening(word).to_owned(), word.to_owned()));
        Word {
            forms: forms.filter(|_| spellings.len() == 1),
            spellings,
        }
    }

    fn each(&self, folded: &Folded, accepts: &mut dyn FnMut(Range<usize>) -> bool) -> bool {
        if self.forms.is_some() {
            return self.each_form(folded, accepts);
        }
        let text = &folded.text;
        let mut any = false;
        for spelling in &self.spellings {
            any |= each(text, spelling, &mut |place| edges::fit(text, &place) && accepts(place));
        }
        any
    }

    /// Every place where a form of the word stands by itself.
    fn each_form(&self, folded: &Folded, accepts: &mut dyn FnMut(Range<usize>) -> bool) -> bool {
        let Some((opening, word)) = &self.forms else {
            return false;
        };
        let text = &folded.text;
        each(text, opening, &mut |place| {
            // Forms are little longer than the word; longer runs of letters are something else.
            let most = word.len() + 12;
            let rest = text[place.start..]
                .char_indices()
                .find(|(at, c)| *at > most || !edges::is_word(*c));
            let end = rest.map_or(text.len(), |(at, _)| place.start + at);
            let found = place.start..end;
            words::is_same(word, &text[found.clone()], folded.is_german) && edges::fit(text, &found) && accepts(found)
        })
    }
}

/// Every place of a spelling in a text, overlapping ones too, until one is accepted.
fn each(text: &str, spelling: &str, accepts: &mut dyn FnMut(Range<usize>) -> bool) -> bool {
    let finder = Finder::new(spelling);
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| finder.find(rest.as_bytes())) {
        let start = from + found;
        if accepts(start..start + spelling.len()) {
            return true;
        }
        from = start + text[start..].chars().next().map_or(1, char::len_utf8);
    }
    false
}

/// A yes or a no that is an answer, not a word in a sentence: it opens a sentence and something sets it apart, or it ends one
/// behind a word that announces it.
fn is_said_alone(folded: &Folded, place: &Range<usize>) -> bool {
    let text = &folded.text;
    let behind = text[place.end..].chars().next();
    let ends = behind.is_none_or(|c| matches!(c, '.' | ',' | ';' | ':' | '!' | ')'))
        || text[place.end..].starts_with(" -")
        || folded.begins_sentence(place.end + 1);
    let before = text[..place.start].trim_end();
    let is_announced = [
        ":",
        " is",
        " answer",
        " said",
        " ist",
        " sagte",
        " antwort",
        " ответ",
        " сказал",
    ]
    .iter()
    .any(|word| before.ends_with(word));
    ends && (folded.begins_sentence(place.start) || is_announced)
}

/// The words of a fact that say something, each once.
fn content_words(fact: &str) -> Vec<String> {
    let mut content: Vec<String> = Vec::new();
    for token in fact.split(' ') {
        let word = token.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '/' | '_' | '%' | '~'));
        let word = word.trim_end_matches(['.', '/']);
        let pieces: Vec<&str> = match is_compound(word) {
            true => word.split('-').collect(),
            false => vec![word],
        };
        for piece in pieces {
            if !piece.is_empty() && !words::says_nothing(piece) && !content.iter().any(|known| known == piece) {
                content.push(piece.to_owned());
            }
        }
    }
    content
}

/// `app-scoped`: two words of prose with a hyphen. Names have more of them, or digits and other signs.
fn is_compound(word: &str) -> bool {
    word.matches('-').count() == 1
        && word
            .split('-')
            .all(|piece| piece.len() > 1 && piece.chars().all(char::is_alphabetic))
}

/// A fact with its compounds apart and its words as a compound.
fn compounds(fact: &str) -> Vec<String> {
    let mut spellings = vec![fact.to_owned()];
    let tokens: Vec<&str> = fact.split(' ').collect();
    if tokens.iter().any(|token| is_compound(token)) {
        let apart: Vec<String> = tokens
            .iter()
            .map(|token| {
                if is_compound(token) {
                    token.replace('-', " ")
                } else {
                    (*token).to_owned()
                }
            })
            .collect();
        spellings.push(apart.join(" "));
    } else if tokens.len() == 2 && is_compound(&tokens.join("-")) {
        spellings.push(tokens.join("-"));
    }
    spellings
}

/// A fact with its long numbers in every grouping, and those spellings that only count on the Continent.
fn number_spellings(fact: &str) -> (Vec<String>, Vec<String>) {
    let plain: String = joined_groups(&joined_by_spaces(fact));
    let has_long = plain.split(' ').any(is_long);
    let mut spellings = vec![fact.to_owned()];
    let mut continental = Vec::new();
    if plain != fact {
        spellings.push(plain.clone());
    }
    if has_long {
        for separator in [",", " ", "'", "_"] {
            spellings.push(grouped(&plain, separator));
        }
        continental.push(grouped(&plain, "."));
    }
    let decimals: Vec<String> = fact
        .split(' ')
        .map(|token| match token.split_once('.') {
            Some((whole, part)) if is_number(whole) && is_number(part) => format!("{whole},{part}"),
            Some(_) | None => token.to_owned(),
        })
        .collect();
    continental.push(decimals.join(" "));
    continental.retain(|text| text != fact);
    (spellings, continental)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_long(token: &str) -> bool {
    let number = words::core(token).1;
    is_number(number) && number.len() > 3 && !number.starts_with('0')
}

/// `12 000` in one piece.
fn joined_by_spaces(fact: &str) -> String {
    let mut joined: Vec<String> = Vec::new();
    let mut is_open = false;
    for token in fact.split(' ') {
        let is_group = token.len() == 3 && is_number(token);
        match joined.last_mut() {
            Some(number) if is_group && is_open => number.push_str(token),
            Some(_) | None => {
                is_open = token.len() <= 3 && is_number(token) && !token.starts_with('0');
                joined.push(token.to_owned());
            }
        }
    }
    joined.join(" ")
}

/// Numbers without the signs between their groups of three.
fn joined_groups(fact: &str) -> String {
    let joined: Vec<String> = fact
        .split(' ')
        .map(|token| {
            let (before, number, behind) = words::core(token);
            let mut groups = number.split([',', '\'', '_']);
            let is_first = groups.next().is_some_and(|group| is_number(group) && group.len() <= 3);
            let rest: Vec<&str> = groups.collect();
            if is_first && !rest.is_empty() && rest.iter().all(|group| is_number(group) && group.len() == 3) {
                return format!("{before}{}{behind}", number.replace([',', '\'', '_'], ""));
            }
            token.to_owned()
        })
        .collect();
    joined.join(" ")
}

/// Long numbers with a sign between their groups of three.
fn grouped(fact: &str, separator: &str) -> String {
    let tokens: Vec<String> = fact
        .split(' ')
        .map(|token| {
            if !is_long(token) {
                return token.to_owned();
            }
            let (before, number, behind) = words::core(token);
            let head = number.len() % 3;
            let mut groups: Vec<&str> = Vec::new();
            if head > 0 {
                groups.push(&number[..head]);
            }
            groups.extend((head..number.len()).step_by(3).map(|at| &number[at..at + 3]));
            format!("{before}{}{behind}", groups.join(separator))
        })
        .collect();
    tokens.join(" ")
}
