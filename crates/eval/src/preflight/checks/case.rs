//! A conversation with what an engine made of it, read once for all checks.

use mainstay_engine::transcript::Message;

use crate::grade;
use crate::ledger_text;
use crate::ledger_text::LedgerEntryView;
use crate::ledger_text::LedgerLine;
use crate::ledger_text::Section;
use crate::ledger_text::Status;
use crate::preflight::engines::Compacted;
use crate::preflight::sheet::Conversation;
use crate::preflight::sheet::Sheet;
use crate::retention::render;

/// What a check looks at.
pub struct Case<'a> {
    /// The conversation.
    pub conversation: &'a Conversation,
    /// Its compaction.
    pub result: &'a Compacted,
    /// Its compaction, made once more.
    pub again: &'a Compacted,
    /// What the model sees between instructions and tail.
    pub cold: String,
    /// The same, line by line.
    pub lines: Vec<LedgerLine>,
}

impl<'a> Case<'a> {
    /// Reads a result.
    pub fn new(conversation: &'a Conversation, result: &'a Compacted, again: &'a Compacted) -> Self {
        let instructions = conversation.instructions();
        let same = result
            .messages
            .iter()
            .zip(&instructions)
            .take_while(|(one, other)| one == *other)
            .count();
        let end = result.messages.len().saturating_sub(conversation.tail).max(same);
        let texts: Vec<String> = result.messages[same..end].iter().map(render).collect();
        let cold = texts.join("\n");
        Self {
            lines: ledger_text::read(&cold),
            conversation,
            result,
            again,
            cold,
        }
    }

    /// What must be true.
    pub fn sheet(&self) -> &Sheet {
        &self.conversation.sheet
    }

    /// The last messages of the result, as many as the tail has.
    pub fn result_tail(&self) -> &[Message] {
        let messages = &self.result.messages;
        &messages[messages.len().saturating_sub(self.conversation.tail)..]
    }

    /// The ledger's entries.
    pub fn entries(&self) -> impl Iterator<Item = &LedgerEntryView> {
        self.lines.iter().filter_map(|line| match line {
            LedgerLine::Entry(entry) => Some(entry),
            LedgerLine::Title(_) | LedgerLine::Prose(_) => None,
        })
    }

    /// The entries of a section that name a needle.
    pub fn naming(&self, section: Section, needle: &str) -> impl Iterator<Item = &LedgerEntryView> {
        self.entries()
            .filter(move |entry| entry.section == section && mentions(&entry.text, needle))
    }

    /// Whether a section has an entry that stands and names a needle.
    pub fn is_open(&self, section: Section, needle: &str) -> bool {
        self.naming(section, needle).any(|entry| entry.status == Status::Open)
    }

    /// Whether any line names a needle.
    pub fn is_shown(&self, needle: &str) -> bool {
        self.lines.iter().any(|line| mentions(text_of(line), needle))
    }

    /// What messages of the conversation that name a needle say.
    pub fn sources(&self, needle: &str) -> Vec<String> {
        let messages = self.conversation.transcript.messages().iter().map(render);
        messages.filter(|text| mentions(text, needle)).collect()
    }

    /// A line that gives an old value as current: it has no mark and not the new value, and no later line has that either. A view of the
    /// present is false by itself, whatever follows.
    pub fn misleading(&self, stale: &str, current: &str) -> Option<&str> {
        self.lines.iter().enumerate().find_map(|(place, line)| {
            let text = text_of(line);
            if !mentions(text, stale) || mentions(text, current) {
                return None;
            }
            let (is_view, is_marked) = match line {
                LedgerLine::Entry(entry) => (entry.section.is_view_of_present(), entry.status == Status::Superseded),
                LedgerLine::Prose(_) | LedgerLine::Title(_) => (false, false),
            };
            let is_past = is_marked || !grade::gives_as_current(text, stale);
            (!is_past && (is_view || !self.is_told_later(place, current))).then_some(text)
        })
    }

    /// Whether a superseded entry names a value as the one that came next.
    pub fn is_successor(&self, value: &str) -> bool {
        let mut past = self.entries().filter(|entry| entry.status == Status::Superseded);
        past.any(|entry| {
            let next = entry.text.rsplit_once('\u{2192}').map_or("", |(_, next)| next);
            mentions(next, value)
        })
    }

    /// Whether a line that comes later, by the number of its message or else by its place, has a value.
    fn is_told_later(&self, place: usize, value: &str) -> bool {
        let number = |line: &LedgerLine| match line {
            LedgerLine::Entry(entry) => entry.message,
            LedgerLine::Prose(_) | LedgerLine::Title(_) => None,
        };
        let own = self.lines.get(place).and_then(number);
        let is_later = |other: usize, line: &LedgerLine| match (own, number(line)) {
            (Some(own), Some(other)) => other > own,
            (Some(_) | None, Some(_) | None) => other > place,
        };
        let is_standing = |line: &LedgerLine| match line {
            LedgerLine::Entry(entry) => entry.status != Status::Superseded,
            LedgerLine::Prose(_) => true,
            LedgerLine::Title(_) => false,
        };
        let mut lines = self.lines.iter().enumerate();
        lines.any(|(other, line)| is_standing(line) && mentions(text_of(line), value) && is_later(other, line))
    }

    /// Every line that the model would take for current.
    pub fn current_lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().filter_map(|line| match line {
            LedgerLine::Entry(entry) if entry.status == Status::Superseded => None,
            LedgerLine::Entry(entry) => Some(entry.text.as_str()),
            LedgerLine::Prose(text) => Some(text.as_str()),
            LedgerLine::Title(_) => None,
        })
    }
}

/// What a line says.
pub fn text_of(line: &LedgerLine) -> &str {
    match line {
        LedgerLine::Entry(entry) => &entry.text,
        LedgerLine::Prose(text) => text,
        LedgerLine::Title(_) => "",
    }
}

/// Whether a text names something as a word of its own.
pub fn mentions(text: &str, needle: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.match_indices(needle).any(|(start, found)| {
        !is_part(text[..start].chars().next_back()) && !is_part(text[start + found.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_needle_is_a_word() {
        assert!(mentions("use heron-12.", "heron-12"));
        assert!(mentions("需要更新heron-12的证书", "heron-12"));
        assert!(!mentions("use heron-123", "heron-12"));
        assert!(!mentions("alphabet", "alpha"));
        assert!(mentions("alphabet alpha", "alpha"));
    }
}
