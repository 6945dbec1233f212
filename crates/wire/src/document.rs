//! A conversation together with the exact text it came in, so that what is not touched goes out byte for
//! byte.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Input;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Origin;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Transcript;

use crate::anthropic;
use crate::format::Format;
use crate::openai_chat;
use crate::openai_responses;
use crate::reading::About;
use crate::reading::Recorded;
use crate::reading::WireForm;

/// A conversation that was read.
#[derive(Debug)]
pub struct Document {
    /// The format it was read as.
    pub format: &'static Format,
    /// Facts about the session.
    pub about: About,
    /// What the source holds in all, hidden history included.
    pub recorded: Recorded,
    /// The conversation.
    pub transcript: Transcript,
    /// What was wrong with the source, in reading order; then what was repaired.
    pub findings: Vec<Finding>,
    pub(crate) origins: Vec<Origin>,
    pub(crate) layout: Layout,
    /// For every message as it was read, where its text is.
    pub(crate) slots: Vec<Slot>,
}

/// Where a message's text is. Small: there is one for every message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// In the layout's text, in the provider's form.
    Element {
        /// Where it starts.
        start: usize,
        /// How many bytes it has; sources are at most 4 GiB.
        length: u32,
    },
    /// In the text around the list; it goes out with that text.
    Outside,
    /// Nowhere: it is rendered when it is written.
    Rendered,
}

impl Slot {
    pub(crate) fn element(range: Range<usize>) -> Self {
        match u32::try_from(range.len()) {
            Ok(length) => Slot::Element {
                start: range.start,
                length,
            },
            Err(_) => Slot::Rendered,
        }
    }

    fn range(&self) -> Option<Range<usize>> {
        match self {
            Slot::Element { start, length } => Some(*start..*start + *length as usize),
            Slot::Outside | Slot::Rendered => None,
        }
    }
}

/// The text around and of the messages.
#[derive(Debug)]
pub(crate) struct Layout {
    form: WireForm,
    text: Arc<String>,
    /// The range between the list's brackets; `None` when the text is only the messages' own.
    list: Option<Range<usize>>,
}

impl Layout {
    pub(crate) fn made(form: WireForm, text: Arc<String>) -> Self {
        Self { form, text, list: None }
    }

    pub(crate) fn inside(form: WireForm, text: Arc<String>, list: Range<usize>) -> Self {
        Self {
            form,
            text,
            list: Some(list),
        }
    }
}

impl Document {
    /// The provider form in which it is written.
    pub fn form(&self) -> WireForm {
        self.layout.form
    }

    /// Where each message of the transcript comes from.
    pub fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// The exact text of a message in the provider's form, if it came with one and no repair changed it.
    pub fn verbatim(&self, index: usize) -> Option<&str> {
        let Origin::Read(from) = self.origins.get(index)? else {
            return None;
        };
        self.layout.text.get(self.slots[*from as usize].range()?)
    }

    /// The conversation in its provider form. A request body or a bare list that was read comes back byte
    /// for byte, malformed or not; a session becomes a request body of its messages.
    pub fn write(&self) -> String {
        match &self.layout.list {
            Some(list) => self.write_inside(list),
            None => self.write_made(),
        }
    }

    /// Puts the list together again from its elements and the text between and around them.
    fn write_inside(&self, list: &Range<usize>) -> String {
        let text = self.layout.text.as_str();
        let mut out = String::with_capacity(text.len());
        let mut copied = 0;
        for range in self.slots.iter().filter_map(Slot::range) {
            out.push_str(&text[copied..range.start]);
            out.push_str(&text[range.clone()]);
            copied = range.end;
        }
        out.push_str(&text[copied..list.end.max(copied)]);
        out.push_str(&text[list.end.max(copied)..]);
        out
    }

    /// A request body made of the transcript, as repaired.
    fn write_made(&self) -> String {
        let messages = self.transcript.messages();
        let form = self.layout.form;
        let mut out = String::from("{");
        let in_list = |message: &Message| form != WireForm::Anthropic || message.role != Role::System;
        if form == WireForm::Anthropic
            && let Some(system) = anthropic::render_system(messages)
        {
            out.push_str("\"system\":");
            out.push_str(&system);
            out.push(',');
        }
        out.push_str(match form {
            WireForm::Responses => "\"input\":[",
            WireForm::Chat | WireForm::Anthropic => "\"messages\":[",
        });
        let custom = custom_calls(messages);
        let mut first = true;
        for (index, message) in messages.iter().enumerate().filter(|(_, message)| in_list(message)) {
            let rendered = match self.verbatim(index) {
                Some(verbatim) => verbatim.to_owned(),
                None => render_beside(form, message, &custom),
            };
            if rendered.is_empty() {
                continue;
            }
            if !std::mem::take(&mut first) {
                out.push(',');
            }
            out.push_str(&rendered);
        }
        out.push_str("]}");
        out
    }
}

/// A message in a provider's form, made from what the transcript knows. Several elements, or none, where
/// the form has it so.
pub fn render(form: WireForm, message: &Message) -> String {
    render_beside(form, message, &custom_calls(std::slice::from_ref(message)))
}

fn render_beside(form: WireForm, message: &Message, custom: &HashSet<&str>) -> String {
    match form {
        WireForm::Chat => openai_chat::render(message),
        WireForm::Responses => openai_responses::render(message, custom),
        WireForm::Anthropic => anthropic::render(message),
    }
}

/// The ids of calls whose input is free text.
fn custom_calls(messages: &[Message]) -> HashSet<&str> {
    let calls = messages.iter().flat_map(Message::calls);
    calls
        .filter(|call| matches!(call.input, Input::Text(_)))
        .map(|call| call.id.as_str())
        .collect()
}
