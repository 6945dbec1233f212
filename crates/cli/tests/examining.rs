//! `mainstay eval validate` and `mainstay eval list` as a user meets them.
#![allow(clippy::unwrap_used)]

mod home;

use std::path::Path;
use std::process::Command;
use std::process::Output;
use std::process::Stdio;

use home::assert_documented;
use home::documentation;
use serde_json::Value;
use serde_json::json;

fn mainstay(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mainstay"));
    command.args(arguments).env_clear().env("HOME", "/nonexistent");
    command.stdin(Stdio::null()).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn exam(folder: &Path, span: Value) -> String {
    let kinds = ["recall", "artifact", "continuation", "decision"];
    let probes: Vec<Value> = (0..8)
        .map(|index| {
            json!({"id": format!("p{index}"), "type": kinds[index % 4], "question": "On which port?", "expected_facts": ["9090"],
                "stale_facts": ["8080"], "spans": {"9090": span, "8080": [0, 0]}})
        })
        .collect();
    let fixture = json!({"name": "ports", "description": "A port.", "shape": "feature", "messages": [
        {"role": "user", "content": "Use port 8080."}, {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "No, 9090. Ask \u{1b}[31mjane@corp.com."}, {"role": "assistant", "content": "It is 9090 now."}]});
    let bank = json!({"fixture": "ports", "probes": probes});
    for (place, name, value) in [
        ("fixtures", "ports.json", fixture),
        ("probes", "ports.probes.json", bank),
    ] {
        std::fs::create_dir_all(folder.join(place)).unwrap();
        std::fs::write(folder.join(place).join(name), value.to_string()).unwrap();
    }
    folder.to_str().unwrap().to_owned()
}

#[test]
fn a_sound_exam_passes_with_a_warning_and_not_strictly() {
    let folder = tempfile::tempdir().unwrap();
    let path = exam(folder.path(), json!([2, 3]));
    let output = mainstay(&["eval", "validate", &path]);
    assert!(output.status.success(), "{}{}", out(&output), err(&output));
    assert!(
        out(&output).contains("jane@corp.com looks like") && out(&output).contains("0 errors, 1 warnings"),
        "{}",
        out(&output)
    );
    let output = mainstay(&["eval", "validate", &path, "--strict"]);
    assert_eq!(output.status.code(), Some(100));
}

#[test]
fn an_error_has_its_place_and_its_remedy_and_fails_the_gate() {
    let folder = tempfile::tempdir().unwrap();
    let path = exam(folder.path(), json!([0, 1]));
    let output = mainstay(&["eval", "validate", &path, "--json"]);
    assert_eq!(output.status.code(), Some(100), "{}", err(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_documented(&report, documentation("`mainstay eval validate --json`"));
    assert_eq!((&report["errors"], &report["passed"]), (&json!(8), &json!(false)));
    let finding = &report["findings"][0];
    assert_eq!(finding["place"], "$.probes[0].spans[\"9090\"]");
    assert!(
        finding["file"].as_str().unwrap().ends_with("ports.probes.json")
            && finding["remedy"].as_str().unwrap().contains("span")
    );
}

#[test]
fn fixtures_are_listed_with_figures() {
    let folder = tempfile::tempdir().unwrap();
    let path = exam(folder.path(), json!([2, 3]));
    let output = mainstay(&["eval", "list", &path, "--json"]);
    assert!(output.status.success(), "{}", err(&output));
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_documented(&list, documentation("`mainstay eval list --json`"));
    let fixture = &list[0];
    assert_eq!(
        (&fixture["messages"], &fixture["probes"]["decision"], &fixture["shape"]),
        (&json!(4), &json!(2), &json!("feature"))
    );
    let output = mainstay(&["eval", "list", &path]);
    assert!(out(&output).contains("ports    feature"), "{}", out(&output));
    assert!(out(&output).contains(&fixture["digest"].as_str().unwrap()[..12]));
}

#[test]
fn what_is_no_exam_is_said_so() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["validate", "list"] {
        let output = mainstay(&["eval", command, folder.path().to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(1), "{}", err(&output));
        assert!(err(&output).contains("fixtures"), "{}", err(&output));
    }
}
