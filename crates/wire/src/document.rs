//! A conversation together with the exact text it came in, so that what is not touched goes out byte for
//! byte.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use mainstay_engine::compaction::Block;
use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Input;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Origin;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Spot;
use mainstay_engine::transcript::Transcript;
use mainstay_engine::transform::Change;
use mainstay_engine::transform::changed_message;

use crate::anthropic;
use crate::element::reads_as;
use crate::openai_chat;
use crate::openai_responses;
use crate::reading::About;
use crate::reading::Recorded;
use crate::reading::WireForm;
use crate::revise;

mod seat;

/// Which format a source had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatLabel {
    /// The name for `--from`.
    pub name: &'static str,
    /// What it is, for people.
    pub title: &'static str,
}

/// A conversation that was read.
#[derive(Debug)]
pub struct Document {
    /// The format it was read as.
    pub format: FormatLabel,
    /// Facts about the session.
    pub about: About,
    /// What the source holds in all, hidden history included.
    pub recorded: Recorded,
    /// The conversation, shared with whoever goes on working with it.
    pub transcript: Arc<Transcript>,
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
            Some(_) => self.original_chunks().concat(),
            None => self.write_changed(&BTreeMap::new()),
        }
    }

    /// The text that was read as consecutive pieces, one a message and what stands between them; empty for a
    /// session, whose file is not a list of messages.
    pub fn original_chunks(&self) -> Vec<&str> {
        let Some(list) = &self.layout.list else {
            return Vec::new();
        };
        let text = self.layout.text.as_str();
        let mut chunks = Vec::with_capacity(2 * self.slots.len() + 1);
        let mut copied = 0;
        for range in self.slots.iter().filter_map(Slot::range) {
            chunks.push(&text[copied..range.start]);
            chunks.push(&text[range.clone()]);
            copied = range.end;
        }
        chunks.push(&text[copied..list.end.max(copied)]);
        chunks.push(&text[list.end.max(copied)..]);
        chunks.retain(|chunk| !chunk.is_empty());
        chunks
    }

    /// The conversation in its provider form with changes, as repaired. Messages without a change go out byte for
    /// byte, and so does everything around the list.
    pub fn write_changed(&self, changes: &BTreeMap<Spot, Change>) -> String {
        self.changed_chunks(changes).concat()
    }

    /// The same as consecutive pieces, one a message and what stands between them.
    pub fn changed_chunks(&self, changes: &BTreeMap<Spot, Change>) -> Vec<Cow<'_, str>> {
        self.compacted_chunks(changes, None)
    }

    /// The same with a block in place of what it stands for: inside of the message that it is seated in where that
    /// can be done, and otherwise as a message of its own.
    pub fn compacted_chunks(&self, changes: &BTreeMap<Spot, Change>, block: Option<&Block>) -> Vec<Cow<'_, str>> {
        self.row(changes, block, self.transcript.messages().len()).finish()
    }

    /// The elements of the list that stand for the messages before one, with changes and with a block in place of what it
    /// stands for. Elements that a repair or a change made are spelled by us, all others as they came.
    pub fn compacted_elements(
        &self,
        changes: &BTreeMap<Spot, Change>,
        block: Option<&Block>,
        until: usize,
    ) -> Vec<Cow<'_, str>> {
        let Row { mut chunks, places, .. } = self.row(changes, block, until);
        places.iter().map(|place| std::mem::take(&mut chunks[*place])).collect()
    }

    /// Whether every message is as it was read: nothing had to be repaired.
    pub fn is_as_read(&self) -> bool {
        let mut origins = (0..).zip(&self.origins);
        origins.all(|(index, origin)| *origin == Origin::Read(index))
    }

    /// The messages before one as they go out, and the block among them where it stands for any of them.
    pub(crate) fn row(&self, changes: &BTreeMap<Spot, Change>, block: Option<&Block>, until: usize) -> Row<'_> {
        let messages = self.transcript.messages();
        let custom = custom_calls(messages);
        let seated = block.and_then(|block| self.seated(block, changes, &custom));
        let own = block.filter(|_| seated.is_none());
        let mut row = Row::new(self);
        let mut position = 0;
        for (index, message) in messages.iter().enumerate().take(until) {
            if block.is_some_and(|block| !block.span.keeps(index)) {
                continue;
            }
            row.push_block(own.filter(|block| block.span.block_at == position));
            position += 1;
            match &seated {
                Some((seat, element)) if *seat == index => row.push(Some(index), Cow::Owned(element.clone())),
                _ if self.is_listed(index) => row.push(Some(index), self.element(index, message, changes, &custom)),
                _ => {}
            }
        }
        row.push_block(own.filter(|block| match until < messages.len() {
            true => block.span.block_at == position && (0..until).any(|index| !block.span.keeps(index)),
            false => block.span.block_at >= position,
        }));
        row
    }

    /// The text around and of the list, where the source was one.
    pub(crate) fn list_text(&self) -> Option<&str> {
        let list = self.layout.list.as_ref()?;
        // A body whose input is a single string has no brackets.
        let has_brackets = list.start > 0 && self.layout.text.as_bytes()[list.start - 1] == b'[';
        has_brackets.then_some(self.layout.text.as_str())
    }

    /// Whether a message is an element of the list; a system prompt may stand elsewhere.
    pub(crate) fn is_listed(&self, index: usize) -> bool {
        if self.layout.list.is_none() {
            let is_system = self.transcript.messages()[index].role == Role::System;
            return self.layout.form != WireForm::Anthropic || !is_system;
        }
        match self.origins[index] {
            Origin::Read(from) | Origin::Repaired(from) => self.slots[from as usize] != Slot::Outside,
            Origin::Inserted => true,
        }
    }

    fn slot_range(&self, index: usize) -> Option<Range<usize>> {
        match self.origins[index] {
            Origin::Read(from) => self.slots[from as usize].range(),
            Origin::Repaired(_) | Origin::Inserted => None,
        }
    }

    /// One message: as it came, with only its changes, or rendered.
    pub(crate) fn element<'a>(
        &'a self,
        index: usize,
        message: &'a Message,
        changes: &BTreeMap<Spot, Change>,
        custom: &HashSet<&str>,
    ) -> Cow<'a, str> {
        let form = self.layout.form;
        let own = revise::of_message(changes, index);
        match (self.verbatim(index), own.is_empty()) {
            (Some(verbatim), true) => return Cow::Borrowed(verbatim),
            (Some(verbatim), false) => {
                // Trusted only where reading it gives just what was meant.
                let meant = changed_message(index, message, changes);
                let revised = revise::revise(form, verbatim, &own);
                if let Some(revised) = revised.filter(|revised| reads_as(form, revised, &meant)) {
                    return Cow::Owned(revised);
                }
            }
            (None, _) => {}
        }
        if own.is_empty() {
            return Cow::Owned(render_beside(form, message, custom));
        }
        Cow::Owned(render_beside(form, &changed_message(index, message, changes), custom))
    }

    /// What stands before the first message.
    fn opening(&self) -> Cow<'_, str> {
        let form = self.layout.form;
        if let Some(list) = &self.layout.list {
            let first = (0..self.origins.len())
                .find(|index| self.is_listed(*index))
                .and_then(|index| self.slot_range(index));
            // The white space before the first element is kept with it.
            let end = first.map_or(list.start, |range| {
                if self.is_first_slot(&range) {
                    range.start
                } else {
                    list.start
                }
            });
            return Cow::Borrowed(&self.layout.text[..end]);
        }
        Cow::Owned(body_opening(form, self.transcript.messages()))
    }

    fn is_first_slot(&self, range: &Range<usize>) -> bool {
        self.slots.iter().find_map(Slot::range).as_ref() == Some(range)
    }

    /// What stands between two messages: as it was where they stood side by side.
    fn between(&self, before: usize, after: usize) -> Cow<'_, str> {
        let sides = self
            .layout
            .list
            .as_ref()
            .and(self.slot_range(before).zip(self.slot_range(after)));
        match sides {
            Some((before, after)) if before.end <= after.start && self.is_plain_gap(before.end..after.start) => {
                Cow::Borrowed(&self.layout.text[before.end..after.start])
            }
            Some(_) | None => Cow::Borrowed(","),
        }
    }

    /// Whether nothing but a comma and white space stands in a range: the two elements were neighbours.
    fn is_plain_gap(&self, range: Range<usize>) -> bool {
        self.layout.text[range].trim() == ","
    }

    /// What stands after the last message.
    fn closing(&self, last: Option<usize>) -> Cow<'_, str> {
        let Some(list) = &self.layout.list else {
            return Cow::Borrowed("]}");
        };
        let end = last.and_then(|index| self.slot_range(index)).map_or(list.end, |range| {
            let is_last = self.slots.iter().rev().find_map(Slot::range).as_ref() == Some(&range);
            if is_last { range.end } else { list.end }
        });
        Cow::Borrowed(&self.layout.text[end..])
    }
}

/// Elements in a row, with what stands between them.
pub(crate) struct Row<'a> {
    document: &'a Document,
    chunks: Vec<Cow<'a, str>>,
    /// Which of the chunks are elements.
    places: Vec<usize>,
    /// The message that the last element is; `None` for a block.
    last: Option<Option<usize>>,
}

impl<'a> Row<'a> {
    fn new(document: &'a Document) -> Self {
        Self {
            document,
            chunks: vec![document.opening()],
            places: Vec::new(),
            last: None,
        }
    }

    fn push(&mut self, index: Option<usize>, element: Cow<'a, str>) {
        if element.is_empty() {
            return;
        }
        match (self.last, index) {
            (None, _) => {}
            (Some(Some(before)), Some(after)) => self.chunks.push(self.document.between(before, after)),
            (Some(_), _) => self.chunks.push(Cow::Borrowed(",")),
        }
        self.places.push(self.chunks.len());
        self.chunks.push(element);
        self.last = Some(index);
    }

    fn push_block(&mut self, block: Option<&Block>) {
        if let Some(block) = block {
            self.push(None, Cow::Owned(render(self.document.form(), &block.message)));
        }
    }

    /// The message that the last element is; `None` when it is a block, or there is none.
    pub(crate) fn last_message(&self) -> Option<usize> {
        self.last.flatten()
    }

    /// The text with one more element, and how long it is before that one.
    pub(crate) fn asking(mut self, element: &str) -> (String, usize) {
        let shared = self.chunks.iter().map(|chunk| chunk.len()).sum();
        self.push(None, Cow::Owned(element.to_owned()));
        (self.finish().concat(), shared)
    }

    fn finish(mut self) -> Vec<Cow<'a, str>> {
        self.chunks.push(self.document.closing(self.last.flatten()));
        self.chunks
    }
}

/// A request body of a form with the messages of any conversation, whatever form it came in.
pub fn body_of(form: WireForm, transcript: &Transcript) -> String {
    let messages = transcript.messages();
    let custom = custom_calls(messages);
    let in_list = |message: &&Message| form != WireForm::Anthropic || message.role != Role::System;
    let listed = join_steps(messages.iter().filter(in_list), form);
    let rendered = listed.iter().map(|message| render_beside(form, message, &custom));
    let elements: Vec<_> = rendered.filter(|element| !element.is_empty()).collect();
    format!("{}{}]}}", body_opening(form, messages), elements.join(","))
}

/// What one form spreads over several messages, another wants in one: the calls of a step in chat, and every run of
/// one side in Anthropic's form, which also wants the user to begin.
fn join_steps<'a>(messages: impl Iterator<Item = &'a Message>, form: WireForm) -> Vec<Message> {
    let mut joined: Vec<Message> = Vec::new();
    let is_assistant = |message: &Message| message.role == Role::Assistant;
    for message in messages {
        let fits = joined.last().is_some_and(|last| match form {
            WireForm::Responses => false,
            WireForm::Chat => is_assistant(last) && is_assistant(message),
            WireForm::Anthropic => is_assistant(last) == is_assistant(message),
        });
        match joined.last_mut().filter(|_| fits) {
            Some(last) => last.parts.extend(message.parts.iter().cloned()),
            None => joined.push(message.clone()),
        }
    }
    if form == WireForm::Anthropic {
        for message in joined.iter_mut().filter(|message| !is_assistant(message)) {
            message.parts.sort_by_key(|part| !matches!(part, Part::Result(_)));
        }
        if joined.first().is_some_and(is_assistant) {
            joined.insert(
                0,
                Message::new(Role::User, vec![Part::Text("(the conversation goes on)".into())]),
            );
        }
    }
    joined
}

/// A body up to its first message.
fn body_opening(form: WireForm, messages: &[Message]) -> String {
    let system = match form {
        WireForm::Anthropic => anthropic::render_system(messages),
        WireForm::Chat | WireForm::Responses => None,
    };
    let system = system.map(|system| format!("\"system\":{system},")).unwrap_or_default();
    let key = match form {
        WireForm::Responses => "input",
        WireForm::Chat | WireForm::Anthropic => "messages",
    };
    format!("{{{system}\"{key}\":[")
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
