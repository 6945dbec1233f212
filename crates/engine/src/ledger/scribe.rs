//! The one who writes the ledger: cleans every message, folds it, and writes the block that stands for what is replaced.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::collections::VecDeque;
use std::sync::Arc;

use crate::decide::LEAST_BLOCK;
use crate::decide::Span;
use crate::ledger::Ledger;
use crate::ledger::entry::Entry;
use crate::ledger::entry::Status;
use crate::ledger::evidence::Evidence;
use crate::ledger::evidence::Room;
use crate::ledger::evidence::Snippet;
use crate::ledger::evidence::render;
use crate::ledger::frame;
use crate::ledger::memory::Carried;
use crate::ledger::memory::Digest;
use crate::ledger::memory::Kept;
use crate::ledger::memory::Memory;
use crate::ledger::memory::chained;
use crate::ledger::memory::digest;
use crate::ledger::page;
use crate::ledger::page::Sections;
use crate::ledger::quote::Quoting;
use crate::redact::Known;
use crate::redact::Redactor;
use crate::transcript::Author;
use crate::transcript::Content;
use crate::transcript::Input;
use crate::transcript::Message;
use crate::transcript::Part;

/// Hides what must not be shown: secrets, addresses. An implementor must be deterministic and linear.
pub trait Cleaner: Send + Sync {
    /// The text with everything hidden that must be, what is known from earlier texts included; `None` when nothing
    /// had to be.
    fn clean(&self, known: &mut Known, text: &str) -> Option<String>;
}

impl Cleaner for Redactor {
    fn clean(&self, known: &mut Known, text: &str) -> Option<String> {
        let redacted = self.redact_with(known, text);
        (!redacted.spans.is_empty()).then_some(redacted.text)
    }
}

/// For hosts that asked for no redaction.
#[derive(Clone, Copy, Debug, Default)]
pub struct NothingToHide;

impl Cleaner for NothingToHide {
    fn clean(&self, _: &mut Known, _: &str) -> Option<String> {
        None
    }
}

/// A block as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its text, frame included.
    pub text: String,
    /// The evidence it shows.
    pub carried: Vec<Carried>,
}

/// Below this a block has no room for a full notice.
const ROOM_FOR_NOTICE: u64 = 1_500;
/// A page is written at most this often: each time smaller by what it was too long.
const MOST_ATTEMPTS: usize = 5;

/// The part of the evidence that goes to the end of the newest message where that could not be kept.
const NEWEST_SHARE: u64 = 4;
/// How far ahead a message is looked for among those that a block left: a host may have taken some out.
const LOOK_AHEAD: usize = 64;
/// The number of a message that is not part of the history itself: a block.
const NO_NUMBER: u32 = u32::MAX;

/// Keeps the ledger of one conversation.
#[derive(Clone)]
pub struct Scribe {
    key: [u8; 32],
    cleaner: Arc<dyn Cleaner>,
    /// Secrets seen so far; they are in memory only.
    known: Known,
    ledger: Ledger,
    evidence: Evidence,
    /// What an earlier block showed of a history that is gone, and the same as messages that evidence is chosen from.
    carried: Vec<(u32, Message)>,
    /// The digest of everything that was folded.
    chain: Digest,
    /// For every message seen, its number in the conversation: what a block stands for has numbers too.
    numbers: Vec<u32>,
    digests: Vec<Digest>,
    /// Messages behind a block that are known already, the next one first.
    expected: VecDeque<Kept>,
    /// The block of an earlier pass that the conversation came with.
    resumed_block: Option<usize>,
    /// Messages in which something was hidden, as they may be shown, by index.
    cleaned: BTreeMap<u32, Message>,
}

impl std::fmt::Debug for Scribe {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The key stays out of logs.
        formatter
            .debug_struct("Scribe")
            .field("folded", &self.ledger.folded())
            .finish_non_exhaustive()
    }
}

impl Scribe {
    /// A scribe whose frames only this key opens.
    pub fn new(key: [u8; 32], cleaner: Arc<dyn Cleaner>) -> Self {
        Self {
            key,
            cleaner,
            known: Known::default(),
            ledger: Ledger::default(),
            evidence: Evidence::new(),
            carried: Vec::new(),
            chain: Digest::default(),
            numbers: Vec::new(),
            digests: Vec::new(),
            expected: VecDeque::new(),
            resumed_block: None,
            cleaned: BTreeMap::new(),
        }
    }

    /// The mark of the frame that one of these messages is, when this key made it: the name under which the state
    /// behind it was saved.
    pub fn find_frame(&self, messages: &[Message]) -> Option<(usize, String)> {
        let framed = messages
            .iter()
            .enumerate()
            .filter(|(_, message)| message.author == Author::Summary);
        let mut opened = framed.filter_map(|(index, message)| match &message.parts[..] {
            [Part::Text(text)] => Some((index, frame::open(&self.key, text)?.0.to_owned())),
            _ => None,
        });
        opened.next_back()
    }

    /// The mark of a frame that this key made.
    pub fn mark_of<'a>(&self, text: &'a str) -> Option<&'a str> {
        frame::open(&self.key, text).map(|(mark, _)| mark)
    }

    /// Goes on from a state whose block is one of the messages to come.
    pub fn resume_behind(&mut self, block: usize, memory: Memory) {
        self.ledger = memory.ledger;
        self.chain = memory.chain;
        self.expected = memory.kept.into();
        self.resumed_block = Some(block);
        self.carried = memory
            .carried
            .iter()
            .map(|carried| (carried.number, carried.to_message()))
            .collect();
        for (place, (_, message)) in (0..).zip(&self.carried) {
            self.evidence.fold(place, message);
        }
    }

    /// Goes on from a state of the same conversation, if it is one: whether these messages begin as it says.
    pub fn resume(&mut self, memory: Memory, messages: &[Message]) -> bool {
        let folded = memory.ledger.folded() as usize;
        let Some(known) = messages.get(..folded) else {
            return false;
        };
        let digests: Vec<Digest> = known.iter().map(digest).collect();
        let chain = digests
            .iter()
            .fold(Digest::default(), |chain, digest| chained(chain, *digest));
        if chain != memory.chain {
            return false;
        }
        for (index, message) in known.iter().enumerate() {
            let clean = self.clean_message(message, false);
            self.evidence.fold(index as u32, clean.as_ref().unwrap_or(message));
            if let Some(clean) = clean {
                self.cleaned.insert(index as u32, clean);
            }
        }
        self.numbers = (0..folded as u32).collect();
        self.digests = digests;
        self.chain = chain;
        self.ledger = memory.ledger;
        true
    }

    /// The state to save for the whole conversation. Evidence is not part of it: it is chosen from the messages, which
    /// are at hand whenever the state is.
    pub fn memory(&self) -> Memory {
        Memory::new(self.ledger.clone(), self.chain, Vec::new(), Vec::new())
    }

    /// The state to save behind a block that leaves what a span keeps.
    pub fn memory_behind(&self, span: &Span, carried: &[Carried]) -> Memory {
        let kept = span.kept.iter().filter(|index| self.numbers[**index] != NO_NUMBER);
        let kept = kept.map(|index| Kept {
            digest: self.digests[*index],
            number: self.numbers[*index],
        });
        Memory::new(self.ledger.clone(), self.chain, kept.collect(), carried.to_vec())
    }

    /// Whether nothing that the person said first was superseded since.
    pub fn first_words_hold(&self, messages: &[Message]) -> bool {
        let first = messages.iter().position(Message::opens_turn);
        let Some(number) = first.and_then(|index| self.numbers.get(index)) else {
            return true;
        };
        let is_gone = |entry: &Entry| entry.status == Status::Superseded && entry.first == *number;
        !self.ledger.entries().any(is_gone)
    }

    /// The block of an earlier pass that the conversation came with, and that the next one replaces.
    pub fn resumed_block(&self) -> Option<usize> {
        self.resumed_block
    }

    /// A text as it may be shown.
    pub fn hide(&self, text: &str) -> Option<String> {
        self.cleaner.clean(&mut self.known.clone(), text)
    }

    /// The ledger so far.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Takes in the messages that are new. Earlier ones must be the same as before.
    pub fn observe(&mut self, messages: &[Message]) {
        for (index, message) in messages.iter().enumerate().skip(self.numbers.len()) {
            let digest = digest(message);
            self.digests.push(digest);
            if self.resumed_block == Some(index) {
                self.numbers.push(NO_NUMBER);
                continue;
            }
            // What a block left is known; whatever the host changed or added meanwhile is new.
            let near = self.expected.iter().take(LOOK_AHEAD);
            let known = near.into_iter().position(|kept| kept.digest == digest);
            let clean = self.clean_message(message, known.is_none());
            match known {
                Some(position) => {
                    let kept = self.expected.drain(..=position).next_back();
                    self.numbers.push(kept.map_or(NO_NUMBER, |kept| kept.number));
                }
                None => {
                    self.numbers.push(self.ledger.folded());
                    self.chain = chained(self.chain, digest);
                    self.ledger.fold(clean.as_ref().unwrap_or(message));
                }
            }
            let place = (self.carried.len() + index) as u32;
            self.evidence.fold(place, clean.as_ref().unwrap_or(message));
            if let Some(clean) = clean {
                self.cleaned.insert(index as u32, clean);
            }
        }
    }

    /// A message as it may be shown; `None` when nothing had to be hidden. A new one's credentials are noted.
    fn clean_message(&mut self, message: &Message, is_new: bool) -> Option<Message> {
        let mut clean: Option<Message> = None;
        for (index, part) in message.parts.iter().enumerate() {
            let shown = match part {
                Part::Text(text) => self.clean_text(text, message.author, is_new).map(Part::Text),
                Part::Call(call) => self
                    .clean_text(call.input.as_str(), message.author, is_new)
                    .map(|text| {
                        let mut call = call.clone();
                        call.input = match call.input {
                            Input::Json(_) => Input::Json(text),
                            Input::Text(_) => Input::Text(text),
                        };
                        Part::Call(call)
                    }),
                Part::Result(result) => {
                    let mut hidden = result.clone();
                    let mut changed = false;
                    for content in &mut hidden.content {
                        if let Content::Text(text) = content
                            && let Some(shown) = self.clean_text(text, Author::Tool, is_new)
                        {
                            *text = shown;
                            changed = true;
                        }
                    }
                    changed.then_some(Part::Result(hidden))
                }
                Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => None,
            };
            if let Some(shown) = shown {
                clean.get_or_insert_with(|| message.clone()).parts[index] = shown;
            }
        }
        clean
    }

    fn clean_text(&mut self, text: &str, author: Author, is_new: bool) -> Option<Box<str>> {
        let clean = self.cleaner.clean(&mut self.known, text)?;
        if is_new {
            self.ledger.note_hidden(text, &clean, author);
        }
        Some(clean.into())
    }

    /// The block that stands for everything a span does not keep, in at most this many tokens; `None` when they are too
    /// few for a block.
    pub fn block(
        &self,
        messages: &[Message],
        span: &Span,
        budget: u64,
        count: &dyn Fn(&str) -> u64,
    ) -> Option<Written> {
        if budget < LEAST_BLOCK {
            return None;
        }
        let mut room = budget;
        for _ in 0..MOST_ATTEMPTS {
            let (body, snippets) = self.body(messages, span, room, count);
            // Beside other lines something may look like a secret that did not on its own.
            let body = self.hide(&body).unwrap_or(body);
            let text = frame::wrap(&self.key, &body);
            let tokens = count(&text);
            if tokens <= budget {
                let carried = snippets.into_iter().map(|snippet| Carried {
                    number: snippet.message,
                    author: snippet.author,
                    tool: snippet.tool,
                    text: snippet.text.into(),
                });
                return Some(Written {
                    text,
                    carried: carried.collect(),
                });
            }
            room = room.saturating_sub(tokens - budget + 1);
        }
        None
    }

    fn body(
        &self,
        messages: &[Message],
        span: &Span,
        room: u64,
        count: &dyn Fn(&str) -> u64,
    ) -> (String, Vec<Snippet>) {
        let has_room = room >= ROOM_FOR_NOTICE;
        let notice = if has_room { frame::NOTICE } else { "" };
        let left = room.saturating_sub(count(&frame::wrap(&self.key, notice)));
        let sections = self.sections(span, left, count);
        let mut text = sections.text();
        let notes = if has_room {
            self.notes(span, &sections)
        } else {
            String::new()
        };
        if has_room {
            text.push_str("## Evidence\n");
        }
        let left = left.saturating_sub(count(&text) + count(&notes));
        let newest = self.newest(messages, span, left / NEWEST_SHARE, count);
        let ending = newest
            .as_ref()
            .map(|snippet| render(std::slice::from_ref(snippet)))
            .unwrap_or_default();
        let shown = format!("{text}{ending}");
        let mut snippets = self.choose(messages, span, &shown, left.saturating_sub(count(&ending)), count);
        snippets.extend(newest);
        if snippets.is_empty() && has_room {
            text.truncate(text.len() - "## Evidence\n".len());
        }
        let body = format!("{notice}\n{text}{}{notes}", render(&snippets));
        (body.trim().to_owned(), snippets)
    }

    /// The end of the newest message, where it is too long to be kept: what the model has just seen is what it goes on
    /// from, whatever its past says.
    fn newest(&self, messages: &[Message], span: &Span, budget: u64, count: &dyn Fn(&str) -> u64) -> Option<Snippet> {
        let index = messages
            .len()
            .checked_sub(1)
            .filter(|index| span.is_squeezed && !span.keeps(*index))?;
        let message = self.cleaned.get(&(index as u32)).unwrap_or(&messages[index]);
        let (author, text) = message.parts.iter().rev().find_map(|part| match part {
            Part::Text(text) => Some((message.author, &**text)),
            Part::Result(result) => result.content.iter().rev().find_map(|content| match content {
                Content::Text(text) => Some((Author::Tool, &**text)),
                Content::Media(_) | Content::Opaque(_) => None,
            }),
            Part::Call(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => None,
        })?;
        let quoting = Quoting::new(&self.ledger);
        let mut lines: Vec<&str> = Vec::new();
        let mut used = count("0 assistant:") + 1;
        for line in text.trim_end().lines().rev() {
            used += count(line) + 1;
            if used > budget {
                break;
            }
            lines.push(line);
        }
        lines.reverse();
        let text = quoting.quote(&lines.join("\n")).into_owned();
        (!text.trim().is_empty()).then(|| Snippet {
            message: self.numbers[index],
            text_slot: u32::MAX,
            author,
            tool: None,
            text,
        })
    }

    /// How much was replaced, what the sections left out, and how to get it back.
    fn notes(&self, span: &Span, sections: &Sections) -> String {
        let kept = span
            .kept
            .iter()
            .filter(|index| self.numbers[**index] != NO_NUMBER)
            .count();
        let gone = (self.ledger.folded() as usize).saturating_sub(kept);
        let mut notes = format!(
            "## Retrieval notes\n- {gone} earlier messages are stored whole; mainstay recall WORDS finds them."
        );
        let left: Vec<String> = sections
            .left_out
            .iter()
            .map(|(section, left)| format!("{} {left}", section.heading().to_lowercase()))
            .collect();
        if !left.is_empty() {
            notes.push_str(&format!(" Left out above: {}.", left.join(", ")));
        }
        notes
    }

    /// Evidence from what a span does not keep.
    fn choose(
        &self,
        messages: &[Message],
        span: &Span,
        shown: &str,
        budget: u64,
        count: &dyn Fn(&str) -> u64,
    ) -> Vec<Snippet> {
        let first = self.carried.len();
        let shown_message = |(index, message)| self.cleaned.get(&(index as u32)).unwrap_or(message);
        let list: Vec<&Message> = self
            .carried
            .iter()
            .map(|(_, message)| message)
            .chain(messages.iter().enumerate().map(shown_message))
            .collect();
        let index_of = |place: u32| (place as usize).checked_sub(first);
        let number = |place: u32| match index_of(place) {
            Some(index) => self.numbers[index],
            None => self.carried[place as usize].0,
        };
        let quoting = Quoting::new(&self.ledger);
        let room = Room {
            is_cold: &|place| index_of(place).is_none_or(|index| !span.keeps(index)),
            shown: &[shown],
            budget,
            count,
            filter: &|text| quoting.quote(text),
            number: &number,
        };
        self.evidence.choose(&list, &room)
    }

    fn sections(&self, span: &Span, room: u64, count: &dyn Fn(&str) -> u64) -> Sections {
        let kept: BTreeSet<u32> = span.kept.iter().map(|index| self.numbers[*index]).collect();
        let is_cold = |entry: &&Entry| !kept.contains(&entry.last) || !kept.contains(&entry.first);
        page::fill(
            self.ledger.entries().filter(is_cold),
            &Quoting::new(&self.ledger),
            room,
            count,
        )
    }
}
