//! Commands that were put into the background, by the name the host gave them, and what is later read of them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;
use serde::Serialize;

use super::call::Pending;
use super::outcome::Outcome;
use super::path;
use super::program::Run;

/// Most of them at once; the one with the first name makes room.
const MOST: usize = 32;

/// Commands in the background.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Background {
    runs: BTreeMap<Box<str>, Vec<Run>>,
}

/// What was read of commands in the background.
pub(super) struct LaterOutput<'a> {
    /// The commands.
    pub runs: Vec<Run>,
    /// What is known of how they ended.
    pub outcome: Outcome<'a>,
    /// Whether the call did nothing else.
    pub is_only: bool,
}

impl Background {
    /// Commands that go on under a name.
    pub(super) fn start(&mut self, result: &str, runs: &[Run]) {
        let Some(found) = STARTED.captures(result).filter(|_| !runs.is_empty()) else {
            return;
        };
        self.runs.insert(found[1].into(), runs.to_vec());
        if self.runs.len() > MOST {
            self.runs.pop_first();
        }
    }

    /// A result that shows the output of one of them: a tool that is asked for it, or the file it is written to.
    pub(super) fn shown<'a>(&self, pending: &Pending, outcome: &Outcome<'a>) -> Option<LaterOutput<'a>> {
        if self.runs.is_empty() {
            return None;
        }
        let is_file = |id: &str| {
            let mut files = pending.touches.0.iter();
            files.any(|touch| path::name(&touch.path).split('.').next() == Some(id))
        };
        let is_asked = |id: &str| pending.subject.as_ref().is_some_and(|(_, asked)| **asked == *id);
        let (id, runs) = self.runs.iter().find(|(id, _)| is_file(id) || is_asked(id))?;
        let is_only = !is_file(id);
        let mut outcome = outcome.clone();
        // How the look at a file ended says nothing of the command.
        (outcome.exit, outcome.has_failed, outcome.is_success) = (None, false, false);
        if is_only {
            let code = CODE.captures(&outcome.printed).and_then(|found| found[1].parse().ok());
            outcome.is_running = outcome.printed.contains("<status>running</status>");
            (outcome.exit, outcome.is_success) = (code, code == Some(0));
            outcome.has_failed = code.is_some_and(|code| code != 0);
            let body = TAGS.replace_all(&outcome.printed, "\n").into_owned();
            outcome.body = Cow::Owned(body);
        }
        Some(LaterOutput {
            runs: runs.clone(),
            outcome,
            is_only,
        })
    }

    /// A notice of the host that one of them ended.
    pub(super) fn ended(&self, text: &str) -> Option<LaterOutput<'static>> {
        let found = NOTICE.captures(text).filter(|_| !self.runs.is_empty())?;
        let runs = self.runs.get(&found[1])?.clone();
        let exit = found[2].parse().ok()?;
        Some(LaterOutput {
            runs,
            outcome: Outcome::of_exit(exit),
            is_only: true,
        })
    }
}

/// Whether a tool asks about a job of the agent program itself: its ids are gone with the job.
pub(super) fn is_host_job(tool: &str) -> bool {
    const JOBS: [&str; 7] = [
        "taskstop",
        "taskoutput",
        "bashoutput",
        "killshell",
        "killbash",
        "monitor",
        "agentoutput",
    ];
    let plain: String = tool.chars().filter(|letter| letter.is_alphanumeric()).collect();
    JOBS.contains(&&*plain.to_ascii_lowercase())
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the patterns of this file are well formed, which a test shows")
}

/// `Command running in background with ID: b61. Output is being written to: …`
static STARTED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\s*Command (?:is )?running in (?:the )?background with ID: ([\w-]{1,64})"));
/// `<task-id>b61</task-id> … completed (exit code 0)`
static NOTICE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?s)<task-id>([\w-]{1,64})</task-id>.{0,1200}?\(?exit code:? (-?\d{1,5})\)?"));
/// `<exit_code>0</exit_code>`
static CODE: LazyLock<Regex> = LazyLock::new(|| pattern(r"<exit_code>(-?\d{1,5})</exit_code>"));
static TAGS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"</?(?:stdout|stderr|output|retrieval_status|timestamp)>|<(?:status|exit_code|task_id|task_type|retrieval_status|timestamp)>[^<]*</\w+>",
    )
});
