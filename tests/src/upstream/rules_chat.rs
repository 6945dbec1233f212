//! What OpenAI Chat Completions refuses.

use serde_json::Value;

use super::refusal::Refusal;
use super::refusal::Rule;

/// Calls that wait for their results.
struct Open<'a> {
    ids: Vec<&'a str>,
    answered: Vec<&'a str>,
}

/// Judges a list of messages.
pub fn check(list: &[Value]) -> Result<(), Refusal> {
    if list.is_empty() {
        let words =
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.";
        return Err(Refusal::new(Rule::Body, words).at("messages").coded("empty_array"));
    }
    let mut open: Option<Open<'_>> = None;
    for (index, message) in list.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or("");
        if !["system", "developer", "user", "assistant", "tool"].contains(&role) {
            let words = format!(
                "Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and \
                 'developer'."
            );
            let refusal = Refusal::new(Rule::Role, words).at(format!("messages[{index}].role"));
            return Err(refusal.coded("invalid_value"));
        }
        if role == "tool" {
            answer(message, index, open.as_mut())?;
            continue;
        }
        closed(open.take())?;
        content(message, index)?;
        open = calls(message, index)?;
    }
    closed(open)
}

fn answer<'a>(message: &'a Value, index: usize, open: Option<&mut Open<'a>>) -> Result<(), Refusal> {
    let Some(open) = open else {
        let words = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
        return Err(Refusal::new(Rule::Pairing, words).at(format!("messages.[{index}].role")));
    };
    let id = message["tool_call_id"].as_str().unwrap_or("");
    let at = format!("messages.[{index}].tool_call_id");
    if open.answered.contains(&id) {
        let words = format!("Duplicate value for 'tool_call_id' of '{id}' in message[{index}]");
        return Err(Refusal::new(Rule::DuplicateId, words).at(at));
    }
    if !open.ids.contains(&id) {
        let words =
            format!("Invalid parameter: 'tool_call_id' of '{id}' not found in 'tool_calls' of previous message.");
        return Err(Refusal::new(Rule::Pairing, words).at(at));
    }
    if message["content"].is_null() {
        return Err(no_content(index));
    }
    open.answered.push(id);
    Ok(())
}

fn closed(open: Option<Open<'_>>) -> Result<(), Refusal> {
    let Some(open) = open else {
        return Ok(());
    };
    let waiting = open.ids.iter().filter(|id| !open.answered.contains(id));
    let waiting: Vec<&str> = waiting.copied().collect();
    if waiting.is_empty() {
        return Ok(());
    }
    let words = format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The \
         following tool_call_ids did not have response messages: {}",
        waiting.join(", ")
    );
    Err(Refusal::new(Rule::Pairing, words).at("messages"))
}

fn no_content(index: usize) -> Refusal {
    let words = "Invalid value for 'content': expected a string, got null.";
    Refusal::new(Rule::Content, words).at(format!("messages.[{index}].content"))
}

fn content(message: &Value, index: usize) -> Result<(), Refusal> {
    let speaks_otherwise = ["tool_calls", "function_call", "refusal", "audio"]
        .iter()
        .any(|field| !message[*field].is_null());
    match &message["content"] {
        Value::Null if message["role"] != "assistant" || !speaks_otherwise => Err(no_content(index)),
        Value::Array(parts) if parts.is_empty() => {
            let words = format!(
                "Invalid 'messages[{index}].content': empty array. Expected an array with minimum length 1, but got an empty \
                 array instead."
            );
            let refusal = Refusal::new(Rule::Content, words).at(format!("messages[{index}].content"));
            Err(refusal.coded("empty_array"))
        }
        _ => Ok(()),
    }
}

fn calls(message: &Value, index: usize) -> Result<Option<Open<'_>>, Refusal> {
    let Some(calls) = message["tool_calls"].as_array() else {
        return Ok(None);
    };
    let at = format!("messages[{index}].tool_calls");
    if calls.is_empty() {
        let words = format!(
            "Invalid '{at}': empty array. Expected an array with minimum length 1, but got an empty array instead."
        );
        return Err(Refusal::new(Rule::Content, words).at(at).coded("empty_array"));
    }
    let mut ids: Vec<&str> = Vec::new();
    for (place, call) in calls.iter().enumerate() {
        let id = call["id"].as_str().unwrap_or("");
        if ids.contains(&id) {
            let words = format!("Duplicate value for 'id' of '{id}' in 'tool_calls' of message[{index}]");
            return Err(Refusal::new(Rule::DuplicateId, words).at(format!("{at}[{place}].id")));
        }
        ids.push(id);
        let arguments = call["function"]["arguments"].as_str();
        if arguments.is_none_or(|text| serde_json::from_str::<serde::de::IgnoredAny>(text).is_err()) {
            let at = format!("{at}[{place}].function.arguments");
            let words = format!("Invalid '{at}': failed to parse tool call arguments as JSON.");
            return Err(Refusal::new(Rule::Arguments, words).at(at));
        }
    }
    Ok(Some(Open {
        ids,
        answered: Vec::new(),
    }))
}
