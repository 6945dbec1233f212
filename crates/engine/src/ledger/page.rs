//! The ledger as text within a token budget: what matters most survives a small one, and what is left out is counted.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fmt::Write;

use crate::decide::cut;
use crate::ledger::entry::Entry;
use crate::ledger::entry::Kind;
use crate::ledger::entry::Status;
use crate::ledger::quote::Quoting;
use crate::ledger::quote::flat;
use crate::ledger::section::Section;
use crate::ledger::source_mark::source;
use crate::transcript::Author;

pub use crate::ledger::lost_lines::Lost;
pub use crate::ledger::lost_lines::lost_lines;
pub use crate::ledger::view_line::ViewLine;

/// How a page divides its budget among the sections.
impl Section {
    /// The part of the page, in hundredths, that the section may fill at most. What certainly waits, what was corrected, trouble and odd
    /// values are few lines that matter; rules and decisions stand in the conversation, and are only pointed at here.
    fn share(self) -> u64 {
        match self {
            Section::Errors | Section::Credentials | Section::Superseded => 35,
            Section::Questions | Section::OddRows | Section::Files | Section::Commands => 20,
            Section::Tasks | Section::Commits => 15,
            Section::Obligations => 12,
            Section::Constraints => 10,
            Section::Decisions | Section::Facts => 8,
        }
    }

    /// The order in which sections are filled, while there is room.
    fn rank(self) -> u8 {
        match self {
            Section::Questions => 0,
            Section::Superseded => 1,
            Section::Obligations => 2,
            Section::Tasks => 3,
            // Lines of these are short, and what was made is found again by nothing else.
            Section::Commits => 4,
            Section::Files => 5,
            Section::OddRows => 6,
            Section::Errors => 7,
            Section::Credentials => 8,
            Section::Constraints => 9,
            Section::Commands => 10,
            Section::Decisions => 11,
            Section::Facts => 12,
        }
    }
}

/// Characters of a sentence in a view: enough to know it again; the sentence itself stands in the conversation.
const VIEW_CHARACTERS: usize = 120;

/// Words as a view shows them.
pub fn view_words(words: &str) -> String {
    cut(&flat(words), VIEW_CHARACTERS)
}

/// The sections as they will stand, without evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sections {
    /// By section, its lines in order.
    pub lines: BTreeMap<Section, Vec<String>>,
    /// By section, how many entries were left out.
    pub left_out: BTreeMap<Section, usize>,
    /// What the lines cost, headings included.
    pub tokens: u64,
}

/// What of the entries is wanted most.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// What to keep most of.
    pub focus: Option<&'a str>,
    /// Whether facts of tools that say what others say too come last.
    pub rare_first: bool,
}

/// Fills the sections with entries until each has its part of the budget.
pub fn fill<'a>(
    entries: impl Iterator<Item = &'a Entry>,
    views: Vec<ViewLine>,
    quoting: &Quoting,
    wanted: &Wanted<'_>,
    budget: u64,
    count: &dyn Fn(&str) -> u64,
) -> Sections {
    let focus = focus_words(wanted.focus);
    let mut by_section: BTreeMap<Section, Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        if let Some(section) = Section::of(entry) {
            by_section.entry(section).or_default().push(entry);
        }
    }
    let common = by_section
        .get(&Section::Facts)
        .map(|facts| common_values(facts))
        .unwrap_or_default();
    let mut sections = Sections::default();
    let mut by_view: BTreeMap<Section, Vec<ViewLine>> = BTreeMap::new();
    for view in views {
        by_section.entry(view.section).or_default();
        by_view.entry(view.section).or_default().push(view);
    }
    let mut ranked: Vec<_> = by_section.into_iter().collect();
    ranked.sort_by_key(|(section, _)| section.rank());
    let mut left = budget;
    let mut overflowing = Vec::new();
    for (section, mut entries) in ranked {
        entries.sort_by_key(|entry| {
            let is_aside = !speaks_of(entry, &focus);
            let tells_little = wanted.rare_first && section == Section::Facts && tells_little(entry, &common);
            (is_aside, importance(entry), tells_little, std::cmp::Reverse(entry.last))
        });
        let allowed = (budget * section.share() / 100).min(left);
        let mut lines: Vec<ViewLine> = entries
            .iter()
            .filter_map(|entry| {
                let text = shown_line(entry, quoting)?;
                let number = entry.first;
                Some(ViewLine::new(section, number, text))
            })
            .collect();
        lines.splice(0..0, by_view.remove(&section).into_iter().flatten());
        let used = sections.admit(section, &lines, allowed, count);
        left = left.saturating_sub(used);
        if sections.left_out.contains_key(&section) {
            overflowing.push((section, lines, used));
        }
    }
    // What some sections do not need goes to others, half of it to each: none may take all of it.
    for (section, lines, used) in overflowing {
        sections.left_out.remove(&section);
        sections.tokens -= used;
        let more = sections.admit(section, &lines, used + left / 2, count);
        left = (left + used).saturating_sub(more);
    }
    sections
}

/// Shorter words of a topic say nothing about it.
const LEAST_FOCUS_WORD: usize = 3;

/// The words of a topic.
pub fn focus_words(topic: Option<&str>) -> Vec<String> {
    let words = topic.unwrap_or("").split(|letter: char| !letter.is_alphanumeric());
    let long = words.filter(|word| word.chars().count() >= LEAST_FOCUS_WORD);
    long.map(str::to_lowercase).collect()
}

/// Whether an entry speaks of a topic; every entry does when there is none.
fn speaks_of(entry: &Entry, focus: &[String]) -> bool {
    if focus.is_empty() {
        return true;
    }
    let said = format!("{} {}", entry.key, entry.value).to_lowercase();
    focus.iter().any(|word| said.contains(word.as_str()))
}

/// Lower comes first: the person's before the model's before a tool's, then what is open or often confirmed.
fn importance(entry: &Entry) -> u8 {
    let author = match entry.author {
        Author::User => 0,
        Author::System | Author::Host => 1,
        Author::Assistant => 2,
        Author::Summary | Author::Tool => 3,
    };
    // What the person said stands in the conversation; what a call set stands nowhere else.
    if entry.is_computed() && entry.author == Author::Assistant {
        return 0;
    }
    // A file that was only read can be read again; one that was changed is what the work is about.
    let is_minor = entry.kind == Kind::File && entry.value.starts_with("read");
    author * 2 + u8::from(is_minor)
}

/// A value that so many facts have tells none of them apart: twelve jobs that are all `scheduled`.
const COMMON_VALUE: usize = 3;

/// Values that many facts have.
fn common_values<'a>(facts: &[&'a Entry]) -> BTreeSet<&'a str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in facts {
        *counts.entry(&entry.value).or_default() += 1;
    }
    let often = counts.into_iter().filter(|(_, count)| *count >= COMMON_VALUE);
    often.map(|(value, _)| value).collect()
}

/// Whether a fact that a tool showed says what others say too, or only repeats its own name.
fn tells_little(entry: &Entry, common: &BTreeSet<&str>) -> bool {
    entry.author == Author::Tool && (common.contains(&*entry.value) || entry.key.contains(&*entry.value))
}

impl Sections {
    fn admit(&mut self, section: Section, lines: &[ViewLine], allowed: u64, count: &dyn Fn(&str) -> u64) -> u64 {
        let mut used = count(section.heading()) + HEADING_MARKS;
        let mut chosen: Vec<&ViewLine> = Vec::new();
        let mut said = BTreeSet::new();
        for (at, entry) in lines.iter().enumerate() {
            let cost = count(&entry.text) + 1;
            // One sentence may give two values; it is shown once.
            let is_kept_back = entry.is_spare && chosen.len() < at;
            if used + cost <= allowed && !is_kept_back && said.insert(&entry.text) {
                used += cost;
                chosen.push(entry);
            }
        }
        let left = lines.len() - chosen.len();
        if left > 0 {
            self.left_out.insert(section, left);
        }
        if chosen.is_empty() {
            return 0;
        }
        chosen.sort_by_key(|line| line.number);
        let chosen = chosen.into_iter().map(|line| line.text.clone());
        self.lines.insert(section, chosen.collect());
        self.tokens += used;
        used
    }

    /// The sections as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (section, lines) in &self.lines {
            let _ = write!(text, "## {}", section.heading());
            if let Some(left) = self.left_out.get(section) {
                let _ = write!(text, " (+{left} left out)");
            }
            text.push('\n');
            for line in lines {
                text.push_str(line);
                text.push('\n');
            }
        }
        text
    }
}

/// `## `, a line break, and the note of what was left out.
const HEADING_MARKS: u64 = 8;

/// One entry as a line of a block. `None` where its words must not stand alone: they do not give the value, or they name what no longer
/// holds as well, and the conversation shows them in their order.
fn shown_line(entry: &Entry, quoting: &Quoting) -> Option<String> {
    let is_quoted_fact = entry.kind == Kind::Fact && entry.status == Status::Current && !entry.is_computed();
    let words = match entry.kind {
        // The whole sentence stands in the conversation.
        Kind::Constraint | Kind::Decision => view_words(&entry.value),
        Kind::Fact if is_quoted_fact => {
            let words = entry.note.as_deref().filter(|_| !entry.is_by_consent())?;
            let is_telling = words.contains(&*entry.value) && !quoting.is_stale(words);
            is_telling.then(|| words_around(words, &entry.value))?
        }
        _ => return Some(line(entry)),
    };
    Some(format!("- {} {words}", source(entry.author, entry.first, entry.first)))
}

/// Characters before a value that say what it is of.
const BEFORE_VALUE: usize = 60;

/// Words as a view shows them, from where they give a value.
fn words_around(words: &str, value: &str) -> String {
    let beginning = view_words(words);
    if beginning.contains(&*flat(value)) {
        return beginning;
    }
    let words = flat(words);
    let Some(at) = words.find(&*flat(value)) else {
        return beginning;
    };
    let from = words.floor_char_boundary(at.saturating_sub(BEFORE_VALUE));
    let from = words[from..at].find(' ').map_or(at, |space| from + space + 1);
    format!("…{}", cut(&words[from..], VIEW_CHARACTERS))
}

/// One entry as a line.
pub fn line(entry: &Entry) -> String {
    let said = match (entry.kind, entry.status) {
        // What came next, which may have been replaced in its turn.
        (Kind::Fact, Status::Superseded) => match &entry.note {
            Some(note) => {
                let next = note.strip_prefix("now ").unwrap_or(note);
                format!("{}: {} → {next}", entry.key, entry.value)
            }
            None => format!("{}: {}", entry.key, entry.value),
        },
        (_, Status::Superseded) => match &entry.note {
            Some(note) => format!("no longer: {} → {note}", entry.value),
            None => format!("no longer: {}", entry.value),
        },
        (Kind::Fact, _) => match &entry.note {
            Some(words) if words.contains(&*entry.value) => words.to_string(),
            Some(_) | None => format!("{}: {}", entry.key, entry.value),
        },
        (Kind::File, _) => format!("{}: {}", entry.key, entry.value),
        (Kind::Decision, Status::Proposed) => format!("proposed, not agreed: {}", entry.value),
        (_, _) => match &entry.note {
            Some(note) => format!("{} ({note})", entry.value),
            None => entry.value.to_string(),
        },
    };
    // What a call set is nobody's words either.
    let author = if entry.is_computed() {
        Author::Tool
    } else {
        entry.author
    };
    // The mark comes first: whatever stands behind it cannot pass for one.
    format!("- {} {}", source(author, entry.first, entry.last), flat(&said))
}

/// A text within a budget: whole lines, the first half of them from its head and the rest from its end.
pub fn shortened(text: &str, budget: u64, count: &dyn Fn(&str) -> u64) -> String {
    let text = text.trim();
    if count(text) <= budget {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.lines().collect();
    let costs: Vec<u64> = lines.iter().map(|line| count(line) + 1).collect();
    let room = budget.saturating_sub(count(LEFT_OUT) + 1);
    let take = |order: &mut dyn Iterator<Item = usize>, room: u64| {
        let mut used = 0;
        order
            .take_while(|index| {
                used += costs[*index];
                used <= room
            })
            .count()
    };
    let head = take(&mut (0..lines.len()), room / 2);
    let spent: u64 = costs[..head].iter().sum();
    let tail = take(&mut (head..lines.len()).rev(), room - spent);
    if head + tail == 0 {
        return beginning(text, budget, count);
    }
    let mut kept = lines[..head].to_vec();
    kept.push(LEFT_OUT);
    kept.extend(&lines[lines.len() - tail..]);
    kept.join("\n")
}

/// As many words of a text as fit; as many letters where there are no spaces. Half of a word may be half of a secret.
pub fn beginning(text: &str, budget: u64, count: &dyn Fn(&str) -> u64) -> String {
    let budget = budget.saturating_sub(count(LEFT_OUT) + 1);
    let (mut fits, mut over) = (0, text.len());
    while over - fits > 1 {
        let middle = text.floor_char_boundary(fits + (over - fits) / 2);
        match middle > fits && count(&text[..middle]) <= budget {
            true => fits = middle,
            false if middle > fits => over = middle,
            false => break,
        }
    }
    let words = match text[..fits].rfind(char::is_whitespace) {
        Some(end) if end * 2 > fits => text[..end].trim_end(),
        Some(_) | None => &text[..fits],
    };
    match words.is_empty() {
        true => String::new(),
        false => format!("{words}\n{LEFT_OUT}"),
    }
}

/// Stands where lines were left out.
const LEFT_OUT: &str = "[…]";

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
