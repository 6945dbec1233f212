//! `mainstay replay` as a user meets it: text, JSON, CSV, a page, the check, and what it says to bad input.
#![allow(clippy::unwrap_used)]

mod home;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Output;

use home::Home;
use home::assert_documented;
use home::documentation;
use home::err;
use home::example;
use home::out;
use serde_json::Value;
use serde_json::json;

/// Columns that the report has on a usual terminal.
const WIDEST: usize = 120;

/// A trajectory in which tools say much and the agent comes back to some of it.
fn trajectory(id: &str, steps: usize) -> String {
    let mut messages = vec![json!({"role": "user", "content": "repair the importer in src/import/reader.rs"})];
    for step in 0..steps {
        let call = format!("{id}-c{step}");
        let arguments = json!({"path": format!("src/import/part_{step}.rs")}).to_string();
        messages.push(
            json!({"role": "assistant", "content": format!("then field_{}_value again", step / 2),
            "tool_calls": [{"id": call, "name": "read", "arguments": arguments}]}),
        );
        let filler = format!("row {step}: nothing of note here, only words and words again\n").repeat(25);
        let text = format!("field_{step}_value = {}\nlimit_{step}_of_rows\n{filler}", 1000 + step);
        messages.push(json!({"role": "tool", "tool_call_id": call, "content": text}));
    }
    messages.push(json!({"role": "assistant", "content": "done"}));
    let record = json!({"id": id, "source": "made", "format": "made", "model": "gpt-5.5", "tokens": 0, "compactions": [],
        "messages": messages});
    format!("{record}\n")
}

/// Sessions of different lengths in one file.
fn sessions(folder: &Path) -> String {
    let path = folder.join("made.jsonl");
    let lines: String = (0..6)
        .map(|session| trajectory(&format!("s{session}"), 12 + session * 2))
        .collect();
    std::fs::write(&path, lines).unwrap();
    path.to_str().unwrap().to_owned()
}

fn file(home: &Home, name: &str, content: &str) -> String {
    let path = home.folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

fn succeeded(output: &Output) -> String {
    assert!(output.status.success(), "{}", err(output));
    out(output)
}

/// It failed with this code, said all of these words, and printed nothing else.
fn assert_refused(output: &Output, code: i32, words: &[&str]) {
    let said = err(output);
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert_eq!(out(output), "");
    assert!(!said.contains("panicked"), "{said}");
    for word in words {
        assert!(said.contains(word), "no {word:?} in {said}");
    }
}

#[test]
fn the_examples_are_replayed_with_the_profiles_of_their_models() {
    let home = Home::new();
    let output = home.run(&["replay", &example("")]);
    let text = succeeded(&output);
    let words = [
        "3 sessions, 108 requests",
        "claude-code-sonnet-4.5",
        "openai-gpt-5.5",
        "for the recorded models",
        "the best baseline",
        "AGAINST *",
        "95 % intervals",
        "over 3 sessions: too few",
        "of the identifiers that the agent went on to use",
    ];
    // Sentences are broken where lines end.
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in words {
        assert!(flat.contains(word), "no {word:?} in\n{text}");
    }
    for line in text.lines() {
        assert!(line.chars().count() <= WIDEST, "{line}");
    }
    assert!(!text.contains('\u{1b}'), "no colours where there is no terminal");
    // What is no session in the folder is told in a line, not in one a file.
    let said = err(&output);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(
        said.contains("more: no conversation format matches") && !said.contains("--from"),
        "{said}"
    );
}

#[test]
fn a_verdict_says_which_of_ours_costs_how_much_less_at_which_retention() {
    let home = Home::new();
    let sessions = sessions(home.folder.path());
    let arguments = [
        "replay",
        &sessions,
        "--profile",
        "openai-gpt-5.5",
        "--window",
        "6000",
        "--optimum",
    ];
    let text = succeeded(&home.run(&arguments));
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("6 sessions"), "{text}");
    assert!(flat.contains("ABOVE OPT."), "{text}");
    let verdict = flat.split(" costs ").nth(1).unwrap();
    assert!(verdict.contains("the best baseline: $"), "{text}");
    assert!(verdict.contains("over 6 sessions"), "{text}");
    assert!(verdict.contains("It keeps "), "{text}");
    assert_eq!(
        text.lines().filter(|line| line.contains(" * ")).count(),
        3 + 1,
        "{text}"
    );
    // Nothing fits, and it says so.
    let arguments = ["replay", &sessions, "--profile", "openai-gpt-5.5", "--window", "1000"];
    let text = succeeded(&home.run(&arguments));
    assert!(
        text.contains("No policy kept every prompt within the window of 1,000 tokens"),
        "{text}"
    );
}

#[test]
fn the_json_is_documented_and_the_csv_adds_up_to_it() {
    let home = Home::new();
    let sessions = sessions(home.folder.path());
    let path = home.folder.path().join("replay.csv");
    let csv = path.to_str().unwrap();
    let arguments = [
        "replay",
        &sessions,
        "--profile",
        "openai-gpt-5.5,anthropic-haiku-5.5",
        "--window",
        "6000",
    ];
    let report = home.json(&[&arguments[..], &["--optimum", "--json", "--csv", csv]].concat());
    assert_documented(&report, documentation("`mainstay replay --json`"));
    assert_eq!(report["sessions"], 6);
    assert_eq!(report["unread"], 0);
    assert_eq!(report["window"], 6000);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut rows = text
        .split_terminator("\r\n")
        .map(|line| line.split(',').collect::<Vec<_>>());
    let names = rows.next().unwrap();
    let column = |name: &str| names.iter().position(|known| *known == name).unwrap();
    let mut sums: BTreeMap<(String, String), [f64; 4]> = BTreeMap::new();
    for row in rows {
        assert_eq!(row.len(), names.len());
        let key = (row[column("profile")].to_owned(), row[column("policy")].to_owned());
        let sum = sums.entry(key).or_default();
        let figures = ["total", "requests", "passes", "cache_read"];
        for (sum, name) in sum.iter_mut().zip(figures) {
            *sum += row[column(name)].parse::<f64>().unwrap();
        }
    }
    let mut passes = 0.0;
    for profile in report["profiles"].as_array().unwrap() {
        for policy in profile["policies"].as_array().unwrap() {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let sum = sums
                .remove(&(text(&profile["profile"]), text(&policy["policy"])))
                .unwrap();
            let said = [
                &policy["total"],
                &report["requests"],
                &policy["cadence"]["passes"],
                &policy["bill"]["cache_read"],
            ];
            for (sum, said) in sum.into_iter().zip(said) {
                let said = said.as_f64().unwrap();
                assert!((sum - said).abs() <= 1e-9 * said.max(1.0), "{policy:?}");
            }
            passes += sum[2];
            let parts: f64 = policy["bill"]
                .as_object()
                .unwrap()
                .values()
                .filter_map(Value::as_f64)
                .sum();
            assert!((parts - sum[0]).abs() < 1e-9);
        }
    }
    assert!(sums.is_empty() && passes > 0.0);
}

#[test]
fn a_page_is_written_and_standard_output_has_one_thing() {
    let home = Home::new();
    let sessions = sessions(home.folder.path());
    let path = home.folder.path().join("replay.html");
    let arguments = [
        "replay",
        &sessions,
        "--profile",
        "openai-gpt-5.5",
        "--policies",
        "economic",
    ];
    let page = ["--html", path.to_str().unwrap()];
    let text = succeeded(&home.run(&[&arguments[..], &page].concat()));
    assert!(text.starts_with("6 sessions"), "{text}");
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("</html>") && page.contains("economic"));
    // The CSV alone; what is for people goes elsewhere.
    let output = home.run(&[&arguments[..], &["--csv", "-"]].concat());
    let csv = succeeded(&output);
    assert!(csv.lines().all(|line| line.split(',').count() == 16), "{csv}");
    assert_eq!(csv.lines().count(), 1 + 6 * 7);
    assert!(err(&output).contains("the best baseline"));
    let output = home.run(&[&arguments[..], &["--csv", "-", "--json"]].concat());
    assert_refused(&output, 1, &["only one of", "standard output"]);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let home = Home::new();
    let sessions = sessions(home.folder.path());
    let run = |jobs: &str| {
        let common = [
            "replay",
            &sessions,
            &example("support-desk.json"),
            "--window",
            "6000",
            "--json",
        ];
        succeeded(
            &home.run(
                &[
                    &common[..],
                    &["--profile", "openai-gpt-5.5,claude-code-opus-5.5", "--jobs", jobs],
                ]
                .concat(),
            ),
        )
    };
    assert_eq!(run("1"), run("4"));
}

#[test]
fn predictions_are_held_against_what_was_reported() {
    let home = Home::new();
    let check = [
        "replay",
        "--check",
        &example("flaky-checkout.jsonl"),
        &example("refactor.rollout.jsonl"),
    ];
    let text = succeeded(&home.run(&check));
    for word in [
        "claude-code: 1 session, 53 requests",
        "codex: 1 session",
        "PREDICTED",
        "cache write",
    ] {
        assert!(text.contains(word), "no {word:?} in\n{text}");
    }
    let report = home.json(&[&check[..], &["--json"]].concat());
    assert_documented(&report, documentation("`mainstay replay --check --json`"));
    let agents = report["agents"].as_array().unwrap();
    assert_eq!(agents.len(), 2);
    for agent in agents {
        let error = agent["input"]["error"].as_f64().unwrap();
        assert!(error.abs() < 0.05, "{error}");
        let all: f64 = agent["by_session"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|one| one["reported"]["input"].as_f64())
            .sum();
        assert_eq!(agent["input"]["reported"].as_f64(), Some(all));
    }
    let output = home.run(&["replay", "--check", &example("support-desk.json")]);
    assert_refused(&output, 1, &["no session has reports", "Claude Code and Codex"]);
    assert_refused(
        &home.run(&[&check[..], &["--window", "5000"]].concat()),
        2,
        &["--check", "--window"],
    );
}

#[test]
fn profiles_are_listed_and_can_be_named() {
    let home = Home::new();
    let text = succeeded(&home.run(&["replay", "--profiles"]));
    assert!(
        text.contains("anthropic-haiku-5.5") && text.contains("100k: x5 / x5"),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= WIDEST), "{text}");
    let profiles = home.json(&["replay", "--profiles", "--json"]);
    assert_documented(&profiles, documentation("`mainstay replay --profiles --json`"));
    let names: Vec<_> = profiles
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert!(names.iter().all(|name| text.contains(name)), "{names:?}");
    // Named twice is once; a model that has no row in the table has a name, too.
    let session = example("support-desk.json");
    let chosen = "openai-gpt-5.5,claude-code-sonnet-4.5,openai-gpt-5.5";
    let report = home.json(&[
        "replay",
        &session,
        "--json",
        "--policies",
        "baselines",
        "--profile",
        chosen,
    ]);
    let profiles = report["profiles"].as_array().unwrap().iter();
    let replayed: Vec<_> = profiles.map(|one| one["profile"].as_str().unwrap()).collect();
    assert_eq!(replayed, ["openai-gpt-5.5", "claude-code-sonnet-4.5"]);
    assert_eq!(report["profiles"][0]["policies"].as_array().unwrap().len(), 6);
}

#[test]
fn sessions_are_joined_and_read_from_standard_input() {
    let home = Home::new();
    let sessions = sessions(home.folder.path());
    let rest = ["--profile", "openai-gpt-5.5", "--json"];
    let joined = home.json(&[&["replay", &sessions, "--join", "12000"], &rest[..]].concat());
    let alone = home.json(&[&["replay", &sessions], &rest[..]].concat());
    assert_eq!(joined["requests"], alone["requests"]);
    assert!(joined["sessions"].as_u64() < alone["sessions"].as_u64());
    let output = home.run(&["replay", &sessions, "--join", "999999999999"]);
    assert_refused(&output, 1, &["--join 999999999999", "ask for fewer"]);
    let bytes = std::fs::read(&sessions).unwrap();
    let piped = home.filter(&[&["replay", "-"], &rest[..]].concat(), &bytes);
    let piped: Value = serde_json::from_str(&succeeded(&piped)).unwrap();
    assert_eq!(piped["profiles"], alone["profiles"]);
    let session = std::fs::read(example("support-desk.json")).unwrap();
    let piped = home.filter(&[&["replay", "-"], &rest[..]].concat(), &session);
    assert!(succeeded(&piped).contains("\"requests\": 27"));
    assert_refused(&home.filter(&["replay", "-"], b""), 1, &["standard input: it is empty"]);
}

#[test]
fn bad_input_is_named_with_what_to_do() {
    let home = Home::new();
    let folder = home.folder.path().to_str().unwrap().to_owned();
    let session = example("support-desk.json");
    let none = home.folder.path().join("none");
    let refused = |arguments: &[&str], code: i32, words: &[&str]| {
        assert_refused(&home.run(&[&["replay"], arguments].concat()), code, words);
    };
    refused(&[], 2, &["PATHS", "--help"]);
    refused(&[none.to_str().unwrap()], 1, &["none: No such file"]);
    refused(&[&folder], 1, &[&folder, "no session to replay", "nothing is in there"]);
    refused(
        &[&session, "--profile", "openai-gpt5.5"],
        1,
        &["did you mean \"openai-gpt-5.5\"", "--profiles"],
    );
    refused(
        &[&session, "--policies", "economical"],
        1,
        &["did you mean \"economic\"", "never", "all"],
    );
    refused(&[&session, "--summariser", "x"], 1, &["no profile \"x\""]);
    refused(&[&session, "--window", "0"], 2, &["--window", "at least 1000 tokens"]);
    refused(
        &[&session, "--threshold", "0"],
        2,
        &["--threshold", "above 0 and at most 1"],
    );
    refused(&[&session, "--jobs", "0"], 2, &["--jobs", "at least 1"]);
    refused(&[&session, "--forgetting", "NaN"], 2, &["--forgetting", "not below 0"]);
    refused(
        &[&session, "--min-tokens", "1000000"],
        1,
        &["1 session is shorter than --min-tokens 1000000"],
    );
    let text = file(&home, "notes.txt", "nothing but words\n");
    refused(&[&text], 1, &["notes.txt: no conversation format matches"]);
    let one = file(
        &home,
        "one.json",
        r#"{"model":"gpt-5.5","messages":[{"role":"user","content":"hi"}]}"#,
    );
    refused(
        &[&one],
        1,
        &["one.json: no model was asked anything in it", "no session to replay"],
    );
}

#[test]
fn damage_costs_only_itself_and_is_told() {
    let home = Home::new();
    let good = std::fs::read_to_string(example("flaky-checkout.jsonl")).unwrap();
    let lines: Vec<&str> = good.lines().take(60).collect();
    let damaged = format!(
        "{}\n{{\"type\": bad\nnot a record\n{}",
        lines[..20].join("\n"),
        lines[20..].join("\n")
    );
    let path = file(&home, "damaged.jsonl", &damaged);
    let output = home.run(&["replay", &path, "--profile", "openai-gpt-5.5"]);
    assert!(succeeded(&output).starts_with("1 session, "));
    let said = err(&output);
    assert!(
        ["damaged.jsonl", "2 records could not be read", "mainstay inspect"]
            .iter()
            .all(|word| said.contains(word)),
        "{said}"
    );
    // Cut in the middle of a line.
    let cut: String = good.chars().take(40_000).collect();
    let path = file(&home, "cut.jsonl", &cut);
    succeeded(&home.run(&["replay", &path, "--profile", "openai-gpt-5.5"]));
}

#[test]
fn nothing_is_written_where_something_cannot_be() {
    let home = Home::new();
    let folder = home.folder.path().join("out");
    std::fs::create_dir(&folder).unwrap();
    let page = folder.join("replay.html");
    let page = page.to_str().unwrap();
    let session = example("support-desk.json");
    let run = |csv: &str| {
        home.run(&[
            "replay",
            &session,
            "--profile",
            "openai-gpt-5.5",
            "--html",
            page,
            "--csv",
            csv,
        ])
    };
    let missing = folder.join("missing/replay.csv");
    assert_refused(
        &run(missing.to_str().unwrap()),
        1,
        &["missing/replay.csv: there is no directory", "create it first"],
    );
    assert_refused(&run(folder.to_str().unwrap()), 1, &["it is a directory", "name a file"]);
    if Path::new("/dev/full").exists() {
        assert_refused(&run("/dev/full"), 1, &["/dev/full: "]);
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let home = Home::new();
    let mut child = home
        .command(&["replay", &example("support-desk.json"), "--json"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", err(&output));
    assert_eq!(err(&output), "");
}
