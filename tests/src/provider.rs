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
        found.extend(chat_content(message).map(|what| format!("{index}: {what}")));
        for call in message["tool_calls"].as_array().unwrap_or(&Vec::new()) {
            let id = call["id"].as_str().unwrap_or("").to_owned();
            if waiting.contains(&id) {
                found.push(format!("{index}: two calls have the id {id:?}"));
            }
            waiting.push(id);
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

/// What is wrong with the content of a message that is no tool's.
fn chat_content(message: &Value) -> Option<&'static str> {
    let calls = &message["tool_calls"];
    if calls.as_array().is_some_and(Vec::is_empty) {
        return Some("an empty list of calls");
    }
    let speaks_otherwise = ["tool_calls", "function_call", "refusal", "audio"]
        .iter()
        .any(|field| !message[*field].is_null());
    match &message["content"] {
        Value::Null if message["role"] != "assistant" || !speaks_otherwise => Some("no content"),
        Value::Array(parts) if parts.is_empty() => Some("an empty list of content"),
        Value::Array(parts)
            if parts
                .iter()
                .any(|part| part["type"] == "text" && !part["text"].is_string()) =>
        {
            Some("a text without a text")
        }
        _ => None,
    }
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
    // The model would have to go on in the middle of what it said.
    if let Some(last) = list.last().filter(|last| last["role"] == "assistant") {
        let end = last["content"].as_array().and_then(|blocks| blocks.last());
        let said = end.and_then(|block| block["text"].as_str());
        if said.is_some_and(|text| text.ends_with(char::is_whitespace)) {
            found.push("the last message is the assistant's and ends in white space".to_owned());
        }
    }
    for (index, message) in list.iter().enumerate() {
        let blocks = message["content"].as_array().unwrap_or(&none);
        if message["content"].as_array().is_some_and(Vec::is_empty) {
            found.push(format!("{index}: no content"));
        }
        found.extend(anthropic_blocks(blocks).map(|what| format!("{index}: {what}")));
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

/// What is wrong with the blocks of one message.
fn anthropic_blocks(blocks: &[Value]) -> Option<&'static str> {
    let is_blank =
        |block: &Value| block["type"] == "text" && block["text"].as_str().is_none_or(|text| text.trim().is_empty());
    let is_thinking = |block: &Value| block["type"] == "thinking" || block["type"] == "redacted_thinking";
    if blocks.iter().any(is_blank) {
        return Some("a text without words");
    }
    let is_blank_result = |block: &Value| {
        block["content"]
            .as_array()
            .is_some_and(|inner| inner.iter().any(is_blank))
    };
    if blocks
        .iter()
        .any(|block| block["type"] == "tool_result" && is_blank_result(block))
    {
        return Some("a result with a text without words");
    }
    let call = blocks.iter().position(|block| block["type"] == "tool_use");
    if call.is_some_and(|call| blocks[call..].iter().any(is_thinking)) {
        return Some("thinking behind a call");
    }
    if blocks.last().is_some_and(is_thinking) {
        return Some("thinking without what it led to");
    }
    let mut ids: Vec<_> = blocks
        .iter()
        .filter(|block| block["type"] == "tool_use")
        .map(|block| block["id"].as_str())
        .collect();
    ids.sort_unstable();
    ids.windows(2)
        .any(|pair| pair[0] == pair[1])
        .then_some("two calls have one id")
}

/// A call of a Responses list.
struct Call<'a> {
    index: usize,
    id: &'a str,
    kind: &'a str,
    is_answered: bool,
}

fn responses(list: &[Value]) -> Vec<String> {
    let mut found = Vec::new();
    let mut calls: Vec<Call<'_>> = Vec::new();
    for (index, item) in list.iter().enumerate() {
        let kind = item["type"].as_str().unwrap_or("message");
        let id = item["call_id"].as_str().unwrap_or("");
        match kind {
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                if kind == "function_call" && !is_json(item["arguments"].as_str()) {
                    found.push(format!("{index}: arguments are not JSON"));
                }
                calls.push(Call {
                    index,
                    id,
                    kind,
                    is_answered: false,
                });
            }
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
                let call = calls.iter_mut().rfind(|call| {
                    call.id == id && !call.is_answered && kind.strip_suffix("_output") == Some(call.kind)
                });
                match call {
                    Some(call) => call.is_answered = true,
                    None => found.push(format!("{index}: no call for output {id:?}")),
                }
            }
            "reasoning" => {
                let follows = list.get(index + 1).is_some_and(|next| {
                    let kind = next["type"].as_str().unwrap_or("message");
                    let is_said = kind == "message" && next["role"] == "assistant";
                    is_said || kind == "reasoning" || kind.ends_with("_call")
                });
                if !follows {
                    found.push(format!("{index}: reasoning without its item"));
                }
            }
            "message" => found.extend(item_content(item).map(|what| format!("{index}: {what}"))),
            _ => {}
        }
    }
    // Calls of the step that is under way may wait.
    let is_message = |item: &Value| item["type"].as_str().unwrap_or("message") == "message";
    let step = list.iter().rposition(is_message).map_or(0, |last| last + 1);
    let late = calls.iter().filter(|call| !call.is_answered && call.index < step);
    found.extend(late.map(|call| format!("{}: no output for call {:?}", call.index, call.id)));
    found
}

/// What is wrong with the content of a message item.
fn item_content(item: &Value) -> Option<&'static str> {
    let side = if item["role"] == "assistant" {
        "input_"
    } else {
        "output_"
    };
    match &item["content"] {
        Value::Null => Some("no content"),
        Value::Array(parts) => parts
            .iter()
            .any(|part| part["type"].as_str().is_some_and(|kind| kind.starts_with(side)))
            .then_some("content of the other side"),
        _ => None,
    }
}

/// Whether a template that wants user and assistant in turns takes a list of messages of any form: behind at most one
/// system message the user begins. What tools are asked and answer is not seen.
pub fn alternates(list: &[Value]) -> bool {
    let mut expected = "user";
    for (index, message) in list.iter().enumerate() {
        let Some(role) = message["role"].as_str() else {
            continue;
        };
        let holds = |kind: &str| {
            let blocks = message["content"].as_array();
            let count = blocks.map_or(0, |blocks| blocks.iter().filter(|block| block["type"] == kind).count());
            (count, blocks.map_or(0, Vec::len))
        };
        let is_tools = match role {
            "tool" => true,
            "assistant" => !message["tool_calls"].is_null() || holds("tool_use").0 > 0,
            "user" => matches!(holds("tool_result"), (results, all) if all > 0 && results == all),
            _ => false,
        };
        if is_tools || (index == 0 && ["system", "developer"].contains(&role)) {
            continue;
        }
        if role != expected {
            return false;
        }
        expected = if role == "user" { "assistant" } else { "user" };
    }
    true
}

#[cfg(test)]
#[path = "provider_tests.rs"]
mod tests;
