//! Making the report of what was replayed.

use mainstay_engine::economy::Bill;
use mainstay_engine::economy::Profile;

use crate::replay::figures::Run;
use crate::replay::figures::cadence;
use crate::replay::figures::mean;
use crate::replay::report::OPTIMUM;
use crate::replay::report::PolicyReport;
use crate::replay::report::ProfileReport;
use crate::replay::report::Report;
use crate::replay::report::Retention;
use crate::replay::report::SessionFigures;
use crate::replay::strategy::Strategy;
use crate::replay::study::Plan;
use crate::replay::study::Replayed;
use crate::replay::track::Kept;
use crate::stats::estimate;

impl Report {
    /// The report of what was replayed; with the course of every session where charts are wanted.
    pub fn new(replayed: &[Replayed], plan: &Plan<'_>, with_courses: bool) -> Self {
        let mut strategies: Vec<Strategy> = plan.strategies.to_vec();
        if plan.optimum {
            strategies.push(Strategy::Scheduled(Vec::new()));
        }
        let profiles = plan.profiles.iter().enumerate().map(|(place, profile)| {
            let sheet = Sheet {
                replayed,
                profile: place,
                strategies: &strategies,
                with_courses,
            };
            sheet.report(profile, plan)
        });
        let first = replayed.iter().filter_map(|session| session.runs.first()?.first());
        Self {
            sessions: replayed.len(),
            requests: first.map(|run| run.requests).sum(),
            window: plan.settings.window,
            profiles: profiles.collect(),
        }
    }
}

/// All policies under one profile.
struct Sheet<'a> {
    replayed: &'a [Replayed],
    profile: usize,
    strategies: &'a [Strategy],
    with_courses: bool,
}

impl Sheet<'_> {
    fn report(&self, profile: &Profile, plan: &Plan<'_>) -> ProfileReport {
        let window = plan.settings.window.unwrap_or(profile.window);
        let price = plan.settings.economic.price_of_forgetting(profile, window);
        let mut policies: Vec<PolicyReport> = (0..self.strategies.len())
            .map(|policy| self.policy(policy, price))
            .collect();
        let best = self.best().map(|best| policies[best].clone());
        let optimum = policies.iter().find(|policy| policy.policy == OPTIMUM);
        let optimum = optimum.map(|optimum| optimum.total + optimum.forgetting);
        for policy in &mut policies {
            let other = best.as_ref().filter(|best| best.policy != policy.policy);
            policy.against_best = other.and_then(|best| policy.against(best));
            let optimum = optimum.filter(|optimum| *optimum > 0.0);
            let above = |optimum: f64| (policy.total + policy.forgetting) / optimum - 1.0;
            policy.above_optimum = optimum.map(above);
        }
        ProfileReport {
            profile: profile.name.clone(),
            title: profile.title.clone(),
            window,
            best_baseline: best.map(|best| best.policy),
            optimum,
            policies,
        }
    }

    fn runs(&self, policy: usize) -> Vec<&Run> {
        let runs = self.replayed.iter().map(|session| &session.runs[self.profile][policy]);
        runs.collect()
    }

    fn total(&self, policy: usize) -> f64 {
        self.runs(policy).iter().map(|run| run.bill.total()).sum()
    }

    /// The cheapest baseline whose prompts all fit.
    fn best(&self) -> Option<usize> {
        let fits = |policy: &usize| self.runs(*policy).iter().all(|run| run.overflowing == 0);
        let baselines = (0..self.strategies.len()).filter(|policy| self.strategies[*policy].is_baseline());
        let fitting = baselines.filter(fits);
        fitting.min_by(|one, other| self.total(*one).total_cmp(&self.total(*other)))
    }

    fn policy(&self, policy: usize, forgetting: f64) -> PolicyReport {
        let strategy = &self.strategies[policy];
        let runs = self.runs(policy);
        let mut bill = Bill::default();
        for run in &runs {
            bill += run.bill;
        }
        let prompts: f64 = runs.iter().map(|run| run.prompts.0).sum();
        let read: f64 = runs.iter().map(|run| run.prompts.1).sum();
        let requests: usize = runs.iter().map(|run| run.requests).sum();
        let lost = mean(runs.iter().flat_map(|run| &run.kept).map(Kept::lost)).unwrap_or(0.0);
        PolicyReport {
            policy: strategy.name().to_owned(),
            title: strategy.title().to_owned(),
            is_baseline: strategy.is_baseline(),
            total: bill.total(),
            bill,
            against_best: None,
            forgetting: forgetting * lost * requests as f64,
            above_optimum: None,
            cadence: cadence(&runs),
            cache_hits: if prompts > 0.0 { read / prompts } else { 0.0 },
            peak: runs.iter().map(|run| run.peak).max().unwrap_or(0),
            mean_prompt: prompts / requests.max(1) as f64,
            wall: runs.iter().map(|run| run.wall).sum(),
            overflowing: runs.iter().map(|run| run.overflowing).sum(),
            retention: self.retention(&runs),
            by_session: self.by_session(&runs),
        }
    }

    fn retention(&self, runs: &[&Run]) -> Retention {
        let sessions = || runs.iter().zip(self.replayed);
        let of_moments = |figure: &dyn Fn(&Kept) -> Option<f64>| {
            let moments = sessions().flat_map(|(run, session)| {
                let kept = run.kept.iter().filter_map(figure);
                kept.map(|share| (share, session.name.as_str()))
            });
            estimate(moments).map(|share| share.on_scale(1.0))
        };
        let by_session = sessions().filter_map(|(run, session)| {
            let share = mean(run.kept.iter().map(|kept| kept.fur))?;
            Some((share, session.name.as_str()))
        });
        let at_passes = || runs.iter().flat_map(|run| &run.passes).filter_map(|pass| pass.kept);
        Retention {
            fur: of_moments(&|kept| Some(kept.fur)),
            pair: of_moments(&|kept| kept.pair),
            fur_by_session: estimate(by_session).map(|share| share.on_scale(1.0)),
            fur_at_passes: mean(at_passes().map(|kept| kept.fur)),
            pair_at_passes: mean(at_passes().filter_map(|kept| kept.pair)),
            moments: runs.iter().map(|run| run.kept.len()).sum(),
        }
    }

    fn by_session(&self, runs: &[&Run]) -> Vec<SessionFigures> {
        let sessions = runs.iter().zip(self.replayed);
        sessions
            .map(|(run, session)| SessionFigures {
                session: session.name.clone(),
                requests: run.requests,
                bill: run.bill,
                cache_hits: run.prompts.1 / run.prompts.0.max(1.0),
                passes: run.passes.clone(),
                peak: run.peak,
                fur: mean(run.kept.iter().map(|kept| kept.fur)),
                pair: mean(run.kept.iter().filter_map(|kept| kept.pair)),
                course: match self.with_courses {
                    true => run.course.clone(),
                    false => Vec::new(),
                },
            })
            .collect()
    }
}
