//! What providers accept, checked on their own JSON and without any of the engine's code.
//!
//! Works on `serde_json::Value`, which the product does not use, so that a mistake there cannot hide here.

use serde_json::Value;

use crate::conversation::Form;

/// Everything a provider would refuse about a request body.
pub fn violations(body: &Value, form: Form) -> Vec<String> {
    let Some(list) = body[form.list_key()].as_array() else {
        return vec!["there is no list of messages".to_owned()];
    };
    match form {
        Form::Chat => chat(list),
        Form::Anthropic => anthropic(list),
        Form::Responses => responses(list),
    }
}

fn is_json(text: Option<&str>) -> bool {
    text.is_some_and(|text| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok())
}

fn chat(list: &[Value]) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting: Vec<String> = Vec::new();
    for (index, message) in list.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or("");
        if !["system", "developer", "user", "assistant", "tool"].contains(&role) {
            found.push(format!("{index}: role {role:?}"));
        }
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or("").to_owned();
            match waiting.iter().position(|open| *open == id) {
                Some(position) => drop(waiting.remove(position)),
                None => found.push(format!("{index}: result {id:?} answers nothing")),
            }
            continue;
        }
        if !waiting.is_empty() {
            found.push(format!("{index}: calls {waiting:?} are not answered"));
            waiting.clear();
        }
        for call in message["tool_calls"].as_array().unwrap_or(&Vec::new()) {
            waiting.push(call["id"].as_str().unwrap_or("").to_owned());
            // Normalised lists have no wrapper around a call.
            let function = if call["function"].is_object() {
                &call["function"]
            } else {
                call
            };
            if !is_json(function["arguments"].as_str()) {
                found.push(format!("{index}: arguments are not JSON"));
            }
        }
    }
    found
}

/// Neighbours of one role count as one message, as the provider has it.
fn merged(list: &[Value]) -> Vec<Value> {
    let mut merged: Vec<Value> = Vec::new();
    for message in list {
        let blocks = match &message["content"] {
            Value::String(text) => vec![serde_json::json!({"type": "text", "text": text})],
            Value::Array(blocks) => blocks.clone(),
            other => vec![other.clone()],
        };
        match merged.last_mut().filter(|last| last["role"] == message["role"]) {
            Some(last) => last["content"]
                .as_array_mut()
                .into_iter()
                .for_each(|content| content.extend(blocks.iter().cloned())),
            None => merged.push(serde_json::json!({"role": message["role"], "content": blocks})),
        }
    }
    merged
}

fn anthropic(list: &[Value]) -> Vec<String> {
    let list = &merged(list);
    let mut found = Vec::new();
    let none = Vec::new();
    if list.first().is_some_and(|first| first["role"] != "user") {
        found.push("the first message is not the user's".to_owned());
    }
    for (index, message) in list.iter().enumerate() {
        let blocks = message["content"].as_array().unwrap_or(&none);
        if message["content"].as_array().is_some_and(Vec::is_empty) {
            found.push(format!("{index}: no content"));
        }
        let calls: Vec<_> = blocks
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .map(|block| block["id"].clone())
            .collect();
        if blocks
            .iter()
            .any(|block| block["type"] == "tool_use" && !block["input"].is_object())
        {
            found.push(format!("{index}: input is not an object"));
        }
        if !calls.is_empty() && index + 1 < list.len() {
            let next = list[index + 1]["content"].as_array().unwrap_or(&none);
            let answered: Vec<_> = next
                .iter()
                .take_while(|block| block["type"] == "tool_result")
                .map(|block| block["tool_use_id"].clone())
                .collect();
            for call in &calls {
                if answered.iter().filter(|id| *id == call).count() != 1 {
                    found.push(format!("{index}: {call} is not answered once in the next message"));
                }
            }
        }
        for block in blocks.iter().filter(|block| block["type"] == "tool_result") {
            let asked = index.checked_sub(1).is_some_and(|before| {
                let earlier = list[before]["content"].as_array().unwrap_or(&none);
                earlier
                    .iter()
                    .any(|call| call["type"] == "tool_use" && call["id"] == block["tool_use_id"])
            });
            if !asked {
                found.push(format!("{index}: a result answers nothing"));
            }
        }
    }
    found
}

fn responses(list: &[Value]) -> Vec<String> {
    let mut found = Vec::new();
    let mut calls: Vec<&str> = Vec::new();
    let mut outputs = 0;
    for (index, item) in list.iter().enumerate() {
        let kind = item["type"].as_str().unwrap_or("message");
        let id = item["call_id"].as_str().unwrap_or("");
        match kind {
            "function_call" => {
                calls.push(id);
                if !is_json(item["arguments"].as_str()) {
                    found.push(format!("{index}: arguments are not JSON"));
                }
            }
            "custom_tool_call" | "local_shell_call" => calls.push(id),
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
                outputs += 1;
                if !calls.contains(&id) {
                    found.push(format!("{index}: no call for output {id:?}"));
                }
            }
            "reasoning" => {
                let follows = list.get(index + 1).is_some_and(|next| {
                    let role = next["role"].as_str().unwrap_or("assistant");
                    role == "assistant"
                });
                if !follows && index + 1 < list.len() {
                    found.push(format!("{index}: reasoning without its item"));
                }
            }
            _ => {}
        }
    }
    if outputs > calls.len() {
        found.push("more outputs than calls".to_owned());
    }
    found
}
