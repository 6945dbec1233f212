//! A stretch of a text with who wrote it.

use std::ops::Range;

use crate::transcript::message::Author;

/// A stretch of a text by one author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextSegment<'a> {
    /// Who wrote it.
    pub author: Author,
    /// Where it stands in the text.
    pub range: Range<usize>,
    /// The stretch itself.
    pub text: &'a str,
}
