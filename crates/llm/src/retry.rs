//! How often and how long to wait for a model that may come to its senses.
//!
//! Waits grow twofold and are drawn evenly from nothing up to their length, so that many clients do not come back at once.
//! A wait that the provider asks for is kept to, or, where it is too long, the model is given up.

use std::time::Duration;

use tokio::time::Instant;

use crate::error::Failure;

/// How much patience there is with one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// How often it is asked, the first time included.
    pub attempts: u32,
    /// The longest wait before the second attempt; it doubles from there.
    pub first: Duration,
    /// The longest wait before any attempt.
    pub most: Duration,
    /// The longest wait at the provider's request.
    pub most_wait: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            // Three retries outlast what passes within seconds; anything longer is better served by the next model.
            attempts: 4,
            first: Duration::from_millis(500),
            most: Duration::from_secs(30),
            // Rate limits are counted by the minute.
            most_wait: Duration::from_secs(60),
        }
    }
}

impl Patience {
    /// How long to wait after this attempt, the first being 1, failed like this; `None` when it is no use to go on.
    pub fn wait(&self, attempt: u32, failure: &Failure, jitter: &mut Jitter) -> Option<Duration> {
        if attempt >= self.attempts || !failure.may_pass() {
            return None;
        }
        let doubled = self
            .first
            .saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1)));
        let drawn = jitter.up_to(doubled.min(self.most));
        match failure.retry_after {
            None => Some(drawn),
            Some(asked) if asked > self.most_wait => None,
            // Spread behind the moment that everybody was told.
            Some(asked) => Some(asked.saturating_add(drawn.min(self.first))),
        }
    }
}

/// The moment after this much time. Configurations say "never" with all sorts of large numbers; a century will do.
pub(crate) fn moment_after(wait: Duration) -> Instant {
    Instant::now() + wait.min(Duration::from_secs(100 * 366 * 86_400))
}

/// Numbers that look random: the same seed gives the same ones.
#[derive(Clone, Debug)]
pub struct Jitter(u64);

impl Jitter {
    /// A source of numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A duration below this one.
    pub fn up_to(&mut self, most: Duration) -> Duration {
        // SplitMix64: one addition and three mixings; every seed is good.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        // 53 bits are what a float holds exactly.
        let share = (mixed >> 11) as f64 / (1_u64 << 53) as f64;
        most.mul_f64(share)
    }
}

#[cfg(test)]
mod tests {
    use mainstay_wire::reading::WireForm;

    use super::*;
    use crate::error::Cause;
    use crate::error::Trouble;
    use crate::model::Endpoint;
    use crate::model::Model;

    fn failure(cause: Cause) -> Failure {
        let endpoint = Endpoint::new("e", "http://localhost", WireForm::Chat);
        Failure::new(&Model::new("m", "m", endpoint, 1, 1), Trouble::new(cause, ""))
    }

    #[test]
    fn waits_double_up_to_their_limit_and_are_spread() {
        let patience = Patience {
            attempts: 20,
            ..Patience::default()
        };
        let failure = failure(Cause::Overloaded);
        let mut jitter = Jitter::new(7);
        for (attempt, most) in [(1, 500), (2, 1_000), (3, 2_000), (7, 30_000), (19, 30_000)] {
            let waits: Vec<_> = (0..200)
                .filter_map(|_| patience.wait(attempt, &failure, &mut jitter))
                .collect();
            assert_eq!(waits.len(), 200);
            let most = Duration::from_millis(most);
            assert!(waits.iter().all(|wait| *wait < most), "{attempt}");
            assert!(waits.iter().any(|wait| *wait > most / 2) && waits.iter().any(|wait| *wait < most / 2));
        }
        assert_eq!(patience.wait(20, &failure, &mut jitter), None);
    }

    #[test]
    fn what_does_not_pass_is_not_waited_for() {
        let patience = Patience::default();
        for cause in [
            Cause::Unauthorized,
            Cause::TooLong,
            Cause::BadRequest(400),
            Cause::NotRecorded,
        ] {
            assert_eq!(patience.wait(1, &failure(cause), &mut Jitter::new(1)), None);
        }
    }

    #[test]
    fn a_wait_that_was_asked_for_is_kept_to_or_refused() {
        let patience = Patience::default();
        let mut failure = failure(Cause::RateLimited);
        failure.retry_after = Some(Duration::from_secs(20));
        let wait = patience.wait(1, &failure, &mut Jitter::new(1)).unwrap();
        assert!(wait >= Duration::from_secs(20) && wait <= Duration::from_millis(20_500));
        failure.retry_after = Some(Duration::from_secs(61));
        assert_eq!(patience.wait(1, &failure, &mut Jitter::new(1)), None);
    }

    #[test]
    fn the_same_seed_gives_the_same_waits() {
        let draw = |seed| {
            (0..5)
                .map(|_| Jitter::new(seed).up_to(Duration::MAX / 4))
                .collect::<Vec<_>>()
        };
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
    }
}
