//! What was asked and answered behind a client's back, as long as it is remembered: the client sends its side of a turn again and
//! again, and our side of it has to be put back every time. Bounded; what is forgotten is simply missing, which is valid.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;

use mainstay_wire::reading::WireForm;

use crate::recall_tool::model_turn::AnswerPart;
use crate::recall_tool::model_turn::RecallCall;
use crate::recall_tool::model_turn::is_call;
use crate::recall_tool::model_turn::is_sealed;

/// Bytes of calls and results that are remembered in all: a thousand answers of the largest size.
const MOST: usize = 32 << 20;
/// Bytes of one conversation. More recalls than this no window holds.
const MOST_OF_ONE: usize = 4 << 20;

/// Calls that were answered before the model said anything else to the client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RecallRound {
    /// What the client sees of that answer, by what it is known again by.
    pub(super) shown: Vec<String>,
    /// Our calls in it.
    pub(super) asked: Vec<RecallCall>,
    /// Their results, as they go to the provider.
    pub(super) results: Vec<String>,
}

/// What belongs to one answer as the client sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RecallRecord {
    /// Answers that went before the last.
    pub(super) rounds: Vec<RecallRound>,
    /// The last one, with calls of ours among the client's.
    pub(super) last: Vec<AnswerPart>,
    /// The results of those.
    pub(super) results: Vec<String>,
    /// Whether the results only say that there was one.
    pub(super) is_thin: bool,
}

/// What stands in the place of a result that took too much room for too long.
const ONCE: &str = "(Recalled earlier in this conversation and left out since. Ask again if it is needed.)";

impl RecallRecord {
    /// Whether there is anything to put back.
    pub(super) fn is_empty(&self) -> bool {
        self.rounds.is_empty() && self.results.is_empty()
    }

    /// What the answer is known again by: its last call, or else its last reasoning.
    pub(super) fn key(&self) -> Option<&str> {
        let shown = || {
            self.last.iter().rev().filter_map(|seat| match seat {
                AnswerPart::Shown(identity) => Some(identity.as_str()),
                AnswerPart::Ours(_) => None,
            })
        };
        let call = shown().find(|identity| is_call(identity));
        call.or_else(|| shown().find(|identity| is_sealed(identity)))
    }

    /// Bytes of its results.
    pub(super) fn size(&self) -> usize {
        let rounds = self.rounds.iter().flat_map(|round| &round.results);
        rounds.chain(&self.results).map(String::len).sum()
    }

    /// The same with results that take next to nothing.
    fn thinned(&self, form: WireForm) -> Self {
        let thin = |asked: &RecallCall| asked.result(form, ONCE);
        let rounds = self.rounds.iter().map(|round| RecallRound {
            results: round.asked.iter().map(thin).collect(),
            ..round.clone()
        });
        let ours = self.last.iter().filter_map(|seat| match seat {
            AnswerPart::Ours(asked) => Some(thin(asked)),
            AnswerPart::Shown(_) => None,
        });
        Self {
            rounds: rounds.collect(),
            last: self.last.clone(),
            results: ours.collect(),
            is_thin: true,
        }
    }

    fn weight(&self) -> usize {
        let asked = |asked: &RecallCall| asked.id.len() + asked.input.len() + asked.raw.len();
        let texts = |texts: &[String]| texts.iter().map(String::len).sum::<usize>();
        let rounds = self.rounds.iter();
        let rounds = rounds
            .map(|round| texts(&round.shown) + texts(&round.results) + round.asked.iter().map(asked).sum::<usize>());
        let last = self.last.iter().map(|seat| match seat {
            AnswerPart::Shown(identity) => identity.len(),
            AnswerPart::Ours(call) => asked(call),
        });
        rounds.sum::<usize>() + last.sum::<usize>() + texts(&self.results)
    }
}

/// Remembers.
#[derive(Debug, Default)]
pub struct RecallHistory(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    conversations: HashMap<(String, String), Kept>,
    weight: usize,
    uses: u64,
}

#[derive(Debug, Default)]
struct Kept {
    records: Vec<Arc<RecallRecord>>,
    weight: usize,
    used: u64,
}

impl RecallHistory {
    /// What is remembered of a conversation, oldest first.
    pub(super) fn of(&self, tenant: &str, conversation: &str) -> Vec<Arc<RecallRecord>> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.conversations.is_empty() {
            return Vec::new();
        }
        state.uses += 1;
        let used = state.uses;
        let key = (tenant.to_owned(), conversation.to_owned());
        let Some(kept) = state.conversations.get_mut(&key) else {
            return Vec::new();
        };
        kept.used = used;
        kept.records.clone()
    }

    /// Remembers one more; the oldest of the conversation and the conversations least recently seen make room for it.
    pub(super) fn keep(&self, tenant: &str, conversation: &str, record: RecallRecord) {
        let weight = record.weight();
        if record.key().is_none() || weight > MOST_OF_ONE {
            return;
        }
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.uses += 1;
        let used = state.uses;
        let key = (tenant.to_owned(), conversation.to_owned());
        let kept = state.conversations.entry(key).or_default();
        let before = kept.weight;
        kept.used = used;
        kept.weight += weight;
        // An answer that was asked for again takes the place of the one before.
        let same = kept.records.iter().position(|known| known.key() == record.key());
        if let Some(same) = same {
            kept.weight -= kept.records.remove(same).weight();
        }
        kept.records.push(Arc::new(record));
        while kept.weight > MOST_OF_ONE {
            kept.weight -= kept.records.remove(0).weight();
        }
        let after = kept.weight;
        state.weight = state.weight - before + after;
        while state.weight > MOST {
            let oldest = state.conversations.iter().min_by_key(|(_, kept)| kept.used);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else {
                return;
            };
            let gone = state.conversations.remove(&oldest);
            state.weight -= gone.map_or(0, |gone| gone.weight);
        }
    }

    /// Makes some of what is remembered of a conversation thin, for good.
    pub(super) fn thin(&self, tenant: &str, conversation: &str, form: WireForm, keys: &[String]) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (tenant.to_owned(), conversation.to_owned());
        let Some(kept) = state.conversations.get_mut(&key) else {
            return;
        };
        let before = kept.weight;
        for record in &mut kept.records {
            if record.key().is_some_and(|key| keys.iter().any(|own| own == key)) {
                let thin = record.thinned(form);
                kept.weight = kept.weight - record.weight() + thin.weight();
                *record = Arc::new(thin);
            }
        }
        let after = kept.weight;
        state.weight = state.weight - before + after;
    }

    /// Forgets a conversation: the provider did not like what was put back.
    pub(super) fn forget(&self, tenant: &str, conversation: &str) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = state
            .conversations
            .remove(&(tenant.to_owned(), conversation.to_owned()));
        state.weight -= gone.map_or(0, |gone| gone.weight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(key: &str, size: usize) -> RecallRecord {
        RecallRecord {
            last: vec![AnswerPart::Shown(format!("call {key}"))],
            results: vec!["r".repeat(size)],
            ..RecallRecord::default()
        }
    }

    #[test]
    fn the_oldest_make_room() {
        let memory = RecallHistory::default();
        for number in 0..9 {
            memory.keep("", "a", record(&number.to_string(), 1 << 20));
        }
        let keys: Vec<_> = memory
            .of("", "a")
            .iter()
            .map(|record| record.key().unwrap().to_owned())
            .collect();
        assert_eq!(keys, ["call 6", "call 7", "call 8"]);
        for number in 0..12 {
            memory.keep("t", &number.to_string(), record("x", 3 << 20));
            assert!(!memory.of("", "a").is_empty(), "what is used stays");
        }
        assert!(memory.of("t", "0").is_empty() && !memory.of("t", "11").is_empty());
        assert!(memory.of("", "11").is_empty(), "another tenant's");
        memory.thin("t", "11", WireForm::Chat, &["call x".to_owned()]);
        let thin = &memory.of("t", "11")[0];
        assert!(thin.is_thin && thin.size() < 1_000);
        memory.keep("t", "11", record("x", 5));
        assert_eq!(memory.of("t", "11").len(), 1);
        memory.forget("t", "11");
        assert!(memory.of("t", "11").is_empty());
    }
}
