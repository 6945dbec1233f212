//! Planning a full pass: what stays, and how much room the block has.

use crate::account::Budget;
use crate::account::CountedTokens;
use crate::account::ProviderTokens;
use crate::account::Tally;
use crate::decide::pass_plan::Mode;
use crate::decide::pass_plan::Plan;
use crate::decide::pass_plan::Replacement;
use crate::decide::policy::Policy;
use crate::decide::policy::ledger_tokens;
use crate::decide::reason::PlanReason;
use crate::decide::seat::settle;
use crate::decide::situation::Situation;
use crate::decide::span::Room;
use crate::decide::span::instruction_tokens;
use crate::decide::span::span;
use crate::transcript::Transcript;

/// The part of a target that stays verbatim at its end, where the host does not say. A fifth was best or next to it
/// at every budget in the retention metric.
const TAIL_SHARE: u64 = 5;
/// The same where nobody uses tools: in talk the newest answers are long, and what people said before is what is needed.
const TALK_TAIL_SHARE: u64 = 12;
/// The tail may grow to this part of the room for the sake of its least number of messages.
const FLOOR_SHARE: u64 = 4;
/// Less than this is no room for a block.
pub const LEAST_BLOCK: u64 = 32;

/// Where earlier passes have left the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Its counted size now.
    pub counted: CountedTokens,
    /// The block with which it came.
    pub earlier_block: Option<usize>,
    /// Whether the person's first words still hold.
    pub first_words_hold: bool,
}

/// What a replacement is planned from.
#[derive(Clone, Copy)]
pub struct ReplacementInput<'a> {
    /// The conversation.
    pub transcript: &'a Transcript,
    /// What its messages cost.
    pub tally: &'a Tally,
    /// Where earlier passes have left it.
    pub standing: Standing,
    /// The budget of the window.
    pub budget: &'a Budget,
    /// What the host has set.
    pub policy: &'a Policy,
    /// The size of the prompt, and what the server wants.
    pub situation: Situation,
}

impl ReplacementInput<'_> {
    /// What the messages may cost after the pass, instructions included.
    fn allowed(&self, target: u64) -> u64 {
        let aim = target.saturating_sub(self.situation.margin);
        let excess = (self.situation.prompt.0.saturating_sub(aim) as f64 / self.situation.scale).ceil() as u64;
        self.standing.counted.0.saturating_sub(excess)
    }

    /// What there is room for. Without `tail` the tail has its share.
    fn room(&self, target: u64, tail: Option<u64>) -> Room {
        let allowed = self.allowed(target);
        let tokens = allowed.saturating_sub(instruction_tokens(self.transcript, self.tally));
        let is_talk = self.transcript.pairs().is_empty();
        let tail_share = if is_talk { TALK_TAIL_SHARE } else { TAIL_SHARE };
        let default_tail = match self.policy.target {
            Some(_) => tokens / tail_share,
            None => self.budget.tail,
        };
        Room {
            tokens,
            tail: tail.or(self.policy.tail).unwrap_or(default_tail),
            newest: tail.unwrap_or(0),
            least_tail: tokens / if is_talk { TALK_TAIL_SHARE } else { FLOOR_SHARE },
            tail_messages: self.policy.tail_messages,
            earlier_block: self.standing.earlier_block,
            first_words_hold: self.standing.first_words_hold,
            may_squeeze: self.policy.target.is_some(),
        }
    }

    /// What stays in a room, and what that leaves for the block; `None` when newest words and step leave no room for one.
    fn replacement(&self, target: u64, room: Room) -> Option<Replacement> {
        let span = span(self.transcript, self.tally, room)?;
        let span = settle(self.transcript.messages(), span, self.situation.rules.roles);
        let costs = self.tally.messages();
        let kept: u64 = span.kept.iter().map(|index| costs[*index].total()).sum();
        let shortened: u64 = span.shortened.iter().map(|part| part.tokens - part.allowed).sum();
        let mut block_tokens = self.allowed(target).saturating_sub(kept.saturating_sub(shortened));
        if self.policy.target.is_none() {
            block_tokens = block_tokens.min(ledger_tokens(self.budget.threshold));
        }
        Some(Replacement { span, block_tokens })
    }

    /// Whether a block's unused room may go to the tail: where a size to fill was asked for, and no tail.
    pub fn may_lengthen_tail(&self) -> bool {
        self.policy.target.is_some() && self.policy.fills_target && self.policy.tail.is_none()
    }

    /// The replacement with a tail that is longer by what its block left unused; `None` where no further step fits.
    pub fn with_longer_tail(
        &self,
        target: ProviderTokens,
        replacement: &Replacement,
        unused: u64,
    ) -> Option<Replacement> {
        let tail = replacement.span.tail_tokens + unused;
        let longer = self.replacement(target.0, self.room(target.0, Some(tail)))?;
        let is_longer = longer.span.tail_tokens > replacement.span.tail_tokens;
        let replaces = longer.span.kept.len() < self.transcript.messages().len();
        // The block must still have room for what it was found to need.
        let needed = replacement.block_tokens.saturating_sub(unused).max(LEAST_BLOCK);
        (is_longer && replaces && longer.block_tokens >= needed).then_some(longer)
    }
}

/// Plans the replacement of a plan whose mode is full; a plan that cannot be carried out says why.
pub fn plan_replacement(plan: &mut Plan, input: &ReplacementInput<'_>) {
    let messages = input.transcript.messages().len();
    let Some(replacement) = input.replacement(plan.target.0, input.room(plan.target.0, None)) else {
        plan.mode = Mode::Nothing;
        plan.reasons.push(PlanReason::NoRoomForLedger);
        return;
    };
    let Replacement { span, block_tokens } = &replacement;
    if span.kept.len() >= messages {
        plan.mode = Mode::Nothing;
        plan.reasons.push(PlanReason::NothingToReplace);
        return;
    }
    if *block_tokens < LEAST_BLOCK {
        plan.mode = Mode::Nothing;
        plan.reasons.push(PlanReason::TooLittleRoom { tokens: *block_tokens });
        return;
    }
    if span.is_squeezed {
        plan.reasons.push(PlanReason::NewestShortened);
    }
    plan.reasons.push(PlanReason::Replaced {
        tokens: *block_tokens,
        replaced: messages - span.kept.len(),
        messages,
    });
    plan.replacement = Some(replacement);
}
