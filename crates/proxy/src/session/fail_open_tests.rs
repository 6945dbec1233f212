//! A session that is too slow, or panics, in the middle of a pass: who finishes the request, and with what.

use std::sync::Condvar;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::time::Instant;

use bytes::Bytes;
use mainstay_wire::reading::WireForm;

use super::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    InTime,
    TooSlow,
    Panics,
}

/// Begins a pass for every request; counts how often one is finished.
struct Passing {
    pass: Pass,
    finished: Arc<AtomicUsize>,
    /// Whether a pass that is too slow may end.
    may_end: Arc<(Mutex<bool>, Condvar)>,
}

impl SessionBackend for Passing {
    fn prepare(&self, incoming: IncomingRequest, slot: &FallbackSlot<OutgoingRequest>) -> OutgoingRequest {
        let finished = Arc::clone(&self.finished);
        let patience = match self.pass {
            Pass::InTime | Pass::Panics => Duration::from_secs(600),
            Pass::TooSlow => Duration::from_millis(1),
        };
        slot.fill(Instant::now().checked_add(patience), move |end| {
            finished.fetch_add(1, Ordering::SeqCst);
            let mut outgoing = OutgoingRequest::as_it_came(incoming.body, RequestAction::KnownPrefix, "");
            end.note(&mut outgoing.note, "due", patience);
            outgoing
        });
        match self.pass {
            Pass::InTime => {}
            Pass::TooSlow => {
                let (lock, changed) = &*self.may_end;
                let waited = changed.wait_while(lock.lock().unwrap(), |may_end| !*may_end);
                drop(waited.unwrap());
            }
            Pass::Panics => panic!("planted"),
        }
        match slot.take() {
            Some(fallback) => fallback.finish(PassEnd::Made),
            None => OutgoingRequest::as_it_came(Bytes::new(), RequestAction::Nothing, "nobody reads this"),
        }
    }

    fn after_overflow(
        &self,
        _: &RequestTicket,
        _: &str,
        _: &FallbackSlot<Option<OutgoingRequest>>,
    ) -> Option<OutgoingRequest> {
        None
    }

    fn after_complaint(&self, _: &RequestTicket, _: &str) -> Option<OutgoingRequest> {
        None
    }

    fn answered(&self, _: RequestTicket, _: Option<Usage>) {}
}

fn incoming() -> IncomingRequest {
    IncomingRequest {
        form: WireForm::Chat,
        body: Bytes::from_static(b"{}"),
        tenant: String::new(),
        pinned: None,
        only_counts: false,
    }
}

#[tokio::test]
async fn whoever_is_first_finishes_the_request_and_nobody_does_it_twice() {
    for (pass, deed, reason) in [
        (Pass::InTime, RequestAction::Compacted, "due"),
        (
            Pass::TooSlow,
            RequestAction::FailedOpen,
            "the pass takes longer than 1 ms and goes on without us",
        ),
        (Pass::Panics, RequestAction::FailedOpen, "the pass broke off"),
    ] {
        let finished = Arc::new(AtomicUsize::new(0));
        let may_end = Arc::new((Mutex::new(false), Condvar::new()));
        let backend = Arc::new(Passing {
            pass,
            finished: Arc::clone(&finished),
            may_end: Arc::clone(&may_end),
        });
        let caller = FailOpenCaller::new(backend, Duration::from_secs(600));
        let (outgoing, failure) = caller.prepare(incoming()).await;
        assert_eq!(failure, None, "{pass:?}: what was learnt is not lost");
        assert_eq!(outgoing.body, "{}", "{pass:?}");
        assert_eq!(outgoing.note.deed, deed, "{pass:?}");
        assert_eq!(outgoing.note.reason.as_deref(), Some(reason), "{pass:?}");
        *may_end.0.lock().unwrap() = true;
        may_end.1.notify_all();
        // Every call is over, also the one whose pass went on.
        while caller.calls.available_permits() < MOST_CALLS {
            tokio::task::yield_now().await;
        }
        assert_eq!(finished.load(Ordering::SeqCst), 1, "{pass:?}");
    }
}

#[tokio::test]
async fn passes_that_go_on_alone_leave_room_for_other_calls() {
    let may_end = Arc::new((Mutex::new(false), Condvar::new()));
    let backend = Arc::new(Passing {
        pass: Pass::TooSlow,
        finished: Arc::default(),
        may_end: Arc::clone(&may_end),
    });
    let caller = FailOpenCaller::new(backend, Duration::from_secs(600));
    for _ in 0..MOST_CALLS + 2 {
        let (_, failure) = caller.prepare(incoming()).await;
        assert_eq!(failure, None);
    }
    *may_end.0.lock().unwrap() = true;
    may_end.1.notify_all();
}
