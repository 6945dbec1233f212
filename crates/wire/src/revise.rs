//! Changed messages in their provider's form: only what a change names is new, unknown fields stay.

use std::collections::BTreeMap;

use mainstay_engine::transcript::Input;
use mainstay_engine::transcript::Spot;
use mainstay_engine::transform::Change;

use crate::json;
use crate::json::Object;
use crate::json::Raw;
use crate::json::quote;
use crate::reading::WireForm;

/// The changes of one message, by the index of the part.
pub(crate) type PartChanges<'a> = BTreeMap<u32, &'a Change>;

/// The changes of one message among those of a conversation.
pub(crate) fn of_message(changes: &BTreeMap<Spot, Change>, message: usize) -> PartChanges<'_> {
    let message = u32::try_from(message).unwrap_or(u32::MAX);
    let first = Spot { message, part: 0 };
    let last = Spot {
        message,
        part: u32::MAX,
    };
    changes
        .range(first..=last)
        .map(|(spot, change)| (spot.part, change))
        .collect()
}

/// A message's text with its changes; `None` when the text is not of the shape its reader saw.
pub(crate) fn revise(form: WireForm, text: &str, changes: &PartChanges<'_>) -> Option<String> {
    let object = Object::parse(text).ok()?;
    match form {
        WireForm::Chat => revise_chat(&object, changes),
        WireForm::Anthropic => revise_anthropic(&object, changes),
        WireForm::Responses => revise_item(&object, changes),
    }
}

/// What happens to a member or an element.
enum Fate {
    Stays,
    Becomes(String),
    Goes,
}

fn rebuild_object(object: &Object<'_>, mut fate: impl FnMut(&str, Raw<'_>) -> Fate) -> String {
    let mut members = Vec::new();
    for (raw_key, value) in object.raw_members() {
        let key = json::text(raw_key).unwrap_or_default();
        match fate(&key, value) {
            Fate::Stays => members.push(format!("{}:{}", raw_key.get(), value.get())),
            Fate::Becomes(text) => members.push(format!("{}:{text}", raw_key.get())),
            Fate::Goes => {}
        }
    }
    format!("{{{}}}", members.join(","))
}

fn rebuild_array(elements: &[Raw<'_>], mut fate: impl FnMut(usize, Raw<'_>) -> Fate) -> String {
    let mut kept = Vec::new();
    for (index, element) in elements.iter().enumerate() {
        match fate(index, element) {
            Fate::Stays => kept.push(element.get().to_owned()),
            Fate::Becomes(text) => kept.push(text),
            Fate::Goes => {}
        }
    }
    format!("[{}]", kept.join(","))
}

/// Parts of a chat message, in the order in which its reader lists them.
struct ChatParts {
    reasoning: Option<u32>,
    content: u32,
    calls: u32,
}

fn chat_parts(object: &Object<'_>) -> ChatParts {
    let has_text = |key: &str| object.text(key).is_some_and(|text| !text.is_empty());
    let details = object
        .get("reasoning_details")
        .is_some_and(|raw| !matches!(raw.get(), "null" | "[]"));
    let reasoning = has_text("reasoning_content") || has_text("reasoning") || details;
    let content = u32::from(reasoning);
    let blocks = match object.get("content") {
        None => 0,
        Some(raw) => match (json::array(raw), json::text(raw)) {
            (Some(blocks), _) => blocks.len() as u32,
            (None, Some(text)) => u32::from(!text.is_empty()),
            (None, None) => u32::from(raw.get() != "null"),
        },
    };
    let refusal = u32::from(object.text("refusal").is_some());
    ChatParts {
        reasoning: reasoning.then_some(0),
        content,
        calls: content + blocks + refusal,
    }
}

fn revise_chat(object: &Object<'_>, changes: &PartChanges<'_>) -> Option<String> {
    if matches!(object.text("role").as_deref(), Some("tool" | "function")) {
        let Some(Change::Result(text)) = changes.get(&0) else {
            return None;
        };
        let content = |key: &str, _: Raw<'_>| {
            if key == "content" {
                Fate::Becomes(quote(text))
            } else {
                Fate::Stays
            }
        };
        return Some(rebuild_object(object, content));
    }
    let parts = chat_parts(object);
    let drops_reasoning = parts
        .reasoning
        .is_some_and(|part| changes.get(&part) == Some(&&Change::Drop));
    Some(rebuild_object(object, |key, value| match key {
        "reasoning_content" | "reasoning" | "reasoning_details" if drops_reasoning => Fate::Goes,
        "content" => match json::array(value) {
            Some(blocks) => Fate::Becomes(rebuild_array(&blocks, |index, block| {
                block_fate(block, changes.get(&(parts.content + index as u32)).copied())
            })),
            None => Fate::Stays,
        },
        "tool_calls" => match json::array(value) {
            Some(calls) => Fate::Becomes(rebuild_array(&calls, |index, call| {
                call_fate(call, changes.get(&(parts.calls + index as u32)).copied())
            })),
            // Some write `null` for no calls; an empty list in its place would be refused.
            None => Fate::Stays,
        },
        _ => Fate::Stays,
    }))
}

/// A content block that becomes text, goes, or stays. A hint for the provider's cache stays with the block.
fn block_fate(block: Raw<'_>, change: Option<&Change>) -> Fate {
    match change {
        Some(Change::Text(text)) => {
            let hint = Object::of(block).and_then(|block| block.get("cache_control"));
            let hint = hint
                .map(|hint| format!(",\"cache_control\":{}", hint.get()))
                .unwrap_or_default();
            Fate::Becomes(format!("{{\"type\":\"text\",\"text\":{}{hint}}}", quote(text)))
        }
        Some(Change::Drop) => Fate::Goes,
        Some(Change::Result(_) | Change::Arguments(_)) | None => Fate::Stays,
    }
}

/// A chat tool call with new arguments.
fn call_fate(call: Raw<'_>, change: Option<&Change>) -> Fate {
    let (Some(Change::Arguments(input)), Some(object)) = (change, Object::of(call)) else {
        return Fate::Stays;
    };
    let with_arguments = |object: &Object<'_>| {
        rebuild_object(object, |key, value| match key {
            "arguments" | "input" => Fate::Becomes(arguments(value, input)),
            _ => Fate::Stays,
        })
    };
    let inner = ["function", "custom"]
        .into_iter()
        .find_map(|key| Some((key, object.object(key)?)));
    Fate::Becomes(match inner {
        None => with_arguments(&object),
        Some((wrapper, inner)) => rebuild_object(&object, |key, _| {
            if key == wrapper {
                Fate::Becomes(with_arguments(&inner))
            } else {
                Fate::Stays
            }
        }),
    })
}

/// New arguments in the spelling of the old ones: JSON in a string, or JSON itself.
fn arguments(old: Raw<'_>, input: &Input) -> String {
    match (json::kind(old), input) {
        (json::Kind::String, _) | (_, Input::Text(_)) => quote(input.as_str()),
        (_, Input::Json(text)) => text.to_string(),
    }
}

fn revise_anthropic(object: &Object<'_>, changes: &PartChanges<'_>) -> Option<String> {
    let blocks = object.array("content")?;
    let content = rebuild_array(&blocks, |index, block| {
        let change = changes.get(&(index as u32)).copied();
        let Some(inner) = Object::of(block) else {
            return Fate::Stays;
        };
        match change {
            Some(Change::Result(text)) => Fate::Becomes(with_result(&inner, text)),
            Some(Change::Arguments(Input::Json(json))) => Fate::Becomes(rebuild_object(&inner, |key, _| match key {
                "input" => Fate::Becomes(json.to_string()),
                _ => Fate::Stays,
            })),
            Some(Change::Text(_) | Change::Drop) => block_fate(block, change),
            Some(Change::Arguments(Input::Text(_))) | None => Fate::Stays,
        }
    });
    Some(rebuild_object(object, |key, _| {
        if key == "content" {
            Fate::Becomes(content.clone())
        } else {
            Fate::Stays
        }
    }))
}

/// A tool result block that says only this.
fn with_result(block: &Object<'_>, text: &str) -> String {
    let said = quote(text);
    let mut has_content = false;
    let rebuilt = rebuild_object(block, |key, _| {
        if key == "content" {
            has_content = true;
            Fate::Becomes(said.clone())
        } else {
            Fate::Stays
        }
    });
    if has_content {
        return rebuilt;
    }
    format!("{},\"content\":{said}}}", &rebuilt[..rebuilt.len() - 1])
}

fn revise_item(object: &Object<'_>, changes: &PartChanges<'_>) -> Option<String> {
    let first = changes.get(&0).copied();
    let kind = object.text("type");
    match (first, kind.as_deref().unwrap_or("message")) {
        (Some(Change::Result(text)), _) => Some(rebuild_object(object, |key, _| match key {
            "output" => Fate::Becomes(quote(text)),
            _ => Fate::Stays,
        })),
        (Some(Change::Arguments(input)), "local_shell_call") => Some(rebuild_object(object, |key, value| match key {
            "action" => Fate::Becomes(arguments(value, input)),
            _ => Fate::Stays,
        })),
        (Some(Change::Arguments(input)), _) => Some(rebuild_object(object, |key, value| match key {
            "arguments" | "input" => Fate::Becomes(arguments(value, input)),
            _ => Fate::Stays,
        })),
        (_, "message") => {
            let blocks = object.array("content")?;
            let content = rebuild_array(&blocks, |index, _| match changes.get(&(index as u32)) {
                Some(Change::Text(text)) => {
                    Fate::Becomes(format!("{{\"type\":\"input_text\",\"text\":{}}}", quote(text)))
                }
                Some(Change::Drop | Change::Result(_) | Change::Arguments(_)) | None => Fate::Stays,
            });
            Some(rebuild_object(object, |key, _| {
                if key == "content" {
                    Fate::Becomes(content.clone())
                } else {
                    Fate::Stays
                }
            }))
        }
        _ => None,
    }
}
