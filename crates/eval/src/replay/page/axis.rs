//! Axes: where a value stands, and round numbers to write beside them.

/// A stretch of values on a stretch of the picture.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// Values from `low` to `high` stand between `from` and `to`. A stretch without length is given one.
    pub fn new((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        let low = if low.is_finite() { low } else { 0.0 };
        let high = if high.is_finite() && high > low {
            high
        } else {
            low + 1.0
        };
        Self { low, high, from, to }
    }

    /// Where a value stands; what lies outside stands at the end, what is no number at the beginning.
    pub fn at(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        self.from + share * (self.to - self.from)
    }

    /// Whether a value lies beyond the upper end.
    pub fn is_beyond(&self, value: f64) -> bool {
        value > self.high
    }

    /// Round numbers inside of it, no more than so many and the one that begins it.
    pub fn ticks(&self, most: usize) -> Vec<f64> {
        let step = step((self.high - self.low) / most.max(1) as f64);
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last.min(first.saturating_add(most as i64)))
            .map(|at| at as f64 * step)
            .collect()
    }
}

/// The smallest of 1, 2 and 5 times a power of ten that is no smaller.
fn step(least: f64) -> f64 {
    let power = 10f64.powf(least.max(1e-12).log10().floor());
    let found = [1.0, 2.0, 5.0]
        .iter()
        .find(|times| power * **times >= least * (1.0 - 1e-9));
    power * found.unwrap_or(&10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_where_they_should_and_ticks_are_round() {
        let scale = Scale::new((0.0, 143.0), (10.0, 110.0));
        assert_eq!((scale.at(0.0), scale.at(71.5), scale.at(500.0)), (10.0, 60.0, 110.0));
        assert_eq!(scale.ticks(4), [0.0, 50.0, 100.0]);
        let shares = Scale::new((0.62, 1.0), (0.0, 1.0)).ticks(5);
        let shares: Vec<String> = shares.iter().map(|share| format!("{share:.1}")).collect();
        assert_eq!(shares, ["0.7", "0.8", "0.9", "1.0"]);
    }

    #[test]
    fn nothing_breaks_on_odd_stretches() {
        for (low, high) in [
            (0.0, 0.0),
            (f64::NAN, f64::INFINITY),
            (5.0, -5.0),
            (1e300, 1e308),
            (0.0, 1e-300),
        ] {
            let scale = Scale::new((low, high), (0.0, 100.0));
            assert!(scale.ticks(5).len() <= 6, "{low} {high}");
            assert!((0.0..=100.0).contains(&scale.at(f64::NAN)) && (0.0..=100.0).contains(&scale.at(7.0)));
        }
    }
}
