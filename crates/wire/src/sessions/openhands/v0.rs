//! The events of OpenHands before its SDK: actions and the observations they cause.
//!
//! With tool calling, an action names the model's call. Without it, the action itself is the call; it gets
//! an id from the event's, and the observation it causes is its result.

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Input;
use mainstay_engine::transcript::MediaKind;
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
use super::log::spelled;
use crate::authorship;
use crate::json;
use crate::json::Object;
use crate::openai_chat;

/// Actions and observations that never enter the agent's history.
const HIDDEN: &[&str] = &[
    "null",
    "change_agent_state",
    "agent_state_changed",
    "server_ready",
    "start",
    "initialize",
    "pause",
    "resume",
    "stop",
    "streaming_chunk",
    "loop_recovery",
];

/// Whether a record is one of these events.
pub(super) fn is_event(record: &Object<'_>) -> bool {
    let is_action = record.tag("action").is_some() && record.has("args");
    let is_observation = record.tag("observation").is_some() && record.has("extras");
    (is_action || is_observation) && matches!(record.tag("source"), None | Some("user" | "agent" | "environment"))
}

/// Reads one event; `None` when it has no place in the history.
pub(super) fn read(
    record: &Object<'_>,
    id: &str,
    place: Place,
    log: &mut Log,
    findings: &mut Vec<Finding>,
) -> Option<Deed> {
    let name = record
        .text("action")
        .or_else(|| record.text("observation"))
        .unwrap_or_default();
    if HIDDEN.contains(&name.as_ref()) {
        return None;
    }
    if record.has("observation") {
        return Some(read_observation(record, &name, log));
    }
    let args = record.object("args").unwrap_or_default();
    let from_user = record.is("source", "user");
    let message = match name.as_ref() {
        "condensation" => return Some(Deed::Condense(read_condensation(&args, log))),
        "condensation_request" => {
            log.requested = Some(Trigger::Unstated);
            return None;
        }
        // The answer to a recall is what is sent.
        "recall" => return Some(Deed::Nothing),
        "system" => {
            log.about.tools = args.get("tools").map(|raw| raw.get().into());
            Message::new(Role::System, args.text("content").map(Part::Text).into_iter().collect())
        }
        "message" => read_message(record, &args),
        "finish" | "reject" => read_finish(record, &args),
        "run" if from_user => {
            let command = args.text("command").unwrap_or_default();
            let said = format!("User executed the command:\n{command}");
            Message::new(Role::User, vec![Part::Text(said.into())])
        }
        _ if from_user => {
            findings.push(Finding::new(
                Rule::UnknownType,
                place,
                format!("an action by the user: {name}"),
            ));
            return Some(Deed::Nothing);
        }
        _ => return Some(read_call(record, &name, &args, id, place, log, findings)),
    };
    let response = response_of(record).and_then(|response| response.text("id"));
    Some(Deed::Say { message, response })
}

/// The model's response that an event carries.
fn response_of<'a>(record: &Object<'a>) -> Option<Object<'a>> {
    record.object("tool_call_metadata")?.object("model_response")
}

fn read_message(record: &Object<'_>, args: &Object<'_>) -> Message {
    let mut parts: Vec<_> = args.text("content").map(Part::Text).into_iter().collect();
    for raw in args.array("image_urls").unwrap_or_default() {
        let image = json::text(raw).map(|url| openai_chat::media(MediaKind::Image, None, &url));
        parts.extend(image.map(|image| Part::Media(Box::new(image))));
    }
    if record.is("source", "agent") {
        return Message::new(Role::Assistant, parts);
    }
    let mut message = authorship::message(Role::User, parts);
    if record.is("source", "environment") && message.author == Author::User {
        message.author = Author::Host;
    }
    message
}

/// The agent's last words. Its call of the finish tool is not sent again, so it is read as what it says.
fn read_finish(record: &Object<'_>, args: &Object<'_>) -> Message {
    let role = if record.is("source", "user") {
        Role::User
    } else {
        Role::Assistant
    };
    let mut parts: Vec<Part> = Vec::new();
    for key in ["thought", "final_thought"] {
        let text = args.text(key).filter(|text| !text.is_empty()).map(Part::Text);
        parts.extend(text.filter(|text| !parts.contains(text)));
    }
    let mut message = Message::new(role, parts);
    credit(record, &mut message);
    message
}

fn read_call(
    record: &Object<'_>,
    name: &str,
    args: &Object<'_>,
    id: &str,
    place: Place,
    log: &mut Log,
    findings: &mut Vec<Finding>,
) -> Deed {
    let metadata = record.object("tool_call_metadata").unwrap_or_default();
    let response = response_of(record);
    let choices = response.as_ref().and_then(|response| response.array("choices"));
    let choice = choices
        .as_ref()
        .and_then(|choices| choices.first())
        .and_then(|raw| Object::of(raw));
    let said = choice.and_then(|choice| choice.object("message")).unwrap_or_default();
    let mut parts = Vec::new();
    let reasoning = said.text("reasoning_content").filter(|text| !text.is_empty());
    parts.extend(reasoning.map(|text| {
        Part::Thinking(Box::new(Thinking {
            text,
            seal: Seal::Unsealed,
        }))
    }));
    let words = said.text("content").or_else(|| args.text("thought"));
    parts.extend(words.filter(|text| !text.trim().is_empty()).map(Part::Text));
    let call = match metadata.text("tool_call_id") {
        Some(call_id) => {
            let mut call = find_call(&said, &call_id, place, findings).unwrap_or_else(|| own_call(name, record));
            call.id = CallId::new(call_id);
            call.name = metadata.text("function_name").unwrap_or(call.name);
            call
        }
        None => own_call(name, record),
    };
    let call = if call.id.is_missing() {
        let given = CallId::new(format!("event-{id}"));
        log.calls.insert(id.into(), given.clone());
        ToolCall { id: given, ..call }
    } else {
        call
    };
    parts.push(Part::Call(Box::new(call)));
    let mut message = Message::new(Role::Assistant, parts);
    credit(record, &mut message);
    Deed::Say {
        message,
        response: response.and_then(|response| response.text("id")),
    }
}

/// The action as a call, for lack of the model's own.
fn own_call(name: &str, record: &Object<'_>) -> ToolCall {
    ToolCall {
        id: CallId::new(""),
        name: name.into(),
        input: Input::Json(record.get("args").map_or("{}", |raw| raw.get()).into()),
    }
}

fn find_call(said: &Object<'_>, id: &str, place: Place, findings: &mut Vec<Finding>) -> Option<ToolCall> {
    let calls = said.array("tool_calls").unwrap_or_default();
    let call = calls
        .iter()
        .filter_map(|raw| Object::of(raw))
        .find(|call| call.text("id").as_deref() == Some(id))?;
    let function = call.object("function")?;
    Some(ToolCall {
        id: CallId::new(id),
        name: function.text("name").unwrap_or_default(),
        input: openai_chat::read_input(function.get("arguments"), place, findings),
    })
}

fn credit(record: &Object<'_>, message: &mut Message) {
    let Some(response) = response_of(record) else { return };
    message.model = response.text("model").map(Into::into);
    let Some(usage) = response.object("usage") else { return };
    let cached = usage.object("prompt_tokens_details").unwrap_or_default();
    let written = usage.object("completion_tokens_details").unwrap_or_default();
    message.usage = Some(Box::new(Usage {
        input: usage.count("prompt_tokens").unwrap_or(0),
        cache_read: cached.count("cached_tokens").unwrap_or(0),
        cache_write: usage.count("cache_creation_input_tokens").unwrap_or(0),
        output: usage.count("completion_tokens").unwrap_or(0),
        reasoning: written.count("reasoning_tokens").unwrap_or(0),
        window: None,
    }));
}

fn read_observation(record: &Object<'_>, name: &str, log: &Log) -> Deed {
    let cause = record.get("cause").map(spelled).unwrap_or_default();
    let metadata = record.object("tool_call_metadata").unwrap_or_default();
    let id = metadata.text("tool_call_id").map(CallId::new);
    let content = record.text("content").unwrap_or_default();
    let message = match id.or_else(|| log.calls.get(&cause).cloned()) {
        Some(id) => {
            let result = ToolResult {
                id,
                name: metadata.text("function_name"),
                content: vec![Content::Text(content)],
                outcome: outcome_of(record, name),
            };
            Message::new(Role::Tool, vec![Part::Result(Box::new(result))])
        }
        None if name == "recall" => {
            let text = recalled(record);
            if text.is_empty() {
                return Deed::Nothing;
            }
            by(Author::Host, text)
        }
        None if name == "condense" => by(Author::Summary, content.into()),
        // The output of a command that the person ran, or an error of the agent program.
        None if name == "run" => by(Author::Tool, content.into()),
        None if content.is_empty() => return Deed::Nothing,
        None => by(Author::Host, content.into()),
    };
    Deed::Say {
        message,
        response: None,
    }
}

fn by(author: Author, text: String) -> Message {
    Message {
        author,
        ..Message::new(Role::User, vec![Part::Text(text.into())])
    }
}

fn outcome_of(record: &Object<'_>, name: &str) -> ToolOutcome {
    if matches!(name, "error" | "user_rejected") {
        return ToolOutcome::Failure;
    }
    let extras = record.object("extras").unwrap_or_default();
    let code = extras
        .object("metadata")
        .and_then(|metadata| metadata.number("exit_code"));
    let code = code.or_else(|| extras.number("exit_code"));
    match (record.get("success").map(|raw| raw.get()), code) {
        (Some("true"), _) => ToolOutcome::Success,
        (Some("false"), _) => ToolOutcome::Failure,
        (_, Some(0.0)) => ToolOutcome::Success,
        // A code of -1 means that the command has not ended.
        (_, Some(code)) if code > 0.0 => ToolOutcome::Failure,
        (_, _) => ToolOutcome::Unstated,
    }
}

/// The texts that a recall puts before the model.
fn recalled(record: &Object<'_>) -> String {
    let extras = record.object("extras").unwrap_or_default();
    let fields = [
        "repo_instructions",
        "additional_agent_instructions",
        "conversation_instructions",
    ];
    let mut texts: Vec<_> = fields.iter().filter_map(|key| extras.text(key)).collect();
    for raw in extras.array("microagent_knowledge").unwrap_or_default() {
        texts.extend(Object::of(raw).and_then(|knowledge| knowledge.text("content")));
    }
    texts.retain(|text| !text.trim().is_empty());
    texts.join("\n\n")
}

fn read_condensation(args: &Object<'_>, log: &mut Log) -> Condensation {
    let forgotten = args.array("forgotten_event_ids").unwrap_or_default();
    let range = args
        .count("forgotten_events_start_id")
        .zip(args.count("forgotten_events_end_id"));
    Condensation {
        forgotten: forgotten.into_iter().map(spelled).collect(),
        range: range.filter(|(start, end)| start <= end),
        summary: args.text("summary"),
        offset: args.count("summary_offset"),
        trigger: log.requested.take().unwrap_or(Trigger::Automatic),
    }
}
