//! What Anthropic Messages refuses.

use std::collections::HashSet;

use serde_json::Value;

use super::refusal::Refusal;
use super::refusal::Rule;
use super::rules::Case;

/// At most this many blocks may be marked, as documented.
const MOST_MARKS: usize = 4;

/// Neighbours of one role, which count as one message: the index of the first and all their blocks, each with its place.
struct Merged<'a> {
    index: usize,
    role: &'a str,
    blocks: Vec<(usize, usize, &'a Value)>,
}

/// Judges a list of messages.
pub fn check(case: &Case<'_>, list: &[Value]) -> Result<(), Refusal> {
    // Counting needs no limit; everything else does.
    if case.body["max_tokens"].is_null() && !case.only_counts {
        return Err(Refusal::new(Rule::Body, "max_tokens: Field required"));
    }
    roles(list)?;
    let marks = marks(case.body);
    if marks > MOST_MARKS {
        let message = format!("A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {marks}.");
        return Err(Refusal::new(Rule::Marks, message));
    }
    contents(list)?;
    let merged = merged(list);
    pairs(&merged)?;
    thinking(case, &merged)
}

fn roles(list: &[Value]) -> Result<(), Refusal> {
    if list.is_empty() {
        let words = "messages: at least one message is required";
        return Err(Refusal::new(Rule::Body, words));
    }
    for (index, message) in list.iter().enumerate() {
        match message["role"].as_str() {
            Some("user") => {}
            Some("assistant") if index > 0 => {}
            Some("assistant") => {
                let words = "messages: first message must use the \"user\" role";
                return Err(Refusal::new(Rule::Role, words));
            }
            // Newer models take instructions in between.
            Some("system") if index > 0 => {}
            other => {
                let other = other.unwrap_or("");
                let message = format!(
                    "messages: Unexpected role \"{other}\". The Messages API accepts a top-level `system` parameter, not \
                     \"{other}\" as an input message role."
                );
                return Err(Refusal::new(Rule::Role, message));
            }
        }
    }
    if list.last().is_some_and(|last| last["role"] == "assistant") {
        let words =
            "This model does not support assistant message prefill. The conversation must end with a user message.";
        return Err(Refusal::new(Rule::Role, words));
    }
    Ok(())
}

fn contents(list: &[Value]) -> Result<(), Refusal> {
    for (index, message) in list.iter().enumerate() {
        let is_empty = match &message["content"] {
            Value::String(text) => text.is_empty(),
            Value::Array(blocks) => blocks.is_empty(),
            _ => {
                let message = format!("messages.{index}.content: Input should be a valid list");
                return Err(Refusal::new(Rule::Content, message));
            }
        };
        if is_empty {
            let message = format!(
                "messages.{index}: all messages must have non-empty content except for the optional final assistant message"
            );
            return Err(Refusal::new(Rule::Content, message));
        }
        for (place, block) in blocks(message).enumerate() {
            if block["type"] == "text" && block["text"].as_str().is_none_or(|text| text.trim().is_empty()) {
                return Err(Refusal::new(
                    Rule::Content,
                    "messages: text content blocks must be non-empty",
                ));
            }
            if block["type"] == "tool_use" && !block["input"].is_object() {
                let message =
                    format!("messages.{index}.content.{place}.tool_use.input: Input should be a valid dictionary");
                return Err(Refusal::new(Rule::Arguments, message));
            }
        }
    }
    Ok(())
}

fn blocks(message: &Value) -> impl Iterator<Item = &Value> {
    message["content"].as_array().into_iter().flatten()
}

fn marks(value: &Value) -> usize {
    match value {
        Value::Object(fields) => {
            let own = usize::from(fields.get("cache_control").is_some_and(|mark| !mark.is_null()));
            own + fields
                .iter()
                .filter(|(key, _)| !matches!(key.as_str(), "input" | "input_schema"))
                .map(|(_, value)| marks(value))
                .sum::<usize>()
        }
        Value::Array(list) => list.iter().map(marks).sum(),
        _ => 0,
    }
}

fn merged(list: &[Value]) -> Vec<Merged<'_>> {
    let mut merged: Vec<Merged<'_>> = Vec::new();
    for (index, message) in list.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or("");
        let own = blocks(message).enumerate().map(|(place, block)| (index, place, block));
        // A text alone is a block that nothing is asked of.
        let alone = message["content"]
            .is_string()
            .then_some((index, 0, &message["content"]));
        let own = alone.into_iter().chain(own);
        match merged.last_mut().filter(|last| last.role == role) {
            Some(last) => last.blocks.extend(own),
            None => merged.push(Merged {
                index,
                role,
                blocks: own.collect(),
            }),
        }
    }
    merged
}

fn ids<'a>(message: &Merged<'a>, kind: &str, key: &str) -> Vec<(usize, usize, &'a str)> {
    let blocks = message.blocks.iter().filter(|(_, _, block)| block["type"] == kind);
    blocks
        .map(|(index, place, block)| (*index, *place, block[key].as_str().unwrap_or("")))
        .collect()
}

fn pairs(merged: &[Merged<'_>]) -> Result<(), Refusal> {
    let mut seen: HashSet<&str> = HashSet::new();
    let mut before: Vec<&str> = Vec::new();
    for (position, message) in merged.iter().enumerate() {
        let calls = ids(message, "tool_use", "id");
        for (index, place, id) in &calls {
            if !seen.insert(id) {
                let message = format!("messages.{index}.content.{place}: `tool_use` ids must be unique");
                return Err(Refusal::new(Rule::DuplicateId, message));
            }
        }
        let mut answered: Vec<&str> = Vec::new();
        for (index, place, id) in ids(message, "tool_result", "tool_use_id") {
            if !before.contains(&id) {
                let message = format!(
                    "messages.{index}.content.{place}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each \
                     `tool_result` block must have a corresponding `tool_use` block in the previous message."
                );
                return Err(Refusal::new(Rule::Pairing, message));
            }
            if answered.contains(&id) {
                let message = format!(
                    "messages.{index}.content.{place}: each tool_use must have a single result. Found multiple \
                     `tool_result` blocks with id: {id}"
                );
                return Err(Refusal::new(Rule::DuplicateId, message));
            }
            answered.push(id);
        }
        let calls: Vec<&str> = calls.into_iter().map(|(_, _, id)| id).collect();
        unanswered(message, &calls, merged.get(position + 1))?;
        before = calls;
    }
    Ok(())
}

/// Every call is answered at the beginning of the next message.
fn unanswered(message: &Merged<'_>, calls: &[&str], next: Option<&Merged<'_>>) -> Result<(), Refusal> {
    let first = next.map(|next| {
        let results = next.blocks.iter().map(|(_, _, block)| *block);
        let results = results.take_while(|block| block["type"] == "tool_result");
        results
            .filter_map(|block| block["tool_use_id"].as_str())
            .collect::<Vec<_>>()
    });
    let first = first.unwrap_or_default();
    let open: Vec<&str> = calls.iter().filter(|id| !first.contains(id)).copied().collect();
    if open.is_empty() {
        return Ok(());
    }
    let message = format!(
        "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block \
         must have a corresponding `tool_result` block in the next message.",
        message.index,
        open.join(", ")
    );
    Err(Refusal::new(Rule::Pairing, message))
}

fn is_thinking(block: &Value) -> bool {
    block["type"] == "thinking" || block["type"] == "redacted_thinking"
}

fn signature(block: &Value) -> &str {
    let key = if block["type"] == "thinking" {
        "signature"
    } else {
        "data"
    };
    block[key].as_str().unwrap_or("")
}

/// Thinking comes back as it was given out; in the open loop all of it does.
fn thinking(case: &Case<'_>, merged: &[Merged<'_>]) -> Result<(), Refusal> {
    let last_said = merged.iter().rposition(|message| message.role == "assistant");
    let is_open_from = open_loop(merged);
    for (position, message) in merged.iter().enumerate() {
        if message.role != "assistant" {
            continue;
        }
        for (index, place, block) in message.blocks.iter().filter(|(_, _, block)| is_thinking(block)) {
            let at = format!("messages.{index}.content.{place}");
            let Some(issue) = case.issued.thought(signature(block)) else {
                let message = format!("{at}: Invalid `signature` in `thinking` block");
                return Err(Refusal::new(Rule::Thinking, message));
            };
            if block["type"] == "thinking" && block["thinking"] != issue.text.as_str() {
                let which = if Some(position) == last_said {
                    "the latest assistant message"
                } else {
                    "an assistant message"
                };
                let message = format!(
                    "{at}: `thinking` or `redacted_thinking` blocks in {which} cannot be modified. These blocks must remain as \
                     they were in the original response."
                );
                return Err(Refusal::new(Rule::Thinking, message));
            }
            let drops = case.body["thinking"]["block_binding"]["prefix_mismatch_behavior"] == "drop_block";
            let is_bound = case.scenario.bound && !drops;
            if is_bound && case.prompt.beginning(message.index) != issue.beginning {
                let message = format!(
                    "{at}: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the \
                     block, or set thinking.block_binding.prefix_mismatch_behavior to \"drop_block\""
                );
                return Err(Refusal::new(Rule::Thinking, message));
            }
        }
        if position >= is_open_from && thinks(case.body) {
            complete(case, message)?;
        }
    }
    Ok(())
}

fn thinks(body: &Value) -> bool {
    matches!(body["thinking"]["type"].as_str(), Some("enabled" | "adaptive"))
}

/// Where the open tool loop begins: behind the last message of a person.
fn open_loop(merged: &[Merged<'_>]) -> usize {
    let by_person = merged.iter().rposition(|message| {
        let has_result = message
            .blocks
            .iter()
            .any(|(_, _, block)| block["type"] == "tool_result");
        message.role == "user" && !has_result
    });
    by_person.map_or(0, |position| position + 1)
}

/// Calls of the open loop stand behind the very thinking that led to them.
fn complete(case: &Case<'_>, message: &Merged<'_>) -> Result<(), Refusal> {
    let own = message.blocks.iter().filter(|(_, _, block)| is_thinking(block));
    let own: Vec<&str> = own.map(|(_, _, block)| signature(block)).collect();
    let calls = ids(message, "tool_use", "id");
    let Some(wanted) = calls.iter().find_map(|(_, _, id)| case.issued.behind(id)) else {
        return Ok(());
    };
    if own == wanted {
        return Ok(());
    }
    let at = format!("messages.{}.content.0", message.index);
    if own.is_empty() {
        let found = message.blocks[0].2["type"].as_str().unwrap_or("text");
        let message = format!(
            "{at}.type: Expected `thinking` or `redacted_thinking`, but found `{found}`. When `thinking` is enabled, a final \
             `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` \
             blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \
             `thinking`."
        );
        return Err(Refusal::new(Rule::Thinking, message));
    }
    let message = format!(
        "{at}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must \
         remain as they were in the original response."
    );
    Err(Refusal::new(Rule::Thinking, message))
}
