//! Observations by the cluster each belongs to, and the standard error of their mean that takes clusters for what they are.

use std::collections::HashMap;

/// One cluster: the sum of its observations and how many there are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cluster {
    /// The sum.
    pub sum: f64,
    /// How many.
    pub size: f64,
}

/// Observations added up by cluster, in the order in which the clusters first appear.
pub fn gather<'a>(observations: impl Iterator<Item = (f64, &'a str)>) -> Vec<Cluster> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut clusters: Vec<Cluster> = Vec::new();
    for (value, name) in observations {
        // Places are given in the order of appearance: the map's own order reaches nothing.
        let place = *places.entry(name).or_insert_with(|| {
            clusters.push(Cluster { sum: 0.0, size: 0.0 });
            clusters.len() - 1
        });
        clusters[place].sum += value;
        clusters[place].size += 1.0;
    }
    clusters
}

/// Sums over clusters from which a mean and its standard error follow, so that a draw needs one pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moments {
    count: f64,
    sum: f64,
    size: f64,
    sum_sum: f64,
    sum_size: f64,
    size_size: f64,
}

impl Moments {
    /// With one more cluster.
    pub fn add(&mut self, cluster: &Cluster) {
        self.count += 1.0;
        self.sum += cluster.sum;
        self.size += cluster.size;
        self.sum_sum += cluster.sum * cluster.sum;
        self.sum_size += cluster.sum * cluster.size;
        self.size_size += cluster.size * cluster.size;
    }

    /// The mean over all observations.
    pub fn mean(&self) -> f64 {
        self.sum / self.size
    }

    /// The standard error of the mean: of a ratio of sums, from how far each cluster's sum is from what the mean makes of its
    /// size. Zero where there is no spread, or one cluster.
    pub fn error(&self) -> f64 {
        let mean = self.mean();
        let squares = self.sum_sum - 2.0 * mean * self.sum_size + mean * mean * self.size_size;
        // What is left of rounding is no spread: twelve digits of the sixteen a double has.
        let scale = self.sum_sum + mean * mean * self.size_size;
        if self.count < 2.0 || squares <= scale * 1e-12 {
            return 0.0;
        }
        (squares * self.count / (self.count - 1.0)).sqrt() / self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_clusters_of_one_it_is_the_textbook_standard_error() {
        let clusters = gather([(1.0, "a"), (2.0, "b"), (6.0, "c")].into_iter());
        let mut moments = Moments::default();
        clusters.iter().for_each(|cluster| moments.add(cluster));
        assert!((moments.mean() - 3.0).abs() < 1e-12);
        // The variance is 7, over three.
        assert!((moments.error() - (7.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn equal_clusters_of_any_size_have_no_spread() {
        let mut moments = Moments::default();
        for size in [1.0, 7.0, 12.0] {
            moments.add(&Cluster { sum: -0.3 * size, size });
        }
        assert_eq!(moments.error(), 0.0);
        assert_eq!(Moments::default().error(), 0.0);
    }
}
