//! The walk: decide, transform, verify. One [`Compactor`] a conversation.
//!
//! A compactor learns the conversation as it grows and remembers what it changed. Between passes its changes do not
//! change, so the emitted prefix is stable; a pass only ever adds changes. A result that verify refuses is not
//! adopted: the conversation stays as it was, with the reason.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

use crate::account::Budget;
use crate::account::Family;
use crate::account::Tally;
use crate::account::TextKind;
use crate::account::TokenCounter;
use crate::account::measure;
use crate::decide::Action;
use crate::decide::Engine;
use crate::decide::Mode;
use crate::decide::Plan;
use crate::decide::Planned;
use crate::decide::Policy;
use crate::decide::Progress;
use crate::decide::Replacement;
use crate::decide::Situation;
use crate::decide::Span;
use crate::decide::Standing;
use crate::decide::Survey;
use crate::decide::plan;
use crate::decide::plan_replacement;
use crate::ledger::memory::Carried;
use crate::ledger::scribe::Scribe;
use crate::transcript::Author;
use crate::transcript::Message;
use crate::transcript::Part;
use crate::transcript::Role;
use crate::transcript::Spot;
use crate::transcript::Transcript;
use crate::transform::Change;
use crate::transform::Dropped;
use crate::transform::changed_message;
use crate::transform::prune;
use crate::transform::replaced;
use crate::verify::Flaw;
use crate::verify::FlawKind;
use crate::verify::LeakCheck;
use crate::verify::Weight;
use crate::verify::check_leaks;
use crate::verify::check_scope;
use crate::verify::check_size;
use crate::verify::check_target;

/// How often a target that was just missed is aimed at again.
const MOST_CORRECTIONS: usize = 3;
/// Said when there is no block to put in place of anything.
const FAILED: &str = "the ledger could not be written, so nothing was changed";
/// Tokens that each correction aims below what was missed.
const CORRECTION_MARGIN: u64 = 50;

/// What a pass came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The conversation was compacted.
    Compacted,
    /// It stays as it is, for this reason.
    Unchanged(String),
}

/// Everything there is to say about a pass.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What it came to.
    pub verdict: Verdict,
    /// What was planned.
    pub plan: Plan,
    /// What was changed, beside what earlier passes had changed.
    pub changes: BTreeMap<Spot, Change>,
    /// The block that now stands for what was replaced, and what stays beside it.
    pub block: Option<Block>,
    /// What was taken out.
    pub dropped: Vec<Dropped>,
    /// What verify found.
    pub flaws: Vec<Flaw>,
    /// The counted size before, without what the log does not show.
    pub counted_before: u64,
    /// The counted size after.
    pub counted_after: u64,
    /// The size of the next prompt after, on the scale of the situation's prompt; what a refused result would have had.
    pub prompt_after: u64,
    /// The first message that this pass changed: from here on the provider's cache is cold.
    pub earliest_changed: Option<usize>,
}

/// Where a block goes out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seat {
    /// As a message of its own, where its span says.
    #[default]
    Own,
    /// At the head of this kept message, whose role it would otherwise meet.
    Into(usize),
}

/// A message that stands for others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The message.
    pub message: Message,
    /// What stays beside it.
    pub span: Span,
    /// Where it goes out.
    pub seat: Seat,
    /// The evidence it shows.
    pub carried: Vec<Carried>,
}

/// Compacts one conversation, again and again as it grows.
#[derive(Clone, Debug)]
pub struct Compactor {
    scribe: Option<Scribe>,
    /// Whether the ledger could not take a message in; it is not asked again.
    has_failed: bool,
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
            has_failed: false,
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
        // Whatever a message does to the ledger, the conversation itself must come through.
        if let Some(scribe) = self.scribe.as_mut().filter(|_| !self.has_failed) {
            let fold = AssertUnwindSafe(|| scribe.observe(transcript.messages()));
            self.has_failed = catch_unwind(fold).is_err();
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
    pub fn counted(&self) -> u64 {
        self.tally.total().total() - self.saved
    }

    /// All changes so far.
    pub fn changes(&self) -> &BTreeMap<Spot, Change> {
        &self.changes
    }

    /// Plans a pass without making it.
    pub fn plan(&self, transcript: &Transcript, budget: &Budget, policy: &Policy, situation: Situation) -> Plan {
        let mut plan = plan(
            transcript,
            &self.tally,
            &self.survey,
            &self.progress,
            budget,
            policy,
            situation,
        );
        if plan.mode == Mode::Full && self.has_failed {
            plan.mode = Mode::Nothing;
            plan.reasons.push(FAILED.to_owned());
        }
        if let (Mode::Full, Some(scribe)) = (plan.mode, &self.scribe) {
            plan_replacement(
                &mut plan,
                transcript,
                &self.tally,
                Standing {
                    counted: self.counted(),
                    earlier_block: scribe.resumed_block(),
                    first_words_hold: scribe.first_words_hold(transcript.messages()),
                },
                budget,
                policy,
                situation,
            );
        }
        plan
    }

    /// Makes a pass: decides, prunes, verifies, and adopts the result unless verify refuses it.
    pub fn pass(
        &mut self,
        transcript: &Transcript,
        budget: &Budget,
        policy: &Policy,
        situation: Situation,
        leaks: &dyn LeakCheck,
    ) -> Outcome {
        let mut outcome = self.attempt(transcript, budget, policy, situation, leaks);
        // Plans estimate what placeholders will cost; a target that was just missed is aimed at again, lower.
        let mut margin = situation.margin;
        for _ in 0..MOST_CORRECTIONS {
            let missed = outcome.flaws.iter().any(|flaw| flaw.kind == FlawKind::OverTarget);
            let (Some(target), true) = (policy.target, missed) else {
                break;
            };
            margin += outcome.prompt_after.saturating_sub(target) + CORRECTION_MARGIN;
            outcome = self.attempt(transcript, budget, policy, Situation { margin, ..situation }, leaks);
        }
        outcome
    }

    fn attempt(
        &mut self,
        transcript: &Transcript,
        budget: &Budget,
        policy: &Policy,
        situation: Situation,
        leaks: &dyn LeakCheck,
    ) -> Outcome {
        let plan = self.plan(transcript, budget, policy, situation);
        let before = self.counted();
        let mut outcome = Outcome {
            verdict: Verdict::Unchanged(plan.reasons.join("; ")),
            changes: BTreeMap::new(),
            block: None,
            dropped: Vec::new(),
            flaws: Vec::new(),
            counted_before: before,
            counted_after: before,
            prompt_after: situation.prompt,
            earliest_changed: None,
            plan,
        };
        match (outcome.plan.mode, outcome.plan.replacement.take()) {
            (Mode::PruneOnly, _) => {}
            (Mode::Full, Some(replacement)) => {
                self.replace(transcript, policy, situation, leaks, &replacement, &mut outcome);
                outcome.plan.replacement = Some(replacement);
                return outcome;
            }
            (Mode::Full | Mode::Nothing, _) => return outcome,
        }
        let hide = |text: &str| self.scribe.as_ref().and_then(|scribe| scribe.hide(text));
        let pruned = prune(transcript, &outcome.plan, self.tally.family(), &hide);
        let saved: u64 = pruned
            .dropped
            .iter()
            .map(|dropped| dropped.tokens - dropped.tokens_left)
            .sum();
        outcome.counted_after = before.saturating_sub(saved);
        outcome.prompt_after = situation.prompt.saturating_sub((saved as f64 * situation.scale) as u64);
        outcome.flaws = check_scope(transcript, &outcome.plan.boundary, &pruned.changes);
        outcome.flaws.extend(check_size(before, outcome.counted_after));
        outcome.flaws.extend(check_leaks(&pruned.changes, leaks));
        // A plan only estimates: what was accepted for its runway must really have it.
        if policy.engine != Engine::Prune {
            outcome
                .flaws
                .extend(check_target(outcome.prompt_after, outcome.plan.target));
        }
        if is_refused(&mut outcome) {
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
        self.changes.extend(pruned.changes);
        self.advance(&outcome.plan);
        outcome
    }

    /// Replaces what a span does not keep by a block, unless verify refuses it.
    fn replace(
        &mut self,
        transcript: &Transcript,
        policy: &Policy,
        situation: Situation,
        leaks: &dyn LeakCheck,
        replacement: &Replacement,
        outcome: &mut Outcome,
    ) {
        let family = self.tally.family();
        let span = &replacement.span;
        let Some((block, carried)) = self.write_block(transcript, replacement, situation.block_role) else {
            outcome.verdict = Verdict::Unchanged(FAILED.to_owned());
            return;
        };
        let visible = |index: usize| {
            let tokens = self.tally.messages()[index].total();
            tokens - self.saved_in.get(&(index as u32)).copied().unwrap_or(0)
        };
        let kept: u64 = span.kept.iter().map(|index| visible(*index)).sum();
        outcome.counted_after = kept + measure(&block, family).total();
        let saved = outcome.counted_before.saturating_sub(outcome.counted_after);
        outcome.prompt_after = situation.prompt.saturating_sub((saved as f64 * situation.scale) as u64);
        outcome.flaws = check_size(outcome.counted_before, outcome.counted_after)
            .into_iter()
            .collect();
        outcome
            .flaws
            .extend(check_target(outcome.prompt_after, outcome.plan.target));
        for part in &block.parts {
            if let Part::Text(text) = part
                && let Some(found) = leaks.find(text)
            {
                outcome.flaws.push(Flaw::fatal(FlawKind::Leak, None, found));
            }
        }
        if span.is_squeezed {
            outcome.flaws.push(Flaw::warning(
                FlawKind::Squeezed,
                None,
                format!(
                    "the newest step or words would fill the target of {}: they are in the ledger",
                    policy.target.unwrap_or(outcome.plan.target)
                ),
            ));
        }
        if is_refused(outcome) {
            return;
        }
        outcome.verdict = Verdict::Compacted;
        outcome.earliest_changed = (0..span.until).find(|index| !span.keeps(*index));
        let before = self.block.as_ref().map(|block| &block.span);
        outcome.dropped = replaced(transcript, span, before, family);
        self.saved = self.tally.total().total() - outcome.counted_after;
        // What the tail of the pass holds may be pruned later; what was replaced cannot.
        self.progress.replaced = (0..span.until)
            .rev()
            .find(|index| !span.keeps(*index))
            .map_or(0, |index| index + 1);
        let block = Block {
            message: block,
            span: span.clone(),
            seat: Seat::Own,
            carried,
        };
        outcome.block = Some(block.clone());
        self.block = Some(block);
    }

    /// The block's message; `None` when it could not be made, for whatever reason.
    fn write_block(
        &self,
        transcript: &Transcript,
        replacement: &Replacement,
        role: Role,
    ) -> Option<(Message, Vec<Carried>)> {
        let scribe = self.scribe.as_ref()?;
        let family = self.tally.family();
        let span = &replacement.span;
        let messages = transcript.messages();
        // A conversation without any words of the person is refused by some providers: then the block is in their role.
        let has_words = span.kept.iter().any(|index| messages[*index].role == Role::User);
        let role = if has_words { role } else { Role::User };
        let empty = Message {
            author: Author::Summary,
            ..Message::new(role, Vec::new())
        };
        let budget = replacement.block_tokens.saturating_sub(measure(&empty, family).total());
        let count = |text: &str| family.count(text, TextKind::Prose);
        let write = AssertUnwindSafe(|| scribe.block(messages, span, budget, &count));
        let written = catch_unwind(write).ok().flatten()?;
        let message = Message {
            parts: vec![Part::Text(written.text.into())],
            ..empty
        };
        Some((message, written.carried))
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
        let changed: std::collections::BTreeSet<u32> = self.changes.keys().map(|spot| spot.message).collect();
        let messages = transcript.messages().iter().enumerate();
        let kept = messages.filter(|(index, _)| self.block.as_ref().is_none_or(|block| block.span.keeps(*index)));
        let mut messages: Vec<Message> = kept
            .map(|(index, message)| match changed.contains(&(index as u32)) {
                true => changed_message(index, message, &self.changes),
                false => message.clone(),
            })
            .collect();
        if let Some(block) = &self.block {
            messages.insert(block.span.block_at, block.message.clone());
        }
        messages
    }
}

/// Whether a fatal flaw refuses the result; the verdict then says why.
fn is_refused(outcome: &mut Outcome) -> bool {
    let Some(flaw) = outcome.flaws.iter().find(|flaw| flaw.weight == Weight::Fatal) else {
        return false;
    };
    outcome.verdict = Verdict::Unchanged(format!(
        "the result was refused ({}): {}",
        flaw.kind.code(),
        flaw.detail
    ));
    true
}
