//! The cluster bootstrap: whole clusters are drawn with replacement, so that observations of one session or one task
//! do not count as independent.

use std::collections::HashMap;

use serde::Serialize;

use crate::stats::Generator;

/// How often the clusters are drawn: the 2.5 % quantile is then the 50th of 2000, steady to about ±.005.
const DRAWS: usize = 2000;
/// Where every interval's draws begin; a fixed seed makes a report repeatable.
const SEED: u64 = 1;

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
    /// Whether the whole interval is below zero.
    pub fn is_below_zero(&self) -> bool {
        self.high < 0.0
    }
}

/// The mean of observations with the cluster each belongs to; `None` where there are none.
pub fn estimate<'a>(observations: impl Iterator<Item = (f64, &'a str)>) -> Option<Estimate> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut clusters: Vec<(f64, f64)> = Vec::new();
    for (value, cluster) in observations {
        // Places are given in the order of appearance: the map's own order reaches nothing.
        let place = *places.entry(cluster).or_insert_with(|| {
            clusters.push((0.0, 0.0));
            clusters.len() - 1
        });
        clusters[place].0 += value;
        clusters[place].1 += 1.0;
    }
    if clusters.is_empty() {
        return None;
    }
    let mean_of = |total: (f64, f64)| total.0 / total.1;
    let add = |total: (f64, f64), cluster: &(f64, f64)| (total.0 + cluster.0, total.1 + cluster.1);
    let mut generator = Generator::new(SEED);
    let mut means: Vec<f64> = (0..DRAWS)
        .map(|_| mean_of((0..clusters.len()).fold((0.0, 0.0), |total, _| add(total, generator.pick(&clusters)))))
        .collect();
    means.sort_by(f64::total_cmp);
    Some(Estimate {
        mean: mean_of(clusters.iter().fold((0.0, 0.0), add)),
        low: quantile(&means, 0.025),
        high: quantile(&means, 0.975),
        clusters: clusters.len(),
    })
}

/// The middle of a list; zero where it is empty.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    quantile(&values, 0.5)
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
        assert_eq!(one.clusters, 1);
        // 100 clusters of zeros and ones: the standard error of the mean is 0.05.
        let names: Vec<_> = (0..100).map(|index| index.to_string()).collect();
        let values = names
            .iter()
            .enumerate()
            .map(|(index, name)| ((index % 2) as f64, name.as_str()));
        let many = estimate(values).unwrap();
        assert!((many.mean - 0.5).abs() < 1e-12);
        assert!((many.low - 0.402).abs() < 0.015, "{many:?}");
        assert!((many.high - 0.598).abs() < 0.015, "{many:?}");
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
        assert_eq!((single.low, single.high), (repeated.low, repeated.high));
        assert_eq!(estimate(std::iter::empty()), None);
    }

    #[test]
    fn quantiles_lie_between_their_neighbours() {
        assert_eq!(median(vec![3.0, 1.0, 2.0, 10.0]), 2.5);
        assert_eq!(median(vec![]), 0.0);
        assert_eq!(quantile(&[0.0, 10.0], 0.25), 2.5);
    }
}
