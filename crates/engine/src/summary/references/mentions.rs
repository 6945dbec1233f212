//! Which references a text has. Tolerant where a summary may well write otherwise: a path by an unambiguous end of it, a
//! number with or without separators, an error or a long value by most of its words.

use std::collections::HashMap;
use std::collections::HashSet;

use aho_corasick::AhoCorasick;
use aho_corasick::MatchKind;

use crate::ledger::evidence::Class;
use crate::ledger::evidence::Found;
use crate::ledger::evidence::scan;

use super::RefKind;
use super::Reference;

/// The share of the words of an error or a long value that a text must have, in hundredths, by the requirement.
const WORDS_SHARE: usize = 60;
/// A value of so many words is a sentence: most of its words tell it.
const SENTENCE: usize = 4;
/// How deep a path is looked into for its ends; deeper ones are known by their last folders.
const MOST_COMPONENTS: usize = 12;
/// Shorter ends of a path name too many files.
const LEAST_END: usize = 4;

/// Finds references in texts.
#[derive(Clone, Debug, Default)]
pub(super) struct Matcher {
    wanted: Vec<Wanted>,
    /// Spellings that count wherever they stand as a word, one a reference; `None` where there are none.
    spellings: Option<AhoCorasick>,
}

/// What of a reference is looked for besides its spelling.
#[derive(Clone, Debug, Default)]
struct Wanted {
    /// Its words, where most of them are enough.
    words: Vec<String>,
    /// Its identifiers, all of which are enough.
    names: Vec<String>,
    /// The ends of a path that no other reference has.
    ends: Vec<String>,
    /// A path as it is spelled.
    path: Option<String>,
}

impl Matcher {
    pub(super) fn new(list: &[Reference]) -> Self {
        let mut owners: HashMap<&str, Vec<&str>> = HashMap::new();
        for reference in list.iter().filter(|reference| is_path(reference)) {
            for end in ends(&reference.text) {
                owners.entry(end).or_default().push(bare(&reference.text));
            }
        }
        let wanted = list.iter().map(|reference| wanted(reference, &owners)).collect();
        let spellings: Vec<String> = list.iter().map(|reference| plain(&reference.text)).collect();
        // Fails only for automata of gigabytes; then the other ways of finding are left.
        let spellings = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&spellings);
        Self {
            wanted,
            spellings: spellings.ok().filter(|_| !list.is_empty()),
        }
    }

    /// Which references a text has, in their order.
    pub(super) fn present(&self, text: &str) -> Vec<bool> {
        let plain = plain(text);
        let mut present = vec![false; self.wanted.len()];
        if let Some(spellings) = &self.spellings {
            for found in spellings.find_overlapping_iter(&plain) {
                let place = found.pattern().as_usize();
                present[place] = present[place] || stands_alone(&plain, found.start(), found.end());
            }
        }
        let mentions = Mentions::new(&plain);
        for (wanted, is_present) in self.wanted.iter().zip(&mut present) {
            *is_present = *is_present || mentions.has(wanted);
        }
        present
    }
}

/// Whether paths are spellings of one: each is an end of the longest.
fn are_one(paths: &[&str]) -> bool {
    let longest = paths.iter().max_by_key(|path| path.len()).copied().unwrap_or_default();
    paths.iter().all(|path| is_end(longest, path))
}

/// Whether a path is another one, or its last components.
fn is_end(path: &str, end: &str) -> bool {
    path.strip_suffix(end)
        .is_some_and(|start| start.is_empty() || start.ends_with('/'))
}

/// A path without what only says where it starts.
pub(super) fn bare(path: &str) -> &str {
    path.trim_start_matches(['@', '~', '.', '/']).trim_end_matches('/')
}

pub(super) fn is_path(reference: &Reference) -> bool {
    let text = &*reference.text;
    reference.kind == RefKind::File
        || text.contains('/') && !text.contains(char::is_whitespace) && !text.starts_with("http")
}

fn wanted(reference: &Reference, owners: &HashMap<&str, Vec<&str>>) -> Wanted {
    let text = plain(&reference.text);
    let mut wanted = Wanted::default();
    let words: Vec<String> = words(&text).collect();
    if reference.kind == RefKind::Error || words.len() >= SENTENCE && text.contains(' ') {
        wanted.names = scan(&text).into_iter().map(|one| text[one.range].to_owned()).collect();
        wanted.words = words;
    }
    if is_path(reference) {
        let alone = ends(&reference.text).filter(|end| owners.get(end).is_none_or(|owners| are_one(owners)));
        wanted.ends = alone.map(str::to_owned).collect();
        wanted.path = Some(bare(&text).to_owned());
    }
    wanted
}

/// The ends of a path that begin behind a slash.
pub(super) fn ends(path: &str) -> impl Iterator<Item = &str> {
    let path = path.trim_end_matches('/');
    let starts = path.match_indices('/').map(|(at, _)| at + 1).rev();
    starts
        .take(MOST_COMPONENTS)
        .map(move |start| &path[start..])
        .filter(|end| end.len() >= LEAST_END)
}

/// What a text mentions.
struct Mentions<'a> {
    words: HashSet<String>,
    names: HashSet<&'a str>,
    /// Paths and their ends.
    ends: HashSet<&'a str>,
}

impl<'a> Mentions<'a> {
    fn new(plain: &'a str) -> Self {
        let mut names: HashSet<&str> = HashSet::new();
        let mut whole: Vec<&str> = Vec::new();
        let alone = |one: &Found| stands_alone(plain, one.range.start, one.range.end);
        for one in scan(plain).into_iter().filter(alone) {
            let name = &plain[one.range.clone()];
            names.insert(name);
            if one.class == Class::Path {
                whole.push(name);
            }
        }
        // Files without an extension, and paths with letters of other alphabets.
        let is_mark = |letter: char| !letter.is_alphanumeric() && !matches!(letter, '/' | '~' | '.' | '_' | '-');
        for word in plain.split(' ') {
            let word = word.trim_matches(is_mark).trim_end_matches(['.', '-', '/']);
            if word.contains('/') || word.len() >= LEAST_END {
                whole.push(word);
            }
        }
        let mut all = HashSet::new();
        for path in whole {
            all.insert(path);
            all.insert(bare(path));
            if path.contains('/') {
                all.extend(ends(path));
            }
        }
        Self {
            words: words(plain).collect(),
            names,
            ends: all,
        }
    }

    fn has(&self, wanted: &Wanted) -> bool {
        let has_names = !wanted.names.is_empty() && wanted.names.iter().all(|name| self.names.contains(name.as_str()));
        let said = wanted
            .words
            .iter()
            .filter(|word| self.words.contains(word.as_str()))
            .count();
        let has_words = !wanted.words.is_empty() && said * 100 >= WORDS_SHARE * wanted.words.len();
        let has_path = wanted
            .path
            .as_ref()
            .is_some_and(|path| self.ends.contains(path.as_str()));
        has_names || has_words || has_path || wanted.ends.iter().any(|end| self.ends.contains(end.as_str()))
    }
}

/// Words of two letters or more, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .filter(|word| word.chars().nth(1).is_some())
        .map(str::to_lowercase)
}

/// Text on one line, numbers without separators of thousands.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !plain.is_empty() {
            plain.push(' ');
        }
        push_word(&mut plain, word);
    }
    plain
}

/// A word with `12,345` and `12_345` as `12345`.
fn push_word(plain: &mut String, word: &str) {
    let bytes = word.as_bytes();
    let mut copied = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if !matches!(byte, b',' | b'_') || at == 0 || !bytes[at - 1].is_ascii_digit() {
            continue;
        }
        let digits = bytes[at + 1..]
            .iter()
            .take(4)
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if digits == 3 {
            plain.push_str(&word[copied..at]);
            copied = at + 1;
        }
    }
    plain.push_str(&word[copied..]);
}

/// Whether what stands at a place is not a piece of a longer word, number, version or name.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let found = &text[start..end];
    let mut before = text[..start].chars().rev();
    let mut after = text[end..].chars();
    let opens_as_word = found.chars().next().is_some_and(is_part);
    let ends_as_word = found.chars().next_back().is_some_and(is_part);
    let joins = |next: Option<char>, then: Option<char>| match next {
        Some(letter) if is_part(letter) => true,
        Some('.' | '-') => then.is_some_and(is_part),
        Some(_) | None => false,
    };
    let is_joined_before = opens_as_word && joins(before.next(), before.next());
    let is_joined_after = ends_as_word && joins(after.next(), after.next());
    !is_joined_before && !is_joined_after
}
