//! The events of the OpenHands SDK.

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Seal;
use mainstay_engine::transcript::Thinking;
use mainstay_engine::transcript::ToolCall;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::ToolResult;
use mainstay_engine::transcript::Trigger;
use mainstay_engine::transcript::Usage;

use super::log::Condensation;
use super::log::Deed;
use super::log::Log;
use super::log::read_contents;
use super::log::spelled;
use crate::anthropic;
use crate::authorship;
use crate::json;
use crate::json::Object;
use crate::openai_chat;

/// Events that are part of the conversation.
const SPOKEN: &[&str] = &[
    "SystemPromptEvent",
    "MessageEvent",
    "ActionEvent",
    "ObservationEvent",
    "AgentErrorEvent",
    "UserRejectObservation",
    "Condensation",
    "CondensationSummaryEvent",
];

/// Events that are not: states, logs, requests.
const UNSPOKEN: &[&str] = &[
    "ConversationStateUpdateEvent",
    "CondensationRequest",
    "ConversationErrorEvent",
    "HookExecutionEvent",
    "InterruptEvent",
    "LLMCompletionLogEvent",
    "PauseEvent",
    "StreamingDeltaEvent",
    "TokenEvent",
];

/// Whether a record is one of these events.
pub(super) fn is_event(record: &Object<'_>) -> bool {
    let kind = record.tag("kind").unwrap_or("");
    record.has("source") && (SPOKEN.contains(&kind) || UNSPOKEN.contains(&kind))
}

/// Reads one event; `None` when it has no place in the history.
pub(super) fn read(record: &Object<'_>, place: Place, log: &mut Log, findings: &mut Vec<Finding>) -> Option<Deed> {
    let kind = record.text("kind").unwrap_or_default();
    let message = match kind.as_ref() {
        "SystemPromptEvent" => read_system(record, log),
        "MessageEvent" => read_said(record, place, log, findings),
        "ActionEvent" => read_action(record, place, log, findings),
        "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation" => read_answer(record, &kind),
        "Condensation" => return Some(Deed::Condense(read_condensation(record, log))),
        "CondensationSummaryEvent" => Message {
            author: Author::Summary,
            ..Message::new(Role::User, record.text("summary").map(Part::Text).into_iter().collect())
        },
        "CondensationRequest" => {
            log.requested = Some(match record.tag("reason") {
                Some("manual") => Trigger::Manual,
                Some("context_limit" | "unrecoverable") => Trigger::Automatic,
                Some(_) | None => Trigger::Unstated,
            });
            return None;
        }
        "ConversationStateUpdateEvent" => {
            read_state(record, log);
            return None;
        }
        known if UNSPOKEN.contains(&known) => return None,
        unknown => {
            findings.push(Finding::new(Rule::UnknownType, place, unknown));
            return None;
        }
    };
    let response = record.text("llm_response_id").filter(|id| !id.is_empty());
    Some(Deed::Say { message, response })
}

fn read_system(record: &Object<'_>, log: &mut Log) -> Message {
    log.about.tools = record.get("tools").map(|raw| raw.get().into());
    let parts = ["system_prompt", "dynamic_context"].iter().filter_map(|key| {
        let raw = record.get(key)?;
        let text = Object::of(raw).and_then(|object| object.text("text"));
        text.or_else(|| json::text(raw)).map(Part::Text)
    });
    Message::new(Role::System, parts.collect())
}

fn read_said(record: &Object<'_>, place: Place, log: &mut Log, findings: &mut Vec<Finding>) -> Message {
    let said = record.object("llm_message").unwrap_or_default();
    let role = match said.tag("role") {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        other => {
            findings.push(Finding::new(Rule::UnknownRole, place, other.unwrap_or("none")));
            Role::User
        }
    };
    let mut parts = Vec::new();
    if role == Role::Assistant {
        parts.extend(read_thoughts(&said, place, findings));
    }
    // What the agent adds to a person's words, such as triggered skills, stands in a field of its own.
    let contents = [said.get("content"), record.get("extended_content")];
    parts.extend(contents.into_iter().flatten().flat_map(read_contents).map(Part::from));
    let mut message = authorship::message(role, parts);
    if role == Role::User && message.author == Author::User && !record.is("source", "user") {
        message.author = Author::Host;
    }
    if role == Role::Assistant {
        credit(&mut message, log);
    }
    message
}

/// The model and the usage of the newest response.
fn credit(message: &mut Message, log: &mut Log) {
    message.usage = log.usage.take();
    message.model = log.model.clone();
}

/// Reasoning in the form its provider gave it; the plain text only where there is none.
fn read_thoughts(object: &Object<'_>, place: Place, findings: &mut Vec<Finding>) -> Vec<Part> {
    let blocks = object.array("thinking_blocks").unwrap_or_default();
    let blocks = blocks.iter().map(|raw| anthropic::read_block(raw, place, findings));
    let mut thoughts: Vec<_> = blocks.filter(|part| matches!(part, Part::Thinking(_))).collect();
    thoughts.extend(object.object("responses_reasoning_item").map(|item| read_item(&item)));
    let text = object.text("reasoning_content").filter(|text| !text.is_empty());
    if thoughts.is_empty() {
        thoughts.extend(text.map(|text| {
            Part::Thinking(Box::new(Thinking {
                text,
                seal: Seal::Unsealed,
            }))
        }));
    }
    thoughts
}

/// A reasoning item of OpenAI's; its summary is a list of plain strings here.
fn read_item(item: &Object<'_>) -> Part {
    let texts = ["summary", "content"].iter().filter_map(|key| item.array(key));
    let texts: Vec<_> = texts.flatten().filter_map(json::text).collect();
    Part::Thinking(Box::new(Thinking {
        text: texts.join("\n").into(),
        seal: item.text("encrypted_content").map_or(Seal::Unsealed, Seal::Encrypted),
    }))
}

fn read_action(record: &Object<'_>, place: Place, log: &mut Log, findings: &mut Vec<Finding>) -> Message {
    let mut parts = read_thoughts(record, place, findings);
    let thought = record.get("thought").map(read_contents).unwrap_or_default();
    parts.extend(thought.into_iter().map(Part::from));
    let call = record.object("tool_call").unwrap_or_default();
    let id = call
        .text("id")
        .or_else(|| record.text("tool_call_id"))
        .unwrap_or_default();
    let function = call.object("function");
    let call = function.as_ref().unwrap_or(&call);
    // An action without the model's own spelling of it still says what was done.
    let input = call.get("arguments").or_else(|| record.get("action"));
    parts.push(Part::Call(Box::new(ToolCall {
        id: CallId::new(id),
        name: call
            .text("name")
            .or_else(|| record.text("tool_name"))
            .unwrap_or_default(),
        input: openai_chat::read_input(input, place, findings),
    })));
    let mut message = Message::new(Role::Assistant, parts);
    credit(&mut message, log);
    message
}

fn read_answer(record: &Object<'_>, kind: &str) -> Message {
    let (content, outcome) = match kind {
        "AgentErrorEvent" => (text_of(record.text("error")), ToolOutcome::Failure),
        "UserRejectObservation" => {
            let reason = record.text("rejection_reason").unwrap_or_default();
            (
                text_of(Some(format!("Action rejected: {reason}").into())),
                ToolOutcome::Failure,
            )
        }
        _ => read_observation(record),
    };
    Message::new(
        Role::Tool,
        vec![Part::Result(Box::new(ToolResult {
            id: CallId::new(record.text("tool_call_id").unwrap_or_default()),
            name: record.text("tool_name"),
            content,
            outcome,
        }))],
    )
}

fn text_of(text: Option<Box<str>>) -> Vec<Content> {
    text.map(Content::Text).into_iter().collect()
}

/// What a tool returned. Earlier versions had a field of their own for each tool; what has neither content
/// nor output is kept as its JSON.
fn read_observation(record: &Object<'_>) -> (Vec<Content>, ToolOutcome) {
    let Some(observation) = record.object("observation") else {
        return (text_of(record.text("observation")), ToolOutcome::Unstated);
    };
    let outcome = match observation
        .get("is_error")
        .or_else(|| observation.get("error"))
        .map(|raw| raw.get())
    {
        Some("true") => ToolOutcome::Failure,
        Some("false") => ToolOutcome::Success,
        Some(_) | None => ToolOutcome::Unstated,
    };
    let fields = ["content", "output", "error", "message"];
    let body = fields.iter().find_map(|key| {
        let raw = observation.get(key)?;
        matches!(json::kind(raw), json::Kind::String | json::Kind::Array).then_some(raw)
    });
    let body = body.or_else(|| record.get("observation"));
    let contents = [body, record.get("extended_content")];
    let contents = contents.into_iter().flatten().flat_map(read_contents);
    (contents.collect(), outcome)
}

fn read_condensation(record: &Object<'_>, log: &mut Log) -> Condensation {
    let forgotten = record
        .array("forgotten_event_ids")
        .or_else(|| record.array("forgotten"));
    Condensation {
        forgotten: forgotten.unwrap_or_default().into_iter().map(spelled).collect(),
        range: None,
        summary: record.text("summary"),
        offset: record.count("summary_offset"),
        trigger: log.requested.take().unwrap_or(Trigger::Automatic),
    }
}

/// The statistics are totals over the conversation; the newest response's share is the difference to the
/// report before. Requests of the condenser have totals of their own.
fn read_state(record: &Object<'_>, log: &mut Log) {
    if !record.is("key", "stats") {
        return;
    }
    let metrics = record
        .object("value")
        .and_then(|value| value.object("usage_to_metrics"));
    let metrics = metrics.unwrap_or_default();
    let Some(metrics) = metrics.object("default").or_else(|| metrics.object("agent")) else {
        return;
    };
    log.model = metrics.text("model_name").map(Into::into);
    let Some(usage) = metrics.object("accumulated_token_usage") else {
        return;
    };
    let count = |key: &str| usage.count(key).unwrap_or(0);
    let totals = Usage {
        input: count("prompt_tokens"),
        cache_read: count("cache_read_tokens"),
        cache_write: count("cache_write_tokens"),
        output: count("completion_tokens"),
        reasoning: count("reasoning_tokens"),
        window: usage.count("context_window").filter(|window| *window > 0),
    };
    let before = std::mem::replace(&mut log.totals, totals);
    let share = Usage {
        input: totals.input.saturating_sub(before.input),
        cache_read: totals.cache_read.saturating_sub(before.cache_read),
        cache_write: totals.cache_write.saturating_sub(before.cache_write),
        output: totals.output.saturating_sub(before.output),
        reasoning: totals.reasoning.saturating_sub(before.reasoning),
        window: totals.window,
    };
    log.about.window = totals.window.or(log.about.window);
    if share.input > 0 || share.output > 0 {
        log.usage = Some(Box::new(share));
    }
}
