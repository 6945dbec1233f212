//! What the summariser reads of a conversation: one record a text, call or result, repeats collapsed, within a budget.
//!
//! Every record begins with a line that says its message, who it is by, which tool, and how it ended: `[m14 tool bash, failed]`.
//! What holds: each chunk and all together fit their room; newest and oldest are in; what is left out is said where it
//! stood; no content passes for a header, an elision or a tag of the prompt; JSON that is cut is still JSON; the same in gives
//! the same out; the work grows with the length of what is read. Reasoning and blocks that we do not understand are not shown.
//!
//! Not here: redaction (messages come as they may be shown) and the prompt around the records.

mod arguments;
mod choose;
mod cut;
mod guard;
mod raw_part;
mod render;
mod repeats;
mod tool_output;

pub use guard::guarded;
pub use guard::guarded_summary;
pub use guard::without_tags;

use crate::transcript::Message;

/// A message with its number in the conversation.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Its number.
    pub number: u32,
    /// The message as it may be shown.
    pub message: &'a Message,
}

/// How many tokens there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// For everything together.
    pub total: u64,
    /// For one request.
    pub each: u64,
}

/// The conversation as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// The records, oldest first, as many as one request takes in each.
    pub chunks: Vec<String>,
    /// How many records are shown.
    pub shown: usize,
    /// How many records were left out for want of room; elisions name them.
    pub skipped: usize,
    /// How many records repeat another or what the previous summary says, and were collapsed into a line or a count.
    pub collapsed: usize,
}

/// Writes messages as records. `previous` is the text of the summary that will be updated, where there is one.
pub fn serialise(records: &[Record<'_>], previous: Option<&str>, room: Room, count: &dyn Fn(&str) -> u64) -> Records {
    let raws = raw_part::raw_parts(records);
    let fates = repeats::fates(&raws, previous.is_some());
    let known = repeats::known_lines(previous.unwrap_or_default());
    let items: Vec<render::Item<'_>> = raws
        .iter()
        .zip(&fates)
        .filter(|(_, fate)| !fate.is_gone)
        .map(|(raw, fate)| render::Item::new(raw, *fate, &known))
        .collect();
    let mut written = choose::write(&items, room, count);
    written.collapsed = fates.iter().filter(|fate| fate.is_collapsed()).count();
    written
}

#[cfg(test)]
#[path = "records_tests.rs"]
mod tests;
