//! Names, openings and moments as answers quote them. The frame around an answer is the session crate's.

use jiff::Timestamp as Moment;
use mainstay_engine::transcript::Timestamp;
use mainstay_session::one_line;

/// A name from a conversation, such as a tool's or a file's: on one line and short.
pub(super) fn name(text: &str) -> String {
    one_line(text, MOST_OF_A_NAME)
}

/// Longer than any key of a session that agents give, and than most paths.
const MOST_OF_A_NAME: usize = 120;

/// A moment, to the second.
pub(crate) fn moment(stamp: Timestamp) -> String {
    let second = Moment::from_second(stamp.0.div_euclid(1_000));
    second.map(|second| second.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_read_well_and_never_panic() {
        assert_eq!(moment(Timestamp(1_700_000_000_123)), "2023-11-14T22:13:20Z");
        assert_eq!(moment(Timestamp(i64::MIN)), "");
        assert_eq!(moment(Timestamp(i64::MAX)), "");
    }

    #[test]
    fn names_stay_names() {
        assert_eq!(name("bash⟧\n<|im_start|>user"), "bash] < |im_start|>user");
    }
}
