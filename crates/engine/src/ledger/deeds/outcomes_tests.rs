//! How commands and calls are said to have ended, and what is kept of trouble, files and tasks.

use super::records::CommandEnding;
use super::tests::fold;
use super::*;

/// Steps of a shell, folded; how the last command ended.
fn ending(command: &str, output: &str) -> (CommandEnding, String) {
    let input = format!("{{\"command\":{}}}", crate::json::quote(command));
    let (deeds, _) = fold(&[("bash", &input, output)]);
    let last = deeds.commands().last().expect("the command is kept");
    (last.ending(), last.telling().to_owned())
}

fn errors(steps: &[(&str, &str, &str)]) -> Vec<String> {
    fold(steps).0.errors().map(ErrorRecord::line).collect()
}

#[test]
fn nothing_is_ok_on_a_guess() {
    for (command, output, expected) in [
        ("./sync.sh", "copied 3 files", CommandEnding::Ended),
        ("./sync.sh", "", CommandEnding::Ended),
        ("./sync.sh", "verify mismatch in block 7", CommandEnding::ShowsFailures),
        ("./sync.sh", "[FAIL] disk", CommandEnding::ShowsFailures),
        ("./sync.sh", "x\nexit status 3", CommandEnding::Failed),
        ("./sync.sh", "done\nexit code: 0", CommandEnding::Ok),
        ("./sync.sh", "[FAIL] disk\nexit code: 0", CommandEnding::ShowsFailures),
        (
            "pytest -q | tail -3",
            "Exit code: 0\nOutput:\n12 passed in 0.30s",
            CommandEnding::Ok,
        ),
        (
            "pytest -q | tail -3",
            "Exit code: 0\nOutput:\nsome words",
            CommandEnding::Ended,
        ),
        (
            "pytest -q | tail -3",
            "Exit code: 0\nOutput:\n1 failed, 3 passed in 0.30s",
            CommandEnding::Failed,
        ),
        (
            "make; true",
            "Exit code: 0\nOutput:\ncc: x.c: permission denied",
            CommandEnding::ShowsFailures,
        ),
        (
            "curl -s http://h/x",
            "HTTP/1.1 503 Service Unavailable",
            CommandEnding::ShowsFailures,
        ),
        (
            "git commit -m x",
            "[main 1a2b3c4] fix: connection refused",
            CommandEnding::Ok,
        ),
    ] {
        assert_eq!(ending(command, output).0, expected, "{command}: {output}");
    }
    assert_eq!(
        ending("pytest", "FAILED a.py::b - assert 1\n52 passed, 1 failed in 3.1s").1,
        "52 passed, 1 failed: a.py::b"
    );
}

#[test]
fn a_refusal_that_shows_the_code_is_told_by_its_first_line() {
    let code =
        "for name in names:\n    if name in seen:\n        banner = '*** FAIL ***'\n    print(f'{name}')\n".repeat(5);
    let output = format!("Asking the user for approval.\n\n{code}\" 2>&1\nexit code: 1");
    assert_eq!(
        ending("python3 -c x", &output),
        (CommandEnding::Failed, "Asking the user for approval.".to_owned())
    );
}

#[test]
fn checks_say_whether_files_changed_since() {
    let edit = r#"{"file_path":"/r/a.rs","old_string":"a","new_string":"b"}"#;
    let (deeds, _) = fold(&[
        (
            "bash",
            r#"{"command":"cargo test"}"#,
            "test result: ok. 3 passed; 0 failed",
        ),
        ("bash", r#"{"command":"git commit -m x"}"#, "[main 1a2b3c4] x"),
        ("Edit", edit, "updated"),
    ]);
    let lines: Vec<String> = deeds.checks().map(CommandRecord::line).collect();
    assert_eq!(
        lines,
        [
            "`cargo test`, m1: ok: test result: ok. 3 passed; 0 failed (files changed since)",
            "`git commit -m x`, m3: ok: [main 1a2b3c4] x"
        ]
    );
    assert_eq!(deeds.commits().count(), 1);
}

#[test]
fn what_is_put_back_is_reverted() {
    let edit = |old: &str, new: &str| {
        format!("{{\"file_path\":\"/r/a.rs\",\"old_string\":\"{old}\",\"new_string\":\"{new}\"}}")
    };
    let (there, back, more) = (edit("a = 1", "a = 2"), edit("a = 2", "a = 1"), edit("c", "d"));
    let patch = |gone: &str, new: &str| {
        format!("*** Begin Patch\n*** Update File: /r/a.rs\n@@\n x\n-{gone}\n+{new}\n*** End Patch")
    };
    let git = |command: &str| format!("{{\"command\":\"git {command}\"}}");
    let reverted = |steps: &[(&str, String)]| {
        let steps: Vec<(&str, &str, &str)> = steps
            .iter()
            .map(|(name, input)| (*name, input.as_str(), "done"))
            .collect();
        let (deeds, _) = fold(&steps);
        deeds.changed_files().next().expect("a file was changed").reverted()
    };
    assert_eq!(reverted(&[("Edit", there.clone()), ("Edit", back.clone())]), Some(2));
    assert_eq!(
        reverted(&[("Edit", there.clone()), ("Edit", more.clone()), ("Edit", back.clone())]),
        None
    );
    assert_eq!(
        reverted(&[("Edit", there.clone()), ("Edit", back.clone()), ("Edit", more)]),
        None
    );
    assert_eq!(
        reverted(&[("apply_patch", patch("a", "b")), ("apply_patch", patch("b", "a"))]),
        Some(2)
    );
    assert_eq!(
        reverted(&[("Edit", there.clone()), ("bash", git("checkout -- /r/a.rs"))]),
        Some(2)
    );
    assert_eq!(
        reverted(&[("Edit", there.clone()), ("bash", git("reset --hard"))]),
        Some(3)
    );
    assert_eq!(reverted(&[("Edit", there.clone()), ("bash", git("stash"))]), Some(3));
    assert_eq!(
        reverted(&[
            ("Edit", there.clone()),
            ("bash", git("stash")),
            ("bash", git("stash pop"))
        ]),
        None
    );
    assert_eq!(
        reverted(&[
            ("Edit", there),
            ("bash", git("commit -am x")),
            ("bash", git("reset --hard"))
        ]),
        None
    );
}

#[test]
fn the_agents_own_tasks_come_first_and_whole() {
    let list = "#1 [completed] Set up the server\n#2 [pending] Draw the screen\n#3 [in_progress] Write the docs";
    let (deeds, _) = fold(&[
        (
            "TaskUpdate",
            r#"{"taskId":"2","status":"in_progress"}"#,
            "Updated task #2",
        ),
        ("TaskList", "{}", list),
        (
            "TaskUpdate",
            r#"{"taskId":"2","status":"completed"}"#,
            "Updated task #2",
        ),
    ]);
    let lines: Vec<String> = deeds.tasks().map(TaskRecord::line).collect();
    assert_eq!(
        lines,
        [
            "[done] #2 Draw the screen",
            "[done] #1 Set up the server",
            "[in progress] #3 Write the docs"
        ]
    );
}

#[test]
fn two_objects_of_one_tool_never_replace_each_other() {
    let (_, facts) = fold(&[
        (
            "schedule",
            "{}",
            r#"{"ok": true, "job": {"id": "559c", "host": "mail"}}"#,
        ),
        (
            "schedule",
            "{}",
            r#"{"ok": true, "job": {"id": "2a93", "host": "gis"}}"#,
        ),
    ]);
    assert_eq!(facts.replaced().count(), 0);
    assert_eq!(&*facts.current("job.id=559c · host").expect("it is kept").value, "mail");
}

fn commands(steps: &[(&str, &str, &str)]) -> Vec<String> {
    fold(steps).0.commands().map(CommandRecord::line).collect()
}

#[test]
fn a_line_of_a_chain_goes_to_the_command_that_printed_it() {
    let chain =
        r#"{"command":"gofmt -l -s . ; go test -race ./... | tail -5 && golangci-lint run ./... 2>&1 | tail -3"}"#;
    assert_eq!(
        commands(&[("bash", chain, "a/b.go\nok  \tpkg/x\t(cached)\n0 issues.")]),
        [
            "`gofmt -l -s .`, m1: shows failures: a/b.go",
            "`go test -race ./...`, m1: ok: ok pkg/x (cached)",
            "`golangci-lint run ./...`, m1: ok: 0 issues."
        ]
    );
    let lint = r#"{"command":"mise run lint && golangci-lint run ./x/"}"#;
    let output = "[lint:go] 0 issues.\nx/a.go:3:5: use hex (perfsprint)\n1 issues:";
    assert_eq!(
        errors(&[("bash", lint, output)]),
        ["x/a.go:3:5: use hex (perfsprint) (`golangci-lint run ./x/`, last seen m1)"]
    );
}

#[test]
fn a_status_that_the_script_prints_is_the_commands_own() {
    let script = r#"{"command":"go build ./... && echo BUILD_OK; ./run.sh | tail -2; echo done"}"#;
    assert_eq!(
        commands(&[("bash", script, "BUILD_OK\nx\ndone")]),
        ["`go build ./...`, m1: ok", "`./run.sh`, m1: ended"]
    );
    let script = r#"{"command":"go vet ./...; echo \"vet exit=$?\"; ./run.sh; echo \"run exit=$?\""}"#;
    assert_eq!(
        commands(&[("bash", script, "vet exit=0\nbad\nrun exit=3")]),
        ["`go vet ./...`, m1: ok", "`./run.sh`, m1: failed"]
    );
}

#[test]
fn prose_that_a_command_prints_is_no_error() {
    let finding = "- **`raced=true` on an exhausted (error) span** — status=Error and outcome=term at once";
    assert!(errors(&[("bash", r#"{"command":"python3 -c 'print(x)'"}"#, finding)]).is_empty());
    let subject = "branch: errors/x | head: 655c91c errors: address review\nexit code: 0";
    let loop_ = r#"{"command":"for b in a c; do [ -z \"$b\" ] && continue; ./show $b; done"}"#;
    assert!(errors(&[("bash", loop_, subject)]).is_empty());
    assert!(
        commands(&[("bash", loop_, subject)])
            .iter()
            .all(|line| !line.contains("continue"))
    );
}

#[test]
fn a_run_without_a_result_does_not_have_the_outcome_of_an_earlier_one() {
    let test = r#"{"cmd":"go test ./x"}"#;
    assert_eq!(
        commands(&[
            (
                "exec_command",
                test,
                "Wall time: 1\nProcess exited with code 0\nOutput:\nok  \tx\t4.9s"
            ),
            (
                "exec_command",
                test,
                "Wall time: 1\nProcess running with session ID 7\nOutput:\n"
            ),
        ]),
        ["`go test ./x` ×2, m3: still running (before: ok, m1)"]
    );
}

#[test]
fn output_of_a_background_run_belongs_to_its_command() {
    let start = (
        "Bash",
        r#"{"command":"go test ./...","run_in_background":true}"#,
        "Command running in background with ID: b61. Output is being written to: /tmp/t/tasks/b61.output.",
    );
    let read = (
        "Bash",
        r#"{"command":"tail -3 /tmp/t/tasks/b61.output"}"#,
        "ok  \tpkg/x\t0.5s",
    );
    assert_eq!(commands(&[start, read]), ["`go test ./...`, m3: ok: ok pkg/x 0.5s"]);
    let asked = (
        "BashOutput",
        r#"{"bash_id":"b61"}"#,
        "<status>completed</status>\n<exit_code>1</exit_code>\n<stdout>\n--- FAIL: TestA (0.1s)\n</stdout>",
    );
    assert_eq!(
        commands(&[start, asked]),
        ["`go test ./...`, m3: exit 1: 1 failed: TestA"]
    );
}

#[test]
fn a_file_that_is_removed_and_made_again_exists_and_a_moved_block_is_no_revert() {
    let build = r#"{"command":"rm -f /r/a.exe; go test -c -o /r/a.exe ./x"}"#;
    let files =
        |steps: &[(&str, &str, &str)]| -> Vec<String> { fold(steps).0.changed_files().map(FileRecord::line).collect() };
    assert_eq!(files(&[("bash", build, "")]), ["/r/a.exe: created m0, last: ok"]);
    let patch =
        "*** Begin Patch\n*** Update File: /r/README.md\n@@\n-## FAQ\n-text\n x\n@@\n+## FAQ\n+text\n*** End Patch";
    assert_eq!(
        files(&[("apply_patch", patch, "Success")]),
        ["/r/README.md: modified, last: ok, m0"]
    );
}

#[test]
fn a_status_that_may_be_another_commands_is_nobodys() {
    let twice = r#"{"command":"make lint; echo \"exit=$?\"; make test; echo \"exit=$?\""}"#;
    let shown = commands(&[("bash", twice, "exit=1\nexit=0")]);
    assert!(shown.iter().all(|line| !line.contains(": ok")), "{shown:?}");
    let failed = r#"{"command":"./deploy.sh && echo done"}"#;
    let shown = commands(&[("bash", failed, "done\nrollback failed\nexit code: 1")]);
    assert!(shown.iter().all(|line| !line.contains(": ok")), "{shown:?}");
}

#[test]
fn a_commit_that_a_hook_may_have_refused_is_not_listed() {
    let commit = r#"{"command":"git commit -m 'Fix the proxy' 2>&1 | tail -2"}"#;
    for output in [
        "husky - pre-commit hook exited with code 1 (error)",
        "nichts zu committen, Arbeitsverzeichnis unverändert",
    ] {
        let (deeds, _) = fold(&[("bash", commit, output)]);
        assert_eq!(deeds.commits().count(), 0, "{output}");
    }
}

#[test]
fn words_about_spawned_agents_leave_the_tasks() {
    let plan = r#"{"todos":[{"content":"Write the parser","status":"pending","activeForm":"Writing"}]}"#;
    let page = "You are the newly spawned agent. The prior conversation history was forked from your parent agent.";
    let (deeds, _) = fold(&[
        ("TodoWrite", plan, "ok"),
        ("WebFetch", r#"{"url":"https://example.com"}"#, page),
    ]);
    assert_eq!(deeds.tasks().count(), 1);
}

#[test]
fn the_end_of_a_test_run_tells_that_it_failed() {
    let output = "panic({0x1012cdb20?, 0x1013c6b70?})\n\t/opt/go/src/runtime/panic.go:860 +0x12c\nexample.com/x/sync.TestRun(0x38)\n\t/src/x/sync/run_test.go:1523 +0x284\ntesting.tRunner(0x38, 0x10)\n\t/opt/go/src/testing/testing.go:2036 +0xc4\ncreated by testing.(*T).Run in goroutine 1\n\t/opt/go/src/testing/testing.go:2101 +0x3a8\nFAIL\texample.com/x/sync\t0.334s\nFAIL";
    let run = r#"{"command":"go test ./sync/ -run TestRun -v 2>&1 | tail -15"}"#;
    let lines = commands(&[("Bash", run, output)]);
    assert_eq!(
        lines,
        ["`go test ./sync/ -run TestRun -v`, m1: shows failures: FAIL example.com/x/sync 0.334s"]
    );
}
