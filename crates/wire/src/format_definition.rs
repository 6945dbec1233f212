//! What a format is: a row of functions that detect, read and list its sources.

use crate::document::Document;
use crate::document::FormatLabel;
use crate::error::ReadError;
use crate::reading::Entry;
use crate::reading::Request;
use crate::session_directories::Haunt;
use crate::session_directories::Homes;
use crate::sniff::Sniff;
use crate::source::Source;

/// How sure a format is that a source is its own. The surest wins; among equals, the first in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    /// It cannot be.
    No,
    /// It could be, if nothing more specific claims it.
    Possible,
    /// Its typical marks are there.
    Likely,
    /// Nothing else looks like this.
    Certain,
}

impl Likeness {
    /// `Certain` if a test holds, else `No`.
    pub fn certain_if(holds: bool) -> Self {
        if holds { Likeness::Certain } else { Likeness::No }
    }

    /// `Likely` if a test holds, else `No`.
    pub fn likely_if(holds: bool) -> Self {
        if holds { Likeness::Likely } else { Likeness::No }
    }

    /// `Possible` if a test holds, else `No`.
    pub fn possible_if(holds: bool) -> Self {
        if holds { Likeness::Possible } else { Likeness::No }
    }
}

/// A format of sessions or request bodies.
pub struct Format {
    /// The name for `--from`.
    pub name: &'static str,
    /// What it is, for people.
    pub title: &'static str,
    /// Decides from a first look.
    pub detect: fn(&Sniff<'_>) -> Likeness,
    /// Reads one conversation.
    pub read: fn(&'static Format, &Source, &Request) -> Result<Document, ReadError>,
    /// Lists the conversations of a source that can hold several; empty for one that cannot.
    pub list: fn(&Source) -> Result<Vec<Entry>, ReadError>,
    /// Where sessions of this format live on a user's machine.
    pub haunts: fn(&Homes) -> Vec<Haunt>,
}

impl Format {
    /// What its documents say of it.
    pub(crate) fn label(&self) -> FormatLabel {
        FormatLabel {
            name: self.name,
            title: self.title,
        }
    }
}

impl std::fmt::Debug for Format {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name)
    }
}

/// For formats whose sources hold one conversation.
pub fn one_conversation(_: &Source) -> Result<Vec<Entry>, ReadError> {
    Ok(Vec::new())
}

/// For formats that have no usual place on disk.
pub fn nowhere(_: &Homes) -> Vec<Haunt> {
    Vec::new()
}
