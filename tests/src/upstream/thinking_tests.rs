//! What was given out comes back as it was, or the provider notices.

use serde_json::Value;
use serde_json::json;

use super::Scenario;
use super::desk::Desk;
use crate::server::Received;

fn post(desk: &Desk, path: &str, body: &Value) -> (u16, Value) {
    let reply = desk.answer(Received {
        path: path.to_owned(),
        headers: vec![("x-api-key".to_owned(), "key".to_owned())],
        body: body.to_string(),
        ..Received::default()
    });
    let bytes = reply.pieces.concat();
    (reply.status, serde_json::from_slice(&bytes).unwrap_or_default())
}

/// A conversation with Anthropic in the middle of a tool loop of two steps, thinking in each; the second thinks in two blocks.
fn thinking_loop(desk: &Desk) -> Value {
    let tool = json!({"name": "look", "description": "looks", "input_schema": {"type": "object"}});
    let thinking = json!({"type": "enabled", "budget_tokens": 2_000});
    let mut body = json!({"model": "m", "max_tokens": 4_000, "thinking": thinking, "tools": [tool]});
    body["messages"] = json!([{"role": "user", "content": "look around"}]);
    for _ in 0..5 {
        let (status, answer) = post(desk, "/v1/messages", &body);
        assert_eq!(status, 200, "{answer}");
        let content = answer["content"].clone();
        let blocks = content.as_array().unwrap().clone();
        assert_eq!(blocks[0]["type"], "thinking");
        let results = blocks
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .map(|block| json!({"type": "tool_result", "tool_use_id": block["id"], "content": "seen"}));
        let results: Vec<Value> = results.collect();
        let list = body["messages"].as_array_mut().unwrap();
        list.push(json!({"role": "assistant", "content": content}));
        list.push(json!({"role": "user", "content": results}));
    }
    body
}

fn desk() -> Desk {
    Desk::new(Scenario::tool_loop(9), None)
}

#[track_caller]
fn refuses(desk: &Desk, path: &str, body: &Value, words: &str) {
    let (status, answer) = post(desk, path, body);
    let message = answer["error"]["message"].as_str().unwrap_or("");
    assert!(status == 400 && message.contains(words), "{status} {message}");
}

#[test]
fn thinking_may_be_neither_changed_nor_forged_nor_left_out_of_the_open_loop() {
    let desk = desk();
    let whole = thinking_loop(&desk);
    let (status, answer) = post(&desk, "/v1/messages", &whole);
    assert_eq!(status, 200, "{answer}");
    let last = 9;
    assert_eq!(whole["messages"][last]["content"][1]["type"], "redacted_thinking");

    let mut altered = whole.clone();
    altered["messages"][last]["content"][0]["thinking"] = "something else".into();
    refuses(
        &desk,
        "/v1/messages",
        &altered,
        "in the latest assistant message cannot be modified",
    );

    let mut forged = whole.clone();
    forged["messages"][1]["content"][0]["signature"] = "Zm9yZ2Vk".into();
    refuses(
        &desk,
        "/v1/messages",
        &forged,
        "messages.1.content.0: Invalid `signature` in `thinking` block",
    );

    let mut without = whole.clone();
    let blocks = without["messages"][last]["content"].as_array_mut().unwrap();
    blocks.retain(|block| !block["type"].as_str().unwrap().contains("thinking"));
    refuses(
        &desk,
        "/v1/messages",
        &without,
        "Expected `thinking` or `redacted_thinking`",
    );

    let mut swapped = whole.clone();
    swapped["messages"][last]["content"].as_array_mut().unwrap().swap(0, 1);
    refuses(&desk, "/v1/messages", &swapped, "cannot be modified");

    // A person has spoken since: the loop is over and its thinking may go.
    let mut over = without;
    let list = over["messages"].as_array_mut().unwrap();
    list.push(json!({"role": "assistant", "content": "done"}));
    list.push(json!({"role": "user", "content": "go on"}));
    let (status, answer) = post(&desk, "/v1/messages", &over);
    assert_eq!(status, 200, "{answer}");
}

#[test]
fn bound_thinking_holds_only_behind_its_own_prompt() {
    let desk = Desk::new(Scenario::tool_loop(9).with("bound").unwrap(), None);
    let whole = thinking_loop(&desk);
    let (status, answer) = post(&desk, "/v1/messages", &whole);
    assert_eq!(status, 200, "{answer}");
    let mut edited = whole.clone();
    edited["messages"][2]["content"][0]["content"] = "[shortened]".into();
    let words = "The block is bound to a different conversation.";
    refuses(&desk, "/v1/messages", &edited, words);
    edited["thinking"]["block_binding"] = json!({"prefix_mismatch_behavior": "drop_block"});
    assert_eq!(post(&desk, "/v1/messages", &edited).0, 200);
}

#[test]
fn sealed_reasoning_and_what_it_led_to_stay_together() {
    let desk = desk();
    let tool = json!({"type": "function", "name": "look", "parameters": {"type": "object"}});
    let mut body = json!({"model": "m", "tools": [tool], "include": ["reasoning.encrypted_content"]});
    body["input"] = json!([{"role": "user", "content": "look around"}]);
    for _ in 0..2 {
        let (status, answer) = post(&desk, "/v1/responses", &body);
        assert_eq!(status, 200, "{answer}");
        let output = answer["output"].as_array().unwrap().clone();
        assert!(output[0]["encrypted_content"].is_string());
        let list = body["input"].as_array_mut().unwrap();
        for item in output {
            list.push(item.clone());
            if item["type"] == "function_call" {
                let output = json!({"type": "function_call_output", "call_id": item["call_id"], "output": "seen"});
                list.push(output);
            }
        }
    }
    assert_eq!(post(&desk, "/v1/responses", &body).0, 200);
    let kinds = body["input"].as_array().unwrap().iter();
    let first = kinds.clone().position(|item| item["type"] == "reasoning").unwrap();
    let mut without = body.clone();
    without["input"].as_array_mut().unwrap().remove(first);
    refuses(
        &desk,
        "/v1/responses",
        &without,
        "was provided without its required 'reasoning' item",
    );
    let mut alone = body.clone();
    alone["input"].as_array_mut().unwrap().remove(first + 1);
    let (status, _) = post(&desk, "/v1/responses", &alone);
    // What follows next is another item of the same answer: its call.
    assert_eq!(status, 200);
    let mut forged = body;
    forged["input"][first]["encrypted_content"] = "gAAAAAforged".into();
    refuses(&desk, "/v1/responses", &forged, "could not be verified");
}
