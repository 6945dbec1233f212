//! Answers as OpenAI Responses gives them, whole and event by event.

use serde_json::Value;
use serde_json::json;

use super::answer::Frame;
use super::answer::named;
use super::answer::pieces;
use super::refusal::Refusal;
use super::speech::Speech;
use super::speech::Stop;
use super::speech::Thought;

/// A whole response.
pub fn whole(speech: &Speech, frame: &Frame) -> String {
    let whole = response(speech, frame, status(speech), items(speech, frame));
    serde_json::to_string_pretty(&whole).unwrap_or_default() + "\n"
}

/// The events of a streamed response.
pub fn events(speech: &Speech, frame: &Frame) -> Vec<String> {
    let begun = response(speech, frame, "in_progress", Vec::new());
    let mut events = vec![
        json!({"type": "response.created", "response": begun}),
        json!({"type": "response.in_progress", "response": begun}),
    ];
    let items = items(speech, frame);
    for (index, item) in items.iter().enumerate() {
        events.extend(item_events(item, index, frame));
    }
    let ended = response(speech, frame, status(speech), items);
    let end = if speech.stop == Stop::Length {
        "response.incomplete"
    } else {
        "response.completed"
    };
    events.push(json!({"type": end, "response": ended}));
    numbered(events)
}

/// The events of a response that begins and is then refused.
pub fn refused(speech: &Speech, frame: &Frame, refusal: &Refusal) -> Vec<String> {
    let begun = response(speech, frame, "in_progress", Vec::new());
    let mut failed = response(speech, frame, "failed", Vec::new());
    failed["error"] = json!({"code": refusal.code, "message": refusal.message});
    numbered(vec![
        json!({"type": "response.created", "response": begun}),
        json!({"type": "response.in_progress", "response": begun}),
        json!({"type": "response.failed", "response": failed}),
    ])
}

/// The id of the item that follows reasoning.
pub fn follower(speech: &Speech) -> String {
    if speech.text.is_empty() {
        speech.step.id("fc_", 0)
    } else {
        speech.step.id("msg_", 0)
    }
}

fn numbered(mut events: Vec<Value>) -> Vec<String> {
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = number.into();
    }
    named(&events)
}

fn items(speech: &Speech, frame: &Frame) -> Vec<Value> {
    let mut items = Vec::new();
    for thought in &speech.thoughts {
        if let Thought::Words { text, signature } = thought {
            let summary = json!([{"type": "summary_text", "text": text}]);
            let mut item = json!({"id": speech.step.id("rs_", 0), "type": "reasoning", "summary": summary});
            if frame.seals_reasoning {
                item["encrypted_content"] = signature.as_str().into();
            }
            items.push(item);
        }
    }
    if !speech.text.is_empty() {
        let part = json!({"type": "output_text", "annotations": [], "logprobs": [], "text": speech.text});
        items.push(json!({
            "id": speech.step.id("msg_", 0),
            "type": "message",
            "status": status(speech),
            "content": [part],
            "role": "assistant",
        }));
    }
    for (which, call) in speech.calls.iter().enumerate() {
        items.push(json!({
            "id": speech.step.id("fc_", which),
            "type": "function_call",
            "status": "completed",
            "arguments": call.arguments.to_string(),
            "call_id": call.id,
            "name": call.name,
        }));
    }
    items
}

/// The events of one item, from its beginning to its end.
fn item_events(item: &Value, index: usize, frame: &Frame) -> Vec<Value> {
    let id = &item["id"];
    let mut begun = item.clone();
    let at = |kind: &str, more: Value| {
        let mut event = json!({"type": kind, "item_id": id, "output_index": index});
        for (key, value) in more.as_object().into_iter().flatten() {
            event[key] = value.clone();
        }
        event
    };
    let inside = match item["type"].as_str() {
        Some("reasoning") => {
            begun["summary"] = json!([]);
            summary_events(item, frame, &at)
        }
        Some("message") => {
            begun["content"] = json!([]);
            begun["status"] = "in_progress".into();
            text_events(item, frame, &at)
        }
        _ => {
            begun["arguments"] = "".into();
            begun["status"] = "in_progress".into();
            let text = item["arguments"].as_str().unwrap_or("");
            let deltas = pieces(text, frame.piece).into_iter();
            let mut events: Vec<Value> = deltas
                .map(|piece| at("response.function_call_arguments.delta", json!({"delta": piece})))
                .collect();
            events.push(at("response.function_call_arguments.done", json!({"arguments": text})));
            events
        }
    };
    let mut events = vec![json!({"type": "response.output_item.added", "output_index": index, "item": begun})];
    events.extend(inside);
    events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    events
}

fn summary_events(item: &Value, frame: &Frame, at: &dyn Fn(&str, Value) -> Value) -> Vec<Value> {
    let part = &item["summary"][0];
    let text = part["text"].as_str().unwrap_or("");
    let empty = json!({"type": "summary_text", "text": ""});
    let mut events = vec![at(
        "response.reasoning_summary_part.added",
        json!({"summary_index": 0, "part": empty}),
    )];
    for piece in pieces(text, frame.piece) {
        let more = json!({"summary_index": 0, "delta": piece});
        events.push(at("response.reasoning_summary_text.delta", more));
    }
    events.push(at(
        "response.reasoning_summary_text.done",
        json!({"summary_index": 0, "text": text}),
    ));
    events.push(at(
        "response.reasoning_summary_part.done",
        json!({"summary_index": 0, "part": part}),
    ));
    events
}

fn text_events(item: &Value, frame: &Frame, at: &dyn Fn(&str, Value) -> Value) -> Vec<Value> {
    let part = &item["content"][0];
    let text = part["text"].as_str().unwrap_or("");
    let mut empty = part.clone();
    empty["text"] = "".into();
    let mut events = vec![at(
        "response.content_part.added",
        json!({"content_index": 0, "part": empty}),
    )];
    for piece in pieces(text, frame.piece) {
        let more = json!({"content_index": 0, "delta": piece, "logprobs": []});
        events.push(at("response.output_text.delta", more));
    }
    let done = json!({"content_index": 0, "text": text, "logprobs": []});
    events.push(at("response.output_text.done", done));
    events.push(at(
        "response.content_part.done",
        json!({"content_index": 0, "part": part}),
    ));
    events
}

fn status(speech: &Speech) -> &'static str {
    match speech.stop {
        Stop::Length => "incomplete",
        Stop::End | Stop::Calls => "completed",
    }
}

fn response(speech: &Speech, frame: &Frame, status: &str, output: Vec<Value>) -> Value {
    let cut = status == "incomplete";
    let usage = match status {
        "completed" | "incomplete" => json!({
            "input_tokens": frame.usage.input,
            "input_tokens_details": {"cached_tokens": frame.usage.read},
            "output_tokens": frame.usage.output,
            "output_tokens_details": {"reasoning_tokens": frame.usage.reasoning},
            "total_tokens": frame.usage.input + frame.usage.output,
        }),
        _ => Value::Null,
    };
    json!({
        "id": speech.step.id("resp_", 0),
        "object": "response",
        "created_at": frame.created,
        "status": status,
        "background": false,
        "error": null,
        "incomplete_details": if cut { json!({"reason": "max_output_tokens"}) } else { Value::Null },
        "instructions": null,
        "max_output_tokens": null,
        "model": frame.model,
        "output": output,
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "reasoning": {"effort": null, "summary": null},
        "store": false,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": usage,
        "user": null,
        "metadata": {},
    })
}
