//! What is hidden wherever a conversation is shown: one setting for the ledger, for summaries and for the check afterwards.

use std::sync::Arc;

use mainstay_engine::ledger::scribe::Cleaner;
use mainstay_engine::ledger::scribe::NothingToHide;
use mainstay_engine::redact::Addresses;
use mainstay_engine::redact::Key;
use mainstay_engine::redact::Options;
use mainstay_engine::redact::Redactor;

/// What is hidden. The default hides secrets and IP addresses; showing everything has to be asked for by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redaction {
    /// Secrets become references, and what the options say is hidden too.
    Secrets(Options),
    /// Everything is shown as it is.
    Off,
}

impl Default for Redaction {
    fn default() -> Self {
        // What a model is shown of a history names no machine.
        Redaction::Secrets(Options {
            addresses: Addresses::All,
            ..Options::default()
        })
    }
}

impl Redaction {
    /// What hides and what checks: the same, so that nothing passes the check that should have been hidden.
    pub(crate) fn cleaner(self, key: [u8; 32]) -> Arc<dyn Cleaner> {
        match self {
            Redaction::Secrets(options) => Arc::new(Redactor::new(Key::new(key), options)),
            Redaction::Off => Arc::new(NothingToHide),
        }
    }
}
