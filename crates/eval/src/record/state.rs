//! What an arm made of a fixture: the messages a model would see, and what became of those there were.

use serde::Deserialize;
use serde::Serialize;

use crate::fixture::Probe;
use crate::grade::Grade;
use crate::grade::StatePaper;
use crate::grade::grade_state;

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It stands as it was.
    Kept,
    /// A shorter form of it stands.
    Shortened,
    /// It is gone; something else may stand for it.
    Dropped,
}

/// A message as it is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// Its role.
    pub role: String,
    /// Its text, calls and results included.
    pub text: String,
    /// Its tokens.
    pub tokens: u64,
    /// Which message of the fixture it is, or is the shortened form of; `None` for a block that stands for others.
    pub from: Option<usize>,
}

/// One compaction on the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PassRecord {
    /// How many messages of the fixture there were.
    pub messages: usize,
    /// Tokens before.
    pub tokens_before: u64,
    /// Tokens after.
    pub tokens_after: u64,
    /// How it was done: `prune`, `ledger`, `summary`, `hybrid`, `unchanged`, or a control's name.
    pub made: String,
    /// Why nothing was done, or what was wrong with the result.
    pub remarks: Vec<String>,
}

/// A state that many probes are asked of. A secret is a leak only in what compaction wrote: what is kept as it was is kept.
pub struct Papers {
    shown: StatePaper,
    written: StatePaper,
}

/// What an arm made of a fixture in one repeat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateRecord {
    /// The fixture.
    pub fixture: String,
    /// The arm.
    pub arm: String,
    /// Which repeat, from 1 on.
    pub repeat: u32,
    /// Tokens of the whole fixture.
    pub tokens_before: u64,
    /// Tokens of the state.
    pub tokens_after: u64,
    /// The compactions, in order.
    pub passes: Vec<PassRecord>,
    /// What is wrong with it whatever is asked, each as a code and words: what a provider would refuse, `inflated`,
    /// `not-compacted`, `over-target`, `invented-file`, `lost-request`.
    pub flaws: Vec<String>,
    /// What became of each message of the fixture.
    pub fates: Vec<Fate>,
    /// The fixture's messages as they are shown.
    pub before: Vec<Shown>,
    /// The state's messages as they are shown.
    pub after: Vec<Shown>,
}

impl StateRecord {
    /// It, prepared to be graded for many probes.
    pub fn papers(&self) -> Papers {
        let after: Vec<&str> = self.after.iter().map(|message| message.text.as_str()).collect();
        Papers {
            shown: StatePaper::new(&after),
            written: StatePaper::new(&[self.written()]),
        }
    }

    /// What it is worth for a probe, with what a search found beside it.
    pub fn graded(&self, papers: &Papers, found: Option<&str>, probe: &Probe, secrets: &[String]) -> Grade {
        let leaks = papers.written.grade(probe, secrets).leaks;
        let grade = match found {
            None => papers.shown.grade(probe, secrets),
            Some(found) => {
                let after = self.after.iter().map(|message| message.text.as_str());
                let shown: Vec<&str> = after.chain([found]).collect();
                grade_state(&shown, probe, secrets)
            }
        };
        Grade { leaks, ..grade }
    }

    /// What of it is not as it was in the fixture: blocks, and what was shortened.
    pub fn written(&self) -> String {
        let is_kept = |message: &&Shown| {
            let from = message.from.and_then(|from| self.before.get(from));
            from.is_some_and(|from| from.text == message.text)
        };
        let written: Vec<&str> = self
            .after
            .iter()
            .filter(|message| !is_kept(message))
            .map(|message| message.text.as_str())
            .collect();
        written.join("\n\n")
    }
}
