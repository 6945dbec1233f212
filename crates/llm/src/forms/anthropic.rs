//! Anthropic Messages.

use mainstay_engine::json::Object;
use serde_json::Value;
use serde_json::json;

use super::Delivery;
use super::Draft;
use super::Progress;
use crate::answer::Stop;
use crate::answer::Usage;
use crate::complaint::Complaint;
use crate::error::Trouble;
use crate::model::Model;
use crate::prompt::Prompt;
use crate::prompt::Speaker;

/// A request body. This form demands a limit and has no field for "some JSON object".
pub(super) fn body(model: &Model, prompt: &Prompt, delivery: Delivery) -> Value {
    let turn = |(speaker, text): &(Speaker, String)| json!({"role": speaker.role(), "content": text});
    let messages: Vec<Value> = prompt.turns.iter().map(turn).collect();
    let most = prompt.most_tokens.unwrap_or(model.output).max(1);
    let mut body = json!({"model": model.id, "max_tokens": most});
    if !prompt.system.is_empty() {
        body["system"] = prompt.system.as_str().into();
    }
    body["messages"] = messages.into();
    if let Some(temperature) = prompt.temperature {
        body["temperature"] = temperature.into();
    }
    if delivery == Delivery::Streamed {
        body["stream"] = true.into();
    }
    body
}

/// The same body with the first turn in two blocks, the first of which ends at a byte and is marked for the cache. Requests of a batch
/// run within hours, so the longer of the two lifetimes is asked for.
pub(super) fn body_sharing(model: &Model, prompt: &Prompt, shared: usize) -> Value {
    let mut body = body(model, prompt, Delivery::Whole);
    let first = prompt.turns.first().and_then(|(_, text)| text.split_at_checked(shared));
    if let Some((before, behind)) = first.filter(|(before, behind)| !before.is_empty() && !behind.is_empty()) {
        body["messages"][0]["content"] = json!([
            {"type": "text", "text": before, "cache_control": {"type": "ephemeral", "ttl": "1h"}},
            {"type": "text", "text": behind},
        ]);
    }
    body
}

/// Reads a whole answer.
pub(super) fn read(object: &Object<'_>, draft: &mut Draft) -> Result<(), Trouble> {
    draft.serve(object);
    take_usage(object, draft);
    let Some(blocks) = object.array("content") else {
        return Err(Trouble::malformed("the answer holds no content").costing(draft.usage));
    };
    for block in blocks.into_iter().filter_map(Object::of) {
        take_block(&block, draft);
    }
    take_stop(object, draft);
    Ok(())
}

/// Takes an event of a stream.
pub(super) fn take(name: Option<&str>, object: &Object<'_>, draft: &mut Draft) -> Result<(), Trouble> {
    match object.tag("type").or(name).unwrap_or("") {
        "message_start" => {
            draft.begin();
            if let Some(message) = object.object("message") {
                draft.serve(&message);
                take_usage(&message, draft);
            }
        }
        "content_block_start" => {
            if let Some(block) = object.object("content_block") {
                take_block(&block, draft);
            }
        }
        "content_block_delta" => {
            if let Some(delta) = object.object("delta").filter(|delta| delta.is("type", "text_delta")) {
                draft.say(delta.text("text"));
            }
        }
        "message_delta" => {
            draft.begin();
            if let Some(delta) = object.object("delta") {
                take_stop(&delta, draft);
            }
            take_usage(object, draft);
        }
        // Without a beginning there is nothing that could end.
        "message_stop" if draft.progress != Progress::Nothing => draft.progress = Progress::Closed,
        "error" => return Err(Complaint::of(object).trouble(None)),
        _ => {}
    }
    Ok(())
}

fn take_block(block: &Object<'_>, draft: &mut Draft) {
    match block.tag("type") {
        Some("text") => draft.say(block.text("text")),
        Some("tool_use") => draft.calls_tool = true,
        _ => {}
    }
}

/// Tokens read from and written to the cache stand beside the input here. Later figures replace earlier ones.
fn take_usage(object: &Object<'_>, draft: &mut Draft) {
    let Some(reported) = object.object("usage") else {
        return;
    };
    let before = draft.usage.unwrap_or_default();
    let fresh_before = before
        .input
        .saturating_sub(before.cache_read)
        .saturating_sub(before.cache_write);
    let fresh = reported.count("input_tokens").unwrap_or(fresh_before);
    let cache_read = reported.count("cache_read_input_tokens").unwrap_or(before.cache_read);
    let cache_write = reported
        .count("cache_creation_input_tokens")
        .unwrap_or(before.cache_write);
    draft.usage = Some(Usage {
        input: fresh.saturating_add(cache_read).saturating_add(cache_write),
        cache_read,
        cache_write,
        output: reported.count("output_tokens").unwrap_or(before.output),
    });
}

fn take_stop(object: &Object<'_>, draft: &mut Draft) {
    let stop = match object.tag("stop_reason") {
        Some("end_turn" | "stop_sequence") => Stop::End,
        // The window was full before the limit was reached.
        Some("max_tokens" | "model_context_window_exceeded") => Stop::Length,
        Some("tool_use") => Stop::ToolCall,
        Some("refusal") => Stop::Refusal,
        Some(_) => Stop::Other,
        None => return,
    };
    draft.stop = Some(stop);
}
