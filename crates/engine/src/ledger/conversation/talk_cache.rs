//! What is known of the sentences of a conversation while a block is written, whatever the room: a block is written in several attempts, and
//! what a sentence costs and is worth is the same in all of them.

use std::cell::OnceCell;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::ledger::conversation::outline::OutlineEntry;
use crate::ledger::conversation::outline::outline;
use crate::ledger::conversation::record::ConversationRecord;
use crate::ledger::conversation::word_use::WordUse;

/// A record and a sentence of it.
type SentencePosition = (usize, usize);

/// Filled while sentences are asked for. It belongs to one conversation, one count of tokens and one topic.
#[derive(Default)]
pub struct TalkCache {
    word_use: OnceCell<WordUse>,
    costs: RefCell<HashMap<SentencePosition, u64>>,
    worths: RefCell<HashMap<SentencePosition, f64>>,
    outlines: RefCell<HashMap<usize, Rc<[OutlineEntry]>>>,
}

impl TalkCache {
    /// How often these records say what.
    pub fn word_use(&self, records: &[ConversationRecord]) -> &WordUse {
        self.word_use.get_or_init(|| WordUse::of(records))
    }

    /// What a sentence costs.
    pub fn cost(&self, sentence: SentencePosition, count: impl FnOnce() -> u64) -> u64 {
        *self.costs.borrow_mut().entry(sentence).or_insert_with(count)
    }

    /// What a sentence is worth.
    pub fn worth(&self, sentence: SentencePosition, weigh: impl FnOnce() -> f64) -> f64 {
        *self.worths.borrow_mut().entry(sentence).or_insert_with(weigh)
    }

    /// How a message of the agent is built.
    pub fn outline(&self, position: usize, record: &ConversationRecord) -> Rc<[OutlineEntry]> {
        let mut outlines = self.outlines.borrow_mut();
        outlines
            .entry(position)
            .or_insert_with(|| outline(record).into())
            .clone()
    }
}
