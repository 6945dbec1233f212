//! Correcting our counts with what providers report.
//!
//! A reported prompt is our count times something (the tokenizer differs) plus something (the system prompt
//! and tools that a session log does not show). Both are fitted by least squares over what was observed,
//! with older observations fading. Pure arithmetic: the store keeps one [`Calibration`] a model.

use serde::Deserialize;
use serde::Serialize;

use crate::account::units::CountedTokens;
use crate::account::units::ProviderTokens;

/// How much an observation counts after each later one: half after about 70 requests.
const FADE: f64 = 0.99;
/// A slope needs this many observations.
const LEAST_OBSERVATIONS: f64 = 4.0;
/// Slopes outside of this range mean that the count and the report are not about the same thing.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.5..=2.5;

/// A running fit of reported tokens over counted ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    weight: f64,
    sum_counted: f64,
    sum_reported: f64,
    sum_counted_squared: f64,
    sum_product: f64,
}

/// What a calibration says: reported = `scale` × counted + `fixed`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Tokens reported per token counted.
    pub scale: f64,
    /// Tokens that every request has beside what was counted.
    pub fixed: f64,
}

impl Calibration {
    /// Takes note of one request: what we counted for its prompt, and what the provider reported.
    pub fn observe(&mut self, counted: u64, reported: u64) {
        if counted == 0 || reported == 0 {
            return;
        }
        let (x, y) = (counted as f64, reported as f64);
        for sum in [
            &mut self.weight,
            &mut self.sum_counted,
            &mut self.sum_reported,
            &mut self.sum_counted_squared,
            &mut self.sum_product,
        ] {
            *sum *= FADE;
        }
        self.weight += 1.0;
        self.sum_counted += x;
        self.sum_reported += y;
        self.sum_counted_squared += x * x;
        self.sum_product += x * y;
    }

    /// The fit so far. Without enough to tell a slope from an offset, the scale is one and the offset is
    /// the mean difference; without anything, the count stands as it is.
    pub fn fit(&self) -> Fit {
        if self.weight == 0.0 {
            return Fit { scale: 1.0, fixed: 0.0 };
        }
        let mean_counted = self.sum_counted / self.weight;
        let mean_reported = self.sum_reported / self.weight;
        let variance = self.sum_counted_squared / self.weight - mean_counted * mean_counted;
        let covariance = self.sum_product / self.weight - mean_counted * mean_reported;
        // The counts must have moved by a tenth of their mean before a slope can be told.
        let spread_enough = variance > (0.1 * mean_counted).powi(2);
        if self.weight >= LEAST_OBSERVATIONS * FADE.powi(3) && spread_enough {
            let scale = covariance / variance;
            let fixed = mean_reported - scale * mean_counted;
            if PLAUSIBLE.contains(&scale) && fixed >= 0.0 {
                return Fit { scale, fixed };
            }
            // An offset below zero is noise: fit a line through the origin instead. Reports that fall while
            // counts rise are about something else, and no line fits them.
            let scale = self.sum_product / self.sum_counted_squared;
            if covariance > 0.0 && PLAUSIBLE.contains(&scale) {
                return Fit { scale, fixed: 0.0 };
            }
        }
        Fit {
            scale: 1.0,
            fixed: (mean_reported - mean_counted).max(0.0),
        }
    }

    /// How many observations it holds, faded ones counting less.
    pub fn weight(&self) -> f64 {
        self.weight
    }
}

impl Fit {
    /// Says that a count is what it is.
    pub const IDENTITY: Self = Self { scale: 1.0, fixed: 0.0 };

    /// The tokens the provider would report for a prompt of this count.
    pub fn apply(&self, counted: CountedTokens) -> ProviderTokens {
        ProviderTokens((self.scale * counted.0 as f64 + self.fixed).round().max(0.0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_observations_the_count_stands() {
        assert_eq!(
            Calibration::default().fit().apply(CountedTokens(1234)),
            ProviderTokens(1234)
        );
    }

    #[test]
    fn one_observation_gives_an_offset_only() {
        let mut calibration = Calibration::default();
        calibration.observe(1_000, 21_000);
        assert_eq!(
            calibration.fit(),
            Fit {
                scale: 1.0,
                fixed: 20_000.0
            }
        );
    }

    #[test]
    fn scale_and_offset_are_told_apart_and_followed() {
        let mut calibration = Calibration::default();
        for step in 1..40 {
            let counted = 2_000 * step;
            calibration.observe(counted, 18_000 + counted * 13 / 10);
        }
        let fit = calibration.fit();
        assert!(
            (fit.scale - 1.3).abs() < 0.01 && (fit.fixed - 18_000.0).abs() < 200.0,
            "{fit:?}"
        );
        for step in 1..400 {
            let counted = 2_000 * (step % 40 + 1);
            calibration.observe(counted, 9_000 + counted);
        }
        let fit = calibration.fit();
        assert!(
            (fit.scale - 1.0).abs() < 0.02 && (fit.fixed - 9_000.0).abs() < 500.0,
            "{fit:?}"
        );
    }

    #[test]
    fn nonsense_does_not_give_nonsense() {
        let mut calibration = Calibration::default();
        for step in 1..40 {
            calibration.observe(1_000 * step, 1_000_000 / step);
        }
        let fit = calibration.fit();
        assert!(fit.scale == 1.0 && fit.fixed.is_finite() && fit.fixed >= 0.0, "{fit:?}");
    }
}
