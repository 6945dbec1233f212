//! The passes, and how much each did.

use serde::Serialize;

/// A pass over a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pass {
    /// Secrets, public addresses, phone numbers, cards, documents of people.
    Secrets,
    /// Home directories.
    Homes,
    /// Handles and names of people.
    Handles,
    /// Mail addresses and the headers around them.
    Mails,
    /// What the model thought.
    Reasoning,
    /// Mentions and ids of messaging platforms.
    Mentions,
    /// The first message of the user.
    FirstTurn,
    /// System prompts.
    System,
    /// Messages that hold nothing, calls and results without each other.
    Orphans,
    /// Long outputs of tools.
    Outputs,
    /// Names of machines, addresses of houses, places on the map.
    Machines,
    /// Pictures, sounds, documents and blocks nobody knows.
    Media,
    /// What stands behind the size limits.
    Limits,
}

impl Pass {
    /// All of them, in the order in which reports list them: the seed's ten first.
    pub const ALL: [Pass; 13] = [
        Pass::Secrets,
        Pass::Homes,
        Pass::Handles,
        Pass::Mails,
        Pass::Reasoning,
        Pass::Mentions,
        Pass::FirstTurn,
        Pass::System,
        Pass::Orphans,
        Pass::Outputs,
        Pass::Machines,
        Pass::Media,
        Pass::Limits,
    ];

    /// What it does, for a fixture's header.
    pub fn about(self) -> &'static str {
        match self {
            Pass::Secrets => "secrets, public addresses, phone numbers, cards and documents of people replaced",
            Pass::Homes => "home directories replaced with /home/user",
            Pass::Handles => "handles and names of people, in all cases and inside of identifiers, replaced with user",
            Pass::Mails => "mail addresses replaced with contributor@example.com, authors of commits with user",
            Pass::Reasoning => "the model's reasoning dropped",
            Pass::Mentions => "mentions and ids of messaging platforms replaced with <@user>",
            Pass::FirstTurn => "the first message of the user put into neutral words",
            Pass::System => "system prompts replaced with a placeholder",
            Pass::Orphans => "empty messages, calls without results and results without calls dropped",
            Pass::Outputs => "long outputs of tools cut in their middle",
            Pass::Machines => "names of machines, street addresses and coordinates replaced",
            Pass::Media => "media and unknown blocks replaced with a note",
            Pass::Limits => "turns behind the size limit dropped",
        }
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Pass::Secrets => "secrets",
            Pass::Homes => "homes",
            Pass::Handles => "handles",
            Pass::Mails => "mails",
            Pass::Reasoning => "reasoning",
            Pass::Mentions => "mentions",
            Pass::FirstTurn => "first_turn",
            Pass::System => "system",
            Pass::Orphans => "orphans",
            Pass::Outputs => "outputs",
            Pass::Machines => "machines",
            Pass::Media => "media",
            Pass::Limits => "limits",
        }
    }
}

/// How much a pass did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PassCount {
    /// Which.
    pub pass: Pass,
    /// How many places it changed, or messages it dropped.
    pub count: u64,
}

/// Counts while the passes run.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts([u64; Pass::ALL.len()]);

impl Counts {
    /// Counts one more.
    pub(super) fn add(&mut self, pass: Pass) {
        self.0[pass as usize] += 1;
    }

    /// All counts, in the order of the passes.
    pub(super) fn all(&self) -> Vec<PassCount> {
        let count = |pass: &Pass| PassCount {
            pass: *pass,
            count: self.0[*pass as usize],
        };
        Pass::ALL.iter().map(count).collect()
    }
}
