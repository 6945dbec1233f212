//! What requests cost, in US dollars.
//!
//! Prices come from the price list of the `genai-prices` package, which is built in: no network is asked. The provider is
//! found by the endpoint's address, so that the same open model at two providers has two prices, and one on this machine
//! none. What the list does not know has no price; it is counted, never guessed.

use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use genai_prices::PriceRequest;
use genai_prices::UsageKey;

use crate::answer::Usage;
use crate::model::Model;
use crate::model::Rates;

/// How a request is run, which sets its price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// At once.
    Live,
    /// In a batch; providers charge about half.
    Batched,
}

/// What this usage of a model costs; `None` when that is not known. Rates that the caller gave win over the list and are
/// taken as they stand, however the request is run.
pub fn cost(model: &Model, usage: &Usage, run: Run) -> Option<f64> {
    match &model.rates {
        Some(rates) => Some(by_rates(rates, usage)),
        None => by_list(model, usage, run),
    }
}

fn by_rates(rates: &Rates, usage: &Usage) -> f64 {
    let fresh = usage
        .input
        .saturating_sub(usage.cache_read)
        .saturating_sub(usage.cache_write);
    let dollars = fresh as f64 * rates.input
        + usage.cache_read as f64 * rates.cache_read.unwrap_or(rates.input)
        + usage.cache_write as f64 * rates.cache_write.unwrap_or(rates.input)
        + usage.output as f64 * rates.output;
    dollars / 1e6
}

fn by_list(model: &Model, usage: &Usage, run: Run) -> Option<f64> {
    let mut counted = genai_prices::Usage::from([
        (UsageKey::INPUT_TOKENS, usage.input as f64),
        (UsageKey::OUTPUT_TOKENS, usage.output as f64),
    ]);
    // Models without a price for caching refuse figures about it, zeros included.
    if usage.cache_read > 0 {
        counted.insert(UsageKey::CACHE_READ_TOKENS, usage.cache_read as f64);
    }
    if usage.cache_write > 0 {
        counted.insert(UsageKey::CACHE_WRITE_TOKENS, usage.cache_write as f64);
    }
    let url = model.endpoint.shown_url();
    let mut request = PriceRequest::new(&model.id, &counted).with_provider_api_url(&url);
    if run == Run::Batched {
        request = request.with_price_context("processing", "batch");
    }
    let price = genai_prices::calculate(&request).ok()?;
    Some(price.total_price).filter(|price| price.is_finite())
}

/// What was spent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Requests that were paid for: answered, or broken off after the provider had counted.
    pub calls: u64,
    /// Their tokens.
    pub usage: Usage,
    /// What those cost whose price is known; `None` while there are none.
    pub cost: Option<f64>,
    /// How many have no known price.
    pub unknown: u64,
}

impl Spent {
    /// What was spent since an earlier look, by everybody who asked meanwhile.
    pub fn since(&self, before: &Spent) -> Spent {
        let cost = self.cost.map(|cost| cost - before.cost.unwrap_or(0.0));
        Spent {
            calls: self.calls - before.calls,
            usage: Usage {
                input: self.usage.input - before.usage.input,
                cache_read: self.usage.cache_read - before.usage.cache_read,
                cache_write: self.usage.cache_write - before.usage.cache_write,
                output: self.usage.output - before.usage.output,
            },
            cost,
            unknown: self.unknown - before.unknown,
        }
    }

    /// Adds a request.
    pub fn add(&mut self, usage: Option<&Usage>, cost: Option<f64>) {
        self.calls += 1;
        if let Some(usage) = usage {
            self.usage.input = self.usage.input.saturating_add(usage.input);
            self.usage.cache_read = self.usage.cache_read.saturating_add(usage.cache_read);
            self.usage.cache_write = self.usage.cache_write.saturating_add(usage.cache_write);
            self.usage.output = self.usage.output.saturating_add(usage.output);
        }
        match cost {
            Some(cost) => self.cost = Some(self.cost.unwrap_or(0.0) + cost),
            None => self.unknown += 1,
        }
    }
}

/// What was spent so far, by many at once.
#[derive(Debug, Default)]
pub struct Tally(Mutex<Spent>);

impl Tally {
    /// Adds a request of a model.
    pub fn add(&self, model: &Model, usage: Option<&Usage>, run: Run) {
        let cost = usage.and_then(|usage| cost(model, usage, run));
        self.spent().add(usage, cost);
    }

    /// The sum.
    pub fn sum(&self) -> Spent {
        *self.spent()
    }

    fn spent(&self) -> MutexGuard<'_, Spent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use mainstay_wire::reading::WireForm;

    use super::*;
    use crate::model::Endpoint;

    fn model(url: &str, id: &str) -> Model {
        Model::new("m", id, Endpoint::new("e", url, WireForm::Chat), 200_000, 1_000)
    }

    fn usage(input: u64, cache_read: u64, cache_write: u64, output: u64) -> Usage {
        Usage {
            input,
            cache_read,
            cache_write,
            output,
        }
    }

    const MILLION: u64 = 1_000_000;
    const ANTHROPIC: &str = "https://api.anthropic.com/v1";

    #[test]
    fn the_list_knows_models_by_their_provider() {
        let plain = usage(MILLION, 0, 0, MILLION);
        assert!(cost(&model("https://api.openai.com/v1", "gpt-4o"), &plain, Run::Live).is_some_and(|cost| cost > 1.0));
        assert_eq!(
            cost(&model("http://127.0.0.1:8080/v1", "gpt-4o"), &plain, Run::Live),
            None
        );
        assert_eq!(
            cost(&model("https://api.openai.com/v1", "no-such-model"), &plain, Run::Live),
            None
        );
    }

    #[test]
    fn the_cache_and_batches_have_prices_of_their_own() {
        let sonnet = model(ANTHROPIC, "claude-sonnet-4-5");
        let dollars = |usage| cost(&sonnet, &usage, Run::Live).unwrap();
        let fresh = dollars(usage(100_000, 0, 0, 0));
        assert!((dollars(usage(100_000, 100_000, 0, 0)) / fresh - 0.1).abs() < 1e-9);
        assert!((dollars(usage(100_000, 0, 100_000, 0)) / fresh - 1.25).abs() < 1e-9);
        let batched = cost(&sonnet, &usage(100_000, 0, 0, 0), Run::Batched).unwrap();
        assert!((batched / fresh - 0.5).abs() < 1e-9);
    }

    #[test]
    fn long_prompts_cost_more_where_the_list_says_so() {
        let sonnet = model(ANTHROPIC, "claude-sonnet-4-5");
        let short = cost(&sonnet, &usage(100_000, 0, 0, 0), Run::Live).unwrap();
        let long = cost(&sonnet, &usage(400_000, 0, 0, 0), Run::Live).unwrap();
        assert!(long > 4.0 * short + 1e-9, "{short} {long}");
    }

    #[test]
    fn rates_of_the_caller_win() {
        let mut own = model("http://127.0.0.1:1", "mine");
        own.rates = Some(Rates {
            input: 1.0,
            output: 10.0,
            cache_read: Some(0.1),
            cache_write: None,
        });
        let cost = cost(&own, &usage(4 * MILLION, MILLION, MILLION, MILLION), Run::Live).unwrap();
        assert!((cost - 13.1).abs() < 1e-9, "{cost}");
    }

    #[test]
    fn what_has_no_price_is_counted() {
        let tally = Tally::default();
        let mut own = model("http://127.0.0.1:1", "mine");
        tally.add(&own, Some(&usage(10, 0, 0, 5)), Run::Live);
        tally.add(&own, None, Run::Live);
        assert_eq!((tally.sum().cost, tally.sum().unknown), (None, 2));
        own.rates = Some(Rates::default());
        tally.add(&own, Some(&usage(10, 0, 0, 5)), Run::Live);
        let sum = tally.sum();
        assert_eq!(
            (sum.calls, sum.unknown, sum.cost, sum.usage.total()),
            (3, 2, Some(0.0), 30)
        );
    }
}
