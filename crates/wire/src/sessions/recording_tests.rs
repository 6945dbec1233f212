//! Tests of the reader of recorded requests.

use serde_json::Value;

use super::*;
use crate::format;
use crate::sessions::proof;

fn recording(bodies: &[(&str, Value)]) -> String {
    let interactions: Vec<_> = bodies
        .iter()
        .map(|(url, body)| serde_json::json!({"request": {"url": url, "body": body}, "response": {"status": 200}}))
        .collect();
    serde_json::json!({
        "version": 1,
        "metadata": {"name": "a test", "recordedAt": "2026-05-11T01:52:54.319Z"},
        "interactions": interactions,
    })
    .to_string()
}

fn read_session(text: &str, session: Option<&str>) -> Result<Document, ReadError> {
    let request = Request {
        session: session.map(str::to_owned),
        ..Request::default()
    };
    format::read(&Source::memory("recording.json", text.into()), None, &request)
}

#[test]
fn the_last_conversation_is_read_and_written_as_it_was() {
    let chat = r#"{"model":"m", "messages":[{"role":"user","content":"hi","n":1.10}]}"#;
    let responses = r#"{"model":"r","input":[{"role":"user","content":"hello"}]}"#;
    let text = recording(&[
        ("https://api.openai.com/v1/chat/completions", chat.into()),
        ("https://api.openai.com/v1/responses", responses.into()),
        ("https://api.openai.com/v1/models", "".into()),
    ]);
    let last = read_session(&text, None).unwrap();
    assert_eq!(last.format.name, "recording");
    assert_eq!(last.form().name(), "openai-responses");
    assert_eq!(last.write(), responses);
    assert_eq!(last.about.title.as_deref(), Some("a test"));
    assert_eq!((last.about.id.as_deref(), last.about.conversations), (Some("1"), 3));
    let first = read_session(&text, Some("0")).unwrap();
    assert_eq!(first.write(), chat);
    let entries = list(&Source::memory("recording.json", text.clone().into())).unwrap();
    let listed: Vec<_> = entries
        .iter()
        .map(|entry| (entry.id.as_str(), entry.messages))
        .collect();
    assert_eq!(listed, [("0", Some(1)), ("1", Some(1)), ("2", None)]);
    for wrong in ["3", "-1", "one"] {
        let error = read_session(&text, Some(wrong)).unwrap_err().to_string();
        assert!(error.contains("0, 1, 2"), "{error}");
    }
    let error = read_session(&text, Some("2")).unwrap_err().to_string();
    assert!(error.contains("no recorded request holds a conversation"), "{error}");
}

#[test]
fn an_address_that_says_nothing_leaves_the_form_to_the_body() {
    let body = serde_json::json!({"model": "m", "system": "s", "messages": [{"role": "user", "content": "hi"}]});
    let document = read_session(&recording(&[("http://localhost/proxy", body.clone())]), None).unwrap();
    assert_eq!(document.form().name(), "anthropic");
    // A body that is JSON itself is written as it stands in the recording.
    assert_eq!(serde_json::from_str::<Value>(&document.write()).unwrap(), body);
}

#[test]
fn providers_that_are_not_read_are_named() {
    let gemini = r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#;
    let bedrock = r#"{"modelId":"m","messages":[{"role":"user","content":[{"text":"hi"}]}]}"#;
    for (url, body, name) in [
        (
            "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent",
            gemini,
            "Google Gemini",
        ),
        (
            "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse",
            bedrock,
            "Amazon Bedrock",
        ),
    ] {
        let text = recording(&[(url, body.into())]);
        for session in [None, Some("0")] {
            let error = read_session(&text, session).unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
    }
}

#[test]
fn damaged_recordings_are_refused() {
    for text in [
        r#"{"version":1,"interactions":[{"request":{"url":"u","body":"{\"messages\":[{\"role\""}}]}"#,
        r#"{"version":1,"interactions":[{"request":{"url":"u","body":""}}, 7, {"request":null}]}"#,
        r#"{"version":1,"interactions":[{"request":{"url":"/embeddings","body":"{\"model\":\"m\",\"input\":\"x\"}"}}]}"#,
    ] {
        let error = read_session(text, None).unwrap_err().to_string();
        assert!(error.contains("no recorded request holds a conversation"), "{error}");
    }
}

/// Counts calls and results of a request body by walking its whole tree.
fn count(value: &Value, calls: &mut u64, results: &mut u64) {
    match value {
        Value::Array(elements) => elements.iter().for_each(|element| count(element, calls, results)),
        Value::Object(fields) => {
            let kind = fields.get("type").and_then(Value::as_str).unwrap_or("");
            let is_call =
                matches!(kind, "tool_use" | "function_call") || (kind == "function" && fields.contains_key("id"));
            *calls += u64::from(is_call);
            let is_result = matches!(kind, "tool_result" | "function_call_output")
                || fields.get("role").is_some_and(|role| role == "tool");
            *results += u64::from(is_result);
            fields.values().for_each(|field| count(field, calls, results));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn every_real_recording_is_written_byte_for_byte_or_refused_by_name() {
    let Some(directory) = proof::samples("wire") else {
        return;
    };
    let mut read = 0;
    for path in proof::files(&directory) {
        let source = Source::open(&path).unwrap();
        let tree = proof::tree(&path);
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_read = name.starts_with("openai") || name.starts_with("anthropic");
        for (index, interaction) in tree["interactions"].as_array().unwrap().iter().enumerate() {
            let request = Request {
                session: Some(index.to_string()),
                ..Request::default()
            };
            let document = format::read(&source, None, &request);
            if !is_read {
                let provider = if name.starts_with("gemini") {
                    "Google Gemini"
                } else {
                    "Amazon Bedrock"
                };
                let error = document.unwrap_err().to_string();
                assert!(error.contains(provider), "{error}");
                continue;
            }
            let document = document.unwrap();
            let body = interaction["request"]["body"].as_str().unwrap();
            assert_eq!(document.write(), body, "{name} {index}");
            let body: Value = serde_json::from_str(body).unwrap();
            let (mut calls, mut results) = (0, 0);
            let list = if body.get("messages").is_some() {
                &body["messages"]
            } else {
                &body["input"]
            };
            count(list, &mut calls, &mut results);
            let outside = u64::from(body.get("system").is_some() || body.get("instructions").is_some());
            let messages = list.as_array().unwrap().len() as u64 + outside;
            let recorded = document.recorded;
            assert_eq!(
                (recorded.messages, recorded.calls, recorded.results),
                (messages, calls, results),
                "{name}"
            );
            read += 1;
        }
    }
    assert!(read >= 20, "only {read} requests were read");
}

#[test]
fn real_files_of_other_agents_are_refused_with_a_reason() {
    for directory in ["grok", "other-agents"] {
        let Some(directory) = proof::samples(directory) else {
            return;
        };
        for path in proof::files(&directory) {
            let error = format::read(&Source::open(&path).unwrap(), None, &Request::default()).unwrap_err();
            let error = error.to_string();
            let reasons = ["does not read", "it is empty", "no conversation format matches"];
            assert!(reasons.iter().any(|reason| error.contains(reason)), "{error}");
        }
    }
}

#[test]
fn what_is_known_but_not_read_is_named() {
    for (text, name) in [
        (
            r#"{"conversations":[{"conversation":{"title":"t"},"responses":[{"sender":"human"}]}]}"#,
            "Grok",
        ),
        (
            "{\"ts\":\"t\",\"lvl\":\"info\",\"sid\":\"s\",\"msg\":\"m\"}\n{\"ts\":\"t\",\"lvl\":\"info\",\"sid\":\"s\",\"msg\":\"m\"}\n",
            "Grok",
        ),
        (r#"{"type":"usage.record","usage":{}}"#, "Kimi"),
        (r#"{"sessionId":"s","sessionDir":"d","workDir":"w"}"#, "Kimi"),
        (r#"{"contents":[{"role":"user","parts":[]}]}"#, "Google Gemini"),
    ] {
        let error = read_session(text, None).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn values_of_any_kind_are_tolerated_anywhere() {
    let body = serde_json::json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    let text = recording(&[("https://api.openai.com/v1/chat/completions", body)]);
    proof::prove_tolerant(&FORMAT, &[serde_json::from_str(&text).unwrap()], proof::as_object);
}
