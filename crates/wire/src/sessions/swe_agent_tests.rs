//! Tests of the reader of SWE-agent trajectories.

use mainstay_engine::transcript::Content;

use super::*;
use crate::format;
use crate::reading::History;
use crate::sessions::proof;

const TRAJ: &str = r#"{
  "environment": "swe_main",
  "replay_config": "{\"agent\": {\"model\": {\"name\": \"gpt-x\"}}}",
  "info": {"exit_status": "submitted", "swe_agent_version": "1.1.0"},
  "trajectory": [{"action": "ls", "observation": "a.py", "response": "Look.", "thought": "Look.", "query": []}],
  "history": [
    {"role": "system", "content": "You are a programmer.", "agent": "main", "message_type": "system_prompt"},
    {"role": "user", "content": "An example run", "agent": "main", "is_demo": true, "message_type": "demonstration"},
    {"role": "user", "content": [{"type": "text", "text": "Fix the bug.", "cache_control": {"type": "ephemeral"}}], "agent": "main", "message_type": "observation"},
    {"role": "assistant", "content": "Look.", "thought": "Look.", "action": "ls", "agent": "main", "message_type": "action",
     "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "sig"}],
     "tool_calls": [{"function": {"arguments": "{\"command\":\"ls\"}", "name": "bash"}, "id": "call_1", "type": "function"}]},
    {"role": "tool", "content": [{"type": "text", "text": "a.py"}], "agent": "main", "message_type": "observation", "tool_call_ids": ["call_1"]},
    {"role": "assistant", "content": "Text only.", "tool_calls": null, "message_type": "action"},
    {"role": "user", "content": "OBSERVATION: nothing", "message_type": "observation"}
  ]
}"#;

#[test]
fn a_history_is_read_with_its_demonstration_and_its_calls() {
    let document = proof::read_text(TRAJ, History::Full).unwrap();
    assert_eq!(document.format.name, "swe-agent");
    let voices = [
        "system",
        "user/host",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user/tool",
    ];
    assert_eq!(proof::voices(&document), voices);
    assert_eq!(proof::rules(&document), []);
    assert_eq!(document.transcript.pairs().len(), 1);
    assert_eq!(document.about.model.as_deref(), Some("gpt-x"));
    assert_eq!(document.about.version.as_deref(), Some("1.1.0"));
    let result = document.transcript.messages()[4].results().next().unwrap();
    assert_eq!(
        (result.id.as_str(), &result.content[..]),
        ("call_1", &[Content::Text("a.py".into())][..])
    );
    assert!(matches!(document.transcript.messages()[3].parts[0], Part::Thinking(_)));
    assert_eq!(document.recorded.messages, 7);
}

#[test]
fn without_a_history_the_steps_are_read() {
    let text = r#"{"trajectory":[
        {"action":"ls","observation":"a.py","response":"I look.","thought":"I look."},
        {"action":"exit","observation":"","response":"","thought":"Enough."}, 3],"info":{},"history":[]}"#;
    let document = proof::read_text(text, History::Full).unwrap();
    assert_eq!(proof::voices(&document), ["assistant", "user/tool", "assistant"]);
    assert_eq!(proof::rules(&document), [Rule::NotARecord]);
    let Part::Text(last) = &document.transcript.messages()[2].parts[0] else {
        panic!()
    };
    assert_eq!(last.as_ref(), "Enough.\n\nexit");
}

#[test]
fn attempts_are_conversations_of_their_own() {
    let second = TRAJ.replace("Fix the bug.", "Fix it again.");
    let text = format!("\u{feff}{{\"attempts\":[{TRAJ},{second}]}}");
    let source = Source::memory("x.traj", text.into());
    assert_eq!(list(&source).unwrap().len(), 2);
    let read = |session: Option<&str>| {
        let request = Request {
            session: session.map(str::to_owned),
            ..Request::default()
        };
        format::read(&source, None, &request)
    };
    let newest = read(None).unwrap();
    assert!(newest.write().contains("Fix it again."));
    assert_eq!((newest.about.id.as_deref(), newest.about.conversations), (Some("1"), 2));
    assert!(read(Some("0")).unwrap().write().contains("Fix the bug."));
    assert!(read(Some("5")).unwrap_err().to_string().contains("0, 1"));
    assert!(list(&Source::memory("x.traj", TRAJ.into())).unwrap().is_empty());
}

#[test]
fn mini_swe_agent_files_are_read_with_their_usage() {
    let text = r#"{"info":{"mini_version":"2.0.0","config":{"model":{"model_name":"cfg"}}},"trajectory_format":"mini-swe-agent-1.1","messages":[
        {"role":"system","content":"s"},{"role":"user","content":"task"},
        {"role":"assistant","content":"go","extra":{"timestamp":1785578400.25,"response":{"model":"real","usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}}},
        {"role":"user","content":"<returncode>0</returncode>"},
        {"role":"exit","content":"done"}]}"#;
    let document = proof::read_text(text, History::Live).unwrap();
    assert_eq!(proof::voices(&document), ["system", "user", "assistant", "user/tool"]);
    let said = &document.transcript.messages()[2];
    let usage = said.usage.as_ref().unwrap();
    assert_eq!((usage.input, usage.cache_read, usage.output), (10, 4, 2));
    assert_eq!(said.model.as_deref(), Some("real"));
    assert_eq!(said.at.map(|at| at.0), Some(1_785_578_400_250));
}

#[test]
fn damage_costs_only_itself() {
    let text = TRAJ.replace(r#"["call_1"]"#, "[\"call_1\", \"call_2\"]").replace(
        r#"{"role": "assistant", "content": "Text only.""#,
        r#"7, {"role": "ghost", "content": {"odd": 1}}, {"role": "assistant", "content": "Text only.""#,
    );
    let document = proof::read_text(&text, History::Full).unwrap();
    let rules = [Rule::DuplicateResult, Rule::NotARecord, Rule::UnknownRole];
    assert_eq!(proof::rules(&document), rules);
    let error = proof::read_text(
        r#"{"history":[{"role":"exit","content":""}],"trajectory":[],"info":{}}"#,
        History::Full,
    );
    assert!(error.unwrap_err().to_string().contains("no message"));
}

#[test]
fn values_of_any_kind_are_tolerated_anywhere() {
    proof::prove_tolerant(&FORMAT, &[serde_json::from_str(TRAJ).unwrap()], proof::as_object);
}
