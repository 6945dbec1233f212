//! What keeping a piece is worth: the identifiers it brings that nothing kept shows yet, and the pairs it completes.

use std::sync::Arc;

use crate::ledger::evidence::Evidence;
use crate::ledger::evidence::Occurrence;
use crate::ledger::evidence::pairs::NEAR;
use crate::ledger::evidence::pairs::Pairs;
use crate::ledger::evidence::weights::expected_use;

/// The newest tenth of a conversation is usually in front of the model anyway; what stands only before it counts twice,
/// as one of all identifiers and as one of those.
const NEWEST_TENTH: u64 = 10;

/// What everything in a conversation is worth before anything is chosen. A block is written in several attempts: this is worked out once for
/// all of them.
pub struct EvidenceWorth {
    /// What each key is worth while nothing kept shows it.
    keys: Vec<f64>,
    pairs: Pairs,
    /// What each piece is worth at most.
    pieces: Vec<f64>,
}

impl EvidenceWorth {
    /// For a conversation as it is now.
    pub fn of(evidence: &Evidence) -> Self {
        let kept = &evidence.kept;
        let chance: Vec<f64> = kept
            .stats
            .iter()
            .zip(&kept.names)
            .map(|(stats, name)| match stats.is_unseen() {
                true => 0.0,
                false => expected_use(&stats.features(&kept.clock, name.class(), &name.text)),
            })
            .collect();
        let keys = worth_of_keys(evidence, &chance);
        let pairs = Pairs::find(evidence, &chance);
        let of_key = |key: u32| keys[key as usize];
        let of_piece = |piece: u32| {
            let names = evidence.occurrences(piece).iter();
            let names = names.map(|one| of_key(kept.names[one.id as usize].key));
            let heading = evidence.heading_keys(piece).map(of_key);
            let paired = pairs.links(piece).iter().map(|link| pairs.worth[link.pair as usize]);
            names.chain(heading).chain(paired).sum()
        };
        let pieces = (0..kept.pieces.len() as u32).map(of_piece).collect();
        Self { keys, pairs, pieces }
    }
}

/// The state of a choice: what is worth how much, and what is kept already.
pub struct Gains<'a> {
    evidence: &'a Evidence,
    worth: Arc<EvidenceWorth>,
    is_shown: Vec<bool>,
    is_paired: Vec<bool>,
    /// Which pieces are kept, here or elsewhere.
    pub is_kept: Vec<bool>,
    /// Marks keys and pairs counted in the evaluation at hand.
    key_marks: Vec<u32>,
    pair_marks: Vec<u32>,
    mark: u32,
}

impl<'a> Gains<'a> {
    /// The worth of everything, with the pieces that `is_visible` picks counted as kept.
    pub fn new(evidence: &'a Evidence, is_visible: &dyn Fn(u32) -> bool, shown: &[&str]) -> Self {
        let kept = &evidence.kept;
        let worth = evidence.worth();
        let mut gains = Self {
            evidence,
            is_shown: vec![false; kept.keys as usize],
            is_paired: vec![false; worth.pairs.worth.len()],
            is_kept: vec![false; kept.pieces.len()],
            key_marks: vec![0; kept.keys as usize],
            pair_marks: vec![0; worth.pairs.worth.len()],
            mark: 0,
            worth,
        };
        for piece in 0..kept.pieces.len() as u32 {
            if is_visible(kept.pieces[piece as usize].text) {
                gains.keep(piece, |_| ());
            }
        }
        for text in shown {
            gains.show(text);
        }
        gains
    }

    /// Counts what a text shows as kept.
    fn show(&mut self, text: &str) {
        let mut recent: Vec<(u32, usize)> = Vec::new();
        for (id, key, one) in self.evidence.known(text) {
            if let Some(key) = key {
                self.is_shown[key as usize] = true;
            }
            let Some(id) = id else { continue };
            self.is_shown[self.evidence.kept.names[id as usize].key as usize] = true;
            recent.retain(|(_, at)| at + NEAR as usize >= one.range.start);
            for (other, _) in &recent {
                if let Some(pair) = self.worth.pairs.between(id, *other) {
                    self.is_paired[pair as usize] = true;
                }
            }
            recent.push((id, one.range.start));
        }
    }

    /// Keeps a piece, and calls `touched` with every piece that thereby became worth more.
    pub fn keep(&mut self, piece: u32, mut touched: impl FnMut(u32)) {
        self.is_kept[piece as usize] = true;
        for occurrence in self.evidence.occurrences(piece) {
            self.is_shown[self.evidence.kept.names[occurrence.id as usize].key as usize] = true;
        }
        for key in self.evidence.heading_keys(piece) {
            self.is_shown[key as usize] = true;
        }
        for link in self.worth.pairs.links(piece) {
            if self.is_kept[link.other as usize] {
                self.is_paired[link.pair as usize] = true;
            } else if !self.is_paired[link.pair as usize] {
                touched(link.other);
            }
        }
    }

    /// What keeping these neighbouring pieces would add.
    pub fn of(&mut self, first: u32, last: u32) -> f64 {
        self.mark += 1;
        let worth = Arc::clone(&self.worth);
        let mut gain = 0.0;
        for piece in first..=last {
            if self.is_kept[piece as usize] {
                continue;
            }
            let evidence = self.evidence;
            for occurrence in evidence.occurrences(piece) {
                gain += self.once(evidence.kept.names[occurrence.id as usize].key);
            }
            for key in evidence.heading_keys(piece) {
                gain += self.once(key);
            }
            for link in worth.pairs.links(piece) {
                let pair = link.pair as usize;
                let is_near = self.is_kept[link.other as usize] || (first..=last).contains(&link.other);
                if is_near && !self.is_paired[pair] && self.pair_marks[pair] != self.mark {
                    self.pair_marks[pair] = self.mark;
                    gain += worth.pairs.worth[pair];
                }
            }
        }
        gain
    }

    /// What a piece adds at most, whatever else is kept.
    pub fn most(&self, piece: u32) -> f64 {
        self.worth.pieces[piece as usize]
    }

    /// The worth of a key, the first time in an evaluation and while nothing kept shows it.
    fn once(&mut self, key: u32) -> f64 {
        let key = key as usize;
        if self.is_shown[key] || self.key_marks[key] == self.mark {
            return 0.0;
        }
        self.key_marks[key] = self.mark;
        self.worth.keys[key]
    }
}

/// What each key is worth: its share of all expected use, and of the expected use of what the newest tenth lacks.
fn worth_of_keys(evidence: &Evidence, chance: &[f64]) -> Vec<f64> {
    let kept = &evidence.kept;
    let newest = newest_tenth(evidence);
    let is_far = |id: usize| kept.stats[id].newest() < newest;
    let all: f64 = chance.iter().sum();
    let far: f64 = (0..chance.len()).filter(|id| is_far(*id)).map(|id| chance[id]).sum();
    let mut worth = vec![0.0; kept.keys as usize];
    for (id, chance) in chance.iter().enumerate() {
        let key = kept.names[id].key as usize;
        if *chance > 0.0 {
            worth[key] += chance / all;
            if is_far(id) {
                worth[key] += chance / far;
            }
        }
    }
    worth
}

/// The first turn of the newest tenth of the conversation.
fn newest_tenth(evidence: &Evidence) -> u32 {
    let kept = &evidence.kept;
    let mut bytes = 0;
    let mut turn = kept.clock.messages + 1;
    for piece in kept.pieces.iter().rev() {
        bytes += u64::from(piece.end - piece.start);
        if bytes * NEWEST_TENTH > kept.clock.bytes {
            break;
        }
        turn = kept.texts[piece.text as usize].turn;
    }
    turn
}

impl Evidence {
    /// What the line above a piece shows: the called tool, and the file that code is from.
    fn heading_keys(&self, piece: u32) -> impl Iterator<Item = u32> + use<'_> {
        let kept = &self.kept;
        let text = &kept.texts[kept.pieces[piece as usize].text as usize];
        let shown = [text.tool, text.source].into_iter().flatten();
        shown.map(|id| kept.names[id as usize].key)
    }

    /// The occurrences in a piece.
    pub(super) fn occurrences(&self, piece: u32) -> &[Occurrence] {
        let from = self.kept.pieces[piece as usize].first as usize;
        let next = self.kept.pieces.get(piece as usize + 1);
        &self.kept.occurrences[from..next.map_or(self.kept.occurrences.len(), |next| next.first as usize)]
    }

    /// Every occurrence with its piece, in order: piece, place in its text, identifier.
    pub(super) fn places(&self) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
        let pieces = 0..self.kept.pieces.len() as u32;
        pieces.flat_map(|piece| self.occurrences(piece).iter().map(move |one| (piece, one.at, one.id)))
    }
}

/// About how many tokens a text costs: runs of letters by length, digits by threes, marks one by one.
pub fn estimate(text: &str) -> u32 {
    /// Letters a token holds on average in names and code, as counted by both of OpenAI's vocabularies.
    const LETTERS: u32 = 5;
    let (mut tokens, mut letters, mut digits) = (0, 0u32, 0u32);
    let mut before = b' ';
    for byte in text.bytes() {
        if byte.is_ascii_alphabetic() {
            letters += 1;
        } else {
            tokens += letters.div_ceil(LETTERS);
            letters = 0;
        }
        if byte.is_ascii_digit() {
            digits += 1;
        } else {
            tokens += digits.div_ceil(3);
            digits = 0;
        }
        let is_mark = byte.is_ascii_punctuation() && !before.is_ascii_punctuation();
        tokens += u32::from(is_mark || byte == b'\n' || (byte >= 0x80 && byte & 0x40 != 0));
        before = byte;
    }
    tokens + letters.div_ceil(LETTERS) + digits.div_ceil(3)
}
