//! Which policies of a profile a verdict speaks of.

use crate::replay::report::PolicyReport;
use crate::replay::report::ProfileReport;
use crate::replay::report::Standing;

/// The policies that a verdict on a profile speaks of.
#[derive(Clone, Copy, Debug)]
pub struct Podium<'a> {
    /// The cheapest of those that could be chosen: its prompts fit, and it does not know the future.
    pub cheapest: Option<&'a PolicyReport>,
    /// The cheapest of ours.
    pub ours: Option<&'a PolicyReport>,
    /// The baseline to beat.
    pub baseline: Option<&'a PolicyReport>,
    /// The recording.
    pub recorded: Option<&'a PolicyReport>,
}

impl<'a> Podium<'a> {
    /// Those of a profile.
    pub fn of(profile: &'a ProfileReport) -> Self {
        let eligible = || {
            let policies = profile.policies.iter();
            policies.filter(|policy| policy.standing() != Standing::Bound && policy.fits() && policy.total.is_finite())
        };
        let cheaper = |one: &&PolicyReport, other: &&PolicyReport| one.total.total_cmp(&other.total);
        Self {
            cheapest: eligible().min_by(cheaper),
            // Of equal ones the last: the plainest of ours stands behind its variants.
            ours: eligible()
                .rev()
                .filter(|policy| policy.standing() == Standing::Ours)
                .min_by(cheaper),
            baseline: profile
                .policies
                .iter()
                .find(|policy| profile.best_baseline.as_ref() == Some(&policy.policy)),
            recorded: profile
                .policies
                .iter()
                .find(|policy| policy.standing() == Standing::Recorded),
        }
    }
}
