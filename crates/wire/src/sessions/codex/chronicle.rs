//! The items of a thread as they were recorded, and the history the model would be sent.
//!
//! The history is what the newest compaction left, and the items recorded after it. A rollback takes back
//! turns, and with them the compactions that happened during those turns.

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::CompactionEvent;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::Usage;

use crate::document_builder::Reading;
use crate::reading::History;

/// How much of the user's words a compaction without a replacement history keeps: Codex's 20,000 tokens,
/// at its own estimate of four bytes a token.
const MOST_USER_BYTES: usize = 20_000 * 4;

/// A message and, unless it was made here, its item as it was recorded.
pub(super) struct Item {
    pub message: Message,
    pub json: Option<Box<str>>,
}

/// The state before a turn, to go back to.
struct Turn {
    items: usize,
    compactions: usize,
    newest_assistant: Option<usize>,
}

/// A recorded compaction. Its event says how many items had been recorded before it.
struct Compaction {
    event: CompactionEvent,
    left: Left,
    /// Which of the items it left open a turn.
    turns: Vec<usize>,
}

/// What a compaction left of the history.
pub(super) enum Left {
    /// These items.
    Items(Vec<Item>),
    /// The newest words of the user, and this summary.
    Summary(Box<Item>),
}

/// What a rollback took away.
pub(super) struct Undone {
    pub turns: usize,
    pub items: usize,
}

/// The record.
#[derive(Default)]
pub(super) struct Chronicle {
    items: Vec<Item>,
    turns: Vec<Turn>,
    compactions: Vec<Compaction>,
    newest_assistant: Option<usize>,
}

impl Chronicle {
    /// Adds a recorded item.
    pub fn record(&mut self, item: Item) {
        let index = self.items.len();
        if item.message.opens_turn() {
            self.turns.push(Turn {
                items: index,
                compactions: self.compactions.len(),
                newest_assistant: self.newest_assistant,
            });
        }
        if item.message.role == Role::Assistant {
            self.newest_assistant = Some(index);
        }
        self.items.push(item);
    }

    /// Gives usage to the newest item by the model, unless it has some: a request is counted once.
    pub fn attach(&mut self, usage: Usage) {
        let newest = self.newest_assistant.and_then(|index| self.items.get_mut(index));
        if let Some(item) = newest
            && item.message.usage.is_none()
        {
            item.message.usage = Some(Box::new(usage));
        }
    }

    /// Adds a compaction.
    pub fn compact(&mut self, left: Left, mut event: CompactionEvent) {
        event.before = self.items.len();
        let opens = |(index, item): (usize, &Item)| item.message.opens_turn().then_some(index);
        let turns = match &left {
            Left::Items(items) => items.iter().enumerate().filter_map(opens).collect(),
            Left::Summary(_) => Vec::new(),
        };
        self.compactions.push(Compaction { event, left, turns });
    }

    /// Takes back the newest turns.
    pub fn roll_back(&mut self, turns: usize) -> Undone {
        let before = self.items.len();
        let first = self.turns.len().saturating_sub(turns);
        let mut undone = Undone {
            turns: self.turns.len() - first,
            items: 0,
        };
        if let Some(turn) = self.turns.drain(first..).next() {
            self.items.truncate(turn.items);
            self.compactions.truncate(turn.compactions);
            self.newest_assistant = turn.newest_assistant;
        }
        // Earlier turns are only in what the newest compaction left of them.
        let more = turns - undone.turns;
        if more > 0
            && let Some(compaction) = self.compactions.last_mut()
            && let Left::Items(left) = &mut compaction.left
        {
            let first = compaction.turns.len().saturating_sub(more);
            undone.turns += compaction.turns.len() - first;
            if let Some(start) = compaction.turns.drain(first..).next() {
                undone.items += left.len() - start;
                left.truncate(start);
                let recorded = compaction.event.before;
                self.items.truncate(recorded);
                self.newest_assistant = self.newest_assistant.filter(|index| *index < recorded);
            }
        }
        undone.items += before - self.items.len();
        undone
    }

    /// The newest compaction's event.
    pub fn newest_event(&mut self) -> Option<&mut CompactionEvent> {
        self.compactions.last_mut().map(|compaction| &mut compaction.event)
    }

    /// Hands the wanted view over.
    pub fn pour(mut self, history: History, reading: &mut Reading) {
        for item in &self.items {
            reading.recorded.count(&item.message);
        }
        let offset = reading.len();
        match history {
            History::Full => {
                for compaction in self.compactions {
                    let mut event = compaction.event;
                    event.before += offset;
                    reading.event(event);
                }
                for item in self.items {
                    push(item, reading);
                }
            }
            History::Live => {
                let mut later = 0;
                if let Some(compaction) = self.compactions.pop() {
                    later = compaction.event.before;
                    self.pour_left(compaction, reading);
                }
                for item in self.items.into_iter().skip(later) {
                    push(item, reading);
                }
            }
        }
    }

    /// Hands over what the newest compaction left.
    fn pour_left(&self, newest: Compaction, reading: &mut Reading) {
        let left = match newest.left {
            Left::Items(items) => items,
            Left::Summary(summary) => {
                let mut left = self.newest_words(newest.event.before);
                left.push(*summary);
                left
            }
        };
        let mut event = newest.event;
        let is_summary = |item: &Item| item.message.author == Author::Summary;
        event.summary = left.iter().rposition(is_summary).map(|index| reading.len() + index);
        event.before = reading.len() + left.len();
        reading.event(event);
        for item in left {
            push(item, reading);
        }
    }

    /// The newest words of the user before this many items were recorded, as many as Codex keeps. Earlier
    /// compactions of the same kind kept them too; one with a replacement ends the search behind its own.
    fn newest_words(&self, recorded: usize) -> Vec<Item> {
        let replacement = self
            .compactions
            .iter()
            .rev()
            .find_map(|compaction| match &compaction.left {
                Left::Items(items) => Some((compaction.event.before, items.as_slice())),
                Left::Summary(_) => None,
            });
        let (start, left) = replacement.unwrap_or_default();
        let items = self.items.get(start..recorded).unwrap_or_default();
        let mut room = MOST_USER_BYTES;
        let mut kept = Vec::new();
        for item in items.iter().rev().chain(left.iter().rev()) {
            if room == 0 {
                break;
            }
            if item.message.opens_turn() {
                kept.push(keep(item, &mut room));
            }
        }
        kept.reverse();
        kept
    }
}

/// A user message as far as there is room for it.
fn keep(item: &Item, room: &mut usize) -> Item {
    let words = words(&item.message);
    // An empty message takes room too, or there could be any number of them.
    let size = words.len().max(1);
    if size <= *room {
        *room -= size;
        return Item {
            message: item.message.clone(),
            json: item.json.clone(),
        };
    }
    Item {
        message: Message {
            parts: vec![Part::Text(shorten(&words, std::mem::take(room)).into())],
            ..item.message.clone()
        },
        json: None,
    }
}

fn push(item: Item, reading: &mut Reading) {
    match item.json {
        Some(json) => reading.push_verbatim(item.message, &json),
        None => reading.push(item.message),
    }
}

/// A summary that Codex would send in the user role.
pub(super) fn summary(text: Box<str>, place: Place, at: Option<Timestamp>) -> Item {
    Item {
        message: Message {
            author: Author::Summary,
            place,
            at,
            ..Message::new(Role::User, vec![Part::Text(text)])
        },
        json: None,
    }
}

fn words(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_ref()),
        Part::Call(_) | Part::Result(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The beginning and the end of a text, at most this many bytes of it.
fn shorten(text: &str, most: usize) -> String {
    let head = text.floor_char_boundary(most / 2);
    let tail = text.ceil_char_boundary(text.len() - (most - most / 2).min(text.len()));
    let tail = tail.max(head);
    let lost = (tail - head).div_ceil(4);
    format!("{}…{lost} tokens truncated…{}", &text[..head], &text[tail..])
}
