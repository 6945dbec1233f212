//! Asking the keeper, in such a way that nothing that goes wrong with it holds a request up.
//!
//! Every question is asked on a thread of its own: a keeper that calculates for a minute takes no thread from the requests that
//! pass meanwhile, and one that panics takes nobody with it. Whoever asks waits for the operator's patience and no longer.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use mainstay_llm::answer::Usage;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::session::IncomingRequest;
use crate::session::OutgoingRequest;
use crate::session::RequestAction;
use crate::session::RequestNote;
use crate::session::RequestTicket;
use crate::session::SessionCompactor;
use crate::session::SessionsOverview;
use crate::session::StoreLocation;

/// What is answered in time, or not.
pub type Advice<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Who is asked what to send. There is one, the [`SessionCompactor`]; others stand in for it where its failures are tried out.
pub trait SessionBackend: Send + Sync + 'static {
    /// What to send for a request.
    fn prepare(&self, incoming: IncomingRequest) -> Advice<'_, OutgoingRequest>;
    /// What to send after the provider found the prompt too long.
    fn after_overflow<'a>(&'a self, ticket: &'a RequestTicket, words: &'a str) -> Advice<'a, Option<OutgoingRequest>>;
    /// What to send after the provider found the history malformed.
    fn after_complaint<'a>(&'a self, ticket: &'a RequestTicket, words: &'a str) -> Advice<'a, Option<OutgoingRequest>>;
    /// The answer is through.
    fn answered(&self, ticket: RequestTicket, usage: Option<Usage>);
    /// How it goes, for people to look at; `None` from whoever does not know.
    fn overview(&self) -> Option<SessionsOverview> {
        None
    }
    /// Where what was compacted away is kept; `None` from whoever keeps nothing.
    fn archive(&self) -> Option<StoreLocation> {
        None
    }
}

impl SessionBackend for SessionCompactor {
    fn prepare(&self, incoming: IncomingRequest) -> Advice<'_, OutgoingRequest> {
        Box::pin(SessionCompactor::prepare(self, incoming))
    }

    fn after_overflow<'a>(&'a self, ticket: &'a RequestTicket, words: &'a str) -> Advice<'a, Option<OutgoingRequest>> {
        Box::pin(SessionCompactor::after_overflow(self, ticket, words))
    }

    fn after_complaint<'a>(&'a self, ticket: &'a RequestTicket, words: &'a str) -> Advice<'a, Option<OutgoingRequest>> {
        Box::pin(SessionCompactor::after_complaint(self, ticket, words))
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

/// How many questions are under way at most. Those of a keeper that never comes back stay for good: the threads that are left
/// must suffice for looking names up.
const MOST_ASKED: usize = 128;

/// The keeper itself waits for the operator's patience and then says what it was waiting for; it gets so much longer to say it.
const MARGIN: Duration = Duration::from_millis(500);
/// How long the keeper may take where the request has failed already.
const MENDING: Duration = Duration::from_secs(65);

/// Why the keeper gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailOpenReason {
    /// It broke.
    Panicked,
    /// It took too long.
    TooSlow,
    /// Too many questions are under way.
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

/// Which complaint of a provider the keeper is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptComplaint {
    /// The prompt is too long.
    Overflow,
    /// Calls and results do not belong together.
    Malformed,
}

/// Where the keeper is asked.
#[derive(Clone)]
pub struct FailOpenCaller {
    backend: Arc<dyn SessionBackend>,
    asked: Arc<Semaphore>,
    patience: Duration,
}

impl FailOpenCaller {
    /// A desk at which nobody waits longer than this.
    pub fn new(backend: Arc<dyn SessionBackend>, patience: Duration) -> Self {
        Self {
            backend,
            asked: Arc::new(Semaphore::new(MOST_ASKED)),
            patience,
        }
    }

    /// What to send for a request: what came, where there is no answer.
    pub async fn prepare(&self, incoming: IncomingRequest) -> (OutgoingRequest, Option<FailOpenReason>) {
        let body = incoming.body.clone();
        let asked = self.ask(self.patience + MARGIN, move |backend, handle| {
            handle.block_on(backend.prepare(incoming))
        });
        match asked.await {
            Ok(outgoing) => (outgoing, None),
            Err(silence) => {
                let note = RequestNote {
                    deed: RequestAction::FailedOpen,
                    reason: Some(silence.name().to_owned()),
                    ..RequestNote::default()
                };
                let outgoing = OutgoingRequest {
                    body,
                    extra_header: None,
                    note,
                    ticket: None,
                };
                (outgoing, Some(silence))
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
        self.ask(self.patience.max(MENDING), move |backend, handle| match complaint {
            PromptComplaint::Overflow => handle.block_on(backend.after_overflow(&ticket, &words)),
            PromptComplaint::Malformed => handle.block_on(backend.after_complaint(&ticket, &words)),
        })
        .await
    }

    /// Tells the keeper that an answer is through. Nobody waits for it.
    pub fn answered(&self, ticket: RequestTicket, usage: Option<Usage>) {
        let Ok(permit) = Arc::clone(&self.asked).try_acquire_owned() else {
            return;
        };
        let backend = Arc::clone(&self.backend);
        // A stream may end after the runtime did; then there is nobody left to be told.
        if let Ok(handle) = Handle::try_current() {
            handle.spawn_blocking(move || {
                backend.answered(ticket, usage);
                drop(permit);
            });
        }
    }

    /// How it goes, for people to look at.
    pub async fn overview(&self) -> Result<Option<SessionsOverview>, FailOpenReason> {
        self.ask(self.patience + MARGIN, |backend, _| backend.overview()).await
    }

    async fn ask<T: Send + 'static>(
        &self,
        patience: Duration,
        question: impl FnOnce(&dyn SessionBackend, &Handle) -> T + Send + 'static,
    ) -> Result<T, FailOpenReason> {
        let Ok(permit) = Arc::clone(&self.asked).try_acquire_owned() else {
            return Err(FailOpenReason::Busy);
        };
        let backend = Arc::clone(&self.backend);
        let handle = Handle::current();
        let asked = tokio::task::spawn_blocking(move || {
            let answer = question(&*backend, &handle);
            drop(permit);
            answer
        });
        match timeout(patience, asked).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(FailOpenReason::Panicked),
            Err(_) => Err(FailOpenReason::TooSlow),
        }
    }
}
