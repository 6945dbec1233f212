//! What a pass will do, as data: nothing here touches a body.

use std::collections::BTreeSet;

use crate::account::Budget;
use crate::account::Tally;
use crate::decide::boundary::Boundary;
use crate::decide::boundary::boundary;
use crate::decide::policy::Engine;
use crate::decide::policy::Policy;
use crate::decide::policy::least_reclaimed;
use crate::decide::policy::low_water;
use crate::decide::policy::protected_outputs;
use crate::decide::replace::Replacement;
use crate::decide::situation::ReasoningRule;
use crate::decide::situation::Situation;
use crate::decide::survey::Aside;
use crate::decide::survey::Output;
use crate::decide::survey::Superseded;
use crate::decide::survey::Survey;
use crate::decide::writing::Writing;
use crate::transcript::Message;
use crate::transcript::Spot;
use crate::transcript::Transcript;

/// About what a placeholder costs: tool, what it was asked, how it ended, size, preview, reference.
pub const PLACEHOLDER: u64 = 75;
/// Arguments below this stay: a shortened form would save next to nothing. About 500 characters.
const LEAST_ARGUMENTS: u64 = 150;
/// What is left of shortened arguments.
const SHORTENED_ARGUMENTS: u64 = 80;

/// What is done to one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// An output that stands again later becomes a reference to it.
    Duplicate(Spot),
    /// A read that a later change or read made stale becomes a line.
    Stale(Superseded),
    /// An old output becomes a line.
    OldOutput,
    /// Oversized arguments of an old call are shortened.
    OldArguments,
    /// An old picture or file becomes a marker.
    OldMedia,
    /// Old reasoning is left out.
    OldReasoning,
    /// The message is replaced by the block.
    Replaced,
}

impl Action {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Action::Duplicate(_) => "duplicate",
            Action::Stale(_) => "stale read",
            Action::OldOutput => "old output",
            Action::OldArguments => "old arguments",
            Action::OldMedia => "old media",
            Action::OldReasoning => "old reasoning",
            Action::Replaced => "replaced",
        }
    }
}

/// One thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Which part.
    pub spot: Spot,
    /// The call it answers, where it is a tool result.
    pub call: Option<Spot>,
    /// What is done to it.
    pub action: Action,
    /// What it costs now.
    pub tokens: u64,
    /// About what it will save.
    pub saves: u64,
}

/// What kind of pass it will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nothing needs doing, or nothing can be done.
    Nothing,
    /// Pruning is enough.
    PruneOnly,
    /// Pruning is not enough: the middle has to be replaced.
    Full,
}

impl Mode {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Nothing => "nothing",
            Mode::PruneOnly => "prune-only",
            Mode::Full => "full",
        }
    }
}

/// What a pass will do, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What kind of pass.
    pub mode: Mode,
    /// What is kept as it is.
    pub boundary: Boundary,
    /// The turn that is going on starts here; its reasoning is left alone.
    pub turn_start: usize,
    /// Arguments, media and reasoning before this message are old enough to be pruned.
    pub old_before: usize,
    /// What is done, in the order of pruning.
    pub actions: Vec<Planned>,
    /// The size of the prompt now.
    pub tokens_before: u64,
    /// About its size after pruning.
    pub tokens_expected: u64,
    /// What it has to come down to.
    pub target: u64,
    /// What a full pass replaces.
    pub replacement: Option<Replacement>,
    /// The summary that a model writes of it.
    pub writing: Option<Writing>,
    /// The reasons, in words.
    pub reasons: Vec<String>,
}

/// How far earlier passes have come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Outputs before this index are decided.
    pub outputs: usize,
    /// Arguments of calls before this index are decided.
    pub arguments: usize,
    /// Reasoning parts before this index are decided.
    pub thinking: usize,
    /// Media parts before this index are decided.
    pub media: usize,
    /// Parts that were changed.
    pub changed: BTreeSet<Spot>,
    /// Messages before this index were replaced, or kept by a full pass apart from its tail.
    pub replaced: usize,
}

/// Plans a pass.
pub fn plan(
    transcript: &Transcript,
    tally: &Tally,
    survey: &Survey,
    progress: &Progress,
    budget: &Budget,
    policy: &Policy,
    situation: Situation,
) -> Plan {
    let target = policy
        .target
        .unwrap_or_else(|| low_water(budget.threshold, budget.window));
    let tail = policy
        .tail
        .unwrap_or_else(|| policy.target.map_or(budget.tail, |target| budget.tail.min(target / 2)));
    let mut plan = Plan {
        mode: Mode::Nothing,
        boundary: boundary(transcript, tally, tail, policy.tail_messages),
        turn_start: transcript.messages().iter().rposition(Message::opens_turn).unwrap_or(0),
        old_before: 0,
        actions: Vec::new(),
        tokens_before: situation.prompt,
        tokens_expected: situation.prompt,
        target,
        replacement: None,
        writing: None,
        reasons: Vec::new(),
    };
    plan.boundary.head_end = plan.boundary.head_end.max(progress.replaced);
    let prompt = situation.prompt;
    let (is_due, line) = match policy.target {
        Some(target) if prompt > target => (
            true,
            format!("the prompt of {prompt} tokens is above the target of {target}"),
        ),
        Some(target) => (
            false,
            format!("the prompt of {prompt} tokens is not above the target of {target}"),
        ),
        None if prompt >= budget.threshold => (
            true,
            format!(
                "the prompt of {prompt} tokens has reached the threshold of {}",
                budget.threshold
            ),
        ),
        None => (
            false,
            format!(
                "the prompt of {prompt} tokens is below the threshold of {}",
                budget.threshold
            ),
        ),
    };
    if !is_due && !situation.forced {
        plan.reasons.push(line);
        return plan;
    }
    plan.reasons.push(if is_due {
        line
    } else {
        format!("{line}, but a compaction was asked for")
    });
    if matches!(policy.engine, Engine::Ledger | Engine::Summary | Engine::Hybrid) {
        plan.mode = Mode::Full;
        return plan;
    }
    if plan.boundary.middle().is_empty() {
        plan.reasons
            .push("everything is head or tail: there is nothing in between to prune".to_owned());
        if policy.engine == Engine::Auto && plan.tokens_before > plan.target {
            plan.mode = Mode::Full;
        }
        return plan;
    }
    let recent = policy
        .recent_outputs
        .unwrap_or_else(|| protected_outputs(budget.window));
    let mut candidates = Candidates::new(plan.turn_start, survey, progress, &plan.boundary, situation);
    candidates.collect(recent);
    let saved = |candidates: &Candidates<'_>| (candidates.saves as f64 * situation.scale) as u64;
    plan.tokens_expected = situation.prompt.saturating_sub(saved(&candidates));
    // A target that was asked for is worth more than the protection of recent outputs.
    let aim = target.saturating_sub(situation.margin);
    if policy.target.is_some() && plan.tokens_expected > aim {
        let missing = ((plan.tokens_expected - aim) as f64 / situation.scale).ceil() as u64;
        if candidates.press(missing) {
            plan.reasons
                .push("recent outputs are pruned too, for the target would not be reached otherwise".to_owned());
        }
        plan.tokens_expected = situation.prompt.saturating_sub(saved(&candidates));
    }
    let reclaimed = saved(&candidates);
    plan.old_before = candidates.old_before;
    plan.actions = candidates.actions;
    judge(&mut plan, reclaimed, budget, policy, situation);
    plan
}

/// Whether pruning is enough.
fn judge(plan: &mut Plan, reclaimed: u64, budget: &Budget, policy: &Policy, situation: Situation) {
    let least = least_reclaimed(budget.window);
    let explicit = situation.forced || policy.target.is_some() || policy.engine == Engine::Prune;
    if plan.actions.is_empty() || (reclaimed < least && !explicit) {
        plan.reasons.push(format!(
            "pruning would reclaim {reclaimed} tokens, less than the {least} that make it worth a changed prefix"
        ));
        plan.actions.clear();
        plan.tokens_expected = plan.tokens_before;
        plan.mode = if policy.engine == Engine::Prune || plan.tokens_before <= plan.target {
            Mode::Nothing
        } else {
            Mode::Full
        };
        return;
    }
    plan.mode = if plan.tokens_expected <= plan.target {
        plan.reasons.push(format!(
            "pruning comes down to about {}, at or below {}: no summary is needed",
            plan.tokens_expected, plan.target
        ));
        Mode::PruneOnly
    } else if policy.engine == Engine::Prune {
        plan.reasons.push(format!(
            "pruning comes down to about {}, above {}, and only pruning is allowed",
            plan.tokens_expected, plan.target
        ));
        Mode::PruneOnly
    } else {
        plan.reasons.push(format!(
            "pruning comes down to about {}, above {}: too little runway, so the middle has to be replaced",
            plan.tokens_expected, plan.target
        ));
        Mode::Full
    };
}

/// What may be pruned, collected in the order of pruning.
struct Candidates<'a> {
    survey: &'a Survey,
    progress: &'a Progress,
    boundary: &'a Boundary,
    situation: Situation,
    /// Reasoning from this message on belongs to the turn that is going on.
    current_turn: usize,
    actions: Vec<Planned>,
    saves: u64,
    /// Outputs that recency protects, oldest first.
    recent: Vec<usize>,
    old_before: usize,
}

impl<'a> Candidates<'a> {
    fn new(
        current_turn: usize,
        survey: &'a Survey,
        progress: &'a Progress,
        boundary: &'a Boundary,
        situation: Situation,
    ) -> Self {
        Self {
            survey,
            progress,
            boundary,
            situation,
            current_turn,
            actions: Vec::new(),
            saves: 0,
            recent: Vec::new(),
            old_before: 0,
        }
    }

    fn collect(&mut self, recent: u64) {
        self.superseded();
        let old = self.old_outputs(recent);
        for index in &old {
            let output = self.survey.outputs()[*index].clone();
            self.prune_output(&output);
        }
        // Arguments and asides are old where the outputs around them are.
        self.old_before = match self.recent.first() {
            Some(first) => self.survey.outputs()[*first].call.message as usize,
            None => self.boundary.tail_start,
        };
        self.old_arguments(self.old_before);
        self.asides(self.old_before);
    }

    /// Duplicates first, then stale reads.
    fn superseded(&mut self) {
        let is_open = |index: &usize| {
            self.boundary
                .is_open(self.survey.outputs()[*index].result.message as usize)
        };
        let open: Vec<_> = self.survey.superseded().filter(is_open).collect();
        for pass in [true, false] {
            for index in &open {
                let output = self.survey.outputs()[*index].clone();
                let (is_duplicate, action) = match output.superseded {
                    Some(Superseded::Duplicate(newer)) => (true, Action::Duplicate(newer)),
                    Some(why) => (false, Action::Stale(why)),
                    None => continue,
                };
                if is_duplicate == pass {
                    self.add(output.result, Some(output.call), action, output.tokens, PLACEHOLDER);
                }
            }
        }
    }

    /// Outputs older than the protected ones, oldest first; remembers the protected ones.
    fn old_outputs(&mut self, recent: u64) -> Vec<usize> {
        let mut old = Vec::new();
        let mut kept = 0;
        for index in (self.progress.outputs..self.survey.outputs().len()).rev() {
            let output = &self.survey.outputs()[index];
            if !self.boundary.is_open(output.result.message as usize) || output.is_protected || self.is_settled(output)
            {
                continue;
            }
            // What was superseded is no recent output, pruned or too small for it.
            if output.superseded.is_some() {
                continue;
            }
            if kept < recent {
                kept += output.tokens;
                self.recent.push(index);
            } else {
                old.push(index);
            }
        }
        self.recent.reverse();
        old.reverse();
        old
    }

    /// Whether an earlier pass has made a placeholder of an output.
    fn is_settled(&self, output: &Output) -> bool {
        output.is_settled || self.progress.changed.contains(&output.result)
    }

    fn prune_output(&mut self, output: &Output) {
        if output.superseded.is_none() {
            self.add(
                output.result,
                Some(output.call),
                Action::OldOutput,
                output.tokens,
                PLACEHOLDER,
            );
        }
    }

    fn old_arguments(&mut self, before: usize) {
        for index in self.progress.arguments..self.survey.outputs().len() {
            let output = self.survey.outputs()[index].clone();
            let message = output.call.message as usize;
            if message >= before
                || !self.boundary.is_open(message)
                || output.call_tokens < LEAST_ARGUMENTS
                || output.is_protected
            {
                continue;
            }
            self.add(
                output.call,
                None,
                Action::OldArguments,
                output.call_tokens,
                SHORTENED_ARGUMENTS,
            );
        }
    }

    fn asides(&mut self, before: usize) {
        let is_old = |aside: &&Aside, boundary: &Boundary| {
            let message = aside.spot.message as usize;
            message < before && boundary.is_open(message)
        };
        let media: Vec<_> = self.survey.media()[self.progress.media..]
            .iter()
            .filter(|aside| is_old(aside, self.boundary))
            .copied()
            .collect();
        for aside in media {
            self.add(aside.spot, None, Action::OldMedia, aside.tokens, PLACEHOLDER / 2);
        }
        if self.situation.reasoning == ReasoningRule::MustKeep {
            return;
        }
        let thinking = self.survey.thinking()[self.progress.thinking..]
            .iter()
            .filter(|aside| is_old(aside, self.boundary))
            .copied();
        let finished: Vec<_> = thinking
            .filter(|aside| (aside.spot.message as usize) < self.current_turn)
            .collect();
        for aside in finished {
            self.add(aside.spot, None, Action::OldReasoning, aside.tokens, 0);
        }
    }

    /// Prunes protected recent outputs, oldest first, until this many more tokens are saved.
    fn press(&mut self, missing: u64) -> bool {
        let goal = self.saves + missing;
        let before = self.actions.len();
        for index in std::mem::take(&mut self.recent) {
            if self.saves >= goal {
                break;
            }
            let output = self.survey.outputs()[index].clone();
            self.prune_output(&output);
        }
        self.actions.len() > before
    }

    fn add(&mut self, spot: Spot, call: Option<Spot>, action: Action, tokens: u64, leaves: u64) {
        let saves = tokens.saturating_sub(leaves);
        // A placeholder that saves less than a third is not worth what it hides.
        if saves * 3 < tokens || saves == 0 || self.progress.changed.contains(&spot) {
            return;
        }
        self.saves += saves;
        self.actions.push(Planned {
            spot,
            call,
            action,
            tokens,
            saves,
        });
    }
}
