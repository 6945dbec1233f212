//! What a block shows of the host's words: the rules of the running skill, other skills by name, notices whole.

use crate::ledger::conversation::host_words::SKILL;
use crate::ledger::conversation::record::Speaker;
use crate::ledger::conversation::selection::Selector;

/// The part of the room that rules of a skill may fill.
const RULES_SHARE: u64 = 12;
/// A skill runs while the person has sent at most this many messages since: later they speak of something else.
const RUNNING_MESSAGES: usize = 6;
/// Older skills that are named.
const NAMED_SKILLS: usize = 4;

impl Selector<'_> {
    /// Chooses what stands of the host's words.
    pub(super) fn choose_host(&mut self, budget: u64) {
        let records = self.input.records;
        let mut room = budget / RULES_SHARE;
        let (mut skills, mut person) = (0, 0);
        for (position, record) in records.iter().enumerate().rev() {
            person += usize::from(record.speaker == Speaker::Person);
            if record.speaker != Speaker::Host {
                continue;
            }
            let is_skill = record.text.starts_with(SKILL);
            skills += usize::from(is_skill);
            if !(self.input.is_cold)(record.number) || skills > NAMED_SKILLS {
                continue;
            }
            let is_running = !is_skill || skills == 1 && person <= RUNNING_MESSAGES;
            let mut order: Vec<usize> = (1..record.sentences.len()).filter(|_| is_running).collect();
            // What is forbidden comes before what is demanded.
            order.sort_by_key(|index| !record.sentences[*index].signs.negation);
            for sentence in std::iter::once(0).chain(order) {
                if sentence >= record.sentences.len() {
                    continue;
                }
                let cost = self.cost_of_taking(position, sentence);
                if cost <= room {
                    room -= cost;
                    self.take(position, sentence);
                }
            }
        }
    }
}
