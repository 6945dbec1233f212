//! What OpenAI Responses refuses.

use std::collections::HashSet;

use serde_json::Value;

use super::issued::Issued;
use super::refusal::Refusal;
use super::refusal::Rule;

/// How many characters of a sealed text an error shows at its beginning and its end.
const SHOWN: usize = 4;

/// Judges a list of items.
pub fn check(list: &[Value], issued: &Issued) -> Result<(), Refusal> {
    let mut seen: HashSet<&str> = HashSet::new();
    for (index, item) in list.iter().enumerate() {
        if let Some(id) = item["id"].as_str().filter(|id| !id.is_empty())
            && !seen.insert(id)
        {
            let words =
                format!("Duplicate item found with id {id}. Remove duplicate items from your input and try again.");
            return Err(Refusal::new(Rule::DuplicateId, words).at("input"));
        }
        match kind(item) {
            "message" => message(item, index)?,
            "reasoning" => reasoning(list, index, issued)?,
            "function_call" => arguments(item, index)?,
            _ => {}
        }
        led_to(list, index, issued)?;
    }
    pairs(list)
}

fn kind(item: &Value) -> &str {
    item["type"].as_str().unwrap_or("message")
}

fn message(item: &Value, index: usize) -> Result<(), Refusal> {
    let is_said = item["role"] == "assistant";
    let (wrong, right) = if is_said {
        ("input_", "'output_text' and 'refusal'")
    } else {
        ("output_", "'input_text', 'input_image', and 'input_file'")
    };
    for (place, part) in item["content"].as_array().into_iter().flatten().enumerate() {
        let kind = part["type"].as_str().unwrap_or("");
        if kind.starts_with(wrong) {
            let words = format!("Invalid value: '{kind}'. Supported values are: {right}.");
            let refusal = Refusal::new(Rule::Content, words).at(format!("input[{index}].content[{place}]"));
            return Err(refusal.coded("invalid_value"));
        }
    }
    Ok(())
}

/// Reasoning is what was issued, and what it led to follows.
fn reasoning(list: &[Value], index: usize, issued: &Issued) -> Result<(), Refusal> {
    let item = &list[index];
    if let Some(sealed) = item["encrypted_content"].as_str()
        && issued.thought(sealed).is_none()
    {
        let characters: Vec<char> = sealed.chars().collect();
        let begin: String = characters.iter().take(SHOWN).collect();
        let end: String = characters.iter().skip(characters.len().saturating_sub(SHOWN)).collect();
        let words = format!(
            "The encrypted content {begin}...{end} could not be verified. Reason: Encrypted content could not be decrypted or \
             parsed."
        );
        let refusal = Refusal::new(Rule::Reasoning, words).at("input");
        return Err(refusal.coded("invalid_encrypted_content"));
    }
    let follows = list.get(index + 1).is_some_and(|next| {
        let is_said = kind(next) == "message" && next["role"] == "assistant";
        is_said || kind(next) == "reasoning" || kind(next).ends_with("_call")
    });
    if follows {
        return Ok(());
    }
    let id = item["id"].as_str().unwrap_or("");
    let words = format!("Item '{id}' of type 'reasoning' was provided without its required following item.");
    Err(Refusal::new(Rule::Reasoning, words).at("input"))
}

/// An item that reasoning led to stands behind it, wherever both have their ids.
fn led_to(list: &[Value], index: usize, issued: &Issued) -> Result<(), Refusal> {
    let item = &list[index];
    let Some((id, wanted)) = item["id"].as_str().and_then(|id| Some((id, issued.reasoning_of(id)?))) else {
        return Ok(());
    };
    let before = index.checked_sub(1).map(|before| &list[before]);
    let is_behind = before.is_some_and(|before| {
        let same = before["id"].as_str().is_none_or(|own| own == wanted);
        kind(before) == "reasoning" && same
    });
    if is_behind {
        return Ok(());
    }
    let words = format!(
        "Item '{id}' of type '{}' was provided without its required 'reasoning' item: '{wanted}'.",
        kind(item)
    );
    Err(Refusal::new(Rule::Reasoning, words).at("input"))
}

fn arguments(item: &Value, index: usize) -> Result<(), Refusal> {
    let arguments = item["arguments"].as_str();
    if arguments.is_some_and(|text| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()) {
        return Ok(());
    }
    let at = format!("input[{index}].arguments");
    let words = format!("Invalid '{at}': failed to parse tool call arguments as JSON.");
    Err(Refusal::new(Rule::Arguments, words).at(at))
}

/// Every output answers a call before it, and every call has one output.
fn pairs(list: &[Value]) -> Result<(), Refusal> {
    let mut calls: Vec<&str> = Vec::new();
    let mut open: HashSet<&str> = HashSet::new();
    for item in list {
        let id = item["call_id"].as_str().unwrap_or("");
        if matches!(kind(item), "function_call" | "custom_tool_call" | "local_shell_call") {
            calls.push(id);
            open.insert(id);
        }
        if kind(item).ends_with("_call_output") && !open.remove(id) {
            let words = format!("No tool call found for function call output with call_id {id}.");
            return Err(Refusal::new(Rule::Pairing, words).at("input"));
        }
    }
    match calls.into_iter().find(|id| open.contains(id)) {
        None => Ok(()),
        Some(id) => {
            let words = format!("No tool output found for function call {id}.");
            Err(Refusal::new(Rule::Pairing, words).at("input"))
        }
    }
}
