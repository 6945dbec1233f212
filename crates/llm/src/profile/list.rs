//! A model's prices out of the price list.
//!
//! The list answers what a usage costs and shows neither rates nor thresholds. Rates are what prompts cost that are all of one kind;
//! thresholds are found by halving the interval between two sizes whose rates differ.

use std::time::Duration;
use std::time::SystemTime;

use genai_prices::Calculator;
use genai_prices::PriceCalculation;
use genai_prices::PriceRequest;
use genai_prices::Usage;
use genai_prices::UsageKey;
use mainstay_engine::economy::Rates;
use mainstay_engine::economy::Tariff;
use mainstay_engine::economy::Tier;

/// The moment whose prices are taken: 16 November 2026, 18:00 UTC, when the tables here were last checked. A fixed one, so that
/// figures can be had again; an evening, because DeepSeek charges double in hours before (01-04 and 06-10 UTC now, 00:30-16:30 for
/// its old models).
const PRICED_AT: Duration = Duration::from_secs(1_794_852_000);

/// Tokens by which rates of output are asked for: the unit in which they are quoted.
const MILLION: f64 = 1e6;

/// For how long a client has prompts written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteLife {
    /// As long as the provider keeps them without being asked.
    Usual,
    /// An hour, at a price of its own.
    Hour,
}

/// One model in the price list.
#[derive(Clone, Debug)]
pub(super) struct PriceList<'a> {
    provider: &'a str,
    model: String,
    title: String,
    write_life: WriteLife,
}

impl<'a> PriceList<'a> {
    /// The model that the list has under this name.
    pub(super) fn of(provider: &'a str, model: &str, write_life: WriteLife) -> Option<Self> {
        let found = ask(provider, model, &Usage::from([(UsageKey::INPUT_TOKENS, 1.0)]))?;
        let known = Calculator::bundled().find_provider(Some(provider), None).ok()??;
        let title = known.models().find(|known| known.id() == found.model_id);
        let title = title.and_then(|known| known.name()).unwrap_or(&found.model_id);
        Some(Self {
            provider,
            title: title.to_owned(),
            // Asked for again by its own name, it is the same model.
            model: found.model_id,
            write_life,
        })
    }

    /// What the list calls it.
    pub(super) fn model(&self) -> &str {
        &self.model
    }

    /// What people call it.
    pub(super) fn title(&self) -> &str {
        &self.title
    }

    /// Its rates for prompts up to this size.
    pub(super) fn tariff(&self, window: u64) -> Option<Tariff> {
        let base = self.rates(1)?;
        let mut tiers = Vec::new();
        let top = window.max(1);
        self.steps((1, base), (top, self.rates(top)?), &mut tiers)?;
        Some(Tariff { base, tiers })
    }

    /// The tiers between two sizes, in order. Prices only rise, or only fall, with the size: between equal rates there is nothing.
    fn steps(&self, low: (u64, Rates), high: (u64, Rates), tiers: &mut Vec<Tier>) -> Option<()> {
        if low.1 == high.1 {
            return Some(());
        }
        if high.0 - low.0 <= 1 {
            tiers.push(Tier {
                above: low.0,
                rates: high.1,
            });
            return Some(());
        }
        let size = low.0 + (high.0 - low.0) / 2;
        let middle = (size, self.rates(size)?);
        self.steps(low, middle, tiers)?;
        self.steps(middle, high, tiers)
    }

    /// What a million tokens of each kind cost in prompts of this size.
    fn rates(&self, prompt: u64) -> Option<Rates> {
        let tokens = prompt as f64;
        // The list counts cached tokens among the input, too.
        let all = |kinds: &[UsageKey]| {
            let mut usage = Usage::from([(UsageKey::INPUT_TOKENS, tokens)]);
            usage.extend(kinds.iter().map(|kind| (kind.clone(), tokens)));
            let price = ask(self.provider, &self.model, &usage)?;
            Some(quoted(price.input_price / tokens * MILLION))
        };
        let input = all(&[])?;
        let written = match self.write_life {
            WriteLife::Usual => all(&[UsageKey::CACHE_WRITE_TOKENS]),
            WriteLife::Hour => all(&[UsageKey::CACHE_WRITE_TOKENS, UsageKey::CACHE_WRITE_1H_TOKENS]),
        };
        let answered = Usage::from([(UsageKey::INPUT_TOKENS, tokens), (UsageKey::OUTPUT_TOKENS, MILLION)]);
        Some(Rates {
            input,
            output: quoted(ask(self.provider, &self.model, &answered)?.output_price),
            // A kind that the list has no price for is input like any other.
            cache_read: all(&[UsageKey::CACHE_READ_TOKENS]).unwrap_or(input),
            cache_write: written.unwrap_or(input),
        })
    }
}

/// A rate as it was quoted, without the noise of multiplying and dividing. Providers quote at most six decimals; the list's few
/// longer ones were divided from something, and lose less than a millionth of a cent a million tokens.
fn quoted(rate: f64) -> f64 {
    (rate * 1e9).round() / 1e9
}

/// What the list says about a usage.
pub(super) fn ask(provider: &str, model: &str, usage: &Usage) -> Option<PriceCalculation> {
    let request = PriceRequest::new(model, usage)
        .with_provider_id(provider)
        .with_timestamp(SystemTime::UNIX_EPOCH + PRICED_AT);
    let price = genai_prices::calculate(&request).ok()?;
    price.total_price.is_finite().then_some(price)
}
