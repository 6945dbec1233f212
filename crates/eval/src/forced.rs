//! What measurements have in common that make our engine pass: no store, no server, a pass whether it is due or not.

use std::sync::Arc;

use mainstay_engine::decide::ReasoningRule;
use mainstay_engine::decide::Roles;
use mainstay_engine::decide::Situation;
use mainstay_engine::ledger::scribe::Scribe;
use mainstay_engine::redact::Addresses;
use mainstay_engine::redact::Key;
use mainstay_engine::redact::Options;
use mainstay_engine::redact::Redactor;
use mainstay_engine::transcript::Role;

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
