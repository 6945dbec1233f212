//! A result is smaller, and at or under what it had to come down to.

use crate::verify::flaw::Flaw;
use crate::verify::flaw::FlawKind;

/// Checks that a result is smaller than the original.
pub fn check_size(before: u64, after: u64) -> Option<Flaw> {
    (after >= before).then(|| {
        Flaw::fatal(
            FlawKind::NotSmaller,
            None,
            format!("{after} tokens instead of {before}"),
        )
    })
}

/// Checks a result against a target that was asked for.
pub fn check_target(after: u64, target: u64) -> Option<Flaw> {
    (after > target).then(|| {
        Flaw::fatal(
            FlawKind::OverTarget,
            None,
            format!("{after} tokens, above the target of {target}"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_and_under_the_target() {
        assert!(check_size(100, 99).is_none());
        assert!(check_target(50, 50).is_none());
        assert_eq!(check_size(100, 100).map(|flaw| flaw.kind), Some(FlawKind::NotSmaller));
        assert_eq!(check_target(51, 50).map(|flaw| flaw.kind), Some(FlawKind::OverTarget));
    }
}
