//! What a reader hands over: messages as found, what is known about the session, and the exact text of
//! every message that already has a provider's form.

use std::ops::Range;
use std::sync::Arc;

use mainstay_engine::decide::ProviderForm;
use mainstay_engine::decide::ProviderRules;
use mainstay_engine::decide::ReasoningRule;
use mainstay_engine::decide::Roles;
use mainstay_engine::transcript::Assembly;
use mainstay_engine::transcript::CompactionEvent;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Finding;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Rule;
use mainstay_engine::transcript::Timestamp;

use crate::document::Document;
use crate::document::Layout;
use crate::document::Slot;
use crate::error::ReadError;
use crate::format::Entry;
use crate::format::Format;
use crate::source::Source;

/// The provider form in which a conversation is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireForm {
    /// OpenAI Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
}

impl WireForm {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            WireForm::Chat => "openai-chat",
            WireForm::Responses => "openai-responses",
            WireForm::Anthropic => "anthropic",
        }
    }

    /// What a provider of this form demands, at a server that wants roles in this order.
    pub fn rules(self, roles: Roles) -> ProviderRules {
        let (form, block_role, reasoning) = match self {
            WireForm::Chat => (ProviderForm::Chat, Role::System, ReasoningRule::MayDrop),
            WireForm::Responses => (ProviderForm::Responses, Role::System, ReasoningRule::MustKeep),
            // Instructions have a field of their own there, which is no place for a block in the middle.
            WireForm::Anthropic => (ProviderForm::Anthropic, Role::User, ReasoningRule::MayDrop),
        };
        ProviderRules {
            form,
            block_role,
            reasoning,
            roles,
        }
    }
}

/// Which part of a recorded session is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum History {
    /// What the agent would send now: after the last recorded compaction and rewind.
    #[default]
    Live,
    /// Every message on the way to it, compactions as events.
    Full,
}

/// What to read from a source.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Which part of its history.
    pub history: History,
    /// Which conversation, where the source holds several; otherwise the newest, or the first.
    pub session: Option<String>,
}

impl Request {
    /// The error for a source that does not hold the conversation asked for, or holds none.
    pub fn not_found(&self, source: &Source, list: impl FnOnce() -> Result<Vec<Entry>, ReadError>) -> ReadError {
        let Some(wanted) = &self.session else {
            return ReadError::refused(source.name(), "there is no conversation in it");
        };
        let mut ids: Vec<_> = list().unwrap_or_default().into_iter().map(|entry| entry.id).collect();
        if ids.len() > 10 {
            let more = ids.len() - 10;
            ids.truncate(10);
            ids.push(format!("{more} more"));
        }
        ReadError::NoSuchSession {
            name: source.name().to_owned(),
            wanted: wanted.clone(),
            have: ids.join(", "),
        }
    }
}

/// What is known about a session besides its messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// The session's id.
    pub id: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// The directory the agent worked in.
    pub directory: Option<String>,
    /// The model that was used last.
    pub model: Option<Arc<str>>,
    /// The version of the agent program.
    pub version: Option<String>,
    /// The session it continues or belongs to.
    pub parent: Option<String>,
    /// When it started.
    pub started: Option<Timestamp>,
    /// When it was last written to.
    pub ended: Option<Timestamp>,
    /// The model's window, where the source reports it.
    pub window: Option<u64>,
    /// The tool definitions that are sent along, as JSON.
    pub tools: Option<Box<str>>,
    /// How many conversations the source holds.
    pub conversations: u64,
    /// Where the agent program was started anew in the middle of the session, by the records that show it.
    pub restarts: Vec<Place>,
}

/// What the whole source holds, whatever part of its history was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Messages.
    pub messages: u64,
    /// Tool calls.
    pub calls: u64,
    /// Tool results.
    pub results: u64,
}

impl Recorded {
    /// Counts one message of the source.
    pub fn count(&mut self, message: &Message) {
        self.messages += 1;
        self.calls += message.calls().count() as u64;
        self.results += message.results().count() as u64;
    }
}

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

    /// The newest message, to complete it.
    pub fn last_mut(&mut self) -> Option<&mut Message> {
        self.draft.messages.last_mut()
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

    /// Whether an earlier finding of this kind exists; for findings that are worth making once.
    pub fn has_noted(&self, rule: Rule) -> bool {
        self.findings.iter().any(|finding| finding.rule == rule)
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

    /// Adds a recorded compaction; its indices refer to the messages.
    pub fn event(&mut self, event: CompactionEvent) {
        self.draft.events.push(event);
    }

    /// How many messages there are so far.
    pub fn len(&self) -> usize {
        self.draft.messages.len()
    }

    /// Whether there is no message yet.
    pub fn is_empty(&self) -> bool {
        self.draft.messages.is_empty()
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
        format,
        about,
        recorded,
        transcript: Arc::new(transcript),
        findings,
        origins,
        layout,
        slots,
    }
}
