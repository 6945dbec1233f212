//! How much of what an agent needs next passes are expected to keep, and how that fades.
//!
//! Curves fitted by least squares to full passes of thirty sizes at 170 moments of recorded coding sessions, asked
//! directly and up to forty requests later (`cargo run --release -p mainstay-eval --example what_passes_keep`). Kept is the
//! mean of two shares: of the identifiers that are needed, and of their pairs that stood together. Tokens are those of
//! o200k; other families are converted.

use crate::account::Family;

/// What is lost where nothing is left but the newest step.
const LOST: f64 = 0.463;
/// A block of so many tokens loses a third of that (1/e), for a history of [`USUAL_HISTORY`].
const BLOCK: f64 = 4_937.0;
/// How fast larger blocks stop helping.
const BLOCK_POWER: f64 = 0.6;
/// A tail of so many tokens halves what is lost, for a history of [`USUAL_HISTORY`].
const TAIL: f64 = 6_927.0;
/// How the tail that halves it grows with the history.
const TAIL_POWER: f64 = 0.9;
const USUAL_HISTORY: f64 = 50_000.0;
/// After so many tokens of new history, half as much of the old is needed.
const FADING: f64 = 33_172.0;
/// What pruning keeps, by the share of the history's tokens that it leaves; it cannot go lower than about two fifths.
const PRUNE_KEEPS: [(f64, f64); 4] = [(0.0, 0.0), (0.40, 0.85), (0.60, 0.90), (1.0, 1.0)];

/// The share of what is needed next that a full pass is expected to keep, which leaves so many tokens of the newest history
/// and a block of this size for the rest of a history of so many tokens.
pub fn expected_retention(family: Family, history: u64, tail: u64, block: u64) -> f64 {
    if tail >= history {
        return 1.0;
    }
    let tokens = |tokens: u64| tokens as f64 / family.per_plain_token();
    let length = tokens(history) / USUAL_HISTORY;
    let block = (tokens(block) / BLOCK / length.sqrt()).powf(BLOCK_POWER);
    let tail = tokens(tail) / (TAIL * length.powf(TAIL_POWER));
    1.0 - LOST * (-block).exp() / (1.0 + tail)
}

/// The share of what is needed next that pruning is expected to keep which leaves this share of the history's tokens.
pub fn pruned_retention(share: f64) -> f64 {
    for pair in PRUNE_KEEPS.windows(2) {
        let ((from, low), (to, high)) = (pair[0], pair[1]);
        if share <= to {
            return low + (high - low) * ((share - from) / (to - from)).max(0.0);
        }
    }
    1.0
}

/// The share of what is needed next that a prompt is expected to hold, so many tokens after a pass that kept this share.
pub fn fading_retention(family: Family, kept: f64, since: f64) -> f64 {
    1.0 - (1.0 - kept) / (1.0 + since / family.per_plain_token() / FADING)
}

/// What is lost on average while so many tokens are said, as a share of what was lost at first.
pub fn mean_fading(family: Family, said: f64) -> f64 {
    let reach = said / family.per_plain_token() / FADING;
    if reach < 1e-9 { 1.0 } else { reach.ln_1p() / reach }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_passes_keep_more_and_nothing_keeps_more_than_everything() {
        for family in [Family::O200k, Family::Claude] {
            for history in [1_000, 30_000, 400_000] {
                let mut last = 0.0;
                for size in [0, 500, 2_000, 8_000, 32_000, 128_000] {
                    let kept = expected_retention(family, history, size, size);
                    assert!((0.0..=1.0).contains(&kept) && kept >= last, "{history} {size} {kept}");
                    last = kept;
                }
            }
        }
        assert_eq!(expected_retention(Family::O200k, 0, 0, 0), 1.0);
        assert!((0.0..=1.0).contains(&expected_retention(Family::O200k, 1, 0, 0)));
    }

    #[test]
    fn what_was_lost_is_needed_less_and_less() {
        let family = Family::O200k;
        assert_eq!(fading_retention(family, 0.9, 0.0), 0.9);
        assert!((fading_retention(family, 0.9, FADING) - 0.95).abs() < 1e-9);
        assert_eq!(mean_fading(family, 0.0), 1.0);
        assert!(mean_fading(family, 2.0 * FADING) < mean_fading(family, FADING));
    }
}
