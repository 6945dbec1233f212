//! Chooses which sentences of a conversation a block shows, under a token budget.
//!
//! The person's short messages stand whole before anything else gets room. Where even they do not fit, and for everything longer and
//! everything the agent said, sentences compete by what they hold: values, negations, requests, rules, reasons, and words that
//! stand nowhere else. Small talk, the oldest first, is what goes.

use crate::ledger::conversation::record::ConversationRecord;
use crate::ledger::conversation::record::Speaker;
use crate::ledger::conversation::selection::SHORT_MESSAGE;
use crate::ledger::conversation::selection::Selector;

/// A sentence of the person that is worth less is small talk: it gives no value, asks for nothing and tells nothing of the speaker.
const SMALL_TALK_WORTH: f64 = 2.0;
/// A reply of at most so many words says least without what it answers.
const SHORT_REPLY: usize = 8;
/// The part of the person's room that one exchange may fill, and what it may have at least, in tokens.
const EXCHANGE_SHARE: u64 = 12;
const LEAST_EXCHANGE: u64 = 48;
/// What an exchange shows of the agent's question or list, in tokens; more of what the newest reply answers, because the work at hand
/// depends on it.
const PROPOSAL_TOKENS: u64 = 160;
const NEWEST_PROPOSAL_TOKENS: u64 = 320;
/// How much a longer sentence must be worth to come before a shorter one. Nearly as much will do: short sentences are mostly small talk, and
/// every line costs its mark besides.
const LENGTH_EXPONENT: f64 = 0.15;
/// A sentence that may be chosen.
struct Candidate {
    record: usize,
    sentence: usize,
    worth: f64,
}

impl Selector<'_> {
    /// The person's words: short messages whole, their exchanges, then sentences of long ones by worth. Long messages fill at most
    /// `long_budget` tokens of the budget, so that a brief does not take the room of everything that followed it.
    pub fn choose_person(&mut self, budget: u64, long_budget: u64) {
        let input = self.input;
        let person: Vec<usize> = (0..input.records.len())
            .filter(|position| {
                let record = &input.records[*position];
                record.speaker == Speaker::Person && (input.is_cold)(record.number)
            })
            .collect();
        self.choose_newest_exchange(budget);
        self.choose_host(budget);
        let Some((&first, &newest)) = person.first().zip(person.last()) else {
            return;
        };
        let (short, long): (Vec<usize>, Vec<usize>) = person
            .iter()
            .partition(|position| self.record_tokens(**position) <= SHORT_MESSAGE);
        // The task and the newest request come first, each within a share where they are long. Where newer words stay in the
        // conversation, the newest of the others is one message among many.
        let is_newest = input.records[newest..]
            .iter()
            .all(|record| record.speaker != Speaker::Person || (input.is_cold)(record.number));
        let opening = [is_newest.then_some(newest), Some(first)];
        for position in opening.into_iter().flatten() {
            let share = match long.contains(&position) {
                true => long_budget / 2,
                false => budget / 4,
            };
            self.choose_whole_or_best(position, share);
        }
        let cost: u64 = short.iter().map(|position| self.missing_said_tokens(*position)).sum();
        if self.used + cost <= budget {
            for position in &short {
                self.choose_said(*position);
            }
            self.choose_pasted(&short, budget);
        } else {
            self.is_person_whole = false;
            let mut candidates = self.candidates(&short);
            candidates.retain(|candidate| candidate.worth >= SMALL_TALK_WORTH);
            self.take_best(candidates, budget);
            // Small talk competes with what the agent found.
            let all: Vec<usize> = (0..input.records.len())
                .filter(|position| (input.is_cold)(input.records[*position].number))
                .filter(|position| !long.contains(position))
                .collect();
            let candidates = self.candidates(&all);
            self.take_best(candidates, budget);
        }
        let replies: Vec<usize> = person
            .iter()
            .copied()
            .rev()
            .filter(|position| self.chosen.contains_key(position))
            .collect();
        // Where there is little room, the shortest replies come first: they mean nothing alone.
        let most = PROPOSAL_TOKENS.min((budget / EXCHANGE_SHARE).max(LEAST_EXCHANGE));
        let is_short = |position: &usize| {
            let text = &input.records[*position].text;
            text.split_whitespace().take(SHORT_REPLY + 1).count() <= SHORT_REPLY
        };
        let (short, others): (Vec<usize>, Vec<usize>) = replies.into_iter().partition(is_short);
        for position in short.into_iter().chain(others) {
            self.choose_exchange(position, budget, most);
        }
        let candidates = self.candidates(&long);
        self.take_best(candidates, budget.min(self.used + long_budget / 2));
    }

    /// The agent's closing words behind everything the person said, where they are not kept: whole where they fit, else their first
    /// sentence and the best of the others.
    pub fn choose_answer(&mut self, budget: u64) {
        let records = self.input.records;
        let Some(answer) = records.iter().rposition(|record| record.speaker == Speaker::Agent) else {
            return;
        };
        let record = &records[answer];
        let is_last = records[answer..].iter().all(|other| other.speaker != Speaker::Person);
        if !is_last || !record.closes_turn || !(self.input.is_cold)(record.number) {
            return;
        }
        let opens = (!record.sentences.is_empty()).then(|| self.cost_of_taking(answer, 0));
        if opens.is_some_and(|cost| self.used + cost <= budget) {
            self.take(answer, 0);
        }
        self.choose_whole_or_best(answer, budget.saturating_sub(self.used));
    }

    /// What the person's newest words answer, whether they stand in the block or stay in the conversation.
    fn choose_newest_exchange(&mut self, budget: u64) {
        let records = self.input.records;
        let newest = records.iter().rposition(|record| record.speaker == Speaker::Person);
        let Some(newest) = newest else { return };
        // In a chat almost every answer ends in a question or a list, and few of the person's messages choose from it.
        let most = match self.has_work {
            true => NEWEST_PROPOSAL_TOKENS,
            false => PROPOSAL_TOKENS / 2,
        };
        self.choose_exchange(newest, budget / 2, most);
        // Other replies that stay are shown without what they answer, unless it is quoted here.
        let warm = (0..newest).rev().filter(|position| {
            let record = &records[*position];
            self.has_work && record.speaker == Speaker::Person && !(self.input.is_cold)(record.number)
        });
        for position in warm.collect::<Vec<_>>() {
            self.choose_exchange(position, budget / 2, PROPOSAL_TOKENS);
        }
    }

    /// How turns ended, and what is left of the person's words, by worth, up to a budget for everything that is chosen.
    pub fn choose_closing(&mut self, budget: u64, least: f64) {
        self.choose_cold(budget, least, |record| {
            record.speaker == Speaker::Person || record.closes_turn
        });
    }

    /// The agent's words, and what is left of the person's, by worth, up to a budget for everything that is chosen. Sentences that are
    /// worth less than `least` are left to a later call.
    pub fn choose_rest(&mut self, budget: u64, least: f64) {
        self.choose_cold(budget, least, |_| true);
    }

    fn choose_cold(&mut self, budget: u64, least: f64, is_wanted: fn(&ConversationRecord) -> bool) {
        let input = self.input;
        let wanted: Vec<usize> = (0..input.records.len())
            .filter(|position| (input.is_cold)(input.records[*position].number))
            .filter(|position| is_wanted(&input.records[*position]))
            .collect();
        let mut candidates = self.candidates(&wanted);
        candidates.retain(|candidate| candidate.worth >= least);
        self.take_best(candidates, budget);
    }

    fn choose_whole_or_best(&mut self, position: usize, share: u64) {
        if self.missing_tokens(position) <= share {
            self.choose_whole(position);
        } else {
            let candidates = self.candidates(&[position]);
            let until = self.used + share;
            self.take_best(candidates, until);
        }
    }

    fn candidates(&mut self, positions: &[usize]) -> Vec<Candidate> {
        let mut found = Vec::new();
        let total = self.input.records.len().max(1) as f64;
        for position in positions {
            let record = &self.input.records[*position];
            if record.speaker == Speaker::Host {
                continue;
            }
            let outline = self.outline(*position);
            for index in 0..record.sentences.len() {
                let is_offered = outline.get(index).is_some_and(|entry| entry.is_offered);
                if is_offered || self.is_chosen(*position, index) || self.is_restated(*position, index) {
                    continue;
                }
                let age = (*position as f64 + 1.0) / total;
                let worth = self
                    .input
                    .cache
                    .worth((*position, index), || self.worth(record, index, age));
                found.push(Candidate {
                    record: *position,
                    sentence: index,
                    worth,
                });
            }
        }
        found
    }

    /// Takes candidates by worth for their tokens while they fit.
    fn take_best(&mut self, mut candidates: Vec<Candidate>, budget: u64) {
        for candidate in &mut candidates {
            // An estimate is enough to rank; what is taken is counted.
            let record = &self.input.records[candidate.record];
            let sentence = &record.sentences[candidate.sentence];
            let tokens = f64::from(sentence.end - sentence.start) / 4.0;
            candidate.worth /= (tokens + 10.0).powf(LENGTH_EXPONENT);
        }
        candidates.sort_by(|one, other| {
            let worth = other.worth.total_cmp(&one.worth);
            worth
                .then(other.record.cmp(&one.record))
                .then(one.sentence.cmp(&other.sentence))
        });
        let mut misses = 0;
        for candidate in candidates {
            if self.is_chosen(candidate.record, candidate.sentence) {
                continue;
            }
            // Headings and rules only where everything stands that they part.
            if candidate.worth <= 0.0 && misses > 0 {
                break;
            }
            let cost = self.cost_of_taking(candidate.record, candidate.sentence);
            if self.used + cost > budget {
                misses += 1;
                // What is left is too little for most sentences; a long list of candidates is not tried to its end.
                if misses > 64 {
                    break;
                }
                continue;
            }
            self.take(candidate.record, candidate.sentence);
        }
    }
}

#[cfg(test)]
#[path = "select_tests.rs"]
mod tests;
