//! Answers as Anthropic Messages gives them, whole and event by event.

use serde_json::Value;
use serde_json::json;

use super::answer::Frame;
use super::answer::named;
use super::answer::pieces;
use super::speech::Speech;
use super::speech::Stop;
use super::speech::Thought;

/// A whole message.
pub fn whole(speech: &Speech, frame: &Frame) -> String {
    let mut message = message(speech, frame);
    message["content"] = content(speech).into();
    message["stop_reason"] = stop_reason(speech).into();
    message["usage"] = usage(frame, frame.usage.output);
    message.to_string()
}

/// The events of a streamed message.
pub fn events(speech: &Speech, frame: &Frame) -> Vec<String> {
    let mut events = vec![json!({"type": "message_start", "message": message(speech, frame)})];
    for (index, block) in content(speech).into_iter().enumerate() {
        let (empty, deltas) = split(&block, frame);
        events.push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        if index == 0 {
            events.push(json!({"type": "ping"}));
        }
        let deltas = deltas.into_iter();
        events.extend(deltas.map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let delta = json!({"stop_reason": stop_reason(speech), "stop_sequence": null});
    let usage = json!({
        "input_tokens": frame.usage.fresh(),
        "cache_creation_input_tokens": frame.usage.written,
        "cache_read_input_tokens": frame.usage.read,
        "output_tokens": frame.usage.output,
    });
    events.push(json!({"type": "message_delta", "delta": delta, "usage": usage}));
    events.push(json!({"type": "message_stop"}));
    named(&events)
}

/// A block as it begins, and the pieces that follow.
fn split(block: &Value, frame: &Frame) -> (Value, Vec<Value>) {
    let mut empty = block.clone();
    let text = |key: &str| block[key].as_str().unwrap_or("");
    let deltas = |kind: &str, key: &str, text: &str| {
        let delta = |piece| json!({"type": kind, key: piece});
        pieces(text, frame.piece).into_iter().map(delta).collect::<Vec<_>>()
    };
    match block["type"].as_str() {
        Some("text") => {
            empty["text"] = "".into();
            (empty, deltas("text_delta", "text", text("text")))
        }
        Some("thinking") => {
            empty["thinking"] = "".into();
            empty["signature"] = "".into();
            let mut all = deltas("thinking_delta", "thinking", text("thinking"));
            all.push(json!({"type": "signature_delta", "signature": text("signature")}));
            (empty, all)
        }
        Some("tool_use") => {
            empty["input"] = json!({});
            let mut all = vec![json!({"type": "input_json_delta", "partial_json": ""})];
            all.extend(deltas("input_json_delta", "partial_json", &block["input"].to_string()));
            (empty, all)
        }
        _ => (empty, Vec::new()),
    }
}

fn content(speech: &Speech) -> Vec<Value> {
    let mut content: Vec<Value> = Vec::new();
    for thought in &speech.thoughts {
        content.push(match thought {
            Thought::Words { text, signature } => {
                json!({"type": "thinking", "thinking": text, "signature": signature})
            }
            Thought::Sealed(sealed) => json!({"type": "redacted_thinking", "data": sealed}),
        });
    }
    if !speech.text.is_empty() {
        content.push(json!({"type": "text", "text": speech.text}));
    }
    for call in &speech.calls {
        content.push(json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}));
    }
    content
}

fn message(speech: &Speech, frame: &Frame) -> Value {
    json!({
        "model": frame.model,
        "id": speech.step.id("msg_", 0),
        "type": "message",
        "role": "assistant",
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage(frame, 1),
    })
}

fn usage(frame: &Frame, output: u64) -> Value {
    json!({
        "input_tokens": frame.usage.fresh(),
        "cache_creation_input_tokens": frame.usage.written,
        "cache_read_input_tokens": frame.usage.read,
        "cache_creation": {"ephemeral_5m_input_tokens": frame.usage.written, "ephemeral_1h_input_tokens": 0},
        "output_tokens": output,
        "service_tier": "standard",
    })
}

fn stop_reason(speech: &Speech) -> &'static str {
    match speech.stop {
        Stop::End => "end_turn",
        Stop::Length => "max_tokens",
        Stop::Calls => "tool_use",
    }
}
