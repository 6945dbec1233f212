//! Commands as they are remembered: without what changes from run to run and says nothing.

use serde::Deserialize;
use serde::Serialize;

use super::arguments;
use super::checks;
use super::echoed;
use super::path;
use super::records::CheckKind;
use super::shell::Joint;
use super::shell::Simple;
use super::shell::Word;
use crate::decide::cut;

/// Most commands of one script that are remembered; a longer one is a script in the sense of a program.
const MOST: usize = 8;

/// Longest word that is shown of a command: enough for a test's full name, too little for a commit message.
const LONGEST_WORD: usize = 120;

/// Longest command that is shown: two lines of a terminal.
const LONGEST: usize = 240;

/// A command that was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Run {
    /// The command without what says nothing.
    pub key: Box<str>,
    /// Its program and verb: `cargo test`.
    pub family: Box<str>,
    /// Whether it only looks around.
    pub is_look: bool,
    /// Whether its end is hidden by what stands behind it: a filter, another command.
    pub is_piped: bool,
    /// Whether its output says by itself how it ended: builds, tests, linters, programs.
    pub is_check: bool,
    /// Whether it is a tool of its own and no command of a shell.
    pub is_tool: bool,
    /// What it checks or settles, where its name tells.
    #[serde(default)]
    pub check: Option<CheckKind>,
    /// Whether what follows it only runs when it went well: `&&`.
    #[serde(default)]
    pub leads_on: bool,
    /// What the script prints by itself when the command went well: `&& echo BUILD_OK`.
    #[serde(default)]
    pub says_ok: Option<Box<str>>,
    /// What the script prints before the status of the command: `; echo "exit=$?"`.
    #[serde(default)]
    pub says_code: Option<Box<str>>,
    /// The first line of the message of a commit.
    #[serde(default)]
    pub subject: Option<Box<str>>,
}

impl Run {
    /// Something that only looks.
    pub(super) fn look(key: &str) -> Run {
        Run {
            key: cut(key, LONGEST).into(),
            family: "".into(),
            is_look: true,
            is_piped: false,
            is_check: false,
            is_tool: false,
            check: None,
            leads_on: false,
            says_ok: None,
            says_code: None,
            subject: None,
        }
    }

    /// The programs and verbs among its first words, without their folders: `mise`, `exec`, `go`, `test`.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        // Wrappers such as `mise exec --` and `uv run` stand before the program.
        const FIRST: usize = 8;
        self.key
            .split(' ')
            .filter(|word| !word.starts_with('-') && !arguments::is_assignment(word))
            .map(path::name)
            .take(FIRST)
    }

    /// Whether it runs a program, or a program with a verb: `go`, `go test`.
    pub(super) fn is_of(&self, program: &str) -> bool {
        match program.split_once(' ') {
            None => self.names().any(|name| name == program),
            Some((program, verb)) => {
                let mut names = self.names().skip_while(|name| *name != program);
                names.next().is_some() && names.next() == Some(verb)
            }
        }
    }
}

/// Commands that do nothing that is worth a line.
const SILENT: [&str; 38] = [
    "continue", "break", "select", "in", "cd", "pushd", "popd", "export", "echo", "printf", "set", "unset", "true",
    "false", ":", "sleep", "pwd", "source", ".", "alias", "test", "[", "[[", "read", "exit", "return", "local", "wait",
    "shift", "for", "case", "esac", "fi", "done", "}", "function", "declare", "trap",
];

/// Commands that show files; the files are remembered instead.
const VIEWERS: [&str; 12] = [
    "cat", "head", "tail", "less", "more", "nl", "bat", "batcat", "tac", "sed", "gsed", "awk",
];

/// Commands that only look.
const LOOKS: [&str; 33] = [
    "grep",
    "egrep",
    "rg",
    "ag",
    "ack",
    "ls",
    "find",
    "fd",
    "which",
    "whereis",
    "type",
    "wc",
    "tree",
    "stat",
    "file",
    "du",
    "df",
    "ps",
    "env",
    "printenv",
    "date",
    "whoami",
    "uname",
    "id",
    "hostname",
    "diff",
    "md5sum",
    "sha256sum",
    "sort",
    "man",
    "jq",
    "column",
    "lsof",
];

/// What stands behind a pipe and only narrows.
const FILTERS: [&str; 29] = [
    "xargs", "head", "tail", "grep", "egrep", "rg", "sort", "uniq", "wc", "cut", "tee", "awk", "sed", "tr", "less",
    "more", "cat", "jq", "column", "nl", "fold", "rev", "tac", "strings", "xxd", "comm", "paste", "fmt", "ts",
];

/// Programs whose first plain word says what they do.
const WITH_VERB: [&str; 36] = [
    "cargo",
    "go",
    "git",
    "npm",
    "npx",
    "yarn",
    "pnpm",
    "bun",
    "deno",
    "make",
    "mise",
    "just",
    "docker",
    "podman",
    "kubectl",
    "helm",
    "gh",
    "glab",
    "uv",
    "poetry",
    "pip",
    "pip3",
    "dotnet",
    "mvn",
    "gradle",
    "gradlew",
    "bundle",
    "bazel",
    "terraform",
    "brew",
    "apt",
    "apt-get",
    "systemctl",
    "task",
    "rake",
    "hatch",
];

/// Verbs that hand over to the next word.
const HANDING: [&str; 5] = ["run", "exec", "compose", "-m", "tool"];

/// Verbs that only look, with their program.
const LOOKING_VERBS: [(&str, &[&str]); 8] = [
    (
        "git",
        &[
            "status",
            "log",
            "diff",
            "show",
            "branch",
            "blame",
            "ls-files",
            "rev-parse",
            "remote",
            "grep",
            "describe",
            "merge-base",
            "cat-file",
            "ls-tree",
            "reflog",
            "rev-list",
            "ls-remote",
            "shortlog",
            "for-each-ref",
            "check-ignore",
            "worktree",
        ],
    ),
    (
        "gh",
        &[
            "view", "list", "status", "diff", "checks", "api", "pr", "issue", "run", "search",
        ],
    ),
    ("docker", &["ps", "logs", "images", "inspect"]),
    ("kubectl", &["get", "describe", "logs"]),
    ("npm", &["ls", "view", "list", "config"]),
    ("go", &["doc", "list", "env", "version"]),
    ("cargo", &["tree", "metadata", "search"]),
    ("pip", &["list", "show", "freeze"]),
];

/// The command as it is remembered; `None` for what is not.
pub(super) fn run(simples: &[Simple], at: usize) -> Option<Run> {
    let simple = &simples[at];
    let is_fed = at
        .checked_sub(1)
        .is_some_and(|before| simples[before].joint == Joint::Pipe);
    let words = arguments::command(&simple.words);
    let (first, rest) = words.split_first()?;
    let name = path::name(&first.text);
    let is_shell = matches!(name, "bash" | "sh" | "zsh")
        && rest
            .iter()
            .any(|word| word.text.ends_with('c') && word.text.starts_with('-'));
    let is_edit = matches!(name, "edit") && rest.first().is_some_and(|word| arguments::is_line_range(&word.text));
    if !first.is_plain || SILENT.contains(&name) || VIEWERS.contains(&name) || is_shell || is_edit {
        return None;
    }
    if !name.starts_with(|character: char| character.is_alphanumeric() || matches!(character, '_' | '.')) {
        return None;
    }
    if is_fed && FILTERS.contains(&name) {
        return None;
    }
    let family = family(name, rest);
    // With other variables it is another run: what passes for one platform says nothing of another.
    let variables = arguments::telling_variables(&simple.words);
    let mut key = format!("{variables}{}", spelled(first, rest));
    if simple.document.is_some() {
        key.push_str(" <<…");
    }
    let is_look = is_look(name, &family, rest);
    Some(Run {
        key: cut(&key, LONGEST).into(),
        is_look,
        is_piped: hides_end(simples, at),
        is_check: !is_look && is_check(name, &family),
        is_tool: false,
        check: checks::kind(name, &family, rest),
        leads_on: simple.joint == Joint::And,
        says_ok: echoed::on_success(simples, at),
        says_code: echoed::before_code(simples, at),
        subject: (family == "git commit").then(|| commit_subject(rest, simple)).flatten(),
        family: cut(&family, LONGEST_WORD).into(),
    })
}

/// Whether the status of a whole script says nothing of one of its commands: a filter, or another command, stands behind it.
fn hides_end(simples: &[Simple], at: usize) -> bool {
    // A pipeline is as long as its filters; eight are more than anybody writes. What only prints hides no end.
    let mut after = simples[at + 1..].iter().take(8);
    match simples[at].joint {
        Joint::And => false,
        Joint::Pipe | Joint::Or | Joint::Next => after.any(|next| !next.tells_status()),
    }
}

/// The first line of the message that a commit is given: by `-m`, by a here-document, or by both.
fn commit_subject(rest: &[Word], simple: &Simple) -> Option<Box<str>> {
    let given = rest.iter().enumerate().find_map(|(at, word)| match &*word.text {
        "--message" => rest.get(at + 1).map(|word| word.text.as_str()),
        // Short options are often bundled: `-am`, `-qm`.
        text if text.starts_with('-') && !text.starts_with("--") && text.len() <= 5 && text.ends_with('m') => {
            rest.get(at + 1).map(|word| word.text.as_str())
        }
        text => text.strip_prefix("--message="),
    });
    // `-m "$(cat <<'EOF' … EOF)"`: the message begins below the line that opens the document.
    let given = match given {
        Some(text) if text.starts_with("$(") => text.split_once('\n').map(|(_, body)| body),
        Some(text) => Some(text),
        None => simple.document.as_deref(),
    };
    let line = given?.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(cut(line, LONGEST_WORD).into())
}

/// Adds a command once.
pub(super) fn add(runs: &mut Vec<Run>, run: Run) {
    if runs.len() < MOST && runs.iter().all(|known| known.key != run.key) {
        runs.push(run);
    }
}

fn spelled(first: &Word, rest: &[Word]) -> String {
    let mut said = cut(&first.text, LONGEST_WORD);
    for word in rest {
        // A text of several lines is told by its first.
        let mut lines = word.text.trim().lines();
        let line = cut(lines.next().unwrap_or_default(), LONGEST_WORD);
        let more = if lines.next().is_some() { "…" } else { "" };
        let needs_quotes = word.is_quoted
            && (line.contains(|character: char| !character.is_alphanumeric() && !"-_./:=,@+%".contains(character))
                || line.is_empty());
        said.push(' ');
        match needs_quotes {
            true => said.push_str(&format!("'{line}{more}'")),
            false => said.push_str(&format!("{line}{more}")),
        }
        if said.len() > LONGEST * 4 {
            break;
        }
    }
    said
}

fn family(name: &str, rest: &[Word]) -> String {
    let mut plain = rest.iter().map(|word| word.text.as_str());
    let mut family = name.to_owned();
    let is_python = name.starts_with("python");
    let verb = match (WITH_VERB.contains(&name), is_python) {
        (true, _) => plain.by_ref().find(|word| !word.starts_with('-')),
        (false, true) => plain.next().filter(|word| *word == "-m" || word.ends_with(".py")),
        (false, false) => None,
    };
    if let Some(verb) = verb {
        family = format!("{family} {verb}");
        if HANDING.contains(&verb)
            && let Some(handed) = plain.find(|word| !word.starts_with('-'))
        {
            family = format!("{family} {handed}");
        }
    }
    family
}

fn is_look(name: &str, family: &str, rest: &[Word]) -> bool {
    if LOOKS.contains(&name)
        || rest
            .iter()
            .any(|word| matches!(&*word.text, "--version" | "--help" | "version"))
    {
        return true;
    }
    let verb = family.split(' ').nth(1).unwrap_or_default();
    let looking = LOOKING_VERBS.iter().find(|(program, _)| *program == name);
    match looking {
        Some(("gh", verbs)) => {
            // `gh pr view`: the verb is the second word.
            let second = rest.iter().filter(|word| !word.text.starts_with('-')).nth(1);
            verb == "api" || verb == "search" || second.is_some_and(|word| verbs.contains(&&*word.text))
        }
        Some((_, verbs)) => verbs.contains(&verb),
        None => false,
    }
}

/// Whether a command shows files, their names or their history: their columns are no data.
pub(super) fn is_file_look(family: &str) -> bool {
    let name = family.split(' ').next().unwrap_or_default();
    matches!(
        name,
        "ls" | "find"
            | "fd"
            | "grep"
            | "egrep"
            | "rg"
            | "ag"
            | "ack"
            | "tree"
            | "wc"
            | "stat"
            | "du"
            | "diff"
            | "git"
            | "gh"
            | "env"
            | "printenv"
            | "man"
            | "which"
    )
}

/// Whether a command judges code as a whole: a build, a linter, a test suite, and not just any program.
pub(super) fn is_verdict(family: &str) -> bool {
    family
        .split([' ', ':', '-', '_', '/'])
        .any(|word| VERDICTS.contains(&word))
}

/// Verbs of commands that judge code.
const VERDICTS: [&str; 13] = [
    "test",
    "check",
    "build",
    "lint",
    "vet",
    "clippy",
    "compile",
    "ci",
    "typecheck",
    "verify",
    "tsc",
    "tsgo",
    "make",
];

fn is_check(name: &str, family: &str) -> bool {
    const NAMES: [&str; 24] = [
        "pytest",
        "jest",
        "vitest",
        "mocha",
        "rspec",
        "ctest",
        "tox",
        "nox",
        "tsc",
        "tsgo",
        "eslint",
        "ruff",
        "mypy",
        "flake8",
        "pylint",
        "make",
        "ninja",
        "cmake",
        "gcc",
        "g++",
        "clang",
        "rustc",
        "javac",
        "golangci-lint",
    ];
    let is_program = name.starts_with("python") || matches!(name, "node" | "ruby" | "php" | "deno" | "bun" | "java");
    NAMES.contains(&name)
        || is_program
        || name.starts_with("./")
        || is_verdict(family)
        || family.split(' ').any(|word| NAMES.contains(&word))
        || matches!(family, "go run" | "cargo run")
}
