//! The two units of tokens. Counts are ours; windows, thresholds, targets and bills are the provider's. A [`Fit`] leads from one to
//! the other, and nothing else does.
//!
//! [`Fit`]: crate::account::Fit

use std::fmt;

/// Tokens as we count them, before anything that a provider's reports say about our counting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CountedTokens(pub u64);

/// Tokens as the provider reports and bills them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderTokens(pub u64);

impl fmt::Display for CountedTokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl fmt::Display for ProviderTokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
