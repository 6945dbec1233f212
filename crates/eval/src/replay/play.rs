//! Playing a session under a policy.

use mainstay_engine::account::Budget;
use mainstay_engine::decide::Advice;
use mainstay_engine::decide::Economist;
use mainstay_engine::decide::Engine;
use mainstay_engine::decide::Form;
use mainstay_engine::decide::Leave;
use mainstay_engine::decide::Offer;
use mainstay_engine::decide::Outlook;
use mainstay_engine::decide::Policy;
use mainstay_engine::decide::Way;
use mainstay_engine::decide::low_water;
use mainstay_engine::decide::protected_outputs;
use mainstay_engine::economy::Matching;
use mainstay_engine::transcript::Author;

use crate::replay::clearing::clear;
use crate::replay::offers;
use crate::replay::requests::Request;
use crate::replay::stage::Stage;
use crate::replay::strategy::Strategy;
use crate::replay::timeline::Timeline;
use crate::replay::track::Kept;
use crate::replay::track::Pass;
use crate::replay::track::PassKind;
use crate::replay::track::SummaryCall;
use crate::replay::track::Track;
use crate::replay::walk::Made;
use crate::replay::walk::Walk;
use crate::retention::Examiner;

/// So many offers are tried before a request.
const MOST_ATTEMPTS: usize = 3;

/// A policy in the middle of a session.
struct Player<'a> {
    stage: &'a Stage<'a>,
    strategy: &'a Strategy,
    walk: Walk<'a>,
    budget: Budget,
    economist: Economist,
    /// Tokens that came back so far.
    output: u64,
    /// When the last request was sent.
    sent: Option<i64>,
    /// The recorded compactions that have happened.
    events: usize,
}

/// What was done before a request.
type Done = (PassKind, Made, Option<SummaryCall>);

/// Plays a session; `moments` are the requests at which it is asked what it kept.
pub fn play(stage: &Stage<'_>, strategy: &Strategy, examiner: &mut Examiner, moments: &[usize]) -> Track {
    let mut player = Player::new(stage, strategy);
    let mut track = Track::default();
    for (index, request) in stage.timeline.requests.iter().enumerate() {
        player.step(index, request, examiner, moments, &mut track);
    }
    track
}

impl<'a> Player<'a> {
    fn new(stage: &'a Stage<'a>, strategy: &'a Strategy) -> Self {
        let mut walk = Walk::new(stage.timeline, stage.drops_reasoning());
        walk.is_whole = !strategy.trims();
        Self {
            stage,
            strategy,
            walk,
            budget: stage.budget(),
            economist: Economist::new(stage.settings.economic),
            output: 0,
            sent: None,
            events: 0,
        }
    }

    /// Sends one request, after what has to be done before it.
    fn step(&mut self, index: usize, request: &Request, examiner: &mut Examiner, moments: &[usize], track: &mut Track) {
        self.walk.hear(request.before, request.epoch);
        if let Some((kind, made, summary)) = self.act(index, request) {
            let texts = self.walk.texts();
            let score = examiner.score(request.before, &texts);
            track.passes.push(Pass {
                request: index,
                kind,
                before: made.before,
                after: made.after,
                said: self.walk.said(),
                earliest: made.earliest,
                summary,
                kept: score.map(Kept::from),
            });
        }
        if moments.binary_search(&index).is_ok() {
            let whole = Kept {
                fur: 1.0,
                pair: examiner.asks_pairs(request.before).then_some(1.0),
            };
            let kept = match self.walk.is_whole {
                true => Some(whole),
                false => examiner.score(request.before, &self.walk.texts()).map(Kept::from),
            };
            track.kept.push(kept.unwrap_or(whole));
        }
        if self.walk.prompt() + request.output > self.stage.window() {
            track.overflowing += 1;
        }
        self.sent = Some(request.at);
        self.output += request.output;
        track.steps.push(self.walk.send(request.at, request.output));
    }

    fn act(&mut self, index: usize, request: &Request) -> Option<Done> {
        let is_high = self.walk.prompt() >= self.budget.threshold;
        match self.strategy {
            Strategy::Never => None,
            Strategy::Recorded => self.recorded(request),
            Strategy::Threshold if is_high => self.summarise(),
            Strategy::PruneFirst | Strategy::Trimming if is_high => {
                self.prune_to(low_water(self.budget.threshold, self.budget.window))
            }
            Strategy::NaivePrune if is_high => self.prune_to(self.budget.threshold.saturating_sub(1)),
            Strategy::Clearing if self.walk.said() + self.walk.preface() > self.stage.settings.clear_above => {
                let settings = self.stage.settings;
                let made = clear(&mut self.walk, settings.clear_keeps, settings.clear_least)?;
                Some((PassKind::Clearing, made, None))
            }
            Strategy::Threshold
            | Strategy::PruneFirst
            | Strategy::Trimming
            | Strategy::NaivePrune
            | Strategy::Clearing => None,
            Strategy::Economic | Strategy::EconomicHybrid | Strategy::EconomicTrimming => self.economic(index, request),
            Strategy::Scheduled(passes) => {
                let place = passes.binary_search_by_key(&index, |(request, _)| *request).ok()?;
                self.ledger(passes[place].1)
            }
        }
    }

    fn recorded(&mut self, request: &Request) -> Option<Done> {
        let transcript = &self.stage.timeline.transcript;
        let events = transcript.events();
        let due = events[self.events..]
            .iter()
            .take_while(|event| event.before <= request.before)
            .count();
        self.events += due;
        let event = events[..self.events].last().filter(|_| due > 0)?;
        // The summary stands first where the log shows it.
        let first = event.summary.unwrap_or(event.before).min(event.before);
        let warm = self.warm(request);
        let mut made = self.walk.forget_before(first)?;
        // What else was left only the provider's next report shows.
        if let Some(reported) = request.reported {
            made.after += self.walk.recollect(reported.input);
        }
        let summary = self.call(&made, Way::InPlace, warm);
        Some((PassKind::Recorded, made, Some(summary)))
    }

    /// A summary of the usual size in place of everything but head and tail.
    ///
    /// Nobody writes it here: the ledger stands in for it, cut to the size of a recorded summary. That is kind to the
    /// policy, for recorded summaries keep far less of what is needed.
    fn summarise(&mut self) -> Option<Done> {
        let leave = Leave {
            tail: self.budget.tail,
            block: self.stage.settings.summary,
        };
        let (_, made, _) = self.ledger(leave)?;
        Some((PassKind::Summary, made, Some(self.call(&made, Way::Auxiliary, 0))))
    }

    fn call(&self, made: &Made, way: Way, warm: u64) -> SummaryCall {
        let read = match way {
            Way::InPlace => made.before,
            Way::Auxiliary => made.replaced,
        };
        self.stage.call(way, read, warm)
    }

    fn prune(&mut self) -> Option<Made> {
        let policy = Policy {
            engine: Engine::Prune,
            ..Policy::default()
        };
        self.walk.compact(&policy, &self.budget)
    }

    /// Prunes; where that does not come down to this, a summary follows in the same pass.
    fn prune_to(&mut self, enough: u64) -> Option<Done> {
        let pruned = self.prune();
        if let Some(made) = pruned.filter(|made| made.after <= enough) {
            return Some((PassKind::Prune, made, None));
        }
        let full = self.summarise();
        match (pruned, full) {
            (Some(pruned), Some((kind, made, call))) => {
                let both = Made {
                    before: pruned.before,
                    earliest: pruned.earliest.min(made.earliest),
                    ..made
                };
                Some((kind, both, call))
            }
            (Some(pruned), None) => Some((PassKind::Prune, pruned, None)),
            (None, full) => full,
        }
    }

    fn ledger(&mut self, leave: Leave) -> Option<Done> {
        let target = offers::ground(&self.walk, self.stage.is_marked()).target(leave);
        let tail = (leave.tail as f64 / self.stage.timeline.scale) as u64;
        let policy = Policy {
            engine: Engine::Ledger,
            target: Some(target),
            fills_target: false,
            tail: Some(tail),
            ..Policy::default()
        };
        let made = self.walk.compact(&policy, &self.budget)?;
        Some((PassKind::Ledger, made, None))
    }

    fn economic(&mut self, index: usize, request: &Request) -> Option<Done> {
        let profile = self.stage.profile;
        let outlook = Outlook {
            profile,
            prompt: self.walk.prompt(),
            warm: self.warm(request),
            window: self.stage.window(),
            limit: self.stage.limit(),
            requests: index as u64,
            history: self.walk.said(),
            output: self.output as f64 / index.max(1) as f64,
        };
        let mut offers = match self.strategy {
            Strategy::EconomicHybrid => offers::hybrids(&self.walk, self.stage, outlook.warm),
            _ => offers::alone(&self.walk, self.stage, protected_outputs(self.budget.window)),
        };
        let before = self.economist.clone();
        // An estimate may promise what the engine then refuses to do: the next best offer is tried.
        for _ in 0..MOST_ATTEMPTS {
            self.economist = before.clone();
            let Advice::Take(taken, _) = self.economist.advise(&outlook, &offers) else {
                return None;
            };
            let offer = offers.swap_remove(taken);
            if let Some(done) = self.take(&offer, outlook.warm) {
                self.economist.adopted(offer.retention, self.walk.said());
                return Some(done);
            }
        }
        None
    }

    fn take(&mut self, offer: &Offer, warm: u64) -> Option<Done> {
        match offer.form {
            Form::Prune => Some((PassKind::Prune, self.prune()?, None)),
            Form::Ledger => self.ledger(offers::ground(&self.walk, self.stage.is_marked()).left_by(offer)),
            Form::Hybrid(way) => {
                let (_, made, _) = self.ledger(offers::ground(&self.walk, self.stage.is_marked()).left_by(offer))?;
                Some((PassKind::Summary, made, Some(self.call(&made, way, warm))))
            }
        }
    }

    /// How much of the prompt the cache still has, as far as a host can tell.
    fn warm(&self, request: &Request) -> u64 {
        let cache = &self.stage.profile.cache;
        let is_alive = self.sent.is_some_and(|at| request.at - at <= cache.lifetime);
        match &cache.matching {
            _ if !is_alive => self.walk.shared(),
            Matching::Longest => self.walk.unchanged().0,
            Matching::Marked { .. } => match self.walk.unchanged() {
                (tokens, true) => tokens,
                (tokens, false) => tokens.min(self.walk.preface()),
            },
        }
    }
}

/// The session without the summaries that somebody else's compactions put into it.
pub fn without_summaries(timeline: &Timeline) -> Timeline {
    let messages = timeline.transcript.messages();
    match messages.iter().any(|message| message.author == Author::Summary) {
        true => timeline.filtered(|message| message.author != Author::Summary),
        false => timeline.clone(),
    }
}

#[cfg(test)]
#[path = "play_tests.rs"]
mod tests;
