//! Chooses which sentences of a conversation a block shows, under a token budget.
//!
//! The person's short messages stand whole before anything else gets room. Where even they do not fit, and for everything longer and
//! everything the agent said, sentences compete by what they hold: values, negations, requests, rules, reasons, and words that
//! stand nowhere else. Small talk, the oldest first, is what goes.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::ledger::conversation::correction_words::turns_back;
use crate::ledger::conversation::exchange::NEWEST_PROPOSAL_TOKENS;
use crate::ledger::conversation::exchange::PROPOSAL_TOKENS;
use crate::ledger::conversation::outline::OutlineEntry;
use crate::ledger::conversation::record::ConversationRecord;
use crate::ledger::conversation::record::Speaker;
use crate::ledger::conversation::talk_cache::TalkCache;

/// A message of the person up to this many tokens stands whole where there is room for all of them.
const SHORT_MESSAGE: u64 = 300;
/// What a line costs beside its words: `- [assistant m1000] `.
pub(super) const LINE_TOKENS: u64 = 8;
/// What a mark of a later word costs.
const MARK_TOKENS: u64 = 18;

/// A sentence of the person that is worth less is small talk: it gives no value, asks for nothing and tells nothing of the speaker.
const SMALL_TALK_WORTH: f64 = 2.0;
/// A reply of at most so many words says least without what it answers.
const SHORT_REPLY: usize = 8;
/// The part of the person's room that one exchange may fill, and what it may have at least, in tokens.
const EXCHANGE_SHARE: u64 = 12;
const LEAST_EXCHANGE: u64 = 48;
/// How much a longer sentence must be worth to come before a shorter one. Nearly as much will do: short sentences are mostly small talk, and
/// every line costs its mark besides.
const LENGTH_EXPONENT: f64 = 0.15;
/// Which sentences of which records are shown, by position.
pub type Selection = BTreeMap<usize, Vec<bool>>;

/// What a selection has to work with.
pub struct SelectionInput<'a> {
    /// The conversation.
    pub records: &'a [ConversationRecord],
    /// Whether a message is not shown elsewhere in the result.
    pub is_cold: &'a dyn Fn(u32) -> bool,
    /// Counts tokens.
    pub count: &'a dyn Fn(&str) -> u64,
    /// Words, in lower case, of the topic that a host named.
    pub focus: &'a [String],
    /// A message that is restated elsewhere in the result, and what is restated of it: those sentences are not shown twice.
    pub restated: Option<(u32, &'a str)>,
    /// How many identifiers of a text the agent is expected to use again.
    pub expected_use: &'a dyn Fn(&str) -> f64,
    /// What earlier attempts at the same block found out.
    pub cache: &'a TalkCache,
}

/// A selection on its way.
pub struct Selector<'a> {
    pub(super) input: &'a SelectionInput<'a>,
    /// Whether the agent works with tools here, and does not only talk.
    pub(super) has_work: bool,
    chosen: Selection,
    used: u64,
    /// Whether every short message of the person stands whole.
    is_person_whole: bool,
}

/// A sentence that may be chosen.
struct Candidate {
    record: usize,
    sentence: usize,
    worth: f64,
}

impl<'a> Selector<'a> {
    /// A selector with nothing chosen.
    pub fn new(input: &'a SelectionInput<'a>) -> Self {
        Self {
            input,
            has_work: input.records.iter().any(is_work),
            chosen: Selection::new(),
            used: 0,
            is_person_whole: true,
        }
    }

    /// What the chosen sentences cost.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Whether there was room for every short message of the person.
    pub fn is_person_whole(&self) -> bool {
        self.is_person_whole
    }

    /// What was chosen.
    pub fn selection(&self) -> &Selection {
        &self.chosen
    }

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

    pub(super) fn choose_whole(&mut self, position: usize) {
        for sentence in 0..self.input.records[position].sentences.len() {
            if !self.is_restated(position, sentence) {
                self.take(position, sentence);
            }
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

    /// Whether a sentence stands in what is restated of its message.
    pub(super) fn is_restated(&self, record: usize, sentence: usize) -> bool {
        let spoken = &self.input.records[record];
        self.input.restated.is_some_and(|(number, text)| {
            number == spoken.number && text.contains(spoken.words_of(&spoken.sentences[sentence]))
        })
    }

    /// How a message of the agent is built; nothing for other messages.
    pub(super) fn outline(&mut self, position: usize) -> Rc<[OutlineEntry]> {
        let record = &self.input.records[position];
        if record.speaker != Speaker::Agent {
            return Rc::from([]);
        }
        self.input.cache.outline(position, record)
    }

    /// The sentences that have to stand with one and are not chosen yet, the nearest first.
    fn leads(&mut self, record: usize, sentence: usize) -> Vec<usize> {
        let outline = self.outline(record);
        let mut leads = Vec::new();
        let mut at = sentence;
        while let Some(lead) = outline.get(at).and_then(|entry| entry.lead) {
            if self.is_chosen(record, lead) {
                break;
            }
            leads.push(lead);
            at = lead;
        }
        leads
    }

    pub(super) fn is_chosen(&self, record: usize, sentence: usize) -> bool {
        self.chosen.get(&record).is_some_and(|chosen| chosen[sentence])
    }

    pub(super) fn take(&mut self, record: usize, sentence: usize) {
        let turn = self.turn_behind(record, sentence);
        for lead in self.leads(record, sentence) {
            self.take_alone(record, lead);
        }
        self.take_alone(record, sentence);
        if let Some(next) = turn {
            self.take_alone(record, next);
        }
    }

    fn take_alone(&mut self, record: usize, sentence: usize) {
        if self.is_chosen(record, sentence) {
            return;
        }
        self.used += self.cost_with_line(record, sentence);
        let all = self.input.records[record].sentences.len();
        self.chosen.entry(record).or_insert_with(|| vec![false; all])[sentence] = true;
        // A corrected sentence without what corrects it would be read as holding.
        if let Some((record, sentence)) = self.newest_word_on(record, sentence) {
            self.take_alone(record, sentence);
        }
    }

    /// The next sentence of the message, where it takes back or limits this one: alone, this one would say the opposite.
    fn turn_behind(&self, record: usize, sentence: usize) -> Option<usize> {
        let spoken = &self.input.records[record];
        let next = spoken.sentences.get(sentence + 1)?;
        let is_turn = spoken.speaker == Speaker::Person && turns_back(spoken.words_of(next));
        let is_shown = self.is_chosen(record, sentence + 1) || self.is_restated(record, sentence + 1);
        (is_turn && !is_shown).then_some(sentence + 1)
    }

    /// The last of the sentences that correct a sentence one after another, where a block may show it.
    fn newest_word_on(&self, record: usize, sentence: usize) -> Option<(usize, usize)> {
        let records = self.input.records;
        let later_of = |record: usize, sentence: usize| {
            let later = records.get(record)?.sentences.get(sentence)?.later?;
            // Records of old texts between calls may have been emptied for room.
            let words = records
                .get(later.record as usize)?
                .sentences
                .get(later.sentence as usize);
            words.map(|_| (later.record as usize, later.sentence as usize))
        };
        let mut newest = later_of(record, sentence)?;
        // Later words stand behind earlier ones, so this ends.
        while let Some(next) = later_of(newest.0, newest.1).filter(|next| *next > newest) {
            newest = next;
        }
        (self.input.is_cold)(records[newest.0].number).then_some(newest)
    }

    /// What a sentence costs together with the sentence that corrects it.
    pub(super) fn cost_of_taking(&mut self, record: usize, sentence: usize) -> u64 {
        let turn = self
            .turn_behind(record, sentence)
            .map_or(0, |next| self.cost(record, next));
        let leads = self.leads(record, sentence);
        let leads: u64 = leads.into_iter().map(|lead| self.cost(record, lead)).sum();
        self.cost_with_line(record, sentence) + self.cost_of_newest_word(record, sentence) + turn + leads
    }

    pub(super) fn cost_of_newest_word(&mut self, record: usize, sentence: usize) -> u64 {
        match self.newest_word_on(record, sentence) {
            Some((later, at)) if !self.is_chosen(later, at) => self.cost_with_line(later, at),
            Some(_) | None => 0,
        }
    }

    pub(super) fn cost_with_line(&mut self, record: usize, sentence: usize) -> u64 {
        let opens = if self.chosen.contains_key(&record) {
            0
        } else {
            LINE_TOKENS
        };
        self.cost(record, sentence) + opens
    }

    pub(super) fn cost(&mut self, record: usize, sentence: usize) -> u64 {
        let input = self.input;
        input.cache.cost((record, sentence), || {
            let spoken = &input.records[record];
            let sentence = &spoken.sentences[sentence];
            let mark = sentence.later.map_or(0, |_| MARK_TOKENS);
            (input.count)(spoken.words_of(sentence)) + 1 + mark
        })
    }

    /// What a record costs whole.
    pub(super) fn record_tokens(&mut self, position: usize) -> u64 {
        let bytes = self.input.records[position].text.len() as u64;
        // No vocabulary makes more of a text than a token a byte, or much less than one for eight.
        if bytes > SHORT_MESSAGE * 8 {
            return bytes / 4;
        }
        (0..self.input.records[position].sentences.len())
            .map(|sentence| self.cost(position, sentence))
            .sum()
    }

    pub(super) fn missing_tokens(&mut self, position: usize) -> u64 {
        let mut missing = 0;
        for sentence in 0..self.input.records[position].sentences.len() {
            if !self.is_chosen(position, sentence) && !self.is_restated(position, sentence) {
                missing += self.cost(position, sentence) + self.cost_of_newest_word(position, sentence);
            }
        }
        let opens = if self.chosen.contains_key(&position) {
            0
        } else {
            LINE_TOKENS
        };
        missing + opens
    }
}

/// Whether a record holds words of the agent between calls.
fn is_work(record: &ConversationRecord) -> bool {
    record.speaker == Speaker::Agent && !record.closes_turn
}

/// Words in lower case that may tell sentences apart.
pub(super) fn plain_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .filter(|word| word.chars().count() > 2)
        .map(str::to_lowercase)
}

#[cfg(test)]
#[path = "select_tests.rs"]
mod tests;
