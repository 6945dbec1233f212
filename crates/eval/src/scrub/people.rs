//! The people of a session: who is who under which names, and what they are called in the fixture.
//!
//! Clues come in the order in which the session shows them. Clues that share a handle, a name or an address are about one
//! person. The session's own user is number one, `user`; the others follow as `user-2`, `user-3` …

use std::collections::BTreeMap;

use crate::scrub::text::key_of;
use crate::scrub::titles::is_nobody;
use crate::scrub::titles::is_word;

/// How sure a spelling is, and so where it is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Only where nothing but a name can stand: `@mark`, `github.com/mark`.
    Weak,
    /// As a word with a capital letter: a part of a full name.
    Word,
    /// Everywhere, inside of identifiers too.
    Handle,
    /// Everywhere, for the caller says so.
    Given,
}

/// Something that tells about a person.
#[derive(Clone, Debug, Default)]
pub(super) struct Clue {
    /// Handles and full names.
    pub(super) names: Vec<(String, Kind)>,
    /// Mail addresses and ids of platforms, in lower case.
    pub(super) ids: Vec<String>,
    /// Names that say whose it is where somebody has them, and that are not looked for themselves.
    pub(super) links: Vec<String>,
    /// Whether the name is that of a home directory.
    pub(super) is_home: bool,
}

impl Clue {
    /// A handle that was found: how sure it is depends on what else it could mean.
    pub(super) fn handle(name: &str) -> Self {
        Self {
            names: vec![(name.to_owned(), sureness(name))],
            ..Self::default()
        }
    }

    /// A name that is to be replaced where names of this kind are.
    pub(super) fn spelled(name: &str, kind: Kind) -> Self {
        Self {
            names: vec![(name.to_owned(), kind)],
            ..Self::default()
        }
    }

    /// An address or an id.
    pub(super) fn id(id: &str) -> Self {
        Self {
            ids: vec![id.to_lowercase()],
            ..Self::default()
        }
    }

    /// Also a full name, where this is one.
    pub(super) fn with_name(mut self, name: &str) -> Self {
        if is_nobody(name) || name.split_whitespace().any(is_nobody) || name.contains("[bot]") {
            return self;
        }
        if name.contains(char::is_whitespace) {
            let is_sentence = name.split_whitespace().all(|word| sureness(word) == Kind::Weak);
            let kind = if is_sentence { Kind::Word } else { Kind::Handle };
            self.names.push((name.to_owned(), kind));
        } else {
            self.names.push((name.to_owned(), sureness(name)));
        }
        self
    }
}

/// A handle of fewer characters could be a part of anything.
const SHORTEST: usize = 4;

fn sureness(name: &str) -> Kind {
    let short = name.chars().filter(|c| c.is_alphabetic()).count() < SHORTEST;
    if short || is_nobody(name) || is_word(name) {
        Kind::Weak
    } else {
        Kind::Handle
    }
}

/// A spelling to look for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Form {
    /// In lower case.
    pub(super) text: String,
    /// Where it is replaced.
    pub(super) kind: Kind,
    /// Whose it is, counted from one.
    pub(super) person: usize,
}

/// Who is who.
#[derive(Clone, Debug, Default)]
pub(super) struct People {
    /// By the letters and digits of a name, or by an id with `=` before it: the person's number.
    numbers: BTreeMap<String, usize>,
    forms: BTreeMap<String, (Kind, usize)>,
    count: usize,
}

impl People {
    /// Brings clues together. `given` are the caller's, the first of whom is the session's own user; `owner` is the name of
    /// that user's home directory, where the session knows it.
    pub(super) fn new(given: &[Vec<String>], owner: Option<&str>, found: &[Clue]) -> Self {
        let mut people = Self::default();
        let owner = owner.map(str::to_owned).or_else(|| most_frequent_home(found));
        for (index, spellings) in given.iter().enumerate() {
            let mut clue = Clue::default();
            for spelling in spellings.iter().map(|spelling| spelling.trim()) {
                if spelling.contains('@') {
                    clue.ids.push(spelling.to_lowercase());
                } else if !spelling.is_empty() {
                    clue.names.push((spelling.to_owned(), Kind::Given));
                }
            }
            if let Some(owner) = owner.as_deref().filter(|_| index == 0) {
                clue.names.push((owner.to_owned(), sureness(owner)));
            }
            people.add(&clue);
        }
        if let Some(owner) = owner.filter(|_| given.is_empty()) {
            people.add(&Clue::handle(&owner));
        }
        for clue in found {
            people.add(clue);
        }
        people
    }

    fn add(&mut self, clue: &Clue) {
        let keys: Vec<String> = clue
            .names
            .iter()
            .map(|(name, _)| key_of(name))
            .filter(|key| !key.is_empty())
            .chain(clue.ids.iter().map(|id| format!("={id}")))
            .collect();
        if keys.is_empty() {
            return;
        }
        // Two persons that a later clue ties together keep their numbers: a name never changes within a fixture.
        let links: Vec<String> = clue.links.iter().map(|name| key_of(name)).collect();
        let known = keys
            .iter()
            .chain(&links)
            .filter_map(|key| self.numbers.get(key))
            .min()
            .copied();
        let number = known.unwrap_or_else(|| {
            self.count += 1;
            self.count
        });
        for key in keys {
            self.numbers.entry(key).or_insert(number);
        }
        for (name, kind) in &clue.names {
            self.spell(name, *kind);
        }
    }

    /// All spellings of a name: with other marks between its words, and the words of a full name alone.
    fn spell(&mut self, name: &str, kind: Kind) {
        let Some(person) = self.numbers.get(&key_of(name)).copied() else {
            return;
        };
        let lower = name.to_lowercase();
        let words: Vec<&str> = lower
            .split([' ', '.', '_', '-'])
            .filter(|word| !word.is_empty())
            .collect();
        self.form(&lower, kind, person);
        if words.len() < 2 || kind == Kind::Weak {
            return;
        }
        for between in [" ", ".", "_", "-", "", "+", "%20", "\u{a0}"] {
            self.form(&words.join(between), kind, person);
        }
        let turned = format!("{}, {}", words[words.len() - 1], words[..words.len() - 1].join(" "));
        self.form(&turned, kind, person);
        if name.contains(' ') {
            for word in words {
                let plain = word.chars().count() < SHORTEST || is_word(word) || is_nobody(word);
                if !plain {
                    let kind = if kind == Kind::Given { Kind::Handle } else { Kind::Word };
                    self.form(word, kind, person);
                    // Endings of cases take the place of the last vowel: `Мария`, `Марию`.
                    if let Some(stem) = word.strip_suffix(['а', 'я', 'й', 'ь', 'о', 'е'])
                        && stem.chars().count() >= SHORTEST
                    {
                        self.form(stem, Kind::Word, person);
                    }
                }
            }
        }
    }

    fn form(&mut self, text: &str, kind: Kind, person: usize) {
        let form = self.forms.entry(text.to_owned()).or_insert((kind, person));
        form.0 = form.0.max(kind);
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Everything to look for.
    pub(super) fn forms(&self) -> impl Iterator<Item = Form> + '_ {
        self.forms.iter().map(|(text, (kind, person))| Form {
            text: text.clone(),
            kind: *kind,
            person: *person,
        })
    }

    /// The number of who has this name.
    pub(super) fn of_name(&self, name: &str) -> Option<usize> {
        self.numbers.get(&key_of(name)).copied()
    }

    /// The number of who has this address or id.
    pub(super) fn of_id(&self, id: &str) -> Option<usize> {
        self.numbers.get(&format!("={}", id.to_lowercase())).copied()
    }
}

/// What a person is called.
pub(super) fn pseudonym(number: usize) -> String {
    numbered("user", number)
}

/// A word for number one, and with its number for all others.
pub(super) fn numbered(word: &str, number: usize) -> String {
    if number <= 1 {
        word.to_owned()
    } else {
        format!("{word}-{number}")
    }
}

/// The home directory that the session shows most, the first of them where several are shown as often.
fn most_frequent_home(found: &[Clue]) -> Option<String> {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let homes = found.iter().filter(|clue| clue.is_home);
    for (index, (name, _)) in homes.flat_map(|clue| &clue.names).enumerate() {
        let count = counts.entry(name).or_insert((0, index));
        count.0 += 1;
    }
    let most = counts
        .into_iter()
        .max_by_key(|(_, (count, first))| (*count, std::cmp::Reverse(*first)));
    most.map(|(name, _)| name.to_owned())
}
