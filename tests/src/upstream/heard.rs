//! What a client makes of an answer: the elements it adds to its history, and the calls it has to run. Written as the
//! providers' own clients do it, from their events, without any of our readers.

use serde_json::Value;
use serde_json::json;

use crate::conversation::Form;

/// An answer as a client holds it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heard {
    /// What is added to the history.
    pub elements: Vec<Value>,
    /// Ids and arguments of the calls.
    pub calls: Vec<(String, Value)>,
    /// What the model says.
    pub text: String,
    /// Tokens of the prompt, cached ones included.
    pub input: u64,
    /// Of these, read from the cache.
    pub cached: u64,
}

/// Reads an answer, streamed or not. Says what is wrong with one that is none.
pub fn hear(form: Form, body: &str, is_stream: bool) -> Result<Heard, String> {
    let whole = if is_stream {
        let events = events(body)?;
        match form {
            Form::Anthropic => anthropic_events(&events)?,
            Form::Chat => chat_events(&events)?,
            Form::Responses => responses_events(&events)?,
        }
    } else {
        serde_json::from_str(body).map_err(|error| format!("no JSON: {error}"))?
    };
    Ok(match form {
        Form::Anthropic => anthropic(&whole),
        Form::Chat => chat(&whole),
        Form::Responses => responses(&whole),
    })
}

fn events(body: &str) -> Result<Vec<Value>, String> {
    let lines = body.lines().filter_map(|line| line.strip_prefix("data: "));
    let events = lines.filter(|data| *data != "[DONE]").map(serde_json::from_str);
    events
        .collect::<Result<_, _>>()
        .map_err(|error| format!("an event is no JSON: {error}"))
}

/// Adds a piece to a text.
fn append(place: &mut Value, piece: &Value) {
    let text = place.as_str().unwrap_or("").to_owned() + piece.as_str().unwrap_or("");
    *place = text.into();
}

fn anthropic_events(events: &[Value]) -> Result<Value, String> {
    let mut message = Value::Null;
    let mut inputs: Vec<String> = Vec::new();
    let mut has_ended = false;
    for event in events {
        let index = event["index"].as_u64().unwrap_or(0) as usize;
        match event["type"].as_str().unwrap_or("") {
            "message_start" => message = event["message"].clone(),
            "content_block_start" => {
                let blocks = message["content"].as_array_mut().ok_or("a block before the message")?;
                blocks.push(event["content_block"].clone());
                inputs.push(String::new());
            }
            "content_block_delta" => {
                let delta = &event["delta"];
                let block = &mut message["content"][index];
                match delta["type"].as_str().unwrap_or("") {
                    "text_delta" => append(&mut block["text"], &delta["text"]),
                    "thinking_delta" => append(&mut block["thinking"], &delta["thinking"]),
                    "signature_delta" => append(&mut block["signature"], &delta["signature"]),
                    "input_json_delta" => inputs[index] += delta["partial_json"].as_str().unwrap_or(""),
                    other => return Err(format!("unknown delta {other:?}")),
                }
            }
            "content_block_stop" if !inputs[index].is_empty() => {
                let input = serde_json::from_str(&inputs[index]).map_err(|error| format!("input: {error}"))?;
                message["content"][index]["input"] = input;
            }
            "message_delta" => {
                message["stop_reason"] = event["delta"]["stop_reason"].clone();
                message["usage"]["output_tokens"] = event["usage"]["output_tokens"].clone();
            }
            "message_stop" => has_ended = true,
            "content_block_stop" | "ping" => {}
            other => return Err(format!("unexpected event {other:?}: {event}")),
        }
    }
    has_ended.then_some(message).ok_or("the stream broke off".to_owned())
}

fn chat_events(events: &[Value]) -> Result<Value, String> {
    let mut message = json!({"role": "assistant", "content": null});
    let (mut finish, mut usage) = (Value::Null, Value::Null);
    for event in events {
        if !event["error"].is_null() {
            return Err(event.to_string());
        }
        if event["usage"].is_object() {
            usage = event["usage"].clone();
        }
        let choice = &event["choices"][0];
        let delta = &choice["delta"];
        if delta["content"].is_string() {
            append(&mut message["content"], &delta["content"]);
        }
        for piece in delta["tool_calls"].as_array().into_iter().flatten() {
            let index = piece["index"].as_u64().unwrap_or(0) as usize;
            if message["tool_calls"].is_null() {
                message["tool_calls"] = json!([]);
            }
            let calls = message["tool_calls"].as_array_mut().ok_or("calls")?;
            if calls.len() <= index {
                let function = json!({"name": piece["function"]["name"], "arguments": ""});
                calls.push(json!({"id": piece["id"], "type": "function", "function": function}));
            }
            append(
                &mut calls[index]["function"]["arguments"],
                &piece["function"]["arguments"],
            );
        }
        if choice["finish_reason"].is_string() {
            finish = choice["finish_reason"].clone();
        }
    }
    if finish.is_null() {
        return Err("the stream broke off".to_owned());
    }
    Ok(json!({"choices": [{"message": message, "finish_reason": finish}], "usage": usage}))
}

fn responses_events(events: &[Value]) -> Result<Value, String> {
    let mut items = Vec::new();
    for event in events {
        match event["type"].as_str().unwrap_or("") {
            "response.output_item.done" => items.push(event["item"].clone()),
            "response.completed" | "response.incomplete" => {
                let mut response = event["response"].clone();
                response["output"] = items.into();
                return Ok(response);
            }
            "response.failed" | "error" => return Err(event.to_string()),
            _ => {}
        }
    }
    Err("the stream broke off".to_owned())
}

fn anthropic(message: &Value) -> Heard {
    let blocks = message["content"].as_array().cloned().unwrap_or_default();
    let of = |kind: &'static str| blocks.iter().filter(move |block| block["type"] == kind);
    let usage = &message["usage"];
    let count = |key: &str| usage[key].as_u64().unwrap_or(0);
    Heard {
        calls: of("tool_use")
            .map(|block| (text(&block["id"]), block["input"].clone()))
            .collect(),
        text: of("text").map(|block| text(&block["text"])).collect(),
        input: count("input_tokens") + count("cache_read_input_tokens") + count("cache_creation_input_tokens"),
        cached: count("cache_read_input_tokens"),
        elements: vec![json!({"role": "assistant", "content": blocks})],
    }
}

fn chat(whole: &Value) -> Heard {
    let mut message = whole["choices"][0]["message"].clone();
    for key in ["refusal", "annotations"] {
        if let Some(fields) = message.as_object_mut() {
            fields.shift_remove(key);
        }
    }
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    let parsed = |call: &Value| serde_json::from_str(call["function"]["arguments"].as_str().unwrap_or("")).ok();
    Heard {
        calls: calls
            .map(|call| (text(&call["id"]), parsed(call).unwrap_or_default()))
            .collect(),
        text: text(&message["content"]),
        input: whole["usage"]["prompt_tokens"].as_u64().unwrap_or(0),
        cached: whole["usage"]["prompt_tokens_details"]["cached_tokens"]
            .as_u64()
            .unwrap_or(0),
        elements: vec![message],
    }
}

fn responses(response: &Value) -> Heard {
    let items = response["output"].as_array().cloned().unwrap_or_default();
    let of = |kind: &'static str| items.iter().filter(move |item| item["type"] == kind);
    let parsed = |item: &Value| serde_json::from_str(item["arguments"].as_str().unwrap_or("")).ok();
    Heard {
        calls: of("function_call")
            .map(|item| (text(&item["call_id"]), parsed(item).unwrap_or_default()))
            .collect(),
        text: of("message").map(|item| text(&item["content"][0]["text"])).collect(),
        input: response["usage"]["input_tokens"].as_u64().unwrap_or(0),
        cached: response["usage"]["input_tokens_details"]["cached_tokens"]
            .as_u64()
            .unwrap_or(0),
        elements: items,
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or("").to_owned()
}
