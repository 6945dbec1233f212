//! How much room there is, and where the lines are.
//!
//! A budget is made anew whenever a model may change: it follows the smallest window of the models that may
//! serve the next request.

use serde::Deserialize;
use serde::Serialize;

use crate::account::model;

/// From this window on, half of it is the threshold; below, three quarters.
const LARGE_WINDOW: u64 = 512_000;
/// The threshold's share of a large window.
const LARGE_SHARE: f64 = 0.50;
/// The threshold's share of a smaller window.
const SMALL_SHARE: f64 = 0.75;
/// The tail's share of the threshold.
const TAIL_SHARE: f64 = 0.20;
/// Without a figure of its own, a model's answer gets at most this part of its window.
const OUTPUT_SHARE: u64 = 4;

/// A model that may serve the next request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelLimits {
    /// Its name.
    pub name: String,
    /// Its window.
    pub window: u64,
    /// What is reserved for its answer.
    pub output: u64,
}

impl ModelLimits {
    /// The limits of a model by its name, as far as they are known.
    pub fn of(name: &str) -> Self {
        let facts = model::facts(name);
        Self {
            name: name.to_owned(),
            window: facts.window,
            output: facts.output,
        }
    }

    /// The same model with another window; the output reservation shrinks with it where it must.
    pub fn with_window(self, window: u64) -> Self {
        Self {
            window,
            output: self.output.min(window / OUTPUT_SHARE),
            ..self
        }
    }
}

/// The settings a budget is made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BudgetPolicy {
    /// The threshold's share of the window; by default 0.50 from 512k on and 0.75 below.
    pub threshold: Option<f64>,
    /// The same for models whose name holds this; the longest match wins.
    pub model_thresholds: Vec<(String, f64)>,
    /// The tail's share of the threshold.
    pub tail: f64,
    /// What is reserved for the answer; by default the model's usual figure.
    pub output: Option<u64>,
}

impl Default for BudgetPolicy {
    fn default() -> Self {
        Self {
            threshold: None,
            model_thresholds: Vec::new(),
            tail: TAIL_SHARE,
            output: None,
        }
    }
}

/// How much room there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The model with the smallest room: all figures follow it.
    pub model: String,
    /// Its window.
    pub window: u64,
    /// What is reserved for the answer.
    pub output: u64,
    /// From here on a compaction is due.
    pub threshold: u64,
    /// How much of the newest history is kept verbatim.
    pub tail: u64,
}

/// Settings from which no budget can be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetError {
    /// There is no model to make it for.
    #[error("no model to make a budget for")]
    NoModel,
    /// A share that is not between zero and one.
    #[error("{name} must be above 0 and at most 1, not {value}")]
    Share {
        /// Which setting.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// A window that leaves no room for a prompt.
    #[error("a window of {window} tokens leaves no room for a prompt beside {output} tokens of output")]
    NoRoom {
        /// The window.
        window: u64,
        /// The output reservation.
        output: u64,
    },
}

impl Budget {
    /// The budget for a chain of models, the first being the one in use, the others its fallbacks.
    pub fn new(chain: &[ModelLimits], policy: &BudgetPolicy) -> Result<Self, BudgetError> {
        let room = |limits: &ModelLimits| limits.window.saturating_sub(policy.output.unwrap_or(limits.output));
        let smallest = chain
            .iter()
            .min_by_key(|limits| room(limits))
            .ok_or(BudgetError::NoModel)?;
        let output = policy.output.unwrap_or(smallest.output);
        let window = smallest.window;
        if output >= window {
            return Err(BudgetError::NoRoom { window, output });
        }
        let share = policy.share_for(&smallest.name, window);
        check_share("the threshold", share)?;
        check_share("the tail", policy.tail)?;
        let threshold = ((window as f64 * share) as u64).min(window - output).max(1);
        Ok(Self {
            model: smallest.name.clone(),
            window,
            output,
            threshold,
            tail: (threshold as f64 * policy.tail) as u64,
        })
    }

    /// The share of the window that a prompt of this size takes.
    pub fn fill(&self, tokens: u64) -> f64 {
        tokens as f64 / self.window as f64
    }
}

impl BudgetPolicy {
    fn share_for(&self, model: &str, window: u64) -> f64 {
        let own = self
            .model_thresholds
            .iter()
            .filter(|(part, _)| model.contains(part.as_str()))
            .max_by_key(|(part, _)| part.len());
        let default = if window >= LARGE_WINDOW {
            LARGE_SHARE
        } else {
            SMALL_SHARE
        };
        own.map(|(_, share)| *share).or(self.threshold).unwrap_or(default)
    }
}

fn check_share(name: &'static str, value: f64) -> Result<(), BudgetError> {
    if value > 0.0 && value <= 1.0 {
        Ok(())
    } else {
        Err(BudgetError::Share { name, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(name: &str, window: u64) -> ModelLimits {
        ModelLimits {
            name: name.to_owned(),
            window,
            output: 8_000,
        }
    }

    #[test]
    fn the_default_threshold_changes_at_512k() {
        for (window, threshold) in [(511_999, 383_999), (512_000, 256_000), (200_000, 150_000)] {
            let budget = Budget::new(&[limits("m", window)], &BudgetPolicy::default()).unwrap();
            assert_eq!(budget.threshold, threshold, "window {window}");
            assert_eq!(budget.tail, threshold / 5);
        }
    }

    #[test]
    fn the_smallest_room_of_the_chain_decides() {
        let chain = [
            limits("big", 1_000_000),
            limits("small", 128_000),
            limits("middle", 200_000),
        ];
        let budget = Budget::new(&chain, &BudgetPolicy::default()).unwrap();
        assert_eq!((budget.model.as_str(), budget.threshold), ("small", 96_000));
        let switched = Budget::new(&chain[..1], &BudgetPolicy::default()).unwrap();
        assert_eq!(switched.threshold, 500_000);
    }

    #[test]
    fn a_model_may_have_its_own_threshold() {
        let policy = BudgetPolicy {
            threshold: Some(0.6),
            model_thresholds: vec![("claude".into(), 0.4), ("claude-opus".into(), 0.3)],
            ..BudgetPolicy::default()
        };
        for (name, threshold) in [
            ("gpt", 60_000),
            ("claude-haiku", 40_000),
            ("anthropic/claude", 40_000),
            ("claude-opus-5", 30_000),
        ] {
            let budget = Budget::new(&[limits(name, 100_000)], &policy).unwrap();
            assert_eq!(budget.threshold, threshold, "{name}");
        }
    }

    #[test]
    fn the_threshold_leaves_room_for_the_answer() {
        let policy = BudgetPolicy {
            threshold: Some(1.0),
            output: Some(30_000),
            ..BudgetPolicy::default()
        };
        let budget = Budget::new(&[limits("m", 100_000)], &policy).unwrap();
        assert_eq!(budget.threshold, 70_000);
    }

    #[test]
    fn nonsense_is_refused_in_words() {
        let policy = |threshold| BudgetPolicy {
            threshold: Some(threshold),
            ..BudgetPolicy::default()
        };
        for bad in [0.0, -1.0, 1.1, f64::NAN] {
            assert!(Budget::new(&[limits("m", 100_000)], &policy(bad)).is_err(), "{bad}");
        }
        assert_eq!(Budget::new(&[], &policy(0.5)), Err(BudgetError::NoModel));
        let tight = Budget::new(&[limits("m", 8_000)], &BudgetPolicy::default()).unwrap_err();
        assert_eq!(
            tight.to_string(),
            "a window of 8000 tokens leaves no room for a prompt beside 8000 tokens of output"
        );
    }
}
