//! Commits, branches, tags, pushes and pull requests that were made, as version control names them.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;
use serde::Serialize;

use super::arguments::is_assignment;
use super::log_line::cut_at_word;
use super::program::Run;
use super::shelf::Room;
use super::shelf::Shelf;
use super::shelf::Shelved;
use crate::decide::cut;
use crate::ledger::entry::Entry;
use crate::ledger::entry::Kind;
use crate::ledger::entry::Status;
use crate::transcript::Author;

/// Most of them in a conversation; the oldest one makes room.
const MOST: Room = Room { all: 100, light: 100 };

/// Most commits that one output is read for: what prints more rewrites a history.
const MOST_OF_ONE: usize = 8;

/// What was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommitKind {
    /// A commit.
    Commit,
    /// A branch.
    Branch,
    /// A tag.
    Tag,
    /// A branch that was pushed.
    Push,
    /// A pull or merge request.
    PullRequest,
}

impl CommitKind {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            CommitKind::Commit => "commit",
            CommitKind::Branch => "branch",
            CommitKind::Tag => "tag",
            CommitKind::Push => "pushed",
            CommitKind::PullRequest => "pull request",
        }
    }
}

/// Something that version control keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitRecord {
    entry: Entry,
    kind: CommitKind,
    title: Box<str>,
    /// The message in which its branch was rebased after it was made: its hash may be another one now.
    #[serde(default)]
    rebased: Option<u32>,
}

impl CommitRecord {
    /// What was made.
    pub fn kind(&self) -> CommitKind {
        self.kind
    }

    /// The hash, the name of the branch or tag, or the number of the request; empty for a commit whose hash was not shown.
    pub fn name(&self) -> &str {
        &self.entry.value
    }

    /// The title of a commit with its branch; empty where there is none.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The message that showed it last.
    pub fn message(&self) -> u32 {
        self.entry.last
    }

    /// Whose doing it was.
    pub fn author(&self) -> Author {
        self.entry.author
    }

    /// commit 1a2b3c4 Fix the port (on main) m12
    pub fn line(&self) -> String {
        let title = if self.title.is_empty() {
            String::new()
        } else {
            format!(" {}", self.title)
        };
        let name = if self.name().is_empty() {
            "(hash not shown)"
        } else {
            self.name()
        };
        let rebased = self.rebased.map_or_else(String::new, |message| {
            format!(" (branch rebased m{message}: its hash may have changed)")
        });
        format!("{} {name}{title} m{}{rebased}", self.kind.name(), self.entry.last)
    }
}

impl Shelved for CommitRecord {
    fn entry(&self) -> &Entry {
        &self.entry
    }

    fn is_light(&self) -> bool {
        false
    }
}

/// What was made so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Commits {
    made: Shelf<CommitRecord>,
}

/// Whether a commit without a status may not have been made: it names none, and something else was printed. A hook that refuses it, and
/// the words for nothing to commit, come in any language.
pub(super) fn may_have_failed(run: &Run, body: &str) -> bool {
    let is_told = COMMITTED.is_match(body) || LOGGED.is_match(body) || body.trim().is_empty();
    &*run.family == "git commit" && !is_told
}

impl Commits {
    /// All of them, the oldest first.
    pub(super) fn items(&self) -> impl Iterator<Item = &CommitRecord> {
        self.made.items()
    }

    /// A command that did not fail, with its output.
    pub(super) fn take_in(&mut self, message: u32, run: &Run, body: &str) {
        let words = run.key.split(' ').skip_while(|word| is_assignment(word));
        let words: Vec<&str> = words.collect();
        match words.as_slice() {
            ["git", rest @ ..] => self.git(message, rest, run.subject.as_deref(), body),
            ["gh" | "glab" | "hub", "pr" | "mr", "create" | "new", ..] => self.requests(message, body),
            [tool, ..] if run.is_tool && is_request_tool(tool) => self.requests(message, body),
            _ => {}
        }
    }

    fn git(&mut self, message: u32, words: &[&str], subject: Option<&str>, body: &str) {
        // Options before the verb come with a value: `-C path`, `-c key=value`.
        let mut words = words;
        while let [option, _, rest @ ..] = words
            && matches!(*option, "-C" | "-c")
        {
            words = rest;
        }
        let Some((verb, rest)) = words.split_first() else {
            return;
        };
        let plain = || {
            rest.iter()
                .copied()
                .filter(|word| !word.starts_with('-') && !word.is_empty())
        };
        let after = |flags: &[&str]| {
            let at = rest.iter().position(|word| flags.contains(word))?;
            rest.get(at + 1).copied()
        };
        if rest.iter().any(|word| matches!(*word, "--dry-run" | "-n")) {
            return;
        }
        match *verb {
            "commit" => self.commit(message, rest.contains(&"--amend"), subject, body),
            "log" | "show" | "reflog" => self.learn_hashes(body),
            "rev-parse" if plain().eq(["HEAD"]) => {
                let mut lines = body.lines().map(str::trim).filter(|line| HASH.is_match(line));
                if let (Some(only), None) = (lines.next(), lines.next()) {
                    self.name_newest(only);
                }
            }
            "rebase" => self.rebase(message, body),
            "merge" | "revert" | "cherry-pick" | "am" => {
                for found in COMMITTED.captures_iter(body).take(MOST_OF_ONE) {
                    let title = format!("{} (on {})", cut_at_word(&found[3], 120), &found[1]);
                    self.add(message, CommitKind::Commit, &found[2], &title);
                }
            }
            "switch" => self.named(message, CommitKind::Branch, after(&["-c", "-C", "--create"])),
            "checkout" | "worktree" => self.named(message, CommitKind::Branch, after(&["-b", "-B"])),
            "branch" if !rest.iter().any(|word| word.starts_with('-')) => {
                self.named(message, CommitKind::Branch, plain().next())
            }
            "tag"
                if !rest.iter().any(|word| {
                    matches!(
                        *word,
                        "-d" | "-l" | "-v" | "--delete" | "--list" | "--verify" | "--points-at" | "--contains"
                    )
                }) =>
            {
                self.named(message, CommitKind::Tag, plain().next());
            }
            "push" => {
                for found in PUSHED.captures_iter(body).take(MOST_OF_ONE) {
                    self.add(message, CommitKind::Push, &found[2], &format!("({})", found[1].trim()));
                }
            }
            _ => {}
        }
    }

    /// A commit: as its output names it, or by the message it was given where that is quiet. An amended one takes the place of the old.
    fn commit(&mut self, message: u32, is_amend: bool, subject: Option<&str>, body: &str) {
        // A status in the same output may say so of what is left.
        if !COMMITTED.is_match(body) && NOTHING.iter().any(|words| body.contains(words)) {
            return;
        }
        let newest = self
            .newest_commit()
            .map(|commit| (commit.entry.key.clone(), commit.title.clone()));
        let mut old = None;
        if let (true, Some((key, title))) = (is_amend, newest) {
            self.made.take(&key);
            old = Some(title);
        }
        let mut is_named = false;
        for found in COMMITTED.captures_iter(body).take(MOST_OF_ONE) {
            let title = format!("{} (on {})", cut_at_word(&found[3], 120), &found[1]);
            self.add(message, CommitKind::Commit, &found[2], &title);
            is_named = true;
        }
        if let (false, Some(title)) = (is_named, subject.or(old.as_deref())) {
            let title = cut_at_word(title, 120);
            self.put(message, CommitKind::Commit, "", &title, &format!("commit {title}"));
            self.learn_hashes(body);
        }
    }

    fn newest_commit(&self) -> Option<&CommitRecord> {
        self.made.items().filter(|made| made.kind == CommitKind::Commit).last()
    }

    /// A branch was put on another base: its commits get new hashes.
    fn rebase(&mut self, message: u32, body: &str) {
        let Some(found) = REBASED.captures(body) else { return };
        let on_branch = format!(" (on {})", &found[1]);
        let is_on_branch =
            |made: &&CommitRecord| made.kind == CommitKind::Commit && made.title.ends_with(on_branch.as_str());
        let keys = self
            .made
            .items()
            .filter(is_on_branch)
            .map(|made| made.entry.key.clone());
        for key in keys.collect::<Vec<_>>() {
            if let Some(mut record) = self.made.take(&key) {
                record.rebased = Some(message);
                self.made.put(&key, record, MOST);
            }
        }
    }

    /// Lines of a log name commits whose hash was not shown when they were made, or has changed since.
    fn learn_hashes(&mut self, body: &str) {
        // The newest commits stand first in a log.
        for found in LOGGED.captures_iter(body).take(MOST_OF_ONE) {
            let is_it = |made: &&CommitRecord| {
                let subject = made
                    .title
                    .rsplit_once(" (on ")
                    .map_or(&*made.title, |(subject, _)| subject);
                let is_unknown = made.entry.value.is_empty() || made.rebased.is_some();
                made.kind == CommitKind::Commit && is_unknown && found[2].starts_with(subject)
            };
            let key = self.made.items().find(is_it).map(|made| made.entry.key.clone());
            if let Some(key) = key {
                self.name(&key, &found[1]);
            }
        }
    }

    /// The newest commit has this hash.
    fn name_newest(&mut self, hash: &str) {
        let newest = self.newest_commit().filter(|commit| commit.entry.value.is_empty());
        if let Some(key) = newest.map(|commit| commit.entry.key.clone()) {
            self.name(&key, &hash[..hash.len().min(10)]);
        }
    }

    fn name(&mut self, key: &str, hash: &str) {
        if let Some(record) = self.made.take(key) {
            self.put(
                record.entry.last,
                CommitKind::Commit,
                hash,
                &record.title,
                &format!("commit {hash}"),
            );
        }
    }

    fn requests(&mut self, message: u32, body: &str) {
        if let Some(found) = REQUEST.captures(body) {
            self.add(message, CommitKind::PullRequest, &format!("#{}", &found[2]), &found[1]);
        }
    }

    fn named(&mut self, message: u32, kind: CommitKind, name: Option<&str>) {
        if let Some(name) = name.filter(|name| !name.contains(['$', '\'', '"', '`'])) {
            self.add(message, kind, name, "");
        }
    }

    fn add(&mut self, message: u32, kind: CommitKind, name: &str, title: &str) {
        self.put(message, kind, name, title, &format!("{} {name}", kind.name()));
    }

    fn put(&mut self, message: u32, kind: CommitKind, name: &str, title: &str, key: &str) {
        let key = cut(key, 200);
        let mut record = self.made.take(&key).unwrap_or_else(|| CommitRecord {
            entry: Entry::new(
                Kind::Command,
                &key,
                &cut(name, 160),
                Status::Current,
                Author::Assistant,
                message,
            ),
            kind,
            title: "".into(),
            rebased: None,
        });
        record.entry.last = message;
        record.title = cut(title, 200).into();
        self.made.put(&key, record, MOST);
    }
}

/// `mcp__github__create_pull_request`
fn is_request_tool(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    (tool.contains("pull_request") || tool.contains("merge_request") || tool.ends_with("_pr"))
        && (tool.contains("create") || tool.contains("open"))
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the patterns of this file are well formed, which a test shows")
}

/// `[main 1a2b3c4] Fix the port`
static COMMITTED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^\[([\w./#@-]+|detached HEAD)(?: \([\w -]+\))? ([0-9a-f]{7,40})\] (.{1,400})$"));

/// `1a2b3c4 (HEAD -> main) Fix the port`
static LOGGED: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^\*? *([0-9a-f]{7,40}) (?:\([^)\n]*\) )?(\S.*)$"));

/// `Successfully rebased and updated refs/heads/main.`
static REBASED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^Successfully rebased and updated refs/heads/(\S+?)\.?$"));

static HASH: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[0-9a-f]{7,40}$"));

/// What is printed when there was nothing to commit.
const NOTHING: [&str; 3] = [
    "nothing to commit",
    "no changes added to commit",
    "nothing added to commit",
];

/// `   1a2b3c4..5d6e7f8  main -> main`, ` * [new branch]  a -> a`
static PUSHED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?m)^ *(?:\+ |\* )?(\[new (?:branch|tag)\]|[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40}) +(\S+ -> \S+)")
});

/// The address of a request, and its number.
static REQUEST: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(https?://[^\s\x22'<>]+/(?:pull|pulls|merge_requests|pull-requests)/(\d+))"));

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(steps: &[(&str, Option<&str>, &str)]) -> Vec<String> {
        let mut commits = Commits::default();
        for (message, (key, subject, body)) in (3..).zip(steps) {
            let run = Run {
                subject: subject.map(Into::into),
                ..Run::look(key)
            };
            commits.take_in(message, &run, body);
        }
        commits.items().map(CommitRecord::line).collect()
    }

    #[test]
    fn a_quiet_commit_is_known_by_its_message_and_gets_its_hash_from_the_log() {
        let quiet = ("git commit -q -F - <<…", Some("Fix the port"), "");
        assert_eq!(lines(&[quiet]), ["commit (hash not shown) Fix the port m3"]);
        let log = (
            "git log --oneline -2",
            None,
            "1a2b3c4 (HEAD -> main) Fix the port\n5d6e7f8 Old",
        );
        assert_eq!(lines(&[quiet, log]), ["commit 1a2b3c4 Fix the port m3"]);
        let push = ("X=0 git push", None, "   5d6e7f8..1a2b3c4  main -> main");
        assert_eq!(
            lines(&[quiet, push]),
            [
                "commit (hash not shown) Fix the port m3",
                "pushed main -> main (5d6e7f8..1a2b3c4) m4"
            ],
            "it may be another branch"
        );
        let other = (
            "git rev-parse origin/main",
            None,
            "0123456789abcdef0123456789abcdef01234567",
        );
        assert_eq!(lines(&[quiet, other]), ["commit (hash not shown) Fix the port m3"]);
        assert!(lines(&[("git commit -q -m x", Some("x"), "nothing to commit, working tree clean")]).is_empty());
    }

    #[test]
    fn an_amended_commit_takes_the_place_of_the_old_one() {
        assert_eq!(
            lines(&[
                ("git commit -m a", Some("a"), "[main 1a2b3c4] a"),
                ("git commit --amend --no-edit", None, "[main 5d6e7f8] a"),
            ]),
            ["commit 5d6e7f8 a (on main) m4"]
        );
        let rest = "[main 1a2b3c4] a\nno changes added to commit";
        assert_eq!(
            lines(&[("git commit -m a", Some("a"), rest)]),
            ["commit 1a2b3c4 a (on main) m3"]
        );
        assert_eq!(
            lines(&[
                ("git commit -q -m a", Some("a"), ""),
                ("git commit -q --amend -m b", Some("b"), ""),
            ]),
            ["commit (hash not shown) b m4"]
        );
    }

    #[test]
    fn what_version_control_made_has_a_name() {
        let mut commits = Commits::default();
        for (key, body) in [
            ("git switch -c fix/port", "Switched to a new branch 'fix/port'"),
            (
                "git commit -m 'Fix the port'",
                "[fix/port 1a2b3c4] Fix the port\n 1 file changed",
            ),
            ("git tag v1.2.3", ""),
            (
                "git -C /r push origin fix/port",
                "To x\n * [new branch]      fix/port -> fix/port\n",
            ),
            ("gh pr create --fill", "Creating\nhttps://github.com/o/r/pull/7\n"),
            ("git commit -m x", "nothing to commit, working tree clean"),
            ("git branch -a", "* main"),
            ("ls", "[main 1a2b3c9] no"),
        ] {
            commits.take_in(3, &Run::look(key), body);
        }
        let lines: Vec<String> = commits.items().map(CommitRecord::line).collect();
        assert_eq!(
            lines,
            [
                "branch fix/port m3",
                "commit 1a2b3c4 Fix the port (on fix/port) m3",
                "tag v1.2.3 m3",
                "pushed fix/port -> fix/port ([new branch]) m3",
                "pull request #7 https://github.com/o/r/pull/7 m3",
            ]
        );
    }
}
