//! An answer of the model's that came to its end: what it called, and what the client sees of it.

use mainstay_engine::json;
use mainstay_engine::json::Object;
use mainstay_wire::reading::WireForm;

use crate::recall::OFFERED;

/// A call of our tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecallCall {
    /// Its id.
    pub(super) id: String,
    /// Its arguments.
    pub(super) input: String,
    /// All of it, as it goes back to the provider.
    pub(super) raw: String,
}

impl RecallCall {
    /// The result of it, as it goes to the provider.
    pub(super) fn result(&self, form: WireForm, text: &str) -> String {
        let (id, text) = (json::quote(&self.id), json::quote(text));
        match form {
            WireForm::Anthropic => format!(r#"{{"type":"tool_result","tool_use_id":{id},"content":{text}}}"#),
            WireForm::Chat => format!(r#"{{"role":"tool","tool_call_id":{id},"content":{text}}}"#),
            WireForm::Responses => format!(r#"{{"type":"function_call_output","call_id":{id},"output":{text}}}"#),
        }
    }
}

/// A place in an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AnswerPart {
    /// Something that the client sees, by what it is known again by.
    Shown(String),
    /// A call of ours.
    Ours(RecallCall),
}

/// An answer that came to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ModelTurn {
    /// What it holds, in order.
    pub(super) seats: Vec<AnswerPart>,
    /// All of it, as it goes back to the provider: blocks, one message, or items.
    pub(super) elements: Vec<String>,
    /// Whether it calls tools of the client's.
    pub(super) calls_theirs: bool,
    /// Whether it ends for the calls to be answered; not where it was cut off.
    pub(super) waits: bool,
}

impl ModelTurn {
    /// The calls of ours.
    pub(super) fn asked(&self) -> impl Iterator<Item = &RecallCall> {
        self.seats.iter().filter_map(|seat| match seat {
            AnswerPart::Ours(asked) => Some(asked),
            AnswerPart::Shown(_) => None,
        })
    }

    /// What the client sees, by what it is known again by.
    pub(super) fn shown(&self) -> Vec<String> {
        let shown = self.seats.iter().filter_map(|seat| match seat {
            AnswerPart::Shown(identity) => Some(identity.clone()),
            AnswerPart::Ours(_) => None,
        });
        shown.collect()
    }
}

/// What a call is known again by.
pub(super) fn called(id: &str) -> String {
    format!("call {id}")
}

/// What reasoning is known again by.
pub(super) fn sealed(signature: &str) -> String {
    format!("sealed {}", blake3::hash(signature.as_bytes()))
}

/// What a text is known again by.
pub(super) fn said(text: &str) -> String {
    format!("said {}", blake3::hash(text.as_bytes()))
}

/// Whether it is a call's. There are servers that give no ids.
pub(super) fn is_call(identity: &str) -> bool {
    identity.strip_prefix("call ").is_some_and(|id| !id.is_empty())
}

/// Whether it is reasoning's.
pub(super) fn is_sealed(identity: &str) -> bool {
    identity.starts_with("sealed ")
}

/// Whether an object is a call of our tool; its name stands in it.
pub(super) fn is_ours(object: &Object<'_>) -> bool {
    object.is("name", OFFERED)
}

/// Arguments that a provider takes back: what a model wrote, unless it is no JSON.
pub(super) fn valid_arguments(text: &str) -> &str {
    match json::value(text) {
        Ok(_) => text,
        Err(_) => "{}",
    }
}
