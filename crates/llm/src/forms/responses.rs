//! OpenAI Responses.

use mainstay_engine::json::Object;
use serde_json::Value;
use serde_json::json;

use super::Delivery;
use super::Draft;
use super::Progress;
use super::usage;
use crate::answer::Stop;
use crate::complaint::Complaint;
use crate::error::Cause;
use crate::error::Trouble;
use crate::model::Model;
use crate::prompt::Prompt;
use crate::prompt::Shape;
use crate::prompt::Speaker;

/// A request body. Nothing is kept at the provider.
pub(super) fn body(model: &Model, prompt: &Prompt, delivery: Delivery) -> Value {
    let turn = |(speaker, text): &(Speaker, String)| json!({"role": speaker.role(), "content": text});
    let input: Vec<Value> = prompt.turns.iter().map(turn).collect();
    let mut body = json!({"model": model.id, "store": false});
    if !prompt.system.is_empty() {
        body["instructions"] = prompt.system.as_str().into();
    }
    body["input"] = input.into();
    if let Some(most) = prompt.most_tokens {
        body["max_output_tokens"] = most.into();
    }
    if let Some(temperature) = prompt.temperature {
        body["temperature"] = temperature.into();
    }
    if prompt.shape == Shape::Json {
        body["text"] = json!({"format": {"type": "json_object"}});
    }
    if delivery == Delivery::Streamed {
        body["stream"] = true.into();
    }
    body
}

/// Reads a whole answer.
pub(super) fn read(object: &Object<'_>, draft: &mut Draft) -> Result<(), Trouble> {
    let ended = matches!(object.tag("status"), Some("completed" | "incomplete" | "failed"));
    if !ended || (!object.has("output") && !object.is("status", "failed")) {
        let status = object.text("status").unwrap_or_else(|| "none".into());
        return Err(Trouble::malformed(format!(
            "this is no finished response; its status is {status}"
        )));
    }
    take_response(object, draft)
}

/// Takes an event of a stream.
pub(super) fn take(name: Option<&str>, object: &Object<'_>, draft: &mut Draft) -> Result<(), Trouble> {
    let kind = object.tag("type").or(name).unwrap_or("");
    match kind {
        "response.output_text.delta" => draft.say(object.text("delta")),
        "response.refusal.delta" => draft.refuse(object.text("delta")),
        "response.output_item.done" => {
            if let Some(item) = object.object("item") {
                draft.calls_tool |= is_call(&item);
            }
        }
        "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
            let Some(response) = object.object("response") else {
                return Err(Trouble::malformed(format!("{kind} without its response")));
            };
            take_response(&response, draft)?;
            draft.progress = Progress::Closed;
        }
        "error" => return Err(Complaint::of(object).trouble(None)),
        _ => {}
    }
    if kind.starts_with("response.") {
        draft.begin();
    }
    Ok(())
}

/// Takes a response object that has come to its end.
fn take_response(response: &Object<'_>, draft: &mut Draft) -> Result<(), Trouble> {
    draft.serve(response);
    let reported = response.object("usage");
    let reported =
        reported.and_then(|reported| usage(&reported, "input_tokens", "output_tokens", "input_tokens_details"));
    draft.usage = reported.or(draft.usage);
    match response.tag("status") {
        Some("failed") => {
            let complaint = response.object("error").map(|error| Complaint::of(&error));
            return Err(complaint.unwrap_or_default().trouble(None).costing(draft.usage));
        }
        Some("cancelled") => return Err(Trouble::new(Cause::NotRun, "cancelled").costing(draft.usage)),
        Some("incomplete") => {
            let details = response.object("incomplete_details");
            let reason = details.as_ref().and_then(|details| details.tag("reason"));
            draft.stop = Some(match reason {
                Some("max_output_tokens" | "max_tokens") => Stop::Length,
                Some("content_filter") => Stop::Refusal,
                _ => Stop::Other,
            });
        }
        _ => draft.stop = Some(Stop::End),
    }
    take_output(response, draft);
    Ok(())
}

/// The items of the answer. They repeat what came in pieces and win over it; a server that leaves them out is believed too.
fn take_output(response: &Object<'_>, draft: &mut Draft) {
    let mut whole = Draft::default();
    for item in response
        .array("output")
        .unwrap_or_default()
        .into_iter()
        .filter_map(Object::of)
    {
        whole.calls_tool |= is_call(&item);
        if !item.is("type", "message") {
            continue;
        }
        for part in item
            .array("content")
            .unwrap_or_default()
            .into_iter()
            .filter_map(Object::of)
        {
            match part.tag("type") {
                Some("output_text" | "text") => whole.say(part.text("text")),
                Some("refusal") => whole.refuse(part.text("refusal")),
                _ => {}
            }
        }
    }
    draft.calls_tool |= whole.calls_tool;
    if !whole.text.is_empty() {
        draft.text = whole.text;
    }
    if !whole.refusal.is_empty() {
        draft.refusal = whole.refusal;
    }
}

fn is_call(item: &Object<'_>) -> bool {
    item.tag("type").is_some_and(|kind| kind.ends_with("_call"))
}
