//! What goes wrong in the answers that the client does not see.

use std::io::Read;
use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use mainstay_proxy::settings::PassTiming;
use mainstay_tests::conversation::Form;
use mainstay_tests::server::Script;
use mainstay_tests::server::Server;
use mainstay_tests::upstream::client;
use serde_json::Value;
use serde_json::json;

use crate::proxy::Proxy;
use crate::proxy::Tool;
use crate::proxy::headers;
use crate::proxy::path;
use crate::proxy::request;

/// An answer that says a word and calls our tool, whole.
fn recalling(form: Form) -> String {
    let (name, usage) = ("mainstay_recall", json!({"input_tokens": 5, "output_tokens": 7}));
    let answer = match form {
        Form::Anthropic => json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use", "usage": usage,
            "content": [{"type": "text", "text": "word"}, {"type": "tool_use", "id": "r1", "name": name, "input": {"query": "q"}}],
        }),
        Form::Chat => json!({
            "id": "c1", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
                "role": "assistant", "content": "word",
                "tool_calls": [{"id": "r1", "type": "function", "function": {"name": name, "arguments": "{\"query\":\"q\"}"}}],
            }}],
            "usage": {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12},
        }),
        Form::Responses => json!({
            "id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "m",
            "output": [
                {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "word"}]},
                {"id": "fc_1", "type": "function_call", "call_id": "r1", "name": name, "arguments": "{\"query\":\"q\"}"},
            ],
            "usage": {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12},
        }),
    };
    answer.to_string()
}

/// The same as a stream.
fn recalling_stream(form: Form) -> String {
    let whole: Value = serde_json::from_str(&recalling(form)).expect("it was written as JSON");
    let named = |events: Vec<Value>| -> String {
        let written = events.iter().map(|event| {
            format!(
                "event: {}\ndata: {event}\n\n",
                event["type"].as_str().unwrap_or_default()
            )
        });
        written.collect()
    };
    match form {
        Form::Anthropic => {
            let mut message = whole.clone();
            message["content"] = json!([]);
            let mut events = vec![json!({"type": "message_start", "message": message})];
            for (index, block) in whole["content"].as_array().into_iter().flatten().enumerate() {
                events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
                events.push(json!({"type": "content_block_stop", "index": index}));
            }
            events.push(
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}}),
            );
            events.push(json!({"type": "message_stop"}));
            named(events)
        }
        Form::Chat => {
            let mut chunk = whole.clone();
            let mut delta = whole["choices"][0]["message"].clone();
            delta["tool_calls"][0]["index"] = 0.into();
            chunk["choices"] = json!([{"index": 0, "delta": delta, "finish_reason": "tool_calls"}]);
            format!("data: {chunk}\n\ndata: [DONE]\n\n")
        }
        Form::Responses => {
            let mut events =
                vec![json!({"type": "response.created", "sequence_number": 0, "response": {"id": "resp_1"}})];
            for (index, item) in whole["output"].as_array().into_iter().flatten().enumerate() {
                for kind in ["added", "done"] {
                    let number = events.len();
                    let kind = format!("response.output_item.{kind}");
                    events.push(json!({"type": kind, "sequence_number": number, "output_index": index, "item": item}));
                }
            }
            let number = events.len();
            events.push(json!({"type": "response.completed", "sequence_number": number, "response": whole}));
            named(events)
        }
    }
}

fn first(form: Form, streams: bool) -> Script {
    match streams {
        true => Script::stream(&[&recalling_stream(form)]),
        false => Script::json(&recalling(form)),
    }
}

/// A server that answers so after the first answer, and a proxy before it.
fn setup(form: Form, streams: bool, then: Vec<Script>) -> (Server, Proxy) {
    let mut scripts = vec![first(form, streams)];
    scripts.extend(then);
    let server = Server::start(scripts);
    let url = server.url().trim_end_matches("/v1").to_owned();
    let proxy = Proxy::start(&url, PassTiming::Never, Tool::Offered);
    (server, proxy)
}

fn ask(proxy: &Proxy, form: Form, streams: bool) -> client::Answer {
    let url = format!("{}{}", proxy.url, path(form));
    client::post(&url, &headers(form), &request(form, streams).to_string()).expect("the proxy answers")
}

#[test]
fn an_answer_after_recall_goes_on_where_the_first_ended() {
    for form in Form::ALL {
        for streams in [true, false] {
            let (server, proxy) = setup(form, streams, vec![Script::reply("and more")]);
            let answer = ask(&proxy, form, streams);
            let text = answer.text();
            assert!(answer.status == 200 && answer.is_whole, "{form:?}: {text}");
            assert!(text.contains("word") && text.contains("more"), "{form:?}: {text}");
            assert!(!text.contains("mainstay_recall"), "{form:?}: {text}");
            let received = server.received();
            assert_eq!(received.len(), 2);
            assert_eq!(received[1].header("accept-encoding"), Some("identity"));
            assert!(received[1].body.contains("r1"), "{}", received[1].body);
            let metrics = client::get(&format!("{}/mainstay/metrics", proxy.url)).unwrap().text();
            assert!(
                metrics.contains("mainstay_recalls_total{kind=\"asked-again\"} 1"),
                "{metrics}"
            );
        }
    }
}

#[test]
fn errors_come_in_the_providers_form() {
    let overloaded = || {
        Script::status(
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        )
    };
    for form in Form::ALL {
        for (then, status) in [(overloaded(), 529), (Script::reset(), 502)] {
            let (_server, proxy) = setup(form, false, vec![then.clone()]);
            assert_eq!(ask(&proxy, form, false).status, status, "{form:?}");
            let (_server, proxy) = setup(form, true, vec![then]);
            let answer = ask(&proxy, form, true);
            let text = answer.text();
            let marker = match form {
                Form::Anthropic => "event: error\ndata: {\"type\":\"error\"",
                Form::Chat => "data: {\"error\":",
                Form::Responses => "event: response.failed\n",
            };
            assert!(
                answer.status == 200 && answer.is_whole && text.contains(marker),
                "{form:?}: {text}"
            );
            assert!(
                text.contains("word") && !text.contains("mainstay_recall"),
                "{form:?}: {text}"
            );
        }
    }
}

#[test]
fn what_does_not_fit_is_left_out() {
    let too_long = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}"#;
    for form in Form::ALL {
        for streams in [true, false] {
            let then = vec![Script::status(400, too_long), Script::reply("more")];
            let (server, proxy) = setup(form, streams, then);
            let answer = ask(&proxy, form, streams);
            assert!(
                answer.status == 200 && answer.text().contains("more"),
                "{form:?}: {}",
                answer.text()
            );
            let received = server.received();
            assert_eq!(received.len(), 3);
            assert!(received[2].body.contains("does not fit") && !received[1].body.contains("does not fit"));
        }
    }
}

/// Waits for something that is about to happen.
fn wait(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        thread::yield_now();
    }
}

#[test]
fn a_client_that_goes_away_takes_everything_with_it() {
    for streams in [true, false] {
        let (server, proxy) = setup(Form::Anthropic, streams, vec![Script::silent()]);
        let body = request(Form::Anthropic, streams).to_string();
        let mut stream = TcpStream::connect(proxy.url.trim_start_matches("http://")).unwrap();
        let head = format!(
            "POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: k\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        if streams {
            let mut some = [0; 64];
            assert!(stream.read(&mut some).unwrap() > 0);
        }
        wait("the provider is asked again", || server.received().len() == 2);
        drop(stream);
        wait("nobody waits for it any more", || server.under_way() == 0);
    }
}

#[test]
fn counting_counts_the_tool_too() {
    let server = Server::start(vec![Script::json(r#"{"input_tokens":7}"#)]);
    let proxy = Proxy::start(server.url().trim_end_matches("/v1"), PassTiming::Never, Tool::Offered);
    let url = format!("{}/v1/messages/count_tokens", proxy.url);
    let body = request(Form::Anthropic, false).to_string();
    assert_eq!(
        client::post(&url, &headers(Form::Anthropic), &body).unwrap().status,
        200
    );
    let sent: Value = serde_json::from_str(&server.received()[0].body).unwrap();
    assert_eq!(
        sent["tools"].as_array().unwrap().last().unwrap()["name"],
        "mainstay_recall"
    );
}
