//! Data of people, where a host asks for it.

use crate::redact::scan::Found;

/// Everything about people in a text.
pub(super) fn find(_text: &str) -> Vec<Found> {
    Vec::new()
}
