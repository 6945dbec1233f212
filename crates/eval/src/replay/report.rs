//! What a replay came to.

use std::collections::BTreeMap;

use mainstay_engine::economy::Bill;
use serde::Serialize;

use crate::replay::track::Pass;
use crate::stats;
use crate::stats::Estimate;

/// Everything a replay has to say.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// How many sessions were replayed.
    pub sessions: usize,
    /// How many requests they have.
    pub requests: usize,
    /// The window that policies had to keep to; none where each profile has its own.
    pub window: Option<u64>,
    /// One for every profile.
    pub profiles: Vec<ProfileReport>,
}

/// All policies under one profile.
#[derive(Clone, Debug, Serialize)]
pub struct ProfileReport {
    /// The profile.
    pub profile: String,
    /// What it stands for.
    pub title: String,
    /// The window that policies had to keep to.
    pub window: u64,
    /// The cheapest baseline whose prompts fit the window.
    pub best_baseline: Option<String>,
    /// What the offline optimum costs with what it forgets, where it was asked for.
    pub optimum: Option<f64>,
    /// One for every policy.
    pub policies: Vec<PolicyReport>,
}

/// One policy under one profile, over all sessions.
#[derive(Clone, Debug, Serialize)]
pub struct PolicyReport {
    /// Its name.
    pub policy: String,
    /// What it does, in words.
    pub title: String,
    /// Whether it is one of those to beat.
    pub is_baseline: bool,
    /// What it cost.
    pub bill: Bill,
    /// All of it.
    pub total: f64,
    /// The cost of each session beside that of the best baseline: the mean of the differences, as a share of the
    /// baseline's mean.
    pub against_best: Option<Estimate>,
    /// What was lost of what the agent went on to use, at the price that the economic policy sets on it.
    pub forgetting: f64,
    /// By how much cost and forgetting together are more than those of the offline optimum, as a share.
    pub above_optimum: Option<f64>,
    /// The cadence of its passes.
    pub cadence: Cadence,
    /// The share of prompt tokens that were read from the cache.
    pub cache_hits: f64,
    /// The largest prompt.
    pub peak: u64,
    /// The mean prompt.
    pub mean_prompt: f64,
    /// Seconds of waiting for models, estimated.
    pub wall: f64,
    /// Requests whose prompt did not fit the window.
    pub overflowing: usize,
    /// What was kept of what the agent went on to use.
    pub retention: Retention,
    /// Each session.
    pub by_session: Vec<SessionFigures>,
}

/// The seven figures of cadence.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Cadence {
    /// Passes.
    pub passes: usize,
    /// Passes for every hundred requests.
    pub per_hundred: f64,
    /// Requests between one pass and the next, on average; none where no session had two.
    pub between: Option<f64>,
    /// Summary calls a session.
    pub summary_calls: f64,
    /// Tokens taken out by a pass, on average.
    pub reclaimed: Option<f64>,
    /// Tokens of all prompts and of all summary calls.
    pub tokens: f64,
    /// The first message that a pass changed, on average.
    pub earliest: Option<f64>,
    /// The share of passes that only pruned.
    pub prune_only: Option<f64>,
}

/// What was kept of what the agent went on to use.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Retention {
    /// The share of identifiers, at the same moments for all policies: a mean over all moments.
    pub fur: Option<Estimate>,
    /// The share of pairs that stood together.
    pub pair: Option<Estimate>,
    /// The share of identifiers, as the mean of the sessions' means: short sessions count as much as long ones.
    pub fur_by_session: Option<Estimate>,
    /// The share of identifiers directly after passes.
    pub fur_at_passes: Option<f64>,
    /// The share of pairs directly after passes.
    pub pair_at_passes: Option<f64>,
    /// How many moments were looked at.
    pub moments: usize,
}

/// One session under one policy and one profile.
#[derive(Clone, Debug, Serialize)]
pub struct SessionFigures {
    /// The session.
    pub session: String,
    /// Its requests.
    pub requests: usize,
    /// What it cost.
    pub bill: Bill,
    /// The share of prompt tokens read from the cache.
    pub cache_hits: f64,
    /// Its passes.
    pub passes: Vec<Pass>,
    /// The largest prompt.
    pub peak: u64,
    /// The share of identifiers kept, at the moments at which all are asked.
    pub fur: Option<f64>,
    /// The share of pairs.
    pub pair: Option<f64>,
    /// The course of the session, for charts: of every request its prompt, what was paid up to it, and whether a pass was
    /// made before it. Only where a page was asked for, and not in JSON: thousands of numbers a session.
    #[serde(skip)]
    pub course: Vec<Mark>,
}

/// One request in the course of a session.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Mark {
    /// The prompt's tokens.
    pub prompt: u64,
    /// Dollars up to and with it.
    pub paid: f64,
    /// Whether a pass was made before it.
    pub is_pass: bool,
}

/// The policy that does what was done in the recording.
pub const AS_RECORDED: &str = "as-recorded";
/// The policy that knows what will come: a bound for others, and none to choose.
pub const OPTIMUM: &str = "optimum";

/// What a policy is to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// What was done in the recording.
    Recorded,
    /// A schedule made with the future known.
    Bound,
    /// One of those to beat.
    Baseline,
    /// One of ours.
    Ours,
}

impl PolicyReport {
    /// What it is to the others.
    pub fn standing(&self) -> Standing {
        match self.policy.as_str() {
            AS_RECORDED => Standing::Recorded,
            OPTIMUM => Standing::Bound,
            _ if self.is_baseline => Standing::Baseline,
            _ => Standing::Ours,
        }
    }

    /// Whether all of its prompts fit the window.
    pub fn fits(&self) -> bool {
        self.overflowing == 0
    }

    /// What it costs beside another, session by session: the mean of the differences, as a share of the other's mean.
    /// Sessions that only one of them has are left out.
    pub fn against(&self, other: &Self) -> Option<Estimate> {
        let costs: BTreeMap<&str, f64> = other
            .by_session
            .iter()
            .map(|session| (session.session.as_str(), session.bill.total()))
            .collect();
        let pairs: Vec<(&str, f64, f64)> = self
            .by_session
            .iter()
            .filter_map(|session| {
                let name = session.session.as_str();
                Some((name, session.bill.total(), *costs.get(name)?))
            })
            .filter(|(_, own, others)| own.is_finite() && others.is_finite())
            .collect();
        let mean = pairs.iter().map(|(_, _, others)| others).sum::<f64>() / pairs.len() as f64;
        if !(mean.is_finite() && mean > 0.0) {
            return None;
        }
        let differences = pairs.iter().map(|(name, own, others)| ((own - others) / mean, *name));
        stats::estimate(differences)
    }
}
