//! Hermes sessions as JSON: snapshots, fixtures, line files, exports, telemetry; real ones where present.

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::ToolOutcome;
use serde_json::Value;

use crate::format;
use crate::reading::History;
use crate::sessions::store_proof;
use crate::sessions::store_proof::memory;

#[test]
fn a_snapshot_has_a_prompt_tools_and_a_summary() {
    let source = memory(
        "session_s1.json",
        r#"{"session_id":"s1","model":"m","base_url":"u","platform":"cli",
            "session_start":"2026-08-01T10:00:00","last_updated":"2026-08-01T11:00:00",
            "system_prompt":"Be brief.","tools":[{"type":"function"}],"message_count":4,"messages":[
            {"role":"assistant","content":"[CONTEXT COMPACTION — REFERENCE ONLY] earlier"},
            {"role":"user","content":"[Your active task list was preserved across context compression]\n- x"},
            {"role":"user","content":"go on"},
            {"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"t","arguments":"{}"}}],"reasoning":"hm"}]}"#,
    );
    let (live, full) = store_proof::read_both(&source, None);
    assert_eq!(live.format.name, "hermes");
    assert_eq!(store_proof::outline(&live), store_proof::outline(&full));
    assert!(store_proof::opens_with_system(&live));
    assert_eq!(
        store_proof::authors(&live),
        [
            Author::System,
            Author::Summary,
            Author::Host,
            Author::User,
            Author::Assistant
        ]
    );
    assert_eq!(store_proof::events(&live), [(1, Some(1))]);
    assert_eq!(live.about.id.as_deref(), Some("s1"));
    assert_eq!(live.about.started, Some(Timestamp(1_785_578_400_000)));
    assert!(live.about.tools.is_some() && live.transcript.has_open_calls());
    assert!(store_proof::read(&source, History::Live, Some("s2")).is_err());
}

#[test]
fn a_line_file_survives_damage() {
    let lines = [
        r#"{"role":"session_meta","model":"deepseek","platform":"weixin","tools":[{"type":"function"}],"timestamp":"2026-05-11T20:31:08"}"#,
        r#"{"role":"user","content":"hi","timestamp":"2026-05-11T20:31:09"}"#,
        r#"not json"#,
        r#"{"timestamp":1}"#,
        r#"{"role":"user","content":"summary of it","_compressed_summary":true}"#,
        r#"{"role":"narrator","content":"x"}"#,
        r#"{"role":"assistant","content":"half"#,
    ];
    let source = memory("20260511_203108_ab12cd34.jsonl", &lines.join("\r\n"));
    let (live, _) = store_proof::read_both(&source, None);
    assert_eq!(live.format.name, "hermes");
    assert_eq!(live.about.id.as_deref(), Some("20260511_203108_ab12cd34"));
    assert_eq!(live.about.model.as_deref(), Some("deepseek"));
    assert_eq!(
        store_proof::outline(&live),
        ["user | hi", "user | summary of it", "user | x"]
    );
    assert_eq!(store_proof::events(&live), [(1, Some(1))]);
    let rules = store_proof::rules(&live);
    for expected in [
        (Rule::CarriageReturns, Place::Line(1)),
        (Rule::BadRecord, Place::Line(3)),
        (Rule::NotARecord, Place::Line(4)),
        (Rule::UnknownRole, Place::Line(6)),
        (Rule::TornRecord, Place::Line(7)),
    ] {
        assert!(rules.contains(&expected), "{expected:?} in {rules:?}");
    }
}

#[test]
fn only_its_own_name_makes_plain_chat_lines_a_hermes_session() {
    let lines = "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}\n";
    let name_of = |name: &str| format::detect(&memory(name, lines)).unwrap().name;
    assert_eq!(name_of("20260328_160817_77bd258b.jsonl"), "hermes");
    assert_eq!(name_of("chat.jsonl"), "openai-chat");
    assert_eq!(name_of("20260328_160817_é7bd258b.jsonl"), "openai-chat");
}

#[test]
fn an_archival_export_keeps_states_apart() {
    let source = memory(
        "export.json",
        r#"{"schema_version":1,"producer":"hermes/0.9.0","session_id":"s","parent_session_id":"p","messages":[
            {"role":"user","state":"active","text":"fix it","timestamp":"2026-08-01T10:00:00Z"},
            {"role":"assistant","state":"compacted","text":"look","reasoning":"why","tool_calls":[{"action_id":"c1","tool_name":"read","arguments_json":"{\"p\":1}"}]},
            {"role":"tool","state":"compacted","tool_results":[{"action_id":"c1","is_error":true,"output_preview":"no"}]},
            {"role":"assistant","state":"rewound","text":"wrong"},
            7,
            {"role":"user","state":"active","text":"[CONTEXT SUMMARY]: all"},
            {"role":"assistant","state":"strange","text":"done"}]}"#,
    );
    let (live, full) = store_proof::read_both(&source, None);
    assert_eq!(
        store_proof::outline(&live),
        ["user | fix it", "user | [CONTEXT SUMMARY]: all", "assistant | done"]
    );
    assert_eq!(
        store_proof::outline(&full)[1..3],
        ["assistant | look | call c1 read {\"p\":1}", "tool | result c1 no"]
    );
    let failed = full.transcript.messages()[2].results().next().unwrap().outcome;
    assert_eq!(failed, ToolOutcome::Failure);
    assert_eq!(store_proof::events(&full), [(3, Some(3))]);
    assert_eq!(full.recorded.messages, 5);
    assert_eq!(full.about.version.as_deref(), Some("0.9.0"));
    assert_eq!(full.about.parent.as_deref(), Some("p"));
    assert_eq!(
        store_proof::rules(&full),
        [
            (Rule::Abandoned, Place::Item(3)),
            (Rule::NotARecord, Place::Item(4)),
            (Rule::UnknownType, Place::Item(6)),
        ]
    );
}

#[test]
fn a_trajectory_gives_results_messages_of_their_own() {
    let source = memory(
        "trajectory.json",
        r#"{"schema_version":"ATIF-v1.7","session_id":"s","agent":{"name":"h","version":"1","model_name":"m"},"steps":[
            {"step_id":1,"source":"system","message":"sys"},
            {"step_id":2,"source":"user","message":[{"type":"text","text":"see"},{"type":"image","source":{"media_type":"image/png","path":"a.png"}}]},
            {"step_id":3,"source":"agent","message":"","reasoning_content":"hm","model_name":"m2","timestamp":"2026-08-01T10:00:00Z",
             "tool_calls":[{"tool_call_id":"c1","function_name":"f","arguments":{"a":1}},{"tool_call_id":"c2","function_name":"g","arguments":{}}],
             "observation":{"results":[{"source_call_id":"c1","content":"one"},{"source_call_id":"c2","content":null}]},
             "metrics":{"prompt_tokens":100,"completion_tokens":7,"cached_tokens":60}},
            {"step_id":4,"source":"weird","message":"?"},"x"]}"#,
    );
    let (live, _) = store_proof::read_both(&source, None);
    assert_eq!(
        store_proof::outline(&live),
        [
            "system | sys",
            "user | see | <media>",
            "assistant | call c1 f {\"a\":1} | call c2 g {}",
            "tool | result c1 one",
            "tool | result c2",
            "user | ?",
        ]
    );
    let usage = live.transcript.messages()[2].usage.as_deref().unwrap();
    assert_eq!((usage.input, usage.cache_read, usage.output), (100, 60, 7));
    assert_eq!(live.transcript.messages()[5].author, Author::Host);
    assert_eq!(
        store_proof::rules(&live),
        [(Rule::UnknownRole, Place::Item(3)), (Rule::NotARecord, Place::Item(4))]
    );
    let empty = memory("t.json", r#"{"schema_version":"ATIF-v1.7","steps":[]}"#);
    let refusal = store_proof::read(&empty, History::Live, None).unwrap_err().to_string();
    assert!(refusal.contains("no step"), "{refusal}");
}

#[test]
fn an_event_stream_tells_a_conversation() {
    let event = |category: &str, boundary: &str, more: &str| {
        format!(
            r#"{{"atof_version":"0.1","kind":"scope","category":"{category}","scope_category":"{boundary}","name":"terminal",{more}}}"#
        )
    };
    let metadata = r#""metadata":{"session_id":"s","tool_call_id":"c1","status":"completed"}"#;
    let lines = [
        event("agent", "start", r#""metadata":{"session_id":"s"}"#),
        event(
            "llm",
            "start",
            r#""metadata":{"session_id":"s"},"data":{"content":"do it","headers":{}}"#,
        ),
        event(
            "llm",
            "end",
            r#""metadata":{"session_id":"s","model":"m"},"data":{"assistant_message":"running"}"#,
        ),
        event("tool", "start", &format!(r#"{metadata},"data":{{"command":"ls"}}"#)),
        event("tool", "end", &format!(r#"{metadata},"data":{{"stdout":"a b"}}"#)),
        event(
            "llm",
            "start",
            r#""metadata":{"session_id":"other"},"data":{"content":"elsewhere"}"#,
        ),
        event("llm", "end", r#""metadata":{"session_id":"s"},"data":{"error":"boom"}"#),
        event("gpu", "start", r#""metadata":{"session_id":"s"}"#),
    ];
    let source = memory("atof.jsonl", &lines.join("\n"));
    let (live, _) = store_proof::read_both(&source, None);
    assert_eq!(
        store_proof::outline(&live),
        [
            "user | do it",
            "assistant | running | call c1 terminal {\"command\":\"ls\"}",
            "tool | result c1 a b",
        ]
    );
    assert_eq!(live.about.conversations, 2);
    assert_eq!(store_proof::rules(&live), [(Rule::UnknownType, Place::Line(8))]);
    let other = store_proof::read(&source, History::Live, Some("other")).unwrap();
    assert_eq!(store_proof::outline(&other), ["user | elsewhere"]);
    let missing = store_proof::read(&source, History::Live, Some("none"))
        .unwrap_err()
        .to_string();
    assert!(missing.contains("it holds s, other"), "{missing}");
}

#[test]
fn a_request_that_repeats_the_conversation_replaces_it() {
    let lines = [
        r#"{"atof_version":"0.1","kind":"scope","category":"llm","scope_category":"start","data":{"content":{"messages":[{"role":"user","content":"a"}]}}}"#,
        r#"{"atof_version":"0.1","kind":"scope","category":"llm","scope_category":"end","data":{"assistant_message":{"role":"assistant","content":"b","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}}}"#,
        r#"{"atof_version":"0.1","kind":"scope","category":"tool","scope_category":"start","name":"f","metadata":{"tool_call_id":"c"}}"#,
        r#"{"atof_version":"0.1","kind":"scope","category":"llm","scope_category":"start","data":{"content":{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b2"},{"role":"user","content":"d"}]}}}"#,
    ];
    let (live, _) = store_proof::read_both(&memory("atof.jsonl", &lines.join("\n")), None);
    assert_eq!(store_proof::outline(&live), ["user | a", "assistant | b2", "user | d"]);
    let bare = r#"{"atof_version":"0.1","kind":"mark","category":"agent"}"#;
    let refusal = store_proof::read(&memory("a.jsonl", &format!("{bare}\n{bare}")), History::Live, None);
    assert!(refusal.unwrap_err().to_string().contains("carries no messages"));
}

/// Messages, calls and results of a real file, counted without the reader.
fn expected(value: &Value) -> (usize, usize, usize) {
    let length = |value: &Value| value.as_array().map_or(0, Vec::len);
    if let Some(steps) = value["steps"].as_array() {
        let calls = steps.iter().map(|step| length(&step["tool_calls"])).sum();
        let results = steps.iter().map(|step| length(&step["observation"]["results"])).sum();
        return (steps.len() + results, calls, results);
    }
    let messages = value["messages"].as_array().unwrap();
    let kept = || messages.iter().filter(|message| message["state"] != "rewound");
    let calls = kept().map(|message| length(&message["tool_calls"])).sum();
    let results = kept().filter(|message| message["role"] == "tool").count();
    (kept().count(), calls, results)
}

#[test]
fn real_fixtures_and_exports_are_read_whole() {
    for below in [
        "hermes-eval/fixtures/config-build-competitive-scouts.json",
        "hermes-eval/fixtures/debug-session-feishu-id-model.json",
        "hermes-eval/fixtures/feature-impl-context-priority.json",
        "samples/hermes/archival_export__v1__example-session.json",
        "samples/hermes/atif__nemo_relay_atif_v1.7_real_redacted.json",
    ] {
        let Some(path) = store_proof::shared(below) else { return };
        let value: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let (_, full) = store_proof::read_both(&store_proof::open(&path), None);
        assert_eq!(full.format.name, "hermes", "{below}");
        assert_eq!(store_proof::counts(&full), expected(&value), "{below}");
        let recorded = full.recorded;
        let recorded = (
            recorded.messages as usize,
            recorded.calls as usize,
            recorded.results as usize,
        );
        assert_eq!(recorded, expected(&value), "{below}");
    }
}

#[test]
fn a_real_export_shows_where_it_was_compacted() {
    let Some(path) = store_proof::shared("samples/hermes/archival_export__v1__example-session.json") else {
        return;
    };
    let (live, full) = store_proof::read_both(&store_proof::open(&path), None);
    assert_eq!(store_proof::events(&live), [(2, None)]);
    assert_eq!(store_proof::events(&full), [(4, None)]);
    assert_eq!(store_proof::rules(&full), [(Rule::Abandoned, Place::Item(4))]);
}

#[test]
fn real_event_streams_are_read() {
    for (below, expected) in [
        (
            "samples/hermes/atof__nemo_relay_atof_v0.1_real_redacted.jsonl",
            (3, 1, 1),
        ),
        ("samples/hermes/polylogue_hermes-session.jsonl", (2, 0, 0)),
    ] {
        let Some(path) = store_proof::shared(below) else { return };
        let (live, _) = store_proof::read_both(&store_proof::open(&path), None);
        assert_eq!(store_proof::counts(&live), expected, "{below}");
        assert!(live.findings.is_empty(), "{:?}", live.findings);
    }
}

#[test]
fn prose_and_schemas_are_refused() {
    for below in [
        "samples/hermes/atif__README.md",
        "samples/hermes/atof__README.md",
        "samples/hermes/state_db_schema_v22.sql",
    ] {
        let Some(path) = store_proof::shared(below) else { return };
        let source = store_proof::open(&path);
        let refusal = store_proof::read(&source, History::Live, None).unwrap_err().to_string();
        assert!(refusal.contains("neither JSON nor a database"), "{refusal}");
        let hermes = format::by_name("hermes").unwrap();
        let refusal = format::read(&source, Some(hermes), &store_proof::request(History::Live, None));
        assert!(refusal.unwrap_err().to_string().contains("no Hermes session"));
    }
}

#[test]
fn damage_anywhere_ends_in_a_document_or_an_error() {
    for below in [
        "samples/hermes/archival_export__v1__example-session.json",
        "samples/hermes/atif__nemo_relay_atif_v1.7_real_redacted.json",
        "samples/hermes/atof__nemo_relay_atof_v0.1_real_redacted.jsonl",
    ] {
        let Some(path) = store_proof::shared(below) else { return };
        store_proof::assert_survives_damage(below, &std::fs::read_to_string(&path).unwrap());
    }
}
