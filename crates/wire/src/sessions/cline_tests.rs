//! Tests of the reader of Cline and Roo Code tasks.

use mainstay_engine::transcript::CompactionKind;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::Trigger;
use serde_json::Value;

use super::*;
use crate::format;
use crate::reading::History;
use crate::sessions::proof;

/// A task whose tools are text, as Cline's are without native calls.
const TEXT_TOOLS: &str = r#"[
 {"role":"user","content":[{"type":"text","text":"<task>\nfix it\n</task>"},{"type":"text","text":"<environment_details>\n# Files\n</environment_details>"}],"ts":1785578400250},
 {"role":"assistant","content":[{"type":"text","text":"<read_file><path>a</path></read_file>"}],"modelInfo":{"modelId":"m","providerId":"p"},"metrics":{"tokens":{"prompt":90,"completion":9,"cached":80}}},
 {"role":"user","content":[{"type":"text","text":"[read_file for 'a'] Result:"},{"type":"text","text":"text of a"},{"type":"text","text":"<environment_details>\n</environment_details>"}]},
 {"role":"assistant","content":"done"},
 {"role":"user","content":[{"type":"text","text":"[attempt_completion] Result:"},{"type":"text","text":"<feedback>not yet</feedback>"}]},
 {"role":"user","content":"[ERROR] You did not use a tool"}
]"#;

#[test]
fn results_that_travel_as_text_are_the_tools_words() {
    let document = proof::read_text(TEXT_TOOLS, History::Live).unwrap();
    assert_eq!(document.format.name, "cline");
    assert_eq!(
        proof::voices(&document),
        ["user", "assistant", "user/tool", "assistant", "user", "user/host"]
    );
    assert_eq!(proof::rules(&document), []);
    let said = &document.transcript.messages()[1];
    assert_eq!(said.model.as_deref(), Some("m"));
    assert_eq!(
        said.usage
            .as_ref()
            .map(|usage| (usage.input, usage.cache_read, usage.output)),
        Some((90, 80, 9))
    );
    let written = document.write();
    assert!(!written.contains("\"ts\""), "only what the provider takes is written");
    assert!(written.contains(r#"{"role":"user","content":[{"type":"text","text":"<task>\nfix it\n</task>"},"#));
}

/// Roo hides what a summary or a truncation replaced, as long as that is there.
const ROO: &str = r#"[
 {"role":"user","content":"task","ts":1},
 {"role":"assistant","content":[{"type":"reasoning","text":"hm"},{"type":"tool_use","id":"t1","name":"read","input":{"p":1.0}}],"ts":2,"condenseParent":"A"},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x","is_error":true}],"ts":3,"condenseParent":"A"},
 {"role":"user","content":"Summary: read","ts":4,"isSummary":true,"condenseId":"A"},
 {"role":"assistant","content":"next","ts":5,"truncationParent":"B"},
 {"role":"user","content":"kept, its marker is gone","ts":6,"truncationParent":"gone"},
 {"role":"user","content":"[Sliding window truncation]","ts":7,"isTruncationMarker":true,"truncationId":"B"},
 {"role":"assistant","content":"last","ts":8}
]"#;

#[test]
fn roo_hides_what_was_condensed_or_truncated() {
    let full = proof::read_text(ROO, History::Full).unwrap();
    let voices = [
        "user",
        "assistant",
        "user/tool",
        "user/summary",
        "assistant",
        "user",
        "user/host",
        "assistant",
    ];
    assert_eq!(proof::voices(&full), voices);
    let events: Vec<_> = full
        .transcript
        .events()
        .iter()
        .map(|event| (event.before, event.summary, event.kind))
        .collect();
    assert_eq!(
        events,
        [
            (3, Some(3), CompactionKind::Summary),
            (6, None, CompactionKind::Truncation)
        ]
    );
    assert_eq!(
        (full.recorded.messages, full.recorded.calls, full.recorded.results),
        (8, 1, 1)
    );
    let failed = full.transcript.messages()[2].results().next().unwrap();
    assert_eq!(failed.outcome, ToolOutcome::Failure);
    assert!(matches!(full.transcript.messages()[1].parts[0], Part::Thinking(_)));
    let live = proof::read_text(ROO, History::Live).unwrap();
    assert_eq!(
        proof::voices(&live),
        ["user", "user/summary", "user", "user/host", "assistant"]
    );
    assert_eq!(live.recorded, full.recorded);
    assert_eq!(live.transcript.events()[0].before, 1);
}

#[test]
fn a_task_directory_gives_what_was_cut_out_of_the_middle() {
    let directory = tempfile::tempdir().unwrap();
    let task = directory.path().join("1785578400250");
    std::fs::create_dir(&task).unwrap();
    let messages: Vec<_> = (0..8)
        .map(|index| serde_json::json!({"role": if index % 2 == 0 { "user" } else { "assistant" }, "content": format!("m{index}")}))
        .collect();
    std::fs::write(task.join(HISTORY), Value::from(messages).to_string()).unwrap();
    let rows = r#"[{"ts":1,"conversationHistoryDeletedRange":[2,3]},{"ts":2,"conversationHistoryDeletedRange":[2,5]},{"ts":3}]"#;
    std::fs::write(task.join("ui_messages.json"), rows).unwrap();
    for way in [task.clone(), task.join(HISTORY)] {
        let source = Source::open(&way).unwrap();
        let live = proof::read(&source, History::Live).unwrap();
        assert_eq!(live.format.name, "cline");
        assert_eq!(live.about.id.as_deref(), Some("1785578400250"));
        assert_eq!(live.transcript.messages().len(), 4);
        assert_eq!(live.recorded.messages, 8);
        let full = proof::read(&source, History::Full).unwrap();
        assert_eq!(full.transcript.messages().len(), 8);
        let [event] = full.transcript.events() else { panic!() };
        assert_eq!((event.before, event.kind), (6, CompactionKind::Truncation));
    }
}

#[test]
fn sdk_sessions_have_files_and_structured_answers() {
    let text = r#"{"version":1,"updated_at":"2026-07-15T05:42:04.818Z","agent":"lead","sessionId":"s","system_prompt":"You are Cline.","messages":[
      {"id":"m1","role":"user","content":[{"type":"text","text":"look"},{"type":"file","path":"a \"b\".txt","content":"body"}],"ts":1783376868634},
      {"id":"m2","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"run","input":{}},{"type":"tool_use","id":"t2","name":"run","input":{}}],"modelInfo":{"id":"m"},"metrics":{"inputTokens":100,"outputTokens":5,"cacheReadTokens":90,"cacheWriteTokens":20}},
      {"id":"m3","role":"user","content":[{"type":"tool_result","tool_use_id":"t1","name":"run","content":[{"query":"q","result":"r","success":true}]},{"type":"tool_result","tool_use_id":"t2","name":"run","content":"{\"query\":\"q\",\"success\":false}"}]}
    ]}"#;
    let document = proof::read_text(text, History::Live).unwrap();
    assert_eq!(proof::voices(&document), ["system", "user", "assistant", "user/tool"]);
    let messages = document.transcript.messages();
    assert_eq!(
        messages[1].parts[1],
        Part::Text("<file_content path=\"a \\\"b\\\".txt\">\nbody\n</file_content>".into())
    );
    assert_eq!(messages[2].usage.as_ref().map(|usage| usage.input), Some(110));
    let results: Vec<_> = messages[3].results().collect();
    assert_eq!(
        results[0].content,
        [Content::Text(r#"{"query":"q","result":"r","success":true}"#.into())]
    );
    assert_eq!(
        (results[0].outcome, results[1].outcome),
        (ToolOutcome::Success, ToolOutcome::Failure)
    );
    let written: Value = serde_json::from_str(&document.write()).unwrap();
    assert_eq!(written["system"][0]["text"], "You are Cline.");
    assert_eq!(written["messages"][2]["content"][0]["content"][0]["type"], "text");
}

#[test]
fn a_description_without_messages_says_where_they_are() {
    let text = r#"{"version":1,"session_id":"s","messages_path":"/home/me/s.messages.json","metadata":{}}"#;
    let error = proof::read_text(text, History::Live).unwrap_err().to_string();
    assert!(
        error.contains("messages_path") && error.contains("/home/me/s.messages.json"),
        "{error}"
    );
}

#[test]
fn damage_costs_only_itself() {
    let text = r#"[
     {"role":"user","content":"go","ts":1},
     {"type":"reasoning","encrypted_content":"zz","role":"assistant","ts":2},
     {"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n"},"loose",{"type":"new"},7],"ts":"late"},
     {"role":"user","content":{"odd":1}},
     {"role":"user","content":null}
    ]"#;
    let document = proof::read_text(&format!("\u{feff}{text}"), History::Full).unwrap();
    let rules = proof::rules(&document);
    for rule in [Rule::ByteOrderMark, Rule::UnknownType, Rule::UnansweredCall] {
        assert!(rules.contains(&rule), "{rule:?} in {rules:?}");
    }
    for broken in ["[", r#"[{"role":"user","content":"x","ts":1},"#] {
        let source = Source::memory(HISTORY, broken.into());
        let error = format::read(&source, Some(&FORMAT), &Request::default())
            .unwrap_err()
            .to_string();
        assert!(error.contains("not JSON"), "{error}");
    }
    let element = r#"[{"role":"user","content":"x","ts":1},3,{"role":"ghost","content":"y"},{"role":"user"}]"#;
    let source = Source::memory(HISTORY, element.into());
    let document = format::read(&source, Some(&FORMAT), &Request::default()).unwrap();
    assert_eq!(
        proof::rules(&document),
        [Rule::NotARecord, Rule::UnknownRole, Rule::NotARecord]
    );
}

#[test]
fn other_lists_are_left_to_others() {
    let anthropic = r#"[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{}}]}]"#;
    let chat = r#"[{"role":"user","content":"x","ts":1},{"role":"tool","tool_call_id":"c","content":"y"}]"#;
    for (text, name) in [(anthropic, "anthropic"), (chat, "openai-chat")] {
        assert_eq!(proof::read_text(text, History::Live).unwrap().format.name, name);
    }
}

fn count(message: &Value, kind: &str) -> u64 {
    let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
    blocks.iter().filter(|block| block["type"] == kind).count() as u64
}

#[test]
fn the_real_sessions_are_all_there() {
    let Some(directory) = proof::samples("cline") else {
        return;
    };
    for path in proof::files(&directory) {
        let tree = proof::tree(&path);
        let source = Source::open(&path).unwrap();
        let Some(messages) = tree["messages"].as_array() else {
            let error = proof::read(&source, History::Live).unwrap_err().to_string();
            assert!(error.contains(tree["messages_path"].as_str().unwrap()), "{error}");
            continue;
        };
        let sum = |kind: &str| messages.iter().map(|message| count(message, kind)).sum::<u64>();
        for history in [History::Live, History::Full] {
            let document = proof::read(&source, history).unwrap();
            let recorded = document.recorded;
            let system = u64::from(tree["system_prompt"].is_string());
            assert_eq!(recorded.messages, messages.len() as u64 + system);
            assert_eq!(
                (recorded.calls, recorded.results),
                (sum("tool_use"), sum("tool_result"))
            );
            assert_eq!(proof::rules(&document), []);
            assert_eq!(document.about.parent.as_deref(), Some("1784094053271_p8pzo"));
            let reported = messages.iter().filter(|message| message["metrics"].is_object()).count();
            let read = document
                .transcript
                .messages()
                .iter()
                .filter(|message| message.usage.is_some())
                .count();
            assert_eq!(read, reported);
            for event in document.transcript.events() {
                let is_agentic = event.summary.is_some();
                assert_eq!(is_agentic, path.ends_with("agentic.compaction.json"));
                assert_eq!(event.trigger == Trigger::Manual, !is_agentic);
            }
        }
    }
}

#[test]
fn tasks_and_sessions_are_found_where_they_live() {
    let home = tempfile::tempdir().unwrap();
    for name in [
        ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1/api_conversation_history.json",
        ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1/ui_messages.json",
        ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/2/api_conversation_history.json",
        "Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/3/api_conversation_history.json",
        ".cline/data/sessions/4/4.messages.json",
        ".cline/data/sessions/4/4.json",
    ] {
        let path = home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "[]").unwrap();
    }
    let homes = Homes {
        home: home.path().to_owned(),
        ..Homes::default()
    };
    assert_eq!(crate::discover::find(&homes).len(), 4);
}

#[test]
fn values_of_any_kind_are_tolerated_anywhere() {
    for list in [TEXT_TOOLS, ROO] {
        let messages: Vec<Value> = serde_json::from_str(list).unwrap();
        proof::prove_tolerant(&FORMAT, &messages, proof::as_array);
        let session = serde_json::json!({"version": 1, "sessionId": "s", "agent": "lead", "messages": messages});
        proof::prove_tolerant(&FORMAT, &[session], proof::as_object);
    }
}
