//! A sentence as words: folded for comparing, with their places in the text, what stands behind each, and what is quoted.
//!
//! A word is what stands between spaces without the punctuation around it, so that paths, addresses, versions and decimals
//! stay whole; a Chinese sign is a word of its own. Characters that nobody sees are left out of the folded form.

use std::borrow::Cow;
use std::ops::Range;

use rust_stemmers::Algorithm;
use rust_stemmers::Stemmer;

/// Quoted spans of up to this many words are names and values ("staging", "New York"); longer ones are somebody's speech.
const LONGEST_NAME: usize = 3;

/// What stands between a word and the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::ledger) enum Break {
    /// A space.
    None,
    /// A comma or a bracket.
    Comma,
    /// An arrow: what stands before it became what stands behind it.
    Arrow,
    /// A colon.
    Colon,
    /// A dash with spaces around it.
    Dash,
    /// A semicolon.
    Semicolon,
    /// The end of a sentence.
    End,
}

/// One word.
#[derive(Clone, Debug)]
pub(in crate::ledger) struct Word {
    /// Where it stands in the sentence, without punctuation.
    pub(in crate::ledger) raw: Range<usize>,
    folded: Range<usize>,
    /// What stands behind it.
    pub(in crate::ledger) after: Break,
    /// Whether it belongs to somebody's quoted speech, or to code of several words.
    pub(in crate::ledger) quoted: bool,
    /// Whether it stands between backticks or quotes on its own: a value.
    pub(in crate::ledger) marked: bool,
}

/// The words of one sentence.
#[derive(Debug, Default)]
pub(in crate::ledger) struct Words<'a> {
    /// The sentence.
    pub(in crate::ledger) text: &'a str,
    folded: String,
    /// Its words, in order.
    pub(in crate::ledger) list: Vec<Word>,
}

impl<'a> Words<'a> {
    /// Reads a sentence, up to so many words.
    pub(in crate::ledger) fn read(text: &'a str, most: usize) -> Self {
        let mut words = Words {
            text,
            folded: String::with_capacity(text.len()),
            list: Vec::with_capacity(text.len() / 6),
        };
        let mut quotes = Quotes::default();
        let mut start = None;
        for (at, letter) in text.char_indices() {
            if words.list.len() >= most {
                break;
            }
            let apart = letter.is_whitespace()
                || is_sign(letter)
                || matches!(letter, '—' | '。' | '，' | '！' | '？' | '；' | '：' | '、');
            if !apart {
                start.get_or_insert(at);
                continue;
            }
            if let Some(from) = start.take() {
                words.chunk(from..at, &mut quotes);
            }
            if !letter.is_whitespace() {
                words.chunk(at..at + letter.len_utf8(), &mut quotes);
            }
        }
        if let Some(from) = start {
            words.chunk(from..text.len(), &mut quotes);
        }
        quotes.settle(&mut words.list);
        words
    }

    /// How many words there are.
    pub(in crate::ledger) fn len(&self) -> usize {
        self.list.len()
    }

    /// A word in its folded form; empty behind the last one.
    pub(in crate::ledger) fn at(&self, index: usize) -> &str {
        self.list
            .get(index)
            .map_or("", |word| &self.folded[word.folded.clone()])
    }

    /// What stands behind a word; the end behind the last one.
    pub(in crate::ledger) fn after(&self, index: usize) -> Break {
        self.list.get(index).map_or(Break::End, |word| word.after)
    }

    /// The text from one word to before another, as it was written.
    pub(in crate::ledger) fn raw(&self, range: Range<usize>) -> &'a str {
        let end = range.end.min(self.list.len());
        if range.start >= end {
            return "";
        }
        &self.text[self.list[range.start].raw.start..self.list[end - 1].raw.end]
    }

    /// Stems of the words that carry meaning, in order, without repeats.
    pub(in crate::ledger) fn stems(&self, range: Range<usize>, dull: impl Fn(&str) -> bool) -> Vec<Box<str>> {
        let mut stems: Vec<Box<str>> = Vec::new();
        for index in range.start..range.end.min(self.list.len()) {
            let word = self.at(index);
            if word.is_empty() || dull(word) {
                continue;
            }
            let stem = stem(word);
            if !stems.iter().any(|known| **known == *stem) {
                stems.push(stem.into());
            }
        }
        stems
    }

    /// Takes in what stands between two spaces.
    fn chunk(&mut self, range: Range<usize>, quotes: &mut Quotes) {
        let chunk = &self.text[range.clone()];
        let core = chunk.trim_start_matches(is_opening);
        let start = range.start + chunk.len() - core.len();
        let kept = core.trim_end_matches(is_closing);
        let end = start + kept.len();
        let before = &chunk[..chunk.len() - core.len()];
        let behind = &core[kept.len()..];
        if before.contains(['(', '[']) {
            self.raise(Break::Comma);
        }
        quotes.opened(before, self.list.len());
        if matches!(kept, "-" | "–" | "—" | "--" | "=") {
            self.raise(Break::Dash);
        } else if matches!(kept, "->" | "→" | "=>" | "-->" | "⇒" | "➜") {
            self.raise(Break::Arrow);
        } else if kept.chars().any(char::is_alphanumeric) {
            self.push_split(start..end);
        }
        self.raise(break_of(behind));
        quotes.closed(behind, &mut self.list);
    }

    /// A chunk is one word, unless a comma or a semicolon without a space joins two.
    fn push_split(&mut self, range: Range<usize>) {
        let chunk = &self.text[range.clone()];
        let joint = chunk.char_indices().find(|(at, letter)| {
            matches!(letter, ',' | ';')
                && chunk[..*at].ends_with(char::is_alphabetic)
                && chunk[at + 1..].starts_with(char::is_alphabetic)
        });
        let Some((at, letter)) = joint else {
            self.push(range);
            return;
        };
        self.push(range.start..range.start + at);
        self.raise(if letter == ',' { Break::Comma } else { Break::Semicolon });
        self.push(range.start + at + 1..range.end);
    }

    fn push(&mut self, raw: Range<usize>) {
        let from = self.folded.len();
        for letter in self.text[raw.clone()].chars() {
            match letter {
                _ if letter.is_ascii() => self.folded.push(letter.to_ascii_lowercase()),
                'ё' | 'Ё' => self.folded.push('е'),
                '’' | 'ʼ' => self.folded.push('\''),
                _ if is_unseen(letter) => {}
                _ => self.folded.extend(letter.to_lowercase()),
            }
        }
        self.list.push(Word {
            raw,
            folded: from..self.folded.len(),
            after: Break::None,
            quoted: false,
            marked: false,
        });
    }

    fn raise(&mut self, to: Break) {
        if let Some(last) = self.list.last_mut() {
            last.after = last.after.max(to);
        }
    }
}

/// Open quotation marks while a sentence is read.
#[derive(Debug, Default)]
struct Quotes {
    /// The closing mark that is waited for, and the word where the quote began.
    open: Option<(char, usize)>,
}

impl Quotes {
    fn opened(&mut self, marks: &str, word: usize) {
        for mark in marks.chars() {
            let closing = match mark {
                '"' => '"',
                '“' | '„' => '”',
                '«' => '»',
                '`' => '`',
                _ => continue,
            };
            if self.open.is_none() {
                self.open = Some((closing, word));
            }
        }
    }

    /// Marks a quote's words once its end is seen.
    fn closed(&mut self, marks: &str, list: &mut [Word]) {
        let Some((closing, from)) = self.open else { return };
        let ends = |mark: char| mark == closing || (closing == '”' && mark == '“');
        if !marks.contains(ends) {
            return;
        }
        self.open = None;
        let inside = list.get_mut(from..).unwrap_or_default();
        let speech = inside.len() > LONGEST_NAME;
        for word in inside {
            word.quoted = speech;
            word.marked = !speech;
        }
    }

    /// A quote that never ends is no quote, unless it runs to the end of a sentence that was cut out of it.
    fn settle(self, list: &mut [Word]) {
        if let Some((closing, from)) = self.open
            && closing != '"'
            && closing != '`'
        {
            for word in list.get_mut(from..).unwrap_or_default() {
                word.quoted = true;
            }
        }
    }
}

fn is_opening(letter: char) -> bool {
    matches!(
        letter,
        '(' | '[' | '{' | '"' | '\'' | '“' | '„' | '«' | '‘' | '*' | '`' | '•' | '|'
    ) || is_unseen(letter)
}

fn is_closing(letter: char) -> bool {
    matches!(
        letter,
        '.' | ','
            | ';'
            | ':'
            | '!'
            | '?'
            | ')'
            | ']'
            | '}'
            | '"'
            | '\''
            | '”'
            | '“'
            | '»'
            | '’'
            | '*'
            | '`'
            | '…'
            | '|'
            | '。'
            | '，'
            | '；'
            | '：'
            | '！'
            | '？'
            | '、'
    ) || is_unseen(letter)
}

/// The strongest break among the marks behind a word.
fn break_of(marks: &str) -> Break {
    marks
        .chars()
        .map(|mark| match mark {
            '.' | '!' | '?' | '…' | '。' | '！' | '？' => Break::End,
            ';' | '；' => Break::Semicolon,
            ':' | '：' => Break::Colon,
            ',' | '，' | '、' | ')' | ']' => Break::Comma,
            _ => Break::None,
        })
        .max()
        .unwrap_or(Break::None)
}

/// Characters without a picture of their own: zero-width ones, direction marks, accents on their own.
pub(in crate::ledger) fn is_unseen(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Scripts that write no spaces between words.
pub(in crate::ledger) fn is_sign(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
}

/// The stem of a folded word: English and Russian; anything else is its own stem.
pub(in crate::ledger) fn stem(word: &str) -> Cow<'_, str> {
    // Words of natural language are shorter; stemming anything longer is a waste.
    const LONGEST: usize = 32;
    let word = word.strip_suffix("'s").unwrap_or(word);
    if word.len() > 2 * LONGEST {
        return Cow::Borrowed(word);
    }
    if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Stemmer::create(Algorithm::English).stem(word);
    }
    if word.chars().all(|letter| ('а'..='я').contains(&letter)) {
        return Stemmer::create(Algorithm::Russian).stem(word);
    }
    Cow::Borrowed(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> Vec<String> {
        let words = Words::read(text, 100);
        (0..words.len()).map(|index| words.at(index).to_owned()).collect()
    }

    #[test]
    fn names_and_numbers_stay_whole() {
        assert_eq!(
            folded("Use (v1.2.3) at `src/main.rs`, not https://a.example/x?y=1!"),
            ["use", "v1.2.3", "at", "src/main.rs", "not", "https://a.example/x?y=1"]
        );
        assert_eq!(
            folded("Не трогай прод — ещё рано"),
            ["не", "трогай", "прод", "еще", "рано"]
        );
        assert_eq!(folded("不要删除"), ["不", "要", "删", "除"]);
        assert_eq!(folded("De\u{200b}cision"), ["decision"]);
    }

    #[test]
    fn speech_is_quoted_and_a_name_is_not() {
        let words = Words::read(
            "it said \"never do this again\" about \"alpha\" and «просто так сделай уже»",
            100,
        );
        let quoted: Vec<_> = (0..words.len())
            .filter(|index| words.list[*index].quoted)
            .map(|index| words.at(index))
            .collect();
        assert_eq!(
            quoted,
            ["never", "do", "this", "again", "просто", "так", "сделай", "уже"]
        );
        assert!(words.list[7].marked, "{:?}", words.at(7));
    }

    #[test]
    fn breaks_are_kept() {
        let words = Words::read("server: alpha, port — 8080; yes", 100);
        let breaks: Vec<_> = (0..words.len()).map(|index| words.after(index)).collect();
        assert_eq!(
            breaks,
            [Break::Colon, Break::Comma, Break::Dash, Break::Semicolon, Break::None]
        );
    }
}
