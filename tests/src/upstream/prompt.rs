//! A request's prompt as a provider sees it: tools, system and messages as a row of blocks, each with its tokens.
//!
//! Blocks are compared by their JSON without cache marks, and a text is the same alone and as the only block of a list: that
//! is what providers cache by.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::DefaultHasher;
use std::hash::Hash;
use std::hash::Hasher;

use mainstay_engine::account::Family;
use mainstay_engine::account::TextKind;
use mainstay_engine::account::TokenCounter;
use serde_json::Value;
use serde_json::json;

use crate::conversation::Form;

/// Tokens of a picture: what a screenshot of about a megapixel costs with the providers' formulas.
const IMAGE: u64 = 1_100;
/// Tokens around a message: role and separators of the chat formats.
const FRAME: u64 = 4;
/// Base64 characters of sealed reasoning for one token: three quarters of them are bytes, about four a token.
const SEALED: u64 = 5;

/// One block of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its JSON without marks, with the role in front.
    pub text: String,
    /// A hash of that.
    pub hash: u64,
    /// Its tokens.
    pub tokens: u64,
    /// Whether a cache mark stands on it.
    pub marked: bool,
    /// The message it stands in, none for tools and system.
    pub message: Option<usize>,
}

/// A row of blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The blocks in the order in which providers render them: tools, system, messages.
    pub blocks: Vec<Block>,
}

impl Prompt {
    /// All tokens.
    pub fn tokens(&self) -> u64 {
        self.blocks.iter().map(|block| block.tokens).sum()
    }

    /// The tokens of tools.
    pub fn tool_tokens(&self) -> u64 {
        let tools = self.blocks.iter().filter(|block| block.text.starts_with("tools "));
        tools.map(|block| block.tokens).sum()
    }

    /// A hash of everything before a message, by its index; of everything, if there is no such message.
    pub fn beginning(&self, message: usize) -> u64 {
        let mut hasher = DefaultHasher::new();
        let before = self
            .blocks
            .iter()
            .take_while(|block| block.message.is_none_or(|own| own < message));
        for block in before {
            block.hash.hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// Turns bodies into prompts; counts a block once.
#[derive(Debug, Default)]
pub struct Scale {
    counted: HashMap<u64, u64>,
}

impl Scale {
    /// The prompt of a body.
    pub fn weigh(&mut self, body: &Value, form: Form) -> Prompt {
        let mut prompt = Prompt::default();
        for tool in body["tools"].as_array().into_iter().flatten() {
            self.add(&mut prompt, "tools", tool, None, 0);
        }
        for key in ["system", "instructions"] {
            for block in blocks(&body[key]) {
                self.add(&mut prompt, "system", &block, None, 0);
            }
        }
        match &body[form.list_key()] {
            Value::Array(list) => {
                for (index, message) in list.iter().enumerate() {
                    self.add_message(&mut prompt, message, index, form);
                }
            }
            // Responses takes a text for a list of one.
            text => self.add(&mut prompt, "user", text, Some(0), FRAME),
        }
        // The automatic mark stands on the last block.
        if !body["cache_control"].is_null()
            && let Some(last) = prompt.blocks.last_mut()
        {
            last.marked = true;
        }
        prompt
    }

    /// The tokens of a text.
    pub fn count(&mut self, text: &str) -> u64 {
        let hash = hash(text);
        let count = || Family::O200k.count(text, TextKind::Output);
        *self.counted.entry(hash).or_insert_with(count)
    }

    fn add_message(&mut self, prompt: &mut Prompt, message: &Value, index: usize, form: Form) {
        let role = message["role"].as_str().unwrap_or("item");
        let is_item = form == Form::Responses && message["type"].as_str().is_some_and(|kind| kind != "message");
        if is_item {
            return self.add(prompt, "item", message, Some(index), FRAME);
        }
        let mut frame = FRAME;
        for block in blocks(&message["content"]) {
            self.add(prompt, role, &block, Some(index), frame);
            frame = 0;
        }
        for key in ["reasoning_content", "tool_calls", "tool_call_id"] {
            if !message[key].is_null() {
                self.add(prompt, key, &message[key], Some(index), frame);
                frame = 0;
            }
        }
    }

    fn add(&mut self, prompt: &mut Prompt, role: &str, block: &Value, message: Option<usize>, frame: u64) {
        let bare = unmarked(block);
        let text = format!("{role} {bare}");
        let hash = hash(&text);
        let known = self.counted.get(&hash).copied();
        let tokens = known.unwrap_or_else(|| {
            let tokens = weight(&bare, "");
            self.counted.insert(hash, tokens);
            tokens
        });
        prompt.blocks.push(Block {
            text,
            hash,
            tokens: tokens + frame,
            marked: !block["cache_control"].is_null(),
            message,
        });
    }
}

/// A content as a list of blocks.
fn blocks(content: &Value) -> Vec<Cow<'_, Value>> {
    match content {
        Value::Null => Vec::new(),
        Value::Array(list) => list.iter().map(Cow::Borrowed).collect(),
        Value::String(text) => vec![Cow::Owned(json!({"type": "text", "text": text}))],
        other => vec![Cow::Borrowed(other)],
    }
}

/// A block without its mark, and without those of the blocks inside of it.
fn unmarked(block: &Value) -> Value {
    let mut block = block.clone();
    if let Some(fields) = block.as_object_mut() {
        fields.shift_remove("cache_control");
        for inner in fields.values_mut().filter_map(Value::as_array_mut).flatten() {
            if let Some(fields) = inner.as_object_mut() {
                fields.shift_remove("cache_control");
            }
        }
    }
    block
}

/// The tokens of a value that stands under this key: texts as texts, pictures flat, sealed reasoning by its size, everything
/// else as the JSON it is.
fn weight(value: &Value, key: &str) -> u64 {
    let count = |text: &str| Family::O200k.count(text, TextKind::Output);
    match value {
        Value::String(text) if matches!(key, "signature" | "encrypted_content") => text.len() as u64 / SEALED,
        Value::String(_)
            if matches!(
                key,
                "type" | "id" | "tool_use_id" | "call_id" | "status" | "tool_call_id"
            ) =>
        {
            0
        }
        Value::String(text) => count(text),
        Value::Object(fields) => {
            if matches!(
                fields.get("type").and_then(Value::as_str),
                Some("image" | "image_url" | "input_image")
            ) {
                return IMAGE;
            }
            if matches!(key, "input" | "input_schema" | "parameters") {
                return count(&value.to_string());
            }
            fields.iter().map(|(key, value)| weight(value, key)).sum()
        }
        Value::Array(list) => list.iter().map(|value| weight(value, key)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_lists_of_one_do_not_change_a_block() {
        let mut scale = Scale::default();
        let plain = json!({"messages": [{"role": "user", "content": "hello there"}]});
        let mark = json!({"type": "ephemeral"});
        let block = json!({"type": "text", "text": "hello there", "cache_control": mark});
        let marked = json!({"messages": [{"role": "user", "content": [block]}]});
        let plain = scale.weigh(&plain, Form::Anthropic);
        let marked = scale.weigh(&marked, Form::Anthropic);
        assert_eq!(plain.blocks[0].hash, marked.blocks[0].hash);
        assert_eq!(plain.tokens(), 2 + FRAME);
        assert!(marked.blocks[0].marked && !plain.blocks[0].marked);
    }

    #[test]
    fn tools_come_first_and_are_counted_apart() {
        let tool = json!({"name": "look", "description": "looks", "input_schema": {"type": "object"}});
        let body = json!({"system": "Be brief.", "tools": [tool], "messages": [{"role": "user", "content": "hi"}]});
        let prompt = Scale::default().weigh(&body, Form::Anthropic);
        assert!(prompt.blocks[0].text.starts_with("tools "));
        assert!(prompt.tool_tokens() > 0 && prompt.tool_tokens() < prompt.tokens());
        let places: Vec<_> = prompt.blocks.iter().map(|block| block.message).collect();
        assert_eq!(places, [None, None, Some(0)]);
    }
}
