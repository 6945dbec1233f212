//! The vocabulary of the engine: messages, parts, turns, recorded events, and what was wrong with them.
//!
//! A [`Transcript`] that exists is well formed: every result answers a call that stands before it, every
//! call outside the open tool loop is answered, and answers follow their calls. [`Draft::assemble`] is the
//! only way to get one; it repairs what it must and reports each repair as a [`Finding`].

mod author_splitter;
mod authorship;
mod block_opening;
mod event;
mod finding;
mod host_marks;
mod host_tags;
mod message;
mod pairing;
mod part;
mod paste_forms;
mod paste_kind;
mod paste_lines;
mod pastes;
mod person_answers;
mod repair;
mod text_segment;
mod usage;

pub use authorship::author_of_parts;
pub use authorship::author_of_text;
pub use authorship::split_by_author;
pub use block_opening::LEDGER_NATURE;
pub use block_opening::LEDGER_TITLE;
pub use block_opening::SUMMARY_TITLE;
pub use block_opening::opens_block;
pub use block_opening::opens_request;
pub use block_opening::request_opening;
pub use event::CompactionEvent;
pub use event::CompactionKind;
pub use event::Trigger;
pub use finding::Finding;
pub use finding::Rule;
pub use finding::Severity;
pub use message::Author;
pub use message::Message;
pub use message::Place;
pub use message::Role;
pub use message::Timestamp;
pub use pairing::Pair;
pub use pairing::Spot;
pub use part::CallId;
pub use part::Content;
pub use part::Input;
pub use part::Media;
pub use part::MediaKind;
pub use part::MediaSource;
pub use part::Opaque;
pub use part::Part;
pub use part::Seal;
pub use part::Thinking;
pub use part::ToolCall;
pub use part::ToolOutcome;
pub use part::ToolResult;
pub use paste_kind::PasteKind;
pub use pastes::PassageKind;
pub use pastes::PersonPassage;
pub use pastes::split_pastes;
pub use person_answers::PersonAnswer;
pub use person_answers::is_plan_decision;
pub use person_answers::person_answers;
pub use repair::Assembly;
pub use repair::Draft;
pub use repair::Origin;
pub use text_segment::TextSegment;
pub use usage::Usage;

use std::ops::Range;

/// A well-formed conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    messages: Vec<Message>,
    pairs: Vec<Pair>,
    events: Vec<CompactionEvent>,
}

impl Transcript {
    /// The messages, in order.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Every tool call with its result, in the order of the calls.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The compactions that the source recorded, in order.
    pub fn events(&self) -> &[CompactionEvent] {
        &self.events
    }

    /// The conversation as it was before the message at this index came.
    pub fn until(&self, end: usize) -> Transcript {
        let end = end.min(self.messages.len());
        let is_before = |spot: &Spot| (spot.message as usize) < end;
        let pairs = self.pairs.iter().filter(|pair| is_before(&pair.call));
        Transcript {
            messages: self.messages[..end].to_vec(),
            pairs: pairs
                .map(|pair| Pair {
                    call: pair.call,
                    result: pair.result.filter(is_before),
                })
                .collect(),
            events: self
                .events
                .iter()
                .filter(|event| event.before <= end)
                .cloned()
                .collect(),
        }
    }

    /// Whether the conversation ends in calls that wait for their results.
    pub fn has_open_calls(&self) -> bool {
        self.pairs.iter().rev().any(|pair| pair.result.is_none())
    }

    /// The turns: each starts where the person speaks and ends before the next time. What stands before
    /// the first such message is a turn of its own.
    pub fn turns(&self) -> Vec<Range<usize>> {
        let mut turns = Vec::new();
        let mut start = 0;
        for (index, message) in self.messages.iter().enumerate() {
            if message.opens_turn() && index > start {
                turns.push(start..index);
                start = index;
            }
        }
        if start < self.messages.len() {
            turns.push(start..self.messages.len());
        }
        turns
    }
}
