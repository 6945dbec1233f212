//! The forms: bodies, whole answers, streams, errors, and every recorded exchange.

use std::path::Path;

use serde_json::Value;

use super::*;
use crate::error::Cause;
use crate::events::Events;
use crate::model::Endpoint;
use crate::prompt::Shape;
use crate::prompt::Speaker;

fn model(form: WireForm, url: &str, id: &str) -> Model {
    Model::new("m", id, Endpoint::new("e", url, form), 1000, 100)
}

fn prompt() -> Prompt {
    Prompt {
        system: "Be short.".to_owned(),
        turns: vec![(Speaker::User, "Hi \"you\"".to_owned())],
        most_tokens: Some(50),
        temperature: Some(0.0),
        shape: Shape::Json,
    }
}

fn streamed(form: WireForm, text: &str) -> Result<Answer, Trouble> {
    let mut events = Events::default();
    let mut reader = Reader::new(form);
    for event in events.push(text.as_bytes()) {
        reader.take(&event)?;
    }
    if let Some(event) = events.finish() {
        reader.take(&event)?;
    }
    reader.finish()
}

fn said(answer: &Answer) -> (&str, Stop) {
    (&answer.text, answer.stop)
}

#[test]
fn bodies_are_what_each_form_documents() {
    let chat = body(&model(WireForm::Chat, "http://localhost:1/v1", "qwen"), &prompt());
    assert_eq!(
        chat,
        r#"{"model":"qwen","messages":[{"role":"system","content":"Be short."},{"role":"user","content":"Hi \"you\""}],"max_tokens":50,"temperature":0.0,"response_format":{"type":"json_object"},"stream":true,"stream_options":{"include_usage":true}}"#
    );
    let responses = body(&model(WireForm::Responses, "u", "gpt-5"), &prompt());
    assert_eq!(
        responses,
        r#"{"model":"gpt-5","store":false,"instructions":"Be short.","input":[{"role":"user","content":"Hi \"you\""}],"max_output_tokens":50,"temperature":0.0,"text":{"format":{"type":"json_object"}},"stream":true}"#
    );
    let anthropic = body(&model(WireForm::Anthropic, "u", "claude"), &prompt());
    assert_eq!(
        anthropic,
        r#"{"model":"claude","max_tokens":50,"system":"Be short.","messages":[{"role":"user","content":"Hi \"you\""}],"temperature":0.0,"stream":true}"#
    );
}

#[test]
fn what_is_not_asked_for_is_not_sent() {
    let plain = Prompt {
        turns: vec![(Speaker::User, "a".to_owned()), (Speaker::Assistant, "b".to_owned())],
        ..Prompt::default()
    };
    for form in [WireForm::Chat, WireForm::Responses, WireForm::Anthropic] {
        let whole = body_delivered(&model(form, "u", "m"), &plain, Delivery::Whole);
        let sent: Value = serde_json::from_str(&whole).unwrap();
        for absent in [
            "stream",
            "stream_options",
            "temperature",
            "system",
            "instructions",
            "response_format",
            "text",
        ] {
            assert!(sent.get(absent).is_none(), "{form:?} {absent}");
        }
        assert_eq!(sent.get("max_tokens").is_some(), form == WireForm::Anthropic);
    }
}

#[test]
fn the_limit_has_the_name_that_the_server_takes() {
    let names = [
        ("https://api.openai.com/v1", "gpt-4o-mini", "max_completion_tokens"),
        ("https://me.openai.azure.com/openai/v1", "mine", "max_completion_tokens"),
        ("http://127.0.0.1:9/v1", "gpt-5-mini", "max_completion_tokens"),
        ("https://openrouter.ai/api/v1", "openai/o3", "max_completion_tokens"),
        ("https://openrouter.ai/api/v1", "openai/gpt-oss-20b", "max_tokens"),
        ("http://localhost:11434/v1", "qwen3", "max_tokens"),
        ("https://notopenai.com/v1", "m", "max_tokens"),
    ];
    for (url, id, name) in names {
        let sent: Value = serde_json::from_str(&body(&model(WireForm::Chat, url, id), &prompt())).unwrap();
        assert_eq!(sent[name], 50, "{url} {id}");
    }
}

#[test]
fn whole_answers_are_read_in_every_form() {
    let chat = read_whole(
        WireForm::Chat,
        r#"{"id":"c","object":"chat.completion","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"Hello \ud83d","reasoning_content":"hm"},"finish_reason":"stop"}],
            "usage":{"prompt_tokens":20,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":16,"cache_write_tokens":2}}}"#,
    )
    .unwrap();
    assert_eq!(said(&chat), ("Hello \u{fffd}", Stop::End));
    let usage = Usage {
        input: 20,
        cache_read: 16,
        cache_write: 2,
        output: 5,
    };
    assert_eq!((chat.usage, chat.served_by.as_deref()), (Some(usage), Some("m-1")));

    let responses = read_whole(
        WireForm::Responses,
        r#"{"object":"response","status":"incomplete","error":null,"incomplete_details":{"reason":"max_output_tokens"},"model":"m","output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]},
            {"type":"message","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"b"}]}],"usage":{"input_tokens":3,"input_tokens_details":{"cached_tokens":1},"output_tokens":2}}"#,
    )
    .unwrap();
    assert_eq!(said(&responses), ("ab", Stop::Length));

    let anthropic = read_whole(
        WireForm::Anthropic,
        r#"{"type":"message","model":"c","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"a"},{"type":"text","text":"b"}],
            "stop_reason":"end_turn","usage":{"input_tokens":3,"cache_read_input_tokens":10,"cache_creation_input_tokens":100,"output_tokens":2}}"#,
    )
    .unwrap();
    assert_eq!(said(&anthropic), ("ab", Stop::End));
    assert_eq!(
        anthropic.usage,
        Some(Usage {
            input: 113,
            cache_read: 10,
            cache_write: 100,
            output: 2
        })
    );
}

#[test]
fn refusals_and_tool_calls_show_in_the_stop() {
    let chat = |choice: &str| read_whole(WireForm::Chat, &format!(r#"{{"choices":[{choice}]}}"#)).unwrap();
    let refusal = chat(r#"{"message":{"content":null,"refusal":"I can't"},"finish_reason":"stop"}"#);
    assert_eq!(said(&refusal), ("I can't", Stop::Refusal));
    let filtered = chat(r#"{"message":{"content":"half"},"finish_reason":"content_filter"}"#);
    assert_eq!(said(&filtered), ("half", Stop::Refusal));
    let called = chat(r#"{"message":{"content":"so","tool_calls":[{"id":"1"}]},"finish_reason":"stop"}"#);
    assert_eq!(said(&called), ("so", Stop::ToolCall));
    let parts = chat(
        r#"{"message":{"content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"y"}]},"finish_reason":"length"}"#,
    );
    assert_eq!(said(&parts), ("y", Stop::Length));
    let thought = chat(r#"{"message":{"content":"\n<think>hm</think>\n\nyes"},"finish_reason":"stop"}"#);
    assert_eq!(said(&thought), ("yes", Stop::End));
    let only_thought = chat(r#"{"message":{"content":"<think>hm"},"finish_reason":"length"}"#);
    assert_eq!(said(&only_thought), ("", Stop::Length));
    let odd = chat(r#"{"message":{"content":"x"}}"#);
    assert_eq!(odd.stop, Stop::Other);

    let refused = r#"{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"no"}]},{"type":"function_call"}]}"#;
    assert_eq!(
        said(&read_whole(WireForm::Responses, refused).unwrap()),
        ("no", Stop::Refusal)
    );
    for (reason, stop) in [
        ("tool_use", Stop::ToolCall),
        ("refusal", Stop::Refusal),
        ("max_tokens", Stop::Length),
        ("model_context_window_exceeded", Stop::Length),
        ("pause_turn", Stop::Other),
    ] {
        let text = format!(r#"{{"content":[{{"type":"text","text":"x"}}],"stop_reason":"{reason}"}}"#);
        assert_eq!(read_whole(WireForm::Anthropic, &text).unwrap().stop, stop);
    }
}

#[test]
fn what_is_no_answer_is_trouble() {
    for form in [WireForm::Chat, WireForm::Responses, WireForm::Anthropic] {
        for text in [
            "",
            "  ",
            "{",
            "[]",
            "null",
            "{}",
            "\"x\"",
            r#"{"choices":[]}"#,
            r#"{"choices":[{"message":{"cont"#,
        ] {
            let trouble = read_whole(form, text).unwrap_err();
            assert_eq!(trouble.cause, Cause::Malformed, "{form:?} {text}");
        }
        let wrapped = read_whole(form, r#"{"error":{"message":"slow down","code":429}}"#).unwrap_err();
        assert_eq!(
            (wrapped.cause, wrapped.detail.as_str()),
            (Cause::RateLimited, "slow down")
        );
    }
    let failed = r#"{"object":"response","status":"failed","error":{"code":"context_length_exceeded","message":"Your input"},"output":[],"usage":{"input_tokens":9,"output_tokens":0}}"#;
    let failed = read_whole(WireForm::Responses, failed).unwrap_err();
    assert_eq!(
        (failed.cause, failed.usage.map(|usage| usage.input)),
        (Cause::TooLong, Some(9))
    );
    let waiting = read_whole(WireForm::Responses, r#"{"status":"queued","output":[]}"#).unwrap_err();
    assert_eq!(waiting.cause, Cause::Malformed);
}

#[test]
fn a_stream_without_its_end_is_cut_off() {
    let chunk = r#"data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}"#;
    let finish = r#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
    let other = r#"data: {"choices":[{"index":1,"delta":{"content":"No"},"finish_reason":"length"}]}"#;
    let chat = |parts: &[&str]| streamed(WireForm::Chat, &(parts.join("\n\n") + "\n\n"));
    assert_eq!(chat(&[chunk]).unwrap_err().detail, "the answer was cut off");
    assert_eq!(chat(&[chunk, other]).unwrap_err().cause, Cause::Malformed);
    assert_eq!(said(&chat(&[chunk, finish]).unwrap()), ("Hi", Stop::End));
    assert_eq!(said(&chat(&[chunk, "data: [DONE]"]).unwrap()), ("Hi", Stop::Other));
    assert_eq!(chat(&["data: [DONE]"]).unwrap_err().cause, Cause::Malformed);
    assert_eq!(
        chat(&[chunk, "data: {\"choices\": [{"]).unwrap_err().cause,
        Cause::Malformed
    );
    assert_eq!(chat(&[""]).unwrap_err().cause, Cause::Malformed);

    let start = r#"data: {"type":"message_start","message":{"model":"c","usage":{"input_tokens":7,"cache_read_input_tokens":3,"output_tokens":1}}}"#;
    let text = "event: content_block_delta\ndata: {\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}";
    let stop = r#"data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}"#;
    let end = r#"data: {"type":"message_stop"}"#;
    let odd = "event: weather\ndata: {\"type\":\"weather\"}";
    let anthropic = |parts: &[&str]| streamed(WireForm::Anthropic, &parts.join("\n\n"));
    let cut = anthropic(&[start, text, stop]).unwrap_err();
    assert_eq!(
        (cut.cause, cut.usage.map(|usage| usage.total())),
        (Cause::Malformed, Some(14))
    );
    let whole = anthropic(&[start, odd, text, stop, end]).unwrap();
    assert_eq!(said(&whole), ("Hi", Stop::End));
    assert_eq!(
        whole.usage,
        Some(Usage {
            input: 10,
            cache_read: 3,
            cache_write: 0,
            output: 4
        })
    );
    assert_eq!(anthropic(&[end]).unwrap_err().cause, Cause::Malformed);

    let delta = r#"data: {"type":"response.output_text.delta","delta":"Hi"}"#;
    let done = r#"data: {"type":"response.completed","response":{"status":"completed","output":[]}}"#;
    let responses = |parts: &[&str]| streamed(WireForm::Responses, &parts.join("\n\n"));
    assert_eq!(responses(&[delta]).unwrap_err().detail, "the answer was cut off");
    assert_eq!(said(&responses(&[delta, done]).unwrap()), ("Hi", Stop::End));
}

#[test]
fn errors_inside_of_streams_say_what_they_are() {
    let cases = [
        (
            WireForm::Anthropic,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            Cause::Overloaded,
        ),
        (
            WireForm::Anthropic,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"x"}}"#,
            Cause::RateLimited,
        ),
        (
            WireForm::Responses,
            r#"{"type":"error","code":"rate_limit_exceeded","message":"x","param":null}"#,
            Cause::RateLimited,
        ),
        (
            WireForm::Responses,
            r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"context_length_exceeded","message":"x"}}}"#,
            Cause::TooLong,
        ),
        (
            WireForm::Responses,
            r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"x"}}}"#,
            Cause::ServerError(500),
        ),
        (
            WireForm::Chat,
            r#"{"error":{"message":"x","code":502}}"#,
            Cause::ServerError(502),
        ),
        (
            WireForm::Chat,
            r#"{"object":"chat.completion.chunk","error":{"code":"rate_limit_exceeded","message":"x"},"choices":[{"index":0,"finish_reason":"error"}]}"#,
            Cause::RateLimited,
        ),
        (
            WireForm::Chat,
            r#"{"choices":[{"index":0,"finish_reason":"error"}]}"#,
            Cause::ServerError(500),
        ),
    ];
    for (form, data, cause) in cases {
        let trouble = streamed(form, &format!("event: error\ndata: {data}\n\n")).unwrap_err();
        assert_eq!(trouble.cause, cause, "{data}");
    }
}

#[test]
fn a_stream_cut_anywhere_is_whole_or_no_answer() {
    let reply = mainstay_tests::reply::Reply::new("Hello, wörld 👋");
    for form in [WireForm::Chat, WireForm::Responses, WireForm::Anthropic] {
        let (_, stream) = reply.to(path(form), r#"{"stream":true}"#);
        let mut whole = 0;
        for (cut, _) in stream.char_indices().skip(1) {
            if let Ok(answer) = streamed(form, &stream[..cut]) {
                assert_eq!(said(&answer), ("Hello, wörld 👋", Stop::End), "{form:?} at {cut}");
                whole += 1;
            }
        }
        assert!((1..stream.len() / 2).contains(&whole), "{form:?} {whole}");
    }
}

#[test]
fn no_damage_makes_a_reader_panic() {
    let reply = mainstay_tests::reply::Reply::new("Hi 👋").stopped_by("tool_calls");
    for form in [WireForm::Chat, WireForm::Responses, WireForm::Anthropic] {
        for request in [r#"{"stream":true}"#, "{}"] {
            let (_, body) = reply.to(path(form), request);
            for at in (0..body.len()).step_by(3) {
                for damage in [b'"', b'{', b'\\', b'9', 0xff, b'\n'] {
                    let mut bytes = body.clone().into_bytes();
                    bytes[at] = damage;
                    let text = String::from_utf8_lossy(&bytes);
                    let _outcomes = (
                        streamed(form, &text),
                        read_whole(form, &text),
                        Complaint::read(&text).trouble(None),
                    );
                }
            }
        }
    }
}

#[test]
fn recorded_exchanges_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/samples/wire");
    let Ok(files) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: no recorded exchanges");
        return;
    };
    let mut read = 0;
    for file in files.flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        let form = match name.split(['_', '-']).take(2).collect::<Vec<_>>().join("-").as_str() {
            "openai-chat" => WireForm::Chat,
            "openai-responses" => WireForm::Responses,
            "anthropic-messages" => WireForm::Anthropic,
            _ => continue,
        };
        let recording: Value = serde_json::from_str(&std::fs::read_to_string(file.path()).unwrap()).unwrap();
        for exchange in recording["interactions"].as_array().unwrap() {
            let response = &exchange["response"];
            let body = response["body"].as_str().unwrap();
            if response["status"] != 200 {
                let complaint = Complaint::read(body).trouble(Some(400));
                assert_eq!(complaint.cause, Cause::BadRequest(400));
                assert!(complaint.detail.starts_with("messages.1: `tool_use`"), "{complaint:?}");
                continue;
            }
            let answer = streamed(form, body).unwrap_or_else(|trouble| panic!("{name}: {trouble:?}"));
            assert!(matches!(answer.stop, Stop::End | Stop::ToolCall), "{name}: {answer:?}");
            let calls = [r#""type":"tool_use""#, r#""type":"function_call""#, r#""tool_calls":["#];
            let calls = calls.iter().any(|mark| body.contains(mark));
            assert_eq!(answer.stop == Stop::ToolCall, calls, "{name}");
            assert!(
                answer.usage.is_some_and(|usage| usage.input > 0 && usage.output > 0),
                "{name}"
            );
            assert!(answer.stop == Stop::ToolCall || !answer.text.is_empty(), "{name}");
            // Cut anywhere before its last event, it is no answer.
            let cut = body.trim_end().rfind("\n\n").unwrap();
            let cut = body[..cut].trim_end().rfind("\n\n").unwrap();
            assert!(
                form == WireForm::Chat || streamed(form, &body[..cut]).is_err(),
                "{name}"
            );
            read += 1;
        }
    }
    assert!(read >= 20, "{read}");
}
