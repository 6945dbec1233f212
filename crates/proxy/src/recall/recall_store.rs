//! What a question is answered at: the store, opened for it, and what may be seen of it.

use std::path::Path;

use mainstay_session::Redaction;
use mainstay_session::ShownHistory;
use mainstay_store::Fetched;
use mainstay_store::Scope;
use mainstay_store::Store;

use crate::recall::RecallError;

/// An open store with the rules of what is shown of it.
pub(crate) struct RecallStore {
    pub(crate) store: Store,
    shown: ShownHistory,
    /// The one conversation that may be asked about, if it is only one.
    conversation: Option<String>,
}

impl RecallStore {
    pub(crate) fn open(path: &Path, redaction: Redaction) -> Result<Self, RecallError> {
        let mut store = Store::open_existing(path)?;
        Ok(Self {
            shown: ShownHistory::of(&mut store, redaction)?,
            store,
            conversation: None,
        })
    }

    /// The same for one conversation, by its whole key.
    pub(super) fn within(self, conversation: &str) -> Self {
        Self {
            conversation: Some(conversation.to_owned()),
            ..self
        }
    }

    /// The conversation that a question is about: the one it names, as far as it may, or the only one it may be about.
    pub(super) fn conversation(&self, asked: Option<&str>) -> Result<Option<String>, RecallError> {
        match (&self.conversation, asked) {
            (own, None) => Ok(own.clone()),
            (Some(own), Some(beginning)) if own.starts_with(beginning.trim()) => Ok(Some(own.clone())),
            (Some(_), Some(beginning)) => Err(RecallError::AnotherConversation {
                wanted: beginning.to_owned(),
            }),
            (None, Some(beginning)) => Ok(Some(self.store.find_conversation(beginning)?)),
        }
    }

    /// Whether a question may be about this conversation.
    pub(super) fn may_show(&self, conversation: &str) -> bool {
        self.conversation.as_deref().is_none_or(|own| own == conversation)
    }

    /// Whether questions may be about several conversations, so that answers have to say which.
    pub(super) fn is_wide(&self) -> bool {
        self.conversation.is_none()
    }

    pub(super) fn fetch(&self, reference: &str) -> Result<Option<Fetched>, RecallError> {
        Ok(match &self.conversation {
            Some(own) => self.store.fetch_of(own, reference)?,
            None => self.store.fetch(reference)?,
        })
    }

    /// Where to look when a question is about this conversation, or about all.
    pub(super) fn scope(conversation: Option<&str>) -> Scope<'_> {
        conversation.map_or(Scope::Everything, Scope::Conversation)
    }

    /// A text as it may be shown. It has to be the whole text: a part may lack what tells a secret from other words.
    pub(crate) fn clean(&self, text: &str) -> String {
        self.shown.clean(text)
    }

    /// Lines of quotations in their frame.
    pub(super) fn framed(&self, body: &str) -> String {
        self.shown.framed(body)
    }
}
