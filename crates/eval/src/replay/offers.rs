//! The passes that the economic policy may choose from.

use mainstay_engine::decide::Form;
use mainstay_engine::decide::Ground;
use mainstay_engine::decide::Offer;
use mainstay_engine::decide::PLACEHOLDER;
use mainstay_engine::decide::Way;
use mainstay_engine::decide::pruned_retention;

use crate::replay::price::summary_price;
use crate::replay::stage::Stage;
use crate::replay::walk::Walk;

/// What passes are made on.
pub fn ground(walk: &Walk<'_>, is_marked: bool) -> Ground {
    Ground {
        family: walk.timeline().family,
        fixed: walk.preface() + walk.instructions(),
        found: match is_marked {
            // Only the preface has a mark of its own.
            true => walk.preface(),
            false => walk.preface() + walk.instructions(),
        },
        history: walk.said().saturating_sub(walk.instructions()),
    }
}

/// Passes that need no model: pruning, and the ledger in several sizes.
pub fn alone(walk: &Walk<'_>, stage: &Stage<'_>, recent: u64) -> Vec<Offer> {
    let mut offers: Vec<Offer> = ground(walk, stage.is_marked()).full_passes(Form::Ledger, 0.0).collect();
    offers.extend(prune(walk, stage.is_marked(), recent));
    offers
}

/// Passes with a model's summary, in both ways of asking for it.
pub fn hybrids(walk: &Walk<'_>, stage: &Stage<'_>, warm: u64) -> Vec<Offer> {
    let ways = [Way::Auxiliary, Way::InPlace];
    let offers = ways.into_iter().flat_map(|way| {
        ground(walk, stage.is_marked()).full_passes(Form::Hybrid(way), call_price(stage, walk, way, warm))
    });
    offers.collect()
}

/// What a summary call of an offer would cost.
fn call_price(stage: &Stage<'_>, walk: &Walk<'_>, way: Way, warm: u64) -> f64 {
    summary_price(&stage.call(way, walk.prompt(), warm), stage.profile, stage.summariser)
}

/// What pruning would leave, estimated: outputs older than the newest `recent` tokens of them become lines.
fn prune(walk: &Walk<'_>, is_marked: bool, recent: u64) -> Option<Offer> {
    let messages = walk.timeline().transcript.messages();
    let (mut newest, mut saved, mut stays, mut left) = (0, 0, walk.prompt(), walk.prompt());
    for piece in walk.messages().iter().rev() {
        left -= piece.segment.tokens;
        let is_output = piece
            .message
            .is_some_and(|index| piece.written.is_none() && messages[index].has_results());
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
        stays: if is_marked { walk.preface() } else { stays },
        calls: 0.0,
        retention: pruned_retention(share.min(1.0)),
    })
}
