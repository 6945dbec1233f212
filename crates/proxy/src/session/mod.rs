//! Sessions: which conversation a request continues, when it is compacted, and what is sent in its place.
//!
//! One request, in order: [`fail_open`] moves it to a thread and waits no longer than the operator allows; `session_manager` parses
//! it (`parsed_request`), finds its conversation (`session_cache`, `conversation`), learns what is new and asks `pass_timing`
//! what is due; `pass_runner` makes a pass (`pass`, `worker`), which the store keeps (`store_handle`) before it is in force; and
//! what goes out is composed of the request and the bytes that stand for its prefix (`prefix_replacement`). Where the provider
//! refuses that, `refused_prompt` finds something else to send.
//!
//! The server calls [`SessionCompactor`] four times at most: [`prepare`](SessionCompactor::prepare), after an error
//! [`after_overflow`](SessionCompactor::after_overflow) or [`after_complaint`](SessionCompactor::after_complaint), and, when the
//! answer is through, [`answered`](SessionCompactor::answered). None of them fails: where something of ours goes wrong, the
//! request goes out as it came, and the [`RequestNote`] says why.

mod conversation;
mod environment;
pub mod fail_open;
pub mod fallback_slot;
mod model_registry;
mod overview;
mod parsed_request;
mod pass;
mod pass_end;
mod pass_runner;
mod pass_timing;
mod prefix_replacement;
mod reasoning_blocks;
mod refusal_sizes;
mod refused_prompt;
mod request_context;
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

use crate::session::fallback_slot::FallbackSlot;
use crate::session::parsed_request::ParsedRequest;
use crate::session::session_cache::SharedConversation;
use crate::session::session_manager::SessionRuntime;
use crate::settings::CompactionSettings;

pub use overview::SessionStatus;
pub use overview::SessionsOverview;
pub use overview::StoreLocation;
pub use request_note::RequestAction;
pub use request_note::RequestNote;

/// A request of a form that we know, read whole.
#[derive(Clone, Debug)]
pub struct IncomingRequest {
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
pub struct OutgoingRequest {
    /// The body.
    pub body: Bytes,
    /// Words that a header of the request has to name beside what the client named there.
    pub extra_header: Option<(&'static str, &'static str)>,
    /// What was done, for headers, logs and metrics.
    pub note: RequestNote,
    /// The ticket for what comes back; none where the session has nothing to do with it.
    pub ticket: Option<RequestTicket>,
}

impl OutgoingRequest {
    /// A request that goes out as it came.
    fn as_it_came(body: Bytes, deed: RequestAction, reason: impl Into<String>) -> Self {
        Self {
            body,
            extra_header: None,
            note: RequestNote {
                deed,
                reason: Some(reason.into()),
                ..RequestNote::default()
            },
            ticket: None,
        }
    }
}

/// A request that went out, so that what comes back for it can be told apart.
#[derive(Clone)]
pub struct RequestTicket {
    taken: ParsedRequest,
    shared: SharedConversation,
    model: String,
    /// The prompt as it went out, as counted: instructions, tools and chain.
    counted: u64,
    is_counting: bool,
}

impl std::fmt::Debug for RequestTicket {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // What is said stays out of logs.
        formatter
            .debug_struct("RequestTicket")
            .field("model", &self.model)
            .field("counted", &self.counted)
            .finish_non_exhaustive()
    }
}

/// All sessions that pass through, and what is sent for them.
#[derive(Clone)]
pub struct SessionCompactor {
    runtime: Arc<SessionRuntime>,
}

impl SessionCompactor {
    /// Remembers nothing yet but what its store holds.
    pub fn new(settings: CompactionSettings) -> Self {
        Self {
            runtime: Arc::new(SessionRuntime::new(settings)),
        }
    }

    /// The same sessions with other settings: what it knows of conversations it goes on knowing.
    pub fn renewed(&self, settings: CompactionSettings) -> Self {
        Self {
            runtime: Arc::new(self.runtime.renewed(settings)),
        }
    }

    /// What to send for a request. May take as long as a pass does: a caller that does not wait takes what is in the slot, and
    /// then nobody needs what is returned.
    pub fn prepare(&self, incoming: IncomingRequest, slot: &FallbackSlot<OutgoingRequest>) -> OutgoingRequest {
        self.runtime.prepare(&incoming, slot)
    }

    /// What to send after the provider said that the prompt does not fit, in these words; `None` where nothing can be done
    /// about it. Asked once a request.
    pub fn after_overflow(
        &self,
        ticket: &RequestTicket,
        words: &str,
        slot: &FallbackSlot<Option<OutgoingRequest>>,
    ) -> Option<OutgoingRequest> {
        refused_prompt::after_overflow(&self.runtime, ticket, words, slot)
    }

    /// What to send after the provider said that calls and results do not belong together, or that reasoning does not belong
    /// where it stands; `None` where nothing can be done about it. Asked once a request.
    pub fn after_complaint(&self, ticket: &RequestTicket, words: &str) -> Option<OutgoingRequest> {
        refused_prompt::after_complaint(&self.runtime, ticket, words)
    }

    /// The answer is through; it reported this much, if anything.
    pub fn answered(&self, ticket: RequestTicket, usage: Option<Usage>) {
        self.runtime.answered(&ticket, usage);
    }

    /// How it goes: what is remembered, and what was saved.
    pub fn overview(&self) -> SessionsOverview {
        self.runtime.overview()
    }

    /// Where what was compacted away is kept.
    pub fn archive(&self) -> StoreLocation {
        let settings = &self.runtime.environment.settings;
        StoreLocation {
            store: settings.store.clone(),
            redaction: settings.redaction,
        }
    }
}
