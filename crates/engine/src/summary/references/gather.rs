//! Collecting what must not be lost.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::collections::HashSet;
use std::ops::Range;

use crate::json;
use crate::ledger::Ledger;
use crate::ledger::entry::Entry;
use crate::ledger::entry::Kind;
use crate::ledger::entry::Status;
use crate::ledger::evidence::Class;
use crate::ledger::evidence::Found;
use crate::ledger::evidence::scan;
use crate::summary::records::Record;
use crate::summary::sections::Heading;
use crate::summary::sections::Sections;
use crate::transcript::Author;
use crate::transcript::Input;

use super::RefKind;
use super::Reference;
use super::References;
use super::invented::is_well_known;

/// Weights, in the order in which things matter: what binds, what is broken, what is, what was done, what was named.
const CONSTRAINT: u32 = 100;
const STATEMENT: u32 = 90;
const ERROR: u32 = 80;
const FACT: u32 = 75;
const FILE: u32 = 70;
const CREDENTIAL: u32 = 60;
pub(super) const SAID: u32 = 50;
const MODEL_FACT: u32 = 40;
const USED: u32 = 25;
const TOOL_FACT: u32 = 15;
const PASTED: u32 = 10;
/// Below all others: what a previous summary names and the ledger does not hold any more was named by a model only.
const EARLIER: u32 = 5;

/// How many names of a previous summary count: a third of [`super::MOST`], so that they never crowd out what is new.
const MOST_EARLIER: usize = super::MOST / 3;

/// A longer text was pasted: its identifiers are not what the person spells out. In bytes.
const MOST_TYPED: usize = 2_000;
/// So few names anybody types in a line.
const FEW_NAMES: usize = 2;
/// What people type has so many words for each name; stack traces and logs have one or two.
const WORDS_A_NAME: usize = 4;
/// How lines from terminals and logs begin.
const PASTED_OPENINGS: [&str; 12] = [
    "at ",
    "❯",
    "$ ",
    "> ",
    "% ",
    "[",
    "===",
    "---",
    "+++",
    "| ",
    "Traceback",
    "File \"",
];
/// Lines of traces and quoted code stand in from the left.
const INDENT: &str = "    ";
/// Numbers of fewer digits are counts.
const LEAST_NUMBER: usize = 4;
/// How many identifiers of one text count; more are a listing.
const MOST_OF_TEXT: usize = 40;
/// In how many calls the model has to write an identifier; once may be a guess.
const LEAST_USES: u32 = 2;
/// Uses beyond this weigh no more.
const MOST_USES: u32 = 10;
/// Longest value that is a reference: a longer one is a text.
const LONGEST_VALUE: usize = 200;

/// Everything that must not be lost, in no order.
pub(super) fn gather(ledger: &Ledger, records: &[Record<'_>], previous: Option<&str>) -> Vec<Reference> {
    let numbers: BTreeSet<u32> = records.iter().map(|record| record.number).collect();
    let oldest = numbers.first().copied().unwrap_or(u32::MAX);
    let stale = stale_values(ledger);
    let (mut list, mut earlier) = (Vec::new(), Vec::new());
    for entry in ledger.entries() {
        if numbers.contains(&entry.first) || numbers.contains(&entry.last) {
            of_entry(entry, &mut list);
        } else if previous.is_some() && entry.last < oldest {
            of_entry(entry, &mut earlier);
        }
    }
    said(records, &mut list);
    used(records, &mut list);
    if let Some(previous) = previous {
        // Of what came before, the previous summary's word counts: what it does not name was judged to be over.
        let earlier = References::new(earlier);
        let unnamed: HashSet<Box<str>> = earlier.missing(previous).iter().map(|one| one.text.clone()).collect();
        list.extend(
            earlier
                .list()
                .iter()
                .filter(|one| !unnamed.contains(&one.text))
                .cloned(),
        );
        lasting(previous, &mut list);
    }
    list.retain(|reference| !stale.contains(&*reference.text));
    list
}

/// Values that no longer hold anywhere.
fn stale_values(ledger: &Ledger) -> HashSet<&str> {
    let mut stale: HashSet<&str> = ledger.replaced().map(|(old, _)| &*old.value).collect();
    for entry in ledger.entries() {
        if entry.kind == Kind::Fact && entry.status == Status::Current {
            stale.remove(&*entry.value);
        }
    }
    stale
}

fn of_entry(entry: &Entry, list: &mut Vec<Reference>) {
    let mut push = |kind, text: &str, weight| {
        list.push(Reference {
            kind,
            text: text.into(),
            author: entry.author,
            message: entry.last,
            weight,
        });
    };
    match (entry.kind, entry.status) {
        (_, Status::Superseded | Status::Closed | Status::Proposed) | (Kind::Command, _) => {}
        (Kind::File, _) if is_only_seen(&entry.value) => {}
        (Kind::File, _) => push(RefKind::File, &entry.key, FILE),
        (Kind::Error, _) if is_remark(&entry.value) => {}
        (Kind::Error, _) => push(RefKind::Error, &entry.value, ERROR),
        (Kind::Credential, _) => push(RefKind::Credential, &entry.key, CREDENTIAL),
        (Kind::Fact, _) if !is_telling(&entry.value) => {}
        (Kind::Fact, _) => {
            let weight = match entry.author {
                Author::User => FACT,
                Author::Assistant | Author::System => MODEL_FACT,
                Author::Tool | Author::Host | Author::Summary => TOOL_FACT,
            };
            push(RefKind::Fact, &entry.value, weight);
        }
        (Kind::Constraint | Kind::Decision | Kind::Obligation | Kind::Question | Kind::Task, _) => {
            let weight = if entry.kind == Kind::Constraint {
                CONSTRAINT
            } else {
                STATEMENT
            };
            let is_rule = entry.kind == Kind::Constraint;
            for name in names(&entry.value).filter(|name| is_rule || is_worth_naming(name)) {
                push(RefKind::Statement, name, weight);
            }
        }
    }
}

/// Whether a line that was taken for an error says itself that it is none: a linter's `(info)`, a hint, a note.
fn is_remark(value: &str) -> bool {
    let lower = value.to_lowercase();
    let levels = [
        "info",
        "information",
        "hint",
        "note",
        "notice",
        "style",
        "debug",
        "suggestion",
    ];
    levels.iter().any(|level| {
        let marked = ["(", "["].iter().any(|open| {
            let close = if *open == "(" { ")" } else { "]" };
            lower.contains(&format!("{open}{level}{close}"))
        });
        marked || lower.trim_start().starts_with(&format!("{level}:")) || lower.contains(&format!(": {level}:"))
    })
}

/// Whether all that was done to a file is that it was looked at; it can be again.
fn is_only_seen(value: &str) -> bool {
    value.starts_with("read") || value.starts_with("folder") || value.is_empty()
}

/// Whether a value can be told from other words: `true`, `0` and `5` cannot.
fn is_telling(value: &str) -> bool {
    let letters = value.chars().count();
    (3..=LONGEST_VALUE).contains(&letters) && !matches!(value, "true" | "false" | "none" | "null" | "yes")
}

/// The identifiers of a text, each once.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let mut seen = HashSet::new();
    let found = scan(text)
        .into_iter()
        .filter(|one| is_special(&text[one.range.clone()], one.class));
    found
        .map(|one| &text[whole_number(text, &one)])
        .filter(move |name| !is_device(name) && seen.insert(*name))
        .take(MOST_OF_TEXT)
}

/// Where an identifier stands; of a number such as `163,840` a piece is no number.
fn whole_number(text: &str, found: &Found) -> Range<usize> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_separator = |at: usize| matches!(bytes.get(at), Some(b',' | b'_' | b'\''));
    let mut range = found.range.clone();
    if found.class != Class::Number || !text[range.clone()].bytes().all(|byte| byte.is_ascii_digit()) {
        return range;
    }
    let is_group = |start: usize| (start..start + 3).all(is_digit) && !is_digit(start + 3);
    while range.start >= 2 && is_separator(range.start - 1) && is_digit(range.start - 2) && is_group(range.start) {
        range.start -= 2;
        while range.start > 0 && is_digit(range.start - 1) {
            range.start -= 1;
        }
    }
    while is_separator(range.end) && is_group(range.end + 1) {
        range.end += 4;
    }
    range
}

/// Whether a path is one that every machine has, such as `/dev/null`.
fn is_device(name: &str) -> bool {
    ["/dev/", "/proc/self", "/bin/", "/usr/bin/env"]
        .iter()
        .any(|place| name.starts_with(place))
        || name == "/dev"
}

/// Whether an identifier is more than words, or names of files, with a slash between them.
fn is_special(name: &str, class: Class) -> bool {
    let is_word = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_file = |part: &str| {
        let extension = part.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
        extension.is_some_and(|(_, end)| (2..=4).contains(&end.len()) && is_word(end))
    };
    let is_list = name
        .rsplit_once('/')
        .is_some_and(|(folders, _)| folders.split('/').any(is_file));
    let is_prose = name.split('/').all(is_word) && !name.starts_with('/') && name.matches('/').count() <= 1;
    class != Class::Path || !is_list && !is_prose
}

/// Identifiers in the person's own words.
fn said(records: &[Record<'_>], list: &mut Vec<Reference>) {
    for record in records.iter().filter(|record| record.message.author == Author::User) {
        for text in record.message.person_words() {
            let is_long = text.len() > MOST_TYPED;
            let mut named = 0;
            for line in text.lines() {
                let names: Vec<&str> = names(line).filter(|name| is_worth_naming(name)).collect();
                let is_typed = !is_long && is_typed(line, names.len());
                let few = names.into_iter().take(MOST_OF_TEXT - named);
                let before = list.len();
                list.extend(few.map(|name| Reference {
                    kind: RefKind::Said,
                    text: name.into(),
                    author: Author::User,
                    message: record.number,
                    weight: if is_typed { SAID } else { PASTED },
                }));
                named += list.len() - before;
            }
        }
    }
}

/// Whether a line was typed, not pasted from a terminal or a log: no prompt, no mark of a log, and more words than names.
fn is_typed(line: &str, names: usize) -> bool {
    let is_marked = PASTED_OPENINGS
        .iter()
        .any(|opening| line.trim_start().starts_with(opening));
    let words = line.split_whitespace().count();
    !is_marked && !line.starts_with(INDENT) && (names <= FEW_NAMES || names * WORDS_A_NAME <= words)
}

fn is_worth_naming(name: &str) -> bool {
    !is_small_number(name) && !is_well_known(name) && !matches!(name, "--help" | "--version" | "--verbose")
}

/// Whether a name is a number of few digits, or a place in a file such as `271:25`: nobody needs it for its own sake.
fn is_small_number(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') && (name.contains(':') || name.len() < LEAST_NUMBER)
}

/// Identifiers that the model wrote in several of its calls.
fn used(records: &[Record<'_>], list: &mut Vec<Reference>) {
    let mut uses: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    for record in records {
        for call in record.message.calls() {
            let mut known = HashSet::new();
            for text in values(&call.input) {
                for name in names(&text).filter(|name| known.len() < MOST_OF_TEXT && known.insert(name.to_string())) {
                    let (times, last) = uses.entry(name.to_owned()).or_default();
                    *times += 1;
                    *last = record.number;
                }
            }
        }
    }
    let often = uses.into_iter().filter(|(_, (times, _))| *times >= LEAST_USES);
    list.extend(often.map(|(name, (times, last))| Reference {
        kind: RefKind::Used,
        text: name.into_boxed_str(),
        author: Author::Assistant,
        message: last,
        weight: USED + times.min(MOST_USES),
    }));
}

/// What the model wrote in a call: the strings of JSON, not its keys, which are the tool's.
fn values(input: &Input) -> Vec<Cow<'_, str>> {
    let text = match input {
        Input::Text(text) => return vec![Cow::Borrowed(text)],
        Input::Json(text) => &**text,
    };
    let bytes = text.as_bytes();
    let (mut values, mut at) = (Vec::new(), 0);
    while let Some(start) = memchr::memchr(b'"', &bytes[at..]).map(|found| at + found) {
        let mut end = start + 1;
        while end < bytes.len() && bytes[end] != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        at = (end + 1).min(bytes.len());
        let is_key = bytes[at..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':');
        let decoded = text
            .get(start..at)
            .and_then(|raw| json::value(raw).ok())
            .and_then(json::text);
        if let Some(decoded) = decoded.filter(|_| !is_key) {
            values.push(Cow::Owned(decoded.into()));
        }
    }
    values
}

/// Sections of a summary whose content holds until something says otherwise.
const LASTING: [Heading; 4] = [
    Heading::Constraints,
    Heading::Decisions,
    Heading::Files,
    Heading::Critical,
];

/// Identifiers that the previous summary has where what it says lasts.
fn lasting(previous: &str, list: &mut Vec<Reference>) {
    let sections = Sections::parse(previous);
    let lines = LASTING.iter().flat_map(|heading| sections.lines(*heading));
    let mut known = HashSet::new();
    let named = lines.flat_map(names).filter(|name| known.insert(*name));
    list.extend(named.take(MOST_EARLIER).map(|name| Reference {
        kind: RefKind::Earlier,
        text: name.into(),
        author: Author::Summary,
        message: 0,
        weight: EARLIER,
    }));
}
