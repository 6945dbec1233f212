//! What a run may cost, what it says before it begins, and models that are not there.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use mainstay_tests::examiner::Examiner;
use mainstay_tests::server::Script;
use mainstay_tests::server::Server;
use serde_json::Value;

use crate::stage::Stage;
use crate::stage::models;
use crate::stage::own_exam;
use crate::stage::read;
use crate::stage::succeeded;
use crate::stage::text;

const FIXTURE: &str = "debug-queue-incident";

#[test]
fn a_dry_run_says_what_it_would_cost_and_asks_nobody() {
    let stage = Stage::new(&own_exam(), Examiner::new(&read(&own_exam(), &[FIXTURE])));
    let output = stage.run("x", &["--fixtures", FIXTURE, "--dry-run", "--json"]);
    succeeded(&output);
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(stage.server.received().is_empty() && !stage.path("results").exists());
    assert!(plan["cost"].as_f64().unwrap() > 0.0);
    // What then goes out is near: the scripted models count four characters a token, and answer in fewer words.
    succeeded(&stage.run("x", &["--fixtures", FIXTURE]));
    let report = stage.report("x");
    let duties = plan["expected"]
        .as_array()
        .unwrap()
        .iter()
        .zip(report["spent"].as_array().unwrap());
    for (expected, spent) in duties {
        assert_eq!(expected["duty"], spent["duty"]);
        let ratio = |name: &str| spent[name].as_f64().unwrap() / expected[name].as_f64().unwrap();
        // Fewer where two arms come to the same state, or two answers are the same: the same request is made once.
        assert!(ratio("calls") > 0.0 && ratio("calls") < 1.3, "{expected} {spent}");
        let each = ratio("input") / ratio("calls");
        assert!((0.3..1.5).contains(&each), "{expected} {spent}");
    }
}

#[test]
fn a_run_stops_before_it_costs_more_than_it_may_and_goes_on_later() {
    let stage = Stage::new(&own_exam(), Examiner::new(&read(&own_exam(), &[FIXTURE])));
    let shape = ["--fixtures", FIXTURE, "--repeat", "1"];
    let too_much = stage.run("m", &[&shape[..], &["--max-cost", "0.001"]].concat());
    assert!(text(&too_much.stderr).contains("more than the $0.00 of --max-cost"));
    assert!(!stage.path("results/m").exists());
    succeeded(&stage.run("whole", &shape));
    // Enough for the estimate of what is left is not needed to go on: a run resumes under the limit it is given.
    let dry: Value =
        serde_json::from_slice(&stage.run("y", &[&shape[..], &["--dry-run", "--json"]].concat()).stdout).unwrap();
    let cost = dry["cost"].as_f64().unwrap();
    let spent: f64 = stage.report("whole")["spent"]
        .as_array()
        .unwrap()
        .iter()
        .map(|duty| duty["cost"].as_f64().unwrap())
        .sum();
    let limit = format!("{}", cost.max(spent) * 1.01);
    succeeded(&stage.run("m", &[&shape[..], &["--max-cost", &limit]].concat()));
    assert_eq!(stage.report("m")["arms"], stage.report("whole")["arms"]);
}

#[test]
fn answers_of_another_run_are_used_where_the_request_is_the_same() {
    let stage = Stage::new(&own_exam(), Examiner::new(&read(&own_exam(), &[FIXTURE])));
    let shape = ["--fixtures", FIXTURE, "--repeat", "1"];
    succeeded(&stage.run("first", &shape));
    let asked = stage.server.received().len();
    let first = stage.path("results/first").display().to_string();
    succeeded(&stage.run("second", &[&shape[..], &["--reuse", &first]].concat()));
    assert_eq!(stage.server.received().len(), asked);
    assert_eq!(stage.report("second")["arms"], stage.report("first")["arms"]);
    // The run holds every answer it was made with, and has paid for none.
    assert_eq!(stage.kept("second"), stage.kept("first"));
    assert_eq!(stage.report("second")["spent"], serde_json::json!([]));
}

#[test]
fn a_model_that_refuses_the_key_ends_the_run_and_it_can_go_on() {
    let examiner = Examiner::new(&read(&own_exam(), &[FIXTURE]));
    let is_mended = Arc::new(AtomicBool::new(false));
    let mended = Arc::clone(&is_mended);
    let server = Server::with(
        move |received| match mended.load(Ordering::SeqCst) || received.number < 30 {
            true => examiner.script(received),
            false => Script::status(401, r#"{"error":{"message":"invalid key"}}"#),
        },
    );
    let stage = Stage::with(&own_exam(), server);
    let output = stage.run("k", &["--fixtures", FIXTURE, "--repeat", "1", "--arms", "ledger"]);
    assert!(!output.status.success());
    let said = text(&output.stderr);
    assert!(said.contains("invalid key") && said.contains("--resume"), "{said}");
    let kept = stage.kept("k");
    assert!(kept > 0);
    is_mended.store(true, Ordering::SeqCst);
    let directory = stage.path("results/k").display().to_string();
    let models = models();
    let mut arguments = vec!["run", "--resume", &directory];
    arguments.extend(models.iter().map(String::as_str));
    succeeded(&stage.eval(&arguments));
    assert!(stage.kept("k") > kept);
    assert_eq!(stage.report("k")["excluded"], serde_json::json!({}));
}

#[test]
fn a_judge_that_never_gives_a_judgement_is_counted_and_never_guessed() {
    let examiner = Examiner::new(&read(&own_exam(), &[FIXTURE]));
    let server = Server::with(move |received| match received.body.contains("scripted-judge") {
        true => Script::reply("{\"accuracy\": 5}"),
        false => examiner.script(received),
    });
    let stage = Stage::with(&own_exam(), server);
    succeeded(&stage.run("j", &["--fixtures", FIXTURE, "--repeat", "1", "--arms", "ledger"]));
    let report = stage.report("j");
    let arms = report["arms"].as_array().unwrap();
    let ledger = arms.iter().find(|arm| arm["arm"] == "ledger").unwrap();
    assert_eq!(ledger["excluded"], ledger["samples"]);
    assert_eq!(ledger["scores"], serde_json::json!({}));
    assert!(ledger["answer_recall"]["mean"].as_f64().unwrap() > 0.0);
    let reasons = report["excluded"].as_object().unwrap();
    assert!(
        reasons.keys().all(|why| why.contains("no context_awareness, 3 times")),
        "{reasons:?}"
    );
}

#[test]
fn an_exam_with_a_probe_twice_is_refused() {
    let stage = Stage::new(&own_exam(), Examiner::new(&read(&own_exam(), &[FIXTURE])));
    let probe = r#"{"id": "x", "type": "recall", "question": "?", "expected_facts": ["y"]}"#;
    for folder in ["twice/fixtures", "twice/probes"] {
        std::fs::create_dir_all(stage.path(folder)).unwrap();
    }
    let fixture = r#"{"name": "a", "messages": [{"role": "user", "content": "y"}]}"#;
    std::fs::write(stage.path("twice/fixtures/a.json"), fixture).unwrap();
    let bank = format!(r#"{{"fixture": "a", "probes": [{probe}, {probe}]}}"#);
    std::fs::write(stage.path("twice/probes/a.probes.json"), bank).unwrap();
    let said = text(&stage.eval(&["run", "--exam", "twice"]).stderr);
    assert!(said.contains("the probes of a: two probes are called \"x\""), "{said}");
}

#[test]
fn a_judge_alone_answers_too_and_own_probes_are_asked() {
    let stage = Stage::new(&own_exam(), Examiner::new(&read(&own_exam(), &[FIXTURE])));
    let bank = format!(
        r#"{{"fixture": "{FIXTURE}", "probes": [{{"id": "mine", "type": "recall", "question": "What?", "expected_facts": ["x"]}}]}}"#
    );
    std::fs::write(stage.path("mine.json"), bank).unwrap();
    let arguments = [
        "run",
        "--probes",
        "mine.json",
        "--judge-model",
        "judge",
        "--dry-run",
        "--json",
    ];
    let output = stage.eval(&arguments);
    succeeded(&output);
    let planned: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    assert_eq!(planned["fixtures"], serde_json::json!([FIXTURE]));
    let duties: Vec<_> = planned["expected"]
        .as_array()
        .unwrap()
        .iter()
        .map(|duty| (duty["duty"].as_str().unwrap(), duty["model"].as_str().unwrap()))
        .collect();
    assert_eq!(duties.len(), 2, "{duties:?}");
    assert!(
        duties[0].0 == "answer" && duties[1].0 == "judge" && duties[0].1 == duties[1].1,
        "{duties:?}"
    );
    let listed = stage.eval(&[
        "list",
        "--exam",
        &own_exam().display().to_string(),
        "--probes",
        "mine.json",
        "--json",
    ]);
    succeeded(&listed);
    let listed: Value = serde_json::from_str(&text(&listed.stdout)).unwrap();
    assert_eq!(
        (listed.as_array().unwrap().len(), &listed[0]["probes"]["recall"]),
        (1, &1.into())
    );
}

#[test]
fn what_cannot_be_meant_is_refused_with_what_to_do() {
    let stage = Stage::new(&own_exam(), Examiner::new(&read(&own_exam(), &[FIXTURE])));
    let own = own_exam().display().to_string();
    for (arguments, says) in [
        (
            &["run", "--exam", &own, "--arms", "legder"][..],
            "there is no engine \"legder\"",
        ),
        (
            &["run", "--exam", &own, "--fixtures", "nope"],
            "there is no fixture nope; there are chained-",
        ),
        (&["run", "--exam", "/nonexistent"], "/nonexistent/fixtures"),
        (&["run", "--exam", &own, "--label", "../x"], "cannot be a label"),
        (&["run", "--resume", "/nonexistent"], "/nonexistent is no run"),
        (
            &["run", "--exam", &own, "--arms", "a=ledger,a=prune"],
            "two arms are called a",
        ),
        (&["score", "/nonexistent"], "/nonexistent is no run"),
    ] {
        let output = stage.eval(arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains(says), "{arguments:?}: {said}");
    }
}
