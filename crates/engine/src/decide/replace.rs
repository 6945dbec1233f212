//! Planning a full pass: what stays, and how much room the block has.

use crate::account::Budget;
use crate::account::Tally;
use crate::decide::plan::Mode;
use crate::decide::plan::Plan;
use crate::decide::policy::Policy;
use crate::decide::policy::ledger_tokens;
use crate::decide::seat::settle;
use crate::decide::situation::Situation;
use crate::decide::span::Room;
use crate::decide::span::Span;
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

/// What a full pass replaces, and with how much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// What stays.
    pub span: Span,
    /// The tokens, as counted, that the block may have.
    pub block_tokens: u64,
}

/// Where earlier passes have left the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Its counted size now.
    pub counted: u64,
    /// The block with which it came.
    pub earlier_block: Option<usize>,
    /// Whether the person's first words still hold.
    pub first_words_hold: bool,
}

/// Plans the replacement of a plan whose mode is full; a plan that cannot be carried out says why.
pub fn plan_replacement(
    plan: &mut Plan,
    transcript: &Transcript,
    tally: &Tally,
    standing: Standing,
    budget: &Budget,
    policy: &Policy,
    situation: Situation,
) {
    let aim = plan.target.saturating_sub(situation.margin);
    let excess = (situation.prompt.saturating_sub(aim) as f64 / situation.scale).ceil() as u64;
    let allowed = standing.counted.saturating_sub(excess);
    let tokens = allowed.saturating_sub(instruction_tokens(transcript, tally));
    let is_talk = transcript.pairs().is_empty();
    let tail_share = if is_talk { TALK_TAIL_SHARE } else { TAIL_SHARE };
    let room = Room {
        tokens,
        tail: policy.tail.unwrap_or(match policy.target {
            Some(_) => tokens / tail_share,
            None => budget.tail,
        }),
        least_tail: tokens / if is_talk { TALK_TAIL_SHARE } else { FLOOR_SHARE },
        tail_messages: policy.tail_messages,
        earlier_block: standing.earlier_block,
        first_words_hold: standing.first_words_hold,
        may_squeeze: policy.target.is_some(),
    };
    let Some(span) = span(transcript, tally, room) else {
        plan.mode = Mode::Nothing;
        plan.reasons
            .push("the newest words and the open step alone leave no room for a ledger".to_owned());
        return;
    };
    let span = settle(transcript.messages(), span, situation.roles);
    let kept: u64 = span.kept.iter().map(|index| tally.messages()[*index].total()).sum();
    let shortened: u64 = span.shortened.iter().map(|part| part.tokens - part.allowed).sum();
    let mut block_tokens = allowed.saturating_sub(kept.saturating_sub(shortened));
    if policy.target.is_none() {
        block_tokens = block_tokens.min(ledger_tokens(budget.threshold));
    }
    if span.kept.len() >= transcript.messages().len() {
        plan.mode = Mode::Nothing;
        plan.reasons
            .push("everything is kept: there is nothing to replace".to_owned());
        return;
    }
    if block_tokens < LEAST_BLOCK {
        plan.mode = Mode::Nothing;
        plan.reasons.push(format!(
            "what must stay leaves {block_tokens} tokens, too few for a ledger"
        ));
        return;
    }
    if span.is_squeezed {
        plan.reasons.push(
            "the newest step or words would fill the target: they are shortened, or given to the ledger".to_owned(),
        );
    }
    plan.reasons.push(format!(
        "a ledger of at most {block_tokens} tokens stands for {} of {} messages",
        transcript.messages().len() - span.kept.len(),
        transcript.messages().len()
    ));
    plan.replacement = Some(Replacement { span, block_tokens });
}
