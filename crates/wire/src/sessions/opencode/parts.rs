//! The parts of opencode's turns.

use std::collections::BTreeMap;
use std::sync::Arc;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Input;
use mainstay_engine::transcript::Media;
use mainstay_engine::transcript::MediaKind;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Seal;
use mainstay_engine::transcript::Thinking;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::ToolCall;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::ToolResult;
use mainstay_engine::transcript::Usage;

use crate::authorship;
use crate::document_builder::Reading;
use crate::json::Object;
use crate::json::Raw;
use crate::openai_chat;
use crate::time;

/// What opencode sends in place of an output it cleared.
pub const CLEARED: &str = "[Old tool result content cleared]";
/// What opencode sends for the turn that asks for a compaction.
const COMPACTION_REQUEST: &str = "What did we do so far?";
/// What opencode sends for a task that the user gave to a subagent.
const SUBTASK_NOTICE: &str = "The following tool was executed by the user";

/// The outputs among some parts that were cleared, and when.
pub fn cleared(items: &[Object<'_>]) -> BTreeMap<Box<str>, Timestamp> {
    let tools = items.iter().filter(|item| item.is("type", "tool"));
    let cleared = tools.filter_map(|tool| {
        let times = tool.object("state")?.object("time")?;
        let at = times.get("compacted").and_then(time::read)?;
        Some((tool.text("callID")?, at))
    });
    cleared.collect()
}

/// Empties the results that were cleared.
pub fn clear(message: &mut Message, cleared: &BTreeMap<Box<str>, Timestamp>) {
    if cleared.is_empty() {
        return;
    }
    for part in &mut message.parts {
        if let Part::Result(result) = part
            && cleared.contains_key(result.id.as_str())
        {
            result.content = vec![Content::Text(CLEARED.into())];
        }
    }
}

/// Reads a user's turn; `None` when nothing of it is ever sent.
pub fn read_request(items: &[Object<'_>], place: Place, reading: &mut Reading) -> Option<Message> {
    let mut parts = Vec::new();
    let mut has_own_words = false;
    for item in items {
        match item.tag("type").unwrap_or_default() {
            "text" if item.flag("ignored") => {}
            "text" => {
                has_own_words |= !item.flag("synthetic");
                parts.extend(item.text("text").map(Part::Text));
            }
            // Their text stands in a part of its own.
            "file" if matches!(item.tag("mime"), Some("text/plain" | "application/x-directory")) => {}
            "file" => {
                let media = read_file(item);
                has_own_words |= media.is_some();
                parts.extend(media.map(|media| Part::Media(Box::new(media))));
            }
            "compaction" => parts.push(Part::Text(COMPACTION_REQUEST.into())),
            "subtask" => parts.push(Part::Text(SUBTASK_NOTICE.into())),
            "agent" | "snapshot" | "patch" | "step-start" | "step-finish" | "retry" => {}
            other => reading.note(Rule::UnknownType, place, format!("part {other}")),
        }
    }
    if parts.is_empty() {
        return None;
    }
    let mut message = authorship::message(Role::User, parts);
    if !has_own_words && message.author == Author::User {
        message.author = Author::Host;
    }
    Some(message)
}

/// A file by its address.
pub fn read_file(file: &Object<'_>) -> Option<Media> {
    let mime = file.text("mime");
    let kind = match mime.as_deref().and_then(|mime| mime.split('/').next()) {
        Some("image") => MediaKind::Image,
        Some("audio") => MediaKind::Audio,
        Some("video") => MediaKind::Video,
        Some(_) | None => MediaKind::Document,
    };
    let address = file.text("url").or_else(|| file.text("uri"))?;
    Some(openai_chat::media(kind, mime, &address))
}

/// Reads an assistant's turn: one message for every step, and one for every result.
pub fn read_answer(turn: &Object<'_>, items: &[Object<'_>], place: Place, reading: &mut Reading) -> Vec<Message> {
    let mut steps = Steps::new(super::model_of(turn));
    for item in items {
        match item.tag("type").unwrap_or_default() {
            "step-start" => steps.close(),
            "text" => {
                let text = item.text("text").filter(|text| !text.is_empty());
                steps.parts.extend(text.map(Part::Text));
            }
            "reasoning" => steps.parts.push(read_reasoning(item, "metadata")),
            "tool" => {
                let id = item.text("callID").unwrap_or_default();
                let name = item.text("tool").unwrap_or_default();
                let state = item.object("state").unwrap_or_default();
                let result = read_result(&state, &id, &name);
                steps.results.extend(result);
                steps.parts.push(read_call(&state, id, name));
            }
            "step-finish" => steps.usage = item.object("tokens").and_then(|tokens| read_usage(&tokens)),
            "file" | "agent" | "snapshot" | "patch" | "retry" | "compaction" | "subtask" => {}
            other => reading.note(Rule::UnknownType, place, format!("part {other}")),
        }
    }
    steps.finish(turn.object("tokens").and_then(|tokens| read_usage(&tokens)))
}

/// The steps of an answer: what the model wrote in one go, and what its calls returned.
#[derive(Default)]
pub struct Steps {
    model: Option<Arc<str>>,
    /// What the step holds so far.
    pub parts: Vec<Part>,
    /// The results of its calls.
    pub results: Vec<ToolResult>,
    usage: Option<Usage>,
    messages: Vec<Message>,
}

impl Steps {
    /// The steps of a model's answer.
    pub fn new(model: Option<Arc<str>>) -> Self {
        Self {
            model,
            ..Self::default()
        }
    }

    /// Ends the step.
    fn close(&mut self) {
        let usage = self.usage.take().map(Box::new);
        if !self.parts.is_empty() {
            let mut message = Message::new(Role::Assistant, std::mem::take(&mut self.parts));
            message.model = self.model.clone();
            message.usage = usage;
            self.messages.push(message);
        }
        let results = self.results.drain(..).map(|result| Part::Result(Box::new(result)));
        self.messages
            .extend(results.map(|result| Message::new(Role::Tool, vec![result])));
    }

    /// The messages; the answer's own report counts where no step has one.
    pub fn finish(mut self, usage: Option<Usage>) -> Vec<Message> {
        self.close();
        if self.messages.iter().all(|message| message.usage.is_none()) {
            let mut answers = self.messages.iter_mut().rev();
            if let Some(last) = answers.find(|message| message.role == Role::Assistant) {
                last.usage = usage.map(Box::new);
            }
        }
        self.messages
    }
}

/// Reasoning, bound to its provider by what stands under the key.
pub fn read_reasoning(item: &Object<'_>, key: &str) -> Part {
    let text = item.text("text").unwrap_or_default();
    let metadata = item.get(key).map(|raw| raw.get());
    let seal = match metadata.filter(|json| json.starts_with('{') && *json != "{}") {
        None => Seal::Unsealed,
        Some(json) if text.is_empty() => Seal::Encrypted(json.into()),
        Some(json) => Seal::Signed(json.into()),
    };
    Part::Thinking(Box::new(Thinking { text, seal }))
}

/// A call by its state; one that is still being written has its arguments as text.
pub fn read_call(state: &Object<'_>, id: Box<str>, name: Box<str>) -> Part {
    let input = match state.get("input") {
        Some(raw) => read_arguments(raw),
        None => Input::Json("{}".into()),
    };
    Part::Call(Box::new(ToolCall {
        id: CallId::new(id),
        name,
        input,
    }))
}

fn read_arguments(raw: Raw<'_>) -> Input {
    match crate::json::text(raw) {
        Some(text) => Input::Text(text),
        None => Input::Json(raw.get().into()),
    }
}

/// The result of a call that has ended; one that has not has none.
fn read_result(state: &Object<'_>, id: &str, name: &str) -> Option<ToolResult> {
    let (text, outcome) = match state.tag("status").unwrap_or_default() {
        "completed" => (state.text("output"), ToolOutcome::Success),
        "error" => {
            let metadata = state.object("metadata").unwrap_or_default();
            let partial = metadata.text("output").filter(|_| metadata.flag("interrupted"));
            (partial.or_else(|| state.text("error")), ToolOutcome::Failure)
        }
        _ => return None,
    };
    let mut content: Vec<_> = text.map(Content::Text).into_iter().collect();
    let attachments = state.array("attachments").unwrap_or_default();
    let files = attachments.iter().filter_map(|raw| Object::of(raw));
    content.extend(files.filter_map(|file| read_file(&file)).map(Content::Media));
    Some(ToolResult {
        id: CallId::new(id),
        name: Some(name.into()),
        content,
        outcome,
    })
}

/// opencode counts cached tokens apart from the input, and, in newer versions, reasoning apart from the
/// output; the total tells which.
pub fn read_usage(tokens: &Object<'_>) -> Option<Usage> {
    let cache = tokens.object("cache").unwrap_or_default();
    let cache_read = cache.count("read").unwrap_or(0);
    let cache_write = cache.count("write").unwrap_or(0);
    let reasoning = tokens.count("reasoning").unwrap_or(0);
    let output = tokens.count("output").unwrap_or(0);
    let input = tokens
        .count("input")?
        .saturating_add(cache_read)
        .saturating_add(cache_write);
    if input == 0 && output == 0 {
        return None;
    }
    let is_included = tokens.count("total") == Some(input.saturating_add(output));
    Some(Usage {
        input,
        cache_read,
        cache_write,
        output: if is_included {
            output
        } else {
            output.saturating_add(reasoning)
        },
        reasoning,
        window: None,
    })
}
