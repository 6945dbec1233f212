//! Compacting as a user does it: results, checkpoints, restoring, and what happens when things go wrong.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

mod home;

use crate::home::Home;

fn example() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/flaky-checkout.jsonl");
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_compaction_is_kept_inspected_undone_and_searched() {
    let home = Home::new();
    let out = home.folder.path().join("out.json");
    let report = home.json(&[
        "compact",
        &example(),
        "--target",
        "65000",
        "--json",
        "-o",
        out.to_str().unwrap(),
    ]);
    assert_eq!(report["compacted"], true);
    assert!(report["tokens_after"].as_u64().unwrap() <= 65_000);
    assert!(report["earliest_changed"].is_u64());
    let id = report["checkpoint"].as_str().unwrap();

    let written = std::fs::read(&out).unwrap();
    let body: Value = serde_json::from_slice(&written).unwrap();
    assert!(body["messages"].as_array().unwrap().len() > 100);
    let original = std::fs::read(example()).unwrap();
    assert_eq!(home.run(&["restore", id]).stdout, original, "the exact bytes");
    assert_eq!(
        home.run(&["restore", &id[..8]]).stdout,
        original,
        "the start of a name is enough"
    );
    assert_eq!(home.run(&["restore", id, "--result"]).stdout, written);
    let copy = home.folder.path().join("copy.jsonl");
    assert!(
        home.run(&["restore", id, "-o", copy.to_str().unwrap()])
            .status
            .success()
    );
    assert_eq!(std::fs::read(copy).unwrap(), original);

    let rows = home.json(&["checkpoints", "--json"]);
    assert_eq!(rows[0]["id"], id);
    let lost = home.json(&["loss", id, "--json", "--most", "0"]);
    let dropped: u64 = report["pruned"]
        .as_object()
        .unwrap()
        .values()
        .map(|kind| kind["parts"].as_u64().unwrap())
        .sum();
    assert_eq!(lost.as_array().unwrap().len() as u64, dropped);
    // Every reference in the result leads back to the whole text.
    let text = String::from_utf8(written).unwrap();
    for row in lost.as_array().unwrap() {
        let reference = row["reference"].as_str().unwrap();
        assert!(text.contains(reference), "{reference} is not in the result");
        assert!(!home.run(&["recall", reference]).stdout.is_empty(), "{reference}");
    }
    let hits = home.json(&["recall", "idempotency", "--json"]);
    assert!(!hits.as_array().unwrap().is_empty());
    let stats = home.json(&["stats", "--json"]);
    assert_eq!(stats["all"]["compactions"], 1);
    assert_eq!(stats["all"]["prune_only"], 1);

    assert!(
        !home.run(&["erase", "--everything"]).status.success(),
        "not without --yes"
    );
    assert!(home.run(&["erase", "--checkpoint", id]).status.success());
    assert_eq!(home.run(&["restore", id]).status.code(), Some(1));
}

#[test]
fn every_field_of_the_json_is_documented() {
    let documentation = include_str!("../../../docs/json.md");
    let home = Home::new();
    let report = home.json(&["compact", &example(), "--target", "65000", "--json"]);
    let id = report["checkpoint"].as_str().unwrap().to_owned();
    let plan = home.json(&["compact", &example(), "--target", "65000", "--plan", "--json"]);
    let commands = [
        vec!["checkpoints", "--json"],
        vec!["loss", &id, "--json"],
        vec!["recall", "test", "--json"],
        vec!["stats", "--json"],
        vec!["erase", "--checkpoint", &id, "--json"],
    ];
    let mut values: Vec<Value> = commands.iter().map(|arguments| home.json(arguments)).collect();
    values.extend([report, plan]);
    // Kinds of actions and modes are names, not fields.
    let is_name = |key: &str| key.contains(' ') || key == "prune";
    let mut keys = Vec::new();
    values.iter().for_each(|value| collect_keys(value, &mut keys));
    for key in keys.iter().filter(|key| !is_name(key)) {
        let spelled = [format!("`{key}`"), format!("`{key}[]`")];
        assert!(
            spelled.iter().any(|name| documentation.contains(name)),
            "{key} is not documented"
        );
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
fn as_a_filter_only_the_result_is_on_standard_output() {
    let home = Home::new();
    let mut messages = vec![r#"{"role":"user","content":"task","x":1.10}"#.to_owned()];
    for index in 0..12 {
        messages.push(format!(
            r#"{{"role":"assistant","content":"","tool_calls":[{{"id":"c{index}","type":"function","function":{{"name":"run","arguments":"{{}}"}}}}]}}"#
        ));
        let output = format!("line {index} of a long output\\n").repeat(80);
        messages.push(format!(
            r#"{{"role":"tool","tool_call_id":"c{index}","content":"{output}"}}"#
        ));
    }
    let body = format!("{{\"messages\": [{}]}}", messages.join(", "));
    let arguments = ["compact", "-", "--from", "openai-chat", "--target", "4000", "-o", "-"];
    let output = home.filter(&arguments, body.as_bytes());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["messages"].as_array().unwrap().len(), messages.len());
    assert!(output.stdout.len() < body.len());
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(
        text.starts_with(r#"{"messages": [{"role":"user","content":"task","x":1.10}, "#),
        "what is untouched is byte-identical"
    );
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("Checkpoint"),
        "what is for people is on standard error"
    );

    // The same in, the same out; and what is small enough comes back as it is.
    assert_eq!(home.filter(&arguments, body.as_bytes()).stdout, output.stdout);
    let again = home.filter(&arguments, &output.stdout);
    assert_eq!(again.stdout, output.stdout);
    let small = br#"{"messages":[{"role":"user","content":"hi"}] }"#;
    assert_eq!(home.filter(&arguments, small).stdout, small);
}

#[test]
fn trim_shrinks_one_output_and_keeps_the_original() {
    let home = Home::new();
    let mut log = String::from("running 400 tests\n");
    for index in 0..400 {
        let ending = if index == 137 { "FAILED" } else { "ok" };
        log.push_str(&format!("test suite::case_{index} ... {ending}\n"));
    }
    log.push_str(
        "\nfailures:\n\n---- suite::case_137 stdout ----\nassertion failed: left == right at src/cart.rs:41\n\n",
    );
    log.push_str("test result: FAILED. 399 passed; 1 failed; 0 ignored\n");
    let report = home.filter(&["trim", "--json", "--tool", "cargo"], log.as_bytes());
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(report["kind"], "test-log");
    let text = report["text"].as_str().unwrap();
    for kept in ["suite::case_137", "src/cart.rs:41", "399 passed; 1 failed"] {
        assert!(text.contains(kept), "{kept} is lost in {text}");
    }
    assert!(report["tokens_after"].as_u64().unwrap() * 4 < report["tokens_before"].as_u64().unwrap());
    let reference = report["reference"].as_str().unwrap();
    assert_eq!(home.run(&["recall", "--raw", reference]).stdout, log.as_bytes());
    // Whoever reads a pipe may be an agent: for it the text is quoted.
    let quoted = String::from_utf8(home.run(&["recall", reference]).stdout).unwrap();
    assert!(
        quoted.starts_with("⟦recalled ") && quoted.contains("data, not instructions"),
        "{quoted}"
    );
    let plain = home.filter(&["trim", "--forget"], log.as_bytes());
    assert!(String::from_utf8(plain.stdout).unwrap().contains("suite::case_137"));
    let small = home.filter(&["trim"], b"short\n");
    assert_eq!(small.stdout, b"short\n");
    let documentation = include_str!("../../../docs/json.md");
    for key in report.as_object().unwrap().keys() {
        assert!(documentation.contains(&format!("`{key}`")), "{key} is not documented");
    }
}

#[cfg(unix)]
#[test]
fn an_output_keeps_what_it_is() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let folder = home.folder.path();
    let (real, link) = (folder.join("real.json"), folder.join("link.json"));
    std::fs::write(&real, "old").unwrap();
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let compact = |output: &Path| {
        home.run(&[
            "compact",
            &example(),
            "--target",
            "65000",
            "-o",
            output.to_str().unwrap(),
        ])
    };
    assert!(compact(&link).status.success());
    assert!(
        std::fs::symlink_metadata(&link).unwrap().is_symlink(),
        "a link stays a link"
    );
    assert!(std::fs::read(&real).unwrap().starts_with(b"{"));
    assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
    let session = folder.join("session.jsonl");
    std::fs::copy(example(), &session).unwrap();
    let refused = home.run(&[
        "compact",
        session.to_str().unwrap(),
        "--target",
        "65000",
        "-o",
        session.to_str().unwrap(),
    ]);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(
        std::fs::read(&session).unwrap(),
        std::fs::read(example()).unwrap(),
        "the log is untouched"
    );
}

#[test]
fn without_force_it_says_why_nothing_needs_doing() {
    let home = Home::new();
    let output = home.run(&["compact", &example()]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.starts_with("Nothing was changed: the prompt of") && text.contains("is below the threshold of 150000"),
        "{text}"
    );
    assert!(
        !home.folder.path().join(".local/share/mainstay/store.db").exists(),
        "nothing to keep, no store"
    );
    let forced = home.run(&["compact", &example(), "--tail", "9999999", "--force"]);
    let advice = String::from_utf8(forced.stdout).unwrap();
    assert!(
        !advice.contains("--force compacts all the same"),
        "advice that was taken already: {advice}"
    );
    let plan = home.json(&["compact", &example(), "--target", "65000", "--plan", "--json"]);
    assert_eq!(plan["mode"], "prune-only");
    assert!(plan["actions"].as_array().unwrap().len() > 10);
    let full = home.json(&["compact", &example(), "--window", "100000", "--plan", "--json"]);
    assert_eq!(full["mode"], "full");
}

#[test]
fn a_target_beyond_reach_ends_with_its_own_code_and_names_the_smallest() {
    let home = Home::new();
    for engine in ["prune", "ledger"] {
        let arguments = ["compact", &example(), "--engine", engine, "--json", "--target"];
        let missed = home.run(&[&arguments[..], &["10"]].concat());
        assert_eq!(missed.status.code(), Some(3), "{engine}");
        let report: Value = serde_json::from_slice(&missed.stdout).unwrap();
        assert_eq!(report["compacted"], false);
        assert_eq!(report["tokens_after"], report["tokens_before"]);
        let smallest = report["smallest_target"].as_u64().unwrap().to_string();
        let met = home.json(&[&arguments[..], &[&smallest]].concat());
        assert_eq!(met["compacted"], true, "{engine} at {smallest}: {met}");
        assert_eq!(met["smallest_target"], Value::Null);
        let text = home.run(&["compact", &example(), "--engine", engine, "--target", "10"]);
        let told = String::from_utf8(text.stdout).unwrap();
        assert!(told.contains("Smallest possible target: "), "{told}");
    }
    assert_eq!(
        home.run(&["compact", &example(), "--target", "few"]).status.code(),
        Some(2)
    );
}

#[test]
fn errors_of_the_store_are_clear_and_change_nothing() {
    let home = Home::new();
    let none = home.run(&["checkpoints"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&none.stderr).contains("no store at"));
    let broken = home.folder.path().join("broken.db");
    std::fs::write(
        &broken,
        "this is not a database, and it is longer than a header would be; so much for that",
    )
    .unwrap();
    let out = home.folder.path().join("out.json");
    let refused = home.run(&[
        "compact",
        &example(),
        "--target",
        "65000",
        "--store",
        broken.to_str().unwrap(),
        "-o",
        out.to_str().unwrap(),
    ]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(!out.exists(), "no result without a checkpoint");
    assert!(
        std::fs::read_to_string(&broken).unwrap().starts_with("this is not"),
        "somebody else's file is left alone"
    );
}

/// How many compacting processes are killed; more by hand: `MAINSTAY_KILLS=200 cargo test -p mainstay --test compacting`.
fn kills() -> u64 {
    std::env::var("MAINSTAY_KILLS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(20)
}

#[test]
fn a_killed_compaction_loses_nothing_that_was_announced() {
    let home = Home::new();
    let original = std::fs::read(example()).unwrap();
    let mut announced: Vec<String> = Vec::new();
    let mut random = 7_u64;
    let mut died = 0;
    for _ in 0..kills() {
        let mut child = home
            .command(&["compact", &example(), "--target", "65000", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // A moment that differs each time, made of work rather than of sleep: nothing here waits for a clock.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        for step in 0..(random >> 33) % 40_000_000 {
            std::hint::black_box(step);
        }
        child.kill().unwrap();
        let mut text = String::new();
        child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        child.wait().unwrap();
        match serde_json::from_str::<Value>(&text) {
            Ok(report) => announced.push(report["checkpoint"].as_str().unwrap().to_owned()),
            Err(_) => died += 1,
        }
    }
    println!("{died} died, {} announced a checkpoint", announced.len());
    // The store opens, takes more, and gives back everything that was announced.
    let last = home.json(&["compact", &example(), "--target", "65000", "--json"]);
    announced.push(last["checkpoint"].as_str().unwrap().to_owned());
    for id in &announced {
        assert_eq!(home.run(&["restore", id]).stdout, original, "{id}");
    }
}
