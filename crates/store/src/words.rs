//! Words of a text, and their stems: English and Russian side by side.
//!
//! A word is a run of letters and digits, in lower case; a Chinese, Japanese or Korean sign is a word of its own. What goes
//! into the index and what is asked of it pass through here alike.

use std::collections::HashMap;
use std::ops::Range;

use rust_stemmers::Algorithm;
use rust_stemmers::Stemmer;

/// Longer words are cut here, when written and when asked for: a SHA-256 in hexadecimal still fits.
const LONGEST_WORD: usize = 64;

/// Words of natural language are shorter than this; stemming anything longer is a waste.
const LONGEST_STEMMED: usize = 32;

/// Stems are remembered up to this many words: the vocabulary of a long conversation, some megabytes.
const REMEMBERED: usize = 50_000;

/// Calls back for every word, with its place in the text.
pub(crate) fn each_word(text: &str, mut take: impl FnMut(Range<usize>, &str)) {
    let mut word = String::new();
    let mut letters = 0;
    let mut start = 0;
    for (at, letter) in text.char_indices() {
        let sign = is_sign(letter);
        if letter.is_alphanumeric() && !sign {
            if word.is_empty() {
                (start, letters) = (at, 0);
            }
            letters += 1;
            if letters <= LONGEST_WORD {
                push_folded(&mut word, letter);
            }
            continue;
        }
        // An accent that stands as a character of its own belongs to the letter before it.
        if !word.is_empty() && ('\u{300}'..='\u{36f}').contains(&letter) {
            continue;
        }
        if !word.is_empty() {
            take(start..at, &word);
            word.clear();
        }
        if sign {
            take(at..at + letter.len_utf8(), letter.encode_utf8(&mut [0; 4]));
        }
    }
    if !word.is_empty() {
        take(start..text.len(), &word);
    }
}

fn push_folded(word: &mut String, letter: char) {
    match letter {
        'ё' | 'Ё' => word.push('е'),
        _ if letter.is_ascii() => word.push(letter.to_ascii_lowercase()),
        _ => word.extend(letter.to_lowercase()),
    }
}

/// Scripts that write no spaces between words.
fn is_sign(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{20000}'..='\u{3ffff}')
}

/// The stemmers of both languages, with a memory.
pub(crate) struct Stemmers {
    english: Stemmer,
    russian: Stemmer,
    known: HashMap<String, String>,
}

impl Stemmers {
    pub(crate) fn new() -> Self {
        Stemmers {
            english: Stemmer::create(Algorithm::English),
            russian: Stemmer::create(Algorithm::Russian),
            known: HashMap::new(),
        }
    }

    /// The stem of a word as [`each_word`] gives it. A word in another script, or with digits, is its own stem.
    pub(crate) fn stem<'a>(&'a mut self, word: &'a str) -> &'a str {
        let english = word.bytes().all(|byte| byte.is_ascii_lowercase());
        let russian = !english && word.chars().all(|letter| ('а'..='я').contains(&letter));
        if !(english || russian) || word.chars().count() > LONGEST_STEMMED {
            return word;
        }
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        let stemmer = if english { &self.english } else { &self.russian };
        if !self.known.contains_key(word) {
            self.known.insert(word.to_owned(), stemmer.stem(word).into_owned());
        }
        self.known.get(word).map_or(word, String::as_str)
    }

    /// The two columns of the index: words and stems, in the text's order.
    pub(crate) fn columns(&mut self, text: &str) -> (String, String) {
        let mut words = String::with_capacity(text.len());
        let mut stems = String::with_capacity(text.len());
        each_word(text, |_, word| {
            words.push_str(word);
            words.push(' ');
            stems.push_str(self.stem(word));
            stems.push(' ');
        });
        (words, stems)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        each_word(text, |range, word| {
            assert!(text.get(range).is_some());
            found.push(word.to_owned());
        });
        found
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        assert_eq!(
            words("fn parse_config(src/auth.rs) → Ошибка Ёлки"),
            ["fn", "parse", "config", "src", "auth", "rs", "ошибка", "елки"]
        );
        assert_eq!(words("设置 ok"), ["设", "置", "ok"]);
        assert_eq!(words(&"x".repeat(1_000)), ["x".repeat(64)]);
        assert_eq!(words("e\u{301}tude"), ["etude"]);
    }

    #[test]
    fn both_languages_are_stemmed() {
        let mut stemmers = Stemmers::new();
        for (one, other) in [
            ("connections", "connected"),
            ("deploying", "deployed"),
            ("ошибками", "ошибка"),
            ("серверов", "серверу"),
        ] {
            assert_eq!(stemmers.stem(one).to_owned(), stemmers.stem(other), "{one} {other}");
        }
        assert_eq!(stemmers.stem("e0308"), "e0308");
        assert_eq!(stemmers.stem("größe"), "größe");
    }

    proptest! {
        #[test]
        fn any_text_has_words(text in "\\PC*|[a-z]{0,60}|[а-яё]{0,60}") {
            let (words, stems) = Stemmers::new().columns(&text);
            prop_assert_eq!(words.split(' ').count(), stems.split(' ').count());
        }
    }
}
