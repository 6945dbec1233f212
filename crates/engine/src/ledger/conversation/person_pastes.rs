//! What is shown of a message that the person pasted something into: their own words first, then as much of the paste as there is room for.

use std::ops::Range;

use crate::ledger::conversation::record::ConversationRecord;
use crate::ledger::conversation::record::Speaker;
use crate::ledger::conversation::selection::LINE_TOKENS;
use crate::ledger::conversation::selection::Selector;
use crate::shrink::is_telling_line;

/// A paste of at most this many bytes and lines stands like the words around it.
const SMALL_PASTE_BYTES: usize = 250;
const SMALL_PASTE_LINES: usize = 4;
/// Lines of a paste that are shown where there is no room for all of it.
const TELLING_LINES: usize = 2;
/// The part of the person's room that pastes may fill whole; the newest ones are.
const PASTES_SHARE: u64 = 3;

/// The large pastes of a message, as ranges of its sentences.
pub(super) fn large_pastes(record: &ConversationRecord) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    if record.speaker != Speaker::Person {
        return found;
    }
    for (index, sentence) in record.sentences.iter().enumerate() {
        if !sentence.signs.pasted {
            continue;
        }
        match found.last_mut() {
            Some(last) if last.end == index => last.end = index + 1,
            _ => found.push(index..index + 1),
        }
    }
    found.retain(|range| {
        let first = record.sentences[range.start].start as usize;
        let last = record.sentences[range.end - 1].end as usize;
        let text = &record.text[first..last];
        text.len() > SMALL_PASTE_BYTES || text.lines().count() > SMALL_PASTE_LINES
    });
    found
}

/// The lines of a paste that tell most: of failures and outcomes, the last ones first because they say how it ended.
fn telling(record: &ConversationRecord, paste: &Range<usize>) -> Vec<usize> {
    let words = |index: usize| record.words_of(&record.sentences[index]);
    let mut lines: Vec<usize> = paste
        .clone()
        .rev()
        .filter(|index| is_telling_line(words(*index)))
        .collect();
    lines.truncate(TELLING_LINES);
    if lines.is_empty() {
        lines.push(paste.start);
    }
    lines
}

impl Selector<'_> {
    /// What a message costs without its large pastes.
    pub(super) fn missing_said_tokens(&mut self, position: usize) -> u64 {
        let pastes = large_pastes(&self.input.records[position]);
        let mut missing = self.missing_tokens(position);
        for index in pastes.into_iter().flatten() {
            if !self.is_chosen(position, index) && !self.is_restated(position, index) {
                missing = missing.saturating_sub(self.cost(position, index));
            }
        }
        missing
    }

    /// The person's own words of a message, small pastes included.
    pub(super) fn choose_said(&mut self, position: usize) {
        let pastes = large_pastes(&self.input.records[position]);
        if pastes.is_empty() {
            return self.choose_whole(position);
        }
        for sentence in 0..self.input.records[position].sentences.len() {
            let is_pasted = pastes.iter().any(|paste| paste.contains(&sentence));
            if !is_pasted && !self.is_restated(position, sentence) {
                self.take(position, sentence);
            }
        }
    }

    /// The large pastes of messages: whole where there is room for them, the newest first, else by the lines that tell most.
    pub(super) fn choose_pasted(&mut self, positions: &[usize], budget: u64) {
        let mut room = (budget / PASTES_SHARE).min(budget.saturating_sub(self.used()));
        for position in positions.iter().rev() {
            let record = &self.input.records[*position];
            for paste in large_pastes(record) {
                let open: Vec<usize> = paste
                    .clone()
                    .filter(|index| !self.is_chosen(*position, *index) && !self.is_restated(*position, *index))
                    .collect();
                let cost: u64 = open.iter().map(|index| self.cost(*position, *index)).sum();
                room = room.min(budget.saturating_sub(self.used()));
                if cost + LINE_TOKENS <= room {
                    room -= cost;
                    open.into_iter().for_each(|index| self.take(*position, index));
                    continue;
                }
                for index in telling(record, &paste) {
                    let cost = self.cost_of_taking(*position, index);
                    if open.contains(&index) && self.used() + cost <= budget {
                        self.take(*position, index);
                    }
                }
            }
        }
    }
}
