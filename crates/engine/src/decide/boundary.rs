//! Where the head ends and the tail begins.
//!
//! The head is what stands before and with the person's first words. The tail is a token budget with a floor
//! in messages, widened to whole steps: a call and its results are never on two sides. The newest words of
//! the person are protected wherever they stand.

use std::ops::Range;

use crate::account::Tally;
use crate::transcript::Author;
use crate::transcript::Message;
use crate::transcript::Role;
use crate::transcript::Transcript;

/// What is kept as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// Messages before this index are the head.
    pub head_end: usize,
    /// Messages from this index on are the tail.
    pub tail_start: usize,
    /// The newest message of the person, when it stands before the tail.
    pub pinned: Option<usize>,
}

impl Boundary {
    /// The messages that may be changed.
    pub fn middle(&self) -> Range<usize> {
        self.head_end..self.tail_start.max(self.head_end)
    }

    /// Whether a message may be changed.
    pub fn is_open(&self, message: usize) -> bool {
        self.middle().contains(&message) && self.pinned != Some(message)
    }
}

/// Finds the boundary: a tail of about this many tokens and at least this many messages.
pub fn boundary(transcript: &Transcript, tally: &Tally, tail_tokens: u64, tail_messages: usize) -> Boundary {
    let messages = transcript.messages();
    let head_end = head_end(messages);
    let mut start = messages.len();
    let mut tokens = 0;
    while start > head_end {
        let next = tokens + tally.messages()[start - 1].total();
        // Whatever was asked for, the newest step is the tail.
        let floor_is_met = messages.len() - start >= tail_messages.max(1);
        if next > tail_tokens && floor_is_met {
            break;
        }
        tokens = next;
        start -= 1;
    }
    let tail_start = step_start(messages, start).max(head_end);
    let newest = messages.iter().rposition(Message::opens_turn);
    Boundary {
        head_end,
        tail_start,
        pinned: newest.filter(|index| *index < tail_start && *index >= head_end),
    }
}

/// The head: instructions, what the agent program adds to them, and the person's first message.
fn head_end(messages: &[Message]) -> usize {
    let before = messages
        .iter()
        .take_while(|message| {
            matches!(message.author, Author::System | Author::Host)
                && !matches!(message.role, Role::Assistant | Role::Tool)
        })
        .count();
    match messages.get(before) {
        Some(first) if first.opens_turn() => before + 1,
        // A summary of an earlier compaction is not the head: it is what the next one replaces.
        Some(_) | None => before,
    }
}

/// The start of the step that an index would cut: back over results and over the assistant messages they answer.
pub fn step_start(messages: &[Message], index: usize) -> usize {
    let mut start = index;
    while start > 0 && start < messages.len() && messages[start].has_results() {
        start -= 1;
    }
    while start > 0
        && start < messages.len()
        && messages[start].role == Role::Assistant
        && messages[start - 1].role == Role::Assistant
    {
        start -= 1;
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Family;
    use crate::transcript::CallId;
    use crate::transcript::Content;
    use crate::transcript::Draft;
    use crate::transcript::Input;
    use crate::transcript::Part;
    use crate::transcript::ToolCall;
    use crate::transcript::ToolOutcome;
    use crate::transcript::ToolResult;

    fn say(role: Role, words: usize) -> Message {
        Message::new(role, vec![Part::Text("word ".repeat(words).into())])
    }

    fn step(id: usize, words: usize) -> [Message; 2] {
        let id = CallId::new(id.to_string());
        let call = Part::Call(Box::new(ToolCall {
            id: id.clone(),
            name: "run".into(),
            input: Input::Json("{}".into()),
        }));
        let result = Part::Result(Box::new(ToolResult {
            id,
            name: None,
            content: vec![Content::Text("word ".repeat(words).into())],
            outcome: ToolOutcome::Unstated,
        }));
        [
            Message::new(Role::Assistant, vec![call]),
            Message::new(Role::Tool, vec![result]),
        ]
    }

    fn bounds(messages: Vec<Message>, tokens: u64, floor: usize) -> Boundary {
        let transcript = Draft {
            messages,
            ..Draft::default()
        }
        .assemble()
        .transcript;
        let mut tally = Tally::new(Family::O200k);
        tally.extend(transcript.messages());
        boundary(&transcript, &tally, tokens, floor)
    }

    #[test]
    fn the_head_ends_with_the_first_words_of_the_person() {
        let messages = vec![
            say(Role::System, 5),
            say(Role::User, 5),
            say(Role::Assistant, 5),
            say(Role::User, 5),
        ];
        assert_eq!(
            bounds(messages, 1, 1),
            Boundary {
                head_end: 2,
                tail_start: 3,
                pinned: None
            }
        );
    }

    #[test]
    fn the_tail_takes_whole_steps() {
        let mut messages = vec![say(Role::User, 5)];
        for id in 0..4 {
            messages.extend(step(id, 100));
        }
        // The budget would cut between the call at 5 and its result at 6.
        assert_eq!(bounds(messages.clone(), 240, 1).tail_start, 5);
        // Nothing would fit, but the newest step stays.
        assert_eq!(bounds(messages.clone(), 10, 0).tail_start, 7);
        assert_eq!(bounds(messages, 10, 3).tail_start, 5);
    }

    #[test]
    fn the_newest_words_of_the_person_are_pinned_where_the_turn_is_longer_than_the_tail() {
        let mut messages = vec![say(Role::User, 5), say(Role::Assistant, 5), say(Role::User, 5)];
        for id in 0..4 {
            messages.extend(step(id, 100));
        }
        let found = bounds(messages, 150, 1);
        assert_eq!(found.pinned, Some(2));
        assert!(!found.is_open(2) && found.is_open(3) && !found.is_open(found.tail_start));
    }

    #[test]
    fn everything_may_be_tail() {
        let found = bounds(vec![say(Role::User, 5), say(Role::Assistant, 5)], 1_000, 1);
        assert!(found.middle().is_empty());
        assert!(bounds(Vec::new(), 10, 3).middle().is_empty());
    }
}
