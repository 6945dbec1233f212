//! The passes that the economic policy may choose from.

use mainstay_engine::account::Family;
use mainstay_engine::decide::Form;
use mainstay_engine::decide::Offer;
use mainstay_engine::decide::Way;
use mainstay_engine::decide::expected_retention;
use mainstay_engine::decide::pruned_retention;

use crate::replay::play::Stage;
use crate::replay::play::call_price;
use crate::replay::walk::Walk;

/// What a full pass leaves, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leave {
    /// The newest history that stays verbatim.
    pub tail: u64,
    /// What stands for the rest.
    pub block: u64,
}

/// Tails that are offered, in tokens of o200k.
const TAILS: [f64; 6] = [3_000.0, 6_000.0, 12_000.0, 24_000.0, 48_000.0, 96_000.0];
/// Blocks that are offered.
const BLOCKS: [f64; 7] = [2_000.0, 4_000.0, 8_000.0, 16_000.0, 32_000.0, 64_000.0, 128_000.0];
/// About what a placeholder costs.
const PLACEHOLDER: u64 = 75;

/// Everything that a full pass may leave.
pub fn leaves(family: Family) -> impl Iterator<Item = Leave> {
    let tokens = move |tokens: f64| (tokens * family.per_plain_token()) as u64;
    TAILS.into_iter().flat_map(move |tail| {
        BLOCKS.map(|block| Leave {
            tail: tokens(tail),
            block: tokens(block),
        })
    })
}

/// The size of a prompt in which this is left.
pub fn target(walk: &Walk<'_>, leave: Leave) -> u64 {
    walk.preface() + walk.instructions() + leave.tail + leave.block
}

/// Passes that need no model: pruning, and the ledger in several sizes.
pub fn alone(walk: &Walk<'_>, recent: u64) -> Vec<Offer> {
    let mut offers = ledgers(walk, Form::Ledger, 0.0);
    offers.extend(prune(walk, recent));
    offers
}

/// Passes with a model's summary, in both ways of asking for it.
pub fn hybrids(walk: &Walk<'_>, stage: &Stage<'_>) -> Vec<Offer> {
    let ways = [Way::Auxiliary, Way::InPlace];
    let offers = ways.map(|way| ledgers(walk, Form::Hybrid(way), call_price(stage, walk, way)));
    offers.concat()
}

fn ledgers(walk: &Walk<'_>, form: Form, calls: f64) -> Vec<Offer> {
    let family = walk.timeline().family;
    let said = walk.said().saturating_sub(walk.instructions());
    let offer = |leave: Leave| Offer {
        form,
        prompt: target(walk, leave),
        tail: leave.tail,
        stays: walk.preface() + walk.instructions(),
        calls,
        retention: expected_retention(family, said, leave.tail, leave.block),
    };
    leaves(family).map(offer).collect()
}

/// What pruning would leave, estimated: outputs older than the newest `recent` tokens of them become lines.
fn prune(walk: &Walk<'_>, recent: u64) -> Option<Offer> {
    let messages = walk.timeline().transcript.messages();
    let (mut newest, mut saved, mut stays, mut left) = (0, 0, walk.prompt(), walk.prompt());
    for piece in walk.messages().iter().rev() {
        left -= piece.segment.tokens;
        let is_output = piece
            .message
            .is_some_and(|index| piece.text.is_none() && messages[index].has_results());
        if !is_output {
            continue;
        }
        if newest < recent {
            newest += piece.segment.tokens;
        } else if piece.segment.tokens > PLACEHOLDER {
            saved += piece.segment.tokens - PLACEHOLDER;
            stays = left;
        }
    }
    let prompt = walk.prompt() - saved;
    let share = (prompt - walk.preface()) as f64 / walk.said().max(1) as f64;
    (saved > 0).then(|| Offer {
        form: Form::Prune,
        prompt,
        tail: 0,
        stays,
        calls: 0.0,
        retention: pruned_retention(share.min(1.0)),
    })
}
