//! How many requests are under way at an endpoint at once: as many as it takes without pushing back.
//!
//! The number grows by one after as many successes as it counts and is halved when the provider pushes back (rate limit,
//! overload, timeout), once for all requests that were under way then. Whoever comes first goes first. A wait that the
//! provider asks for holds back everybody. Dropping a pass, or the future that waits for one, gives the place back.

use std::future::pending;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio::time::timeout_at;

use crate::retry::moment_after;

/// How many requests are let in before anything is known of the endpoint; every provider's lowest tier takes as many.
const FIRST: usize = 4;

/// The longest that one answer closes the gate; limits are counted by the minute or by the day, and a day is looked at again.
const LONGEST_PAUSE: Duration = Duration::from_secs(3_600);

/// The door of one endpoint.
#[derive(Debug)]
pub struct Gate {
    places: Arc<Semaphore>,
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// How many may be under way.
    allowed: usize,
    /// Places to be taken away as soon as they come back.
    owed: usize,
    /// Successes since the number last changed.
    well: usize,
    /// Counts the times that the number was halved.
    epoch: u64,
    /// Nobody goes before this.
    closed_until: Option<Instant>,
}

/// How a request went, as far as the number of requests is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was answered.
    Well,
    /// The provider had too much to do, and perhaps said for how long.
    PushedBack(Option<Duration>),
    /// It says nothing about load.
    Neither,
}

impl Gate {
    /// A gate that lets at most this many in, and a few to begin with.
    pub fn new(most: usize) -> Arc<Self> {
        let most = most.max(1);
        let allowed = FIRST.min(most);
        Arc::new(Self {
            places: Arc::new(Semaphore::new(allowed)),
            most,
            state: Mutex::new(State {
                allowed,
                owed: 0,
                well: 0,
                epoch: 0,
                closed_until: None,
            }),
        })
    }

    /// Waits for a place. Where the provider asked everybody to wait longer than this, says how long instead.
    pub async fn enter(self: &Arc<Self>, most_wait: Duration) -> Result<Pass, Duration> {
        let permit = Arc::clone(&self.places).acquire_owned().await;
        let permit = permit.expect("nobody closes the semaphore");
        let mut pass = Pass {
            gate: Arc::clone(self),
            permit: Some(permit),
            epoch: 0,
        };
        while let Some(until) = self.closed_until() {
            let left = until.saturating_duration_since(Instant::now());
            if left > most_wait {
                return Err(left);
            }
            let _elapsed = timeout_at(until, pending::<()>()).await;
        }
        pass.epoch = self.state().epoch;
        Ok(pass)
    }

    /// How many may be under way now.
    pub fn allowed(&self) -> usize {
        self.state().allowed
    }

    fn closed_until(&self) -> Option<Instant> {
        self.state().closed_until.filter(|until| *until > Instant::now())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics between two changes of the state, so a poisoned one is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn went_well(&self) {
        let mut state = self.state();
        state.well += 1;
        if state.well < state.allowed || state.allowed >= self.most {
            return;
        }
        state.well = 0;
        state.allowed += 1;
        if state.owed > 0 {
            state.owed -= 1;
        } else {
            self.places.add_permits(1);
        }
    }

    fn was_pushed_back(&self, epoch: u64, wait: Option<Duration>) {
        let mut state = self.state();
        if let Some(wait) = wait {
            let until = moment_after(wait.min(LONGEST_PAUSE));
            state.closed_until = state.closed_until.max(Some(until));
        }
        if epoch != state.epoch {
            return;
        }
        state.epoch += 1;
        state.well = 0;
        let fewer = (state.allowed / 2).max(1);
        state.owed += state.allowed - fewer;
        state.allowed = fewer;
        state.owed -= self.places.forget_permits(state.owed);
    }
}

/// A place; it is free again when this is dropped.
#[derive(Debug)]
pub struct Pass {
    gate: Arc<Gate>,
    permit: Option<OwnedSemaphorePermit>,
    epoch: u64,
}

impl Pass {
    /// Gives the place back and says how it went.
    pub fn leave(self, verdict: Verdict) {
        match verdict {
            Verdict::Well => self.gate.went_well(),
            Verdict::PushedBack(wait) => self.gate.was_pushed_back(self.epoch, wait),
            Verdict::Neither => {}
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut state = self.gate.state();
        let Some(permit) = self.permit.take() else { return };
        if state.owed > 0 {
            state.owed -= 1;
            permit.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::Context;
    use std::task::Poll;
    use std::task::Waker;

    use super::*;

    /// The pass, if there is one at once.
    fn try_enter(gate: &Arc<Gate>) -> Option<Pass> {
        let mut context = Context::from_waker(Waker::noop());
        match pin!(gate.enter(Duration::ZERO)).poll(&mut context) {
            Poll::Ready(pass) => pass.ok(),
            Poll::Pending => None,
        }
    }

    fn fill(gate: &Arc<Gate>) -> Vec<Pass> {
        std::iter::from_fn(|| try_enter(gate)).collect()
    }

    #[test]
    fn the_number_grows_by_one_a_window_up_to_its_limit() {
        let gate = Gate::new(6);
        for expected in [5, 6, 6] {
            for pass in fill(&gate) {
                pass.leave(Verdict::Well);
            }
            assert_eq!(gate.allowed(), expected);
            assert_eq!(fill(&gate).len(), expected);
        }
        assert_eq!(fill(&Gate::new(0)).len(), 1);
    }

    #[test]
    fn a_burst_of_refusals_halves_it_once() {
        let gate = Gate::new(16);
        let passes = fill(&gate);
        assert_eq!(passes.len(), 4);
        for pass in passes {
            pass.leave(Verdict::PushedBack(None));
        }
        assert_eq!((gate.allowed(), fill(&gate).len()), (2, 2));
        for expected in [1, 1] {
            let pass = fill(&gate).remove(0);
            pass.leave(Verdict::PushedBack(None));
            assert_eq!((gate.allowed(), fill(&gate).len()), (expected, expected));
        }
    }

    #[test]
    fn places_are_given_back_whatever_happens() {
        let gate = Gate::new(16);
        let mut held = fill(&gate);
        held.pop().unwrap().leave(Verdict::PushedBack(None));
        // Three are still under way and two are allowed.
        assert!(try_enter(&gate).is_none());
        drop(held.pop());
        assert!(try_enter(&gate).is_none());
        drop(held.pop());
        assert!(try_enter(&gate).is_some());
        drop(held);
        assert_eq!(fill(&gate).len(), 2);
    }

    #[test]
    fn whoever_gave_up_waiting_holds_no_place() {
        let gate = Gate::new(1);
        let pass = try_enter(&gate).unwrap();
        {
            let mut context = Context::from_waker(Waker::noop());
            let mut waiting = pin!(gate.enter(Duration::ZERO));
            assert!(waiting.as_mut().poll(&mut context).is_pending());
            drop(pass);
        }
        assert!(try_enter(&gate).is_some());
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_wait_that_was_asked_for_holds_back_everybody_and_then_nobody() {
        let gate = Gate::new(16);
        let second = Duration::from_secs(1);
        let pass = gate.enter(second).await.unwrap();
        pass.leave(Verdict::PushedBack(Some(Duration::from_millis(20))));
        let until = gate.closed_until().unwrap();
        let pass = gate.enter(second).await.unwrap();
        assert!(Instant::now() >= until);
        pass.leave(Verdict::PushedBack(Some(60 * second)));
        assert!(gate.enter(second).await.is_err_and(|left| left > 50 * second));
        assert_eq!(gate.places.available_permits(), gate.allowed());
    }
}
