//! A fixture as a file: its header and its messages, indented, so that a reviewer can read it.

use serde::Serialize;
use serde_json::Value;

/// Everything but the messages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Header {
    /// The fixture's name.
    pub name: String,
    /// What happens in it.
    pub description: String,
    /// The model that it was recorded with.
    pub model: Option<String>,
    /// That model's window.
    pub context_length: Option<u64>,
    /// Where it comes from.
    pub source: String,
    /// The message of the session after which it was cut off, counted from zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated_to: Option<u64>,
    /// When it was scrubbed.
    pub scrubbed_at: String,
    /// What was done to it.
    pub scrubbing_passes: Vec<&'static str>,
}

/// A conversation fit to publish.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fixture {
    /// Everything but the messages.
    #[serde(flatten)]
    pub header: Header,
    /// The messages, in OpenAI's chat form.
    pub messages: Vec<Value>,
}

impl Fixture {
    /// The file's text.
    pub fn text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("strings and numbers are always valid JSON");
        text.push('\n');
        text
    }
}

/// How many bytes a message takes in the file.
pub(super) fn size_of(message: &Value) -> usize {
    let text = serde_json::to_string_pretty(message).expect("a value is always valid JSON");
    // Every line is indented by four more, and a comma and the end of the line follow.
    text.len() + 4 * text.lines().count() + 2
}
