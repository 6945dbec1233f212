//! One live conversation: the keys of its prefixes, the tokens of each message, and what replaces its prefix.

use std::sync::Arc;
use std::sync::Condvar;

use mainstay_engine::account::Family;
use mainstay_engine::account::measure;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Seal;
use mainstay_wire::element;
use mainstay_wire::sameness::without_marks;

use crate::session::parsed_request::ParsedRequest;
use crate::session::parsed_request::PrefixKey;
use crate::session::parsed_request::hex;
use crate::session::pass::PreparedPass;
use crate::session::prefix_replacement::PrefixReplacement;
use crate::session::result_trimming::OversizedResult;
use crate::session::result_trimming::TrimmedResults;
use crate::session::result_trimming::trimmed;
use crate::session::session_stats::SessionStats;
use crate::session::worker::Worker;

/// Digits of a conversation's name: 48 bits, enough to tell the conversations of one store apart.
const NAME_DIGITS: usize = 12;
/// What a worker holds for every byte of a conversation: messages, evidence and the ledger beside them.
const WORKER_BYTES: usize = 6;

/// What was noted of a message when it first came by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageStats {
    /// Its tokens as it goes out, trimmed perhaps.
    pub tokens: u64,
    /// Its tokens as it came.
    pub tokens_whole: u64,
    /// Whether the person speaks.
    pub opens_turn: bool,
    /// Whether it holds reasoning that the provider has signed.
    pub has_signature: bool,
    /// Whether it holds tool results.
    pub has_results: bool,
}

/// One conversation.
pub struct LiveConversation {
    /// Its name in the store.
    pub name: String,
    /// How its messages are counted.
    pub family: Family,
    /// The model it was last for.
    pub model: String,
    /// The keys of its beginnings, from the empty one.
    pub keys: Vec<PrefixKey>,
    /// What was noted of each message.
    pub seen: Vec<MessageStats>,
    /// Messages that go out in a smaller form.
    pub trims: TrimmedResults,
    /// What stands for beginnings of it, from the shortest.
    pub replacements: Vec<(PrefixKey, Arc<PrefixReplacement>)>,
    /// Who compacts it; away while a pass is made.
    pub worker: Option<Box<Worker>>,
    /// Whether a pass is being made, or learnt for.
    pub is_passing: bool,
    /// Whether models write for a pass that will be due.
    pub is_preparing: bool,
    /// Tells those who wait with the conversation's lock that a pass is over, made or not.
    pub done: Arc<Condvar>,
    /// A pass that was prepared and is not in force yet.
    pub prepared: Option<Box<PreparedPass>>,
    /// How it goes: requests, money, pressure.
    pub stats: SessionStats,
    /// Up to which writes of others to the store its epochs were looked for.
    pub looked: Option<i64>,
    /// Bytes of the newest body.
    pub body: usize,
    /// How many messages there were when a pass was last refused.
    pub refused_at: Option<usize>,
    /// Whether the provider was told to leave out reasoning that no longer belongs.
    pub drops_blocks: bool,
}

impl LiveConversation {
    /// A conversation that begins like this; what it says is still to be learnt.
    pub fn new(taken: &ParsedRequest, pinned: Option<&str>, family: Family, stats: SessionStats) -> Self {
        // Two messages: agents often begin with the same words.
        let first = &taken.keys[taken.keys.len().min(3) - 1];
        let name = match pinned {
            Some(name) => name.to_owned(),
            None => format!("{}-{}", taken.form.name(), &hex(first)[..NAME_DIGITS]),
        };
        Self {
            name,
            family,
            model: String::new(),
            keys: vec![taken.keys[0]],
            seen: Vec::new(),
            trims: TrimmedResults::default(),
            replacements: Vec::new(),
            worker: None,
            is_passing: false,
            is_preparing: false,
            done: Arc::default(),
            prepared: None,
            stats,
            looked: None,
            body: 0,
            refused_at: None,
            drops_blocks: false,
        }
    }

    /// A conversation that shares this one's beginning, as far as these requests do. Who was at work on this one stays with it.
    pub fn branch(&self, taken: &ParsedRequest) -> Self {
        let shared = self
            .keys
            .iter()
            .zip(&taken.keys)
            .take_while(|(one, other)| one == other)
            .count();
        let at = shared.saturating_sub(1);
        let find = |key: &PrefixKey| taken.keys.iter().position(|known| known == key);
        let replacements = self.replacements.iter().filter_map(|(key, replacement)| {
            let covers = find(key)?;
            let moved = Arc::new(PrefixReplacement {
                covers,
                ..(**replacement).clone()
            });
            Some((*key, moved))
        });
        Self {
            name: self.name.clone(),
            family: self.family,
            model: self.model.clone(),
            keys: self.keys[..=at].to_vec(),
            seen: self.seen[..at].to_vec(),
            trims: self.trims.before(at),
            replacements: replacements.collect(),
            worker: None,
            is_passing: false,
            is_preparing: false,
            done: Arc::default(),
            prepared: None,
            stats: self.stats.branch(),
            looked: None,
            body: 0,
            refused_at: None,
            drops_blocks: self.drops_blocks,
        }
    }

    /// Whether a request goes on where this conversation ends, or repeats it.
    pub fn is_continued_by(&self, taken: &ParsedRequest) -> bool {
        taken.keys.starts_with(&self.keys)
    }

    /// Learns what is new in a request that continues this conversation.
    pub fn learn(
        &mut self,
        taken: &ParsedRequest,
        limit: Option<u64>,
        keep: &mut dyn FnMut(&OversizedResult<'_>, &str) -> Option<String>,
    ) {
        for index in self.seen.len()..taken.len() {
            let text = taken.element(index);
            let message = element::read(taken.form, text);
            let mut seen = self.look(message.as_ref());
            if let (Some(limit), Some(message)) = (limit, &message)
                && let Some(small) = trimmed(taken.form, text, message, limit, &mut |oversized| {
                    keep(oversized, &self.name)
                })
            {
                // The client moves its marks on with every request; one that stayed here would be one too many.
                let small = without_marks(&small).into_owned();
                let read = element::read(taken.form, &small);
                seen.tokens = self.look(read.as_ref()).tokens;
                self.trims.put(index, small.into());
            }
            self.seen.push(seen);
            self.keys.push(taken.keys[index + 1]);
        }
        self.body = taken.body.len();
    }

    fn look(&self, message: Option<&Message>) -> MessageStats {
        let Some(message) = message else {
            return MessageStats {
                tokens: 0,
                tokens_whole: 0,
                opens_turn: false,
                has_signature: false,
                has_results: false,
            };
        };
        let tokens = measure(message, self.family).total();
        let is_signed = |part: &Part| match part {
            Part::Thinking(thinking) => thinking.seal != Seal::Unsealed,
            _ => false,
        };
        MessageStats {
            tokens,
            tokens_whole: tokens,
            opens_turn: message.opens_turn(),
            has_signature: message.parts.iter().any(is_signed),
            has_results: message.has_results(),
        }
    }

    /// What stands for the longest beginning. Where the client has gone back to a message that was old when a pass was made,
    /// that pass counts only if it leaves the newest step as it came.
    pub fn replacement(&self) -> Option<&Arc<PrefixReplacement>> {
        self.replacement_for(self.seen.len())
    }

    /// The same for the conversation as it was when it had so many messages.
    pub fn replacement_for(&self, now: usize) -> Option<&Arc<PrefixReplacement>> {
        let newest = self.newest_step(now);
        let mut replacements = self.replacements.iter().rev().map(|(_, replacement)| replacement);
        replacements.find(|replacement| {
            replacement.covers <= newest || (replacement.covers <= now && replacement.made_at <= now)
        })
    }

    /// Where the newest step begins: the last results with the call they answer, or else the last message.
    fn newest_step(&self, now: usize) -> usize {
        let seen = &self.seen[..now.min(self.seen.len())];
        let results = seen.iter().rev().take_while(|seen| seen.has_results).count();
        seen.len().saturating_sub(results + 1)
    }

    /// Puts something in place of a beginning.
    pub fn adopt(&mut self, key: PrefixKey, replacement: Arc<PrefixReplacement>) {
        let known = self
            .replacements
            .iter()
            .position(|(_, known)| known.covers >= replacement.covers);
        match known {
            Some(index) if self.replacements[index].1.covers == replacement.covers => {
                self.replacements[index] = (key, replacement)
            }
            Some(index) => self.replacements.insert(index, (key, replacement)),
            None => self.replacements.push((key, replacement)),
        }
    }

    /// The counted tokens of the chain as it goes out.
    pub fn counted(&self) -> u64 {
        let (covered, tokens) = self
            .replacement()
            .map_or((0, 0), |replacement| (replacement.covers, replacement.tokens));
        tokens + self.seen[covered..].iter().map(|seen| seen.tokens).sum::<u64>()
    }

    /// The counted tokens of the chain as it came.
    pub fn counted_whole(&self) -> u64 {
        self.seen.iter().map(|seen| seen.tokens_whole).sum()
    }

    /// Whether the turn that is going on holds reasoning that the provider has signed: then it must not be touched, nor what stands
    /// before it be changed, while it can be helped.
    pub fn is_in_signed_turn(&self) -> bool {
        let turn = self.seen.iter().rev().take_while(|seen| !seen.opens_turn);
        turn.into_iter().any(|seen| seen.has_signature)
    }

    /// About how many bytes it takes.
    pub fn weight(&self) -> usize {
        let texts: usize = self
            .replacements
            .iter()
            .map(|(_, replacement)| replacement.text.len())
            .sum();
        let trims: usize = self.trims.from(0).map(|(_, text)| text.len()).sum();
        let working = match self.worker.is_some() || self.is_passing || self.is_preparing {
            true => self.body * WORKER_BYTES,
            false => 0,
        };
        let prepared = self.prepared.as_ref().map_or(0, |_| self.body * WORKER_BYTES);
        self.keys.len() * 2 * (size_of::<PrefixKey>() + size_of::<MessageStats>()) + texts + trims + working + prepared
    }
}
