//! The texts of a message that evidence is chosen from, each with who wrote it.

use std::borrow::Cow;

use crate::decide::marker::opens_block;
use crate::ledger::evidence::readable::readable;
use crate::ledger::evidence::readable::readable_arguments;
use crate::ledger::evidence::stats::Voice;
use crate::transcript::Author;
use crate::transcript::CallId;
use crate::transcript::Content;
use crate::transcript::Message;
use crate::transcript::Part;
use crate::transcript::ToolCall;

/// A text of a message as folding and choosing see it.
pub struct Spoken<'a> {
    /// In which voice.
    pub voice: Voice,
    /// Who wrote it.
    pub author: Author,
    /// The call, for its arguments.
    pub call: Option<&'a ToolCall>,
    /// The call that it answers, for a result.
    pub answers: Option<&'a CallId>,
    /// As the message has it.
    raw: &'a str,
}

impl<'a> Spoken<'a> {
    /// The text that pieces are cut from.
    pub fn text(&self) -> Cow<'a, str> {
        match self.voice {
            Voice::Arguments => readable_arguments(self.raw),
            Voice::Tool => readable(self.raw),
            Voice::System | Voice::User | Voice::Text => Cow::Borrowed(self.raw),
        }
    }
}

/// The texts of a message, in order. Reasoning and blocks we do not understand are not evidence.
pub fn spoken(message: &Message) -> impl Iterator<Item = Spoken<'_>> {
    message.parts.iter().flat_map(move |part| -> Vec<Spoken<'_>> {
        match part {
            // A block may sit in a message of the person's, and is not theirs.
            Part::Text(text) if opens_block(text) => vec![words(Author::Summary, text)],
            Part::Text(text) => vec![words(text_author(message, text), text)],
            Part::Call(call) => vec![Spoken {
                voice: Voice::Arguments,
                author: Author::Assistant,
                call: Some(call),
                answers: None,
                raw: call.input.as_str(),
            }],
            Part::Result(result) => {
                let texts = result.content.iter().filter_map(output);
                let answering = |spoken| Spoken {
                    answers: Some(&result.id),
                    ..spoken
                };
                texts.map(answering).collect()
            }
            Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => Vec::new(),
        }
    })
}

/// Who wrote a text: what a host added to a message of the person makes it the host's.
fn text_author(message: &Message, text: &str) -> Author {
    if message.author != Author::User {
        return message.author;
    }
    let is_whole = |words: &&str| words.trim().len() == text.trim().len();
    match message.person_words().iter().any(is_whole) {
        true => Author::User,
        false => Author::Host,
    }
}

fn words(author: Author, text: &str) -> Spoken<'_> {
    let voice = match author {
        Author::System => Voice::System,
        Author::User => Voice::User,
        Author::Assistant => Voice::Text,
        Author::Tool | Author::Host | Author::Summary => Voice::Tool,
    };
    Spoken {
        voice,
        author,
        call: None,
        answers: None,
        raw: text,
    }
}

fn output(content: &Content) -> Option<Spoken<'_>> {
    match content {
        Content::Text(text) => Some(words(Author::Tool, text)),
        Content::Media(_) | Content::Opaque(_) => None,
    }
}
