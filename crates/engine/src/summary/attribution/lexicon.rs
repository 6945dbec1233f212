//! What words do in a sentence that tells what somebody said or wants: a table in several languages, read once.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What a word may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Use {
    Person,
    Pronoun,
    Say,
    Will,
    Consent,
    Refuse,
    Noun,
    Owned,
    By,
    Settled,
    Decided,
    Was,
    Condition,
    Determiner,
    Negator,
    NegatorNext,
    Aux,
    Only,
    Restricts,
    Break,
    Former,
    Yes,
    No,
    NotNo,
    First,
    Second,
    Third,
    Either,
    Dull,
}

const USES: [(&str, Use); 29] = [
    ("person", Use::Person),
    ("pronoun", Use::Pronoun),
    ("say", Use::Say),
    ("will", Use::Will),
    ("consent", Use::Consent),
    ("refuse", Use::Refuse),
    ("noun", Use::Noun),
    ("owned", Use::Owned),
    ("by", Use::By),
    ("settled", Use::Settled),
    ("decided", Use::Decided),
    ("was", Use::Was),
    ("condition", Use::Condition),
    ("determiner", Use::Determiner),
    ("negator", Use::Negator),
    ("negator-next", Use::NegatorNext),
    ("aux", Use::Aux),
    ("only", Use::Only),
    ("restricts", Use::Restricts),
    ("break", Use::Break),
    ("former", Use::Former),
    ("yes", Use::Yes),
    ("no", Use::No),
    ("not-no", Use::NotNo),
    ("first", Use::First),
    ("second", Use::Second),
    ("third", Use::Third),
    ("either", Use::Either),
    ("dull", Use::Dull),
];

/// Words that mean one act or quality, or its opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Concept {
    /// Which one; opposites share it.
    pub(super) id: u8,
    /// Whether it is the opposite.
    pub(super) is_opposite: bool,
    /// Whether it does harm when nobody asked for it.
    pub(super) is_act: bool,
}

/// What is known of a word.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    uses: u32,
    pub(super) concept: Option<Concept>,
}

impl Entry {
    pub(super) fn is(self, one: Use) -> bool {
        self.uses & (1 << one as u8) != 0
    }

    pub(super) fn is_any(self, uses: &[Use]) -> bool {
        uses.iter().any(|one| self.is(*one))
    }

    fn join(&mut self, other: Entry) {
        self.uses |= other.uses;
        self.concept = self.concept.or(other.concept);
    }
}

struct Lexicon {
    words: HashMap<String, Entry>,
    beginnings: HashMap<String, Entry>,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::read(include_str!("lexicon.txt")));

/// The shortest and the longest beginning in the table, in letters.
const BEGINNINGS: std::ops::RangeInclusive<usize> = 3..=12;

impl Lexicon {
    fn read(table: &str) -> Self {
        let (mut words, mut beginnings): (HashMap<String, Entry>, HashMap<String, Entry>) = Default::default();
        let mut names: Vec<&str> = Vec::new();
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            let Some((group, list)) = line.split_once(':') else {
                continue;
            };
            let name = group.trim_start_matches(['!', '~']);
            let entry = match USES.iter().find(|(known, _)| *known == name) {
                Some((_, one)) => Entry {
                    uses: 1 << *one as u8,
                    concept: None,
                },
                None => {
                    let known = names.iter().position(|known| *known == name);
                    let id = known.unwrap_or(names.len());
                    if known.is_none() {
                        names.push(name);
                    }
                    let concept = Concept {
                        id: id as u8,
                        is_opposite: group.starts_with('~'),
                        is_act: group.starts_with('!'),
                    };
                    Entry {
                        uses: 0,
                        concept: Some(concept),
                    }
                }
            };
            for word in list.split_whitespace() {
                let (map, word) = match word.strip_suffix('*') {
                    Some(beginning) => (&mut beginnings, beginning),
                    None => (&mut words, word),
                };
                map.entry(folded(word)).or_default().join(entry);
            }
        }
        Self { words, beginnings }
    }
}

/// What is known of a word in its folded form.
pub(super) fn known(word: &str) -> Entry {
    let mut entry = LEXICON.words.get(word).copied().unwrap_or_default();
    for (letters, (at, letter)) in word.char_indices().enumerate() {
        let letters = letters + 1;
        if letters > *BEGINNINGS.end() {
            break;
        }
        if BEGINNINGS.contains(&letters)
            && let Some(more) = LEXICON.beginnings.get(&word[..at + letter.len_utf8()])
        {
            entry.join(*more);
        }
    }
    entry
}

/// Whether nobody sees a character: it must not hide a word.
pub(super) fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}')
}

/// A word in lower case, without accents and without what nobody sees.
pub(super) fn folded(word: &str) -> String {
    let mut folded = String::with_capacity(word.len());
    for letter in word.chars().flat_map(char::to_lowercase) {
        let plain = match letter {
            'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' => 'a',
            'è' | 'é' | 'ê' | 'ë' => 'e',
            'ì' | 'í' | 'î' | 'ï' => 'i',
            'ò' | 'ó' | 'ô' | 'õ' | 'ö' => 'o',
            'ù' | 'ú' | 'û' | 'ü' => 'u',
            'ñ' => 'n',
            'ç' => 'c',
            'ё' => 'е',
            'ß' => {
                folded.push('s');
                's'
            }
            '\u{300}'..='\u{36f}' => continue,
            hidden if is_invisible(hidden) => continue,
            other => other,
        };
        folded.push(plain);
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_group() {
        for line in include_str!("lexicon.txt").lines() {
            assert!(line.is_empty() || line.starts_with('#') || line.contains(':'), "{line}");
        }
        for (place, (name, one)) in USES.iter().enumerate() {
            assert_eq!(*one as usize, place, "{name}");
            assert!(include_str!("lexicon.txt").contains(&format!("\n{name}: ")), "{name}");
        }
    }

    #[test]
    fn words_are_known_by_their_beginnings_and_without_accents() {
        assert!(known(&folded("Пользователь")).is(Use::Person));
        assert!(known(&folded("möchte")).is(Use::Will));
        assert!(known(&folded("u\u{200b}ser")).is(Use::Person));
        assert!(known("users").uses == known("users").uses & 1 << Use::Dull as u8);
        let (delete, keep) = (known("deleting").concept.unwrap(), known("keep").concept.unwrap());
        assert!(delete.id == keep.id && delete.is_act && !delete.is_opposite && keep.is_opposite);
    }
}
