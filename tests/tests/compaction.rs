//! What must hold of every compaction, on generated conversations of all provider forms.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

use std::collections::BTreeMap;

use mainstay_engine::account::Budget;
use mainstay_engine::account::Family;
use mainstay_engine::account::ModelLimits;
use mainstay_engine::account::Tally;
use mainstay_engine::account::measure;
use mainstay_engine::compaction::Compactor;
use mainstay_engine::compaction::Outcome;
use mainstay_engine::compaction::Verdict;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Mode;
use mainstay_engine::decide::Policy;
use mainstay_engine::decide::ReasoningRule;
use mainstay_engine::decide::Situation;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::verify::NoSecrets;
use mainstay_store::NewCheckpoint;
use mainstay_store::NewDropped;
use mainstay_store::Store;
use mainstay_tests::conversation::Form;
use mainstay_tests::conversation::Generated;
use mainstay_tests::provider::violations;
use mainstay_wire::document::Document;
use mainstay_wire::format;
use mainstay_wire::reading::Request;
use mainstay_wire::source::Source;
use serde_json::Value;

const CASES: u64 = 2_000;

fn read(form: Form, body: &str) -> Document {
    let source = Source::memory("generated", body.as_bytes().to_vec());
    format::read(
        &source,
        Some(format::by_name(form.name()).unwrap()),
        &Request::default(),
    )
    .unwrap()
}

fn budget(window: u64) -> Budget {
    let limits = ModelLimits {
        name: "m".to_owned(),
        window,
        output: window / 10,
    };
    Budget::new(&[limits], &Policy::default().budget).unwrap()
}

fn situation(form: Form, prompt: u64, forced: bool) -> Situation {
    Situation {
        prompt,
        scale: 1.0,
        forced,
        margin: 0,
        reasoning: if form == Form::Responses {
            ReasoningRule::MustKeep
        } else {
            ReasoningRule::MayDrop
        },
    }
}

fn policy(seed: u64) -> Policy {
    Policy {
        engine: Engine::Prune,
        recent_outputs: Some([0, 200, 1_000][(seed % 3) as usize]),
        tail: Some(100 + seed % 700),
        tail_messages: (seed % 5) as usize,
        ..Policy::default()
    }
}

fn pass(compactor: &mut Compactor, document: &Document, form: Form, policy: &Policy, forced: bool) -> Outcome {
    compactor.observe(&document.transcript);
    let prompt = compactor.counted();
    compactor.pass(
        &document.transcript,
        &budget(8_000),
        policy,
        situation(form, prompt, forced),
        &NoSecrets,
    )
}

#[test]
fn every_result_is_valid_smaller_and_leaves_the_protected_alone() {
    let mut compacted = 0;
    for seed in 0..CASES {
        let form = Form::ALL[(seed % 3) as usize];
        let mut generated = Generated::new(form, seed);
        generated.grow(4 + (seed % 40) as usize, 1_500);
        let body = generated.body();
        let document = read(form, &body);
        let policy = policy(seed);
        let mut compactor = Compactor::new(Family::O200k, &policy);
        let outcome = pass(&mut compactor, &document, form, &policy, true);
        let written = document.write_changed(compactor.changes());
        if outcome.verdict != Verdict::Compacted {
            assert_eq!(written, body, "seed {seed}: the original comes back");
            continue;
        }
        compacted += 1;
        assert!(outcome.counted_after < outcome.counted_before, "seed {seed}");
        assert!(written.len() < body.len(), "seed {seed}: bytes grew");
        let before: Value = serde_json::from_str(&body).unwrap();
        let after: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(violations(&after, form), violations(&before, form), "seed {seed}");
        assert!(
            violations(&after, form).is_empty(),
            "seed {seed}: {:?}",
            violations(&after, form)
        );

        // Untouched messages are byte-identical: the tail, the head, the newest words of the person among them.
        let again = read(form, &written);
        let boundary = &outcome.plan.boundary;
        for index in 0..document.transcript.messages().len() {
            if !boundary.is_open(index) {
                assert_eq!(
                    again.verbatim(index),
                    document.verbatim(index),
                    "seed {seed}, message {index}"
                );
            }
        }
        let newest = document
            .transcript
            .messages()
            .iter()
            .rposition(|message| message.opens_turn());
        assert!(newest.is_none_or(|index| !boundary.is_open(index)), "seed {seed}");
        assert!(written.ends_with(",\"x\":1.50}") || written.ends_with("],\"x\":1.50}"));

        // What the compactor says it costs is what it costs.
        let recounted: u64 = compactor
            .messages(&document.transcript)
            .iter()
            .map(|message| measure(message, Family::O200k).total())
            .sum();
        assert_eq!(recounted, outcome.counted_after, "seed {seed}");
        let mut tally = Tally::new(Family::O200k);
        tally.extend(again.transcript.messages());
        assert_eq!(
            tally.total().total(),
            outcome.counted_after,
            "seed {seed}: what was written costs what was said"
        );
        // Everything taken out is handed over, and its reference stands in the text.
        for dropped in &outcome.dropped {
            assert!(!dropped.text.is_empty() || dropped.tokens > 0, "seed {seed}");
            let is_marked = written.contains(dropped.reference.as_ref());
            assert!(
                is_marked || dropped.action.name() == "old reasoning",
                "seed {seed}: {dropped:?}"
            );
        }
    }
    println!("{compacted} of {CASES} conversations were compacted");
    assert!(compacted > CASES / 2);
}

#[test]
fn compacting_twice_changes_nothing_the_second_time() {
    for seed in 0..CASES {
        let form = Form::ALL[(seed % 3) as usize];
        let mut generated = Generated::new(form, seed);
        generated.grow(4 + (seed % 40) as usize, 1_500);
        let document = read(form, &generated.body());
        let policy = policy(seed);
        let mut compactor = Compactor::new(Family::O200k, &policy);
        pass(&mut compactor, &document, form, &policy, true);
        let once = document.write_changed(compactor.changes());
        // The same compactor, and one that knows nothing of the first pass.
        let again = pass(&mut compactor, &document, form, &policy, true);
        assert!(again.changes.is_empty(), "seed {seed}: {:?}", again.plan);
        let second = read(form, &once);
        let mut fresh = Compactor::new(Family::O200k, &policy);
        let outcome = pass(&mut fresh, &second, form, &policy, true);
        assert!(outcome.changes.is_empty(), "seed {seed}: {:?}", outcome.changes);
        assert_eq!(second.write_changed(fresh.changes()), once);
    }
}

#[test]
fn the_prefix_is_stable_between_passes_and_a_pass_only_adds() {
    for seed in 0..CASES {
        let form = Form::ALL[(seed % 3) as usize];
        let mut generated = Generated::new(form, seed);
        let policy = policy(seed);
        let mut compactor = Compactor::new(Family::O200k, &policy);
        let mut emitted: Option<(usize, String)> = None;
        for round in 0..6 {
            generated.grow(10 + 12 * round, 1_500);
            let document = read(form, &generated.body());
            compactor.observe(&document.transcript);
            // Appending alone changes nothing of what was emitted before.
            let before = document.write_changed(compactor.changes());
            if let Some((_, prefix)) = &emitted {
                assert!(before.starts_with(prefix.as_str()), "seed {seed}, round {round}");
            }
            let earlier = compactor.changes().clone();
            let outcome = pass(&mut compactor, &document, form, &policy, true);
            for (spot, change) in &earlier {
                assert_eq!(
                    compactor.changes().get(spot),
                    Some(change),
                    "seed {seed}: a change is never taken back"
                );
            }
            let after = document.write_changed(compactor.changes());
            // The end of the list belongs to the next request already.
            let list_end = after.rfind("],\"x\":").unwrap();
            emitted = Some((outcome.earliest_changed.unwrap_or(0), after[..list_end].to_owned()));
        }
    }
}

#[test]
fn growing_step_by_step_gives_what_a_compactor_that_learns_all_at_once_gives() {
    for seed in 0..CASES {
        let form = Form::ALL[(seed % 3) as usize];
        let mut generated = Generated::new(form, seed);
        let policy = policy(seed);
        let mut stepwise = Compactor::new(Family::O200k, &policy);
        let mut last = String::new();
        for round in 0..5 {
            generated.grow(6 + 9 * round, 900);
            last = generated.body();
            stepwise.observe(&read(form, &last).transcript);
        }
        let document = read(form, &last);
        let mut at_once = Compactor::new(Family::O200k, &policy);
        let one = pass(&mut stepwise, &document, form, &policy, true);
        let two = pass(&mut at_once, &document, form, &policy, true);
        assert_eq!(one.changes, two.changes, "seed {seed}");
        assert_eq!(
            document.write_changed(stepwise.changes()),
            document.write_changed(at_once.changes())
        );
    }
}

#[test]
fn the_store_gives_back_every_original_and_every_dropped_text() {
    // Memory-backed where there is such a place: durability is tested elsewhere, and 2,000 flushes take long.
    let shared = std::path::Path::new("/dev/shm");
    let folder = if shared.is_dir() {
        tempfile::tempdir_in(shared).unwrap()
    } else {
        tempfile::tempdir().unwrap()
    };
    let mut store = Store::open(&folder.path().join("kept/store.db")).unwrap();
    for seed in 0..CASES {
        let form = Form::ALL[(seed % 3) as usize];
        let mut generated = Generated::new(form, seed);
        generated.grow(4 + (seed % 20) as usize, 900);
        let body = generated.body();
        let document = read(form, &body);
        let policy = policy(seed);
        let mut compactor = Compactor::new(Family::O200k, &policy);
        let outcome = pass(&mut compactor, &document, form, &policy, true);
        let result = document.changed_chunks(compactor.changes());
        let original: Vec<&[u8]> = document.original_chunks().into_iter().map(str::as_bytes).collect();
        let pieces: Vec<&[u8]> = result.iter().map(|chunk| chunk.as_bytes()).collect();
        let dropped: Vec<_> = outcome
            .dropped
            .iter()
            .map(|dropped| NewDropped {
                reference: &dropped.reference,
                text: &dropped.text,
                message: dropped.spot.message as usize,
                part: dropped.spot.part as usize,
                role: dropped.role,
                author: dropped.author,
                tool: dropped.tool.as_deref(),
                action: dropped.action.name(),
                tokens: dropped.tokens,
                failed: false,
            })
            .collect();
        let key = format!("conversation {seed}");
        let id = store
            .append(&NewCheckpoint {
                original: &original,
                result: &pieces,
                dropped: &dropped,
                ..NewCheckpoint::new(&key, Timestamp(seed as i64))
            })
            .unwrap();
        assert_eq!(store.original(&id).unwrap(), body.as_bytes(), "seed {seed}");
        assert_eq!(
            store.result(&id).unwrap(),
            document.write_changed(compactor.changes()).as_bytes(),
            "seed {seed}"
        );
        for dropped in outcome.dropped.iter().take(2) {
            let fetched = store.fetch(&dropped.reference).unwrap().unwrap();
            assert_eq!(fetched.original, dropped.text.as_bytes(), "seed {seed}");
        }
    }
}

/// A conversation of large outputs, to try the seed's acceptance rules on.
fn chat_with_outputs(outputs: &[(&str, usize)]) -> String {
    let mut elements = vec![
        r#"{"role":"system","content":"sys"}"#.to_owned(),
        r#"{"role":"user","content":"task"}"#.to_owned(),
    ];
    for (index, (tool, tokens)) in outputs.iter().enumerate() {
        elements.push(format!(
            r#"{{"role":"assistant","content":"","tool_calls":[{{"id":"c{index}","type":"function","function":{{"name":"{tool}","arguments":"{{\"command\":\"make {index}\"}}"}}}}]}}"#
        ));
        // "word " is one token each, and every output is its own.
        let text = format!("run {index}: {}", "word ".repeat(*tokens));
        elements.push(format!(
            r#"{{"role":"tool","tool_call_id":"c{index}","content":"{text}"}}"#
        ));
    }
    elements.push(r#"{"role":"assistant","content":"tail"}"#.to_owned());
    format!("{{\"messages\":[{}]}}", elements.join(","))
}

fn seed_pass(body: &str, window: u64, prompt: Option<u64>) -> (Outcome, BTreeMap<usize, &'static str>) {
    let document = read(Form::Chat, body);
    let mut policy = Policy {
        tail: Some(1),
        tail_messages: 1,
        ..Policy::default()
    };
    policy.budget.threshold = Some(0.5);
    let limits = ModelLimits {
        name: "m".to_owned(),
        window,
        output: 0,
    };
    let budget = Budget::new(&[limits], &policy.budget).unwrap();
    let mut compactor = Compactor::new(Family::O200k, &policy);
    compactor.observe(&document.transcript);
    let prompt = prompt.unwrap_or_else(|| compactor.counted());
    let outcome = compactor.pass(
        &document.transcript,
        &budget,
        &policy,
        situation(Form::Chat, prompt, false),
        &NoSecrets,
    );
    let actions = outcome
        .plan
        .actions
        .iter()
        .map(|planned| (planned.spot.message as usize, planned.action.name()))
        .collect();
    (outcome, actions)
}

#[test]
fn the_newest_outputs_are_protected_by_the_size_of_the_window() {
    for (window, protected) in [
        (60_000, 10_000),
        (64_000, 20_000),
        (128_000, 40_000),
        (500_000, 100_000),
    ] {
        // The newest output alone uses up the protection; the one before it is pruned, on the other side it is not.
        let body = chat_with_outputs(&[("terminal", 45_000), ("terminal", protected)]);
        let (_, actions) = seed_pass(&body, window, Some(window));
        assert_eq!(actions.get(&3), Some(&"old output"), "window {window}");
        assert_eq!(actions.get(&5), None, "window {window}");
        let body = chat_with_outputs(&[("terminal", 45_000), ("terminal", protected - 200)]);
        let (_, actions) = seed_pass(&body, window, Some(window));
        assert!(actions.is_empty(), "window {window}: {actions:?}");
    }
}

#[test]
fn protected_tools_are_never_pruned() {
    for tool in ["read_file", "memory", "clarify", "skill_view", "todo"] {
        let body = chat_with_outputs(&[(tool, 90_000), ("terminal", 50_000), ("terminal", 50_000)]);
        let (_, actions) = seed_pass(&body, 128_000, None);
        assert_eq!(actions.get(&3), None, "{tool}");
        assert_eq!(actions.get(&5), Some(&"old output"), "{tool}");
    }
}

#[test]
fn pruning_must_reclaim_the_minimum() {
    // Window 128,000: at least 6,400. The placeholder is expected to leave about 75.
    for (tokens, is_pruned) in [(6_000, false), (7_000, true)] {
        let body = chat_with_outputs(&[("terminal", tokens), ("terminal", 41_000)]);
        let (outcome, _) = seed_pass(&body, 128_000, Some(64_000));
        assert_eq!(
            !outcome.plan.actions.is_empty(),
            is_pruned,
            "{tokens} tokens: {:?}",
            outcome.plan.reasons
        );
    }
}

#[test]
fn pruning_alone_is_accepted_only_with_a_runway() {
    // Window 128,000, threshold 64,000: the low-water mark is 54,400.
    let body = chat_with_outputs(&[("terminal", 20_000), ("terminal", 41_000)]);
    let (near, _) = seed_pass(&body, 128_000, Some(54_400 + 20_000));
    assert_eq!(near.plan.mode, Mode::Full, "{:?}", near.plan.reasons);
    assert!(matches!(near.verdict, Verdict::Unchanged(_)));
    assert!(near.changes.is_empty());
    let (far, _) = seed_pass(&body, 128_000, Some(54_400 + 19_800));
    assert_eq!(far.plan.mode, Mode::PruneOnly, "{:?}", far.plan.reasons);
    assert_eq!(far.verdict, Verdict::Compacted);
    assert_eq!(far.earliest_changed, Some(3));
}

#[test]
fn below_the_threshold_nothing_happens() {
    let body = chat_with_outputs(&[("terminal", 60_000), ("terminal", 50_000)]);
    let (outcome, _) = seed_pass(&body, 128_000, Some(63_999));
    assert_eq!(outcome.plan.mode, Mode::Nothing);
    assert!(matches!(&outcome.verdict, Verdict::Unchanged(reason) if reason.contains("below the threshold of 64000")));
    let (due, _) = seed_pass(&body, 128_000, Some(64_000));
    assert_ne!(due.plan.mode, Mode::Nothing);
}

#[test]
fn a_pass_that_was_not_worth_it_forgets_nothing() {
    // The same output twice: 3,000 tokens of duplicates, less than the minimum of 6,400 for a window of 128,000.
    let output = "word ".repeat(3_000);
    let step = |id: usize, output: &str| {
        format!(
            r#"{{"role":"assistant","content":"","tool_calls":[{{"id":"c{id}","type":"function","function":{{"name":"terminal","arguments":"{{}}"}}}}]}},{{"role":"tool","tool_call_id":"c{id}","content":"{output}"}}"#
        )
    };
    let mut steps = vec![
        r#"{"role":"user","content":"task"}"#.to_owned(),
        step(0, &output),
        step(1, &output),
        step(2, "tail"),
    ];
    let policy = Policy {
        tail: Some(1),
        tail_messages: 1,
        ..Policy::default()
    };
    let limits = ModelLimits {
        name: "m".to_owned(),
        window: 128_000,
        output: 0,
    };
    let budget = Budget::new(&[limits], &policy.budget).unwrap();
    let mut compactor = Compactor::new(Family::O200k, &policy);
    let mut verdicts = Vec::new();
    for round in 0..2 {
        let document = read(Form::Chat, &format!("{{\"messages\":[{}]}}", steps.join(",")));
        compactor.observe(&document.transcript);
        let outcome = compactor.pass(
            &document.transcript,
            &budget,
            &policy,
            situation(Form::Chat, 96_000, false),
            &NoSecrets,
        );
        verdicts.push(
            outcome
                .plan
                .actions
                .iter()
                .map(|planned| planned.action.name())
                .collect::<Vec<_>>(),
        );
        // Another pair of duplicates makes it worth while.
        let other = "term ".repeat(9_000);
        steps.extend([
            step(10 + round, &other),
            step(20 + round, &other),
            step(30 + round, "tail"),
        ]);
    }
    assert_eq!(verdicts, [vec![], vec!["duplicate", "duplicate"]]);
}

#[test]
fn what_failed_makes_no_read_stale() {
    let file = "line of the file ".repeat(200);
    let body = |answer: &str, error: bool| {
        format!(
            r#"{{"system":"s","messages":[{{"role":"user","content":"go"}},
            {{"role":"assistant","content":[{{"type":"tool_use","id":"1","name":"Read","input":{{"file_path":"a.rs"}}}}]}},
            {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"1","content":"{file}"}}]}},
            {{"role":"assistant","content":[{{"type":"tool_use","id":"2","name":"Edit","input":{{"file_path":"a.rs"}}}}]}},
            {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"2","content":"{answer}","is_error":{error}}}]}},
            {{"role":"assistant","content":"done"}}]}}"#
        )
    };
    let policy = Policy {
        engine: Engine::Prune,
        tail: Some(1),
        tail_messages: 1,
        recent_outputs: Some(1_000_000),
        ..Policy::default()
    };
    for (answer, error, is_stale) in [("ok", false, true), ("String to replace not found", true, false)] {
        let document = read(Form::Anthropic, &body(answer, error));
        let mut compactor = Compactor::new(Family::O200k, &policy);
        let outcome = pass(&mut compactor, &document, Form::Anthropic, &policy, true);
        assert_eq!(!outcome.changes.is_empty(), is_stale, "{answer}");
    }
}

#[test]
fn odd_but_legal_messages_change_only_where_they_should() {
    let long = "x ".repeat(300);
    let arguments = format!("{{\\\"content\\\":\\\"{long}\\\"}}");
    let call = |id: &str| {
        format!(r#"{{"id":"{id}","type":"function","function":{{"name":"save","arguments":"{arguments}"}}}}"#)
    };
    let body = format!(
        r#"{{"messages":[{{"role":"user","content":"go"}},
        {{"role":"assistant","content":"said","reasoning_content":"{long}","tool_calls":null}},
        {{"role":"user","content":"and"}},
        {{"role":"assistant","reasoning_content":"","reasoning":"{long}","content":"","tool_calls":[{},{}]}},
        {{"role":"t\u006fol","tool_call_id":"1","content":"{long}{long}{long}"}},{{"role":"tool","tool_call_id":"2","content":"ok"}},
        {{"role":"user","content":"next"}},{{"role":"assistant","content":"done"}}]}}"#,
        call("1"),
        call("2")
    );
    let policy = Policy {
        engine: Engine::Prune,
        tail: Some(1),
        tail_messages: 1,
        recent_outputs: Some(0),
        ..Policy::default()
    };
    let document = read(Form::Chat, &body);
    let mut compactor = Compactor::new(Family::O200k, &policy);
    let outcome = pass(&mut compactor, &document, Form::Chat, &policy, true);
    let written = document.write_changed(compactor.changes());
    let after: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(after["messages"][1]["tool_calls"], Value::Null, "{written}");
    assert!(after["messages"][1].get("reasoning_content").is_none());
    for call in after["messages"][3]["tool_calls"].as_array().unwrap() {
        assert!(
            call["function"]["arguments"]
                .as_str()
                .unwrap()
                .contains("left out here"),
            "{written}"
        );
    }
    assert!(
        after["messages"][4]["content"]
            .as_str()
            .unwrap()
            .starts_with("⟦pruned save"),
        "{written}"
    );
    let again = read(Form::Chat, &written);
    let recounted: u64 = again
        .transcript
        .messages()
        .iter()
        .map(|message| measure(message, Family::O200k).total())
        .sum();
    assert_eq!(recounted, outcome.counted_after);
}

#[test]
fn a_target_presses_on_into_recent_outputs_and_is_met() {
    let body = chat_with_outputs(&[
        ("terminal", 9_000),
        ("terminal", 9_000),
        ("terminal", 9_000),
        ("terminal", 500),
    ]);
    let document = read(Form::Chat, &body);
    for target in [20_000, 11_000, 3_000] {
        let policy = Policy {
            target: Some(target),
            tail_messages: 2,
            ..Policy::default()
        };
        let mut compactor = Compactor::new(Family::O200k, &policy);
        let outcome = pass(&mut compactor, &document, Form::Chat, &policy, false);
        assert_eq!(
            outcome.verdict,
            Verdict::Compacted,
            "{target}: {:?}",
            outcome.plan.reasons
        );
        assert!(outcome.counted_after <= target, "{target}");
    }
}
