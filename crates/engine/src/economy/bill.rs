//! What was paid, by what it was paid for.

use std::ops::AddAssign;

use serde::Serialize;

use crate::economy::cache::Served;
use crate::economy::profile::Tariff;

/// Dollars, by what they were paid for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Bill {
    /// Reading from the cache.
    pub cache_read: f64,
    /// Writing to it.
    pub cache_write: f64,
    /// Prompt tokens beside the cache.
    pub fresh: f64,
    /// What models answered.
    pub output: f64,
    /// Calls that wrote summaries.
    pub summaries: f64,
}

impl Bill {
    /// Everything together.
    pub fn total(&self) -> f64 {
        self.cache_read + self.cache_write + self.fresh + self.output + self.summaries
    }
}

impl AddAssign for Bill {
    fn add_assign(&mut self, other: Self) {
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.fresh += other.fresh;
        self.output += other.output;
        self.summaries += other.summaries;
    }
}

/// What a request costs that was served this way and answered with so many tokens.
pub fn charge(tariff: &Tariff, served: &Served, output: f64) -> Bill {
    let rates = tariff.at(served.prompt());
    let dollars = |tokens: f64, rate: f64| tokens * rate / 1e6;
    Bill {
        cache_read: dollars(served.read, rates.cache_read),
        cache_write: dollars(served.write, rates.cache_write),
        fresh: dollars(served.fresh, rates.input),
        output: dollars(output, rates.output),
        summaries: 0.0,
    }
}
