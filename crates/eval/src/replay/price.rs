//! What a track costs under a profile.

use mainstay_engine::economy::Bill;
use mainstay_engine::economy::Profile;
use mainstay_engine::economy::PromptCache;
use mainstay_engine::economy::Served;
use mainstay_engine::economy::charge;

use crate::replay::track::SummaryCall;
use crate::replay::track::Track;

/// Tokens of the instruction that asks for a summary in place.
const INSTRUCTION: f64 = 600.0;

/// A track, priced.
#[derive(Clone, Debug, Default)]
pub struct Priced {
    /// What every request cost, the summary calls before it included.
    pub bills: Vec<Bill>,
    /// How every request was served.
    pub served: Vec<Served>,
}

impl Priced {
    /// Everything together.
    pub fn total(&self) -> Bill {
        let mut total = Bill::default();
        for bill in &self.bills {
            total += *bill;
        }
        total
    }
}

/// Prices a track; the summariser is who writes summaries in the auxiliary way.
pub fn price(track: &Track, profile: &Profile, summariser: &Profile) -> Priced {
    let mut cache = PromptCache::new(profile.cache.clone());
    let mut priced = Priced::default();
    for step in &track.steps {
        let served = cache.serve(step.keep, &step.added, step.at);
        priced.bills.push(charge(&profile.tariff, &served, step.output as f64));
        priced.served.push(served);
    }
    for pass in &track.passes {
        if let Some(call) = &pass.summary {
            priced.bills[pass.request].summaries += summary_price(call, profile, summariser);
        }
    }
    priced
}

/// What a summary call costs.
pub fn summary_price(call: &SummaryCall, profile: &Profile, summariser: &Profile) -> f64 {
    let asked = if call.is_in_place { profile } else { summariser };
    // Another model may count otherwise.
    let counted = asked.family.per_plain_token() / profile.family.per_plain_token();
    let read = call.cached as f64 * (1.0 - profile.cache.missed);
    let served = Served {
        read,
        write: 0.0,
        fresh: (call.cached as f64 - read + call.input as f64) * counted + INSTRUCTION,
    };
    charge(&asked.tariff, &served, call.output as f64 * counted).total()
}
