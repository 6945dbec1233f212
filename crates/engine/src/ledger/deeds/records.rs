//! What was done and what went wrong, as records with one readable line each.

use serde::Deserialize;
use serde::Serialize;

use super::log_line::cut_at_word;
use super::shelf::Shelved;
use crate::ledger::entry::Entry;
use crate::ledger::entry::Status;
use crate::transcript::Author;

/// Longest command in a line about something else.
const COMMAND: usize = 100;

/// How a command or a call ended last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandEnding {
    /// A reported status or an unmistakable summary says that it went well.
    Ok,
    /// A reported status says that it failed.
    Failed,
    /// No status says so, or one that is not its own, but its output shows failures.
    ShowsFailures,
    /// It ended, and nothing says how.
    Ended,
    /// It was still running when it was last looked at.
    Running,
    /// It goes on, or its result never came.
    #[default]
    Unknown,
}

impl CommandEnding {
    /// The ending in words.
    pub fn words(self) -> &'static str {
        match self {
            CommandEnding::Ok => "ok",
            CommandEnding::Failed => "failed",
            CommandEnding::ShowsFailures => "shows failures",
            CommandEnding::Ended => "ended",
            CommandEnding::Running => "still running",
            CommandEnding::Unknown => "no result seen",
        }
    }
}

/// What a command checks or settles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckKind {
    /// It runs tests.
    Test,
    /// It builds.
    Build,
    /// It looks for bad style and bad code.
    Lint,
    /// It checks types.
    Types,
    /// It brings something into use: deploys, publishes, migrates.
    Deploy,
    /// It asks or changes version control.
    Version,
}

/// A command that was run, and how it ended last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandRecord {
    pub(super) entry: Entry,
    pub(super) is_look: bool,
    #[serde(default)]
    pub(super) check: Option<CheckKind>,
    #[serde(default)]
    pub(super) ending: CommandEnding,
    /// The line of its output that tells most.
    #[serde(default)]
    pub(super) telling: Box<str>,
    /// Whether files were changed since.
    #[serde(default)]
    pub(super) is_outdated: bool,
    /// How it ended before, and in which message, where its newest run has no result.
    #[serde(default)]
    pub(super) before: Option<(CommandEnding, u32)>,
    /// The message in which a wider run of the same check went well.
    #[serde(default)]
    pub(super) covered: Option<u32>,
}

impl CommandRecord {
    /// The command, as it can be run again.
    pub fn command(&self) -> &str {
        &self.entry.key
    }

    /// What it checks, if it does.
    pub fn check(&self) -> Option<CheckKind> {
        self.check
    }

    /// How it ended last.
    pub fn ending(&self) -> CommandEnding {
        self.ending
    }

    /// The summary, error or other line that tells how it went; empty where there was none.
    pub fn telling(&self) -> &str {
        &self.telling
    }

    /// Whether files were changed after it ran last, so that what it showed may no longer hold.
    pub fn is_outdated(&self) -> bool {
        self.is_outdated
    }

    /// Whether it only looks around.
    pub fn is_look(&self) -> bool {
        self.is_look
    }

    /// The message in which a wider run of the same check went well since.
    pub fn covered(&self) -> Option<u32> {
        self.covered
    }

    /// How often it was run.
    pub fn times(&self) -> u32 {
        self.entry.times
    }

    /// The message in which it first ran.
    pub fn first(&self) -> u32 {
        self.entry.first
    }

    /// The message with its last result.
    pub fn last(&self) -> u32 {
        self.entry.last
    }

    /// Whose doing it was.
    pub fn author(&self) -> Author {
        self.entry.author
    }

    /// `cargo test -p x` ×3, m41: failed: 3 passed, 2 failed: a, b
    pub fn line(&self) -> String {
        let note = self.entry.note.as_deref().unwrap_or(self.ending.words());
        let is_bad = matches!(self.ending, CommandEnding::Failed | CommandEnding::ShowsFailures);
        let since = match (self.covered, self.before) {
            (Some(message), _) if is_bad => format!(" (a wider run ok m{message})"),
            (_, Some((ending, message))) => format!(" (before: {}, m{message})", ending.words()),
            _ if self.is_outdated && self.ending == CommandEnding::Ok => " (files changed since)".to_owned(),
            _ => String::new(),
        };
        format!(
            "`{}`{}, m{}: {note}{since}",
            self.command(),
            times(self.entry.times),
            self.entry.last
        )
    }
}

impl Shelved for CommandRecord {
    fn entry(&self) -> &Entry {
        &self.entry
    }

    fn is_light(&self) -> bool {
        self.is_look
    }
}

/// An error that was seen, with its last state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorRecord {
    pub(super) entry: Entry,
    /// The command or tool that showed it.
    pub(super) command: Box<str>,
    pub(super) family: Box<str>,
    pub(super) is_test: bool,
    pub(super) file: Option<Box<str>>,
    /// Whether its file was changed since it was last seen.
    pub(super) is_edited: bool,
    /// The message that showed it last.
    #[serde(default)]
    pub(super) seen: u32,
    /// Whether only the words of a line tell of it.
    #[serde(default)]
    pub(super) is_weak: bool,
    /// What the command checks that showed it.
    #[serde(default)]
    pub(super) check: Option<CheckKind>,
    /// The message in which the same program and verb went well since, with other arguments.
    #[serde(default)]
    pub(super) passed_since: Option<u32>,
    /// The message in which the same program and verb ran since and showed nothing of it, without a status.
    #[serde(default)]
    pub(super) ran_since: Option<u32>,
    /// What the agent said beside the call: that the failure is expected, a reproduction, a mutation.
    #[serde(default)]
    pub(super) said: Option<(u32, Box<str>)>,
}

impl ErrorRecord {
    /// The line that tells of it, without times and colours.
    pub fn text(&self) -> &str {
        &self.entry.value
    }

    /// The command or tool that showed it last.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// The file that it names.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// The message that first showed it.
    pub fn first(&self) -> u32 {
        self.entry.first
    }

    /// The message that showed it last.
    pub fn last_seen(&self) -> u32 {
        // States that were stored before the field was there have only the message that last touched it.
        self.seen.max(self.entry.first)
    }

    /// How often it was seen.
    pub fn times(&self) -> u32 {
        self.entry.times
    }

    /// The message since which it is gone: the same command passed, or ran again without showing it.
    pub fn gone_since(&self) -> Option<u32> {
        (self.entry.status == Status::Closed).then_some(self.entry.last)
    }

    /// The message in which the same program and verb ran since, with other arguments, and showed nothing of it.
    pub fn passed_since(&self) -> Option<u32> {
        self.passed_since
            .or(self.ran_since)
            .filter(|_| self.gone_since().is_none())
    }

    /// Words of the agent beside the call that call the failure expected, a reproduction or a mutation, with their message.
    pub fn said(&self) -> Option<(u32, &str)> {
        self.said.as_ref().map(|(message, words)| (*message, &**words))
    }

    /// Whether only words of a line tell of it, and no mark or status.
    pub fn is_weak(&self) -> bool {
        self.is_weak
    }

    /// Who said so: always a tool.
    pub fn author(&self) -> Author {
        self.entry.author
    }

    /// `error[E0308]: mismatched types (src/a.rs:3:5)`, from `cargo build` ×2, gone since m41
    pub fn line(&self) -> String {
        let seen = self.last_seen();
        let mut state = match (self.gone_since(), self.passed_since, self.ran_since) {
            (Some(message), ..) => format!("gone since m{message}"),
            (None, Some(passed), _) => format!("m{seen}; `{}` ok since m{passed}", self.family),
            (None, None, Some(ran)) => format!("m{seen}; not shown by `{}` m{ran}", self.family),
            (None, None, None) => format!("last seen m{seen}"),
        };
        if let Some((message, words)) = &self.said {
            state.push_str(&format!("; agent m{message}: \"{words}\""));
        }
        let from = match self.command.is_empty() {
            true => String::new(),
            false => format!("`{}`{}, ", cut_at_word(&self.command, COMMAND), times(self.entry.times)),
        };
        format!("{} ({from}{state})", self.text())
    }
}

impl Shelved for ErrorRecord {
    fn entry(&self) -> &Entry {
        &self.entry
    }

    fn is_light(&self) -> bool {
        self.entry.status == Status::Closed
    }
}

/// ` ×3`, or nothing for once.
pub(super) fn times(count: u32) -> String {
    match count {
        0 | 1 => String::new(),
        count => format!(" ×{count}"),
    }
}
