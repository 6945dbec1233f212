//! What pruning gives up, what it leaves in its place, and what it must not be misled by.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use mainstay_engine::account::Family;
use mainstay_engine::account::measure;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Policy;
use mainstay_tests::conversation::Form;
use mainstay_tests::trial;
use mainstay_tests::trial::pass;
use mainstay_tests::trial::read;
use serde_json::Value;

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
        let mut session = trial::session(Form::Anthropic, &policy);
        let outcome = pass(&mut session, &document, true);
        assert_eq!(!outcome.changes.is_empty(), is_stale, "{answer}");
    }
}

/// Reads and edits of one file, in the order given, by a tool that is protected and one that is not.
fn chat_with_reads(steps: &[(&str, &str)]) -> String {
    let mut elements = vec![r#"{"role":"user","content":"task"}"#.to_owned()];
    for (index, (tool, output)) in steps.iter().enumerate() {
        elements.push(format!(
            r#"{{"role":"assistant","content":"","tool_calls":[{{"id":"c{index}","type":"function","function":{{"name":"{tool}","arguments":"{{\"path\":\"a.rs\"}}"}}}}]}}"#
        ));
        elements.push(format!(
            r#"{{"role":"tool","tool_call_id":"c{index}","content":"{output}"}}"#
        ));
    }
    elements.push(r#"{"role":"assistant","content":"tail"}"#.to_owned());
    format!("{{\"messages\":[{}]}}", elements.join(","))
}

#[test]
fn a_protected_tool_keeps_its_newest_copy_and_gives_up_what_a_later_one_repeats_or_made_stale() {
    let one = "line of the file ".repeat(300);
    let other = "another line of it ".repeat(300);
    type PruningCase<'a> = (&'a [(&'a str, &'a str)], &'a [Option<&'a str>]);
    let cases: [PruningCase<'_>; 5] = [
        (
            &[
                ("read_file", &one),
                ("read_file", &one),
                ("read_file", &one),
                ("read_file", &one),
            ],
            &[Some("duplicate"), Some("duplicate"), Some("duplicate"), None],
        ),
        (
            &[("read_file", &one), ("read_file", &other)],
            &[Some("stale read"), None],
        ),
        (
            &[("read_file", &one), ("write_file", "written")],
            &[Some("stale read"), None],
        ),
        // The copy that is left is protected, although its tool is not.
        (&[("read_file", &one), ("terminal", &one)], &[Some("duplicate"), None]),
        (&[("terminal", &one), ("read_file", &one)], &[Some("duplicate"), None]),
    ];
    for (steps, expected) in cases {
        // The target presses into everything that may be pruned.
        let policy = Policy {
            engine: Engine::Prune,
            target: Some(1),
            tail_messages: 1,
            recent_outputs: Some(0),
            ..Policy::default()
        };
        let document = read(Form::Chat, &chat_with_reads(steps));
        let mut session = trial::session(Form::Chat, &policy);
        let outcome = pass(&mut session, &document, false);
        let actions: BTreeMap<u32, &str> = outcome
            .dropped
            .iter()
            .map(|dropped| (dropped.spot.message, dropped.action.name()))
            .collect();
        let found: Vec<_> = (0..steps.len())
            .map(|step| actions.get(&(2 + 2 * step as u32)).copied())
            .collect();
        assert_eq!(
            found,
            expected,
            "{:?}",
            steps.iter().map(|(tool, _)| tool).collect::<Vec<_>>()
        );
    }
}

#[test]
fn what_a_pruned_output_leaves_tells_what_it_said() {
    let mut rows = String::new();
    for row in 0..80 {
        let state = if row == 41 { "draining" } else { "ready" };
        rows.push_str(&format!(r#"{{\"node\":\"n{row}\",\"phase\":\"{state}\"}},"#));
    }
    let nodes = format!("[{}]", rows.trim_end_matches(','));
    let log = (0..200)
        .map(|n| format!("2026-01-31T10:20:{:02}Z INFO tick {n}\\n", n % 60))
        .collect::<String>()
        + "2026-01-31T10:25:00Z ERROR job 123e4567-e89b-12d3-a456-426614174000: disk full\\nbye";
    let policy = Policy {
        engine: Engine::Prune,
        tail: Some(1),
        tail_messages: 1,
        recent_outputs: Some(0),
        ..Policy::default()
    };
    let body = chat_with_reads(&[("list_nodes", &nodes), ("terminal", &log)]);
    let document = read(Form::Chat, &body);
    let mut session = trial::session(Form::Chat, &policy);
    pass(&mut session, &document, true);
    let written = document.write_changed(session.changes());
    assert!(
        written.contains("says: phase: draining, node: n41 — recall m"),
        "{written}"
    );
    assert!(written.contains("shows failures, 202 lines"), "{written}");
    assert!(written.contains("says: ERROR job …: disk full — recall m"), "{written}");
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
    let mut session = trial::session(Form::Chat, &policy);
    let outcome = pass(&mut session, &document, true);
    let written = document.write_changed(session.changes());
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
    assert_eq!(recounted, outcome.counted_after.0);
}
