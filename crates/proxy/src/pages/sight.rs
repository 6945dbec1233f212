//! What pages are drawn from: what the session reports, where the store is, and the time.

use http::StatusCode;

use crate::pages::address::SecretDisplay;
use crate::pages::live::LiveRow;
use crate::pages::trouble::PageError;
use crate::recall::RecallError;
use crate::recall::recall_store::RecallStore;
use crate::session::SessionsOverview;
use crate::session::StoreLocation;
use mainstay_session::Redaction;

/// What pages are drawn from.
#[derive(Clone, Debug)]
pub(super) struct PageInputs {
    /// What the session reports; none where it does not answer.
    pub(super) overview: Option<SessionsOverview>,
    /// Where the store is.
    pub(super) archive: Option<StoreLocation>,
    /// The time, in milliseconds.
    pub(super) now: i64,
}

impl PageInputs {
    /// The conversations that are remembered, those last seen first.
    pub(super) fn sessions(&self) -> Vec<LiveRow> {
        let overview = self.overview.as_ref();
        overview.map_or_else(Vec::new, |overview| {
            overview.sessions.iter().map(LiveRow::new).collect()
        })
    }

    /// Where the store is.
    pub(super) fn archive(&self) -> Result<&StoreLocation, PageError> {
        let words = "This proxy keeps nothing.";
        let missing = || PageError::new(StatusCode::NOT_FOUND, "no-store", words);
        self.archive.as_ref().ok_or_else(missing)
    }

    /// The store, opened, with the rules of what is shown of it. Nothing is made where there is none.
    pub(super) fn open(&self, secrets: SecretDisplay) -> Result<RecallStore, PageError> {
        let archive = self.archive()?;
        let secrets = match secrets {
            SecretDisplay::Clean => archive.redaction,
            SecretDisplay::Raw => Redaction::Off,
        };
        RecallStore::open(&archive.store, secrets).map_err(|error| match error {
            RecallError::Store { error } => PageError::from(error),
            other => PageError::new(StatusCode::INTERNAL_SERVER_ERROR, "store", other.to_string()),
        })
    }
}
