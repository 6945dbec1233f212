//! What may be pruned, in the order of pruning: what a later output repeats or made stale, old outputs, arguments of old
//! calls, old media, old reasoning.

use crate::decide::boundary::Boundary;
use crate::decide::pass_plan::Action;
use crate::decide::pass_plan::PLACEHOLDER;
use crate::decide::pass_plan::Planned;
use crate::decide::pass_plan::Progress;
use crate::decide::situation::ReasoningRule;
use crate::decide::situation::Situation;
use crate::decide::survey::Aside;
use crate::decide::survey::Output;
use crate::decide::survey::Superseded;
use crate::decide::survey::Survey;
use crate::transcript::Spot;

/// Arguments below this stay: a shortened form would save next to nothing. About 500 characters.
const LEAST_ARGUMENTS: u64 = 150;
/// What is left of shortened arguments.
const SHORTENED_ARGUMENTS: u64 = 80;

/// What may be pruned, collected in the order of pruning.
pub(super) struct Candidates<'a> {
    survey: &'a Survey,
    progress: &'a Progress,
    boundary: &'a Boundary,
    situation: Situation,
    /// Reasoning from this message on belongs to the turn that is going on.
    current_turn: usize,
    pub actions: Vec<Planned>,
    pub saves: u64,
    /// Outputs that recency protects, oldest first.
    recent: Vec<usize>,
    pub old_before: usize,
}

impl<'a> Candidates<'a> {
    pub fn new(
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

    pub fn collect(&mut self, recent: u64) {
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
        if self.situation.rules.reasoning == ReasoningRule::MustKeep {
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
    pub fn press(&mut self, missing: u64) -> bool {
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
