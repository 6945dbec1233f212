//! `mainstay eval compare` and `mainstay eval noise` as a user meets them.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;
use std::process::Output;
use std::process::Stdio;

use mainstay_tests::runs;
use mainstay_tests::runs::Cell;
use mainstay_tests::runs::Place;
use mainstay_tests::runs::Plan;
use serde_json::Value;

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

/// Writes a run and gives its directory. Scores waver a little with place and `mood`, which differs from run to run.
fn written(folder: &Path, plan: &Plan, mood: usize, mut change: impl FnMut(&Place<'_>, &mut Cell)) -> String {
    let run = runs::run(plan, |place| {
        let wavers = (place.fixture * 7 + place.probe * 3 + place.repeat as usize * (5 + mood)) % 3;
        let mut cell = Cell::scored(3.5 + wavers as f64 / 2.0);
        change(place, &mut cell);
        cell
    });
    let directory = folder.join(&plan.label);
    runs::write(&run, &directory, |_, _| Vec::new()).unwrap();
    directory.to_str().unwrap().to_owned()
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

fn is_documented(value: &Value) {
    let documentation = include_str!("../../../docs/json.md");
    let mut keys = Vec::new();
    collect_keys(value, &mut keys);
    for key in keys {
        assert!(documentation.contains(&format!("`{key}`")), "{key} is not documented");
    }
}

#[test]
fn a_regression_is_named_and_ends_with_100() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan::default();
    let before = written(folder.path(), &plan.called("before"), 0, |_, _| {});
    let after = written(folder.path(), &plan.called("after"), 1, |place, cell| {
        cell.scores[2] -= 1.0 + (place.fixture % 3) as f64 / 10.0;
        if place.fixture == 1 && place.probe == 2 {
            cell.facts = 1;
            cell.scores = [1.0; 6];
            cell.reason = "no path \u{1b}[2J is named".to_owned();
        }
    });
    let output = mainstay(&["eval", "compare", &before, &after, "--fail-on-regression"]);
    assert_eq!(output.status.code(), Some(100), "{}", err(&output));
    let text = out(&output);
    assert!(text.trim_start().starts_with("before → after: worse"), "{text}");
    for words in [
        "worse: ledger artifact_trail -1.",
        "within noise",
        "the answer lost “value-1-2-1”, but not the state",
        "the judge after: no path",
        "11 fixtures are the same in both",
    ] {
        assert!(text.contains(words), "no {words:?} in\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "{text}");
    assert!(err(&output).contains("artifact_trail"), "{}", err(&output));
    let output = mainstay(&["eval", "compare", &before, &after, "--json"]);
    assert!(output.status.success(), "without the gate it is a report");
    let comparison: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(comparison["verdict"], "worse");
    assert_eq!(comparison["regressions"][0]["measure"], "artifact_trail");
    is_documented(&comparison);
    let output = mainstay(&["eval", "compare", &before, &after, "--markdown"]);
    assert!(out(&output).contains("| artifact_trail | worse |"), "{}", out(&output));
    let output = mainstay(&["eval", "compare", &after, &before, "--fail-on-regression"]);
    assert!(output.status.success(), "{}", err(&output));
    assert!(out(&output).trim_start().starts_with("after → before: better"));
}

#[test]
fn a_flawed_state_fails_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan {
        judge: None,
        repeats: 1,
        ..Plan::default()
    };
    let before = written(folder.path(), &plan.called("before"), 0, |_, _| {});
    let run = runs::run(&plan.called("after"), |_| Cell::scored(4.0));
    let after = folder.path().join("after");
    let flaws = |fixture: usize, _: &str| match fixture {
        3 => vec!["orphan-result: message 4".to_owned()],
        _ => Vec::new(),
    };
    runs::write(&run, &after, flaws).unwrap();
    let output = mainstay(&[
        "eval",
        "compare",
        &before,
        after.to_str().unwrap(),
        "--fail-on-regression",
    ]);
    assert_eq!(output.status.code(), Some(100), "{}", err(&output));
    assert!(
        out(&output).contains("new: fixture-03: orphan-result"),
        "{}",
        out(&output)
    );
    assert!(err(&output).contains("ledger flaws: 1 new"), "{}", err(&output));
}

#[test]
fn noise_is_measured_and_used() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan::default();
    let one = written(folder.path(), &plan.called("one"), 0, |_, _| {});
    let two = written(folder.path(), &plan.called("two"), 1, |_, _| {});
    let file = folder.path().join("noise.json");
    let output = mainstay(&["eval", "noise", &one, &two, "-o", file.to_str().unwrap()]);
    assert!(output.status.success(), "{}", err(&output));
    let text = out(&output);
    for words in ["one, two", "accuracy", "FLOOR", "FOR 0.3"] {
        assert!(text.contains(words), "no {words:?} in\n{text}");
    }
    let noise: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    is_documented(&noise);
    let compare = [
        "eval",
        "compare",
        &one,
        &two,
        "--noise",
        file.to_str().unwrap(),
        "--json",
    ];
    let output = mainstay(&compare);
    assert!(output.status.success(), "{}", err(&output));
    let comparison: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(comparison["floor"]["is_measured"], true);
    assert_eq!(comparison["verdict"], "within-noise");
}

#[test]
fn what_is_asked_wrongly_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan {
        arms: vec!["ledger".to_owned(), "keep-last".to_owned()],
        repeats: 1,
        ..Plan::default()
    };
    let run = written(folder.path(), &plan.called("run"), 0, |place, cell| {
        if place.arm == "keep-last" {
            cell.scores = [1.0; 6];
        }
    });
    let judged = Plan {
        judge: Some("judge-2".to_owned()),
        ..plan.called("judged")
    };
    let judged = written(folder.path(), &judged, 0, |_, _| {});
    let output = mainstay(&["eval", "compare", &run, "--arms", "keep-last,ledger"]);
    assert!(output.status.success(), "{}", err(&output));
    assert!(out(&output).contains("keep-last → ledger"), "{}", out(&output));
    for (arguments, code, words) in [
        (vec!["eval", "compare", &run], 2, "required"),
        (vec!["eval", "compare", &run, "/nonexistent"], 1, "nonexistent"),
        (vec!["eval", "compare", &run, &judged], 1, "--allow-other-judge"),
        (vec!["eval", "compare", &run, "--arms", "ledger,none"], 1, "keep-last"),
        (vec!["eval", "compare", &run, "--arms", "ledger"], 2, "comma"),
        (vec!["eval", "compare", &run, &run, "--floor", "7"], 2, "0 to 5"),
        (vec!["eval", "noise", &run], 1, "repeats"),
        (vec!["eval", "noise", &run, &judged], 1, "judge"),
    ] {
        let output = mainstay(&arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", err(&output));
        assert!(err(&output).contains(words), "{arguments:?}: {}", err(&output));
    }
}
