//! What is remembered of every identifier: who wrote it, how often, and when last.
//!
//! Folding a message costs time in proportion to that message. Only counts and positions are kept; how likely an
//! identifier is to be used again is worked out when it is asked for.

use serde::Deserialize;
use serde::Serialize;

use crate::ledger::evidence::scan::Class;
use crate::ledger::evidence::weights::Features;
use crate::ledger::evidence::weights::grade;

/// In which voice a text speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Voice {
    /// The model's words.
    Text,
    /// The model's tool calls.
    Arguments,
    /// The person.
    User,
    /// A tool, the agent program, an earlier compaction.
    Tool,
    /// Instructions: always in front of the model, so never evidence.
    System,
}

impl Voice {
    /// Its place among the voices that are counted.
    fn slot(self) -> Option<usize> {
        match self {
            Voice::Text => Some(0),
            Voice::Arguments => Some(1),
            Voice::User => Some(2),
            Voice::Tool => Some(3),
            Voice::System => None,
        }
    }
}

/// The place of a message, counted from one; zero means never.
type Turn = u32;

/// The grade of a distance to something that never was: one more than the longest conversation we think of.
const NEVER: f64 = 13.0;

/// What is remembered of one identifier. Saved as a row: there are many of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Row", into = "Row")]
pub struct Stats {
    messages: [u32; 4],
    last: [Turn; 4],
    first: Turn,
    first_slot: u8,
    occurrences: u32,
    leading: u32,
    least_company: u32,
    last_company: u32,
    is_escaped: bool,
    is_in_first_request: bool,
}

/// The fields of [`Stats`] in order, the two answers as one number.
type Row = ([u32; 4], [Turn; 4], Turn, u8, u32, u32, u32, u32, u8);

impl From<Row> for Stats {
    fn from(
        (messages, last, first, first_slot, occurrences, leading, least_company, last_company, answers): Row,
    ) -> Self {
        Self {
            messages,
            last,
            first,
            first_slot,
            occurrences,
            leading,
            least_company,
            last_company,
            is_escaped: answers & 1 != 0,
            is_in_first_request: answers & 2 != 0,
        }
    }
}

impl From<Stats> for Row {
    fn from(stats: Stats) -> Self {
        let answers = u8::from(stats.is_escaped) | u8::from(stats.is_in_first_request) << 1;
        (
            stats.messages,
            stats.last,
            stats.first,
            stats.first_slot,
            stats.occurrences,
            stats.leading,
            stats.least_company,
            stats.last_company,
            answers,
        )
    }
}

/// Where the conversation stands: what distances are measured from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// Messages folded, without instructions.
    pub messages: Turn,
    /// Messages of the model.
    pub steps: u32,
    /// The model's newest message.
    pub newest_step: Turn,
    /// The person's newest message.
    pub newest_request: Turn,
    /// Messages of the person.
    pub requests: u32,
    /// Bytes of text folded.
    pub bytes: u64,
}

/// One occurrence of an identifier, as far as counting goes.
#[derive(Clone, Copy, Debug)]
pub struct Sighting {
    /// Who speaks.
    pub voice: Voice,
    /// How many identifiers the text holds.
    pub company: u32,
    /// Whether a backslash stands before it: its first letter may belong to an escape.
    pub is_escaped: bool,
    /// Whether it is a number at the head of its line, as in a numbered listing.
    pub is_leading: bool,
}

impl Stats {
    /// Counts one occurrence in the newest message.
    pub fn see(&mut self, clock: &Clock, sighting: Sighting) {
        let Some(slot) = sighting.voice.slot() else { return };
        if self.first == 0 {
            self.first = clock.messages;
            self.first_slot = slot as u8;
            self.least_company = sighting.company;
        }
        self.occurrences += 1;
        self.leading += u32::from(sighting.is_leading);
        self.is_escaped |= sighting.is_escaped;
        self.is_in_first_request |= sighting.voice == Voice::User && clock.requests == 1;
        if self.last[slot] != clock.messages {
            self.last[slot] = clock.messages;
            self.messages[slot] += 1;
        }
        self.least_company = self.least_company.min(sighting.company);
        self.last_company = sighting.company;
    }

    /// Whether it was never seen outside of instructions.
    pub fn is_unseen(&self) -> bool {
        self.first == 0
    }

    /// Whether its turns are turns of this conversation, in order.
    pub fn is_sound(&self, clock: &Clock) -> bool {
        self.first <= self.newest()
            && self.newest() <= clock.messages
            && clock.messages < Turn::MAX
            && clock.steps < Turn::MAX
    }

    /// The newest message that holds it.
    pub fn newest(&self) -> Turn {
        self.last.into_iter().max().unwrap_or(0)
    }

    /// What is known of it, as numbers.
    pub fn features(&self, clock: &Clock, class: Class, name: &str) -> Features {
        let since = |turn: Turn| match turn {
            0 => NEVER,
            turn => grade(u64::from(clock.messages + 1 - turn)),
        };
        let flag = |is: bool| f64::from(u8::from(is));
        let agent = self.last[0].max(self.last[1]);
        let newest = self.newest();
        let features: Features = [
            1.0,
            grade(self.messages[0].into()),
            grade(self.messages[1].into()),
            grade(self.messages[2].into()),
            grade(self.messages[3].into()),
            grade(self.occurrences.into()),
            since(newest),
            since(agent),
            since(self.last[2]),
            since(self.last[3]),
            since(self.first),
            grade(u64::from(newest - self.first)),
            (f64::from(self.messages[0]) + f64::from(self.messages[1])) / f64::from(clock.steps + 1),
            flag(clock.newest_request > 0 && self.last[2] == clock.newest_request),
            flag(self.is_in_first_request),
            flag(clock.newest_step > 0 && agent == clock.newest_step),
            grade(self.least_company.into()),
            grade(self.last_company.into()),
            flag(self.is_escaped),
            flag(self.leading == self.occurrences),
            grade(self.leading.into()),
            flag(self.first_slot == 0),
            flag(self.first_slot == 1),
            flag(self.first_slot == 2),
            grade(name.bytes().filter(u8::is_ascii_digit).count() as u64),
            flag(class == Class::Url),
            flag(class == Class::Path),
            flag(class == Class::Record),
            flag(class == Class::Symbol),
            grade(clock.messages.into()),
            grade(clock.bytes),
            flag(newest == clock.messages),
            flag(self.first == clock.messages),
        ];
        features
    }
}
