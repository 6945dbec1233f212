//! A conversation's ledger, found again and kept: what its scribe knows, under the names by which a later pass looks for it.

use mainstay_engine::compaction::Block;
use mainstay_engine::ledger::memory::Memory;
use mainstay_engine::ledger::scribe::Scribe;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;

use crate::Store;
use crate::error::StoreError;

/// The name under which the state behind a frame is kept.
fn frame_name(mark: &str) -> String {
    format!("frame {mark}")
}

impl Store {
    /// Lets a new scribe go on from what is remembered of a conversation: a compacted one says itself where it goes on, a whole
    /// one is known by its name.
    pub fn resume(&self, scribe: &mut Scribe, messages: &[Message], conversation: &str) -> Result<(), StoreError> {
        if let Some((block, mark)) = scribe.find_frame(messages)
            && let Some(state) = self.ledger(&frame_name(&mark))?
            && let Some(memory) = Memory::from_bytes(&state)
        {
            scribe.resume_behind(block, memory);
        } else if let Some(state) = self.ledger(conversation)?
            && let Some(memory) = Memory::from_bytes(&state)
        {
            // Another conversation of the same name, or one that was rewound, is folded anew.
            scribe.resume(memory, messages);
        }
        Ok(())
    }
}

/// What a scribe knows now, by name: under the conversation's and, where a block went out, under its mark.
pub fn states(
    scribe: &Scribe,
    block: Option<&Block>,
    messages: &[Message],
    conversation: &str,
) -> Vec<(String, Vec<u8>)> {
    let mut states = Vec::new();
    if scribe.resumed_message().is_none() {
        states.push((conversation.to_owned(), scribe.memory().to_bytes()));
    }
    if let Some(block) = block
        && let [Part::Text(text), ..] = &block.message.parts[..]
        && let Some(mark) = scribe.mark_of(text)
    {
        let memory = scribe.memory_behind(messages, &block.span, &block.carried);
        states.push((frame_name(mark), memory.to_bytes()));
    }
    states
}
