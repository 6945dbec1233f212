//! The passes that the economic policy may choose from.

use mainstay_engine::decide::Form;
use mainstay_engine::decide::Offer;
use mainstay_engine::decide::Way;
use mainstay_engine::decide::expected_retention;

use crate::replay::play::Stage;
use crate::replay::play::call_price;
use crate::replay::walk::Walk;

/// Shares of what was said that a full pass may leave.
pub const SHARES: [f64; 12] = [0.03, 0.05, 0.08, 0.12, 0.16, 0.20, 0.25, 0.30, 0.36, 0.42, 0.50, 0.60];
/// About what a placeholder costs.
const PLACEHOLDER: u64 = 75;

/// The size of a prompt in which this share of what was said is left.
pub fn target(walk: &Walk<'_>, share: f64) -> u64 {
    walk.preface() + (walk.said() as f64 * share) as u64
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
    let offer = |share: &f64| Offer {
        form,
        prompt: target(walk, *share),
        stays: walk.preface(),
        calls,
        retention: expected_retention(form, *share),
    };
    SHARES.iter().map(offer).collect()
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
        stays,
        calls: 0.0,
        retention: expected_retention(Form::Prune, share.min(1.0)),
    })
}
