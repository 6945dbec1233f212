//! Whole calls and results of every agent, and what must hold for any.

use proptest::prelude::*;

use super::*;
use crate::ledger::entry::Status;
use crate::ledger::facts::Claim;
use crate::transcript::Author;
use crate::transcript::CallId;
use crate::transcript::Content;
use crate::transcript::Input;
use crate::transcript::Role;
use crate::transcript::ToolOutcome;

fn pair(name: &str, input: &str, output: &str) -> [Message; 2] {
    let is_json = input.starts_with('{');
    let call = ToolCall {
        id: CallId::new("c"),
        name: name.into(),
        input: if is_json {
            Input::Json(input.into())
        } else {
            Input::Text(input.into())
        },
    };
    let result = ToolResult {
        id: CallId::new("c"),
        name: None,
        content: vec![Content::Text(output.into())],
        outcome: ToolOutcome::Unstated,
    };
    [
        Message::new(Role::Assistant, vec![Part::Call(Box::new(call))]),
        Message::new(Role::Tool, vec![Part::Result(Box::new(result))]),
    ]
}

fn fold(steps: &[(&str, &str, &str)]) -> (Deeds, Facts) {
    let (mut deeds, mut facts) = (Deeds::default(), Facts::default());
    let messages = steps.iter().flat_map(|(name, input, output)| pair(name, input, output));
    for (index, message) in messages.enumerate() {
        deeds.fold(u32::try_from(index).unwrap(), &message, &mut facts);
    }
    (deeds, facts)
}

fn files(steps: &[(&str, &str, &str)]) -> Vec<String> {
    let (deeds, _) = fold(steps);
    let entries = deeds.entries().filter(|entry| entry.kind == Kind::File);
    entries.map(|entry| format!("{}: {}", entry.key, entry.value)).collect()
}

#[test]
fn file_tools_of_all_agents() {
    const RUN_PATCH: &str = "*** Begin Patch\n*** Update File: /r/a.rs\n@@\n-a\n+b\n*** End Patch";
    for (name, input, output, expected) in [
        ("Read", r#"{"file_path":"/r/a.rs"}"#, "1\tfn", "/r/a.rs: read"),
        (
            "Edit",
            r#"{"file_path":"/r/a.rs","old_string":"a","new_string":"b"}"#,
            "The file /r/a.rs has been updated",
            "/r/a.rs: modified, last: ok",
        ),
        (
            "MultiEdit",
            r#"{"file_path":"/r/a.rs","edits":[]}"#,
            "ok",
            "/r/a.rs: modified, last: ok",
        ),
        (
            "Write",
            r#"{"file_path":"/r/a.rs","content":"x"}"#,
            "File created successfully at: /r/a.rs",
            "/r/a.rs: created m0, last: ok",
        ),
        (
            "NotebookEdit",
            r#"{"notebook_path":"/r/a.ipynb","new_source":"x"}"#,
            "ok",
            "/r/a.ipynb: modified, last: ok",
        ),
        (
            "apply_patch",
            RUN_PATCH,
            r#"{"output":"Success.","metadata":{"exit_code":0}}"#,
            "/r/a.rs: modified, last: ok",
        ),
        (
            "shell",
            r#"{"command":["bash","-lc","cat a.rs"],"workdir":"/r"}"#,
            "x",
            "/r/a.rs: read",
        ),
        (
            "shell",
            r#"{"command":["apply_patch","*** Begin Patch\n*** Add File: b.rs\n+x\n*** End Patch"],"workdir":"/r"}"#,
            "Success.",
            "/r/b.rs: created m0, last: ok",
        ),
        (
            "exec_command",
            r#"{"cmd":"sed -n '1,9p' a.go","workdir":"/r"}"#,
            "Process exited with code 0\nOutput:\nx",
            "/r/a.go: read",
        ),
        (
            "exec",
            "const r = await tools.exec_command({\n  cmd: \"cat a.rs\",\n  workdir: \"/r\"\n});",
            "x",
            "/r/a.rs: read",
        ),
        (
            "local_shell",
            r#"{"action":{"command":["cat","/r/a.rs"]}}"#,
            "x",
            "/r/a.rs: read",
        ),
        (
            "read_file",
            r#"{"path":"/r/a.py"}"#,
            r#"{"content":"x"}"#,
            "/r/a.py: read",
        ),
        (
            "write_file",
            r#"{"path":"/r/a.py","content":"x"}"#,
            r#"{"success":true}"#,
            "/r/a.py: created m0, last: ok",
        ),
        (
            "patch",
            r#"{"path":"/r/a.py","old_string":"a","new_string":"b"}"#,
            r#"{"success":true}"#,
            "/r/a.py: modified, last: ok",
        ),
        (
            "terminal",
            r#"{"command":"rm /r/a.py"}"#,
            r#"{"output":"","exit_code":0,"error":null}"#,
            "/r/a.py: deleted m0",
        ),
        (
            "edit",
            r#"{"path":"/r/a.ts","oldText":"a","newText":"b"}"#,
            "Successfully replaced text in /r/a.ts.",
            "/r/a.ts: modified, last: ok",
        ),
        (
            "write",
            r#"{"path":"/r/a.ts","content":"b"}"#,
            "Successfully wrote 1 bytes",
            "/r/a.ts: created m0, last: ok",
        ),
        (
            "edit",
            r#"{"filePath":"/r/a.ts","oldString":"a","newString":"b"}"#,
            "Edit applied",
            "/r/a.ts: modified, last: ok",
        ),
        (
            "developer__text_editor",
            r#"{"command":"view","path":"/r/a.md"}"#,
            "x",
            "/r/a.md: read",
        ),
        (
            "text_editor",
            r#"{"command":"write","path":"/r/a.md","file_text":"x"}"#,
            "ok",
            "/r/a.md: created m0, last: ok",
        ),
        (
            "developer__shell",
            r#"{"command":"touch /r/n"}"#,
            "",
            "/r/n: created m0, last: ok",
        ),
        (
            "str_replace_editor",
            r#"{"command":"view","path":"/r/a.py","view_range":[1,9]}"#,
            "Here's the result",
            "/r/a.py: read",
        ),
        (
            "str_replace_editor",
            r#"{"command":"create","path":"/r/a.py","file_text":"x"}"#,
            "File created successfully at: /r/a.py",
            "/r/a.py: created m0, last: ok",
        ),
        (
            "str_replace_editor",
            r#"{"command":"str_replace","path":"/r/a.py","old_str":"a","new_str":"b"}"#,
            "edited",
            "/r/a.py: modified, last: ok",
        ),
        (
            "str_replace_editor",
            r#"{"command":"undo_edit","path":"/r/a.py"}"#,
            "undone",
            "/r/a.py: restored m0 (modified), last: ok",
        ),
        (
            "execute_bash",
            r#"{"command":"echo x > /r/b"}"#,
            "\n[The command completed with exit code 0.]",
            "/r/b: created m0, last: ok",
        ),
        (
            "replace",
            r#"{"file_path":"/r/a.ts","old_string":"a","new_string":"b"}"#,
            "Successfully modified file",
            "/r/a.ts: modified, last: ok",
        ),
        (
            "read_many_files",
            r#"{"paths":["/r/a.ts","src/**/*.ts"]}"#,
            "x",
            "/r/a.ts: read",
        ),
        (
            "run_shell_command",
            r#"{"command":"mv a.ts b.ts","directory":"/r"}"#,
            "Output: (empty)\nExit Code: 0",
            "/r/b.ts: renamed from /r/a.ts",
        ),
        (
            "write_to_file",
            r#"{"path":"/r/a.ts","content":"x"}"#,
            "saved",
            "/r/a.ts: created m0, last: ok",
        ),
        (
            "replace_in_file",
            r#"{"path":"/r/a.ts","diff":"------- SEARCH\na\n=======\nb\n+++++++ REPLACE"}"#,
            "saved",
            "/r/a.ts: modified, last: ok",
        ),
        (
            "editor",
            r#"{"path":"/r/a.ts","old_text":"a","new_text":"b"}"#,
            r#"{"query":"edit","success":true}"#,
            "/r/a.ts: modified, last: ok",
        ),
        (
            "read_files",
            r#"{"files":[{"path":"/r/a.ts","start_line":3}]}"#,
            "x",
            "/r/a.ts: read",
        ),
        ("run_commands", r#"{"commands":["cat /r/a.ts"]}"#, "x", "/r/a.ts: read"),
        (
            "mcp__fs__move_file",
            r#"{"source":"/r/a","destination":"/r/b"}"#,
            "moved",
            "/r/b: renamed from /r/a",
        ),
        (
            "open",
            r#"{"path":"/r/a.py"}"#,
            "[File: /r/a.py (3 lines total)]",
            "/r/a.py: read",
        ),
        (
            "create",
            r#"{"filename":"/r/n.py"}"#,
            "[File: /r/n.py (1 lines total)]",
            "/r/n.py: created m0, last: ok",
        ),
    ] {
        assert_eq!(files(&[(name, input, output)]), [expected], "{name} {input}");
    }
}

#[test]
fn a_files_story_is_told_in_a_line() {
    let story = [
        ("Read", r#"{"file_path":"/r/src/a.rs"}"#, "x"),
        ("Bash", r#"{"command":"cat src/a.rs"}"#, "x"),
        (
            "Edit",
            r#"{"file_path":"/r/src/a.rs","old_string":"a","new_string":"b"}"#,
            "updated",
        ),
        (
            "Edit",
            r#"{"file_path":"/r/src/a.rs","old_string":"q","new_string":"b"}"#,
            "<tool_use_error>String to replace not found in file.</tool_use_error>",
        ),
    ];
    assert_eq!(files(&story), ["/r/src/a.rs: modified (read ×2), last: failed m6"]);
    let (deeds, _) = fold(&story);
    let note = deeds.entries().next().unwrap().note.clone();
    assert_eq!(
        note.as_deref(),
        Some("edit failed: String to replace not found in file.")
    );
    let moved = [
        ("Write", r#"{"file_path":"/r/a.rs","content":""}"#, "ok"),
        ("Bash", r#"{"command":"cd /r && git mv a.rs b.rs"}"#, ""),
        (
            "Edit",
            r#"{"file_path":"/r/b.rs","old_string":"a","new_string":"b"}"#,
            "ok",
        ),
        ("Bash", r#"{"command":"rm -rf /r"}"#, ""),
    ];
    assert_eq!(
        files(&moved),
        [
            "/r/b.rs: deleted m6 (renamed from /r/a.rs, modified, created m0), last: ok",
            "/r: deleted m6"
        ]
    );
    let folder = [
        ("Write", r#"{"file_path":"/r/x/a.rs","content":""}"#, "ok"),
        ("Bash", r#"{"command":"mv /r/x /r/y"}"#, ""),
    ];
    assert!(files(&folder).contains(&"/r/y/a.rs: renamed from /r/x/a.rs (created m0), last: ok".to_owned()));
}

#[test]
fn spellings_of_one_file_meet() {
    let relative_first = [
        ("Bash", r#"{"command":"cat src/a.rs"}"#, "x"),
        ("Read", r#"{"file_path":"/r/src/a.rs"}"#, "x"),
        ("Bash", r#"{"command":"cat README.md"}"#, "x"),
        ("Read", r#"{"file_path":"/r/README.md"}"#, "x"),
    ];
    assert_eq!(
        files(&relative_first),
        ["/r/src/a.rs: read ×2", "/r/README.md: read ×2"]
    );
    let two_folders = [
        ("Read", r#"{"file_path":"/r/a/src/x.rs"}"#, "x"),
        ("Read", r#"{"file_path":"/r/b/src/x.rs"}"#, "x"),
        ("Bash", r#"{"command":"cat src/x.rs"}"#, "x"),
    ];
    assert_eq!(files(&two_folders).len(), 3);
}

#[test]
fn files_that_are_not_there_are_not_listed() {
    for (name, input, output) in [
        (
            "Read",
            r#"{"file_path":"/r/none"}"#,
            "<tool_use_error>File does not exist.</tool_use_error>",
        ),
        (
            "Bash",
            r#"{"command":"cat none.txt"}"#,
            "Exit code 1\ncat: none.txt: No such file or directory",
        ),
        (
            "str_replace_editor",
            r#"{"command":"view","path":"/r"}"#,
            "Here's the files and directories up to 2 levels deep in /r",
        ),
        ("Grep", r#"{"pattern":"x","path":"/r"}"#, "no"),
    ] {
        assert!(files(&[(name, input, output)]).is_empty(), "{name} {input}");
    }
}

#[test]
fn swe_agents_editor_changes_the_file_that_is_open() {
    let foot = "\n(Open file: /r/a.py)\n(Current directory: /r)\nbash-$";
    let steps = [
        (
            "shell",
            "open a.py".to_owned(),
            format!("[File: a.py (3 lines total)]{foot}"),
        ),
        (
            "shell",
            "edit 1:1\nprint(1)\nend_of_edit".to_owned(),
            format!("File updated.{foot}"),
        ),
        (
            "edit",
            r#"{"search":"a","replace":"b"}"#.to_owned(),
            format!("Text replaced.{foot}"),
        ),
        ("shell", "rm x.py".to_owned(), foot.to_owned()),
    ];
    let steps: Vec<(&str, &str, &str)> = steps
        .iter()
        .map(|(name, input, output)| (*name, &**input, &**output))
        .collect();
    let said = files(&steps);
    assert!(
        said.contains(&"/r/a.py: modified ×2 (read), last: ok".to_owned()),
        "{said:?}"
    );
    assert!(said.contains(&"/r/x.py: deleted m6".to_owned()), "{said:?}");
}

fn of_kind(deeds: &Deeds, kind: Kind) -> Vec<String> {
    let entries = deeds.entries().filter(|entry| entry.kind == kind);
    entries
        .map(|entry| {
            format!(
                "{} [{}] {}",
                entry.value,
                entry.status.name(),
                entry.note.as_deref().unwrap_or("")
            )
        })
        .collect()
}

#[test]
fn commands_are_counted_and_end_as_they_ended_last() {
    let test = r#"{"command":"cd /r && cargo test -p x 2>&1 | tail -20"}"#;
    let failing =
        "test auth::refuses ... FAILED\ntest b ... FAILED\ntest result: FAILED. 3 passed; 2 failed; 0 ignored";
    let (deeds, _) = fold(&[
        ("Bash", test, failing),
        ("Bash", test, "error[E0308]: mismatched types\n --> src/a.rs:3:5"),
        ("Bash", test, failing),
    ]);
    assert_eq!(
        of_kind(&deeds, Kind::Command),
        ["cargo test -p x ×3 [current] failed: 2 failed: auth::refuses, b"]
    );
    let (deeds, _) = fold(&[("Bash", r#"{"command":"make"}"#, "Exit code 2\nmake: *** [all] Error 1")]);
    assert_eq!(
        of_kind(&deeds, Kind::Command),
        ["make [current] exit 2: make: *** [all] Error 1"]
    );
    let (deeds, _) = fold(&[("Bash", r#"{"command":"rg zzz"}"#, "Exit code 1\n")]);
    assert_eq!(
        of_kind(&deeds, Kind::Command),
        ["rg zzz [current] exit 1: nothing found"]
    );
}

#[test]
fn a_command_that_runs_on_is_one_command() {
    let (deeds, _) = fold(&[
        (
            "exec_command",
            r#"{"cmd":"go test ./..."}"#,
            "Wall time: 1\nProcess running with session ID 7\nOutput:\n",
        ),
        (
            "write_stdin",
            r#"{"session_id":7,"chars":""}"#,
            "Wall time: 1\nProcess exited with code 1\nOutput:\n--- FAIL: TestA (0.1s)\n",
        ),
    ]);
    assert_eq!(
        of_kind(&deeds, Kind::Command),
        ["go test ./... [current] exit 1: 1 failed: TestA"]
    );
    assert_eq!(of_kind(&deeds, Kind::Error).len(), 1);
}

#[test]
fn errors_open_and_close() {
    let narrow = r#"{"command":"go test ./x -run TestA"}"#;
    let failing = "Exit code 1\n--- FAIL: TestA (0.00s)\n    x_test.go:3: no\nFAIL";
    let status = |steps: &[(&str, &str, &str)]| {
        let (deeds, _) = fold(steps);
        let entry = deeds.entries().find(|entry| entry.kind == Kind::Error).unwrap().clone();
        assert_eq!(entry.author, Author::Tool);
        (entry.status, entry.times)
    };
    assert_eq!(status(&[("Bash", narrow, failing)]), (Status::Open, 1));
    assert_eq!(
        status(&[("Bash", narrow, failing), ("Bash", narrow, failing)]),
        (Status::Open, 2)
    );
    assert_eq!(
        status(&[("Bash", narrow, failing), ("Bash", narrow, "ok  \tx\t0.1s")]),
        (Status::Closed, 1)
    );
    assert_eq!(
        status(&[
            ("Bash", narrow, failing),
            ("Bash", r#"{"command":"go test ./..."}"#, "ok  \tx\t0.1s")
        ]),
        (Status::Closed, 1)
    );
    assert_eq!(
        status(&[
            ("Bash", narrow, failing),
            ("Bash", r#"{"command":"go test ./y"}"#, "ok  \ty\t0.1s")
        ]),
        (Status::Open, 1)
    );
    assert_eq!(
        status(&[
            ("Bash", narrow, failing),
            ("Bash", r#"{"command":"go test -v ./y"}"#, "--- PASS: TestA (0.1s)")
        ]),
        (Status::Closed, 1)
    );
    assert_eq!(
        status(&[
            ("Bash", narrow, failing),
            ("Bash", narrow, "ok"),
            ("Bash", narrow, failing)
        ]),
        (Status::Open, 2)
    );
    let build = r#"{"command":"cargo build"}"#;
    let edit = (
        "Edit",
        r#"{"file_path":"/r/src/a.rs","old_string":"a","new_string":"b"}"#,
        "updated",
    );
    let first = "Exit code 101\nerror[E0308]: mismatched types\n --> src/a.rs:3:5\n";
    let second = "Exit code 101\nerror[E0425]: cannot find value `x`\n --> src/b.rs:3:5\n";
    let (deeds, _) = fold(&[("Bash", build, first), edit, ("Bash", build, second)]);
    let errors = of_kind(&deeds, Kind::Error);
    assert!(
        errors[0].contains("E0308") && errors[0].contains("[closed]"),
        "{errors:?}"
    );
    assert!(
        errors[1].contains("E0425") && errors[1].contains("[open]"),
        "{errors:?}"
    );
}

#[test]
fn tools_that_act_are_remembered_with_their_errors() {
    let (deeds, facts) = fold(&[
        (
            "cancel_reservation",
            r#"{"reservation_id":"GV1N64"}"#,
            "Error: reservation not found",
        ),
        (
            "cancel_reservation",
            r#"{"reservation_id":"GV1N65"}"#,
            r#"{"reservation_id":"GV1N65","status":"cancelled"}"#,
        ),
        ("get_user_details", r#"{"user_id":"mia"}"#, r#"{"email":"m@x.y"}"#),
    ]);
    assert_eq!(
        of_kind(&deeds, Kind::Command),
        [
            "cancel_reservation GV1N64 [current] failed: Error: reservation not found",
            "cancel_reservation GV1N65 [current] ok",
            "get_user_details mia [current] ok"
        ]
        .map(|line| line
            .replace("GV1N64", "reservation_id=GV1N64")
            .replace("GV1N65", "reservation_id=GV1N65")
            .replace("details mia", "details user_id=mia"))
    );
    assert_eq!(of_kind(&deeds, Kind::Error).len(), 1);
    let status = facts.current("reservation_id=GV1N65 · status").unwrap();
    assert_eq!((&*status.value, status.author), ("cancelled", Author::Tool));
    assert_eq!(&*facts.current("user_id=mia · email").unwrap().value, "m@x.y");
}

#[test]
fn values_that_are_set_replace_what_was_read_and_said() {
    let (mut deeds, mut facts) = (Deeds::default(), Facts::default());
    facts.claim(Claim {
        key: "server · port",
        value: "8080",
        words: "",
        author: Author::User,
        message: 0,
    });
    let steps = [
        (
            "Read",
            r#"{"file_path":"/r/app/config.yaml"}"#,
            "1\tport: 8080\n2\thost: x\n",
        ),
        (
            "Edit",
            r#"{"file_path":"/r/app/config.yaml","old_string":"port: 8080","new_string":"port: 9090"}"#,
            "updated",
        ),
    ];
    let messages = steps.iter().flat_map(|(name, input, output)| pair(name, input, output));
    for (index, message) in (1..).zip(messages) {
        deeds.fold(index, &message, &mut facts);
    }
    let file = facts.current("app/config.yaml · port").unwrap();
    assert_eq!((&*file.value, file.author), ("9090", Author::Assistant));
    assert_eq!(&*facts.current("app/config.yaml · host").unwrap().value, "x");
    let theirs = facts.current("server · port").unwrap();
    assert_eq!(
        (&*theirs.value, theirs.note.as_deref()),
        ("9090", Some("changed in /r/app/config.yaml"))
    );
    let (_, facts) = fold(&[(
        "apply_patch",
        "*** Begin Patch\n*** Update File: a.toml\n@@\n-level = \"info\"\n+level = \"debug\"\n*** End Patch",
        "Done!",
    )]);
    assert_eq!(&*facts.current("a.toml · level").unwrap().value, "debug");
    let failed = [(
        "Edit",
        r#"{"file_path":"a.toml","old_string":"x = 1","new_string":"x = 2"}"#,
        "Error: not found",
    )];
    assert!(fold(&failed).1.current("a.toml · x").is_none());
}

#[test]
fn what_is_done_is_shown_once() {
    let messages = pair(
        "TodoWrite",
        r#"{"todos":[{"content":"Write docs","status":"completed"}]}"#,
        "ok",
    );
    let (mut deeds, mut facts) = (Deeds::default(), Facts::default());
    deeds.fold(0, &messages[0], &mut facts);
    assert!(deeds.done().is_empty());
    deeds.fold(1, &messages[1], &mut facts);
    assert_eq!(
        deeds
            .done()
            .iter()
            .map(|shown| (shown.kind, &*shown.words))
            .collect::<Vec<_>>(),
        [(Kind::Task, "Write docs")]
    );
    deeds.fold(2, &Message::new(Role::User, vec![]), &mut facts);
    assert!(deeds.done().is_empty());
    let (deeds, _) = fold(&[("Bash", r#"{"command":"git push && touch a.md"}"#, "")]);
    let shown: Vec<_> = deeds.done().iter().map(|shown| (shown.kind, &*shown.words)).collect();
    assert_eq!(
        shown,
        [
            (Kind::File, "created a.md"),
            (Kind::Command, "git push"),
            (Kind::Command, "touch a.md")
        ]
    );
}

#[test]
fn nothing_grows_without_bound() {
    let (mut deeds, mut facts) = (Deeds::default(), Facts::default());
    let mut sizes = Vec::new();
    for round in 0..3000u32 {
        let input = format!("{{\"command\":\"cat f{round}.toml && tool{round} x > o{round} && cd /d{round}\"}}");
        let output = format!(
            "Exit code 1\n--- FAIL: Test{}q (0s)\nError: x{} y\n",
            "z".repeat(round as usize % 300),
            round
        );
        for (at, message) in (0..).zip(pair("Bash", &input, &output)) {
            deeds.fold(round * 2 + at, &message, &mut facts);
        }
        if round % 1000 == 999 {
            sizes.push(serde_json::to_string(&deeds).unwrap().len());
        }
    }
    assert!(sizes[2] < sizes[1] + sizes[1] / 10 && sizes[2] < 1 << 20, "{sizes:?}");
    assert!(deeds.entries().count() <= 950);
}

/// Calls and results made of whatever could stand in them.
fn any_step() -> impl Strategy<Value = (String, String, String)> {
    let name = prop::sample::select(vec![
        "Bash",
        "Edit",
        "Read",
        "Write",
        "TodoWrite",
        "TaskUpdate",
        "apply_patch",
        "exec_command",
        "get_thing",
        "edit",
    ]);
    let script = prop_oneof![
        "[ -~\\n]{0,80}",
        "(cat|rm|mv|sed -i|cd|git|echo) [a-c/.$'\"<>|&;(){}\\n -]{0,40}",
        "\\PC{0,60}"
    ];
    let output = prop_oneof![
        "[ -~\\n]{0,80}",
        "(Exit code 1\\n)?(--- FAIL: Test[AB] \\(0s\\)|error: [ab]|ok|test a \\.\\.\\. (ok|FAILED))\\n",
        "\\PC{0,60}"
    ];
    (name, script, output, any::<bool>()).prop_map(|(name, script, output, is_text)| {
        let quoted = crate::json::quote(&script);
        let input = format!(
            "{{\"command\":{quoted},\"cmd\":{quoted},\"file_path\":{quoted},\"old_string\":{quoted},\"new_string\":\"port: 1\",\"todos\":[{{\"content\":{quoted},\"status\":\"pending\"}}],\"taskId\":\"1\",\"status\":\"completed\"}}"
        );
        (name.to_owned(), if is_text { script } else { input }, output)
    })
}

proptest! {
    #[test]
    fn at_once_one_by_one_and_across_restarts_are_the_same(steps in prop::collection::vec(any_step(), 1..12)) {
        let messages: Vec<Message> = steps.iter().flat_map(|(name, input, output)| pair(name, input, output)).collect();
        let (mut at_once, mut facts) = (Deeds::default(), Facts::default());
        let (mut restarted, mut other_facts) = (Deeds::default(), Facts::default());
        for (index, message) in (0..).zip(&messages) {
            at_once.fold(index, message, &mut facts);
            restarted = serde_json::from_str(&serde_json::to_string(&restarted).unwrap()).unwrap();
            other_facts = serde_json::from_str(&serde_json::to_string(&other_facts).unwrap()).unwrap();
            restarted.fold(index, message, &mut other_facts);
        }
        prop_assert_eq!(&at_once, &restarted);
        prop_assert_eq!(facts, other_facts);
        for entry in at_once.entries() {
            prop_assert!(entry.key.chars().count() <= 301 && entry.value.chars().count() <= 900);
            prop_assert!(entry.note.as_deref().unwrap_or_default().chars().count() <= 242);
            prop_assert!(entry.first <= entry.last);
        }
    }

    #[test]
    fn any_text_is_read(text in "\\PC{0,300}") {
        shell::read(&text);
        script::read(&text, Some("/r"));
        failures::read(&text);
        patch::touches(&text, None, &mut touch::Touches::default());
        readings::settings("a.yaml", &text);
    }
}
