//! A line of a view, before it is known whether there is room for it.

use crate::ledger::section::Section;

/// A line that a view shows, whatever it was made from. Of one section, those that come first are taken first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewLine {
    /// Where it is listed.
    pub section: Section,
    /// The message it is from.
    pub number: u32,
    /// The line.
    pub text: String,
    /// Whether it is shown only where nothing else of its section is left out.
    pub is_spare: bool,
}

impl ViewLine {
    /// A line that has its turn.
    pub fn new(section: Section, number: u32, text: String) -> Self {
        let is_spare = false;
        Self {
            section,
            number,
            text,
            is_spare,
        }
    }
}
