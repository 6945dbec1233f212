//! Who wrote what in a message of the user role.
//!
//! Agent programs put their own words into user messages, before, behind and between the person's: reminders, environment facts,
//! notifications, instructions from files, the output of hooks. Taking them for the person's would give them the person's trust.
//! What stands in code, in a quote or in the middle of a sentence is a mention, and stays the person's.

use crate::transcript::author_splitter::Carry;
use crate::transcript::author_splitter::Splitter;
use crate::transcript::message::Author;
use crate::transcript::message::Message;
use crate::transcript::message::Role;
use crate::transcript::part::Part;
use crate::transcript::text_segment::TextSegment;

/// The text of a user message, split by who wrote it. The segments follow each other without a gap.
pub fn split_by_author(text: &str) -> Vec<TextSegment<'_>> {
    Splitter::new(text, Carry::Nothing).run().0
}

/// The author of a text in a user message: the person where they say anything in it, else whoever begins.
pub fn author_of_text(text: &str) -> Option<Author> {
    leading_author(&split_by_author(text))
}

/// The author of a message in the user role: the person where they say or attach anything, else whoever begins. Nobody where
/// it has no words and no attachments.
pub fn author_of_parts(parts: &[Part]) -> Option<Author> {
    let attaches = |part: &Part| matches!(part, Part::Media(_) | Part::Opaque(_));
    let said = leading_author(&segments_of(parts));
    if parts.iter().any(attaches) {
        return Some(Author::User);
    }
    said
}

fn leading_author(segments: &[TextSegment<'_>]) -> Option<Author> {
    let mut spoken = segments.iter().filter(|segment| !segment.text.trim().is_empty());
    let first = spoken.next()?.author;
    let is_persons = first == Author::User || spoken.any(|segment| segment.author == Author::User);
    Some(if is_persons { Author::User } else { first })
}

/// All texts of a message by who wrote them. What one text opens may go on in the next: some programs send a tool's name, its
/// output and the person's remark as texts of their own.
fn segments_of(parts: &[Part]) -> Vec<TextSegment<'_>> {
    let mut segments = Vec::new();
    let mut carry = Carry::Nothing;
    for part in parts {
        if let Part::Text(text) = part {
            let (found, carried) = Splitter::new(text, carry).run();
            segments.extend(found);
            carry = carried;
        }
    }
    segments
}

impl Message {
    /// Who wrote one of its parts: a result is the tool's, and what a program puts into the person's message is not theirs.
    pub fn author_of_part(&self, part: &Part) -> Author {
        match part {
            Part::Result(_) => Author::Tool,
            Part::Text(text) if self.author == Author::User => author_of_text(text).unwrap_or(self.author),
            Part::Text(_) | Part::Call(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => self.author,
        }
    }

    /// What the person says in it, in order and without blank space around; nothing where somebody else wrote it.
    pub fn person_words(&self) -> Vec<&str> {
        if self.author != Author::User || self.role != Role::User {
            return Vec::new();
        }
        segments_of(&self.parts)
            .into_iter()
            .filter(|segment| segment.author == Author::User)
            .map(|segment| segment.text.trim())
            .filter(|words| !words.is_empty())
            .collect()
    }
}

#[cfg(test)]
#[path = "authorship_tests.rs"]
mod tests;
