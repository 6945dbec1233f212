//! `@handle` in prose. The same sign begins decorators, annotations, tags of documentation, rules of style sheets, scopes of packages
//! and variables: a name counts where the words around it are addressed to somebody or speak of somebody, and nowhere in the
//! session stands where only code can.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::scrub::people::Clue;
use crate::scrub::people::Kind;
use crate::scrub::titles::is_nobody;
use crate::scrub::titles::is_tag;

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is fixed, and a test runs it")
}

static CALLED: LazyLock<Regex> = LazyLock::new(|| pattern(r"@(?P<name>[\p{L}\p{N}_][\p{L}\p{N}_.\-]*)"));
/// Words after which somebody is named.
static CUE: LazyLock<Regex> = LazyLock::new(|| {
    let words = concat!(
        r"(?i)(?:^|[^\p{L}\p{N}_])(?:cc|/cc|by|hey|hi|hello|thanks|thank you|thx|kudos to|ping|ask|asked|asking|tell|told|dear|poke|cc'ing|",
        r"reviewers?|assignees?|assigned to|owners?|owned by|maintainers?|contact|author|authors|credit to|credits to|props to|h/t|via|dm|",
        r"message from|reported by|requested by|suggested by|according to|waiting for|waiting on|follow|спасибо|привет|danke an|hallo)[:,]?\s{0,3}$"
    );
    pattern(words)
});
/// A line that says who owns which files.
static OWNERS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?m)^[ \t]*[*/.\w][\w*/.\-]*[ \t]+(?P<who>@[\w.\-/]+(?:[ \t]+@[\w.\-/]+)*)[ \t]*(?:#.*)?$")
});
/// Who a merged branch comes from.
static MERGED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"Merge pull request #\d+ from (?P<owner>[A-Za-z0-9][A-Za-z0-9\-]*)/(?:(?P<next>[\w.\-]+)/)?")
});
/// What only a line of a program has.
static CODE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"[;{]\s*$|^\s*[})]|[=!<>]=|=>|->|::|&&|\|\||\+=|\b\w+\([^)]*\)\s*[{:]|\s=\s|^\s*(?:def|class|fn|func|function|const|let|var|import|from|return|public|private|protected|SELECT|INSERT|DECLARE|SET)\b|^[+\-] {2,}|^\s*[$>#] ",
    )
});

/// How many characters before a name can be a cue.
const LOOK_BACK: usize = 24;

/// People who are called in a text; `code` takes what stands where only a program has it.
pub(super) fn clues(text: &str, found: &mut Vec<Clue>, code: &mut BTreeSet<String>) {
    for captures in MERGED.captures_iter(text) {
        let names = [
            Some(&captures["owner"]),
            captures.name("next").map(|next| next.as_str()),
        ];
        for name in names.into_iter().flatten().filter(|name| is_person(name)) {
            found.push(Clue::handle(name));
        }
    }
    if !text.contains('@') {
        return;
    }
    for line in text.split('\n') {
        if line.contains('@') {
            called_in(line, found, code);
        }
    }
}

fn called_in(line: &str, found: &mut Vec<Clue>, code: &mut BTreeSet<String>) {
    let owners = OWNERS
        .captures(line)
        .and_then(|captures| captures.name("who"))
        .map(|who| who.start());
    let is_code = CODE.is_match(line);
    for captures in CALLED.captures_iter(line) {
        let (Some(whole), Some(name)) = (captures.get(0), captures.name("name")) else {
            continue;
        };
        let (before, after) = (&line[..whole.start()], &line[whole.end()..]);
        let name = name.as_str().trim_end_matches(['.', '-']);
        if !before
            .chars()
            .next_back()
            .is_none_or(|last| last.is_whitespace() || "(,*_[>".contains(last))
        {
            continue;
        }
        let from = before.char_indices().rev().nth(LOOK_BACK).map_or(0, |(at, _)| at);
        let is_cued = CUE.is_match(&before[from..]);
        if after.starts_with(['(', '{', '[', '/', '@', '=', ':'])
            && !(is_cued && after.starts_with(": "))
            && (is_code || !after.starts_with(": "))
        {
            code.insert(name.to_lowercase());
            continue;
        }
        if !is_person(name) || is_tag(name) || is_tag(name.split('.').next().unwrap_or(name)) {
            continue;
        }
        let is_owner = owners.is_some_and(|start| whole.start() >= start);
        if is_cued || is_owner || follows_called(before, found) {
            found.push(Clue::handle(name));
        } else if is_code || is_alone(before, after) || is_thing(before, after) {
            code.insert(name.to_lowercase());
        } else if is_prose(before, after) {
            found.push(Clue::spelled(name, Kind::Weak));
        }
    }
}

/// Whether this goes on a list of people: `@one and @two`, `@one, @two`.
fn follows_called(before: &str, found: &[Clue]) -> bool {
    let rest = before.trim_end();
    let rest = [" and", ",", " &", " und", " и", ", and"]
        .iter()
        .find_map(|joint| rest.strip_suffix(joint))
        .unwrap_or("");
    let last = rest.rsplit([' ', '(']).next().unwrap_or("");
    let name = last.trim_start_matches('@').trim_end_matches(',');
    let last_found = found.last().and_then(|clue| clue.names.first());
    last.starts_with('@') && last_found.is_some_and(|(known, kind)| known == name && *kind != Kind::Weak)
}

/// Whether nothing stands around it: a decorator has its line for itself.
fn is_alone(before: &str, after: &str) -> bool {
    before.trim_matches(|c: char| !c.is_alphanumeric()).is_empty() && after.trim().is_empty()
}

/// Words that tell that a thing of a program is spoken of, or that follow an annotation.
const THINGS: &[&str] = &[
    "decorator",
    "decorators",
    "annotation",
    "annotations",
    "variable",
    "variables",
    "attribute",
    "tag",
    "tags",
    "directive",
    "rule",
    "rules",
    "macro",
    "import",
    "imports",
    "scope",
    "package",
    "packages",
    "class",
    "method",
    "methods",
    "function",
    "symbol",
    "alias",
    "instance",
    "parameter",
    "field",
    "property",
    "branch",
    "ref",
    "public",
    "private",
    "protected",
    "static",
    "final",
    "abstract",
    "override",
    "val",
    "var",
    "fun",
    "def",
    "void",
    "interface",
    "enum",
    "data",
    "let",
    "const",
    "async",
    "export",
    "internal",
    "open",
    "lateinit",
    "suspend",
    "func",
    "struct",
    "type",
    "import:",
];

/// Whether a thing of a program is spoken of.
fn is_thing(before: &str, after: &str) -> bool {
    let bare = |word: Option<&str>| {
        let word = word.unwrap_or("").trim_matches(|c: char| !c.is_alphanumeric());
        word.to_lowercase()
    };
    let (next, previous) = (
        bare(after.split_whitespace().next()),
        bare(before.split_whitespace().next_back()),
    );
    THINGS.contains(&&*next) || THINGS.contains(&&*previous) || after.starts_with(['`', '"', '\''])
}

/// Whether the words around a name are those of a sentence.
fn is_prose(before: &str, after: &str) -> bool {
    let is_letters = |word: &&str| {
        let word = word.trim_matches(|c: char| ",.!?:;()'’\"".contains(c));
        word.chars().count() >= 2 && word.chars().all(|c| c.is_alphabetic() || c == '\'' || c == '’')
    };
    let (words_before, words_after) = (
        before.split_whitespace().filter(is_letters).count(),
        after.split_whitespace().filter(is_letters).count(),
    );
    // A tag of documentation begins its line as well, but a lower case word and a type or a name follow.
    let begins_line = before.trim_matches(|c: char| !c.is_alphanumeric()).is_empty();
    match begins_line {
        true => before.trim().is_empty() && words_after >= 2 && after.starts_with([' ', ',', ':']),
        false => words_before + words_after >= 2,
    }
}

/// Kinds of branches, which stand where a person's name could.
const BRANCHES: &[&str] = &[
    "feat",
    "feature",
    "features",
    "fix",
    "bugfix",
    "hotfix",
    "chore",
    "docs",
    "release",
    "releases",
    "refactor",
    "ci",
    "test",
    "dependabot",
    "renovate",
    "snyk",
    "revert",
    "perf",
    "style",
    "wip",
    "topic",
    "patch",
    "claude",
    "codex",
    "copilot",
    "cursor",
    "improvement",
    "bug",
];

fn is_person(name: &str) -> bool {
    let lower = name.to_lowercase();
    let letters = name.chars().filter(|c| c.is_alphabetic()).count();
    let starts = name.chars().next().is_some_and(char::is_alphanumeric);
    // What begins like a pseudonym of ours may be one that is glued to something.
    starts && !lower.starts_with("user") && letters >= 3 && !is_nobody(name) && !BRANCHES.contains(&&*lower)
}
