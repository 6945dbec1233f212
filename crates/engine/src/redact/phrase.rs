//! Passwords made of several words: `correct horse battery staple`.
//!
//! Only the name before it and what it does not say tell such a password from a remark: remarks about passwords speak of
//! fields, characters and users, and they need small words.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::redact::chars::line_end;
use crate::redact::key::PASSWORD_WORDS;
use crate::redact::key::lists;
use crate::redact::scan::Scanner;

/// How long a phrase is at most, in bytes: twelve long words of a script with two bytes a letter.
const LONGEST: usize = 240;
/// How many words it has at most.
const MOST: usize = 12;
/// How long a word of it is at most, in letters.
const WORD: usize = 16;

/// The lists of `phrases.txt`.
static LISTS: LazyLock<BTreeMap<&str, BTreeSet<&str>>> = LazyLock::new(|| lists(include_str!("phrases.txt")));

fn listed(list: &str, word: &str) -> bool {
    LISTS.get(list).is_some_and(|words| words.contains(word))
}

/// How a phrase is set off from what stands around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    /// By quotes or as a string of a document.
    Quoted,
    /// By the end of the line or of the sentence only.
    Bare,
}

/// Whether a text is a password of at least this many words.
pub(super) fn is_passphrase(text: &str, setting: Setting, least: usize) -> bool {
    if text.len() < 12 || text.len() > LONGEST {
        return false;
    }
    let (mut count, mut about, mut small, mut long) = (0, 0, 0, 0);
    let mut seen = BTreeSet::new();
    for word in text.split(' ') {
        let letters = word.chars().count();
        let plain = word
            .chars()
            .all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '\''));
        if letters == 0 || letters > WORD || !plain || count == MOST {
            return false;
        }
        let lower = word.to_lowercase();
        about += usize::from(listed("about_passwords", &lower));
        small += usize::from(listed("small", &lower));
        long += usize::from(letters >= 3);
        count += 1;
        seen.insert(lower);
    }
    let is_sentence = match setting {
        Setting::Bare => about + small > 0,
        // One such word may stand in a phrase by chance.
        Setting::Quoted => {
            about > 1
                || about == 1 && (small > 0 || count < PASSWORD_WORDS)
                || small * 2 > count
                || small > 1 && text.starts_with(char::is_uppercase)
        }
    };
    count >= least && long * 2 > count && seen.len() * 2 > count && !is_sentence
}

/// Whether a text is such a password with signs between its words: `correct-horse-battery-staple`.
pub(super) fn is_joined_passphrase(text: &str) -> bool {
    let mut count = 0;
    for word in text.split('-') {
        let plain = (3..=WORD).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_alphabetic());
        let lower = word.to_ascii_lowercase();
        if !plain || listed("about_passwords", &lower) || listed("small", &lower) {
            return false;
        }
        count += 1;
    }
    (4..=MOST).contains(&count)
}

impl Scanner<'_> {
    /// Where the words from here end that could be a phrase: at the end of the line or at the first sign.
    pub(super) fn phrase_end(&self, start: usize) -> usize {
        let stop = line_end(self.bytes, start, LONGEST + 1);
        let mut end = start;
        let mut before = ' ';
        for letter in self.text[start..].chars() {
            let inside = letter.is_alphanumeric() || matches!(letter, '-' | '\'') || letter == ' ' && before != ' ';
            if end >= stop || !inside {
                break;
            }
            end += letter.len_utf8();
            before = letter;
        }
        start + self.text[start..end].trim_end_matches([' ', '-', '\'']).len()
    }

    /// Whether nothing but the end of the sentence follows, or a remark set off from it.
    pub(super) fn ends_phrase(&self, end: usize) -> bool {
        let rest = &self.bytes[end..self.bytes.len().min(end + 4)];
        match rest {
            [] | [b'\n' | b'\r' | b'.' | b',' | b';' | b')', ..] => true,
            [b'\\', b'n' | b'r' | b'"' | b'\\', ..] => true,
            [b' ', b' ' | b'#' | b'(' | b'\t', ..] | [b'\t', ..] => true,
            _ => {
                self.text[end..].starts_with([' ', '—', '–'])
                    && self.text[end..].trim_start().starts_with(['—', '–', '(', '#'])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_told_from_remarks() {
        for phrase in [
            "correct horse battery staple",
            "blauer Elefant tanzt leise",
            "синий кот прыгает высоко",
            "copper lantern 42 drifting",
        ] {
            assert!(is_passphrase(phrase, Setting::Bare, 4), "{phrase}");
        }
        assert!(is_passphrase("quiet otter paints the moon", Setting::Quoted, 4));
        for remark in [
            "must be at least twelve characters",
            "wrong user name given here",
            "I wrote it on the wall",
            "ha ha ha ha ha ha",
            "bitte mindestens acht Zeichen",
            "забыл его ещё вчера вечером",
        ] {
            assert!(!is_passphrase(remark, Setting::Quoted, 4), "{remark}");
        }
        assert!(is_joined_passphrase("correct-horse-battery-staple"));
        assert!(!is_joined_passphrase("my-app-db-password"));
    }
}
