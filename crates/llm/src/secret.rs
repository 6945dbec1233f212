//! A key for an endpoint, in a form that cannot be shown by accident.

use std::fmt;

/// A key. Neither its `Debug` nor anything else prints it; only [`Secret::reveal`] gives it out.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A key as it was read; white space around it is a habit of files and is left out.
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }

    /// The key itself, for the header it is sent in.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// A text without the key, should anything have echoed it. A key of a letter or three is no secret, and hiding it would
    /// spoil every text.
    pub fn hide_in(&self, text: &str) -> String {
        if self.0.len() < SHORTEST_HIDDEN {
            return text.to_owned();
        }
        text.replace(&self.0, "[key]")
    }
}

/// Shorter keys stand in any text by chance.
const SHORTEST_HIDDEN: usize = 4;

/// No provider's keys are as short as this: the shortest have 32 characters. What people configure for local servers that
/// want just any key is shorter, and often a word: `none`, `ollama`, `EMPTY`.
pub(crate) const SHORTEST_REAL: usize = 16;

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret")
    }
}
