//! Identifiers that stand near each other: a value beside its key, a test beside its failure.
//!
//! Two identifiers within [`NEAR`] bytes of one message are a pair. Pieces are emitted in the order of their message,
//! so keeping both pieces keeps the pair near. How likely a pair is to be used together grows with the rarer of the two.

use std::collections::HashMap;

use crate::ledger::evidence::Evidence;

/// How far apart two identifiers may stand and still belong together: about three lines.
pub const NEAR: u32 = 200;

/// Identifiers less likely than this are left out of pairs: on recorded sessions counting them changed nothing but the time.
const LEAST: f64 = 0.02;

/// A pair at a piece: it is kept when this piece and the other one are.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Which pair.
    pub pair: u32,
    /// The piece with the other identifier; may be the same.
    pub other: u32,
}

/// All pairs of a conversation.
pub struct Pairs {
    index: HashMap<(u32, u32), u32>,
    /// What each pair is worth; all of them together are worth one.
    pub worth: Vec<f64>,
    links: Vec<Link>,
    starts: Vec<u32>,
}

/// Stands for a pair in which one identifier is part of the other: no pair at all.
const NONE: u32 = u32::MAX;

impl Pairs {
    /// Finds the pairs. `chance` is how likely each identifier is to be used.
    pub fn find(evidence: &Evidence, chance: &[f64]) -> Self {
        let mut pairs = Self {
            index: HashMap::new(),
            worth: Vec::new(),
            links: Vec::new(),
            starts: Vec::new(),
        };
        let mut places: Vec<(u32, Link)> = Vec::new();
        // The occurrences of the message at hand that are still near: identifier, place, piece.
        let mut recent: std::collections::VecDeque<(u32, u32, u32)> = std::collections::VecDeque::new();
        let mut message = NONE;
        for (piece, at, id) in evidence.places() {
            let text = &evidence.kept.texts[evidence.kept.pieces[piece as usize].text as usize];
            if text.message != message {
                recent.clear();
                message = text.message;
            }
            if chance[id as usize] < LEAST {
                continue;
            }
            let at = text.offset.saturating_add(at);
            while recent.front().is_some_and(|one| one.1.saturating_add(NEAR) < at) {
                recent.pop_front();
            }
            for (other, _, other_piece) in &recent {
                let pair = pairs.pair(evidence, chance, id, *other);
                if pair != NONE {
                    places.push((
                        piece,
                        Link {
                            pair,
                            other: *other_piece,
                        },
                    ));
                    if piece != *other_piece {
                        places.push((*other_piece, Link { pair, other: piece }));
                    }
                }
            }
            recent.push_back((id, at, piece));
        }
        pairs.settle(places, evidence.kept.pieces.len());
        pairs
    }

    fn pair(&mut self, evidence: &Evidence, chance: &[f64], one: u32, other: u32) -> u32 {
        if one == other {
            return NONE;
        }
        let next = self.worth.len() as u32;
        let pair = *self.index.entry((one.min(other), one.max(other))).or_insert_with(|| {
            let (a, b) = (
                &evidence.kept.names[one as usize].text,
                &evidence.kept.names[other as usize].text,
            );
            if a.contains(&**b) || b.contains(&**a) {
                NONE
            } else {
                next
            }
        });
        if pair == next {
            let rarer = chance[one as usize].min(chance[other as usize]);
            // Fitted as a power of 1.65 on recorded sessions; this one needs no logarithm.
            self.worth.push(rarer * rarer.sqrt());
        }
        pair
    }

    /// Sorts the links by piece and scales what the pairs are worth.
    fn settle(&mut self, mut places: Vec<(u32, Link)>, pieces: usize) {
        places.sort_unstable_by_key(|(piece, link)| (*piece, link.pair, link.other));
        places.dedup_by_key(|(piece, link)| (*piece, link.pair, link.other));
        let mut next = 0;
        for piece in 0..=pieces {
            while places.get(next).is_some_and(|one| (one.0 as usize) < piece) {
                next += 1;
            }
            self.starts.push(next as u32);
        }
        self.links = places.into_iter().map(|(_, link)| link).collect();
        let total: f64 = self.worth.iter().sum();
        for worth in &mut self.worth {
            *worth /= total;
        }
    }

    /// The pairs at a piece.
    pub fn links(&self, piece: u32) -> &[Link] {
        &self.links[self.starts[piece as usize] as usize..self.starts[piece as usize + 1] as usize]
    }

    /// The number of a pair of identifiers, where it is one.
    pub fn between(&self, one: u32, other: u32) -> Option<u32> {
        self.index
            .get(&(one.min(other), one.max(other)))
            .copied()
            .filter(|pair| *pair != NONE)
    }
}
