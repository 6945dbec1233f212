//! Replaying many sessions under many policies and profiles.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;

use mainstay_engine::account::Family;
use mainstay_engine::economy::Profile;

use crate::parallel::each;
use crate::replay::figures::Run;
use crate::replay::joined::Extent;
use crate::replay::joined::groups;
use crate::replay::optimum::optimum;
use crate::replay::play::play;
use crate::replay::play::without_summaries;
use crate::replay::price::price;
use crate::replay::recording::Recording;
use crate::replay::stage::Stage;
use crate::replay::strategy::Settings;
use crate::replay::strategy::Strategy;
use crate::replay::timeline::Timeline;
use crate::replay::track::Track;
use crate::retention::Examiner;

/// What is replayed.
pub struct Plan<'a> {
    /// The policies, in the order of the report.
    pub strategies: &'a [Strategy],
    /// The profiles.
    pub profiles: &'a [Profile],
    /// Who writes summaries in the auxiliary way.
    pub summariser: &'a Profile,
    /// The settings.
    pub settings: &'a Settings,
    /// Whether the offline optimum is looked for.
    pub optimum: bool,
    /// How many threads work.
    pub jobs: usize,
}

/// One session under every policy and profile: all policies of the first profile, then of the next.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// Its name.
    pub name: String,
    /// What it was recorded by.
    pub source: String,
    /// Its runs, by profile.
    pub runs: Vec<Vec<Run>>,
}

/// A session ready to be played: its timelines for every family.
pub trait Session: Sync {
    /// The session as a family of models counts it.
    fn timeline(&self, family: Family) -> Timeline;
}

impl Session for Recording {
    fn timeline(&self, family: Family) -> Timeline {
        Timeline::new(self, family)
    }
}

/// Sessions one after the other as one conversation.
impl Session for Vec<&Recording> {
    fn timeline(&self, family: Family) -> Timeline {
        let timelines: Vec<Timeline> = self.iter().map(|recording| Timeline::new(recording, family)).collect();
        Timeline::joined(&timelines).expect("a group has at least one session")
    }
}

/// Sessions joined into conversations of at least so many tokens, as o200k counts them.
pub fn lengthened(recordings: &[Recording], least: u64) -> Vec<Vec<&Recording>> {
    groups(recordings.iter().collect(), least, |recording| Extent {
        source: Arc::clone(&recording.source),
        started: recording.started,
        tokens: Timeline::new(recording, Family::O200k).tokens(),
    })
}

/// Replays all sessions. `done` is called after each, with how many are done.
pub fn replay<S: Session>(sessions: &[S], plan: &Plan<'_>, done: &(dyn Fn(usize) + Sync)) -> Vec<Replayed> {
    let finished = AtomicUsize::new(0);
    let mut replayed = each(sessions, plan.jobs, |session| {
        let replayed = one(session, plan);
        done(finished.fetch_add(1, Ordering::Relaxed) + 1);
        replayed
    });
    // Sessions are told apart by their names.
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for session in &mut replayed {
        let count = seen.entry(session.name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            session.name = format!("{} ({count})", session.name);
        }
    }
    replayed
}

/// What of a session does not depend on the profile.
struct Prepared {
    recorded: Timeline,
    said: Timeline,
    trimmed: Timeline,
    /// Tracks of policies that do not look at prices, by window, whether old reasoning is dropped, and policy.
    tracks: BTreeMap<(u64, bool, usize), Track>,
}

fn one<S: Session>(session: &S, plan: &Plan<'_>) -> Replayed {
    let settings = plan.settings;
    let mut families: BTreeMap<Family, Prepared> = BTreeMap::new();
    let mut examiner: Option<(Examiner, Examiner, Vec<usize>)> = None;
    let mut named = (String::new(), String::new());
    let mut runs = Vec::new();
    for profile in plan.profiles {
        let prepared = families.entry(profile.family).or_insert_with(|| {
            let recorded = session.timeline(profile.family);
            let said = without_summaries(&recorded);
            let (trimmed, _) = said.trimmed(settings.trim_above, settings.trim_to);
            Prepared {
                recorded,
                said,
                trimmed,
                tracks: BTreeMap::new(),
            }
        });
        named = (prepared.said.name.clone(), prepared.said.source.to_string());
        let (as_said, as_recorded, moments) = examiner.get_or_insert_with(|| examiners(prepared, settings));
        let mut by_policy = Vec::new();
        for (place, strategy) in plan.strategies.iter().enumerate() {
            let timeline = match strategy {
                Strategy::Recorded => &prepared.recorded,
                _ if strategy.trims() => &prepared.trimmed,
                _ => &prepared.said,
            };
            let stage = Stage {
                timeline,
                settings,
                profile,
                summariser: plan.summariser,
            };
            let examiner = match strategy {
                Strategy::Recorded => &mut *as_recorded,
                _ => &mut *as_said,
            };
            let key = (stage.window(), stage.drops_reasoning(), place);
            let track = match prepared.tracks.get(&key) {
                Some(track) if !strategy.knows_prices() => track.clone(),
                Some(_) | None => play(&stage, strategy, examiner, moments),
            };
            by_policy.push(Run::new(&track, &price(&track, profile, plan.summariser)));
            if !strategy.knows_prices() {
                prepared.tracks.insert(key, track);
            }
        }
        if plan.optimum {
            let stage = Stage {
                timeline: &prepared.said,
                settings,
                profile,
                summariser: plan.summariser,
            };
            let forgetting = settings.economic.price_of_forgetting(profile, stage.window());
            let passes = optimum(stage.timeline, profile, forgetting, stage.limit());
            let track = play(&stage, &Strategy::Scheduled(passes), as_said, moments);
            by_policy.push(Run::new(&track, &price(&track, profile, plan.summariser)));
        }
        runs.push(by_policy);
    }
    Replayed {
        name: named.0,
        source: named.1,
        runs,
    }
}

/// Examiners of the session without and with recorded summaries, and the requests at which all policies are asked.
fn examiners(prepared: &Prepared, settings: &Settings) -> (Examiner, Examiner, Vec<usize>) {
    let examiner =
        |timeline: &Timeline| Examiner::new(timeline.transcript.messages(), settings.horizon, settings.least_needed);
    let mut said = examiner(&prepared.said);
    let requests = &prepared.said.requests;
    let every = settings.every.max(1);
    let moments = (every..requests.len()).step_by(every);
    let moments = moments.filter(|index| said.asks(requests[*index].before)).collect();
    (said, examiner(&prepared.recorded), moments)
}
