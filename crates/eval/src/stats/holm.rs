//! Holm's correction: among many questions some come out by chance, and the more are asked the more so.

/// A question's place among those it is asked with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corrected {
    /// Its p-value, corrected: below `share` where it counts.
    pub p: f64,
    /// The share with which its interval may be wrong, so that interval and p-value say the same.
    pub share: f64,
}

/// Corrects the p-values of one family, so that the chance of any false alarm among them is at most `share`.
///
/// The smallest is held against `share` over their number, the next against `share` over one less, until one does not pass; that
/// one and all after it do not count, and their intervals have the level at which it failed.
pub fn holm(values: &[f64], share: f64) -> Vec<Corrected> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|one, other| values[*one].total_cmp(&values[*other]));
    let blank = Corrected { p: 1.0, share };
    let mut corrected = vec![blank; values.len()];
    let (mut largest, mut level, mut failed) = (0.0_f64, share, false);
    for (rank, place) in order.into_iter().enumerate() {
        let left = (values.len() - rank) as f64;
        largest = largest.max((values[place] * left).min(1.0));
        if !failed {
            level = share / left;
        }
        failed |= values[place] > level;
        corrected[place] = Corrected {
            p: largest,
            share: level,
        };
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_held_against_what_is_left_and_the_first_failure_ends_it() {
        let corrected = holm(&[0.04, 0.001, 0.03, 0.012], 0.05);
        let p: Vec<f64> = corrected.iter().map(|one| (one.p * 1e6).round() / 1e6).collect();
        assert_eq!(p, [0.06, 0.004, 0.06, 0.036]);
        let shares: Vec<f64> = corrected.iter().map(|one| (one.share * 1e6).round() / 1e6).collect();
        assert_eq!(shares, [0.025, 0.0125, 0.025, 0.016667]);
        assert!(holm(&[], 0.05).is_empty());
    }
}
