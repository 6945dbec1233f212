//! Fixtures fit to publish: a recorded conversation without secrets, people and machines in it.
//!
//! Thirteen passes, always in the same order, none of which asks the clock, the network or a model: the same session and
//! options give the same bytes, and scrubbing a fixture again changes nothing in its messages. Persons get numbers and keep
//! them everywhere in the fixture. [`audit`] then looks for people in the finished text with patterns of its own.
//!
//! Not here: reading sessions, and writing files.

pub mod audit;

mod callouts;
mod chat;
mod clues;
mod facts;
mod fixture;
mod handles;
mod homes;
mod machines;
mod mails;
mod mentions;
mod numbers;
mod opening;
mod output;
mod pass;
mod people;
mod reasoning;
mod records;
mod scrubber;
mod secrets;
mod strings;
mod text;
mod titles;

pub use facts::LostFact;
pub use fixture::Fixture;
pub use fixture::Header;
pub use pass::Pass;
pub use pass::PassCount;

use mainstay_wire::document::Document;
use serde::Serialize;

use crate::fixture::Bank;
use crate::scrub::scrubber::Scrubber;

/// How many characters of a tool's output are kept: the limit of the seed's pipeline.
pub const MOST_OUTPUT: usize = 2000;

/// How many bytes a fixture may have: the limit of the seed's pipeline.
pub const FIXTURE_LIMIT: usize = 150_000;

/// How many bytes the fixtures of a directory should have in all: the limit of the seed's pipeline.
pub const DIRECTORY_LIMIT: usize = 500_000;

/// What a caller says about a session.
#[derive(Clone, Debug)]
pub struct Options {
    /// The fixture's name.
    pub name: String,
    /// What happens in it; without one, what it holds is counted.
    pub description: Option<String>,
    /// Where the session comes from; it is scrubbed, too.
    pub source: String,
    /// When it is scrubbed.
    pub scrubbed_at: String,
    /// Persons: each with all spellings of their handles and names. The first is the session's own user.
    pub handles: Vec<Vec<String>>,
    /// What the first message of the user says instead of what it said.
    pub first_turn: Option<String>,
    /// Facts that must still stand in the fixture where they stood in the session.
    pub keep: Vec<String>,
    /// A bank whose expected facts are such facts.
    pub bank: Option<Bank>,
    /// How many characters of a tool's output are kept.
    pub most_output: usize,
    /// How many messages are kept.
    pub most_messages: usize,
    /// How many bytes the fixture may have.
    pub limit: usize,
}

impl Options {
    /// With the limits of the seed and nothing else said.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            description: None,
            source: String::new(),
            scrubbed_at: String::new(),
            handles: Vec::new(),
            first_turn: None,
            keep: Vec::new(),
            bank: None,
            most_output: MOST_OUTPUT,
            most_messages: usize::MAX,
            limit: FIXTURE_LIMIT,
        }
    }
}

/// What was done to a session; the field names are the documented JSON shape.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// What each pass changed, in their order.
    pub passes: Vec<PassCount>,
    /// How many persons were told apart.
    pub persons: usize,
    /// Messages of the session.
    pub messages_before: usize,
    /// Messages of the fixture.
    pub messages: usize,
    /// Bytes of the fixture.
    pub bytes: usize,
    /// Facts that were to be kept and are gone.
    pub lost_facts: Vec<LostFact>,
}

/// A fixture, and how it came about.
#[derive(Clone, Debug)]
pub struct Scrubbed {
    /// It.
    pub fixture: Fixture,
    /// How.
    pub report: Report,
    /// All names, handles and addresses that were found or given, for the audit. They are not for reports.
    pub names: Vec<String>,
}

/// Makes a fixture of a session.
pub fn scrub(document: &Document, options: &Options) -> Scrubbed {
    scrub_with(document, options, &Shared::default())
}

/// Makes a fixture of a session, knowing who is in others.
pub fn scrub_with(document: &Document, options: &Options, shared: &Shared) -> Scrubbed {
    Scrubber::new(document, options, shared).run()
}

/// What several sessions tell about people and machines.
#[derive(Clone, Debug, Default)]
pub struct Shared(clues::Learnt);

impl Shared {
    /// Learns from a session.
    pub fn learn(&mut self, document: &Document, options: &Options) {
        self.0.read(document, options, &mut secrets::Secrets::new());
    }
}

#[cfg(test)]
#[path = "scrub_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "trial_tests.rs"]
mod trial;

#[cfg(test)]
#[path = "planted_tests.rs"]
mod planted;

#[cfg(test)]
#[path = "property_tests.rs"]
mod properties;
