//! `mainstay eval ab`: two arms at checkpoints, scored without knowing whose answers they are.

use std::collections::BTreeSet;
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;

use mainstay_tests::examiner::Examiner;
use mainstay_tests::examiner::JUDGE;
use mainstay_tests::examiner::words;
use mainstay_tests::reply::Reply;
use mainstay_tests::server::Script;
use mainstay_tests::server::Server;
use serde_json::Value;
use serde_json::json;

use crate::stage::Stage;
use crate::stage::own_exam;
use crate::stage::read;
use crate::stage::succeeded;
use crate::stage::text;

const FIXTURE: &str = "config-backup-plan";
const MODELS: [&str; 4] = ["--answerer", "reader", "--judge", "judge"];

fn ab(stage: &Stage, label: &str, more: &[&str]) -> Output {
    let exam = stage.exam.display().to_string();
    let first = ["ab", "--exam", &exam, "--label", label];
    stage.eval(&[&first[..], more].concat())
}

fn answered(stage: &Stage, label: &str, arms: [&str; 2], more: &[&str]) -> Output {
    let [a, b] = arms;
    let shape = ["--fixtures", FIXTURE, "--repeat", "1", "--a", a, "--b", b];
    ab(stage, label, &[&shape[..], &MODELS, more].concat())
}

fn report(stage: &Stage, label: &str) -> Value {
    let path = stage.path("results").join(label).join("ab.json");
    let mut report: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let manifest = report["manifest"].as_object_mut().unwrap();
    manifest.remove("created");
    manifest.remove("label");
    report
}

fn scorer<'a>(report: &'a Value, name: &str) -> &'a Value {
    let scorers = report["scorers"].as_array().unwrap();
    scorers.iter().find(|scorer| scorer["scorer"] == name).unwrap()
}

/// What a judge was asked, whatever the order.
fn judged(stage: &Stage, from: usize) -> Vec<String> {
    let requests = stage.server.received().into_iter().skip(from);
    let bodies = requests.map(|received| serde_json::from_str::<Value>(&received.body).unwrap());
    let mut asked: Vec<String> = bodies
        .filter(|body| body["model"] == JUDGE)
        .map(|body| words(&body))
        .collect();
    asked.sort();
    asked
}

#[test]
fn whoever_scores_does_not_learn_whose_answer_it_is() {
    let stage = Stage::new(&own_exam(), Examiner::new(&read(&own_exam(), &[FIXTURE])));
    let sheet = stage.path("sheet.md");
    let sheet_name = sheet.display().to_string();
    succeeded(&answered(
        &stage,
        "one",
        ["xenon=ledger", "yttrium=keep-last"],
        &["--sheet", &sheet_name],
    ));
    let asked = stage.server.received().len();
    let first = judged(&stage, 0);
    succeeded(&answered(&stage, "two", ["yttrium=ledger", "xenon=keep-last"], &[]));
    assert_eq!(
        first,
        judged(&stage, asked),
        "the arms' names change what a judge reads"
    );
    assert!(first.len() > 20);
    let page = std::fs::read_to_string(&sheet).unwrap();
    for received in stage.server.received() {
        for name in ["xenon", "yttrium", FIXTURE] {
            assert!(!received.body.contains(name), "{name}: {}", received.body);
            assert!(!page.contains(name), "{name} stands on the sheet");
        }
    }
    // Arms are mixed: their order on the sheet changes far more often than once.
    let key: Value = serde_json::from_str(&std::fs::read_to_string(stage.path("sheet.key.json")).unwrap()).unwrap();
    let items = key["items"].as_object().unwrap();
    let arms: Vec<&Value> = items.values().map(|samples| &samples[0][1]).collect();
    let changes = arms.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(changes * 4 > arms.len(), "{changes} changes among {}", arms.len());
    // The judge by a list agrees with the grader, and both prefer the ledger.
    let report = report(&stage, "one");
    for name in ["grader", "judge"] {
        let arms = &scorer(&report, name)["arms"];
        let missed = |arm: usize| arms[arm]["missed"].as_u64().unwrap();
        assert!(missed(0) < missed(1), "{name}: {arms}");
    }
    assert!(
        report["agreement"]["grader-judge"].as_f64().unwrap() > 0.8,
        "{}",
        report["agreement"]
    );
}

#[test]
fn people_fill_in_a_sheet_and_the_key_tells_whose_it_was() {
    let stage = Stage::new(&own_exam(), Examiner::new(&read(&own_exam(), &[FIXTURE])));
    for (form, ending) in [("Outcome:\n", "md"), ("\"outcome\":\"\"", "jsonl")] {
        let sheet = stage.path(&format!("sheet.{ending}"));
        let name = sheet.display().to_string();
        succeeded(&answered(&stage, ending, ["ledger", "keep-last"], &["--sheet", &name]));
        let key_path = stage.path("sheet.key.json");
        let key: Value = serde_json::from_str(&std::fs::read_to_string(&key_path).unwrap()).unwrap();
        // The first item is stale in somebody's eyes, all others are right but one that is left empty.
        let mut filled = std::fs::read_to_string(&sheet).unwrap();
        let count = key["items"].as_object().unwrap().len();
        for place in 0..count - 1 {
            let word = if place == 0 { "stale" } else { "correct" };
            let with = match ending {
                "md" => format!("Outcome: {word}\n"),
                _ => format!("\"outcome\":\"{word}\""),
            };
            filled = filled.replacen(form, &with, 1);
        }
        std::fs::write(&sheet, filled).unwrap();
        let asked = stage.server.received().len();
        let before = std::fs::read(stage.path(&format!("results/{ending}/ab.json"))).unwrap();
        let output = stage.eval(&["ab", "--scores", &name, "--json"]);
        succeeded(&output);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let arms = scorer(&report, "people")["arms"].as_array().unwrap();
        let sum = |outcome: &str| {
            arms.iter()
                .map(|arm| arm["outcomes"][outcome].as_u64().unwrap())
                .sum::<u64>()
        };
        let samples = |index: usize| {
            key["items"]
                .as_object()
                .unwrap()
                .values()
                .nth(index)
                .unwrap()
                .as_array()
                .unwrap()
                .len()
        };
        assert_eq!(sum("stale"), samples(0) as u64, "{arms:?}");
        let left: u64 = arms
            .iter()
            .flat_map(|arm| arm["unscored"].as_object().unwrap().values())
            .map(|count| count.as_u64().unwrap())
            .sum();
        assert_eq!(left, samples(count - 1) as u64);
        assert!(report["agreement"]["judge-people"].is_number());
        // Nobody was asked, and the run stays as it was.
        assert_eq!(stage.server.received().len(), asked);
        assert_eq!(
            std::fs::read(stage.path(&format!("results/{ending}/ab.json"))).unwrap(),
            before
        );
        assert!(stage.path("sheet.report.md").exists());
        std::fs::remove_file(&key_path).unwrap();
    }
    let missing = stage.eval(&["ab", "--scores", "sheet.md"]);
    assert!(
        text(&missing.stderr).contains("sheet.key.json"),
        "{}",
        text(&missing.stderr)
    );
}

#[test]
fn an_ab_that_is_broken_off_goes_on_and_pays_once() {
    let examiner = Examiner::new(&read(&own_exam(), &[FIXTURE]));
    let most = Arc::new(AtomicUsize::new(usize::MAX));
    let limit = Arc::clone(&most);
    let server = Server::with(move |received| match received.number >= limit.load(Ordering::SeqCst) {
        true => Script::status(401, r#"{"error":{"message":"no such key"}}"#),
        false => examiner.script(received),
    });
    let stage = Stage::with(&own_exam(), server);
    let arms = ["keep-last", "ledger"];
    succeeded(&answered(&stage, "whole", arms, &[]));
    let whole = stage.server.received().len();
    // Once while answers are given, once while they are scored.
    let directory = stage.path("results/broken").display().to_string();
    let resume = [&["ab", "--resume", &directory][..], &MODELS].concat();
    for part in [whole / 4, whole * 4 / 5] {
        let begun = stage.path("results/broken").exists();
        let kept = stage.kept("broken");
        most.store(stage.server.received().len() + part - kept, Ordering::SeqCst);
        let output = match begun {
            false => answered(&stage, "broken", arms, &[]),
            true => stage.eval(&resume),
        };
        let said = text(&output.stderr);
        assert!(said.contains("go on with: mainstay eval ab --resume"), "{said}");
        assert!(stage.kept("broken") > kept);
        assert!(!stage.path("results/broken/ab.json").exists());
    }
    most.store(usize::MAX, Ordering::SeqCst);
    succeeded(&stage.eval(&resume));
    assert_eq!(report(&stage, "broken"), report(&stage, "whole"));
    assert_eq!(stage.kept("broken"), whole);
    let again = stage.eval(&resume);
    assert!(text(&again.stderr).contains("a complete run is never changed"));
}

#[test]
fn a_verdict_that_cannot_be_read_is_asked_for_again_and_then_left_out() {
    let exam = read(&own_exam(), &[FIXTURE]);
    let stage = Stage::new(&own_exam(), Examiner::new(&exam).garbled(3));
    succeeded(&answered(&stage, "sometimes", ["keep-last", "ledger"], &[]));
    let scored = report(&stage, "sometimes");
    assert_eq!(scorer(&scored, "judge")["arms"][0]["unscored"], json!({}));
    let examiner = Examiner::new(&exam);
    let server = Server::with(move |received| match received.body.contains(JUDGE) {
        true => Script::answer(Reply::new("{\"outcome\": \"splendid\", \"reason\": \"yes\"}").costing(1, 1)),
        false => examiner.script(received),
    });
    let stage = Stage::with(&own_exam(), server);
    succeeded(&answered(&stage, "never", ["keep-last", "ledger"], &[]));
    let report = report(&stage, "never");
    for arm in scorer(&report, "judge")["arms"].as_array().unwrap() {
        assert_eq!(arm["scored"], 0);
        let why: Vec<&String> = arm["unscored"].as_object().unwrap().keys().collect();
        assert_eq!(why, ["no verdict: the verdict has none of the five outcomes, 3 times"]);
    }
    assert!(scorer(&report, "grader")["arms"][0]["scored"].as_u64().unwrap() > 0);
}

#[test]
fn without_models_the_ledger_misses_less_than_the_newest_messages_alone() {
    let stage = Stage::new(&own_exam(), Examiner::default());
    for label in ["d", "e"] {
        succeeded(&ab(&stage, label, &["--a", "keep-last", "--b", "ledger"]));
    }
    assert!(stage.server.received().is_empty());
    let whole = report(&stage, "d");
    assert_eq!(whole, report(&stage, "e"));
    assert_eq!((&whole["sessions"], &whole["checkpoints"]), (&json!(11), &json!(33)));
    let grader = scorer(&whole, "grader");
    let missed = |arm: usize| grader["arms"][arm]["missed"].as_u64().unwrap();
    assert!(missed(1) < missed(0), "{}", grader["arms"]);
    assert!(grader["differences"]["missed"]["high"].as_f64().unwrap() < 0.0);
    assert!(grader["differences"]["correct"]["low"].as_f64().unwrap() > 0.0);
    let kinds = |arm: usize, kind: &str| grader["arms"][arm]["misses"][kind].as_u64().unwrap();
    assert!(kinds(1, "lost_obligation") < kinds(0, "lost_obligation"));
    assert!(kinds(1, "forgotten_history") < kinds(0, "forgotten_history"));
    for context in whole["contexts"].as_array().unwrap() {
        assert_eq!(
            (&context["secrets"], &context["addresses"]),
            (&json!(0), &json!(0)),
            "{context}"
        );
        // Where the newest step alone would fill the target, an engine puts it into the ledger: that is one of the 33.
        assert!(context["tail_unchanged"].as_u64().unwrap() >= 32, "{context}");
    }
    let page = std::fs::read_to_string(stage.path("results/d/ab.md")).unwrap();
    assert!(page.contains("| 2 lost obligation |"), "{page}");
}

#[test]
fn sessions_of_any_form_are_replayed_by_a_plan() {
    let stage = Stage::new(&own_exam(), Examiner::default());
    let fixture = own_exam().join("fixtures").join(format!("{FIXTURE}.json"));
    let exam = read(&own_exam(), &[FIXTURE]);
    let probe = &exam.subjects[0].bank.probes[0];
    let length = exam.subjects[0].messages.len();
    let checkpoint = json!({"at": length, "query": probe.question, "type": probe.kind, "expected_facts": probe.expected_facts,
        "stale_facts": probe.stale_facts, "forms": probe.forms});
    // One message a line is another form of the same session.
    let whole: Value = serde_json::from_str(&std::fs::read_to_string(&fixture).unwrap()).unwrap();
    let lines: Vec<String> = whole["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(Value::to_string)
        .collect();
    std::fs::write(stage.path("lines.jsonl"), lines.join("\n")).unwrap();
    let plan = json!({"description": "d", "sessions": [
        {"path": fixture, "checkpoints": [checkpoint]},
        {"path": "lines.jsonl", "name": "again", "checkpoints": [checkpoint]},
    ]});
    std::fs::write(stage.path("plan.json"), plan.to_string()).unwrap();
    let replay = [
        "ab",
        "--replay",
        "plan.json",
        "--label",
        "r",
        "--a",
        "keep-last",
        "--b",
        "uncompacted",
        "--json",
    ];
    let output = stage.eval(&replay);
    succeeded(&output);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["sessions"], &report["questions"]), (&json!(2), &json!(2)));
    assert_eq!(
        scorer(&report, "grader")["arms"][1]["outcomes"]["correct"],
        2,
        "{report}"
    );
    let names: BTreeSet<&str> = report["manifest"]["fixtures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|used| used["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        BTreeSet::from([
            format!("{FIXTURE}@{length}").as_str(),
            format!("again@{length}").as_str()
        ])
    );
}

#[test]
fn what_an_ab_cannot_mean_is_refused() {
    let stage = Stage::new(&own_exam(), Examiner::default());
    let own = own_exam().display().to_string();
    for (arguments, says) in [
        (
            &["ab", "--exam", &own, "--a", "ledger", "--b", "ledger"][..],
            "both arms are called ledger",
        ),
        (
            &["ab", "--exam", &own, "--a", "ledger", "--b", "legder"],
            "there is no engine \"legder\"",
        ),
        (
            &["ab", "--exam", &own, "--a", "ledger", "--b", "prune", "--sheet", "s.md"],
            "a sheet needs answers",
        ),
        (
            &["ab", "--replay", "/nonexistent", "--a", "ledger", "--b", "prune"],
            "/nonexistent",
        ),
    ] {
        let output = stage.eval(arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains(says), "{arguments:?}: {said}");
    }
    let dry = [
        "ab",
        "--exam",
        &own,
        "--a",
        "ledger",
        "--b",
        "prune",
        "--answerer",
        "reader",
        "--dry-run",
        "--json",
    ];
    let output = stage.eval(&dry);
    succeeded(&output);
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(plan["cost"].as_f64().unwrap() > 0.0 && stage.server.received().is_empty());
}
