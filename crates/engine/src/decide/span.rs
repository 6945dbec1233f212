//! Which messages a full pass keeps, and which its block stands for.
//!
//! Kept are the instructions, the person's first words where they are short, their newest words, and a tail of whole
//! steps. Where a target was asked for that even the newest words and the newest step would fill, they are given to the
//! block as well: the target was asked for, and the block shows the best of them.

use std::ops::Range;

use crate::account::Tally;
use crate::account::measure_part;
use crate::decide::boundary::step_start;
use crate::transcript::Author;
use crate::transcript::Message;
use crate::transcript::Part;
use crate::transcript::Role;
use crate::transcript::Spot;
use crate::transcript::Transcript;

/// The person's first words are kept where they cost at most this part of the room.
const FIRST_WORDS_SHARE: u64 = 10;
/// Newest words and newest step are kept where they cost at most this part of the room: the block needs the rest.
const NEWEST_SHARE: u64 = 3;
/// A newest step that is shortened comes down to this part of the room, with the newest words: about the tail that it would have had.
const SHORTENED_TO: u64 = 4;
/// A shortened newest step may fill this part of the room; beyond it the block needs the rest.
const SHORTENED_SHARE: (u64, u64) = (1, 2);
/// No part is shortened to less: some lines from its beginning and its end.
const LEAST_SHORTENED: u64 = 80;
/// Calls that wait for their results are kept up to this part of the room.
const OPEN_STEP_SHARE: (u64, u64) = (3, 4);
/// The newest summary by another program is kept where it costs at most this part of the room.
const SUMMARY_SHARE: u64 = 4;

/// What a full pass keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The messages that stay, in order.
    pub kept: Vec<usize>,
    /// Where the block stands: behind this many of them.
    pub block_at: usize,
    /// How many messages there were; later ones are not the span's business.
    pub until: usize,
    /// Whether the newest words or the newest step were given to the block, or had to be shortened.
    pub is_squeezed: bool,
    /// Parts of kept messages that are shortened in the middle: results and arguments of a newest step that would fill the room.
    pub shortened: Vec<ShortenedPart>,
    /// What the tail and the newest words cost.
    pub tail_tokens: u64,
}

/// A part of a kept message that is too large to stay as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortenedPart {
    /// Which one.
    pub spot: Spot,
    /// What it costs as it is.
    pub tokens: u64,
    /// What it may cost.
    pub allowed: u64,
}

impl Span {
    /// Whether a message stays.
    pub fn keeps(&self, message: usize) -> bool {
        message >= self.until || self.kept.binary_search(&message).is_ok()
    }
}

/// What there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Tokens for everything but the instructions.
    pub tokens: u64,
    /// Tokens of the newest history that stay verbatim.
    pub tail: u64,
    /// What the newest step and words may have at least before they are shortened: what a block has left over for them.
    pub newest: u64,
    /// What the tail may grow to for the sake of its least number of messages.
    pub least_tail: u64,
    /// How many messages the tail has at least, where they fit.
    pub tail_messages: usize,
    /// A block of an earlier pass: what this one replaces.
    pub earlier_block: Option<usize>,
    /// Whether the person's first words still hold; what they have corrected since must not stand there as if it did.
    pub first_words_hold: bool,
    /// Whether the newest words and the newest step may be given to the block when they do not fit.
    pub may_squeeze: bool,
}

/// The tokens of the instructions, which every pass keeps.
pub fn instruction_tokens(transcript: &Transcript, tally: &Tally) -> u64 {
    let messages = transcript.messages().iter().zip(tally.messages());
    messages
        .filter(|(message, _)| is_instruction(message))
        .map(|(_, tokens)| tokens.total())
        .sum()
}

/// Instructions of whoever configured the agent, wherever they stand.
fn is_instruction(message: &Message) -> bool {
    matches!(message.role, Role::System | Role::Developer) && message.author == Author::System
}

/// A message that is kept for its own sake, with the step that it belongs to where it carries results: they must not
/// stand without their calls.
fn with_step(messages: &[Message], index: usize) -> Range<usize> {
    if !messages[index].has_results() {
        return index..index + 1;
    }
    let later = messages[index..].iter().take_while(|message| message.has_results());
    step_start(messages, index)..index + later.count()
}

/// Chooses what a full pass keeps; `None` when the newest words and step leave no room for a block.
pub fn span(transcript: &Transcript, tally: &Tally, room: Room) -> Option<Span> {
    let messages = transcript.messages();
    let cost = |index: usize| tally.messages()[index].total();
    let sum = |range: &Range<usize>| range.clone().map(cost).sum::<u64>();
    let newest_words = messages.iter().rposition(Message::opens_turn);
    let mut tail_start = match messages.last() {
        Some(last) if last.has_results() || last.calls().next().is_some() => step_start(messages, messages.len() - 1),
        Some(_) | None => messages.len(),
    };
    let mut is_squeezed = false;
    let step: u64 = (tail_start..messages.len()).map(cost).sum();
    let words = newest_words.filter(|index| *index < tail_start);
    let words = words.map(|index| with_step(messages, index));
    let words_cost = words.as_ref().map_or(0, sum);
    let limit = if room.may_squeeze {
        (room.tokens / NEWEST_SHARE).max(room.newest)
    } else {
        room.tokens
    };
    let mut pinned = words;
    let mut shortened = Vec::new();
    if step + words_cost > limit {
        is_squeezed = true;
        // The newest step is where the agent is: it stays, its results and arguments shortened in the middle.
        let over = (step + words_cost).saturating_sub((room.tokens / SHORTENED_TO).max(room.newest));
        shortened = shorten(transcript, tally, tail_start, over);
        let saved: u64 = shortened.iter().map(|part| part.tokens - part.allowed).sum();
        let most = (room.tokens / SHORTENED_SHARE.1 * SHORTENED_SHARE.0).max(room.newest);
        if step + words_cost - saved > most {
            shortened = Vec::new();
        }
    }
    let saved: u64 = shortened.iter().map(|part| part.tokens - part.allowed).sum();
    if step + words_cost - saved > limit && shortened.is_empty() {
        if !room.may_squeeze {
            return None;
        }
        // Calls that wait for their results come before anything else: the results will come.
        let waits = transcript.has_open_calls() && step <= room.tokens / OPEN_STEP_SHARE.1 * OPEN_STEP_SHARE.0;
        if words_cost > limit || waits {
            pinned = None;
        }
        if step + pinned.as_ref().map_or(0, sum) > limit && !waits {
            tail_start = messages.len();
        }
    }
    let mut used = pinned.as_ref().map_or(0, sum) + sum(&(tail_start..messages.len())) - saved;
    if let Some(closing) = closing_words(messages).filter(|_| !is_squeezed && tail_start == messages.len()) {
        let answer = sum(&(closing..messages.len()));
        // What was answered last must not read as still asked.
        if used + answer <= room.tail.max(room.least_tail) {
            used += answer;
            tail_start = closing;
        }
    }
    while tail_start > 0 && !is_squeezed {
        let before = step_start(messages, tail_start - 1);
        let step: u64 = (before..tail_start)
            .filter(|index| pinned.as_ref().is_none_or(|pinned| !pinned.contains(index)))
            .map(cost)
            .sum();
        let is_short = messages.len() - tail_start < room.tail_messages;
        let allowed = if is_short {
            room.tail.max(room.least_tail)
        } else {
            room.tail
        };
        if used + step > allowed {
            break;
        }
        used += step;
        tail_start = before;
    }
    // Behind a block, old words of the person read as what they want now: they stay only where their newest words stand behind them.
    let is_kept = |index: usize| index >= tail_start || pinned.as_ref().is_some_and(|pinned| pinned.contains(&index));
    let first_words = messages.iter().position(Message::opens_turn);
    let first_words = first_words.filter(|first| newest_words == Some(*first) || newest_words.is_some_and(is_kept));
    let first_words = first_words.map(|index| with_step(messages, index));
    let first_words =
        first_words.filter(|range| room.first_words_hold && sum(range) <= room.tokens / FIRST_WORDS_SHARE);
    // The summary that another program wrote of what came before tells a story that nothing else does.
    let told = messages.iter().rposition(|message| message.author == Author::Summary);
    let told = told.map(|index| with_step(messages, index));
    let told = told.filter(|range| sum(range) <= room.tokens / SUMMARY_SHARE);
    let aside: Vec<_> = [pinned, first_words, told].into_iter().flatten().collect();
    let keeps = |index: &usize| {
        let is_wanted = *index >= tail_start || aside.iter().any(|range| range.contains(index));
        is_instruction(&messages[*index]) || (is_wanted && room.earlier_block != Some(*index))
    };
    let kept: Vec<usize> = (0..messages.len()).filter(keeps).collect();
    let block_at = kept
        .iter()
        .take_while(|index| is_instruction(&messages[**index]))
        .count();
    Some(Span {
        kept,
        block_at,
        until: messages.len(),
        is_squeezed,
        shortened,
        tail_tokens: used,
    })
}

/// Where the agent's answer begins that ends the conversation, if one does: its text, with what providers bind to it.
fn closing_words(messages: &[Message]) -> Option<usize> {
    let last = messages.last()?;
    let start = step_start(messages, messages.len() - 1);
    let is_answer =
        last.role == Role::Assistant && messages[start..].iter().all(|message| message.calls().next().is_none());
    is_answer.then_some(start)
}

/// Which parts of the newest step are shortened, and to what, so that it costs so much less: the largest come down to one size, and
/// what is smaller stays whole. Calls that wait for their results stay as they are: what was asked is still to be done.
fn shorten(transcript: &Transcript, tally: &Tally, from: usize, over: u64) -> Vec<ShortenedPart> {
    let family = tally.family();
    let mut parts = Vec::new();
    for (index, message) in transcript.messages().iter().enumerate().skip(from) {
        for (part_index, part) in message.parts.iter().enumerate() {
            let may_go = match part {
                Part::Result(_) => true,
                Part::Call(_) => !transcript.has_open_calls(),
                Part::Text(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => false,
            };
            let tokens = if may_go { measure_part(part, family).total() } else { 0 };
            if tokens > LEAST_SHORTENED {
                let spot = Spot {
                    message: index as u32,
                    part: part_index as u32,
                };
                parts.push((spot, tokens));
            }
        }
    }
    let all: u64 = parts.iter().map(|(_, tokens)| tokens).sum();
    let most = most_each(
        parts.iter().map(|(_, tokens)| *tokens).collect(),
        all.saturating_sub(over),
    );
    let shortened = parts.into_iter().map(|(spot, tokens)| ShortenedPart {
        spot,
        tokens,
        allowed: tokens.min(most.max(LEAST_SHORTENED)),
    });
    shortened.filter(|part| part.allowed < part.tokens).collect()
}

/// The size that each part may have at most so that all of them fit a room.
fn most_each(mut sizes: Vec<u64>, mut room: u64) -> u64 {
    sizes.sort_unstable();
    let count = sizes.len();
    for (index, size) in sizes.iter().enumerate() {
        let each = room / (count - index) as u64;
        if *size > each {
            return each;
        }
        room -= size;
    }
    u64::MAX
}

#[cfg(test)]
#[path = "span_tests.rs"]
mod tests;
