//! What pages are drawn from: what the keeper says, where the store is, and the time.

use http::StatusCode;

use crate::pages::address::Shows;
use crate::pages::live::Live;
use crate::pages::trouble::Trouble;
use crate::recall::RecallError;
use crate::recall::Secrets;
use crate::recall::recall_store::Desk;
use crate::session::Archive;
use crate::session::Overview;

/// What pages are drawn from.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    /// What the keeper says; none where it says nothing.
    pub(super) overview: Option<Overview>,
    /// Where the store is.
    pub(super) archive: Option<Archive>,
    /// The time, in milliseconds.
    pub(super) now: i64,
}

impl Sight {
    /// The conversations that are remembered, those last seen first.
    pub(super) fn sessions(&self) -> Vec<Live> {
        let overview = self.overview.as_ref();
        overview.map_or_else(Vec::new, |overview| overview.sessions.iter().map(Live::new).collect())
    }

    /// Where the store is.
    pub(super) fn archive(&self) -> Result<&Archive, Trouble> {
        let words = "This proxy keeps nothing.";
        let missing = || Trouble::new(StatusCode::NOT_FOUND, "no-store", words);
        self.archive.as_ref().ok_or_else(missing)
    }

    /// The store, opened, with the rules of what is shown of it. Nothing is made where there is none.
    pub(super) fn open(&self, secrets: Shows) -> Result<Desk, Trouble> {
        let archive = self.archive()?;
        let secrets = match secrets {
            Shows::Clean => Secrets::Hidden(archive.redact),
            Shows::Raw => Secrets::Shown,
        };
        Desk::open(&archive.store, secrets).map_err(|error| match error {
            RecallError::Store { error } => Trouble::from(error),
            other => Trouble::new(StatusCode::INTERNAL_SERVER_ERROR, "store", other.to_string()),
        })
    }
}
