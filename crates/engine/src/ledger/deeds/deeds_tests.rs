//! Commands, errors, values, and what must hold for any calls and results.

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

pub(super) fn pair(name: &str, input: &str, output: &str) -> [Message; 2] {
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

pub(super) fn fold(steps: &[(&str, &str, &str)]) -> (Deeds, Facts) {
    let (mut deeds, mut facts) = (Deeds::default(), Facts::default());
    let messages = steps.iter().flat_map(|(name, input, output)| pair(name, input, output));
    for (index, message) in messages.enumerate() {
        deeds.fold(u32::try_from(index).unwrap(), &message, &mut facts);
    }
    (deeds, facts)
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
        ["cargo test -p x ×3 [current] failed: 3 passed, 2 failed: auth::refuses, b"]
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
fn what_a_command_made_is_named() {
    let (deeds, _) = fold(&[
        (
            "Bash",
            r#"{"command":"git commit -m x"}"#,
            "[main 1a2b3c4] x\n 1 file changed",
        ),
        (
            "Bash",
            r#"{"command":"gh pr create --fill"}"#,
            "Creating\nhttps://github.com/o/r/pull/7\n",
        ),
        (
            "Bash",
            r#"{"command":"npm start","run_in_background":true}"#,
            "Command running in background with ID: b1",
        ),
    ]);
    assert_eq!(
        of_kind(&deeds, Kind::Command),
        [
            "git commit -m x [current] ok: [main 1a2b3c4] x",
            "gh pr create --fill [current] ok: https://github.com/o/r/pull/7",
            "npm start [current] still running"
        ]
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
            "cancel_reservation GV1N65 [current] returned",
            "get_user_details mia [current] returned"
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
    let hermes = [(
        "read_file",
        r#"{"path":"/r/a.ini"}"#,
        r#"{"content":"     1|level = info\n","total_lines":1}"#,
    )];
    assert_eq!(&*fold(&hermes).1.current("r/a.ini · level").unwrap().value, "info");
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
fn a_reading_never_replaces_what_the_person_said() {
    let (mut deeds, mut facts) = (Deeds::default(), Facts::default());
    facts.claim(Claim {
        key: "a.toml · port",
        value: "1",
        words: "",
        author: Author::User,
        message: 0,
    });
    for (index, message) in (1..).zip(pair("Read", r#"{"file_path":"a.toml"}"#, "port = 2\nhost = \"x\"")) {
        deeds.fold(index, &message, &mut facts);
    }
    assert_eq!(&*facts.current("a.toml · port").unwrap().value, "1");
    assert_eq!(&*facts.current("a.toml · host").unwrap().value, "x");
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
    let (deeds, _) = fold(&[(
        "Bash",
        r#"{"command":"git push && touch a.md"}"#,
        "Exit code: 0\nOutput:\n",
    )]);
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

#[test]
fn an_edit_of_a_part_changes_the_values_that_hold_it() {
    let mut deeds = Deeds::default();
    let mut facts = Facts::default();
    let steps = [
        (
            "Read",
            r#"{"file_path":"/r/app/db.env"}"#,
            "1\tURL=pg://db-1.internal/shop\n2\tPOOL=8\n",
        ),
        (
            "Edit",
            r#"{"file_path":"/r/app/db.env","old_string":"db-1.internal","new_string":"db-2.internal"}"#,
            "updated",
        ),
    ];
    let messages = steps.iter().flat_map(|(name, input, output)| pair(name, input, output));
    for (index, message) in (0..).zip(messages) {
        deeds.fold(index, &message, &mut facts);
    }
    assert_eq!(
        &*facts.current("app/db.env · URL").unwrap().value,
        "pg://db-2.internal/shop"
    );
    assert_eq!(&*facts.current("app/db.env · POOL").unwrap().value, "8");
}
