//! Which sentences of a conversation are chosen so far, what they cost, and what has to stand with a sentence that is taken.
//!
//! Not here: which sentence is taken first.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::ledger::conversation::correction_words::turns_back;
use crate::ledger::conversation::outline::OutlineEntry;
use crate::ledger::conversation::record::ConversationRecord;
use crate::ledger::conversation::record::Speaker;
use crate::ledger::conversation::talk_cache::TalkCache;

/// A message of the person up to this many tokens stands whole where there is room for all of them.
pub(super) const SHORT_MESSAGE: u64 = 300;
/// What a line costs beside its words: `- [assistant m1000] `.
pub(super) const LINE_TOKENS: u64 = 8;
/// What a mark of a later word costs.
const MARK_TOKENS: u64 = 18;

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
    pub(super) chosen: Selection,
    pub(super) used: u64,
    /// Whether every short message of the person stands whole.
    pub(super) is_person_whole: bool,
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

    /// The whole message, except what is restated of it.
    pub(super) fn choose_whole(&mut self, position: usize) {
        for sentence in 0..self.input.records[position].sentences.len() {
            if !self.is_restated(position, sentence) {
                self.take(position, sentence);
            }
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
