//! The one who writes the ledger: cleans every message, folds it, and writes the block that stands for what is replaced.

mod block;
mod body;
pub mod views;

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::collections::VecDeque;
use std::sync::Arc;

use crate::decide::Span;
use crate::decide::marker::opens_request;
use crate::ledger::Ledger;
use crate::ledger::entry::Entry;
use crate::ledger::entry::Status;
use crate::ledger::evidence::Evidence;
use crate::ledger::frame;
use crate::ledger::memory::Asked;
use crate::ledger::memory::Carried;
use crate::ledger::memory::Digest;
use crate::ledger::memory::Kept;
use crate::ledger::memory::Memory;
use crate::ledger::memory::Told;
use crate::ledger::memory::chained;
use crate::ledger::memory::digest;
use crate::redact::Known;
use crate::redact::Redactor;
use crate::transcript::Author;
use crate::transcript::Content;
use crate::transcript::Input;
use crate::transcript::Message;
use crate::transcript::Part;
use crate::transcript::Spot;

pub use block::EvidenceRoom;
pub use block::Missing;
pub use block::Sheet;
pub use block::Shorten;
pub use block::Story;
pub use block::Written;
pub use body::ROOM_FOR_NOTICE;

/// Hides what must not be shown: secrets, addresses. An implementor must be deterministic and linear.
pub trait Cleaner: Send + Sync {
    /// The text with everything hidden that must be, what is known from earlier texts included; `None` when nothing
    /// had to be.
    fn clean(&self, known: &mut Known, text: &str) -> Option<String>;

    /// Something in a text that would have to be hidden, named without showing it; `None` when the text is clean.
    fn find(&self, text: &str) -> Option<String>;
}

impl Cleaner for Redactor {
    fn clean(&self, known: &mut Known, text: &str) -> Option<String> {
        let redacted = self.redact_with(known, text);
        (!redacted.spans.is_empty()).then_some(redacted.text)
    }

    fn find(&self, text: &str) -> Option<String> {
        let first = Redactor::find(self, text).into_iter().next()?;
        Some(format!("{} ({})", first.kind, first.rule))
    }
}

/// For hosts that asked for no redaction.
#[derive(Clone, Copy, Debug, Default)]
pub struct NothingToHide;

impl Cleaner for NothingToHide {
    fn clean(&self, _: &mut Known, _: &str) -> Option<String> {
        None
    }

    fn find(&self, _: &str) -> Option<String> {
        None
    }
}

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
    /// Messages that left in another form than they came in, by index: what they say now.
    emitted: BTreeMap<usize, Digest>,
    /// Messages behind a block that are known already, the next one first.
    expected: VecDeque<Kept>,
    /// The message with the block of an earlier pass that the conversation came with.
    resumed_block: Option<usize>,
    /// Where that message is somebody's: the parts of it that are ours.
    framed_parts: Vec<Spot>,
    /// What a model told last, and of how much.
    told: Option<Told>,
    /// Whether the block that the conversation came with stands for more than that.
    is_told_behind: bool,
    /// The request that a block restated, while the person has said nothing since.
    request: Option<Asked>,
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
            emitted: BTreeMap::new(),
            expected: VecDeque::new(),
            resumed_block: None,
            framed_parts: Vec::new(),
            told: None,
            is_told_behind: false,
            request: None,
            cleaned: BTreeMap::new(),
        }
    }

    /// The mark of the frame that one of these messages is, when this key made it: the name under which the state
    /// behind it was saved.
    pub fn find_frame(&self, messages: &[Message]) -> Option<(usize, String)> {
        messages.iter().enumerate().rev().find_map(|(index, message)| {
            let mut marks = message.parts.iter().filter_map(|part| match part {
                Part::Text(text) => self.mark_of(text),
                _ => None,
            });
            Some((index, marks.next()?.to_owned()))
        })
    }

    /// The mark of a frame that this key made.
    pub fn mark_of<'a>(&self, text: &'a str) -> Option<&'a str> {
        frame::open(&self.key, text).map(|(mark, _)| mark)
    }

    /// What the block that a message is says, without its frame.
    pub fn body_of(&self, message: &Message) -> Option<String> {
        message.parts.iter().find_map(|part| match part {
            Part::Text(text) => frame::open(&self.key, text).map(|(_, body)| body.to_owned()),
            _ => None,
        })
    }

    /// Goes on from a state whose block is one of the messages to come.
    pub fn resume_behind(&mut self, block: usize, memory: Memory) {
        self.ledger = memory.ledger;
        self.chain = memory.chain;
        let kept: BTreeSet<u32> = memory.kept.iter().map(|kept| kept.number).collect();
        let is_told = |number: u32| memory.told.as_ref().is_some_and(|told| told.covers(number));
        self.is_told_behind = (0..self.ledger.folded()).any(|number| !kept.contains(&number) && !is_told(number));
        self.expected = memory.kept.into();
        self.resumed_block = Some(block);
        self.told = memory.told;
        self.request = memory.request;
        self.carried = memory
            .carried
            .iter()
            .map(|carried| (carried.number, carried.to_message()))
            .collect();
        for (place, (_, message)) in (0..).zip(&self.carried) {
            self.evidence.fold_carried(place, message);
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
        self.told = memory.told;
        self.ledger = memory.ledger;
        true
    }

    /// The state to save for the whole conversation. Evidence is not part of it: it is chosen from the messages, which
    /// are at hand whenever the state is.
    pub fn memory(&self) -> Memory {
        Memory {
            told: self.told.clone(),
            ..Memory::new(self.ledger.clone(), self.chain, Vec::new(), Vec::new())
        }
    }

    /// The state to save behind a block that leaves what a span keeps of these messages.
    pub fn memory_behind(&self, messages: &[Message], span: &Span, carried: &[Carried]) -> Memory {
        let kept = span.kept.iter().filter(|index| self.numbers[**index] != NO_NUMBER);
        let kept = kept.map(|index| Kept {
            digest: self.emitted.get(index).copied().unwrap_or(self.digests[*index]),
            number: self.numbers[*index],
        });
        Memory {
            told: self.told.clone(),
            request: self.kept_request(messages, span),
            ..Memory::new(self.ledger.clone(), self.chain, kept.collect(), carried.to_vec())
        }
    }

    /// Remembers in which form a message left that was changed: it must be known again when it comes back.
    pub fn note_emitted(&mut self, index: usize, message: &Message) {
        self.emitted.insert(index, digest(message));
    }

    /// What a model told last.
    pub fn told(&self) -> Option<&Told> {
        self.told.as_ref()
    }

    /// What stands for the conversation before what is new: what a model told, or where a block stands for more than
    /// that, its text.
    pub fn earlier(&self, messages: &[Message]) -> Option<String> {
        let block = self.resumed_block.and_then(|block| self.body_of(messages.get(block)?));
        match &self.told {
            Some(told) if !self.is_told_behind => Some(told.text.to_string()),
            Some(told) => Some(block.unwrap_or_else(|| told.text.to_string())),
            None => block,
        }
    }

    /// Remembers what a model told of everything that a span does not keep.
    pub fn note_told(&mut self, text: &str, span: &Span) {
        let numbers = (0..self.numbers.len()).map(|index| (index, self.numbers[index]));
        let cold = numbers.filter(|(index, number)| !span.keeps(*index) && *number != NO_NUMBER);
        let last = cold.map(|(_, number)| number).max();
        let before = self.told.as_ref().map_or(0, |told| told.until);
        let until = last.map_or(before, |last| (last + 1).max(before));
        let kept = span.kept.iter().map(|index| self.numbers[*index]);
        self.is_told_behind = false;
        self.told = Some(Told {
            text: text.into(),
            until,
            except: kept.filter(|number| *number < until).collect(),
        });
    }

    /// What was learnt of identifiers.
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// A message as it may be shown.
    pub fn shown<'m>(&'m self, messages: &'m [Message], index: usize) -> &'m Message {
        self.cleaned.get(&(index as u32)).unwrap_or(&messages[index])
    }

    /// The messages that a span does not keep, as they may be shown, with their numbers; what a model has told of
    /// already, and blocks, left out.
    pub fn untold<'m>(&'m self, messages: &'m [Message], span: &Span) -> Vec<(u32, &'m Message)> {
        let is_new = |number: u32| number != NO_NUMBER && self.told.as_ref().is_none_or(|told| !told.covers(number));
        (0..messages.len().min(self.numbers.len()))
            .filter(|index| !span.keeps(*index) && is_new(self.numbers[*index]))
            .map(|index| (self.numbers[index], self.shown(messages, index)))
            .collect()
    }

    /// Whether the person's first message may stay beside the block as it is: nothing in it was corrected since, nothing had to be hidden,
    /// and all of it is theirs. Otherwise its words stand in the block.
    pub fn first_words_hold(&self, messages: &[Message]) -> bool {
        let Some(first) = messages.iter().position(Message::opens_turn) else {
            return true;
        };
        let message = &messages[first];
        let texts: usize = message.parts.iter().map(text_length).sum();
        let own: usize = message.person_words().iter().map(|words| words.trim().len()).sum();
        // A value may have turned out to be a secret only later.
        let hides = |part: &Part| matches!(part, Part::Text(text) if self.hide(text).is_some());
        if self.cleaned.contains_key(&(first as u32)) || own < texts || message.parts.iter().any(hides) {
            return false;
        }
        let Some(number) = self.numbers.get(first) else {
            return true;
        };
        let is_gone = |entry: &Entry| entry.status == Status::Superseded && entry.first == *number;
        !self.ledger.conversation().has_later_word(*number) && !self.ledger.entries().any(is_gone)
    }

    /// The block of an earlier pass that the conversation came with, and that the next one replaces.
    pub fn resumed_block(&self) -> Option<usize> {
        self.resumed_block.filter(|_| self.framed_parts.is_empty())
    }

    /// The message that holds the block of an earlier pass, be it all of it or a part of somebody's.
    pub fn resumed_message(&self) -> Option<usize> {
        self.resumed_block
    }

    /// The parts of somebody's message that the block of an earlier pass is.
    pub fn framed_parts(&self) -> Vec<Spot> {
        self.framed_parts.clone()
    }

    /// A message without what is ours in it; `None` when nothing else is.
    fn without_frame(&mut self, index: usize, message: &Message) -> Option<Message> {
        let mut is_behind_frame = false;
        let ours: Vec<bool> = message
            .parts
            .iter()
            .map(|part| match part {
                Part::Text(text) if self.mark_of(text).is_some() => {
                    is_behind_frame = true;
                    true
                }
                Part::Text(text) => is_behind_frame && opens_request(text),
                _ => false,
            })
            .collect();
        if ours.iter().all(|is_ours| *is_ours) {
            return None;
        }
        let spots = (0..).zip(&ours).filter(|(_, is_ours)| **is_ours).map(|(part, _)| Spot {
            message: index as u32,
            part,
        });
        self.framed_parts = spots.collect();
        let parts = message.parts.iter().zip(ours).filter(|(_, is_ours)| !is_ours);
        Some(Message {
            parts: parts.map(|(part, _)| part.clone()).collect(),
            ..message.clone()
        })
    }

    /// A text as it may be shown.
    pub fn hide(&self, text: &str) -> Option<String> {
        self.cleaner.clean(&mut self.known.clone(), text)
    }

    /// Something that a text shows and was to be hidden, named without showing it.
    pub fn leak_in(&self, text: &str) -> Option<String> {
        self.cleaner.find(text)
    }

    /// The ledger so far.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Takes in the messages that are new. Earlier ones must be the same as before.
    pub fn observe(&mut self, messages: &[Message]) {
        for (index, message) in messages.iter().enumerate().skip(self.numbers.len()) {
            let stripped = match self.resumed_block == Some(index) {
                true => match self.without_frame(index, message) {
                    Some(own) => Some(own),
                    None => {
                        self.digests.push(digest(message));
                        self.numbers.push(NO_NUMBER);
                        continue;
                    }
                },
                false => None,
            };
            let message = stripped.as_ref().unwrap_or(message);
            let digest = digest(message);
            self.digests.push(digest);
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
            if let Some(shown) = clean.or(stripped) {
                self.cleaned.insert(index as u32, shown);
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
}

/// The length of a text without white space around it.
fn text_length(part: &Part) -> usize {
    match part {
        Part::Text(text) => text.trim().len(),
        Part::Call(_) | Part::Result(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => 0,
    }
}

#[cfg(test)]
#[path = "scribe_tests.rs"]
mod tests;
