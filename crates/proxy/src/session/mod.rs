//! What is known of the conversations that pass through, and what is sent in place of them.
//!
//! The server half asks four things: what to send for a request ([`Keeper::prepare`]), what to send after the provider found
//! it too long or malformed ([`Keeper::after_overflow`], [`Keeper::after_complaint`]), and, when the answer is through,
//! what it reported ([`Keeper::answered`]). None of them fails: where something of ours goes wrong, the request goes out as
//! it came, and the [`Note`] says why.

mod conversation;
pub mod fail_open;
mod model_registry;
mod overview;
mod parsed_request;
mod pass;
mod pass_jobs;
mod pass_timing;
mod prefix_replacement;
mod reasoning_blocks;
mod refusal_sizes;
mod refused_prompt;
mod request_note;
mod result_trimming;
mod session_cache;
mod session_manager;
mod session_stats;
mod store_handle;
mod worker;

use std::sync::Arc;

use bytes::Bytes;
use mainstay_llm::answer::Usage;
use mainstay_wire::reading::WireForm;

use crate::session::parsed_request::Taken;
use crate::session::session_cache::Shared;
use crate::session::session_manager::Room;
use crate::settings::Keeping;

pub use overview::Archive;
pub use overview::Overview;
pub use overview::Session;
pub use request_note::Deed;
pub use request_note::Note;

/// A request of a form that we know, read whole.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// Its form.
    pub form: WireForm,
    /// The exact body.
    pub body: Bytes,
    /// Whose it is: the name of the client's token, empty where everybody on this machine is the same.
    pub tenant: String,
    /// The conversation it belongs to, where the client says so itself.
    pub pinned: Option<String>,
    /// Whether it only asks how many tokens it has.
    pub only_counts: bool,
}

/// What to send.
#[derive(Debug)]
pub struct Outgoing {
    /// The body.
    pub body: Bytes,
    /// Words that a header of the request has to name beside what the client named there.
    pub extra_header: Option<(&'static str, &'static str)>,
    /// What was done, for headers, logs and metrics.
    pub note: Note,
    /// By which the keeper knows the request again; none where it has nothing to do with it.
    pub ticket: Option<Ticket>,
}

impl Outgoing {
    /// A request that goes out as it came.
    fn as_it_came(body: Bytes, deed: Deed, reason: impl Into<String>) -> Self {
        Self {
            body,
            extra_header: None,
            note: Note {
                deed,
                reason: Some(reason.into()),
                ..Note::default()
            },
            ticket: None,
        }
    }
}

/// By which the keeper knows a request again.
#[derive(Clone)]
pub struct Ticket {
    taken: Taken,
    shared: Shared,
    model: String,
    /// The prompt as it went out, as counted: instructions, tools and chain.
    counted: u64,
    is_counting: bool,
}

impl std::fmt::Debug for Ticket {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // What is said stays out of logs.
        formatter
            .debug_struct("Ticket")
            .field("model", &self.model)
            .field("counted", &self.counted)
            .finish_non_exhaustive()
    }
}

/// Knows conversations.
#[derive(Clone)]
pub struct Keeper {
    room: Arc<Room>,
}

impl Keeper {
    /// A keeper that remembers nothing yet but what its store holds.
    pub fn new(keeping: Keeping) -> Self {
        Self {
            room: Arc::new(Room::new(keeping)),
        }
    }

    /// The same keeper with other settings: what it knows of conversations it goes on knowing.
    pub fn renewed(&self, keeping: Keeping) -> Self {
        Self {
            room: Arc::new(self.room.renewed(keeping)),
        }
    }

    /// What to send for a request.
    pub async fn prepare(&self, incoming: Incoming) -> Outgoing {
        self.room.prepare(incoming).await
    }

    /// What to send after the provider said that the prompt does not fit, in these words; `None` where nothing can be done
    /// about it. Asked once a request.
    pub async fn after_overflow(&self, ticket: &Ticket, words: &str) -> Option<Outgoing> {
        self.room.after_overflow(ticket, words).await
    }

    /// What to send after the provider said that calls and results do not belong together, or that reasoning does not belong
    /// where it stands; `None` where nothing can be done about it. Asked once a request.
    pub async fn after_complaint(&self, ticket: &Ticket, words: &str) -> Option<Outgoing> {
        self.room.after_complaint(ticket, words)
    }

    /// The answer is through; it reported this much, if anything.
    pub fn answered(&self, ticket: Ticket, usage: Option<Usage>) {
        self.room.answered(&ticket, usage);
    }

    /// How it goes: what is remembered, and what was saved.
    pub fn overview(&self) -> Overview {
        self.room.overview()
    }

    /// Where what was compacted away is kept.
    pub fn archive(&self) -> Archive {
        let keeping = &self.room.keeping;
        Archive {
            store: keeping.store.clone(),
            redact: keeping.redact,
        }
    }
}
