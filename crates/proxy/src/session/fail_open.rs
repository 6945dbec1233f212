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

use crate::session::Archive;
use crate::session::Deed;
use crate::session::Incoming;
use crate::session::Keeper;
use crate::session::Note;
use crate::session::Outgoing;
use crate::session::Overview;
use crate::session::Ticket;

/// What is answered in time, or not.
pub type Advice<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Who is asked what to send. There is one, the [`Keeper`]; others stand in for it where its failures are tried out.
pub trait Counsel: Send + Sync + 'static {
    /// What to send for a request.
    fn prepare(&self, incoming: Incoming) -> Advice<'_, Outgoing>;
    /// What to send after the provider found the prompt too long.
    fn after_overflow<'a>(&'a self, ticket: &'a Ticket, words: &'a str) -> Advice<'a, Option<Outgoing>>;
    /// What to send after the provider found the history malformed.
    fn after_complaint<'a>(&'a self, ticket: &'a Ticket, words: &'a str) -> Advice<'a, Option<Outgoing>>;
    /// The answer is through.
    fn answered(&self, ticket: Ticket, usage: Option<Usage>);
    /// How it goes, for people to look at; `None` from whoever does not know.
    fn overview(&self) -> Option<Overview> {
        None
    }
    /// Where what was compacted away is kept; `None` from whoever keeps nothing.
    fn archive(&self) -> Option<Archive> {
        None
    }
}

impl Counsel for Keeper {
    fn prepare(&self, incoming: Incoming) -> Advice<'_, Outgoing> {
        Box::pin(Keeper::prepare(self, incoming))
    }

    fn after_overflow<'a>(&'a self, ticket: &'a Ticket, words: &'a str) -> Advice<'a, Option<Outgoing>> {
        Box::pin(Keeper::after_overflow(self, ticket, words))
    }

    fn after_complaint<'a>(&'a self, ticket: &'a Ticket, words: &'a str) -> Advice<'a, Option<Outgoing>> {
        Box::pin(Keeper::after_complaint(self, ticket, words))
    }

    fn answered(&self, ticket: Ticket, usage: Option<Usage>) {
        Keeper::answered(self, ticket, usage);
    }

    fn overview(&self) -> Option<Overview> {
        Some(Keeper::overview(self))
    }

    fn archive(&self) -> Option<Archive> {
        Some(Keeper::archive(self))
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
pub enum Silence {
    /// It broke.
    Panicked,
    /// It took too long.
    TooSlow,
    /// Too many questions are under way.
    Busy,
}

impl Silence {
    /// In a word, for headers, logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Silence::Panicked => "panic",
            Silence::TooSlow => "too-slow",
            Silence::Busy => "busy",
        }
    }
}

/// Which complaint of a provider the keeper is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Complaint {
    /// The prompt is too long.
    Overflow,
    /// Calls and results do not belong together.
    Malformed,
}

/// Where the keeper is asked.
#[derive(Clone)]
pub struct Desk {
    counsel: Arc<dyn Counsel>,
    asked: Arc<Semaphore>,
    patience: Duration,
}

impl Desk {
    /// A desk at which nobody waits longer than this.
    pub fn new(counsel: Arc<dyn Counsel>, patience: Duration) -> Self {
        Self {
            counsel,
            asked: Arc::new(Semaphore::new(MOST_ASKED)),
            patience,
        }
    }

    /// What to send for a request: what came, where there is no answer.
    pub async fn prepare(&self, incoming: Incoming) -> (Outgoing, Option<Silence>) {
        let body = incoming.body.clone();
        let asked = self.ask(self.patience + MARGIN, move |counsel, handle| {
            handle.block_on(counsel.prepare(incoming))
        });
        match asked.await {
            Ok(outgoing) => (outgoing, None),
            Err(silence) => {
                let note = Note {
                    deed: Deed::FailedOpen,
                    reason: Some(silence.name().to_owned()),
                    ..Note::default()
                };
                let outgoing = Outgoing {
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
    pub async fn after(&self, complaint: Complaint, ticket: &Ticket, words: &str) -> Result<Option<Outgoing>, Silence> {
        let (ticket, words) = (ticket.clone(), words.to_owned());
        self.ask(self.patience.max(MENDING), move |counsel, handle| match complaint {
            Complaint::Overflow => handle.block_on(counsel.after_overflow(&ticket, &words)),
            Complaint::Malformed => handle.block_on(counsel.after_complaint(&ticket, &words)),
        })
        .await
    }

    /// Tells the keeper that an answer is through. Nobody waits for it.
    pub fn answered(&self, ticket: Ticket, usage: Option<Usage>) {
        let Ok(permit) = Arc::clone(&self.asked).try_acquire_owned() else {
            return;
        };
        let counsel = Arc::clone(&self.counsel);
        // A stream may end after the runtime did; then there is nobody left to be told.
        if let Ok(handle) = Handle::try_current() {
            handle.spawn_blocking(move || {
                counsel.answered(ticket, usage);
                drop(permit);
            });
        }
    }

    /// How it goes, for people to look at.
    pub async fn overview(&self) -> Result<Option<Overview>, Silence> {
        self.ask(self.patience + MARGIN, |counsel, _| counsel.overview()).await
    }

    async fn ask<T: Send + 'static>(
        &self,
        patience: Duration,
        question: impl FnOnce(&dyn Counsel, &Handle) -> T + Send + 'static,
    ) -> Result<T, Silence> {
        let Ok(permit) = Arc::clone(&self.asked).try_acquire_owned() else {
            return Err(Silence::Busy);
        };
        let counsel = Arc::clone(&self.counsel);
        let handle = Handle::current();
        let asked = tokio::task::spawn_blocking(move || {
            let answer = question(&*counsel, &handle);
            drop(permit);
            answer
        });
        match timeout(patience, asked).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(Silence::Panicked),
            Err(_) => Err(Silence::TooSlow),
        }
    }
}
