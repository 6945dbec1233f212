//! What requests cost: a provider's prices, how its prompt cache works, and what a cache holds at a moment.
//!
//! A provider keeps the work it did for the beginning of a prompt. The next prompt that begins with the same bytes reads it
//! at a fraction of the price; a changed history is paid for anew. [`Profile`] says in numbers how one provider does that,
//! [`PromptCache`] what it would serve a sequence of prompts, [`Bill`] what that costs.

mod bill;
mod cache;
mod profile;

pub use bill::Bill;
pub use bill::charge;
pub use cache::PromptCache;
pub use cache::Segment;
pub use cache::SegmentKind;
pub use cache::Served;
pub use profile::CacheRules;
pub use profile::Matching;
pub use profile::Place;
pub use profile::Profile;
pub use profile::Rates;
pub use profile::Tariff;
pub use profile::ThinkingRule;
pub use profile::Tier;

#[cfg(test)]
mod cache_tests;
