//! Tests of the reader of OpenHands conversations.

use std::path::PathBuf;

use mainstay_engine::transcript::CompactionKind;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::Trigger;
use serde_json::Value;

use super::*;
use crate::format;
use crate::reading::History;
use crate::sessions::proof;

/// A conversation with parallel calls, every kind of answer, and a condensation.
const EVENTS: &[&str] = &[
    r#"{"id":"e0","timestamp":"2026-06-16T05:39:00","source":"agent","kind":"SystemPromptEvent","system_prompt":{"type":"text","text":"You help."},"dynamic_context":{"type":"text","text":"Repo x."},"tools":[{"name":"terminal"}]}"#,
    r#"{"id":"e1","timestamp":"2026-06-16T05:39:01","source":"user","kind":"MessageEvent","llm_message":{"role":"user","content":[{"type":"text","text":"fix it"},{"type":"image","image_urls":["data:image/png;base64,AA=="]}]},"extended_content":[{"type":"text","text":"A skill."}]}"#,
    r#"{"id":"s1","timestamp":"2026-06-16T05:39:02","source":"environment","kind":"ConversationStateUpdateEvent","key":"stats","value":{"usage_to_metrics":{"default":{"model_name":"m1","accumulated_token_usage":{"prompt_tokens":100,"completion_tokens":10,"cache_read_tokens":40,"context_window":200000}}}}}"#,
    r#"{"id":"e2","timestamp":"2026-06-16T05:39:03","source":"agent","kind":"ActionEvent","thought":[{"type":"text","text":"Both."}],"reasoning_content":"plain","thinking_blocks":[{"type":"thinking","thinking":"deep","signature":"sig"}],"tool_name":"terminal","tool_call_id":"c1","tool_call":{"id":"c1","name":"terminal","arguments":"{\"command\": \"ls\"}"},"llm_response_id":"r1","action":{"command":"ls"}}"#,
    r#"{"id":"e3","timestamp":"2026-06-16T05:39:04","source":"agent","kind":"ActionEvent","thought":[],"tool_name":"terminal","tool_call_id":"c2","tool_call":{"id":"c2","name":"terminal","arguments":"{\"command\": \"rm\"}"},"llm_response_id":"r1"}"#,
    r#"{"id":"e4","source":"environment","kind":"ObservationEvent","tool_name":"terminal","tool_call_id":"c1","action_id":"e2","observation":{"content":[{"type":"text","text":"a.py"}],"is_error":false,"kind":"TerminalObservation"}}"#,
    r#"{"id":"e5","source":"environment","kind":"UserRejectObservation","tool_name":"terminal","tool_call_id":"c2","action_id":"e3","rejection_reason":"too risky"}"#,
    r#"{"id":"e6","source":"agent","kind":"ActionEvent","thought":[],"responses_reasoning_item":{"id":"rs","summary":["short"],"encrypted_content":"zzz"},"tool_name":"edit","tool_call_id":"c3","action":{"path":"a.py"},"llm_response_id":"r2"}"#,
    r#"{"id":"e7","source":"agent","kind":"AgentErrorEvent","tool_name":"edit","tool_call_id":"c3","error":"no such tool"}"#,
    r#"{"id":"q1","source":"environment","kind":"CondensationRequest","reason":"manual"}"#,
    r#"{"id":"k1","timestamp":"2026-06-16T05:40:00","source":"environment","kind":"Condensation","forgotten_event_ids":["e2","e3","e4","e5"],"summary":"They listed files.","summary_offset":2,"llm_response_id":"r3"}"#,
    r#"{"id":"e8","source":"agent","kind":"MessageEvent","llm_response_id":"r4","llm_message":{"role":"assistant","content":[{"type":"text","text":"Done."}],"reasoning_content":"ok"}}"#,
    r#"{"id":"e9","source":"environment","kind":"MessageEvent","llm_message":{"role":"user","content":[{"type":"text","text":"a hook says no"}]}}"#,
];

fn lines() -> String {
    EVENTS.join("\n") + "\n"
}

#[test]
fn everything_that_was_said_is_read() {
    let document = proof::read_text(&lines(), History::Full).unwrap();
    assert_eq!(document.format.name, "openhands");
    let voices = [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
        "tool",
        "user/summary",
        "assistant",
        "user/host",
    ];
    assert_eq!(proof::voices(&document), voices);
    assert_eq!(proof::rules(&document), []);
    let recorded = document.recorded;
    assert_eq!((recorded.messages, recorded.calls, recorded.results), (10, 3, 3));
    let [event] = document.transcript.events() else {
        panic!()
    };
    assert_eq!(
        (event.before, event.summary, event.kind),
        (7, Some(7), CompactionKind::Summary)
    );
    assert_eq!(event.trigger, Trigger::Manual);
    assert_eq!(document.about.window, Some(200_000));
}

#[test]
fn a_response_with_parallel_calls_is_one_message() {
    let document = proof::read_text(&lines(), History::Full).unwrap();
    let messages = document.transcript.messages();
    let both = &messages[2];
    let [Part::Thinking(thought), Part::Text(text), Part::Call(_), Part::Call(_)] = &both.parts[..] else {
        panic!("{:?}", both.parts)
    };
    assert_eq!((thought.text.as_ref(), text.as_ref()), ("deep", "Both."));
    let usage = both.usage.as_ref().unwrap();
    assert_eq!((usage.input, usage.cache_read, usage.output), (100, 40, 10));
    assert_eq!(both.model.as_deref(), Some("m1"));
    assert_eq!(messages.iter().filter(|message| message.usage.is_some()).count(), 1);
    let outcomes: Vec<_> = messages
        .iter()
        .flat_map(Message::results)
        .map(|result| result.outcome)
        .collect();
    assert_eq!(
        outcomes,
        [ToolOutcome::Success, ToolOutcome::Failure, ToolOutcome::Failure]
    );
    assert_eq!(messages[1].parts.len(), 3, "words, an image, a skill");
}

#[test]
fn what_is_sent_is_what_the_condensation_left() {
    let document = proof::read_text(&lines(), History::Live).unwrap();
    let voices = [
        "system",
        "user",
        "user/summary",
        "assistant",
        "tool",
        "assistant",
        "user/host",
    ];
    assert_eq!(proof::voices(&document), voices);
    assert_eq!(document.recorded.messages, 10);
    let [event] = document.transcript.events() else {
        panic!()
    };
    assert_eq!((event.before, event.summary), (2, Some(2)));
}

#[test]
fn later_condensations_replace_earlier_summaries() {
    let second = r#"{"id":"k2","source":"environment","kind":"Condensation","forgotten_event_ids":["e6","e7","k1-summary"],"summary":"More.","summary_offset":9}"#;
    let third = r#"{"id":"k3","source":"environment","kind":"Condensation","forgotten_event_ids":["e1","k2-summary"]}"#;
    let two = proof::read_text(&format!("{}{second}\n", lines()), History::Live).unwrap();
    assert_eq!(
        proof::voices(&two),
        ["system", "user", "assistant", "user/host", "user/summary"]
    );
    let three = proof::read_text(&format!("{}{second}\n{third}\n", lines()), History::Live).unwrap();
    assert_eq!(proof::voices(&three), ["system", "assistant", "user/host"]);
    let full = proof::read_text(&format!("{}{second}\n{third}\n", lines()), History::Full).unwrap();
    let kinds: Vec<_> = full.transcript.events().iter().map(|event| event.kind).collect();
    assert_eq!(
        kinds,
        [
            CompactionKind::Summary,
            CompactionKind::Summary,
            CompactionKind::Truncation
        ]
    );
}

fn write_files(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path: PathBuf = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    directory
}

#[test]
fn a_directory_is_read_like_its_lines_from_every_way_in() {
    let names: Vec<_> = (0..EVENTS.len())
        .map(|index| format!("events/event-{index:05}-x.json"))
        .collect();
    let mut files: Vec<_> = names.iter().map(String::as_str).zip(EVENTS.iter().copied()).collect();
    files.push((
        "base_state.json",
        r#"{"id":"conv","agent":{"llm":{"model":"m0"}},"workspace":{"working_dir":"/w"},"execution_status":"idle"}"#,
    ));
    files.push(("meta.json", r#"{"title":"Fix it"}"#));
    let directory = write_files(&files);
    let wanted = proof::read_text(&lines(), History::Full).unwrap();
    for way in ["", "events", "base_state.json"] {
        let source = Source::open(&directory.path().join(way)).unwrap();
        let document = proof::read(&source, History::Full).unwrap();
        assert_eq!(document.recorded, wanted.recorded, "{way}");
        assert_eq!(document.write(), wanted.write(), "{way}");
        assert_eq!(document.about.title.as_deref(), Some("Fix it"), "{way}");
        assert_eq!(document.about.directory.as_deref(), Some("/w"), "{way}");
    }
}

#[test]
fn damaged_event_files_cost_only_themselves() {
    let directory = write_files(&[
        ("events/event-00000-a.json", EVENTS[0]),
        ("events/event-00001-b.json", "\u{feff}{\"id\":\"x\",\"kind\":\"Mess"),
        ("events/event-00002-c.json", "nonsense"),
        ("events/event-00003-d.json", EVENTS[1]),
        ("events/event-00004-e.json", EVENTS[1]),
        (
            "events/event-00005-f.json",
            r#"{"id":"n","kind":"NewEvent","source":"agent"}"#,
        ),
        ("events/event-00006-g.json", r#"{"id":5}"#),
        ("events/notes.txt", "x"),
    ]);
    let document = proof::read(&Source::open(directory.path()).unwrap(), History::Live).unwrap();
    assert_eq!(proof::voices(&document), ["system", "user"]);
    let rules = [
        Rule::ByteOrderMark,
        Rule::TornRecord,
        Rule::BadRecord,
        Rule::DuplicateRecord,
        Rule::UnknownType,
        Rule::NotARecord,
    ];
    assert_eq!(proof::rules(&document), rules);
    assert_eq!(document.findings[1].place, Place::Item(1));
    let empty = write_files(&[("events/0.json", r#"{"action":"null","args":{},"source":"agent"}"#)]);
    let error = proof::read(&Source::open(empty.path()).unwrap(), History::Live)
        .unwrap_err()
        .to_string();
    assert!(error.contains("no message"), "{error}");
}

/// The older generation: with tool calling, without it, and a range that is forgotten.
const V0: &str = r#"[
 {"id":0,"timestamp":"2025-03-01T10:00:00.5","source":"agent","action":"system","args":{"content":"You are OpenHands.","tools":[]}},
 {"id":1,"source":"user","action":"message","args":{"content":"hello","image_urls":["https://x/y.png"]}},
 {"id":2,"source":"agent","action":"recall","args":{"query":"hello"}},
 {"id":3,"source":"environment","observation":"recall","content":"Added workspace context","extras":{"repo_instructions":"Be neat.","microagent_knowledge":[{"name":"n","content":"Know this."}]},"cause":2},
 {"id":4,"source":"environment","observation":"agent_state_changed","content":"","extras":{"agent_state":"running"}},
 {"id":5,"source":"agent","action":"run","args":{"command":"ls","thought":"Look."},"tool_call_metadata":{"function_name":"execute_bash","tool_call_id":"t1","total_calls_in_response":2,"model_response":{"id":"r1","model":"m","usage":{"prompt_tokens":50,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":20}},"choices":[{"message":{"content":"Look.","role":"assistant","tool_calls":[{"id":"t1","function":{"name":"execute_bash","arguments":"{\"command\": \"ls\"}"}},{"id":"t2","function":{"name":"think","arguments":"{}"}}]}}]}}},
 {"id":6,"source":"agent","observation":"run","content":"a.py","cause":5,"tool_call_metadata":{"function_name":"execute_bash","tool_call_id":"t1"},"extras":{"metadata":{"exit_code":0}},"success":true},
 {"id":7,"source":"agent","action":"think","args":{"thought":"hm"},"tool_call_metadata":{"function_name":"think","tool_call_id":"t2","model_response":{"id":"r1","choices":[{"message":{"content":"Look.","tool_calls":[{"id":"t2","function":{"name":"think","arguments":"{}"}}]}}]}}},
 {"id":8,"source":"agent","observation":"think","content":"Logged.","cause":7,"tool_call_metadata":{"function_name":"think","tool_call_id":"t2"},"extras":{}},
 {"id":9,"source":"agent","action":"run","args":{"command":"make","thought":"Build."}},
 {"id":10,"source":"agent","observation":"error","content":"failed","cause":9,"extras":{}},
 {"id":11,"source":"user","action":"run","args":{"command":"pwd"}},
 {"id":12,"source":"environment","observation":"run","content":"/w","cause":11,"extras":{"exit_code":0}},
 {"id":13,"source":"agent","action":"condensation","args":{"forgotten_events_start_id":5,"forgotten_events_end_id":8,"summary":"Listed.","summary_offset":3}},
 {"id":14,"source":"agent","action":"finish","args":{"thought":"So.","final_thought":"All done."},"tool_call_metadata":{"tool_call_id":"t3","model_response":{"id":"r2","model":"m"}}}
]"#;

#[test]
fn the_older_generation_is_read_whole() {
    let document = proof::read_text(V0, History::Full).unwrap();
    let voices = [
        "system",
        "user",
        "user/host",
        "assistant",
        "tool",
        "tool",
        "assistant",
        "tool",
        "user",
        "user/tool",
        "user/summary",
        "assistant",
    ];
    assert_eq!(proof::voices(&document), voices);
    assert_eq!(proof::rules(&document), []);
    let recorded = document.recorded;
    assert_eq!((recorded.messages, recorded.calls, recorded.results), (12, 3, 3));
    let messages = document.transcript.messages();
    let [Part::Text(_), Part::Call(first), Part::Call(second)] = &messages[3].parts[..] else {
        panic!("{:?}", messages[3].parts)
    };
    assert_eq!(
        (first.name.as_ref(), first.input.as_str()),
        ("execute_bash", "{\"command\": \"ls\"}")
    );
    assert_eq!(second.name.as_ref(), "think");
    assert_eq!(
        messages[3].usage.as_ref().map(|usage| (usage.input, usage.cache_read)),
        Some((50, 20))
    );
    let own = messages[6].calls().next().unwrap();
    assert_eq!((own.id.as_str(), own.name.as_ref()), ("event-9", "run"));
    let failed = messages[7].results().next().unwrap();
    assert_eq!(
        (failed.outcome, &failed.content[..]),
        (ToolOutcome::Failure, &[Content::Text("failed".into())][..])
    );
    assert_eq!(messages[2].parts, [Part::Text("Be neat.\n\nKnow this.".into())]);
}

#[test]
fn the_older_generation_counts_silent_events_before_a_summary() {
    let document = proof::read_text(V0, History::Live).unwrap();
    let voices = [
        "system",
        "user",
        "user/summary",
        "user/host",
        "assistant",
        "tool",
        "user",
        "user/tool",
        "assistant",
    ];
    assert_eq!(proof::voices(&document), voices);
    let by_ids = V0.replace(
        r#""forgotten_events_start_id":5,"forgotten_events_end_id":8"#,
        r#""forgotten_event_ids":[5,6,7,8]"#,
    );
    assert_eq!(
        proof::voices(&proof::read_text(&by_ids, History::Live).unwrap()),
        voices
    );
}

#[test]
fn the_older_generation_is_read_from_files_and_from_evaluation_runs() {
    let events: Vec<Value> = serde_json::from_str(V0).unwrap();
    let wanted = proof::read_text(V0, History::Live).unwrap().write();
    let files: Vec<_> = events
        .iter()
        .map(|event| (format!("events/{}.json", event["id"]), event.to_string()))
        .collect();
    let files: Vec<_> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let directory = write_files(&files);
    for way in ["", "events"] {
        let document = proof::read(&Source::open(&directory.path().join(way)).unwrap(), History::Live).unwrap();
        assert_eq!(document.write(), wanted);
    }
    let pairs: Vec<_> = events.chunks(2).map(|pair| pair.to_vec()).collect();
    let runs = [
        serde_json::json!({"instance_id": "a", "instruction": "i", "history": events, "metadata": {"llm_config": {"model": "m"}}}),
        serde_json::json!({"instance_id": "b", "history": pairs}),
    ];
    let source = Source::memory("output.jsonl", format!("{}\n{}\n", runs[0], runs[1]).into());
    let ids: Vec<_> = list(&source).unwrap().into_iter().map(|entry| entry.id).collect();
    assert_eq!(ids, ["a", "b"]);
    for session in [None, Some("a"), Some("b")] {
        let request = Request {
            session: session.map(str::to_owned),
            ..Request::default()
        };
        let document = format::read(&source, None, &request).unwrap();
        assert_eq!(document.write(), wanted);
        assert_eq!(document.about.conversations, 2);
    }
    let request = Request {
        session: Some("c".to_owned()),
        ..Request::default()
    };
    assert!(
        format::read(&source, None, &request)
            .unwrap_err()
            .to_string()
            .contains("a, b")
    );
}

#[test]
fn a_cut_log_keeps_what_stands_before_the_cut() {
    let text = lines();
    for cut in (0..text.len()).filter(|at| text.is_char_boundary(*at)).step_by(97) {
        if let Ok(document) = proof::read_text(&text[..cut], History::Live) {
            let whole = text[..cut].matches('\n').count();
            assert!(document.recorded.messages <= whole as u64 + 2);
        }
    }
}

#[test]
fn real_events_are_all_there() {
    let Some(path) = proof::samples("openhands/events.jsonl") else {
        return;
    };
    let text = std::fs::read_to_string(&path).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = |kind: &str| events.iter().filter(|event| event["kind"] == kind).count() as u64;
    let mut responses: Vec<_> = events
        .iter()
        .filter_map(|event| event["llm_response_id"].as_str())
        .collect();
    responses.sort_unstable();
    responses.dedup();
    for history in [History::Live, History::Full] {
        let document = proof::read(&Source::open(&path).unwrap(), history).unwrap();
        let recorded = document.recorded;
        assert_eq!(
            (recorded.calls, recorded.results),
            (count("ActionEvent"), count("ObservationEvent"))
        );
        assert_eq!(recorded.messages, responses.len() as u64 + count("ObservationEvent"));
        // One observation answers an action that is not in the file.
        assert_eq!(proof::rules(&document), [Rule::OrphanResult]);
        let input: u64 = document
            .transcript
            .messages()
            .iter()
            .filter_map(|message| message.usage.as_ref())
            .map(|usage| usage.input)
            .sum();
        assert_eq!(input, 35_299 + 35_984);
    }
}

#[test]
fn conversations_are_found_where_they_live() {
    let home = write_files(&[
        (".openhands/conversations/abc/base_state.json", "{}"),
        (".openhands/sessions/def/events/0.json", "{}"),
        (".openhands/users/u/conversations/ghi/events/0.json", "{}"),
        (".openhands/settings.json", "{}"),
    ]);
    let homes = Homes {
        home: home.path().to_owned(),
        ..Homes::default()
    };
    let found = crate::discover::find(&homes);
    let mut names: Vec<_> = found
        .iter()
        .map(|found| found.path.file_name().unwrap().to_string_lossy())
        .collect();
    names.sort();
    assert_eq!(names, ["abc", "def", "ghi"]);
}

#[test]
fn values_of_any_kind_are_tolerated_anywhere() {
    let events: Vec<Value> = EVENTS
        .iter()
        .map(|event| serde_json::from_str(event).unwrap())
        .collect();
    proof::prove_tolerant(&FORMAT, &events, proof::as_lines);
    let events: Vec<Value> = serde_json::from_str(V0).unwrap();
    proof::prove_tolerant(&FORMAT, &events, proof::as_array);
}
