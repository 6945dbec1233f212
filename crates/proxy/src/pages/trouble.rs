//! Why a page cannot be shown, in words for whoever wanted to see it.

use http::StatusCode;
use mainstay_store::StoreError;

use crate::pages::markup::HtmlPage;
use crate::pages::markup::Liveness;
use crate::pages::markup::Markup;

/// What stands in the way of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageError {
    /// The status of the answer.
    pub(super) status: StatusCode,
    /// One word for it, for programs.
    pub(super) code: &'static str,
    /// What is wrong, and what to do.
    pub(super) words: String,
}

impl PageError {
    /// Some trouble.
    pub(super) fn new(status: StatusCode, code: &'static str, words: impl Into<String>) -> Self {
        Self {
            status,
            code,
            words: words.into(),
        }
    }

    /// There is no such page.
    pub(super) fn nothing_here() -> Self {
        Self::new(StatusCode::NOT_FOUND, "path", "there is no such page")
    }

    /// The page that says so.
    pub(super) fn page(&self) -> HtmlPage {
        let mut body = Markup::default();
        body.warning(&self.words);
        HtmlPage {
            title: match self.status {
                StatusCode::NOT_FOUND => "Not found".to_owned(),
                StatusCode::FORBIDDEN => "Not shown".to_owned(),
                _ => "This cannot be shown".to_owned(),
            },
            trail: Vec::new(),
            query: String::new(),
            liveness: Liveness::Still,
            body,
        }
    }
}

impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        let (status, code, advice) = match &error {
            StoreError::Missing { .. } => {
                let words = "There is no store yet: nothing has been compacted so far.";
                return Self::new(StatusCode::NOT_FOUND, "no-store", words);
            }
            StoreError::NoSuchCheckpoint { .. }
            | StoreError::NoSuchConversation { .. }
            | StoreError::Ambiguous { .. }
            | StoreError::AmbiguousConversation { .. } => (StatusCode::NOT_FOUND, "not-found", ""),
            StoreError::Busy => (StatusCode::SERVICE_UNAVAILABLE, "busy", ". Try again."),
            StoreError::Damaged { .. } => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "damaged",
                ". Conversations go on without it; `mainstay checkpoints` shows what can still be read.",
            ),
            _ => (StatusCode::INTERNAL_SERVER_ERROR, "store", ""),
        };
        Self::new(status, code, format!("{error}{advice}"))
    }
}
