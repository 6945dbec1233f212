//! A result is smaller, and at or under what it had to come down to.

use crate::account::CountedTokens;
use crate::account::ProviderTokens;
use crate::verify::flaw::Flaw;
use crate::verify::flaw::FlawKind;

/// Checks that a result is smaller than the original.
pub fn check_size(before: CountedTokens, after: CountedTokens) -> Option<Flaw> {
    (after >= before).then(|| {
        Flaw::fatal(
            FlawKind::NotSmaller,
            None,
            format!("{after} tokens instead of {before}"),
        )
    })
}

/// Checks a result against a target that was asked for.
pub fn check_target(after: ProviderTokens, target: ProviderTokens) -> Option<Flaw> {
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
        assert!(check_size(CountedTokens(100), CountedTokens(99)).is_none());
        assert!(check_target(ProviderTokens(50), ProviderTokens(50)).is_none());
        assert_eq!(
            check_size(CountedTokens(100), CountedTokens(100)).map(|flaw| flaw.kind),
            Some(FlawKind::NotSmaller)
        );
        assert_eq!(
            check_target(ProviderTokens(51), ProviderTokens(50)).map(|flaw| flaw.kind),
            Some(FlawKind::OverTarget)
        );
    }
}
