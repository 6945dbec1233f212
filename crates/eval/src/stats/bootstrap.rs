//! Intervals of means by the studentised cluster bootstrap.
//!
//! Whole clusters are drawn with replacement, so that observations of one session or one fixture do not count as independent.
//! What is collected of each draw is not its mean but how many of *its own* standard errors its mean is from the observed one;
//! the interval is the observed mean, so many observed standard errors to both sides as 95 % of the draws stay within. With few
//! clusters that is what keeps the promise: a draw knows its spread as badly as the sample does, while the plain quantiles of
//! means and the normal distribution take it for known. `coverage_tests.rs` shows where 95 % are 95 %.

use serde::Serialize;

use crate::stats::Generator;
use crate::stats::clusters::Cluster;
use crate::stats::clusters::Moments;
use crate::stats::clusters::gather;
use crate::stats::student;

/// How often the clusters are drawn for a 95 % interval: its end is then the 100th of 1999, steady to about ±.005.
const DRAWS: usize = 1999;
/// Where every interval's draws begin; a fixed seed makes a report repeatable.
const SEED: u64 = 1;
/// An interval is at most so many times as wide as Student's. Draws of few, mostly equal clusters have next to no spread, and
/// their quotients no bound. In simulations with 6 to 11 clusters one and a half times leaves mostly-zero differences at 98.6 %
/// where 99.3 % are wanted, two times at 99.0 %; beyond that only the width grows.
const WIDEST: f64 = 2.0;

/// A mean with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean over all observations.
    pub mean: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// How many clusters there are.
    pub clusters: usize,
}

impl Estimate {
    /// The same on a scale from zero to this: an interval is as wide below as above, and what lies beyond cannot be.
    pub fn on_scale(self, most: f64) -> Self {
        Self {
            low: self.low.max(0.0),
            high: self.high.min(most),
            ..self
        }
    }

    /// So many clusters an interval needs to be trusted. With fewer its true coverage is unknown: nothing about the
    /// distribution of clusters can be read off four of them.
    pub const FEWEST: usize = 5;

    /// Whether the whole interval is below zero.
    pub fn is_below_zero(&self) -> bool {
        self.high < 0.0
    }

    /// Whether there are enough clusters for the interval to mean what it says.
    pub fn is_trusted(&self) -> bool {
        self.clusters >= Self::FEWEST
    }
}

/// The mean of observations with the cluster each belongs to; `None` where there are none.
pub fn estimate<'a>(observations: impl Iterator<Item = (f64, &'a str)>) -> Option<Estimate> {
    Some(Resampled::new(&gather(observations), DRAWS)?.estimate(0.05))
}

/// The middle of a list; zero where it is empty.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    quantile(&values, 0.5)
}

/// A mean, and what its draws say of how far off it can be.
#[derive(Clone, Debug)]
pub struct Resampled {
    /// The mean over all observations.
    pub mean: f64,
    /// Its standard error, by clusters; zero where they have no spread.
    pub error: f64,
    /// How many clusters there are.
    pub clusters: usize,
    /// How many standard errors off the draws are, in order; infinite for a draw that has no spread and another mean.
    quotients: Vec<f64>,
}

impl Resampled {
    /// Draws clusters so often; `None` where there are none.
    pub fn new(clusters: &[Cluster], draws: usize) -> Option<Self> {
        if clusters.is_empty() {
            return None;
        }
        let observed = moments(clusters.iter());
        let (mean, error) = (observed.mean(), observed.error());
        let mut quotients = Vec::new();
        if error > 0.0 {
            // Around the observed mean the sums of squares lose no digits.
            let centred = |cluster: &Cluster| Cluster {
                sum: cluster.sum - mean * cluster.size,
                size: cluster.size,
            };
            let centred: Vec<Cluster> = clusters.iter().map(centred).collect();
            let mut generator = Generator::new(SEED);
            quotients.extend((0..draws).map(|_| {
                let drawn = moments((0..centred.len()).map(|_| generator.pick(&centred)));
                let (off, error) = (drawn.mean().abs(), drawn.error());
                // A mean that is off by rounding is not off.
                if off <= mean.abs() * 1e-12 { 0.0 } else { off / error }
            }));
            quotients.sort_unstable_by(f64::total_cmp);
        }
        Some(Self {
            mean,
            error,
            clusters: clusters.len(),
            quotients,
        })
    }

    /// Whether there are enough clusters for an interval to mean what it says; see [`Estimate::FEWEST`].
    pub fn is_trusted(&self) -> bool {
        self.clusters >= Estimate::FEWEST
    }

    /// So many standard errors an interval reaches that is wrong with probability `share`.
    pub fn reach(&self, share: f64) -> f64 {
        if self.quotients.is_empty() {
            return 0.0;
        }
        let widest = WIDEST * student::critical(share, self.freedom());
        // The place that belongs to a p-value counting the sample among its draws.
        let beyond = (share * (self.quotients.len() + 1) as f64).floor() as usize;
        match beyond.checked_sub(1) {
            Some(beyond) => self.quotients[self.quotients.len() - 1 - beyond.min(self.quotients.len() - 1)].min(widest),
            None => widest,
        }
    }

    /// The mean with the interval that is wrong with probability `share`.
    pub fn estimate(&self, share: f64) -> Estimate {
        let reach = self.reach(share) * self.error;
        Estimate {
            mean: self.mean,
            low: self.mean - reach,
            high: self.mean + reach,
            clusters: self.clusters,
        }
    }

    /// The probability of a mean at least this far from zero where it is zero in truth: the share at which the interval touches zero.
    pub fn p_value(&self) -> f64 {
        if self.mean == 0.0 {
            return 1.0;
        }
        if self.quotients.is_empty() {
            // Every cluster says the same. One says nothing; of several no draw says anything else.
            return if self.clusters < 2 {
                1.0
            } else {
                1.0 / (DRAWS + 1) as f64
            };
        }
        let quotient = self.mean.abs() / self.error;
        let within = self.quotients.partition_point(|drawn| *drawn < quotient);
        let beyond = (self.quotients.len() - within + 1) as f64 / (self.quotients.len() + 1) as f64;
        beyond.min(student::two_sided(quotient / WIDEST, self.freedom()))
    }

    /// The smallest true difference that is told from zero in 80 of 100 such samples, at an interval that is wrong with
    /// probability `share`, and that passes `floor` as well.
    pub fn least_detectable(&self, share: f64, floor: f64) -> f64 {
        // One side of 20 %: two sides of 40 %.
        let power = student::critical(0.4, self.freedom());
        ((self.reach(share) + power) * self.error).max(floor + power * self.error)
    }

    fn freedom(&self) -> f64 {
        (self.clusters.max(2) - 1) as f64
    }
}

fn moments<'a>(clusters: impl Iterator<Item = &'a Cluster>) -> Moments {
    let mut moments = Moments::default();
    clusters.for_each(|cluster| moments.add(cluster));
    moments
}

/// A quantile of a sorted list, between its neighbours where it falls between.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return 0.0;
    };
    let place = share * last as f64;
    let below = (place.floor() as usize).min(last);
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cluster_has_no_spread_and_many_have_the_expected_one() {
        let one = estimate([(0.2, "a"), (0.4, "a")].into_iter()).unwrap();
        assert!((one.mean - 0.3).abs() < 1e-12 && (one.high - one.low).abs() < 1e-12);
        assert!(one.clusters == 1 && !one.is_trusted());
        // 100 clusters of zeros and ones: the standard error of the mean is 0.05.
        let names: Vec<_> = (0..100).map(|index| index.to_string()).collect();
        let values = names
            .iter()
            .enumerate()
            .map(|(index, name)| ((index % 2) as f64, name.as_str()));
        let many = estimate(values).unwrap();
        assert!((many.mean - 0.5).abs() < 1e-12);
        assert!((many.low - 0.400).abs() < 0.015, "{many:?}");
        assert!((many.high - 0.600).abs() < 0.015, "{many:?}");
    }

    #[test]
    fn repeats_within_a_cluster_do_not_narrow_the_interval() {
        let names: Vec<_> = (0..20).map(|index| index.to_string()).collect();
        let single = names
            .iter()
            .enumerate()
            .map(|(index, name)| ((index % 2) as f64, name.as_str()));
        let repeated = single.clone().flat_map(|observation| [observation; 9]);
        let (single, repeated) = (estimate(single).unwrap(), estimate(repeated).unwrap());
        assert!((single.low - repeated.low).abs() < 1e-9 && (single.high - repeated.high).abs() < 1e-9);
        assert_eq!(estimate(std::iter::empty()), None);
    }

    #[test]
    fn the_p_value_is_the_share_at_which_the_interval_touches_zero() {
        let mut generator = Generator::new(7);
        for _ in 0..50 {
            let clusters: Vec<Cluster> = (0..8)
                .map(|_| Cluster {
                    sum: generator.below(40) as f64 - 12.0,
                    size: 4.0 + generator.below(12) as f64,
                })
                .collect();
            let resampled = Resampled::new(&clusters, 1999).unwrap();
            let p = resampled.p_value();
            let holds_zero = |share: f64| {
                let estimate = resampled.estimate(share);
                estimate.low <= 0.0 && estimate.high >= 0.0
            };
            assert!(holds_zero((p - 0.001).max(1e-9)), "{p}");
            assert!(p > 0.99 || !holds_zero(p + 0.001), "{p}");
        }
    }

    #[test]
    fn one_cluster_that_differs_among_equals_proves_nothing() {
        let mut clusters = vec![Cluster { sum: 0.0, size: 10.0 }; 8];
        clusters[3].sum = -30.0;
        let resampled = Resampled::new(&clusters, 1999).unwrap();
        assert!(resampled.p_value() > 0.3);
        assert!(resampled.estimate(0.05).high.is_finite());
        // Everywhere the same is another thing.
        let same = Resampled::new(&[Cluster { sum: -5.0, size: 10.0 }; 8], 1999).unwrap();
        assert!(same.p_value() < 0.001 && same.estimate(0.05).is_below_zero());
        let none = Resampled::new(&[Cluster { sum: 0.0, size: 10.0 }; 8], 1999).unwrap();
        assert_eq!((none.p_value(), none.estimate(0.05).high), (1.0, 0.0));
    }

    #[test]
    fn quantiles_lie_between_their_neighbours() {
        assert_eq!(median(vec![3.0, 1.0, 2.0, 10.0]), 2.5);
        assert_eq!(median(vec![]), 0.0);
        assert_eq!(quantile(&[0.0, 10.0], 0.25), 2.5);
    }
}
