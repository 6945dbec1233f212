//! Making the report of what was replayed.

use mainstay_engine::economy::Bill;

use crate::replay::figures::Run;
use crate::replay::figures::cadence;
use crate::replay::figures::mean;
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
            ProfileReport {
                profile: profile.name.clone(),
                title: profile.title.clone(),
                window: plan.settings.window.unwrap_or(profile.window),
                best_baseline: sheet.best().map(|best| strategies[best].name().to_owned()),
                optimum: plan.optimum.then(|| sheet.total(strategies.len() - 1)),
                policies: (0..strategies.len()).map(|policy| sheet.policy(policy)).collect(),
            }
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

    fn policy(&self, policy: usize) -> PolicyReport {
        let strategy = &self.strategies[policy];
        let runs = self.runs(policy);
        let mut bill = Bill::default();
        for run in &runs {
            bill += run.bill;
        }
        let prompts: f64 = runs.iter().map(|run| run.prompts.0).sum();
        let read: f64 = runs.iter().map(|run| run.prompts.1).sum();
        let requests: usize = runs.iter().map(|run| run.requests).sum();
        let optimum = self
            .strategies
            .iter()
            .position(|one| matches!(one, Strategy::Scheduled(_)));
        PolicyReport {
            policy: strategy.name().to_owned(),
            title: strategy.title().to_owned(),
            is_baseline: strategy.is_baseline(),
            total: bill.total(),
            bill,
            against_best: self.best().and_then(|best| self.against(policy, best)),
            above_optimum: optimum.map(|optimum| bill.total() / self.total(optimum) - 1.0),
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

    /// The differences to another policy, session by session, as a share of what that one costs on average.
    fn against(&self, policy: usize, other: usize) -> Option<crate::stats::Estimate> {
        let (runs, others) = (self.runs(policy), self.runs(other));
        let scale = self.total(other) / others.len().max(1) as f64;
        let pairs = runs.iter().zip(&others).zip(self.replayed);
        let differences = pairs.map(|((run, other), session)| {
            let difference = run.bill.total() - other.bill.total();
            (difference / scale, session.name.as_str())
        });
        if policy == other || scale <= 0.0 {
            return None;
        }
        estimate(differences)
    }

    fn retention(&self, runs: &[&Run]) -> Retention {
        let sessions = || runs.iter().zip(self.replayed);
        let of_moments = |figure: &dyn Fn(&Kept) -> Option<f64>| {
            let moments = sessions().flat_map(|(run, session)| {
                let kept = run.kept.iter().filter_map(figure);
                kept.map(|share| (share, session.name.as_str()))
            });
            estimate(moments)
        };
        let by_session = sessions().filter_map(|(run, session)| {
            let share = mean(run.kept.iter().map(|kept| kept.fur))?;
            Some((share, session.name.as_str()))
        });
        let at_passes = || runs.iter().flat_map(|run| &run.passes).filter_map(|pass| pass.kept);
        Retention {
            fur: of_moments(&|kept| Some(kept.fur)),
            pair: of_moments(&|kept| kept.pair),
            fur_by_session: estimate(by_session),
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
