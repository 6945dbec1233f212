//! A result is smaller, and at or under what it had to come down to.

use crate::verify::flaw::Flaw;
use crate::verify::flaw::FlawKind;

/// Checks a result's size against the original's and against a target that was asked for.
pub fn check_size(before: u64, after: u64, target: Option<u64>) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    if after >= before {
        flaws.push(Flaw::fatal(
            FlawKind::NotSmaller,
            None,
            format!("{after} tokens instead of {before}"),
        ));
    }
    if let Some(target) = target.filter(|target| after > *target) {
        flaws.push(Flaw::fatal(
            FlawKind::OverTarget,
            None,
            format!("{after} tokens, above the target of {target}"),
        ));
    }
    flaws
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_and_under_the_target() {
        assert!(check_size(100, 99, None).is_empty());
        assert!(check_size(100, 50, Some(50)).is_empty());
        assert_eq!(check_size(100, 100, None)[0].kind, FlawKind::NotSmaller);
        assert_eq!(check_size(100, 51, Some(50))[0].kind, FlawKind::OverTarget);
    }
}
