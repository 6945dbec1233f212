//! Compactors that preflight checks, and the trivial one that shows what the checks are worth.
//!
//! A new engine is one type here and one line in [`all`].

use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Transcript;

use crate::preflight::ledger_text::LedgerEntryView;
use crate::preflight::sheet::is_instruction;

/// What an engine made of a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compacted {
    /// The messages that the model would see.
    pub messages: Vec<Message>,
    /// The engine's own view of its entries, where it has one; checks read the text, and that both say the same.
    pub entries: Vec<LedgerEntryView>,
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
    vec![Box::new(HotTail)]
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
            entries: Vec::new(),
        }
    }
}
