//! Answers as OpenAI Chat Completions gives them, whole and chunk by chunk.

use serde_json::Value;
use serde_json::json;

use super::answer::Frame;
use super::answer::pieces;
use super::speech::Speech;
use super::speech::Stop;

/// A whole completion.
pub fn whole(speech: &Speech, frame: &Frame) -> String {
    let content = if speech.text.is_empty() {
        Value::Null
    } else {
        speech.text.as_str().into()
    };
    let mut message = json!({"role": "assistant", "content": content});
    if !speech.calls.is_empty() {
        let calls = speech.calls.iter().map(|call| {
            let function = json!({"name": call.name, "arguments": call.arguments.to_string()});
            json!({"id": call.id, "type": "function", "function": function})
        });
        message["tool_calls"] = calls.collect();
    }
    message["refusal"] = Value::Null;
    message["annotations"] = json!([]);
    let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": finish(speech)});
    let mut whole = skeleton(speech, frame, "chat.completion", json!([choice]));
    whole["usage"] = usage(frame);
    whole["service_tier"] = "default".into();
    whole["system_fingerprint"] = "fp_scripted".into();
    serde_json::to_string_pretty(&whole).unwrap_or_default() + "\n"
}

/// The chunks of a streamed completion; the one with the usage only where it was asked for.
pub fn events(speech: &Speech, frame: &Frame) -> Vec<String> {
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
        let mut chunk = skeleton(speech, frame, "chat.completion.chunk", json!([choice]));
        chunk["service_tier"] = "default".into();
        chunk["system_fingerprint"] = "fp_scripted".into();
        if frame.reports_usage {
            chunk["usage"] = Value::Null;
        }
        chunk
    };
    let opening = if speech.text.is_empty() { Value::Null } else { "".into() };
    let opening = json!({"role": "assistant", "content": opening, "refusal": null});
    let mut chunks = vec![chunk(opening, Value::Null)];
    let words = pieces(&speech.text, frame.piece).into_iter();
    chunks.extend(words.map(|piece| chunk(json!({"content": piece}), Value::Null)));
    for (index, call) in speech.calls.iter().enumerate() {
        let function = json!({"name": call.name, "arguments": ""});
        let begun = json!({"index": index, "id": call.id, "type": "function", "function": function});
        chunks.push(chunk(json!({"tool_calls": [begun]}), Value::Null));
        for piece in pieces(&call.arguments.to_string(), frame.piece) {
            let more = json!({"index": index, "function": {"arguments": piece}});
            chunks.push(chunk(json!({"tool_calls": [more]}), Value::Null));
        }
    }
    chunks.push(chunk(json!({}), finish(speech).into()));
    if frame.reports_usage {
        let mut last = skeleton(speech, frame, "chat.completion.chunk", json!([]));
        last["service_tier"] = "default".into();
        last["system_fingerprint"] = "fp_scripted".into();
        last["usage"] = usage(frame);
        chunks.push(last);
    }
    let mut events: Vec<String> = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn skeleton(speech: &Speech, frame: &Frame, object: &str, choices: Value) -> Value {
    json!({
        "id": speech.step.id("chatcmpl-", 0),
        "object": object,
        "created": frame.created,
        "model": frame.model,
        "choices": choices,
    })
}

fn usage(frame: &Frame) -> Value {
    json!({
        "prompt_tokens": frame.usage.input,
        "completion_tokens": frame.usage.output,
        "total_tokens": frame.usage.input + frame.usage.output,
        "prompt_tokens_details": {"cached_tokens": frame.usage.read, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    })
}

fn finish(speech: &Speech) -> &'static str {
    match speech.stop {
        Stop::End => "stop",
        Stop::Length => "length",
        Stop::Calls => "tool_calls",
    }
}
