//! What the three forms of an answer have in common: the frame around what is said, and how it is cut into pieces.

use serde_json::Value;

use super::anthropic;
use super::chat;
use super::refusal::Refusal;
use super::responses;
use super::speech::Speech;
use crate::conversation::Form;

/// What an answer cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the prompt, cached ones included.
    pub input: u64,
    /// Of these, read from the cache.
    pub read: u64,
    /// Of these, written to it.
    pub written: u64,
    /// Tokens of the answer.
    pub output: u64,
    /// Of these, reasoning.
    pub reasoning: u64,
}

impl Usage {
    /// Tokens of the prompt that the cache had nothing to do with.
    pub fn fresh(&self) -> u64 {
        self.input.saturating_sub(self.read + self.written)
    }
}

/// What stands around what is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The model, as the request names it.
    pub model: String,
    /// When it is said, in seconds since 1970; counted, not read off a clock.
    pub created: u64,
    /// What it cost.
    pub usage: Usage,
    /// How many characters come at once.
    pub piece: usize,
    /// Whether a stream of Chat Completions reports usage.
    pub reports_usage: bool,
    /// Whether reasoning comes sealed.
    pub seals_reasoning: bool,
}

/// An answer as one JSON document.
pub fn whole(form: Form, speech: &Speech, frame: &Frame) -> String {
    match form {
        Form::Anthropic => anthropic::whole(speech, frame),
        Form::Chat => chat::whole(speech, frame),
        Form::Responses => responses::whole(speech, frame),
    }
}

/// An answer as events, each with its empty line.
pub fn events(form: Form, speech: &Speech, frame: &Frame) -> Vec<String> {
    match form {
        Form::Anthropic => anthropic::events(speech, frame),
        Form::Chat => chat::events(speech, frame),
        Form::Responses => responses::events(speech, frame),
    }
}

/// A refusal that comes in a stream of Responses.
pub fn refused(speech: &Speech, frame: &Frame, refusal: &Refusal) -> Vec<String> {
    responses::refused(speech, frame, refusal)
}

/// A text in pieces of so many characters.
pub fn pieces(text: &str, characters: usize) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let pieces = letters.chunks(characters.max(1));
    pieces.map(|piece| piece.iter().collect()).collect()
}

/// Events under the name of their type.
pub fn named(events: &[Value]) -> Vec<String> {
    let name = |event: &Value| event["type"].as_str().unwrap_or("").to_owned();
    let written = events.iter();
    written
        .map(|event| format!("event: {}\ndata: {event}\n\n", name(event)))
        .collect()
}
