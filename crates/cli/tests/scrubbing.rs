//! `mainstay scrub` as a user meets it.
#![allow(clippy::unwrap_used)]

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

fn shown(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

fn session(folder: &Path) -> String {
    let path = folder.join("parser-fix.json");
    let call = json!({"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"/home/tarquinius/src/parser.rs\"}"}});
    let messages = json!({"messages": [
        {"role": "system", "content": "be nice to Tarquinius"},
        {"role": "user", "content": "hey, fix my parser please, error E0308"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "Author: Ilse Vantongeren <ilse@kontor.dev>\nfn parse() {}"},
        {"role": "assistant", "content": "parse() was written by Ilse Vantongeren, ask @Wobblefrotz"},
    ]});
    std::fs::write(&path, messages.to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_clean_fixture_is_written_and_audited_again() {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (session(folder.path()), folder.path().join("out"));
    let out = out.to_str().unwrap();
    let output = mainstay(&[
        "scrub",
        &path,
        "-o",
        out,
        "--handle",
        "wobblefrotz",
        "--keep",
        "E0308",
        "--description",
        "a fix",
    ]);
    assert!(output.status.success(), "{}", shown(&output));
    let written = format!("{out}/parser-fix.json");
    let text = std::fs::read_to_string(&written).unwrap();
    let fixture: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&fixture["name"], &fixture["description"]),
        (&json!("parser-fix"), &json!("a fix"))
    );
    assert_eq!(
        fixture["messages"][1]["content"],
        "Task: fix the user's parser, error E0308"
    );
    assert!(
        fixture["scrubbed_at"].as_str().unwrap().ends_with('Z')
            && fixture["scrubbing_passes"].as_array().unwrap().len() >= 10
    );
    for name in ["arquinius", "Ilse", "kontor", "obblefrotz", "be nice"] {
        assert!(!text.contains(name), "{name} in {text}");
    }
    let audit = mainstay(&["scrub", "--audit", &written, "--handle", "tarquinius,ilse"]);
    assert!(audit.status.success(), "{}", shown(&audit));
}

#[test]
fn what_is_not_fit_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (session(folder.path()), folder.path().join("out"));
    let arguments = [
        "scrub",
        &path,
        "-o",
        out.to_str().unwrap(),
        "--keep",
        "/home/tarquinius",
        "--json",
    ];
    let output = mainstay(&arguments);
    assert_eq!(output.status.code(), Some(100), "{}", shown(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["passed"], false);
    assert_eq!(report["fixtures"][0]["written"], Value::Null);
    assert_eq!(report["fixtures"][0]["report"]["lost_facts"][0]["pass"], "homes");
    assert!(!out.exists());
    let forced = mainstay(&[&arguments[..], &["--force"]].concat());
    assert!(
        forced.status.success() && out.join("parser-fix.json").exists(),
        "{}",
        shown(&forced)
    );
}

#[test]
fn an_audit_says_where_and_ends_with_100() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path());
    let output = mainstay(&["scrub", "--audit", &path, "--handle", "Tarquinius"]);
    assert_eq!(output.status.code(), Some(100));
    let text = shown(&output);
    assert!(
        text.contains("messages[3].content") && text.contains("mail") && text.contains("name"),
        "{text}"
    );
    assert!(!text.contains("kontor"), "{text}");
    let json = mainstay(&["scrub", "--audit", &path, "--json"]);
    let report: Value = serde_json::from_slice(&json.stdout).unwrap();
    let documented = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md")).unwrap();
    let part = documented
        .split("## `mainstay scrub --json`")
        .nth(1)
        .unwrap()
        .split("\n## ")
        .next()
        .unwrap();
    let finding = &report["fixtures"][0]["findings"][0];
    let (fixtures, finding) = (report["fixtures"][0].as_object().unwrap(), finding.as_object().unwrap());
    for field in report
        .as_object()
        .unwrap()
        .keys()
        .chain(fixtures.keys())
        .chain(finding.keys())
    {
        assert!(
            part.contains(&format!("`{field}`")) || part.contains(&format!("`{field}[]`")),
            "{field} is not documented"
        );
    }
}

#[test]
fn no_file_is_lost_and_directories_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (session(folder.path()), folder.path().join("out"));
    let out = out.to_str().unwrap();
    let arguments = ["scrub", &path, "-o", out, "--handle", "wobblefrotz"];
    let output = mainstay(&arguments);
    assert!(output.status.success(), "{}", shown(&output));
    let fixture: Value =
        serde_json::from_str(&std::fs::read_to_string(format!("{out}/parser-fix.json")).unwrap()).unwrap();
    assert_eq!(fixture["source"], "parser-fix.json");
    let again = mainstay(&arguments);
    assert!(
        !again.status.success() && shown(&again).contains("is there already"),
        "{}",
        shown(&again)
    );
    assert!(mainstay(&[&arguments[..], &["--force"]].concat()).status.success());
    let second = folder.path().join("b");
    std::fs::create_dir(&second).unwrap();
    let (second, fresh) = (session(&second), folder.path().join("fresh"));
    let both = mainstay(&["scrub", &path, &second, "-o", fresh.to_str().unwrap()]);
    assert!(
        !both.status.success() && shown(&both).contains("would both be written"),
        "{}",
        shown(&both)
    );
    assert!(!fresh.exists());
    let audit = mainstay(&["scrub", "--audit", out]);
    assert!(audit.status.success(), "{}", shown(&audit));
    let bank = folder.path().join("x.probes.json");
    std::fs::write(&bank, json!({"fixture": "x", "probes": []}).to_string()).unwrap();
    let audit = mainstay(&["scrub", "--audit", bank.to_str().unwrap()]);
    assert!(
        !audit.status.success() && shown(&audit).contains("is a probe bank"),
        "{}",
        shown(&audit)
    );
    let directory = folder.path().join("b");
    let output = mainstay(&["scrub", directory.to_str().unwrap(), "-o", fresh.to_str().unwrap()]);
    assert!(
        !output.status.success() && shown(&output).contains("file of a session is expected"),
        "{}",
        shown(&output)
    );
}
