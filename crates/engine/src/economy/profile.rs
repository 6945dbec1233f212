//! A provider's prices and the rules of its prompt cache, as data.

use serde::Serialize;

use crate::account::Family;

/// What a model costs and how its provider caches prompts.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Its name on the command line.
    pub name: String,
    /// What it stands for, in words.
    pub title: String,
    /// The model, as the provider calls it.
    pub model: String,
    /// How it counts tokens.
    pub family: Family,
    /// The largest prompt with its answer.
    pub window: u64,
    /// Its prices.
    pub tariff: Tariff,
    /// Its cache.
    pub cache: CacheRules,
}

impl Profile {
    /// Dollars of a request whose prompt has so many tokens, so many of them at its beginning in the cache, and whose answer
    /// has so many; a share of what is cached is missed.
    pub fn price(&self, prompt: f64, cached: f64, output: f64) -> f64 {
        let rates = self.tariff.at(prompt);
        let read = cached.min(prompt) * (1.0 - self.cache.missed);
        (read * rates.cache_read + (prompt - read) * rates.cache_write + output * rates.output) / 1e6
    }
}

/// Dollars a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rates {
    /// Prompt tokens that the cache has no part in.
    pub input: f64,
    /// Tokens that the model writes.
    pub output: f64,
    /// Prompt tokens read from the cache.
    pub cache_read: f64,
    /// Prompt tokens written to the cache; as much as `input` where writing is free.
    pub cache_write: f64,
}

/// Rates for prompts of more than so many tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tier {
    /// It holds for prompts above this.
    pub above: u64,
    /// All tokens of such a request cost this.
    pub rates: Rates,
}

/// The prices of a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tariff {
    /// What prompts of any size cost.
    pub base: Rates,
    /// What longer ones cost, by size; usually dearer, for all of their tokens.
    pub tiers: Vec<Tier>,
}

impl Tariff {
    /// Whether prompts of these two sizes have different rates.
    pub fn is_stepped(&self, one: u64, other: u64) -> bool {
        self.at(one as f64) != self.at(other as f64)
    }

    /// The rates of a request with a prompt of this size.
    pub fn at(&self, prompt: f64) -> &Rates {
        let tier = self.tiers.iter().rev().find(|tier| prompt > tier.above as f64);
        tier.map_or(&self.base, |tier| &tier.rates)
    }
}

/// Where a client marks its prompt for caching.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// The end of the instructions and tools.
    Preface,
    /// The end of what a compaction left as it was, or put in place of the rest.
    Anchor,
    /// So many messages before the last one.
    Back(usize),
}

/// Which beginnings of a prompt are found in the cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Matching {
    /// The longest one that any earlier prompt had.
    Longest,
    /// Only those that a client marked.
    Marked {
        /// Where it marks.
        places: Vec<Place>,
        /// A mark finds what was written up to so many content blocks before it.
        lookback: u64,
    },
}

/// What becomes of the reasoning of finished turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingRule {
    /// It stays in the prompt.
    Kept,
    /// When the person speaks again it is left out, and what stood behind it has to be read anew.
    DroppedByNextTurn,
}

/// How a provider caches prompts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CacheRules {
    /// Which beginnings are found.
    pub matching: Matching,
    /// Matches are cut down to a multiple of this many tokens.
    pub granularity: u64,
    /// Shorter beginnings are not cached.
    pub least: u64,
    /// How long an entry lives after it was last used, in milliseconds.
    pub lifetime: i64,
    /// Whether what the model wrote is cached with its prompt.
    pub holds_answers: bool,
    /// Which share of what should be found is not, because requests reach other machines.
    pub missed: f64,
    /// What becomes of old reasoning.
    pub thinking: ThinkingRule,
}
