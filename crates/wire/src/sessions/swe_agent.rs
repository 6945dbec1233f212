//! SWE-agent's `.traj` files: `{history, trajectory, info}`, and the `.traj.json` of mini-swe-agent:
//! `{messages, info, trajectory_format}`.
//!
//! The history is what the model was sent. Files without one are put together from the steps. A file of
//! several attempts without a chosen one holds a conversation for each.

use std::sync::Arc;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Usage;

use crate::anthropic;
use crate::document::Document;
use crate::document_builder::Reading;
use crate::error::ReadError;
use crate::format_definition::Format;
use crate::format_definition::Likeness;
use crate::format_definition::nowhere;
use crate::json;
use crate::json::Object;
use crate::json::Raw;
use crate::openai_chat;
use crate::reading::Entry;
use crate::reading::Request;
use crate::reading::WireForm;
use crate::sniff::Sniff;
use crate::source::BYTE_ORDER_MARK;
use crate::source::Source;
use crate::time;

/// The row in the list of formats.
pub static FORMAT: Format = Format {
    name: "swe-agent",
    title: "SWE-agent trajectories",
    detect,
    read,
    list,
    haunts: nowhere,
};

fn detect(sniff: &Sniff<'_>) -> Likeness {
    let Some(object) = sniff.object() else {
        return Likeness::No;
    };
    Likeness::certain_if(is_run(object) || !attempts_of(object).is_empty())
}

/// A run: a history or steps of SWE-agent, or messages of mini-swe-agent.
fn is_run(object: &Object<'_>) -> bool {
    let first = |key: &str| object.array(key)?.first().and_then(|raw| Object::of(raw));
    let is_step = |step: Object<'_>| step.has("action") && step.has("observation") && step.has("thought");
    let is_item = |item: Object<'_>| item.has("role") && item.has("content");
    let is_mini = object
        .tag("trajectory_format")
        .is_some_and(|format| format.starts_with("mini-swe-agent"));
    first("trajectory").is_some_and(is_step)
        || (object.has("info") && object.has("trajectory") && first("history").is_some_and(is_item))
        || (is_mini && object.array("messages").is_some())
}

fn attempts_of<'a>(object: &Object<'a>) -> Vec<Object<'a>> {
    let attempts = object.array("attempts").unwrap_or_default();
    attempts
        .iter()
        .filter_map(|raw| Object::of(raw))
        .filter(is_run)
        .collect()
}

fn parse<'a>(source: &Source, text: &'a str) -> Result<Object<'a>, ReadError> {
    Object::parse(text.trim_start_matches(BYTE_ORDER_MARK))
        .map_err(|cause| ReadError::refused(source.name(), format!("not a JSON object: {cause}")))
}

fn list(source: &Source) -> Result<Vec<Entry>, ReadError> {
    let text = source.text()?;
    let object = parse(source, &text.text)?;
    if is_run(&object) {
        return Ok(Vec::new());
    }
    let entries = attempts_of(&object).into_iter().enumerate().map(|(index, run)| Entry {
        id: index.to_string(),
        title: info(&run, "exit_status"),
        updated: None,
        messages: run.array("history").map(|list| list.len() as u64),
    });
    Ok(entries.collect())
}

fn read(format: &'static Format, source: &Source, request: &Request) -> Result<Document, ReadError> {
    let text = source.text()?;
    let object = parse(source, &text.text)?;
    let mut reading = Reading::new(WireForm::Chat);
    reading.findings = text.findings;
    reading.about.id = object.text("instance_id").map(Into::into);
    let run = if is_run(&object) {
        object
    } else {
        let mut attempts = attempts_of(&object);
        reading.about.conversations = attempts.len() as u64;
        // The last attempt is the newest.
        let newest = attempts.len().checked_sub(1);
        let wanted = match &request.session {
            Some(wanted) => wanted.parse().ok().filter(|index| *index < attempts.len()),
            None => newest,
        };
        let Some(index) = wanted else {
            return Err(request.not_found(source, || list(source)));
        };
        reading.about.id = Some(index.to_string());
        attempts.swap_remove(index)
    };
    read_run(&run, &mut reading);
    if reading.is_empty() {
        return Err(ReadError::refused(source.name(), "there is no message in its history"));
    }
    reading.count_all();
    Ok(reading.finish(format))
}

fn info(run: &Object<'_>, key: &str) -> Option<String> {
    run.object("info")?.text(key).map(Into::into)
}

fn read_run(run: &Object<'_>, reading: &mut Reading) {
    reading.about.version = info(run, "swe_agent_version").or_else(|| info(run, "mini_version"));
    reading.about.title = run.text("environment").map(Into::into);
    reading.about.model = model_of(run);
    let items = run.array("history").filter(|items| !items.is_empty());
    let items = items.or_else(|| run.array("messages")).unwrap_or_default();
    if items.is_empty() {
        read_steps(&run.array("trajectory").unwrap_or_default(), reading);
        return;
    }
    let mut has_task = false;
    for (index, raw) in (0..).zip(items) {
        let place = Place::Item(index);
        let item = Object::of(raw).unwrap_or_default();
        // How mini-swe-agent marks the end of a run; it is not sent.
        if item.is("role", "exit") {
            continue;
        }
        let mut message = openai_chat::read_message(raw, place, &mut reading.findings);
        complete(&item, &mut message, place, &mut reading.findings);
        message.author = author_of(&item, &message, &mut has_task);
        reading.push(message);
    }
}

fn model_of(run: &Object<'_>) -> Option<Arc<str>> {
    // The configuration stands in the file as JSON in a string.
    let config = run.text("replay_config");
    let config = config.as_deref().and_then(|text| Object::parse(text).ok());
    let named = config.and_then(|config| config.object("agent")?.object("model")?.text("name"));
    let mini = || {
        run.object("info")?
            .object("config")?
            .object("model")?
            .text("model_name")
    };
    named.or_else(mini).map(Arc::from)
}

/// Adds what is spelled differently from OpenAI's form.
fn complete(item: &Object<'_>, message: &mut Message, place: Place, findings: &mut Vec<Finding>) {
    let ids = item.array("tool_call_ids").unwrap_or_default();
    let first_id = ids.first().and_then(|raw| json::text(raw));
    for part in &mut message.parts {
        if let Part::Result(result) = part
            && result.id.is_missing()
            && let Some(id) = &first_id
        {
            result.id = CallId::new(id.clone());
        }
    }
    if ids.len() > 1 {
        findings.push(Finding::new(
            Rule::DuplicateResult,
            place,
            "one answer names several calls",
        ));
    }
    let thoughts = item.array("thinking_blocks").unwrap_or_default();
    let thoughts: Vec<_> = thoughts
        .iter()
        .map(|raw| anthropic::read_block(raw, place, findings))
        .filter(|part| matches!(part, Part::Thinking(_)))
        .collect();
    if message.role == Role::Assistant {
        message.parts.splice(0..0, thoughts);
    }
    let Some(extra) = item.object("extra") else { return };
    message.at = extra.get("timestamp").and_then(time::read);
    let Some(response) = extra.object("response") else {
        return;
    };
    message.model = response.text("model").map(Arc::from);
    message.usage = response.object("usage").map(|usage| Box::new(read_usage(&usage)));
}

fn read_usage(usage: &Object<'_>) -> Usage {
    let details = usage.object("prompt_tokens_details").unwrap_or_default();
    let written = usage.object("completion_tokens_details").unwrap_or_default();
    Usage {
        input: usage.count("prompt_tokens").unwrap_or(0),
        cache_read: details.count("cached_tokens").unwrap_or(0),
        cache_write: usage.count("cache_creation_input_tokens").unwrap_or(0),
        output: usage.count("completion_tokens").unwrap_or(0),
        reasoning: written.count("reasoning_tokens").unwrap_or(0),
        window: None,
    }
}

/// The first message in the user role that is no demonstration is the task; the others are the output of
/// commands, also where the model has no tools and reads them as text.
fn author_of(item: &Object<'_>, message: &Message, has_task: &mut bool) -> Author {
    if message.role != Role::User {
        return message.author;
    }
    if item.flag("is_demo") || item.is("message_type", "demonstration") {
        return Author::Host;
    }
    if std::mem::replace(has_task, true) {
        Author::Tool
    } else {
        message.author
    }
}

/// The steps of a file without a history: what the model said, and what came back.
fn read_steps(steps: &[Raw<'_>], reading: &mut Reading) {
    for (index, raw) in (0..).zip(steps) {
        let place = Place::Item(index);
        let Some(step) = Object::of(raw) else {
            reading.note(Rule::NotARecord, place, "a step that is not an object");
            continue;
        };
        let said = step.text("response").filter(|text| !text.is_empty());
        let said = said.or_else(|| {
            let thought = step.text("thought").unwrap_or_default();
            let action = step.text("action").unwrap_or_default();
            let said = format!("{thought}\n\n{action}");
            (!said.trim().is_empty()).then(|| said.trim().into())
        });
        if let Some(said) = said {
            let mut message = Message::new(Role::Assistant, vec![Part::Text(said)]);
            message.place = place;
            reading.push(message);
        }
        if let Some(seen) = step.text("observation").filter(|text| !text.is_empty()) {
            let mut message = Message::new(Role::User, vec![Part::Text(seen)]);
            message.author = Author::Tool;
            message.place = place;
            reading.push(message);
        }
    }
}

#[cfg(test)]
#[path = "swe_agent_tests.rs"]
mod tests;
