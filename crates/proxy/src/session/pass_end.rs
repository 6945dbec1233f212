//! How a pass ended for the request that waited for it.

use std::time::Duration;

use crate::session::RequestAction;
use crate::session::RequestNote;
use crate::session::pass::PassError;

/// How a pass ended.
#[derive(Debug)]
pub enum PassEnd {
    /// It is in force.
    Made,
    /// There is none.
    NotMade(PassError),
    /// It is still being made.
    TooSlow,
}

impl PassEnd {
    /// Writes it into a request's note: the pass that was to be made for this reason, within this time.
    pub fn note(self, note: &mut RequestNote, reason: &str, patience: Duration) {
        match self {
            PassEnd::Made => {
                note.deed = RequestAction::Compacted;
                note.reason = Some(reason.to_owned());
            }
            PassEnd::NotMade(error) => {
                if error.is_failure() {
                    note.deed = RequestAction::FailedOpen;
                }
                note.reason = Some(error.to_string());
            }
            PassEnd::TooSlow => {
                note.deed = RequestAction::FailedOpen;
                note.reason = Some(format!(
                    "the pass takes longer than {} ms and goes on without us",
                    patience.as_millis()
                ));
            }
        }
    }
}
