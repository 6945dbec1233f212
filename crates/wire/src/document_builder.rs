//! What a reader fills: messages as found, what is known about the session, and the exact text of every message
//! that already has a provider's form. From that a document is made.

use std::ops::Range;
use std::sync::Arc;

use mainstay_engine::transcript::Assembly;
use mainstay_engine::transcript::CompactionEvent;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Rule;

use crate::document::Document;
use crate::document::Layout;
use crate::document::Slot;
use crate::format_definition::Format;
use crate::reading::About;
use crate::reading::Recorded;
use crate::reading::WireForm;

/// A conversation being read.
#[derive(Debug)]
pub struct Reading {
    /// Facts about the session.
    pub about: About,
    /// What the source holds in all.
    pub recorded: Recorded,
    /// What was wrong with the source.
    pub findings: Vec<Finding>,
    draft: Draft,
    form: WireForm,
    arena: String,
    slots: Vec<Slot>,
}

impl Reading {
    /// Starts reading a session that will be written back in the given form.
    pub fn new(form: WireForm) -> Self {
        Self {
            about: About {
                conversations: 1,
                ..About::default()
            },
            recorded: Recorded::default(),
            findings: Vec::new(),
            draft: Draft {
                results_in_user_messages: form == WireForm::Anthropic,
                steps_span_messages: form != WireForm::Chat,
                ..Draft::default()
            },
            form,
            arena: String::new(),
            slots: Vec::new(),
        }
    }

    /// How many messages there are so far.
    pub fn len(&self) -> usize {
        self.draft.messages.len()
    }

    /// Whether there is no message yet.
    pub fn is_empty(&self) -> bool {
        self.draft.messages.is_empty()
    }

    /// The messages so far.
    pub fn messages(&self) -> &[Message] {
        &self.draft.messages
    }

    /// Adds a message that has no provider form yet; writing renders it.
    pub fn push(&mut self, message: Message) {
        self.draft.messages.push(message);
        self.slots.push(Slot::Rendered);
    }

    /// Adds a message together with its text in the provider's form, which is written back as it is.
    pub fn push_verbatim(&mut self, message: Message, json: &str) {
        let start = self.arena.len();
        self.arena.push_str(json);
        self.draft.messages.push(message);
        self.slots.push(Slot::element(start..self.arena.len()));
    }

    /// Adds a recorded compaction; its indices refer to the messages pushed so far and later.
    pub fn event(&mut self, event: CompactionEvent) {
        self.draft.events.push(event);
    }

    /// Adds a finding.
    pub fn note(&mut self, rule: Rule, place: Place, detail: impl Into<String>) {
        self.findings.push(Finding::new(rule, place, detail));
    }

    /// Counts everything that was pushed as recorded; for sources without hidden history.
    pub fn count_all(&mut self) {
        for message in &self.draft.messages {
            self.recorded.count(message);
        }
    }

    /// Makes the document: assembles the transcript and keeps the exact texts.
    pub fn finish(self, format: &'static Format) -> Document {
        let layout = Layout::made(self.form, Arc::new(self.arena));
        build(
            format,
            self.about,
            self.recorded,
            self.findings,
            self.draft,
            layout,
            self.slots,
        )
    }
}

/// A conversation that is a list inside a larger text, which is kept around it.
#[derive(Debug)]
pub struct ListReading {
    /// Facts about the session.
    pub about: About,
    /// What was wrong with the source.
    pub findings: Vec<Finding>,
    draft: Draft,
    slots: Vec<Slot>,
    form: WireForm,
    text: Arc<String>,
}

impl ListReading {
    /// Starts reading a list that stands in this text.
    pub fn new(form: WireForm, text: Arc<String>) -> Self {
        Self {
            about: About {
                conversations: 1,
                ..About::default()
            },
            findings: Vec::new(),
            draft: Draft {
                results_in_user_messages: form == WireForm::Anthropic,
                steps_span_messages: form != WireForm::Chat,
                ..Draft::default()
            },
            slots: Vec::new(),
            form,
            text,
        }
    }

    /// Adds the message that is the list element at this range of the text.
    pub fn push_element(&mut self, message: Message, range: Range<usize>) {
        self.draft.messages.push(message);
        self.slots.push(Slot::element(range));
    }

    /// Adds a message that stands in the text but outside of the list: a system prompt in a field of its own.
    pub fn push_outside(&mut self, message: Message) {
        self.draft.messages.push(message);
        self.slots.push(Slot::Outside);
    }

    /// Reserves room for this many messages.
    pub fn reserve(&mut self, count: usize) {
        self.draft.messages.reserve_exact(count);
        self.slots.reserve_exact(count);
    }

    /// Makes the document. `list` is the range of the text between the list's brackets.
    pub fn finish(self, format: &'static Format, list: Range<usize>) -> Document {
        let mut recorded = Recorded::default();
        for message in &self.draft.messages {
            recorded.count(message);
        }
        let layout = Layout::inside(self.form, self.text, list);
        build(
            format,
            self.about,
            recorded,
            self.findings,
            self.draft,
            layout,
            self.slots,
        )
    }
}

fn build(
    format: &'static Format,
    mut about: About,
    recorded: Recorded,
    mut findings: Vec<Finding>,
    draft: Draft,
    layout: Layout,
    slots: Vec<Slot>,
) -> Document {
    let times = draft.messages.iter().filter_map(|message| message.at);
    about.started = about.started.or_else(|| times.clone().min());
    about.ended = about.ended.or_else(|| times.max());
    if about.model.is_none() {
        about.model = draft.messages.iter().rev().find_map(|message| message.model.clone());
    }
    let Assembly {
        transcript,
        findings: repairs,
        origins,
    } = draft.assemble();
    findings.extend(repairs);
    Document {
        format: format.label(),
        about,
        recorded,
        transcript: Arc::new(transcript),
        findings,
        origins,
        layout,
        slots,
    }
}
