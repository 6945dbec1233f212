//! Which programs print lines of which form, so that in a chain of commands a line goes to the one that printed it.
//!
//! Patterns are data, one row a form. A program that is not listed prints lines of no known form.

use std::sync::LazyLock;

use regex::RegexSet;

use super::program::Run;

/// A form of lines, and the programs that print it.
const FORMS: [(&str, &[&str]); 21] = [
    (
        r"^(?:ok|FAIL|\?)\s+\S+(?:\s+[\d.]+s|\s+\(cached\)|\s+\[)|^--- (?:PASS|FAIL|SKIP): |^(?:PASS|FAIL)$|^=== (?:RUN|PAUSE|CONT) |^coverage: \d",
        &["go test", "gotestsum", "ginkgo"],
    ),
    (
        r"^\d+ issues?[.:]|^\S+\.go:\d+(?::\d+)?: .*\(\w+\)$|^level=\w+ msg=.*(?:linter|\[runner)",
        &["golangci-lint"],
    ),
    (
        r"^# \S+/\S+$|^\S+\.go:\d+:\d+: \S",
        &["go", "golangci-lint", "staticcheck", "goimports", "gofmt"],
    ),
    (
        r"^test result: |^test \S+ \.\.\. |^running \d+ tests?$|^\s*Doc-tests |^\s*Summary \[",
        &["cargo test", "cargo nextest", "nextest", "cargo llvm-cov", "cargo miri"],
    ),
    (
        r"^(?:warning|error)\[E\d+\]: |^\s*(?:Finished|Compiling|Checking|Documenting|Running) [`\w]|^error: could not compile|^\s*--> \S+\.rs:",
        &["cargo", "rustc"],
    ),
    (r"^Diff in \S+\.rs", &["cargo fmt", "rustfmt"]),
    (
        r"^=+ .*\b(?:passed|failed|errors?|no tests ran)\b.* =+$|^(?:FAILED|ERROR|PASSED) \S+::|^E {3}\S|^\d+ (?:passed|failed)\b.* in [\d.]+s",
        &["pytest", "py.test", "tox", "nox"],
    ),
    (
        r"^Ran \d+ tests? in |^FAILED \((?:failures|errors)=",
        &["unittest", "manage.py", "pytest", "trial"],
    ),
    (
        r"^All checks passed!$|^Found \d+ errors?\.|^\d+ files? (?:left unchanged|already formatted|reformatted)",
        &["ruff", "black"],
    ),
    (
        r"^Success: no issues found in|^Found \d+ errors? in \d+ files?",
        &["mypy", "dmypy"],
    ),
    (
        r"^(?:Tests|Test Suites|Test Files|Snapshots):?\s+\d|^\d+ (?:passing|failing)\b",
        &["jest", "vitest", "mocha", "ava", "playwright", "cypress"],
    ),
    (
        r"^\S+\.[cm]?tsx?(?:\(\d+,\d+\)|:\d+:\d+)(?:: | - )error TS\d+|^error TS\d+: |^Found \d+ errors? in ",
        &["tsc", "tsgo", "vue-tsc"],
    ),
    (r"^✖ \d+ problems?", &["eslint", "stylelint"]),
    (r"^added \d+ packages|^npm (?:ERR!|error|warn|WARN) ", &["npm", "npx"]),
    (r"^\[INFO\] BUILD |^\[ERROR\] ", &["mvn", "mvnw"]),
    (r"^BUILD (?:SUCCESSFUL|FAILED)\b", &["gradle", "gradlew"]),
    (
        r"^CONFLICT \(|^Auto-merging |^Successfully rebased|^Automatic merge failed|^(?:error|hint): (?:could not apply|Resolve all|after resolving|You can instead)",
        &[
            "git rebase",
            "git merge",
            "git cherry-pick",
            "git pull",
            "git am",
            "git stash",
            "git revert",
        ],
    ),
    (
        r"^fatal: (?:ambiguous argument|bad revision|bad object|Not a valid object|Needed a single revision|invalid object)",
        &[
            "git rev-parse",
            "git log",
            "git show",
            "git diff",
            "git rev-list",
            "git cat-file",
            "git merge-base",
        ],
    ),
    (
        r"^fatal: |^hint: |^(?:Switched to|Already on|Your branch is|HEAD is now at|Already up to date|nothing to commit|On branch) ?|^error: (?:pathspec|failed to push|Your local changes|src refspec|unable to access)|^\[[^\]]+ [0-9a-f]{7,40}\] |^To (?:https?|git|ssh)|^! \[",
        &["git"],
    ),
    (r"^g?make(?:\[\d+\])?: ", &["make", "gmake"]),
    (
        r"^Traceback \(most recent call last\)|^  File \x22",
        &["python", "python3", "pytest", "uv"],
    ),
];

/// Programs that run others, and so print lines of any form.
const RUNNERS: [&str; 27] = [
    "make",
    "gmake",
    "just",
    "task",
    "mise",
    "npm",
    "npx",
    "pnpm",
    "yarn",
    "bun",
    "deno",
    "tox",
    "nox",
    "pre-commit",
    "nx",
    "turbo",
    "bazel",
    "docker",
    "podman",
    "gh",
    "hatch",
    "poetry",
    "uv",
    "rake",
    "bundle",
    "ninja",
    "lefthook",
];

static PATTERNS: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new(FORMS.iter().map(|(pattern, _)| *pattern)).expect("the patterns are well formed, which a test shows")
});

/// The programs that print a line of this form, where it has one.
pub(super) fn printers(line: &str) -> Option<&'static [&'static str]> {
    let form = PATTERNS.matches(line).iter().next()?;
    Some(FORMS[form].1)
}

/// How well a line of a form fits a command: `Some(true)` where its program prints it, `Some(false)` where it may run one that does.
pub(super) fn fits(run: &Run, printers: &[&str]) -> Option<bool> {
    if printers.iter().any(|program| run.is_of(program)) {
        return Some(true);
    }
    let is_script = run.key.starts_with("./") || run.names().any(|name| name.ends_with(".sh") || name.ends_with(".py"));
    (is_script || run.names().next().is_some_and(|name| RUNNERS.contains(&name))).then_some(false)
}

/// Whether a command prints no lines but those of its own forms: version control, formatters, commands for files.
pub(super) fn is_terse(run: &Run) -> bool {
    const TERSE: [&str; 20] = [
        "git",
        "gofmt",
        "goimports",
        "gofumpt",
        "golangci-lint",
        "rustfmt",
        "mkdir",
        "cp",
        "mv",
        "rm",
        "chmod",
        "chown",
        "ln",
        "touch",
        "kill",
        "pkill",
        "gh",
        "rmdir",
        "tar",
        "unzip",
    ];
    run.is_look || run.names().next().is_some_and(|name| TERSE.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_to_the_program_that_prints_them() {
        for (line, program) in [
            ("ok  \tpkg/x\t0.5s", "go test"),
            ("0 issues.", "golangci-lint"),
            ("a/b.go:3:5: for loop can be changed (intrange)", "golangci-lint"),
            ("a/b.go:3:5: undefined: x", "go"),
            ("test result: ok. 3 passed; 0 failed", "cargo test"),
            ("==== 3 passed in 0.1s ====", "pytest"),
            ("Successfully rebased and updated refs/heads/x.", "git rebase"),
            ("fatal: ambiguous argument 'x'", "git rev-parse"),
            ("fatal: not a git repository", "git"),
            ("src/a.ts:3:4 - error TS2322: no", "tsc"),
        ] {
            assert_eq!(printers(line).and_then(<[&str]>::first), Some(&program), "{line}");
        }
        assert_eq!(printers("some words"), None);
        let run = |key: &str| Run::look(key);
        assert_eq!(fits(&run("mise exec -- go test ./..."), &["go test"]), Some(true));
        assert_eq!(fits(&run("make check"), &["go test"]), Some(false));
        assert_eq!(fits(&run("go vet ./..."), &["go test"]), None);
    }
}
