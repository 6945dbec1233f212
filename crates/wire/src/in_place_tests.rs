//! Asking in place: what is sent, what is refused, and what the body says about the answer.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use super::*;
use crate::format;
use crate::reading::Request;
use crate::source::Source;

fn read(body: &str) -> Document {
    let source = Source::memory("test", body.as_bytes().to_vec());
    format::read(&source, None, &Request::default()).unwrap()
}

fn ask(body: &str, until: usize) -> Result<InPlace, InPlaceError> {
    read(body).asked_in_place(&BTreeMap::new(), None, until, "Sum \"it\" up.")
}

#[test]
fn only_a_message_is_added() {
    let chat = "{ \"model\":\"m\", \"messages\":[ {\"role\":\"user\",\"content\":\"a\"} ,\n {\"role\":\"assistant\",\"content\":\"b\",\"x\":1.0} ], \"tools\":[] }";
    let asked = ask(chat, 2).unwrap();
    assert_eq!(
        asked.body,
        "{ \"model\":\"m\", \"messages\":[ {\"role\":\"user\",\"content\":\"a\"} ,\n {\"role\":\"assistant\",\"content\":\"b\",\"x\":1.0},{\"role\":\"user\",\"content\":\"Sum \\\"it\\\" up.\"}], \"tools\":[] }"
    );
    assert_eq!(asked.body[..asked.shared], chat[..asked.shared]);
    assert!(asked.body[..asked.shared].ends_with("\"x\":1.0}"));
    let first = ask(chat, 1).unwrap();
    assert!(first.body[..first.shared].ends_with("\"a\"}"));
    assert!(first.body.ends_with("],\"tools\":[] }") || first.body.ends_with("], \"tools\":[] }"));

    let anthropic = r#"{"model":"m","system":"s","messages":[{"role":"user","content":"a"}]}"#;
    assert_eq!(
        ask(anthropic, 9).unwrap().body,
        r#"{"model":"m","system":"s","messages":[{"role":"user","content":"a"},{"role":"user","content":[{"type":"text","text":"Sum \"it\" up."}]}]}"#
    );
    let responses = r#"{"model":"m","input":[{"role":"user","content":"a"}]}"#;
    assert_eq!(
        ask(responses, 1).unwrap().body,
        r#"{"model":"m","input":[{"role":"user","content":"a"},{"type":"message","role":"user","content":[{"type":"input_text","text":"Sum \"it\" up."}]}]}"#
    );
    let none = r#"{"model":"m","input":[]}"#;
    assert!(
        ask(none, 0)
            .unwrap()
            .body
            .starts_with(r#"{"model":"m","input":[{"type""#)
    );
}

#[test]
fn what_is_not_a_request_is_refused() {
    for source in [
        r#"[{"role":"user","content":"a"}]"#,
        r#"{"messages":[{"role":"user","content":"a"}]}"#,
        r#"{"model":"m","input":"a"}"#,
        "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}\n",
    ] {
        assert_eq!(ask(source, 1), Err(InPlaceError::NotARequest), "{source}");
        assert_eq!(read(source).request_settings(), None, "{source}");
    }
    let document = read(r#"{"model":"m","input":[{"role":"user","content":"a"}]}"#);
    assert_eq!(document.request_model(), Some("m"));
    let nothing = document.asked_in_place(&BTreeMap::new(), None, 1, " \n");
    assert_eq!(nothing, Err(InPlaceError::NoInstruction));
}

#[test]
fn what_the_provider_keeps_cannot_be_asked() {
    for field in SERVER_STATE {
        let kept = format!(r#"{{"model":"m","{field}":"x","input":[{{"role":"user","content":"a"}}]}}"#);
        assert_eq!(ask(&kept, 1), Err(InPlaceError::ServerState { field }));
        let null = kept.replace("\"x\"", "null");
        assert!(ask(&null, 1).is_ok(), "{null}");
    }
}

#[test]
fn a_pair_is_never_cut() {
    let body = r#"{"model":"m","input":[{"role":"user","content":"a"},
        {"type":"reasoning","id":"r","summary":[],"encrypted_content":"x"},
        {"type":"function_call","call_id":"1","name":"n","arguments":"{}"},
        {"type":"function_call","call_id":"2","name":"n","arguments":"{}"},
        {"type":"function_call_output","call_id":"1","output":"o"},
        {"type":"function_call_output","call_id":"2","output":"o"},
        {"role":"user","content":"b"},
        {"type":"function_call","call_id":"3","name":"n","arguments":"{}"}]}"#;
    let document = read(body);
    let steps: Vec<_> = (0..10).map(|until| document.last_whole_step(until)).collect();
    assert_eq!(steps, [0, 1, 1, 1, 1, 1, 6, 7, 7, 7]);
    for until in 0..=8 {
        let whole = ask(body, document.last_whole_step(until));
        assert!(whole.is_ok(), "{until}: {whole:?}");
        assert_eq!(ask(body, until).is_ok(), document.last_whole_step(until) == until);
    }
    assert_eq!(ask(body, 2), Err(InPlaceError::OpenReasoning { message: 1 }));
    assert_eq!(ask(body, 5), Err(InPlaceError::OpenCalls { message: 3 }));
    assert_eq!(ask(body, 8), Err(InPlaceError::OpenCalls { message: 7 }));
}

#[test]
fn what_stands_in_the_way_of_an_answer_is_reported() {
    let chat = |fields: &str| {
        let body = format!(r#"{{"model":"m",{fields},"messages":[{{"role":"user","content":"a"}}]}}"#);
        let settings = read(&body).request_settings().unwrap();
        assert_eq!(settings, ask(&body, 1).unwrap().settings);
        settings
    };
    for (fields, forces) in [
        (r#""tool_choice":"auto""#, false),
        (r#""tool_choice":"none""#, false),
        (r#""tool_choice":null"#, false),
        (r#""tool_choice":"required""#, true),
        (r#""tool_choice":{"type":"any"}"#, true),
        (r#""tool_choice":{"type":"auto"}"#, false),
        (r#""tool_choice":{"type":"tool","name":"n"}"#, true),
        (r#""tool_choice":{"type":"function","function":{"name":"n"}}"#, true),
        (
            r#""tool_choice":{"type":"allowed_tools","mode":"auto","tools":[]}"#,
            false,
        ),
        (
            r#""tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required"}}"#,
            true,
        ),
        (r#""function_call":{"name":"n"}"#, true),
    ] {
        assert_eq!(chat(fields).forces_tools, forces, "{fields}");
    }
    let said =
        chat(r#""max_tokens":5,"max_completion_tokens":7,"stream":true,"response_format":{"type":"json_object"}"#);
    assert_eq!(said.output_limit, Some(7));
    assert!(said.streams && said.forces_json && !said.forces_tools);
    let plain = chat(r#""response_format":{"type":"text"}"#);
    assert_eq!(plain, RequestSettings::default());
    let responses = read(
        r#"{"model":"m","max_output_tokens":80,"text":{"format":{"type":"json_schema"}},"input":[{"role":"user","content":"a"}]}"#,
    );
    let said = responses.request_settings().unwrap();
    assert!(said.forces_json && said.output_limit == Some(80));
    let anthropic = read(
        r#"{"model":"m","max_tokens":9,"system":"s","output_config":{"format":{"type":"json_schema"}},"messages":[{"role":"user","content":"a"}]}"#,
    );
    let said = anthropic.request_settings().unwrap();
    assert!(said.forces_json && said.output_limit == Some(9));
}
