//! Where a policy is played: the session, the settings, and what the models cost.

use mainstay_engine::account::Budget;
use mainstay_engine::account::BudgetPolicy;
use mainstay_engine::account::ModelLimits;
use mainstay_engine::decide::Way;
use mainstay_engine::economy::Matching;
use mainstay_engine::economy::Profile;
use mainstay_engine::economy::ThinkingRule;

use crate::replay::strategy::Settings;
use crate::replay::timeline::Timeline;
use crate::replay::track::SummaryCall;

/// The share of the window that a prompt may fill: the rest is for the answer and for what a count may be off.
const MOST_OF_WINDOW: f64 = 0.85;

/// Where a policy is played.
pub struct Stage<'a> {
    /// The session, as the policy sees it.
    pub timeline: &'a Timeline,
    /// The settings.
    pub settings: &'a Settings,
    /// What tokens cost.
    pub profile: &'a Profile,
    /// What an auxiliary model costs that writes summaries.
    pub summariser: &'a Profile,
}

impl Stage<'_> {
    /// The window of this stage.
    pub fn window(&self) -> u64 {
        self.settings.window.unwrap_or(self.profile.window)
    }

    /// The largest prompt that is sent on purpose.
    pub fn limit(&self) -> u64 {
        (self.window() as f64 * MOST_OF_WINDOW) as u64
    }

    /// Whether the cache finds only what the client marked.
    pub fn is_marked(&self) -> bool {
        matches!(self.profile.cache.matching, Matching::Marked { .. })
    }

    /// Whether the reasoning of finished turns is left out.
    pub fn drops_reasoning(&self) -> bool {
        self.profile.cache.thinking == ThinkingRule::DroppedByNextTurn
    }

    /// A call that reads so many tokens for a summary, of which the cache has these where it is asked for in place.
    pub(super) fn call(&self, way: Way, read: u64, warm: u64) -> SummaryCall {
        let (cached, input) = match way {
            Way::InPlace => (warm.min(read), read.saturating_sub(warm)),
            Way::Auxiliary => (0, read.min(self.settings.summary_input)),
        };
        SummaryCall {
            is_in_place: way == Way::InPlace,
            cached,
            input,
            output: self.settings.summary,
        }
    }

    /// When to compact and what to keep here.
    pub(super) fn budget(&self) -> Budget {
        let limits = ModelLimits::of(&self.profile.model).with_window(self.window());
        let policy = BudgetPolicy {
            threshold: Some(self.settings.threshold),
            ..BudgetPolicy::default()
        };
        Budget::new(&[limits], &policy).expect("shares are checked where settings are made")
    }
}
