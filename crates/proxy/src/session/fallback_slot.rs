//! What is sent where the session takes too long, or panics, after it has learnt the conversation.
//!
//! The session works on one thread: it learns, decides, makes a pass and composes what goes out. Before a pass begins it leaves in
//! the slot what else can be sent and until when the pass may take. Then whoever is first takes it out: the session, whose pass
//! is made, or the caller, whose time is over. So a request is composed and counted exactly once, and a pass that comes too late
//! for its request is still in force for the next one.

use std::future::pending;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Instant;

use tokio::sync::Notify;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout_at;

use crate::session::pass_end::PassEnd;

/// Where a session leaves what can be sent in any case. Clones are the same slot.
pub struct FallbackSlot<T>(Arc<SlotContent<T>>);

struct SlotContent<T> {
    held: Mutex<Held<T>>,
    is_filled: Notify,
}

struct Held<T> {
    fallback: Option<Fallback<T>>,
    /// Until it is taken out: a caller that has left for good is no longer counted, though its pass goes on.
    permit: Option<OwnedSemaphorePermit>,
}

/// Finishes a request for which a pass was begun.
pub struct Fallback<T> {
    finish: Box<dyn FnOnce(PassEnd) -> T + Send>,
    /// `None`: the caller waits as long as it takes.
    deadline: Option<Instant>,
    permit: Option<OwnedSemaphorePermit>,
}

impl<T> Clone for FallbackSlot<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for FallbackSlot<T> {
    /// A slot from which only the session itself takes anything: its caller waits as long as it takes.
    fn default() -> Self {
        Self::new(None)
    }
}

impl<T> FallbackSlot<T> {
    /// A slot that holds a permit until the request is finished, or until the session is done with the slot.
    pub(super) fn holding(permit: OwnedSemaphorePermit) -> Self {
        Self::new(Some(permit))
    }

    fn new(permit: Option<OwnedSemaphorePermit>) -> Self {
        Self(Arc::new(SlotContent {
            held: Mutex::new(Held { fallback: None, permit }),
            is_filled: Notify::new(),
        }))
    }

    fn held(&self) -> MutexGuard<'_, Held<T>> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A pass begins; this finishes the request however it ends, and at the latest at the deadline.
    pub(super) fn fill(&self, deadline: Option<Instant>, finish: impl FnOnce(PassEnd) -> T + Send + 'static) {
        let mut held = self.held();
        let permit = held.permit.take();
        held.fallback = Some(Fallback {
            finish: Box::new(finish),
            deadline,
            permit,
        });
        drop(held);
        self.0.is_filled.notify_one();
    }

    /// Takes out what is in it; `None` where nothing is, or somebody else was first.
    pub(super) fn take(&self) -> Option<Fallback<T>> {
        self.held().fallback.take()
    }

    /// Waits until the deadline of what is in it has passed, and takes it out. Never ready where the session was first.
    pub(super) async fn overdue(&self) -> Fallback<T> {
        self.0.is_filled.notified().await;
        let deadline = self.held().fallback.as_ref().and_then(|fallback| fallback.deadline);
        if let Some(deadline) = deadline {
            // Nothing else is waited for but the time.
            let _passed = timeout_at(deadline.into(), pending::<()>()).await;
            if let Some(fallback) = self.take() {
                return fallback;
            }
        }
        pending().await
    }
}

impl<T> Fallback<T> {
    /// What is sent, now that it is known how the pass ended.
    pub(super) fn finish(self, end: PassEnd) -> T {
        let Fallback { finish, permit, .. } = self;
        let finished = finish(end);
        drop(permit);
        finished
    }
}
