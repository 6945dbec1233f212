//! Tests of the reader of ShareGPT conversations.

use super::*;
use crate::format;
use crate::reading::History;
use crate::sessions::proof;

const HERMES: &str = r#"{"id":"h1","model":"m","timestamp":"2026-08-01T10:00:00Z","tools":"[{\"name\":\"ls\"}]","conversations":[
  {"from":"system","value":"Call tools. <tools>[]</tools>"},
  {"from":"human","value":"list two places"},
  {"from":"gpt","value":"<think>\nI need both.\n</think>\nLooking.\n<tool_call>\n{\"name\": \"ls\", \"arguments\": {\"path\": \"a\"}}\n</tool_call>\n<tool_call>{\"name\":\"ls\",\"arguments\":\"{\\\"path\\\":\\\"b\\\"}\"}</tool_call>"},
  {"from":"tool","value":"<tool_response>\n{\"name\": \"ls\", \"content\": \"one\"}\n</tool_response>\n<tool_response>\n{\"content\": {\"files\": [1.0]}}\n</tool_response>"},
  {"from":"gpt","value":"Done."}]}"#;

#[test]
fn hermes_tags_are_thoughts_calls_and_results() {
    let document = proof::read_text(HERMES, History::Live).unwrap();
    assert_eq!(document.format.name, "sharegpt");
    assert_eq!(
        proof::voices(&document),
        ["system", "user", "assistant", "tool", "tool", "assistant"]
    );
    assert_eq!(proof::rules(&document), []);
    assert_eq!(document.transcript.pairs().len(), 2);
    assert_eq!(
        (
            document.recorded.messages,
            document.recorded.calls,
            document.recorded.results
        ),
        (6, 2, 2)
    );
    let messages = document.transcript.messages();
    let [
        Part::Thinking(thought),
        Part::Text(text),
        Part::Call(first),
        Part::Call(second),
    ] = &messages[2].parts[..]
    else {
        panic!("{:?}", messages[2].parts);
    };
    assert_eq!((thought.text.as_ref(), text.as_ref()), ("I need both.", "Looking."));
    assert_eq!(first.input.as_str(), r#"{"path": "a"}"#);
    assert_eq!(second.input.as_str(), r#"{"path":"b"}"#);
    let answer = messages[4].results().next().unwrap();
    assert_eq!(answer.content, [Content::Text(r#"{"files": [1.0]}"#.into())]);
    assert_eq!(document.about.model.as_deref(), Some("m"));
    assert_eq!(document.about.tools.as_deref(), Some(r#"[{"name":"ls"}]"#));
}

#[test]
fn plain_calls_and_observations_pair_in_order() {
    let text = r#"[{"system":"s","conversations":[
        {"from":"human","value":"go"},
        {"from":"function_call","value":"{\"name\":\"a\",\"arguments\":{}}"},
        {"from":"function_call","value":"{\"name\":\"b\",\"parameters\":{\"x\":1},\"id\":\"own\"}"},
        {"from":"observation","value":"{\"tool_call_id\":\"own\",\"content\":\"of b\"}"},
        {"from":"observation","value":"of a"},
        {"from":"observation","value":"of nothing"},
        {"from":"narrator","value":"later"},
        {"from":"human"}, 7]}]"#;
    let document = proof::read_text(text, History::Full).unwrap();
    let rules = [
        Rule::UnknownRole,
        Rule::NotARecord,
        Rule::NotARecord,
        Rule::DisplacedResult,
        Rule::MissingCallId,
        Rule::OrphanResult,
    ];
    assert_eq!(proof::rules(&document), rules);
    let results: Vec<_> = document
        .transcript
        .messages()
        .iter()
        .flat_map(Message::results)
        .collect();
    assert_eq!(
        results.iter().map(|result| result.id.as_str()).collect::<Vec<_>>(),
        ["call_0", "own"]
    );
}

#[test]
fn what_is_not_a_whole_call_stays_text() {
    let text = r#"{"conversations":[{"from":"human","value":"go"},
        {"from":"gpt","value":"a <think>never closed <tool_call>{'name': 'x'}</tool_call> b <tool_call>{\"name\":\"y\"}"}]}"#;
    let document = proof::read_text(text, History::Full).unwrap();
    assert_eq!(proof::rules(&document), [Rule::MalformedArguments]);
    let words: String = document.transcript.messages()[1]
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => text.as_ref(),
            _ => panic!("{part:?}"),
        })
        .collect();
    for kept in ["a <think>never closed", "{'name': 'x'}", "<tool_call>{\"name\":\"y\"}"] {
        assert!(words.contains(kept), "{words}");
    }
}

#[test]
fn several_conversations_are_listed_and_chosen() {
    let lines = format!(
        "{}\nnonsense\n{{\"conversations\":[{{\"from\":\"user\",\"value\":\"second\"}}]}}\r\n{{\"x\":1}}\n{{\"conver",
        HERMES.replace('\n', " ")
    );
    let source = Source::memory("lines", lines.clone().into());
    let entries = list(&source).unwrap();
    let listed: Vec<_> = entries
        .iter()
        .map(|entry| (entry.id.as_str(), entry.title.as_deref()))
        .collect();
    assert_eq!(listed, [("h1", Some("list two places")), ("1", Some("second"))]);
    let first = proof::read_text(&lines, History::Full).unwrap();
    assert_eq!((first.about.id.as_deref(), first.about.conversations), (Some("h1"), 2));
    for rule in [
        Rule::BadRecord,
        Rule::CarriageReturns,
        Rule::NotARecord,
        Rule::TornRecord,
    ] {
        assert!(proof::rules(&first).contains(&rule), "{rule:?}");
    }
    let request = |session: &str| Request {
        session: Some(session.to_owned()),
        ..Request::default()
    };
    let second = format::read(&source, None, &request("1")).unwrap();
    assert_eq!(second.transcript.messages().len(), 1);
    let error = format::read(&source, None, &request("9")).unwrap_err().to_string();
    assert!(error.contains("h1, 1"), "{error}");
}

#[test]
fn many_tags_take_linear_time() {
    let value = "<tool_call>{\"name\":\"x\"}</tool_call>".repeat(100_000) + &"<think>".repeat(100_000);
    let text = serde_json::json!({"conversations": [{"from": "gpt", "value": value}]}).to_string();
    let document = format::read(&Source::memory("t", text.into()), None, &Request::default()).unwrap();
    assert_eq!(document.recorded.calls, 100_000);
}

#[test]
fn values_of_any_kind_are_tolerated_anywhere() {
    proof::prove_tolerant(&FORMAT, &[serde_json::from_str(HERMES).unwrap()], proof::as_lines);
}
