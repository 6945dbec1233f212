//! Which errors are said to be open, and what ends them.

use super::tests::fold;
use super::*;

fn errors(steps: &[(&str, &str, &str)]) -> Vec<String> {
    fold(steps).0.errors().map(ErrorRecord::line).collect()
}

#[test]
fn what_is_only_shown_is_no_trouble() {
    let log = "2026-01-07T13:50:02Z ERROR db: no leader";
    for (name, input, output) in [
        (
            "bash",
            r#"{"command":"cat src/errors.go"}"#,
            "return errors.New(\"connection refused\")\nERROR: no",
        ),
        (
            "bash",
            r#"{"command":"grep -rn failed src"}"#,
            "src/a.rs:3: FAILED to open\nsrc/b.rs:4: could not read",
        ),
        ("bash", r#"{"command":"ls"}"#, "failed\nerrors.go\nERROR: x"),
        (
            "Read",
            r#"{"file_path":"/r/README.md"}"#,
            "ERROR: this is what you see when the disk is full",
        ),
        (
            "bash",
            r#"{"command":"git log --oneline"}"#,
            "1a2b3c4 ERROR: handle a refused connection",
        ),
    ] {
        assert!(
            errors(&[(name, input, output)]).is_empty(),
            "{input}: {:?}",
            errors(&[(name, input, output)])
        );
    }
    assert_eq!(
        errors(&[("bash", r#"{"command":"tail -5 /var/log/app.log"}"#, log)]),
        ["ERROR db: no leader (`log /var/log/app.log`, last seen m1)"]
    );
}

#[test]
fn an_error_is_listed_once_with_its_last_state() {
    let run = r#"{"command":"./recon --feed a"}"#;
    let other = r#"{"command":"./recon --feed b"}"#;
    let bad = "2026-01-07 13:50:02 totals are off by 20 in 3 accounts\nexit status 1";
    let again = "2026-01-07 13:58:02 totals are off by 44 in 2 accounts\nexit status 1";
    assert_eq!(
        errors(&[
            ("bash", run, bad),
            ("bash", run, again),
            ("bash", other, "fine\nexit code: 0")
        ]),
        ["totals are off by 44 in 2 accounts (`./recon --feed a` ×2, last seen m3)"]
    );
    assert_eq!(
        errors(&[("bash", run, bad), ("bash", run, "all fine")]),
        ["totals are off by 20 in 3 accounts (`./recon --feed a`, gone since m3)"]
    );
    let act = |action: &str| format!("{{\"action\":\"{action}\"}}");
    assert_eq!(
        errors(&[
            (
                "web_action",
                &act("pay rent"),
                "payment refused: code 7\n(request failed)"
            ),
            ("web_action", &act("pay power"), "{\"success\": true}"),
        ]),
        ["payment refused: code 7 (`web_action action=pay rent`, last seen m1)"]
    );
    assert_eq!(
        errors(&[(
            "deploy",
            "{}",
            r#"{"result": {"status": "failed", "message": "no route"}}"#
        )]),
        ["status: failed, message: no route (`deploy`, last seen m1)"]
    );
}

#[test]
fn an_error_ends_with_what_really_ends_it() {
    let conflict = "CONFLICT (content): Merge conflict in a.go\nerror: could not apply 1a2b3c4... x";
    let rebase = ("bash", r#"{"command":"git rebase main"}"#, conflict);
    let on = (
        "bash",
        r#"{"command":"git add a.go && GIT_EDITOR=true git rebase --continue"}"#,
        "Successfully rebased and updated refs/heads/x.",
    );
    assert_eq!(
        errors(&[rebase, on]),
        ["CONFLICT (content): Merge conflict in a.go (`git rebase main`, gone since m3)"]
    );
    let missing = (
        "bash",
        r#"{"command":"go test ./..."}"#,
        "zsh:1: command not found: go\nexit status 127",
    );
    let found = (
        "bash",
        r#"{"command":"mise exec -- go test ./..."}"#,
        "ok  \tpkg/x\t0.5s",
    );
    assert_eq!(
        errors(&[missing, found]),
        ["zsh:1: command not found: go (`go test ./...`, gone since m3)"]
    );
    let slip = (
        "bash",
        r#"{"command":"python3 -c 'x[1]'"}"#,
        "KeyError: 'a'\nexit status 1",
    );
    let again = ("bash", r#"{"command":"python3 -c 'x[2]'"}"#, "2\nexit code: 0");
    assert_eq!(
        errors(&[slip, again]),
        ["KeyError: 'a' (`python3 -c 'x[1]'`, m1; `python3` ok since m3)"]
    );
}

#[test]
fn a_test_run_does_not_clear_a_style_error() {
    let lint = (
        "bash",
        r#"{"command":"golangci-lint run ./x"}"#,
        "x/a.go:3:5: use hex (perfsprint)\nexit status 1",
    );
    let edit = (
        "Edit",
        r#"{"file_path":"/r/x/a.go","old_string":"a","new_string":"b"}"#,
        "The file /r/x/a.go has been updated",
    );
    let test = ("bash", r#"{"command":"go test ./..."}"#, "ok  \tpkg/x\t0.5s");
    assert!(errors(&[lint, edit, test])[0].ends_with("last seen m1)"));
    let clean = ("bash", r#"{"command":"mise run lint"}"#, "[lint:go] 0 issues.");
    assert!(errors(&[lint, edit, test, clean])[0].ends_with("gone since m7)"));
}

#[test]
fn a_missing_program_is_not_there_because_a_folder_has_its_name() {
    let steps = [
        (
            "bash",
            r#"{"command":"docker ps"}"#,
            "bash: docker: command not found\nexit code: 127",
        ),
        ("bash", r#"{"command":"mkdir -p deploy docker"}"#, "exit code: 0"),
    ];
    let shown = errors(&steps);
    assert!(shown.iter().all(|line| !line.contains("gone since")), "{shown:?}");
}
