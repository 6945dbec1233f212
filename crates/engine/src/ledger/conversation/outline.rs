//! How a message is built: lists with the sentence that leads to them, options with their labels, and offers.
//!
//! An item of a list says little without its lead ("Two ways to fix it:"), and a sentence inside of an item says the opposite when it is
//! taken for another one's. So each sentence knows the one that has to stand with it.

use crate::ledger::conversation::record::ConversationRecord;
use crate::ledger::conversation::record::is_list_item;

/// A lead longer than this explains something itself; an item can do without it.
const LONGEST_LEAD: usize = 280;
/// Labels are short: "12", "b".
const LONGEST_NUMBER: usize = 2;

/// Words before the label of an option, in lower case.
const OPTION_WORDS: [&str; 14] = [
    "option",
    "variant",
    "variante",
    "approach",
    "alternative",
    "choice",
    "plan",
    "opción",
    "вариант",
    "вариант:",
    "пункт",
    "方案",
    "选项",
    "step",
];

/// Beginnings of a sentence that offers more work, in lower case. Nobody asked for it yet.
const OFFERS: [&str; 18] = [
    "if you want",
    "if you'd like",
    "if you’d like",
    "if you like",
    "if useful",
    "if helpful",
    "i can also",
    "i could also",
    "happy to",
    "let me know if",
    "wenn du willst",
    "wenn du möchtest",
    "wenn sie möchten",
    "если хотите",
    "если хочешь",
    "si quieres",
    "si tu veux",
    "如果你想",
];

/// What a sentence is in its message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutlineEntry {
    /// The sentence without which this one says little.
    pub lead: Option<usize>,
    /// The label of the option that begins here, in lower case.
    pub label: Option<String>,
    /// Where the option begins that this sentence is part of.
    pub option: Option<usize>,
    /// Whether it is part of a list of things that the agent offers to do.
    pub is_offered: bool,
    /// Whether it begins a line of its own.
    pub begins_line: bool,
    /// Whether it is a heading.
    pub is_heading: bool,
}

/// An item whose sentences are being read.
struct OpenItem {
    sentence: usize,
    indent: usize,
    lead: Option<usize>,
}

/// The outline of a message, an entry a sentence.
pub fn outline(record: &ConversationRecord) -> Vec<OutlineEntry> {
    let mut entries: Vec<OutlineEntry> = Vec::with_capacity(record.sentences.len());
    let mut items: Vec<OpenItem> = Vec::new();
    let mut option: Option<usize> = None;
    // The newest sentence outside of any list, which the next list may follow.
    let mut plain: Option<usize> = None;
    for (index, sentence) in record.sentences.iter().enumerate() {
        let words = record.words_of(sentence);
        let start = sentence.start as usize;
        let line_start = record.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let begins_line = record.text[line_start..start].trim().is_empty();
        let indent = start - line_start;
        let mut entry = OutlineEntry {
            begins_line,
            is_heading: begins_line && is_heading(words),
            ..OutlineEntry::default()
        };
        if begins_line {
            entry.label = option_label(words);
            let is_item = is_list_item(words) || entry.label.is_some() && !entry.is_heading;
            if is_item {
                items.retain(|item| item.indent < indent);
                let above = items.last().map(|item| item.sentence);
                let lead = above.or(plain.filter(|lead| leads(record, *lead)));
                entry.lead = lead;
                items.push(OpenItem {
                    sentence: index,
                    indent,
                    lead,
                });
            } else if entry.is_heading || indent == 0 || items.is_empty() {
                items.clear();
            }
            if entry.label.is_some() {
                option = Some(index);
            } else if entry.is_heading || items.is_empty() {
                option = option.filter(|open| entries[*open].is_heading && !entry.is_heading);
            }
        }
        if let Some(item) = items.last()
            && item.sentence != index
        {
            entry.lead = Some(item.sentence);
            entry.is_offered = entries[item.sentence].is_offered;
        } else if let Some(lead) = items.last().and_then(|item| item.lead) {
            entry.is_offered = is_offer(record.words_of(&record.sentences[lead])) || entries[lead].is_offered;
        }
        entry.option = option.or(entry.label.is_some().then_some(index));
        if items.is_empty() {
            plain = Some(index);
        }
        entries.push(entry);
    }
    entries
}

/// Whether a sentence may lead to the list behind it: a short one.
fn leads(record: &ConversationRecord, sentence: usize) -> bool {
    let sentence = &record.sentences[sentence];
    (sentence.end - sentence.start) as usize <= LONGEST_LEAD
}

/// Whether a line is a heading of Markdown.
pub fn is_heading(words: &str) -> bool {
    let behind = words.trim_start_matches('#');
    behind.len() < words.len() && behind.starts_with(' ')
}

/// Whether a sentence offers to do more.
pub fn is_offer(words: &str) -> bool {
    let lower = words.trim_start_matches(['*', '-', ' ']).to_lowercase();
    OFFERS.iter().any(|offer| lower.starts_with(offer))
}

/// The label that a line opens with, in lower case: `1.`, `(b)`, `**Option A —**`, `### 2.`, `#4`, `| A |`.
pub fn option_label(line: &str) -> Option<String> {
    let mut rest = line.trim_start_matches(['#', '|', ' ']);
    let is_marked = rest.len() < line.len() && line.starts_with(['|', '#']);
    rest = rest.strip_prefix("- ").or(rest.strip_prefix("* ")).unwrap_or(rest);
    rest = rest.trim_start_matches(['*', '_', '`']);
    let mut is_named = false;
    let word: String = rest.chars().take_while(|letter| letter.is_alphabetic()).collect();
    if OPTION_WORDS.contains(&word.to_lowercase().as_str()) {
        rest = rest[word.len()..].trim_start();
        is_named = true;
    }
    let is_hashed = rest.starts_with('#');
    let is_open = rest.starts_with('(');
    rest = rest.trim_start_matches(['#', '(']);
    let label: String = rest
        .chars()
        .take_while(|letter| letter.is_ascii_alphanumeric())
        .collect();
    let is_number =
        !label.is_empty() && label.len() <= LONGEST_NUMBER && label.bytes().all(|byte| byte.is_ascii_digit());
    let is_letter = label.len() == 1 && label.bytes().all(|byte| byte.is_ascii_alphabetic());
    if !is_number && !is_letter {
        return None;
    }
    let behind = rest[label.len()..].trim_start_matches(['*', '_', '`']);
    let closes = behind.starts_with(['.', ')', ':', '、', '：']) && {
        let next = behind.chars().nth(1);
        next.is_none_or(|next| next.is_whitespace() || matches!(next, '*' | '_' | ')' | ':'))
    };
    let is_apart = behind.is_empty() || behind.starts_with([' ', '|', '—', '–']);
    let is_cell = is_marked && line.starts_with('|') && behind.trim_start().starts_with('|');
    let is_label =
        closes || is_cell || is_apart && (is_named || is_hashed && is_number) || is_open && behind.starts_with(')');
    is_label.then(|| label.to_lowercase())
}

#[cfg(test)]
#[path = "outline_tests.rs"]
mod tests;
