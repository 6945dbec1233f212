//! What is saved of evidence: identifiers, texts, pieces and where they stand, as rows of numbers.

use serde::Deserialize;
use serde::Serialize;

use crate::ledger::evidence::stats::Clock;
use crate::ledger::evidence::stats::Stats;
use crate::ledger::evidence::stats::Voice;
use crate::transcript::CallId;

/// The part of the state that is saved; the rest is an index over it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedEvidence {
    pub clock: Clock,
    pub names: Vec<IdentifierName>,
    pub stats: Vec<Stats>,
    pub texts: Vec<TextRef>,
    pub pieces: Vec<EvidencePiece>,
    pub occurrences: Vec<Occurrence>,
    pub keys: u32,
    /// The file that each call of the newest step is about.
    pub files: Vec<(CallId, Box<str>)>,
}

/// An identifier. Two paths with the same last component share a key: either tells where to look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentifierName {
    pub text: Box<str>,
    pub class: u8,
    pub key: u32,
}

/// A text of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextRef {
    pub message: u32,
    /// Which of the message's texts, in order.
    pub slot: u32,
    pub voice: Voice,
    /// The message's place among those that count.
    pub turn: u32,
    /// Where it starts in the message, all its texts in a row.
    pub offset: u32,
    /// The identifier that the called tool's name is.
    pub tool: Option<u32>,
    /// The identifier that the path of the file is which a text of code is from.
    pub source: Option<u32>,
    /// Whether its pieces are names of code, shown in a row, and not lines.
    pub is_code: bool,
}

/// A piece of a text, and the first of its occurrences; they end where those of the next piece begin. SavedEvidence as a row of
/// numbers: there are many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "PieceRow", into = "PieceRow")]
pub struct EvidencePiece {
    pub text: u32,
    pub start: u32,
    pub end: u32,
    pub first: u32,
    /// About how many tokens it costs; 0 when there is no word in it.
    pub cost: u32,
    /// Equal for equal words: repeats are found without the texts.
    pub hash: u64,
}

type PieceRow = (u32, u32, u32, u32, u32, u64);

impl From<PieceRow> for EvidencePiece {
    fn from((text, start, end, first, cost, hash): PieceRow) -> Self {
        Self {
            text,
            start,
            end,
            first,
            cost,
            hash,
        }
    }
}

impl From<EvidencePiece> for PieceRow {
    fn from(piece: EvidencePiece) -> Self {
        (piece.text, piece.start, piece.end, piece.first, piece.cost, piece.hash)
    }
}

/// An identifier at a place of a text. SavedEvidence as a row, like pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, u32)", into = "(u32, u32)")]
pub struct Occurrence {
    pub id: u32,
    pub at: u32,
}

impl From<(u32, u32)> for Occurrence {
    fn from((id, at): (u32, u32)) -> Self {
        Self { id, at }
    }
}

impl From<Occurrence> for (u32, u32) {
    fn from(occurrence: Occurrence) -> Self {
        (occurrence.id, occurrence.at)
    }
}

impl SavedEvidence {
    /// Whether every number points at something, as it does in every state that folding makes.
    pub fn is_sound(&self) -> bool {
        let (names, occurrences) = (self.names.len(), self.occurrences.len());
        let is_id = |id: u32| (id as usize) < names;
        self.stats.len() == names
            && self.stats.iter().all(|stats| stats.is_sound(&self.clock))
            && self
                .names
                .iter()
                .all(|name| name.key < self.keys && self.keys as usize <= names)
            && self
                .texts
                .iter()
                .all(|text| text.tool.is_none_or(is_id) && text.source.is_none_or(is_id))
            && self.texts.is_sorted_by_key(|text| text.message)
            && self.pieces.is_sorted_by_key(|piece| piece.first)
            && self.pieces.iter().all(|piece| (piece.text as usize) < self.texts.len())
            && self
                .pieces
                .iter()
                .all(|piece| piece.start <= piece.end && piece.first as usize <= occurrences)
            && self.occurrences.iter().all(|occurrence| is_id(occurrence.id))
    }
}
