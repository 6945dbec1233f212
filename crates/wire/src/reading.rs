//! What a reader is asked for, and what it says about a session besides its messages.

use std::sync::Arc;

use mainstay_engine::decide::ProviderForm;
use mainstay_engine::decide::ProviderRules;
use mainstay_engine::decide::ReasoningRule;
use mainstay_engine::decide::Roles;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Timestamp;

use crate::error::ReadError;
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

/// One conversation of a source that holds several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// The id by which [`Request::session`] names it.
    pub id: String,
    /// Its title, or how it begins.
    pub title: Option<String>,
    /// When it was last written to.
    pub updated: Option<Timestamp>,
    /// How many messages it holds, where that is cheap to know.
    pub messages: Option<u64>,
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
