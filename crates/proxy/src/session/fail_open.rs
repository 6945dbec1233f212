//! Calls the session so that none of its failures holds a request up: the fail-open caller.
//!
//! A call is one hop. It moves to a thread for blocking work once, and everything below is plain synchronous code there: also a
//! request that seems light may wait for a lock or for the store. The caller waits for the operator's patience and no longer. A
//! session that is too slow leaves the request as it came, or as it is composed without the pass that takes so long
//! ([`FallbackSlot`]); so does one that panics, which ends at the wall in `blocking`.

use std::sync::Arc;
use std::time::Duration;

use mainstay_llm::answer::Usage;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::blocking;
use crate::blocking::Panicked;
use crate::session::IncomingRequest;
use crate::session::OutgoingRequest;
use crate::session::RequestAction;
use crate::session::RequestNote;
use crate::session::RequestTicket;
use crate::session::SessionCompactor;
use crate::session::fallback_slot::Fallback;
use crate::session::fallback_slot::FallbackSlot;
use crate::session::overview::SessionsOverview;
use crate::session::overview::StoreLocation;
use crate::session::pass::PassError;
use crate::session::pass_end::PassEnd;

/// What decides what is sent. There is one, the [`SessionCompactor`]; others stand in for it where its failures are tried out.
/// All of it may block: it is called on threads for that.
pub trait SessionBackend: Send + Sync + 'static {
    /// What to send for a request. Nobody reads what is returned after the slot was emptied by somebody else.
    fn prepare(&self, incoming: IncomingRequest, slot: &FallbackSlot<OutgoingRequest>) -> OutgoingRequest;
    /// What to send after the provider found the prompt too long.
    fn after_overflow(
        &self,
        ticket: &RequestTicket,
        words: &str,
        slot: &FallbackSlot<Option<OutgoingRequest>>,
    ) -> Option<OutgoingRequest>;
    /// What to send after the provider found the history malformed.
    fn after_complaint(&self, ticket: &RequestTicket, words: &str) -> Option<OutgoingRequest>;
    /// The answer is through.
    fn answered(&self, ticket: RequestTicket, usage: Option<Usage>);
    /// How it goes, for people to look at; `None` from a backend that does not know.
    fn overview(&self) -> Option<SessionsOverview> {
        None
    }
    /// Where what was compacted away is kept; `None` from a backend that keeps nothing.
    fn archive(&self) -> Option<StoreLocation> {
        None
    }
}

impl SessionBackend for SessionCompactor {
    fn prepare(&self, incoming: IncomingRequest, slot: &FallbackSlot<OutgoingRequest>) -> OutgoingRequest {
        SessionCompactor::prepare(self, incoming, slot)
    }

    fn after_overflow(
        &self,
        ticket: &RequestTicket,
        words: &str,
        slot: &FallbackSlot<Option<OutgoingRequest>>,
    ) -> Option<OutgoingRequest> {
        SessionCompactor::after_overflow(self, ticket, words, slot)
    }

    fn after_complaint(&self, ticket: &RequestTicket, words: &str) -> Option<OutgoingRequest> {
        SessionCompactor::after_complaint(self, ticket, words)
    }

    fn answered(&self, ticket: RequestTicket, usage: Option<Usage>) {
        SessionCompactor::answered(self, ticket, usage);
    }

    fn overview(&self) -> Option<SessionsOverview> {
        Some(SessionCompactor::overview(self))
    }

    fn archive(&self) -> Option<StoreLocation> {
        Some(SessionCompactor::archive(self))
    }
}

/// How many calls are under way at most. Those of a session that never comes back stay for good: the threads that are left must
/// suffice for looking names up.
const MOST_CALLS: usize = 128;

/// A pass that is too slow is given up after the operator's patience, and what is sent without it has to be composed; the call as
/// a whole gets so much longer.
const MARGIN: Duration = Duration::from_millis(500);
/// How long the session may take where the request has failed already.
const MENDING: Duration = Duration::from_secs(65);

/// Why the session gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailOpenReason {
    /// It panicked.
    Panicked,
    /// It took too long.
    TooSlow,
    /// Too many calls are under way.
    Busy,
}

impl FailOpenReason {
    /// In a word, for headers, logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            FailOpenReason::Panicked => "panic",
            FailOpenReason::TooSlow => "too-slow",
            FailOpenReason::Busy => "busy",
        }
    }
}

impl From<Panicked> for FailOpenReason {
    fn from(_: Panicked) -> Self {
        FailOpenReason::Panicked
    }
}

/// What a provider complains about that the session may know a way around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptComplaint {
    /// The prompt is too long.
    Overflow,
    /// Calls and results do not belong together.
    Malformed,
}

/// Calls a session backend.
#[derive(Clone)]
pub struct FailOpenCaller {
    backend: Arc<dyn SessionBackend>,
    calls: Arc<Semaphore>,
    patience: Duration,
}

/// What comes first of a call.
enum First<T> {
    Answer(Result<T, Panicked>),
    Overdue(Fallback<T>),
}

impl FailOpenCaller {
    /// A caller that waits no longer than this.
    pub fn new(backend: Arc<dyn SessionBackend>, patience: Duration) -> Self {
        Self {
            backend,
            calls: Arc::new(Semaphore::new(MOST_CALLS)),
            patience,
        }
    }

    /// What to send for a request: what came, where there is no answer.
    pub async fn prepare(&self, incoming: IncomingRequest) -> (OutgoingRequest, Option<FailOpenReason>) {
        let body = incoming.body.clone();
        let called = self.call(self.patience + MARGIN, move |backend, slot| {
            backend.prepare(incoming, slot)
        });
        match called.await {
            Ok(outgoing) => (outgoing, None),
            Err(reason) => {
                let note = RequestNote {
                    deed: RequestAction::FailedOpen,
                    reason: Some(reason.name().to_owned()),
                    ..RequestNote::default()
                };
                let outgoing = OutgoingRequest {
                    body,
                    extra_header: None,
                    note,
                    ticket: None,
                };
                (outgoing, Some(reason))
            }
        }
    }

    /// What to send after a complaint of the provider's, if anything.
    pub async fn after(
        &self,
        complaint: PromptComplaint,
        ticket: &RequestTicket,
        words: &str,
    ) -> Result<Option<OutgoingRequest>, FailOpenReason> {
        let (ticket, words) = (ticket.clone(), words.to_owned());
        self.call(self.patience.max(MENDING), move |backend, slot| match complaint {
            PromptComplaint::Overflow => backend.after_overflow(&ticket, &words, slot),
            PromptComplaint::Malformed => backend.after_complaint(&ticket, &words),
        })
        .await
    }

    /// Tells the session that an answer is through. Nothing waits for it.
    pub fn answered(&self, ticket: RequestTicket, usage: Option<Usage>) {
        let Ok(permit) = Arc::clone(&self.calls).try_acquire_owned() else {
            return;
        };
        let backend = Arc::clone(&self.backend);
        blocking::start(move || {
            backend.answered(ticket, usage);
            drop(permit);
        });
    }

    /// How it goes, for people to look at.
    pub async fn overview(&self) -> Result<Option<SessionsOverview>, FailOpenReason> {
        self.call(self.patience + MARGIN, |backend, _| backend.overview()).await
    }

    async fn call<T: Send + 'static>(
        &self,
        patience: Duration,
        work: impl FnOnce(&dyn SessionBackend, &FallbackSlot<T>) -> T + Send + 'static,
    ) -> Result<T, FailOpenReason> {
        let Ok(permit) = Arc::clone(&self.calls).try_acquire_owned() else {
            return Err(FailOpenReason::Busy);
        };
        let slot = FallbackSlot::holding(permit);
        let (backend, given) = (Arc::clone(&self.backend), slot.clone());
        let answer = blocking::run(move || work(&*backend, &given));
        let first = async {
            tokio::select! {
                biased;
                answer = answer => First::Answer(answer),
                fallback = slot.overdue() => First::Overdue(fallback),
            }
        };
        match timeout(patience, first).await {
            Ok(First::Answer(Ok(answer))) => Ok(answer),
            Ok(First::Answer(Err(panicked))) => match slot.take() {
                Some(fallback) => finish(fallback, PassEnd::NotMade(PassError::Broken)).await,
                None => Err(panicked.into()),
            },
            Ok(First::Overdue(fallback)) => finish(fallback, PassEnd::TooSlow).await,
            Err(_) => Err(FailOpenReason::TooSlow),
        }
    }
}

/// Finishes a request whose pass did not come in time. Composing may wait for a lock too: it gets a thread and a time of its own.
async fn finish<T: Send + 'static>(fallback: Fallback<T>, end: PassEnd) -> Result<T, FailOpenReason> {
    match timeout(MARGIN, blocking::run(move || fallback.finish(end))).await {
        Ok(finished) => Ok(finished?),
        Err(_) => Err(FailOpenReason::TooSlow),
    }
}

#[cfg(test)]
#[path = "fail_open_tests.rs"]
mod tests;
