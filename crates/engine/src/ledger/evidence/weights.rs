//! How likely the agent is to write an identifier again: a logistic model over what is known about its past.
//!
//! The weights are data (`weights.tsv`), fitted by `scripts/fit_evidence.py`; `docs/ledger-evidence.md` says on
//! what. Only additions, multiplications, divisions and square roots are used, which every machine rounds
//! alike: the platform's logarithms and exponentials are not.

use std::sync::LazyLock;

/// The names of the features, in the order in which [`Features`] holds them.
pub const NAMES: [&str; COUNT] = [
    "bias",
    "messages_text",
    "messages_arguments",
    "messages_user",
    "messages_tool",
    "occurrences",
    "since_last",
    "since_agent",
    "since_user",
    "since_tool",
    "since_first",
    "span",
    "share_of_steps",
    "in_newest_request",
    "in_first_request",
    "in_newest_step",
    "least_company",
    "last_company",
    "after_backslash",
    "only_leads_lines",
    "leads_lines",
    "first_in_text",
    "first_in_arguments",
    "first_by_user",
    "digits",
    "is_url",
    "is_path",
    "is_record",
    "is_symbol",
    "history_messages",
    "history_bytes",
    "in_last_message",
    "new_in_last_message",
];

/// How many features there are.
pub const COUNT: usize = 33;

/// What is known about one identifier, as numbers.
pub type Features = [f64; COUNT];

static WEIGHTS: LazyLock<Features> = LazyLock::new(|| {
    let mut weights = [0.0; COUNT];
    for line in include_str!("weights.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        if let Some((name, weight)) = line.split_once('\t')
            && let Some(index) = NAMES.iter().position(|known| *known == name)
        {
            weights[index] = weight.trim().parse().unwrap_or(0.0);
        }
    }
    weights
});

/// The probability that the agent writes an identifier with these features again soon.
pub fn expected_use(features: &Features) -> f64 {
    let sum: f64 = features
        .iter()
        .zip(WEIGHTS.iter())
        .map(|(feature, weight)| feature * weight)
        .sum();
    1.0 / (1.0 + exponential(-sum))
}

/// The exponential function, exact to about a hundredth where it matters here, by ten squarings.
fn exponential(power: f64) -> f64 {
    let mut result = 1.0 + power.clamp(-20.0, 20.0) / 1024.0;
    for _ in 0..10 {
        result *= result;
    }
    result
}

/// The binary logarithm of one more than a count, linear between powers of two.
pub fn grade(count: u64) -> f64 {
    let count = count.saturating_add(1);
    let whole = count.ilog2();
    f64::from(whole) + count as f64 / (1u64 << whole) as f64 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_has_a_weight_and_every_weight_a_feature() {
        let lines = include_str!("weights.tsv")
            .lines()
            .filter(|line| !line.starts_with('#'));
        let names: Vec<&str> = lines.filter_map(|line| line.split('\t').next()).collect();
        assert_eq!(names, NAMES);
        assert!(WEIGHTS.iter().any(|weight| *weight != 0.0));
    }

    #[test]
    fn grades_grow_like_logarithms() {
        assert_eq!(grade(0), 0.0);
        assert_eq!(grade(1), 1.0);
        assert_eq!(grade(2), 1.5);
        assert_eq!(grade(3), 2.0);
        assert_eq!(grade(u64::MAX), 64.0 - 1.0 + 1.0);
    }

    #[test]
    fn probabilities_stay_between_none_and_certain() {
        for bias in [-1e9, -3.0, 0.0, 3.0, 1e9] {
            let mut features = [0.0; COUNT];
            features[0] = bias;
            assert!((0.0..=1.0).contains(&expected_use(&features)));
        }
    }
}
