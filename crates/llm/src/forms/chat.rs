//! OpenAI Chat Completions, and the many servers that speak it.

use mainstay_engine::json;
use mainstay_engine::json::Kind;
use mainstay_engine::json::Object;
use mainstay_engine::json::Raw;
use serde_json::Value;
use serde_json::json;

use super::Delivery;
use super::Draft;
use super::Progress;
use super::usage;
use crate::answer::Stop;
use crate::error::Cause;
use crate::error::Trouble;
use crate::model::Model;
use crate::prompt::Prompt;
use crate::prompt::Shape;

/// A request body.
pub(super) fn body(model: &Model, prompt: &Prompt, delivery: Delivery) -> Value {
    let mut messages = Vec::new();
    if !prompt.system.is_empty() {
        messages.push(json!({"role": "system", "content": prompt.system}));
    }
    for (speaker, text) in &prompt.turns {
        messages.push(json!({"role": speaker.role(), "content": text}));
    }
    let mut body = json!({"model": model.id, "messages": messages});
    if let Some(most) = prompt.most_tokens {
        body[limit_field(model)] = most.into();
    }
    if let Some(temperature) = prompt.temperature {
        body["temperature"] = temperature.into();
    }
    if prompt.shape == Shape::Json {
        body["response_format"] = json!({"type": "json_object"});
    }
    if delivery == Delivery::Streamed {
        body["stream"] = true.into();
        body["stream_options"] = json!({"include_usage": true});
    }
    body
}

/// The name of the limit. OpenAI's reasoning models refuse `max_tokens` and all of OpenAI's models take
/// `max_completion_tokens`; many compatible servers ignore or refuse the latter and all of them take the former. Sending
/// both is refused. So the new name goes to OpenAI itself, to Azure, and to models of the families that insist on it
/// wherever they are served; everybody else gets the old one.
fn limit_field(model: &Model) -> &'static str {
    let url = model.endpoint.url.as_str();
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = host.split(['/', ':', '?']).next().unwrap_or("");
    let at_openai = ["openai.com", "openai.azure.com", "azure.com"]
        .iter()
        .any(|domain| host == *domain || host.ends_with(&format!(".{domain}")));
    let id = model.id.rsplit('/').next().unwrap_or("");
    let insists = ["gpt-5", "gpt-6", "o1", "o3", "o4"]
        .iter()
        .any(|family| id.starts_with(family));
    if at_openai || insists {
        "max_completion_tokens"
    } else {
        "max_tokens"
    }
}

/// Reads a whole answer.
pub(super) fn read(object: &Object<'_>, draft: &mut Draft) -> Result<(), Trouble> {
    draft.serve(object);
    take_usage(object, draft);
    let choice = object.array("choices").and_then(|choices| choices.first().copied());
    let choice = choice.and_then(Object::of);
    let message = choice.as_ref().and_then(|choice| choice.object("message"));
    let (Some(choice), Some(message)) = (choice, message) else {
        return Err(Trouble::malformed("the answer holds no choice with a message").costing(draft.usage));
    };
    take_message(&message, draft);
    take_finish(&choice, draft)
}

/// Takes an event of a stream.
pub(super) fn take(object: &Object<'_>, draft: &mut Draft) -> Result<(), Trouble> {
    draft.serve(object);
    take_usage(object, draft);
    for raw in object.array("choices").unwrap_or_default() {
        let Some(choice) = Object::of(raw) else { continue };
        if choice.count("index").unwrap_or(0) != 0 {
            continue;
        }
        draft.begin();
        if let Some(delta) = choice.object("delta").or_else(|| choice.object("message")) {
            take_message(&delta, draft);
        }
        take_finish(&choice, draft)?;
    }
    Ok(())
}

fn take_usage(object: &Object<'_>, draft: &mut Draft) {
    let reported = object.object("usage");
    let reported =
        reported.and_then(|reported| usage(&reported, "prompt_tokens", "completion_tokens", "prompt_tokens_details"));
    draft.usage = reported.or(draft.usage);
}

fn take_message(message: &Object<'_>, draft: &mut Draft) {
    if let Some(raw) = message.get("content") {
        take_content(raw, draft);
    }
    draft.refuse(message.text("refusal"));
    let calls = message.array("tool_calls").is_some_and(|calls| !calls.is_empty());
    if calls || message.object("function_call").is_some() {
        draft.calls_tool = true;
    }
}

fn take_content(raw: Raw<'_>, draft: &mut Draft) {
    match json::kind(raw) {
        Kind::String => draft.say(json::text(raw)),
        Kind::Array => {
            let parts = json::array(raw).unwrap_or_default().into_iter().filter_map(Object::of);
            for part in parts.filter(|part| part.is("type", "text")) {
                draft.say(part.text("text"));
            }
        }
        _ => {}
    }
}

fn take_finish(choice: &Object<'_>, draft: &mut Draft) -> Result<(), Trouble> {
    let Some(reason) = choice.text("finish_reason") else {
        return Ok(());
    };
    if draft.progress != Progress::Closed {
        draft.progress = Progress::Whole;
    }
    draft.stop = Some(match &*reason {
        "stop" | "eos" | "end_turn" => Stop::End,
        "length" | "max_tokens" | "model_length" => Stop::Length,
        "content_filter" => Stop::Refusal,
        "tool_calls" | "function_call" => Stop::ToolCall,
        // A gateway whose provider failed in the middle.
        "error" => {
            let trouble = Trouble::new(Cause::ServerError(500), "the answer ends with an error");
            return Err(trouble.costing(draft.usage));
        }
        _ => Stop::Other,
    });
    Ok(())
}
