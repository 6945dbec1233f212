//! Whether predicted requests agree with what providers reported.
//!
//! Recorded sessions are replayed as they were through the simulated cache, and every request is put beside its report: the
//! whole prompt, what was read from the cache, what was written to it. Requests that a prediction starts from are left out.

use std::collections::BTreeMap;
use std::sync::Arc;

use mainstay_engine::economy::CacheRules;
use mainstay_llm::profile;
use mainstay_llm::profile::Client;
use serde::Serialize;

use crate::parallel::each;
use crate::replay::predict::Prediction;
use crate::replay::predict::predict;
use crate::replay::recording::Recording;
use crate::replay::requests::PrefaceChange;

/// So many of the requests that are furthest off are told.
const WORST: usize = 12;

/// How well requests were predicted, by agent.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// One for every agent, by name.
    pub agents: Vec<AgentCheck>,
}

/// How well the requests of one agent were predicted.
#[derive(Clone, Debug, Serialize)]
pub struct AgentCheck {
    /// The agent.
    pub source: Arc<str>,
    /// Sessions with a prediction.
    pub sessions: usize,
    /// Requests that were predicted.
    pub requests: usize,
    /// The whole prompts.
    pub input: Agreement,
    /// What was read from the cache.
    pub cache_read: Agreement,
    /// What was written to it, where the provider reports that.
    pub cache_write: Option<Agreement>,
    /// Each session.
    pub by_session: Vec<SessionCheck>,
    /// The requests whose reads are furthest off.
    pub worst: Vec<Stray>,
}

/// How well one measure was predicted. Errors are shares of what was reported, positive where too much was predicted.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Agreement {
    /// Tokens predicted, in all sessions.
    pub predicted: f64,
    /// Tokens reported.
    pub reported: f64,
    /// The error in total.
    pub error: f64,
    /// The median of the sessions' errors.
    pub median_error: f64,
    /// The median of their sizes, whatever their direction.
    pub median_distance: f64,
}

/// Tokens of a session's requests.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Figures {
    /// The whole prompts.
    pub input: f64,
    /// Read from the cache.
    pub cache_read: f64,
    /// Written to it.
    pub cache_write: f64,
}

/// One session.
#[derive(Clone, Debug, Serialize)]
pub struct SessionCheck {
    /// The session.
    pub session: String,
    /// Requests that were predicted.
    pub requests: usize,
    /// What they should have come to.
    pub predicted: Figures,
    /// What they came to.
    pub reported: Figures,
}

/// A request that was served otherwise than predicted.
#[derive(Clone, Debug, Serialize)]
pub struct Stray {
    /// The session.
    pub session: String,
    /// The request's index.
    pub request: usize,
    /// Seconds since the one before.
    pub gap: f64,
    /// Tokens that should have been read from the cache.
    pub predicted: f64,
    /// Tokens that were.
    pub reported: u64,
    /// Why, as far as that is known.
    pub reason: Reason,
}

/// Why a request was served otherwise than predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The host was started anew, and what stayed of its preface was not what was expected.
    Restart,
    /// Tools were loaded.
    Tools,
    /// Another model was asked.
    Model,
    /// The entry was near or beyond the end of its life.
    Expired,
    /// Reasoning was left out of the history.
    Reasoning,
    /// The provider did not find what it had.
    Missed,
    /// The prompt's size was off: something stood in it that the log does not show.
    Size,
    /// More was cached than the log accounts for: another request of the host had brought it there.
    Elsewhere,
}

/// The cache that the requests of a session met: that of its model, with the marks of the agent that recorded it.
pub fn agent_rules(recording: &Recording) -> Option<CacheRules> {
    let client = Client::of_format(&recording.source);
    let profile = profile::of_model(recording.model.as_deref()?, client)?;
    Some(profile.cache)
}

/// Replays sessions as recorded. Those of agents without rules, and those without reports, are passed over.
pub fn check(recordings: &[Recording], jobs: usize, rules: impl Fn(&Recording) -> Option<CacheRules> + Sync) -> Check {
    let checked = each(recordings, jobs, |recording| {
        let rules = rules(recording)?;
        let predictions = predict(recording, &rules);
        (!predictions.is_empty()).then_some((rules, predictions))
    });
    let mut agents: BTreeMap<Arc<str>, Vec<Checked<'_>>> = BTreeMap::new();
    for (recording, checked) in recordings.iter().zip(checked) {
        if let Some((rules, predictions)) = checked {
            let sessions = agents.entry(Arc::clone(&recording.source)).or_default();
            sessions.push((recording, rules, predictions));
        }
    }
    let agents = agents
        .into_iter()
        .map(|(source, sessions)| AgentCheck::of(source, &sessions));
    Check {
        agents: agents.collect(),
    }
}

/// A session with the rules it was predicted by.
type Checked<'a> = (&'a Recording, CacheRules, Vec<Prediction>);

impl AgentCheck {
    fn of(source: Arc<str>, sessions: &[Checked<'_>]) -> Self {
        let by_session: Vec<_> = sessions
            .iter()
            .map(|(recording, _, predictions)| SessionCheck::of(recording, predictions))
            .collect();
        let mut worst: Vec<Stray> = Vec::new();
        for (recording, rules, predictions) in sessions {
            worst.extend(
                predictions
                    .iter()
                    .map(|prediction| Stray::of(recording, rules, prediction)),
            );
            worst.sort_by(|one, other| other.distance().total_cmp(&one.distance()));
            worst.truncate(WORST);
        }
        let write = Agreement::of(&by_session, |figures| figures.cache_write);
        Self {
            source,
            sessions: by_session.len(),
            requests: by_session.iter().map(|session| session.requests).sum(),
            input: Agreement::of(&by_session, |figures| figures.input),
            cache_read: Agreement::of(&by_session, |figures| figures.cache_read),
            cache_write: (write.reported > 0.0).then_some(write),
            by_session,
            worst,
        }
    }
}

impl Agreement {
    fn of(sessions: &[SessionCheck], measure: impl Fn(&Figures) -> f64) -> Self {
        let predicted: f64 = sessions.iter().map(|session| measure(&session.predicted)).sum();
        let reported: f64 = sessions.iter().map(|session| measure(&session.reported)).sum();
        let errors: Vec<f64> = sessions
            .iter()
            .filter(|session| measure(&session.reported) > 0.0)
            .map(|session| measure(&session.predicted) / measure(&session.reported) - 1.0)
            .collect();
        Self {
            predicted,
            reported,
            error: if reported > 0.0 {
                predicted / reported - 1.0
            } else {
                0.0
            },
            median_distance: median(errors.iter().map(|error| error.abs()).collect()),
            median_error: median(errors),
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        even if even % 2 == 0 => f64::midpoint(values[middle - 1], values[middle]),
        _ => values[middle],
    }
}

impl SessionCheck {
    fn of(recording: &Recording, predictions: &[Prediction]) -> Self {
        let mut predicted = Figures::default();
        let mut reported = Figures::default();
        for prediction in predictions {
            predicted.input += prediction.served.prompt();
            predicted.cache_read += prediction.served.read;
            predicted.cache_write += prediction.served.write;
            reported.input += prediction.reported.input as f64;
            reported.cache_read += prediction.reported.cache_read as f64;
            reported.cache_write += prediction.reported.cache_write as f64;
        }
        Self {
            session: recording.name.clone(),
            requests: predictions.len(),
            predicted,
            reported,
        }
    }
}

impl Stray {
    fn of(recording: &Recording, rules: &CacheRules, prediction: &Prediction) -> Self {
        let served = &prediction.served;
        let reported = &prediction.reported;
        let short = served.read - reported.cache_read as f64;
        let drift = served.prompt() - reported.input as f64;
        let reason = match prediction.change {
            Some(PrefaceChange::Restart) => Reason::Restart,
            Some(PrefaceChange::Tools) => Reason::Tools,
            Some(PrefaceChange::Model) => Reason::Model,
            // From half of its life on, entries of some providers are gone now and then.
            None if prediction.gap * 2 > rules.lifetime => Reason::Expired,
            None if drift * short > 0.0 && drift.abs() * 2.0 > short.abs() => Reason::Size,
            None if prediction.is_thinned => Reason::Reasoning,
            None if short > 0.0 => Reason::Missed,
            None => Reason::Elsewhere,
        };
        Self {
            session: recording.name.clone(),
            request: prediction.request,
            gap: prediction.gap as f64 / 1000.0,
            predicted: served.read,
            reported: reported.cache_read,
            reason,
        }
    }

    fn distance(&self) -> f64 {
        (self.predicted - self.reported as f64).abs()
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
