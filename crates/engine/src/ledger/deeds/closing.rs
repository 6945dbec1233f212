//! What ends an error beside the command that showed it: another way to the same end.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::arguments;
use super::program::Run;
use super::records::CheckKind;
use super::records::ErrorRecord;
use super::run_end::End;

/// Verbs of git that can stop at a conflict, and go on.
const STOPPING: [&str; 7] = [
    "git rebase",
    "git merge",
    "git cherry-pick",
    "git pull",
    "git am",
    "git revert",
    "git stash",
];

/// Programs with a verb whose arguments name a target of its own: what goes well for one says nothing of another.
const BY_TARGET: [&str; 11] = [
    "gh",
    "glab",
    "kubectl",
    "docker",
    "podman",
    "helm",
    "systemctl",
    "brew",
    "apt",
    "apt-get",
    "terraform",
];

/// Why a run that was neither the same nor a wider one ends an error, if it does.
pub(super) fn other_way(fault: &ErrorRecord, run: &Run, end: &End) -> Option<String> {
    let is_over = matches!(end, End::Well(_));
    let has_run = matches!(end, End::Well(_) | End::Ended);
    if STOPPING.contains(&&*fault.family) {
        let words: Vec<&str> = run.key.split(' ').collect();
        let is_given_up = words
            .iter()
            .any(|word| matches!(*word, "--abort" | "--quit" | "--skip"));
        let is_git = STOPPING.contains(&&*run.family);
        if is_git && (is_over || has_run && is_given_up) || &*run.family == "git commit" && is_over {
            return Some(format!("`{}` succeeded", run.family));
        }
    }
    // Any run of a program that was missing shows that it is there.
    let missing = missing_program(&fault.entry.value)?;
    (has_run && runs_program(run, missing)).then(|| format!("`{missing}` runs"))
}

/// Whether a command runs a program: as its first word, or behind the words of a wrapper (`mise exec -- go`, `uv run pytest`).
fn runs_program(run: &Run, program: &str) -> bool {
    const WRAPPING: [&str; 14] = [
        "sudo", "env", "mise", "exec", "uv", "run", "poetry", "npx", "pnpm", "yarn", "bundle", "nix", "time", "x",
    ];
    let mut names = run
        .names()
        .skip_while(|name| WRAPPING.contains(name) && *name != program);
    names.next() == Some(program)
}

/// The program that a shell did not find.
fn missing_program(line: &str) -> Option<&str> {
    static MISSING: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"command not found: ([\w./+-]+)|([\w./+-]+): (?:command )?not found$")
            .expect("the pattern is fixed")
    });
    let found = MISSING.captures(line)?;
    found.iter().skip(1).flatten().next().map(|name| name.as_str())
}

/// Whether a run that went well could have shown the error: a test run says nothing of style.
pub(super) fn could_show(run: &Run, fault: &ErrorRecord) -> bool {
    match (fault.check, run.check) {
        (Some(CheckKind::Lint), Some(kind)) => kind == CheckKind::Lint,
        (Some(CheckKind::Types), Some(kind)) => matches!(kind, CheckKind::Types | CheckKind::Build),
        (Some(CheckKind::Lint | CheckKind::Types), None) => false,
        _ => true,
    }
}

/// Whether a program and its verb do the same whatever they are given: `git fetch`, `go build`, a script inside of the call.
pub(super) fn is_same_for_all_arguments(run: &Run) -> bool {
    let mut words = run.family.split(' ');
    let program = words.next().unwrap_or_default();
    match words.next() {
        _ if run.is_tool => false,
        None => is_inline(run),
        Some(_) => !INTERPRETERS.contains(&program) && !BY_TARGET.contains(&program),
    }
}

/// Whether a run asks for as much as an earlier command did: with the same variables set, which may be what makes the difference, and
/// neither building nor listing only what the other one ran.
pub(super) fn is_as_demanding(run: &Run, command: &str) -> bool {
    let variables = |key: &str| -> BTreeSet<String> {
        let words = key.split(' ').take_while(|word| arguments::is_assignment(word));
        words.map(str::to_owned).collect()
    };
    variables(&run.key) == variables(command) && (is_inline(run) || runs_as_much(&run.key, command))
}

/// Whether a command has no option that only builds or lists, or the earlier one has it too.
pub(super) fn runs_as_much(new: &str, old: &str) -> bool {
    const NARROWING: [&str; 5] = ["-c", "--no-run", "--collect-only", "--list", "--dry-run"];
    let mut narrowing = new.split(' ').filter(|word| NARROWING.contains(word));
    narrowing.all(|word| old.split(' ').any(|known| known == word))
}

/// Whether it is a script that stands in the call itself.
pub(super) fn is_inline(run: &Run) -> bool {
    INTERPRETERS.contains(&&*run.family) && [" <<…", " -c ", " -e "].iter().any(|mark| run.key.contains(mark))
}

const INTERPRETERS: [&str; 6] = ["python", "python3", "node", "ruby", "perl", "php"];

#[cfg(test)]
mod tests {
    use crate::ledger::deeds::ErrorRecord;
    use crate::ledger::deeds::tests::fold;

    fn errors_after(steps: &[(&str, &str, &str)]) -> Vec<String> {
        fold(steps).0.errors().map(ErrorRecord::line).collect()
    }

    #[test]
    fn a_run_with_other_settings_or_a_build_ends_no_error() {
        let failing = (
            "bash",
            r#"{"command":"go test ./..."}"#,
            "--- FAIL: TestRun (0.01s)\nFAIL\tpkg/x\t0.5s\nexit status 1",
        );
        // With other settings, or only built, nothing is known of it.
        let with_settings = (
            "bash",
            r#"{"command":"INTEGRATION=1 go test ./..."}"#,
            "--- FAIL: TestRun (0.01s)\nFAIL\tpkg/x\t0.5s\nexit status 1",
        );
        for (failed, other) in [
            (failing, "GIT_CONFIG_GLOBAL=/dev/null go test ./..."),
            (failing, "go test -c -o /tmp/x ./..."),
            (failing, "go test --no-run ./..."),
            (with_settings, "go test ./..."),
        ] {
            let input = format!(r#"{{"command":"{other}"}}"#);
            let passes = ("bash", input.as_str(), "ok  \tpkg/x\t0.5s\nexit code: 0");
            let told = errors_after(&[failed, passes]);
            assert!(
                matches!(told.as_slice(), [line] if line.contains("TestRun") && line.contains("last seen m1")),
                "{other}: {told:?}"
            );
        }
    }
}
