//! The binary as a user meets it: output, errors, exit codes.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use std::io::Write;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Output;
use std::process::Stdio;

use serde_json::Value;

fn mainstay(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mainstay"));
    // A home of its own: whatever is on this machine must not show.
    command
        .args(arguments)
        .env_clear()
        .env("HOME", "/nonexistent")
        .stdin(Stdio::null());
    command
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    path.to_str().unwrap().to_owned()
}

fn piped(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn inspect_shows_the_example() {
    let output = mainstay(&["inspect", &example("flaky-checkout.jsonl")]);
    assert!(output.status.success(), "{}", err(&output));
    let text = out(&output);
    for words in [
        "claude-code",
        "Tokens:",
        "Tools",
        "Biggest messages",
        "Budget for a window of",
        "pressure:",
    ] {
        assert!(text.contains(words), "no {words:?} in\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "no colours where there is no terminal");
}

#[test]
fn every_field_of_the_json_is_documented() {
    let documentation = include_str!("../../../docs/json.md");
    for name in ["flaky-checkout.jsonl", "support-desk.json", "refactor.rollout.jsonl"] {
        let output = mainstay(&["inspect", "--json", &example(name)]);
        assert!(output.status.success(), "{}", err(&output));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut keys = Vec::new();
        collect_keys(&report, &mut keys);
        for key in keys {
            assert!(documentation.contains(&format!("`{key}`")), "{key} is not documented");
        }
    }
}

fn collect_keys(value: &Value, keys: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (key, inner) in object {
                keys.push(key.clone());
                collect_keys(inner, keys);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_keys(item, keys)),
        _ => {}
    }
}

#[test]
fn inspect_reads_standard_input_and_takes_a_format() {
    let body = br#"{"messages":[{"role":"user","content":"hello there"}]}"#;
    let output = piped(
        &["inspect", "-", "--json", "--tokenizer", "o200k", "--window", "1000"],
        body,
    );
    assert!(output.status.success(), "{}", err(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["format"], "openai-chat");
    assert_eq!(report["tokens"]["by_kind"]["text"], 2);
    assert_eq!(report["tokens"]["exact"], true);
    assert_eq!(report["budget"]["window"], 1000);
    assert_eq!(report["budget"]["threshold"], 750);

    let forced = piped(&["inspect", "-", "--json", "--from", "anthropic"], body);
    let report: Value = serde_json::from_slice(&forced.stdout).unwrap();
    assert_eq!(report["format"], "anthropic");
}

#[test]
fn pressure_and_threshold_follow_the_window() {
    let text = "word ".repeat(700);
    let body = format!(r#"{{"messages":[{{"role":"user","content":"{text}"}}]}}"#);
    for (window, pressure, due) in [
        ("10000", Value::Null, false),
        ("1100", "info".into(), false),
        ("800", "warning".into(), true),
    ] {
        let output = piped(
            &["inspect", "-", "--json", "--tokenizer", "o200k", "--window", window],
            body.as_bytes(),
        );
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["budget"]["pressure"], pressure, "window {window}");
        assert_eq!(report["budget"]["compaction_due"], due, "window {window}");
    }
}

#[test]
fn errors_say_what_and_where_and_exit_with_one() {
    for (arguments, words) in [
        (
            vec!["inspect", "/no/such/file"],
            "/no/such/file: No such file or directory",
        ),
        (
            vec!["inspect", env!("CARGO_MANIFEST_DIR")],
            "a directory that is no agent's session",
        ),
        (
            vec!["inspect", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")],
            "name one with --from",
        ),
        (
            vec!["inspect", "-", "--from", "nonsense"],
            "unknown format \"nonsense\"; known: ",
        ),
        (vec!["man", "nonsense"], "there is no command"),
    ] {
        let output = mainstay(&arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(err(&output).contains(words), "{arguments:?} gives {}", err(&output));
        assert!(out(&output).is_empty());
    }
    let budget = piped(
        &["inspect", "-", "--threshold", "7"],
        br#"{"messages":[{"role":"user","content":"x"}]}"#,
    );
    assert_eq!(budget.status.code(), Some(1));
    assert!(err(&budget).contains("the threshold must be above 0 and at most 1, not 7"));
}

#[test]
fn wrong_usage_exits_with_two() {
    for arguments in [
        vec!["inspect"],
        vec!["nonsense"],
        vec!["inspect", "x", "--tokenizer", "abacus"],
        vec!["inspect", "x", "--window", "-1"],
    ] {
        assert_eq!(mainstay(&arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn formats_completions_and_manual_are_there() {
    let formats = out(&mainstay(&["formats"]));
    for name in [
        "openai-chat",
        "anthropic",
        "openai-responses",
        "claude-code",
        "codex",
        "trajectories",
    ] {
        assert!(formats.contains(name), "{name} is not listed");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(out(&mainstay(&["completions", shell])).contains("mainstay"), "{shell}");
    }
    assert!(out(&mainstay(&["man"])).starts_with(".ie"));
    assert!(out(&mainstay(&["man", "inspect"])).contains("window"));
}

/// A home directory with one session of an agent in it.
fn home_with(path: &str, text: &str) -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, text).unwrap();
    (home, file)
}

#[test]
fn sessions_finds_what_is_there() {
    let none = mainstay(&["sessions"]);
    assert!(none.status.success() && out(&none).contains("No agent sessions found"));

    let text = std::fs::read_to_string(example("flaky-checkout.jsonl")).unwrap();
    let (home, file) = home_with(".claude/projects/-home-dev-shop/0a1b.jsonl", &text);
    let output = command(&["sessions", "--json"])
        .env("HOME", home.path())
        .output()
        .unwrap();
    let rows: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(rows[0]["format"], "claude-code");
    assert_eq!(rows[0]["path"], file.to_str().unwrap());
    assert!(rows[0]["title"].as_str().is_some_and(|title| !title.is_empty()));
    assert_eq!(rows[0]["bytes"], text.len());
    let listed = command(&["sessions"]).env("HOME", home.path()).output().unwrap();
    assert!(out(&listed).contains("claude-code"));
    let other = command(&["sessions", "--format", "codex", "--json"])
        .env("HOME", home.path())
        .output()
        .unwrap();
    assert_eq!(out(&other).trim(), "[]");
}

#[test]
fn hostile_text_does_not_reach_the_terminal_raw() {
    let hostile = r#"{"messages":[{"role":"user","content":"\u001b[2J\u001b]52;c;aGk=\u0007 wiped"},{"role":"assistant","content":null,
        "tool_calls":[{"id":"1","function":{"name":"\u001b[31mrm\u202e","arguments":"{}"}}]}]}"#;
    let output = piped(&["inspect", "-"], hostile.as_bytes());
    assert!(output.status.success());
    let text = out(&output);
    assert!(
        text.chars().all(|c| c == '\n' || (!c.is_control() && c != '\u{202e}')),
        "{text:?}"
    );
}

#[test]
fn a_reader_that_stops_early_is_no_failure() {
    let mut child = command(&["inspect", "--json", &example("flaky-checkout.jsonl")])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}
