//! The mark in front of a line that says whose words it shows, and of which message.

use crate::transcript::Author;

/// Where something comes from, as the lines show it.
pub fn source(author: Author, first: u32, last: u32) -> String {
    match first == last {
        true => format!("[{} m{first}]", author.name()),
        false => format!("[{} m{first}–{last}]", author.name()),
    }
}
