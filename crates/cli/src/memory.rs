//! A conversation's ledger, found again in the store.

use std::sync::Arc;

use mainstay_engine::decide::marker::reference;
use mainstay_engine::ledger::memory::Memory;
use mainstay_engine::ledger::scribe::Scribe;
use mainstay_engine::redact::Addresses;
use mainstay_engine::redact::Key;
use mainstay_engine::redact::Redactor;
use mainstay_store::Store;
use mainstay_wire::document::Document;

use crate::config::Redact;

/// The name under which the state behind a frame is kept.
pub fn frame_name(mark: &str) -> String {
    format!("frame {mark}")
}

/// A scribe for a conversation, which goes on from what the store remembers of it.
pub fn scribe(store: &mut Store, document: &Document, conversation: &str, redact: Redact) -> anyhow::Result<Scribe> {
    let key = store.key()?;
    // What a model is shown of a history names no machine, unless the configuration says otherwise.
    let redactor = Redactor::new(Key::new(key), redact.options(Addresses::All));
    let mut scribe = Scribe::new(key, Arc::new(redactor));
    let messages = document.transcript.messages();
    // A compacted conversation says itself where it goes on; a whole one is known by its name.
    if let Some((block, mark)) = scribe.find_frame(messages)
        && let Some(state) = store.ledger(&frame_name(&mark))?
        && let Some(memory) = Memory::from_bytes(&state)
    {
        scribe.resume_behind(block, memory);
    } else if let Some(state) = store.ledger(conversation)?
        && let Some(memory) = Memory::from_bytes(&state)
    {
        // Another conversation of the same name, or one that was rewound, is folded anew.
        scribe.resume(memory, messages);
    }
    Ok(scribe)
}

/// The session's own id, else a name made of how the conversation begins.
pub fn conversation_key(document: &Document, first: &[u8]) -> String {
    match &document.about.id {
        Some(id) => id.clone(),
        None => {
            let opening = document
                .verbatim(0)
                .map_or_else(|| String::from_utf8_lossy(first).into_owned(), str::to_owned);
            let next = document.verbatim(1).unwrap_or("");
            format!("{}-{}", document.format.name, reference(&format!("{opening}{next}")))
        }
    }
}
