//! What a message is made of: text, tool calls and results, thinking, media, and blocks we only carry.
//!
//! Bodies are kept as they were written. JSON is held as text, never as a parsed tree, so that key order
//! and number spelling survive. Nothing here knows a provider's field names.

use serde::Deserialize;
use serde::Serialize;

/// The id by which a tool result names the call it answers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallId(Box<str>);

impl CallId {
    /// An id with the given spelling; an empty one means that the source gave none.
    pub fn new(id: impl Into<Box<str>>) -> Self {
        Self(id.into())
    }

    /// The spelling of the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the source gave no id.
    pub fn is_missing(&self) -> bool {
        self.0.is_empty()
    }
}

/// One piece of a message. Large variants are boxed: a conversation of a million short messages must fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Words, by whoever the message's author is.
    Text(Box<str>),
    /// The model asks for a tool.
    Call(Box<ToolCall>),
    /// A tool answers a call.
    Result(Box<ToolResult>),
    /// The model's reasoning, possibly sealed by the provider.
    Thinking(Box<Thinking>),
    /// An image, a sound, a document.
    Media(Box<Media>),
    /// A block whose meaning we do not know. It is carried, counted and never edited.
    Opaque(Box<Opaque>),
}

/// A request by the model to run a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id that the result will repeat.
    pub id: CallId,
    /// The tool's name.
    pub name: Box<str>,
    /// What it is asked to do.
    pub input: Input,
}

/// The input of a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// Valid JSON, spelled as the source spelled it.
    Json(Box<str>),
    /// Free text: a custom tool's input, or arguments that are not valid JSON.
    Text(Box<str>),
}

impl Input {
    /// The input as it was written, whatever its form.
    pub fn as_str(&self) -> &str {
        match self {
            Input::Json(text) | Input::Text(text) => text,
        }
    }
}

/// A tool's answer to one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call it answers.
    pub id: CallId,
    /// The tool's name, where the source repeats it.
    pub name: Option<Box<str>>,
    /// What came back.
    pub content: Vec<Content>,
    /// How the call ended, as far as the source says.
    pub outcome: ToolOutcome,
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolOutcome {
    /// The source marks it as a success.
    Success,
    /// The source marks it as a failure.
    Failure,
    /// The source does not say.
    Unstated,
}

/// One piece of a tool's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Output as text.
    Text(Box<str>),
    /// An image or another file.
    Media(Media),
    /// A block whose meaning we do not know.
    Opaque(Opaque),
}

impl From<Content> for Part {
    fn from(content: Content) -> Self {
        match content {
            Content::Text(text) => Part::Text(text),
            Content::Media(media) => Part::Media(Box::new(media)),
            Content::Opaque(opaque) => Part::Opaque(Box::new(opaque)),
        }
    }
}

/// Reasoning by the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thinking {
    /// What can be read of it; empty when the provider hides it.
    pub text: Box<str>,
    /// What binds it to its provider. A sealed part goes out untouched or not at all.
    pub seal: Seal,
}

/// How a provider protects reasoning against changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seal {
    /// Plain reasoning text; nothing is verified.
    Unsealed,
    /// Readable text with a signature over it.
    Signed(Box<str>),
    /// Only an encrypted body.
    Encrypted(Box<str>),
}

/// An image, a sound, a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// What it is, coarsely.
    pub kind: MediaKind,
    /// Its MIME type, where the source gives one.
    pub mime: Option<Box<str>>,
    /// Where its bytes are.
    pub source: MediaSource,
}

/// The coarse kind of a media part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaKind {
    /// A picture.
    Image,
    /// A sound.
    Audio,
    /// Moving pictures.
    Video,
    /// A PDF or another document.
    Document,
}

impl MediaKind {
    /// Its name in marks.
    pub fn name(self) -> &'static str {
        match self {
            MediaKind::Image => "image",
            MediaKind::Audio => "audio",
            MediaKind::Video => "video",
            MediaKind::Document => "document",
        }
    }
}

/// Where the bytes of a media part are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaSource {
    /// In the message, as base64.
    Inline(Box<str>),
    /// At an address.
    Url(Box<str>),
    /// At the provider or on disk, under this name.
    Reference(Box<str>),
}

/// A block that is carried as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opaque {
    /// The type the source gives it.
    pub kind: Box<str>,
    /// The block's JSON, verbatim.
    pub json: Box<str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_small() {
        assert!(size_of::<Part>() <= 24, "a part is {} bytes", size_of::<Part>());
    }
}
