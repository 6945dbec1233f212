//! The full passes that the economic policy may choose from: tails and blocks of several sizes.

use crate::account::Family;
use crate::decide::economic::Form;
use crate::decide::economic::Offer;
use crate::decide::keeping::expected_retention;

/// Tails that are offered, in tokens of o200k: from a step or two to a tenth of the largest windows.
const TAILS: [f64; 7] = [2_000.0, 4_000.0, 8_000.0, 16_000.0, 32_000.0, 64_000.0, 96_000.0];
/// Blocks that are offered: from the size of a recorded summary on.
const BLOCKS: [f64; 11] = [
    2_000.0, 4_000.0, 6_000.0, 8_000.0, 12_000.0, 16_000.0, 24_000.0, 32_000.0, 48_000.0, 64_000.0, 128_000.0,
];

/// What a full pass leaves, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leave {
    /// The newest history that stays verbatim.
    pub tail: u64,
    /// What stands for the rest.
    pub block: u64,
}

/// Everything that a full pass may leave, in tokens of a family.
pub fn leaves(family: Family) -> impl Iterator<Item = Leave> {
    let tokens = move |tokens: f64| (tokens * family.per_plain_token()) as u64;
    TAILS.into_iter().flat_map(move |tail| {
        BLOCKS.map(|block| Leave {
            tail: tokens(tail),
            block: tokens(block),
        })
    })
}

/// What a pass is made on, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ground {
    /// How they are counted.
    pub family: Family,
    /// What no pass takes out: tools, instructions.
    pub fixed: u64,
    /// What of that the cache finds after a pass.
    pub found: u64,
    /// Everything else that was said so far.
    pub history: u64,
}

impl Ground {
    /// The size of a prompt in which this is left.
    pub fn target(&self, leave: Leave) -> u64 {
        self.fixed + leave.tail + leave.block
    }

    /// What an offer of a full pass leaves.
    pub fn left_by(&self, offer: &Offer) -> Leave {
        Leave {
            tail: offer.tail,
            block: offer.prompt.saturating_sub(self.fixed + offer.tail),
        }
    }

    /// Full passes of this form, whose calls cost so much.
    pub fn full_passes(self, form: Form, calls: f64) -> impl Iterator<Item = Offer> {
        leaves(self.family).map(move |leave| Offer {
            form,
            prompt: self.target(leave),
            tail: leave.tail,
            stays: self.found,
            calls,
            retention: expected_retention(self.family, self.history, leave.tail, leave.block),
        })
    }
}
