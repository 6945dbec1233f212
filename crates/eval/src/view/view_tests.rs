//! Pages of small runs: what stands in their content, and what they say of what is missing.

use std::path::Path;

use serde_json::Value;
use serde_json::json;
use tempfile::TempDir;

use super::*;

/// A run of one fixture with one probe, two arms and one repeat; `samples` are its samples, `texts` its states' texts.
fn run(label: &str, found: [bool; 2], text: &str) -> (TempDir, Run) {
    let directory = tempfile::tempdir().unwrap();
    let write = |path: &str, value: &Value| {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, value.to_string()).unwrap();
    };
    let arm = |name: &str, is_control: bool| json!({"name": name, "spec": "a", "is_control": is_control, "has_recall": false, "digest": "d"});
    write(
        "manifest.json",
        &json!({"version": 1, "label": label, "created": 0, "program": "0", "repeats": 1, "tokenizer": "o200k", "target": "0.1",
            "focus": null, "summarisers": [], "answerer": null, "judge": null, "prompts": [], "seed": 1,
            "fixtures": [{"name": "f", "digest": "x", "probes_digest": "y", "probes": 1, "messages": 2, "tokens": 100}],
            "arms": [arm("ledger", false), arm("keep-last", true)]}),
    );
    let messages = json!([{"role": "user", "content": "the port is 8443"}, {"role": "assistant", "content": "noted"}]);
    write("exam/fixtures/f.json", &json!({"name": "f", "messages": messages}));
    let probe = json!({"id": "p", "type": "recall", "question": "Which port?", "expected_facts": ["8443"], "stale_facts": ["80"],
        "forms": {"8443": ["port 8443"]}, "spans": {"8443": [0, 0]}});
    write("exam/probes/f.probes.json", &json!({"fixture": "f", "probes": [probe]}));
    let mut lines = String::new();
    for (arm, found) in ["ledger", "keep-last"].into_iter().zip(found) {
        let shown = |text: &str, from: Option<usize>| json!({"role": "user", "text": text, "tokens": 50, "from": from});
        write(
            &format!("states/f/{arm}-run-1.json"),
            &json!({"fixture": "f", "arm": arm, "repeat": 1, "tokens_before": 100, "tokens_after": 50, "passes": [], "flaws": [],
                "fates": ["kept", "dropped"], "before": [shown(text, None), shown("noted", None)], "after": [shown(text, Some(0))]}),
        );
        let grade = json!({"facts": [{"fact": "8443", "found": found}], "stale": [], "leaks": []});
        let sample = json!({"fixture": "f", "arm": arm, "repeat": 1, "probe": "p", "type": "recall", "state": grade});
        lines.push_str(&format!("{sample}\n"));
    }
    std::fs::write(directory.path().join("samples.jsonl"), lines).unwrap();
    write("report.json", &json!({}));
    let run = Run::read(directory.path()).unwrap();
    (directory, run)
}

fn exhibit(run: &Run) -> Exhibit<'_> {
    Exhibit { run, cost: None }
}

fn content(page: &Page) -> Value {
    let after = page.html.split("id=\"content\">").nth(1).unwrap();
    serde_json::from_str(after.split("</script>").next().unwrap()).unwrap()
}

fn remove(run: &Run, path: &str) {
    let path = run.directory.join(Path::new(path));
    if path.is_dir() {
        std::fs::remove_dir_all(path).unwrap();
    } else {
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_whole_run_is_shown_without_notes_and_every_text_stands_once() {
    let (_directory, run) = run("one", [true, false], "the port is 8443");
    let page = page(&exhibit(&run), None, &[]);
    assert_eq!(page.notes, Vec::<String>::new());
    let content = content(&page);
    let shown = &content["runs"][0];
    assert_eq!(content["texts"], json!(["the port is 8443", "noted"]));
    assert_eq!(
        shown["probes"][0]["facts"],
        json!([{"fact": "8443", "forms": ["8443", "port 8443"], "span": [0, 0]}])
    );
    assert_eq!(shown["samples"][0]["state"], json!({"found": "1"}));
    assert_eq!(shown["states"][0]["fates"], json!("kd"));
    let point = &shown["figures"]["tradeoff"][1];
    assert_eq!(
        (&point["tokens"]["mean"], &point["recall"]["mean"]),
        (&json!(0.5), &json!(0.0))
    );
    let verdict = content["verdicts"][0]["text"].as_str().unwrap();
    assert!(
        verdict.starts_with("ledger leaves 100 % of the facts in 50 % of the tokens"),
        "{verdict}"
    );
}

#[test]
fn the_same_run_gives_the_same_page() {
    let (_directory, run) = run("one", [true, false], "the port is 8443");
    assert_eq!(
        page(&exhibit(&run), None, &[]).html,
        page(&exhibit(&run), None, &[]).html
    );
}

#[test]
fn what_is_missing_is_said_and_the_rest_is_shown() {
    let (_directory, run) = run("one", [true, false], "the port is 8443");
    remove(&run, "report.json");
    remove(&run, "exam");
    remove(&run, "states/f/ledger-run-1.json");
    let run = Run::read(&run.directory).unwrap();
    let page = page(&exhibit(&run), None, &[]);
    for said in [
        "the run is incomplete",
        "questions are missing",
        "states that cannot be read: 1; the first is states/f/ledger-run-1.json",
    ] {
        assert!(
            page.notes.iter().any(|note| note.contains(said)),
            "{said}: {:?}",
            page.notes
        );
    }
    let content = content(&page);
    let shown = &content["runs"][0];
    assert_eq!(shown["probes"][0]["facts"][0]["fact"], json!("8443"));
    assert_eq!(shown["probes"][0]["question"], Value::Null);
    assert_eq!(shown["samples"].as_array().unwrap().len(), 2);
    assert_eq!(shown["figures"]["tradeoff"].as_array().unwrap().len(), 1);
}

#[test]
fn a_page_has_a_size() {
    let (_directory, run) = run("one", [true, false], &"word ".repeat(2000));
    let page = page_within(5000, &exhibit(&run), None, &[]);
    assert!(
        page.notes.iter().any(|note| note.contains("too large")),
        "{:?}",
        page.notes
    );
    let content = content(&page);
    assert_eq!(content["runs"][0]["states"][0]["after"], Value::Null);
    assert_eq!(content["runs"][0]["fixtures"][0]["before"][0]["text"], Value::Null);
    assert_eq!(content["texts"], json!(["noted"]));
}

#[test]
fn two_runs_are_compared_and_given_verdicts_stand_first() {
    let (_first, first) = run("one", [true, true], "the port is 8443");
    let (_second, second) = run("two", [false, true], "the port is 8443");
    let page = page(&exhibit(&first), Some(&exhibit(&second)), &[]);
    let shown = content(&page);
    let rows = &shown["comparison"]["dimensions"][0]["rows"];
    assert_eq!((&rows[0]["mean"], &rows[1]["mean"]), (&json!(-1.0), &json!(0.0)));
    assert_eq!(shown["comparison"]["dimensions"][0]["least"], json!(-1.0));
    let verdict = Verdict {
        tone: Tone::Noise,
        text: "within noise".to_owned(),
    };
    let given = super::page(&exhibit(&first), Some(&exhibit(&second)), &[verdict]);
    assert_eq!(
        content(&given)["verdicts"],
        json!([{"tone": "noise", "text": "within noise"}])
    );
    assert!(given.html.contains("<title>one against two</title>"));
}
