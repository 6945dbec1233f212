//! Passes that do not help must not be repeated for ever.
//!
//! A pass is judged by the next prompt that the provider reports: still at the threshold, it did not help. Two
//! such passes in a row open a breaker for a while; then one probe is allowed. Failures of a summariser have a
//! cooldown of their own. The host gives the time; nothing here reads a clock.

use serde::Deserialize;
use serde::Serialize;

use crate::transcript::Timestamp;

/// This many passes in a row that did not help open the breaker.
const STRIKES: u8 = 2;
/// How long the breaker stays open, in milliseconds.
const PAUSE: i64 = 300_000;

/// What earlier passes taught.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thrash {
    strikes: u8,
    /// A pass was made and waits for its verdict.
    awaits: bool,
    blocked_until: Option<i64>,
}

impl Thrash {
    /// A pass was adopted.
    pub fn passed(&mut self) {
        self.awaits = true;
    }

    /// The provider reported a prompt: did the last pass help?
    pub fn reported(&mut self, prompt: u64, threshold: u64, now: Timestamp) {
        if !std::mem::take(&mut self.awaits) {
            return;
        }
        if prompt < threshold {
            *self = Self::default();
            return;
        }
        self.strikes = self.strikes.saturating_add(1);
        if self.strikes >= STRIKES {
            self.blocked_until = Some(now.0.saturating_add(PAUSE));
        }
    }

    /// Something that a pass needs failed; nothing is tried for this many milliseconds.
    pub fn failed(&mut self, now: Timestamp, pause: i64) {
        let until = now.0.saturating_add(pause);
        self.blocked_until = Some(self.blocked_until.map_or(until, |blocked| blocked.max(until)));
    }

    /// Why no automatic pass may be made now, if so. A forced one is not asked.
    pub fn refusal(&self, now: Timestamp) -> Option<String> {
        let until = self.blocked_until?;
        let left = until.saturating_sub(now.0);
        if left <= 0 {
            return None;
        }
        let seconds = (left + 999) / 1000;
        Some(if self.strikes >= STRIKES {
            format!(
                "the last {} passes did not bring the prompt below the threshold; next try in {seconds} s",
                self.strikes
            )
        } else {
            format!("a pass failed; next try in {seconds} s")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_passes_that_do_not_help_open_the_breaker_for_a_while() {
        let mut thrash = Thrash::default();
        for round in 0..2 {
            assert_eq!(thrash.refusal(Timestamp(0)), None, "round {round}");
            thrash.passed();
            thrash.reported(120, 100, Timestamp(1_000));
        }
        assert!(
            thrash
                .refusal(Timestamp(2_000))
                .is_some_and(|reason| reason.contains("300 s") || reason.contains("299 s"))
        );
        assert_eq!(thrash.refusal(Timestamp(301_000)), None, "one probe is allowed");
        thrash.passed();
        thrash.reported(150, 100, Timestamp(302_000));
        assert!(
            thrash.refusal(Timestamp(303_000)).is_some(),
            "the probe did not help either"
        );
    }

    #[test]
    fn a_pass_that_helps_forgives() {
        let mut thrash = Thrash::default();
        thrash.passed();
        thrash.reported(120, 100, Timestamp(0));
        thrash.passed();
        thrash.reported(60, 100, Timestamp(0));
        assert_eq!(thrash, Thrash::default());
    }

    #[test]
    fn a_report_without_a_pass_says_nothing() {
        let mut thrash = Thrash::default();
        thrash.reported(500, 100, Timestamp(0));
        assert_eq!(thrash, Thrash::default());
    }

    #[test]
    fn failures_have_a_cooldown() {
        let mut thrash = Thrash::default();
        thrash.failed(Timestamp(0), 60_000);
        assert!(thrash.refusal(Timestamp(59_000)).is_some());
        assert_eq!(thrash.refusal(Timestamp(60_000)), None);
    }
}
