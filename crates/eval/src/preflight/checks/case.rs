//! A conversation with what an engine made of it, read once for all checks.

use mainstay_engine::transcript::Message;

use crate::preflight::engines::Compacted;
use crate::preflight::ledger_text;
use crate::preflight::ledger_text::LedgerEntryView;
use crate::preflight::ledger_text::LedgerLine;
use crate::preflight::ledger_text::Section;
use crate::preflight::ledger_text::Status;
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
