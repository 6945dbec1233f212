//! Compactors that preflight checks, and the trivial one that shows what the checks are worth.
//!
//! A new engine is one type here and one line in [`all`].

use mainstay_engine::account::Family;
use mainstay_engine::account::ModelLimits;
use mainstay_engine::account::Tally;
use mainstay_engine::decide::Policy;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Transcript;
use mainstay_session::Session;

use crate::forced::budget;
use crate::forced::settings;
use crate::preflight::sheet::is_instruction;

/// What an engine made of a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compacted {
    /// The messages that the model would see.
    pub messages: Vec<Message>,
}

/// A compactor without a model.
///
/// An implementor must be deterministic. The last `tail` messages that are no instructions must come back as they are.
pub trait Engine {
    /// Its name on the command line and in reports.
    fn name(&self) -> &str;

    /// Compacts.
    fn compact(&self, transcript: &Transcript, tail: usize) -> Compacted;
}

/// Every engine, by name.
pub fn all() -> Vec<Box<dyn Engine>> {
    vec![Box::new(LedgerEngine), Box::new(HotTail)]
}

/// Instructions and the newest messages, nothing else: what a checker must not be satisfied with.
#[derive(Clone, Copy, Debug)]
pub struct HotTail;

impl Engine for HotTail {
    fn name(&self) -> &str {
        "hot-tail-only"
    }

    fn compact(&self, transcript: &Transcript, tail: usize) -> Compacted {
        let messages = transcript.messages().iter();
        let (instructions, spoken): (Vec<&Message>, Vec<&Message>) =
            messages.partition(|message| is_instruction(message));
        let hot = &spoken[spoken.len().saturating_sub(tail)..];
        Compacted {
            messages: instructions.into_iter().chain(hot.iter().copied()).cloned().collect(),
        }
    }
}

/// The block gets this part of what it stands for, and never less than the tokens below: a preflight conversation is
/// short, and what it plants must fit.
const BLOCK_SHARE: u64 = 3;
const LEAST_BLOCK: u64 = 2_000;

/// The ledger, as `mainstay compact --engine ledger` runs it.
#[derive(Clone, Copy, Debug)]
pub struct LedgerEngine;

impl Engine for LedgerEngine {
    fn name(&self) -> &str {
        "ledger"
    }

    fn compact(&self, transcript: &Transcript, tail: usize) -> Compacted {
        let family = Family::O200k;
        let mut tally = Tally::new(family);
        tally.extend(transcript.messages());
        let spoken = transcript.messages().iter().zip(tally.messages());
        let spoken = spoken.filter(|(message, _)| !is_instruction(message));
        let costs: Vec<u64> = spoken.map(|(_, tokens)| tokens.total()).collect();
        let hot: u64 = costs[costs.len().saturating_sub(tail)..].iter().sum();
        let total = tally.total().total();
        let instructions = total - costs.iter().sum::<u64>();
        let block = ((total - hot) / BLOCK_SHARE).max(LEAST_BLOCK);
        let policy = Policy {
            engine: mainstay_engine::decide::Engine::Ledger,
            target: Some((instructions + hot + block).min(total.saturating_sub(1))),
            tail: Some(hot),
            tail_messages: tail,
            ..Policy::default()
        };
        let settings = settings(family, policy, budget(&ModelLimits::of("unknown")));
        let mut session = Session::of(settings, transcript.clone());
        session.pass();
        Compacted {
            messages: session.messages(),
        }
    }
}
