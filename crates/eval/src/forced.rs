//! What measurements have in common that make our engine pass: no store, no server, a pass whether it is due or not.

use std::sync::Arc;

use mainstay_engine::account::Budget;
use mainstay_engine::account::Family;
use mainstay_engine::account::ModelLimits;
use mainstay_engine::compaction::Compactor;
use mainstay_engine::compaction::Outcome;
use mainstay_engine::compaction::Verdict;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Policy;
use mainstay_engine::decide::ReasoningRule;
use mainstay_engine::decide::Roles;
use mainstay_engine::decide::Situation;
use mainstay_engine::ledger::scribe::Scribe;
use mainstay_engine::redact::Addresses;
use mainstay_engine::redact::Key;
use mainstay_engine::redact::Options;
use mainstay_engine::redact::Redactor;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Transcript;

/// The key of frames and references; a measurement has no store.
const KEY: [u8; 32] = [0; 32];

/// Hides what a compaction hides.
pub fn redactor() -> Redactor {
    let options = Options {
        addresses: Addresses::All,
        ..Options::default()
    };
    Redactor::new(Key::new(KEY), options)
}

/// The writer of a ledger.
pub fn scribe() -> Scribe {
    Scribe::new(KEY, Arc::new(redactor()))
}

/// A pass that somebody asked for, on a prompt of this size with so many tokens per token counted.
pub fn situation(prompt: u64, scale: f64) -> Situation {
    Situation {
        prompt,
        scale,
        forced: true,
        reasoning: ReasoningRule::MayDrop,
        margin: 0,
        roles: Roles::Open,
        block_role: Role::System,
    }
}

/// A conversation that was read and counted once and is then compacted to any number of targets, each time from the
/// original. Reading costs more than a pass, so sizes that are compared share it.
pub struct ForcedPasses<'a> {
    transcript: &'a Transcript,
    engine: Engine,
    limits: ModelLimits,
    /// Tokens of the prompt beside the messages: the definitions of tools.
    beside: u64,
    observed: Compactor,
}

/// What one forced pass made.
pub struct ForcedState {
    /// The compactor after the pass.
    pub compactor: Compactor,
    /// What the pass reports.
    pub outcome: Outcome,
    /// What the model would see.
    pub messages: Vec<Message>,
}

impl ForcedState {
    /// Whether the engine gave out a compacted conversation, not the original with a reason.
    pub fn is_compacted(&self) -> bool {
        self.outcome.verdict == Verdict::Compacted
    }
}

impl<'a> ForcedPasses<'a> {
    /// Reads a conversation, as `mainstay compact --engine … --target` does.
    pub fn new(transcript: &'a Transcript, family: Family, engine: Engine) -> Self {
        let mut observed = Compactor::new(family, &Policy::default()).with_scribe(scribe());
        observed.observe(transcript);
        Self {
            transcript,
            engine,
            limits: ModelLimits::of("unknown"),
            beside: 0,
            observed,
        }
    }

    /// The same for a model with these limits and a prompt with so many tokens beside the messages.
    pub fn in_request(self, limits: ModelLimits, beside: u64) -> Self {
        Self { limits, beside, ..self }
    }

    /// Compacts the original to this many tokens.
    pub fn to(&self, target: u64) -> ForcedState {
        let policy = Policy {
            engine: self.engine,
            target: Some(target),
            ..Policy::default()
        };
        let budget = Budget::new(std::slice::from_ref(&self.limits), &policy.budget)
            .expect("the default policy has shares between zero and one");
        let mut compactor = self.observed.clone();
        let situation = situation(compactor.counted() + self.beside, 1.0);
        let outcome = compactor.pass(self.transcript, &budget, &policy, situation);
        ForcedState {
            messages: compactor.messages(self.transcript),
            compactor,
            outcome,
        }
    }
}
