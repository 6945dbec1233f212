//! A conversation's ledger, found again in the store.

use std::sync::Arc;

use mainstay_engine::decide::marker::reference;
use mainstay_engine::ledger::scribe::Scribe;
use mainstay_engine::redact::Key;
use mainstay_engine::redact::Redactor;
use mainstay_store::Store;
use mainstay_wire::document::Document;

use crate::config::Redact;

/// A scribe for a conversation, which goes on from what the store remembers of it.
pub fn scribe(store: &mut Store, document: &Document, conversation: &str, redact: Redact) -> anyhow::Result<Scribe> {
    let key = store.key()?;
    let mut scribe = Scribe::new(key, Arc::new(redactor(store, redact)?));
    store.resume(&mut scribe, document.transcript.messages(), conversation)?;
    Ok(scribe)
}

/// What hides the secrets of a history wherever it is shown.
pub fn redactor(store: &mut Store, redact: Redact) -> anyhow::Result<Redactor> {
    Ok(Redactor::new(Key::new(store.key()?), redact.of_history()))
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
