//! The walk: decide, transform, verify. One [`Compactor`] a conversation.
//!
//! A compactor learns the conversation as it grows and remembers what it changed. Between passes its changes do not
//! change, so the emitted prefix is stable; a pass only ever adds changes. A result that verify refuses is not
//! adopted: the conversation stays as it was, with the reason.
//!
//! Where a model writes a summary, [`Compactor::start`] hands out a request and takes the reply: nothing here waits,
//! retries or talks to anybody. Whatever comes back, the walk ends in an outcome.

mod asking;
mod floor;
mod outcome;
mod pass_input;
mod replacing;
mod requests;
mod review;

use std::borrow::Cow;
use std::collections::BTreeMap;

pub use crate::decide::Seat;

use crate::account::Budget;
use crate::account::CountedTokens;
use crate::account::Family;
use crate::account::Tally;
use crate::decide::Action;
use crate::decide::Engine;
use crate::decide::Mode;
use crate::decide::Plan;
use crate::decide::Planned;
use crate::decide::Policy;
use crate::decide::Progress;
use crate::decide::ReplacementInput;
use crate::decide::Roles;
use crate::decide::Standing;
use crate::decide::Survey;
use crate::decide::budget_before_due;
use crate::decide::plan;
use crate::decide::plan_replacement;
use crate::decide::plan_writing;
use crate::decide::seated;
use crate::decide::step_start;
use crate::ledger::scribe::Scribe;
use crate::transcript::Message;
use crate::transcript::Spot;
use crate::transcript::Transcript;
use crate::transform::Change;
use crate::transform::Pruned;
use crate::transform::changed_message;
use crate::transform::prune;
use crate::verify::Flaw;
use crate::verify::Weight;
use crate::verify::check_acceptance;
use crate::verify::check_leaks;
use crate::verify::check_scope;
use crate::verify::check_size;
use crate::verify::check_target;

pub use asking::Ask;
pub use asking::Pending;
pub use asking::Step;
pub use outcome::Block;
pub use outcome::Outcome;
pub use outcome::PassMode;
pub use outcome::Refusal;
pub use outcome::Verdict;
pub use outcome::WritingDone;
pub use pass_input::InjectedFault;
pub use pass_input::PassInput;

/// How often a target that was just missed is aimed at again.
const MOST_CORRECTIONS: usize = 3;
/// Tokens that each correction aims below what was missed.
const CORRECTION_MARGIN: u64 = 50;

/// What a target is to an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TargetRule {
    /// A result above it is refused.
    Meet,
    /// A result above it is given out with a warning: a host whose prompt did not fit is better off with less.
    Approach,
}

/// Compacts one conversation, again and again as it grows.
#[derive(Clone, Debug)]
pub struct Compactor {
    scribe: Option<Scribe>,
    block: Option<Block>,
    /// What changes save, by message.
    saved_in: BTreeMap<u32, u64>,
    tally: Tally,
    survey: Survey,
    progress: Progress,
    changes: BTreeMap<Spot, Change>,
    saved: u64,
}

impl Compactor {
    /// A compactor for a conversation that is counted this way and obeys this policy.
    pub fn new(family: Family, policy: &Policy) -> Self {
        Self {
            tally: Tally::new(family),
            survey: Survey::new(family, &policy.protected_tools),
            progress: Progress::default(),
            changes: BTreeMap::new(),
            saved: 0,
            scribe: None,
            block: None,
            saved_in: BTreeMap::new(),
        }
    }

    /// The same with a ledger behind it: full passes become possible, and what must be hidden is.
    pub fn with_scribe(mut self, scribe: Scribe) -> Self {
        self.scribe = Some(scribe);
        self
    }

    /// Learns what is new in the conversation. Earlier messages must be the same as before.
    pub fn observe(&mut self, transcript: &Transcript) {
        self.tally.extend(transcript.messages());
        self.survey.observe(transcript);
        if let Some(scribe) = self.scribe.as_mut() {
            scribe.observe(transcript.messages());
        }
    }

    /// The ledger's writer.
    pub fn scribe(&self) -> Option<&Scribe> {
        self.scribe.as_ref()
    }

    /// The block of the newest full pass.
    pub fn block(&self) -> Option<&Block> {
        self.block.as_ref()
    }

    /// The counts of the original messages.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The counted size with all changes so far.
    pub fn counted(&self) -> CountedTokens {
        CountedTokens(self.tally.total().total() - self.saved)
    }

    /// All changes so far.
    pub fn changes(&self) -> &BTreeMap<Spot, Change> {
        &self.changes
    }

    /// Plans a pass without making it.
    pub fn plan(&self, input: &PassInput<'_>) -> Plan {
        let PassInput {
            transcript,
            budget,
            policy,
            situation,
            ..
        } = *input;
        let mut plan = plan(
            transcript,
            &self.tally,
            &self.survey,
            &self.progress,
            budget,
            policy,
            situation,
        );
        if plan.mode == Mode::Full && self.scribe.is_some() {
            let early = early_budget(input);
            let replacement_input = self.replacement_input(input, early.as_ref().unwrap_or(budget));
            plan_replacement(&mut plan, &replacement_input);
            plan_writing(&mut plan, policy, input.writers.map(|(writers, _)| writers));
        }
        plan
    }

    fn replacement_input<'a>(&'a self, input: &PassInput<'a>, budget: &'a Budget) -> ReplacementInput<'a> {
        let scribe = self.scribe.as_ref();
        ReplacementInput {
            transcript: input.transcript,
            tally: &self.tally,
            standing: Standing {
                counted: self.counted(),
                earlier_block: scribe.and_then(Scribe::resumed_block),
                first_words_hold: scribe.is_some_and(|scribe| scribe.first_words_hold(input.transcript.messages())),
            },
            budget,
            policy: input.policy,
            situation: input.situation,
        }
    }

    /// Makes a pass without any model: decides, prunes or replaces, verifies, and adopts the result unless verify
    /// refuses it.
    pub fn pass(&mut self, input: &PassInput<'_>) -> Outcome {
        let alone = PassInput {
            writers: None,
            ..*input
        };
        self.pass_alone(&alone, self.plan(&alone))
    }

    /// Carries a plan out without asking anybody.
    fn pass_alone(&mut self, input: &PassInput<'_>, plan: Plan) -> Outcome {
        let prunes = plan.mode == Mode::PruneOnly;
        let mut outcome = self.attempt(input, plan, TargetRule::Meet);
        // Plans estimate what placeholders will cost; a target that was just missed is aimed at again, lower.
        let mut situation = input.situation;
        let Some(target) = input.policy.target else {
            return outcome;
        };
        for round in 1..=MOST_CORRECTIONS {
            if prunes && outcome.plan.mode == Mode::Nothing {
                break;
            }
            if !outcome.missed_target() {
                return outcome;
            }
            situation.margin += outcome.prompt_after.0.saturating_sub(target) + CORRECTION_MARGIN;
            // Pruning ends with everything that may be pruned: more than was asked for, but at the target.
            if round == MOST_CORRECTIONS && outcome.plan.mode == Mode::PruneOnly {
                situation.margin = target;
            }
            let lower = PassInput { situation, ..*input };
            outcome = self.attempt(&lower, self.plan(&lower), TargetRule::Meet);
        }
        if outcome.missed_target() && input.policy.engine == Engine::Prune {
            situation.margin = target;
            let lowest = PassInput { situation, ..*input };
            outcome = self.attempt(&lowest, self.plan(&lowest), TargetRule::Approach);
        }
        // Pruning that was expected to be enough and was not leaves the middle to be replaced, for the target as it was asked for.
        let is_unmet = outcome.missed_target() || outcome.plan.mode == Mode::Nothing;
        if prunes && is_unmet && input.policy.engine == Engine::Auto {
            let policy = Policy {
                engine: Engine::Ledger,
                ..input.policy.clone()
            };
            let replacing = PassInput {
                policy: &policy,
                ..*input
            };
            return self.pass_alone(&replacing, self.plan(&replacing));
        }
        outcome
    }

    fn attempt(&mut self, input: &PassInput<'_>, plan: Plan, rule: TargetRule) -> Outcome {
        let PassInput {
            transcript,
            policy,
            situation,
            ..
        } = *input;
        let before = self.counted();
        let mut outcome = Outcome::untouched(plan, before, situation.prompt);
        match (outcome.plan.mode, outcome.plan.replacement.take()) {
            (Mode::PruneOnly, _) => {}
            (Mode::Full, Some(replacement)) => {
                outcome.plan.replacement = Some(replacement.clone());
                self.replace_alone(input, replacement, &mut outcome);
                return outcome;
            }
            (Mode::Full | Mode::Nothing, _) => return outcome,
        }
        let pruned = self.pruned(input, &outcome.plan);
        let saved = pruned.saved();
        outcome.counted_after = CountedTokens(before.0.saturating_sub(saved));
        outcome.prompt_after = situation.prompt_without(CountedTokens(saved));
        outcome.flaws = check_scope(transcript, &outcome.plan.boundary, &pruned.changes);
        outcome.flaws.extend(check_size(before, outcome.counted_after));
        outcome
            .flaws
            .extend(check_leaks(&pruned.changes, &|text| self.leak_in(text)));
        // A plan only estimates: what was accepted for its runway must really have it. Pruning alone that nobody gave a
        // target takes what it gets.
        if policy.engine != Engine::Prune || policy.target.is_some() {
            let missed = check_target(outcome.prompt_after, outcome.plan.target);
            outcome.flaws.extend(missed.map(|flaw| match rule {
                TargetRule::Meet => flaw,
                TargetRule::Approach => Flaw {
                    weight: Weight::Warning,
                    ..flaw
                },
            }));
        }
        if outcome.is_refused() {
            return outcome;
        }
        let replaced = self.put_changes(&pruned.changes);
        outcome
            .flaws
            .extend(check_result(input, &self.changes, self.block.as_ref(), &pruned.changes));
        if outcome.is_refused() {
            self.take_back(replaced);
            return outcome;
        }
        outcome.verdict = Verdict::Compacted;
        outcome.earliest_changed = pruned.changes.keys().next().map(|spot| spot.message as usize);
        outcome.changes = pruned.changes.clone();
        outcome.dropped = pruned.dropped;
        self.saved += saved;
        for dropped in &outcome.dropped {
            *self.saved_in.entry(dropped.spot.message).or_default() += dropped.tokens - dropped.tokens_left;
        }
        self.progress.changed.extend(pruned.changes.keys().copied());
        self.advance(&outcome.plan);
        outcome
    }

    /// What pruning by a plan would change.
    fn pruned(&self, input: &PassInput<'_>, plan: &Plan) -> Pruned {
        let hide = |text: &str| self.scribe.as_ref().and_then(|scribe| scribe.hide(text));
        prune(input.transcript, plan, self.tally.family(), &hide)
    }

    /// What a text shows that was to be hidden: the same setting that hides looks for what is left.
    fn leak_in(&self, text: &str) -> Option<String> {
        self.scribe.as_ref().and_then(|scribe| scribe.leak_in(text))
    }

    /// Puts changes in force; returns what stood in their places, for [`Self::take_back`].
    fn put_changes(&mut self, new: &BTreeMap<Spot, Change>) -> Vec<(Spot, Option<Change>)> {
        let put = |(spot, change): (&Spot, &Change)| (*spot, self.changes.insert(*spot, change.clone()));
        new.iter().map(put).collect()
    }

    /// Undoes [`Self::put_changes`].
    fn take_back(&mut self, replaced: Vec<(Spot, Option<Change>)>) {
        for (spot, before) in replaced {
            match before {
                Some(change) => self.changes.insert(spot, change),
                None => self.changes.remove(&spot),
            };
        }
    }

    /// What this pass has decided need not be looked at again.
    fn advance(&mut self, plan: &Plan) {
        self.survey
            .settle_superseded(|output| plan.boundary.is_open(output.result.message as usize));
        let is_old_output = |planned: &&Planned| planned.action == Action::OldOutput;
        let last = plan
            .actions
            .iter()
            .filter(is_old_output)
            .filter_map(|planned| planned.call)
            .max();
        if let Some(last) = last {
            self.progress.outputs = self.survey.outputs().partition_point(|output| output.call <= last);
        }
        let is_old = |message: u32| (message as usize) < plan.old_before;
        let is_finished = |message: u32| is_old(message) && (message as usize) < plan.turn_start;
        self.progress.arguments = self
            .survey
            .outputs()
            .partition_point(|output| is_old(output.call.message));
        self.progress.media = self.survey.media().partition_point(|aside| is_old(aside.spot.message));
        self.progress.thinking = self
            .survey
            .thinking()
            .partition_point(|aside| is_finished(aside.spot.message));
    }

    /// The conversation with all changes so far.
    pub fn messages(&self, transcript: &Transcript) -> Vec<Message> {
        let emitted = emitted(transcript, &self.changes, self.block.as_ref(), 0);
        emitted.into_iter().map(Cow::into_owned).collect()
    }
}

/// A conversation with changes and a block, from a message on; where there is a block, all of it. Only what is changed is copied.
fn emitted<'a>(
    transcript: &'a Transcript,
    changes: &BTreeMap<Spot, Change>,
    block: Option<&Block>,
    from: usize,
) -> Vec<Cow<'a, Message>> {
    let messages = transcript.messages();
    let emit = |index: usize| {
        let first = Spot {
            message: index as u32,
            part: 0,
        };
        let is_changed = changes
            .range(first..)
            .next()
            .is_some_and(|(spot, _)| spot.message == first.message);
        match is_changed {
            true => Cow::Owned(changed_message(index, &messages[index], changes)),
            false => Cow::Borrowed(&messages[index]),
        }
    };
    match block {
        Some(block) => {
            let span = &block.span;
            let kept = span.kept.iter().copied().chain(span.until..messages.len());
            seated(kept.map(emit).collect(), span, block.message.clone(), block.seat)
        }
        None => (from..messages.len()).map(emit).collect(),
    }
}

/// A last look at a result before it is adopted: what the provider would refuse, and did not before. Behind a block everything is
/// looked at; where nothing was replaced, the steps from the first change on, so that a pass costs what is new.
fn check_result(
    input: &PassInput<'_>,
    changes: &BTreeMap<Spot, Change>,
    block: Option<&Block>,
    new: &BTreeMap<Spot, Change>,
) -> Vec<Flaw> {
    let messages = input.transcript.messages();
    let rules = input.situation.rules;
    let first = new.keys().next().map_or(0, |spot| spot.message as usize);
    // Whether roles take turns can only be told from the beginning.
    let from = match (block, rules.roles) {
        (None, Roles::Open) => step_start(messages, first),
        (Some(_), _) | (None, Roles::Alternating) => 0,
    };
    let mut result = emitted(input.transcript, changes, block, from);
    if let Some(fault) = input.fault {
        fault(&mut result);
    }
    check_acceptance(&messages[from..], &result, rules)
}

/// The budget of a pass that was asked for before one is due.
fn early_budget(input: &PassInput<'_>) -> Option<Budget> {
    let is_early = input.situation.forced && input.policy.target.is_none();
    is_early.then(|| budget_before_due(input.budget, input.situation.prompt.0))
}

#[cfg(test)]
#[path = "compaction_tests.rs"]
mod tests;
