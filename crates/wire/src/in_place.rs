//! The conversation's own request with one more message: a summary asked for where the history already is.
//!
//! Everything up to the end of the last message that is sent is byte for byte what the conversation's own request has
//! there, so the provider's cache holds it. The fields around the list stay as they are as well, also where they get in
//! the way of a summary: [`RequestSettings`] says so, and whoever asks decides.

use std::collections::BTreeMap;

use mainstay_engine::compaction::Block;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Spot;
use mainstay_engine::transform::Change;

use crate::document::Document;
use crate::document::render;
use crate::json;
use crate::json::Kind;
use crate::json::Object;
use crate::json::Raw;
use crate::reading::WireForm;
use crate::source::BYTE_ORDER_MARK;

/// A request body that asks in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InPlace {
    /// The body.
    pub body: String,
    /// How many of its bytes, from the first, the conversation's own request has, too.
    pub shared: usize,
    /// What the body says about the answer.
    pub settings: RequestSettings,
}

/// What a request body says about the answer it wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestSettings {
    /// The most tokens that the answer may have, where the body says.
    pub output_limit: Option<u64>,
    /// Whether the answer comes as a stream of events.
    pub streams: bool,
    /// Whether the model must call a tool: then it cannot answer in words.
    pub forces_tools: bool,
    /// Whether the answer must be JSON, or of a schema.
    pub forces_json: bool,
}

/// Why a conversation cannot be asked in place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InPlaceError {
    /// The source was a session log, a bare list, a single string, or a body that names no model.
    #[error("the source is not a request body with a model and a list of messages")]
    NotARequest,
    /// The body continues a conversation that the provider keeps; its messages are not the whole history.
    #[error("the history is kept by the provider: the body has {field:?}")]
    ServerState {
        /// The field that says so.
        field: &'static str,
    },
    /// A call before the end would stand without its result.
    #[error("message {message} makes a call whose result does not stand before the end")]
    OpenCalls {
        /// The message with the call.
        message: usize,
    },
    /// The last message is reasoning without what it led to, which the provider refuses.
    #[error("message {message} is reasoning without what it led to")]
    OpenReasoning {
        /// The message.
        message: usize,
    },
    /// There is nothing to ask.
    #[error("the instruction is empty")]
    NoInstruction,
}

/// Fields by which a provider is told to go on from what it keeps.
const SERVER_STATE: [&str; 2] = ["previous_response_id", "conversation"];

impl Document {
    /// The conversation's own request with the messages before `until`, as they go out with these changes and this
    /// block, and behind them the instruction in a user message. Nothing else of the body changes.
    ///
    /// The block is sent where a message it stands for is before `until`, and its place is.
    pub fn asked_in_place(
        &self,
        changes: &BTreeMap<Spot, Change>,
        block: Option<&Block>,
        until: usize,
        instruction: &str,
    ) -> Result<InPlace, InPlaceError> {
        let around = self.request().ok_or(InPlaceError::NotARequest)?;
        for field in SERVER_STATE {
            if around.get(field).is_some_and(|raw| json::kind(raw) != Kind::Null) {
                return Err(InPlaceError::ServerState { field });
            }
        }
        if instruction.trim().is_empty() {
            return Err(InPlaceError::NoInstruction);
        }
        let until = until.min(self.transcript.messages().len());
        let is_sent = |message: usize| block.is_none_or(|block| block.span.keeps(message));
        if let Some(message) = self.open_call(until, is_sent) {
            return Err(InPlaceError::OpenCalls { message });
        }
        let row = self.row(changes, block, until);
        if let Some(message) = row.last_message().filter(|message| self.is_only_reasoning(*message)) {
            return Err(InPlaceError::OpenReasoning { message });
        }
        let question = Message::new(Role::User, vec![Part::Text(instruction.into())]);
        let (body, shared) = row.asking(&render(self.form(), &question));
        Ok(InPlace {
            body,
            shared,
            settings: settings(self.form(), &around),
        })
    }

    /// The largest number of messages, up to this one, behind which a user may speak: no call waits for its result
    /// there, and no reasoning for what it led to.
    pub fn last_whole_step(&self, until: usize) -> usize {
        let mut until = until.min(self.transcript.messages().len());
        // Pairs stand in the order of their calls, so moving back never opens one that was looked at.
        for pair in self.transcript.pairs().iter().rev() {
            let call = pair.call.message as usize;
            if call < until && pair.result.is_none_or(|result| result.message as usize >= until) {
                until = call;
            }
        }
        while until > 0 && self.is_only_reasoning(until - 1) {
            until -= 1;
        }
        until
    }

    /// The model that the request body names; `None` for anything that is not a request body.
    pub fn request_model(&self) -> Option<&str> {
        self.list_text()?;
        self.about.model.as_deref().filter(|model| !model.is_empty())
    }

    /// What the request body says about the answer; `None` for anything that is not a request body.
    pub fn request_settings(&self) -> Option<RequestSettings> {
        Some(settings(self.form(), &self.request()?))
    }

    /// The fields of the request body.
    fn request(&self) -> Option<Object<'_>> {
        self.request_model()?;
        Object::parse(self.list_text()?.trim_start_matches(BYTE_ORDER_MARK)).ok()
    }

    /// The first message that is sent with a call whose result does not stand before the end.
    fn open_call(&self, until: usize, is_sent: impl Fn(usize) -> bool) -> Option<usize> {
        let mut pairs = self.transcript.pairs().iter();
        let open = pairs.find(|pair| {
            let call = pair.call.message as usize;
            let is_answered = pair.result.is_some_and(|result| (result.message as usize) < until);
            call < until && !is_answered && is_sent(call)
        });
        open.map(|pair| pair.call.message as usize)
    }

    /// Whether a message is reasoning and nothing else, in a form that wants something behind it.
    fn is_only_reasoning(&self, message: usize) -> bool {
        let parts = &self.transcript.messages()[message].parts;
        let is_reasoning = !parts.is_empty() && parts.iter().all(|part| matches!(part, Part::Thinking(_)));
        is_reasoning && self.form() != WireForm::Chat
    }
}

fn settings(form: WireForm, around: &Object<'_>) -> RequestSettings {
    let output_limit = match form {
        WireForm::Chat => around
            .count("max_completion_tokens")
            .or_else(|| around.count("max_tokens")),
        WireForm::Responses => around.count("max_output_tokens"),
        WireForm::Anthropic => around.count("max_tokens"),
    };
    RequestSettings {
        output_limit,
        streams: around.flag("stream"),
        forces_tools: ["tool_choice", "function_call"]
            .iter()
            .any(|field| around.get(field).is_some_and(forces_tool)),
        forces_json: shape_of_answer(form, around).is_some_and(|kind| kind.starts_with("json")),
    }
}

/// Whether a choice of tools leaves the model no choice. Objects name a tool, but for those that say how free it is.
fn forces_tool(choice: Raw<'_>) -> bool {
    match (json::text(choice), Object::of(choice)) {
        (Some(word), _) => matches!(word.as_ref(), "required" | "any"),
        (None, Some(object)) => match object.text("type").as_deref() {
            Some("auto" | "none") => false,
            Some("allowed_tools") => {
                let listed = object.object("allowed_tools");
                listed.as_ref().unwrap_or(&object).is("mode", "required")
            }
            Some(_) | None => true,
        },
        (None, None) => false,
    }
}

/// The type of the shape that a body wants its answer in.
fn shape_of_answer(form: WireForm, around: &Object<'_>) -> Option<Box<str>> {
    let shape = match form {
        WireForm::Chat => around.object("response_format"),
        WireForm::Responses => around.object("text").and_then(|text| text.object("format")),
        WireForm::Anthropic => around
            .object("output_config")
            .and_then(|config| config.object("format"))
            .or_else(|| around.object("output_format")),
    };
    shape?.text("type")
}

#[cfg(test)]
#[path = "in_place_tests.rs"]
mod tests;
