//! Whether a line of a summary puts words into the person's mouth.
//!
//! A line that says what the person said, wants, decided or agreed to is held against one message of theirs, or one reply with the
//! proposal that it answers: most of its words, all of its values, and the same yes or no. Acts that do harm need to be named.

mod claims;
mod corrections;
mod lexicon;
mod record;
mod terms;

pub use claims::attributed_claims;
pub use claims::leads_in;
pub use claims::titles_person;
pub use corrections::CorrectedValues;
pub use record::SpokenRecord;

#[cfg(test)]
#[path = "attribution_tests.rs"]
mod tests;
