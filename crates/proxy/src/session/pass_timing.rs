//! Decides before each request whether a pass is due, and which: at the threshold, or when it pays by the model's prices.

use mainstay_engine::account::Budget;
use mainstay_engine::account::Fit;
use mainstay_engine::decide::Advice;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Form;
use mainstay_engine::decide::Ground;
use mainstay_engine::decide::Outlook;
use mainstay_engine::decide::Policy;
use mainstay_engine::decide::Way;
use mainstay_engine::economy::Profile;
use mainstay_engine::transcript::Timestamp;
use mainstay_session::PassTrigger;

use crate::session::session_stats::SessionStats;
use crate::settings::CompactionSettings;
use crate::settings::PassTiming;

/// The part of the window that prompts may fill, in hundredths: counts are estimates, and answers need room.
const FILLED: u64 = 90;
/// From this part of the way to the threshold on, a summary is prepared, in hundredths.
const PREPARED_FROM: u64 = 85;
/// From this part of the way on, the conversation is learnt, so that a pass will not have to, in hundredths.
const LEARNT_FROM: u64 = 60;

/// The price of forgetting is so many windows' worth of carrying; it was chosen on sessions with windows of this size.
const PRICED_WINDOW: u64 = 200_000;
/// A pass leaves at most this part of what may be sent, in hundredths: in a small window the next one would come at once otherwise.
const MOST_LEFT: u64 = 60;
/// Between two passes that could wait, prompts of so many times the tokens go out that a pass makes the provider read anew: nine
/// tenths of all tokens and more stay cached, also where prices alone would have it otherwise.
const LEAST_BETWEEN_PASSES: u64 = 12;

/// A pass that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct PassOrder {
    /// How.
    pub policy: Policy,
    /// Why, in words without content.
    pub reason: String,
    /// Why, for the checkpoint.
    pub trigger: PassTrigger,
    /// The share of what is needed next that it is expected to keep.
    pub retention: Option<f64>,
    /// Whether the prompt does not fit without it.
    pub is_must: bool,
}

/// What to do before a request.
#[derive(Clone, Debug, PartialEq)]
pub enum PassDecision {
    /// Nothing, for this reason.
    No(String),
    /// Nothing yet; but whoever makes the pass may learn the conversation.
    Learn,
    /// A pass that is not due yet, and may be prepared.
    Soon(Box<PassOrder>),
    /// A pass.
    Now(Box<PassOrder>),
}

/// What is known of the moment.
pub struct PromptState<'a> {
    /// What the prompt has to fit.
    pub budget: &'a Budget,
    /// The prompt's size as it would go out, on the provider's scale.
    pub prompt: u64,
    /// Tokens of instructions and tools, as counted.
    pub preface: u64,
    /// Tokens of everything else that was said, as counted.
    pub history: u64,
    /// What a count means to the provider.
    pub fit: Fit,
    /// What the model costs, where that is known.
    pub profile: Option<&'a Profile>,
    /// Whether the turn that is going on holds reasoning that the provider has signed.
    pub is_signed: bool,
    /// Now.
    pub now: Timestamp,
}

impl PromptState<'_> {
    /// Larger prompts are not sent on purpose.
    pub fn limit(&self) -> u64 {
        let filled = u64::try_from(u128::from(self.budget.window) * u128::from(FILLED) / 100).unwrap_or(u64::MAX);
        filled
            .min(self.budget.window - self.budget.output)
            .max(self.budget.threshold)
    }
}

/// What to do before a request. Asked once a request: it counts what was paid.
pub fn due(settings: &CompactionSettings, stats: &mut SessionStats, sight: &PromptState<'_>) -> PassDecision {
    let is_must = sight.prompt > sight.limit();
    let due = match (settings.timing, sight.profile) {
        (PassTiming::Never, _) => {
            PassDecision::No("passes are only made where the provider refuses a prompt".to_owned())
        }
        (PassTiming::Economic(_), Some(profile)) => economic(settings, stats, sight, profile),
        (PassTiming::Economic(_) | PassTiming::Threshold, _) => at_threshold(settings, sight),
    };
    match due {
        PassDecision::Now(_) | PassDecision::Soon(_) if is_must => due,
        PassDecision::Now(_) | PassDecision::Soon(_) => match stats.thrash.refusal(sight.now) {
            Some(reason) => PassDecision::No(reason),
            None if sight.is_signed => PassDecision::No(
                "the turn that is going on holds signed reasoning, and the prompt still fits: it is not touched"
                    .to_owned(),
            ),
            None => due,
        },
        PassDecision::No(_) | PassDecision::Learn => due,
    }
}

fn at_threshold(settings: &CompactionSettings, sight: &PromptState<'_>) -> PassDecision {
    let threshold = sight.budget.threshold;
    let reached = |hundredths: u64| u128::from(sight.prompt) * 100 >= u128::from(threshold) * u128::from(hundredths);
    let order = |reason: String| {
        Box::new(PassOrder {
            policy: settings.policy.clone(),
            reason,
            trigger: PassTrigger::Due,
            retention: None,
            is_must: sight.prompt > sight.limit(),
        })
    };
    let prompt = sight.prompt;
    if reached(100) {
        PassDecision::Now(order(format!(
            "the prompt of {prompt} tokens has reached the threshold of {threshold}"
        )))
    } else if reached(PREPARED_FROM) && settings.writing.is_some() {
        PassDecision::Soon(order(format!(
            "the prompt of {prompt} tokens comes near the threshold of {threshold}"
        )))
    } else if reached(LEARNT_FROM) {
        PassDecision::Learn
    } else {
        PassDecision::No(format!(
            "the prompt of {prompt} tokens is below the threshold of {threshold}"
        ))
    }
}

fn economic(
    settings: &CompactionSettings,
    stats: &mut SessionStats,
    sight: &PromptState<'_>,
    profile: &Profile,
) -> PassDecision {
    let scaled = |counted: u64| (counted as f64 * sight.fit.scale) as u64;
    let fixed = scaled(sight.preface) + sight.fit.fixed as u64;
    let ground = Ground {
        family: profile.family,
        fixed,
        found: fixed,
        history: scaled(sight.history),
    };
    let outlook = Outlook {
        profile,
        prompt: sight.prompt,
        warm: stats.warm(sight.now, profile.cache.lifetime).min(sight.prompt),
        // What is forgotten is missed as much in a small window as in a large one.
        window: sight.budget.window.max(PRICED_WINDOW),
        limit: sight.limit(),
        requests: stats.requests,
        history: ground.history,
        output: stats.mean_output(),
    };
    let (form, engine) = match settings.writing {
        Some(_) => (Form::Hybrid(Way::Auxiliary), Engine::Hybrid),
        None => (Form::Ledger, Engine::Ledger),
    };
    // What a call costs is the summariser's business; it is small beside what a pass saves.
    let mut offers: Vec<_> = ground.full_passes(form, 0.0).collect();
    let roomy = outlook.limit / 100 * MOST_LEFT;
    if offers.iter().any(|offer| offer.prompt <= roomy) {
        offers.retain(|offer| offer.prompt <= roomy);
    }
    let is_must = sight.prompt > outlook.limit;
    match stats.economist.advise(&outlook, &offers) {
        Advice::Wait(reason) if sight.prompt * 2 < sight.budget.threshold => PassDecision::No(reason),
        Advice::Wait(_) => PassDecision::Learn,
        Advice::Take(taken, reason) => {
            let offer = &offers[taken];
            let leave = ground.left_by(offer);
            let rewritten = offer.prompt.saturating_sub(ground.found);
            if !is_must && stats.since_pass < LEAST_BETWEEN_PASSES * rewritten {
                return PassDecision::Learn;
            }
            PassDecision::Now(Box::new(PassOrder {
                policy: Policy {
                    engine,
                    target: Some(ground.target(leave)),
                    fills_target: false,
                    tail: Some((leave.tail as f64 / sight.fit.scale) as u64),
                    ..settings.policy.clone()
                },
                reason,
                trigger: PassTrigger::Due,
                retention: Some(offer.retention),
                is_must,
            }))
        }
    }
}
