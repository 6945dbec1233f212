//! Requests as batch files and back: the same run as the live one.

use std::collections::BTreeSet;
use std::path::Path;

use mainstay_tests::examiner::Examiner;
use mainstay_tests::reply::Reply;
use serde_json::Value;
use serde_json::json;

use crate::stage::Stage;
use crate::stage::models;
use crate::stage::own_exam;
use crate::stage::read;
use crate::stage::succeeded;
use crate::stage::text;

const FIXTURES: [&str; 2] = ["config-backup-plan", "debug-revenue-gap"];

/// Does what a provider does with the newest files: every request is answered, in another order, one of them with an error.
fn run_batches(out: &Path, examiner: &Examiner, spoiled: &mut bool) -> usize {
    let mut rounds: Vec<_> = std::fs::read_dir(out)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    rounds.retain(|path| path.is_dir());
    rounds.sort();
    let round = rounds.last().unwrap();
    let mut results = Vec::new();
    let mut ids = BTreeSet::new();
    for entry in std::fs::read_dir(round).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "tsv") {
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        for line in text.lines() {
            let request: Value = serde_json::from_str(line).unwrap();
            ids.insert(request["custom_id"].as_str().unwrap().to_owned());
            let (words, input) = examiner.reply(&request["body"]);
            if !std::mem::replace(spoiled, true) {
                results.push(
                    json!({"custom_id": request["custom_id"], "response": {"status_code": 500, "body":
                    {"error": {"message": "internal"}}}, "error": null}),
                );
                continue;
            }
            let reply = Reply::new(&words).costing(input, (words.len() / 4) as u64);
            let (_, body) = reply.to("/v1/chat/completions", "{}");
            let body: Value = serde_json::from_str(&body).unwrap();
            results.push(json!({"custom_id": request["custom_id"], "response": {"status_code": 200, "body": body}, "error": null}));
        }
    }
    let count = results.len();
    let table = std::fs::read_to_string(round.join("requests.tsv")).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|row| row.split('\t').collect()).collect();
    let named: BTreeSet<String> = rows.iter().map(|row| row[0].to_owned()).collect();
    assert_eq!(named, ids, "every request is in the table, and nothing else");
    for row in &rows {
        let is_summary = row[1] == "summarise";
        assert!(
            row.len() == 8 && FIXTURES.contains(&row[2]) && row[4].is_empty() == is_summary,
            "{row:?}"
        );
    }
    results.reverse();
    let lines: Vec<String> = results.iter().map(Value::to_string).collect();
    std::fs::write(round.with_extension("results.jsonl"), lines.join("\n")).unwrap();
    count
}

#[test]
fn a_batched_run_comes_to_what_the_live_one_does() {
    let exam = read(&own_exam(), &FIXTURES);
    let stage = Stage::new(&own_exam(), Examiner::new(&exam));
    let fixtures = FIXTURES.join(",");
    let arms = ["--arms", "ledger", "hybrid"];
    let shape = [&["--fixtures", &fixtures, "--repeat", "2"][..], &arms].concat();
    succeeded(&stage.run("live", &shape));
    let asked = stage.server.received().len();

    let out = stage.path("batches");
    let out_name = out.display().to_string();
    let examiner = Examiner::new(&exam);
    let first = stage.run("batched", &[&shape[..], &["--batch-out", &out_name]].concat());
    succeeded(&first);
    assert!(text(&first.stdout).contains("--batch-in"), "{}", text(&first.stdout));
    let directory = stage.path("results/batched").display().to_string();
    let (mut rounds, mut answered, mut spoiled) = (0, 0, false);
    while !stage.path("results/batched/report.json").exists() {
        answered += run_batches(&out, &examiner, &mut spoiled);
        rounds += 1;
        assert!(rounds <= 6, "the rounds do not end");
        let mut arguments = vec![
            "run",
            "--resume",
            &directory,
            "--batch-in",
            &out_name,
            "--batch-out",
            &out_name,
        ];
        let models = models();
        arguments.extend(models.iter().map(String::as_str));
        succeeded(&stage.eval(&arguments));
    }
    assert_eq!(stage.server.received().len(), asked, "a batched run asks nobody");
    // One request came to nothing and was handed in again.
    assert_eq!(answered, asked + 1);
    let (mut live, mut batched) = (stage.report("live"), stage.report("batched"));
    for report in [&mut live, &mut batched] {
        report.as_object_mut().unwrap().remove("spent");
    }
    assert_eq!(batched, live);
    // Summaries, what to search for, answers, judgements; and once more for what came to nothing.
    assert!(rounds <= 5, "{rounds}");
}

#[test]
fn batch_files_are_written_and_read_without_a_key() {
    let exam = read(&own_exam(), &FIXTURES[..1]);
    let stage = Stage::new(&own_exam(), Examiner::new(&exam));
    let config = stage.path("config.toml");
    let file = std::fs::read_to_string(&config).unwrap();
    let keyed = file.replace(
        "form = \"openai-chat\"",
        "form = \"openai-chat\"\nkey_env = \"A_KEY_THAT_IS_NOT_SET\"",
    );
    std::fs::write(&config, keyed).unwrap();
    let shape = [
        "--fixtures",
        FIXTURES[0],
        "--repeat",
        "1",
        "--arms",
        "ledger",
        "--no-recall",
    ];
    let live = stage.run("live", &shape);
    assert!(
        text(&live.stderr).contains("A_KEY_THAT_IS_NOT_SET"),
        "{}",
        text(&live.stderr)
    );
    let out = stage.path("batches").display().to_string();
    succeeded(&stage.run("keyless", &[&shape[..], &["--batch-out", &out]].concat()));
    let examiner = Examiner::new(&exam);
    let directory = stage.path("results/keyless").display().to_string();
    let mut spoiled = true;
    for _ in 0..2 {
        run_batches(Path::new(&out), &examiner, &mut spoiled);
        succeeded(&stage.eval(&["run", "--resume", &directory, "--batch-in", &out, "--batch-out", &out]));
    }
    assert!(stage.path("results/keyless/report.json").exists());
    assert!(stage.server.received().is_empty());
}
