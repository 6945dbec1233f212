//! `mainstay eval` as a user meets it.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use std::path::Path;
use std::process::Command;
use std::process::Output;
use std::process::Stdio;

use serde_json::Value;
use serde_json::json;

fn mainstay(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mainstay"));
    command
        .args(arguments)
        .env_clear()
        .env("HOME", "/nonexistent")
        .env("PATH", "/usr/bin:/bin");
    command.stdin(Stdio::null()).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Sessions in which the agent comes back to what it saw early.
fn sessions(folder: &Path) -> String {
    let mut lines = String::new();
    for session in 0..3 {
        let mut messages = vec![json!({"role": "user", "content": "repair the importer in src/import/reader.rs"})];
        for step in 0..20 {
            let id = format!("c{step}");
            let name = format!("field_{step}");
            let arguments = json!({"path": format!("src/import/part_{step}.rs")}).to_string();
            messages.push(
                json!({"role": "assistant", "content": format!("look at {name}"), "tool_calls": [
                {"id": id, "name": "read", "arguments": arguments}]}),
            );
            let filler = "nothing of note here, only words and words again\n".repeat(30);
            let text = format!("{name}_value = {}\nlimit_{step}_of_rows\n{filler}", 1000 + step);
            messages.push(json!({"role": "tool", "tool_call_id": format!("c{step}"), "content": text}));
        }
        let uses: Vec<String> = (0..8)
            .map(|step| format!("field_{step}_value {} part_{step}.rs", 1000 + step))
            .collect();
        for text in uses {
            messages.push(json!({"role": "assistant", "content": text}));
        }
        let record = json!({"id": format!("s{session}"), "source": "made", "format": "made", "model": null, "tokens": 0,
            "compactions": [], "messages": messages});
        lines.push_str(&format!("{record}\n"));
    }
    let path = folder.join("made.jsonl");
    std::fs::write(&path, lines).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn retention_compares_arms_and_documents_every_field() {
    let folder = tempfile::tempdir().unwrap();
    let path = sessions(folder.path());
    let rows = folder.path().join("rows.json");
    let arguments = [
        "eval",
        "retention",
        &path,
        "--json",
        "--min-tokens",
        "1000",
        "--out",
        rows.to_str().unwrap(),
    ];
    let output = mainstay(&[&arguments[..], &["--external", "cat", "--budgets", "0.1,0.3"]].concat());
    assert!(output.status.success(), "{}", err(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let arms = report["groups"][0]["arms"].as_array().unwrap();
    assert_eq!(arms.len(), 2 * (6 + 2 + 1));
    let copied = arms.iter().find(|arm| arm["arm"] == "external").unwrap();
    assert_eq!(
        (&copied["fur"]["mean"], &copied["over_budget"]),
        (&json!(1.0), &json!(1.0))
    );
    let rows: Value = serde_json::from_slice(&std::fs::read(rows).unwrap()).unwrap();
    assert_eq!(
        rows.as_array().unwrap().len(),
        report["groups"][0]["cuts"].as_u64().unwrap() as usize
    );
    assert_eq!(rows[0]["results"]["external@0.1"]["fur"], json!(1.0));
    let documentation = include_str!("../../../docs/json.md");
    let mut keys = Vec::new();
    collect_keys(&report, &mut keys);
    for key in keys {
        assert!(documentation.contains(&format!("`{key}`")), "{key} is not documented");
    }
}

fn collect_keys(value: &Value, keys: &mut Vec<String>) {
    match value {
        Value::Object(object) => object.iter().for_each(|(key, value)| {
            keys.push(key.clone());
            collect_keys(value, keys);
        }),
        Value::Array(list) => list.iter().for_each(|value| collect_keys(value, keys)),
        _ => {}
    }
}

#[test]
fn retention_says_where_an_arm_is_below_the_best_baseline_or_the_floor() {
    let folder = tempfile::tempdir().unwrap();
    let path = sessions(folder.path());
    // A compactor that throws everything away.
    let nothing = "sh -c 'cat >/dev/null; echo []'";
    let arguments = [
        "eval",
        "retention",
        &path,
        "--min-tokens",
        "1000",
        "--budgets",
        "0.3",
        "--arms",
        "baselines",
    ];
    let arguments = [&arguments[..], &["--external", nothing]].concat();
    let output = mainstay(&arguments);
    assert!(output.status.success(), "{}", err(&output));
    let text = out(&output);
    let end = text.split("Significantly below the best baseline").nth(1).unwrap();
    assert!(end.contains("external"), "{text}");
    let output = mainstay(&[&arguments[..], &["--floor", "0.3=.5"]].concat());
    assert_eq!(output.status.code(), Some(100), "{}", err(&output));
    assert!(out(&output).contains("Below the floor"));
    let floor = folder.path().join("floor.txt");
    std::fs::write(&floor, "# nothing is kept\n0.3=0/0/0\n").unwrap();
    let output = mainstay(&[&arguments[..], &["--floor", floor.to_str().unwrap()]].concat());
    assert!(output.status.success(), "{}", err(&output));
}

#[test]
fn retention_reads_any_session_and_says_what_it_cannot_do() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/flaky-checkout.jsonl");
    let arguments = [
        "eval",
        "retention",
        example.to_str().unwrap(),
        "--arms",
        "keep_last",
        "--json",
    ];
    let output = mainstay(&arguments);
    assert!(output.status.success(), "{}", err(&output));
    for (arguments, words) in [
        (vec!["eval", "retention", "/nonexistent"], "nonexistent"),
        (
            vec!["eval", "retention", example.to_str().unwrap(), "--arms", "wrong"],
            "no arm",
        ),
        (
            vec![
                "eval",
                "retention",
                example.to_str().unwrap(),
                "--min-tokens",
                "99999999",
            ],
            "long enough",
        ),
        (
            vec!["eval", "retention", example.to_str().unwrap(), "--external", "'"],
            "quote",
        ),
    ] {
        let output = mainstay(&arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(err(&output).contains(words), "{arguments:?}: {}", err(&output));
    }
}

#[test]
fn preflight_shows_what_the_trivial_engine_lacks_and_documents_every_field() {
    let output = mainstay(&["eval", "preflight", "--engine", "hot-tail-only", "--seeds", "3"]);
    assert!(output.status.success(), "{}", err(&output));
    let text = out(&output);
    for words in ["current-fact", "FAILED", "3/12", "and 3 generated"] {
        assert!(text.contains(words), "no {words:?} in\n{text}");
    }
    let output = mainstay(&[
        "eval",
        "preflight",
        "--engine",
        "hot-tail-only",
        "--seeds",
        "3",
        "--json",
    ]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["engines"][0]["smoke_passed"], json!(3));
    assert_eq!(report["conversations"], json!(3));
    let documentation = include_str!("../../../docs/json.md");
    let mut keys = Vec::new();
    collect_keys(&report, &mut keys);
    for key in keys {
        assert!(documentation.contains(&format!("`{key}`")), "{key} is not documented");
    }
    // No credential of a conversation is repeated in a report.
    assert!(!out(&output).contains("sk-"));
    let output = mainstay(&["eval", "preflight", "--engine", "none"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("hot-tail-only"));
}
