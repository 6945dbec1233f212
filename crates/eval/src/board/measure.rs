//! The measures of the board: their names, and which direction is better. A new measure is one variant and its lines here.

use serde::Deserialize;
use serde::Serialize;

/// How the observations of a measure are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeasureKind {
    /// A share between zero and one; more is better. Its floor is the lowest mean.
    Share,
    /// A share of what should not be there; less is better. Its floor is the highest mean.
    FaultShare,
    /// How many faults a conversation has; less is better. Its floor is the highest total.
    FaultCount,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoardMeasure {
    /// Expected facts of the probe banks that stand in the state.
    Facts,
    /// Stale facts that the state gives as current.
    Stale,
    /// Answers in the person's own words that stand in the state.
    Answers,
    /// Short messages by the person that stand whole in the state.
    ShortMessages,
    /// The same without the first and the newest message of a conversation.
    ShortMiddle,
    /// Sentences of long messages by the person that stand in the state: the mean over messages.
    LongSentences,
    /// Sentences of the agent's closing texts of turns that stand in the state: the mean over texts.
    ClosingSentences,
    /// Identifiers that the agent goes on to use and the state still has.
    Fur,
    /// The same for those that the newest tenth does not hold.
    Far,
    /// Pairs of them that still stand near each other.
    Pair,
    /// Planted facts that are kept, by weight: the mean over conversations.
    Kept,
    /// Corrected values of planted conversations whose old value is marked with what replaced it.
    CorrectionsMarked,
    /// Open questions of planted conversations listed under "Unresolved questions".
    QuestionsListed,
    /// Errors of planted conversations that are listed with how they ended.
    ErrorsWithState,
    /// Statements of the state that are false by the answer sheet.
    FalseClaims,
    /// Secrets in what was written.
    Leaks,
    /// States that are larger than their target, as `mainstay inspect` counts them.
    OverTarget,
    /// Targets for which the original came back with a reason.
    Refused,
    /// The share of the target that a state uses.
    Used,
    /// Evidence lines that begin or end inside of a statement.
    Fragments,
}

impl BoardMeasure {
    /// All of them, in the order in which tables list them.
    pub const ALL: [BoardMeasure; 20] = [
        BoardMeasure::Facts,
        BoardMeasure::Stale,
        BoardMeasure::Answers,
        BoardMeasure::ShortMessages,
        BoardMeasure::ShortMiddle,
        BoardMeasure::LongSentences,
        BoardMeasure::ClosingSentences,
        BoardMeasure::Fur,
        BoardMeasure::Far,
        BoardMeasure::Pair,
        BoardMeasure::Kept,
        BoardMeasure::CorrectionsMarked,
        BoardMeasure::QuestionsListed,
        BoardMeasure::ErrorsWithState,
        BoardMeasure::FalseClaims,
        BoardMeasure::Leaks,
        BoardMeasure::OverTarget,
        BoardMeasure::Refused,
        BoardMeasure::Used,
        BoardMeasure::Fragments,
    ];

    /// The measures of the state itself, which every set has.
    pub const SIDE: [BoardMeasure; 6] = [
        BoardMeasure::Used,
        BoardMeasure::Fragments,
        BoardMeasure::FalseClaims,
        BoardMeasure::Leaks,
        BoardMeasure::OverTarget,
        BoardMeasure::Refused,
    ];

    /// Its name in JSON, in tables and in floor files.
    pub fn name(self) -> &'static str {
        match self {
            BoardMeasure::Facts => "facts",
            BoardMeasure::Stale => "stale",
            BoardMeasure::Answers => "answers",
            BoardMeasure::ShortMessages => "short_messages",
            BoardMeasure::ShortMiddle => "short_middle",
            BoardMeasure::LongSentences => "long_sentences",
            BoardMeasure::ClosingSentences => "closing_sentences",
            BoardMeasure::Fur => "fur",
            BoardMeasure::Far => "far",
            BoardMeasure::Pair => "pair",
            BoardMeasure::Kept => "kept",
            BoardMeasure::CorrectionsMarked => "corrections_marked",
            BoardMeasure::QuestionsListed => "questions_listed",
            BoardMeasure::ErrorsWithState => "errors_with_state",
            BoardMeasure::FalseClaims => "false_claims",
            BoardMeasure::Leaks => "leaks",
            BoardMeasure::OverTarget => "over_target",
            BoardMeasure::Refused => "refused",
            BoardMeasure::Used => "used",
            BoardMeasure::Fragments => "fragments",
        }
    }

    /// The measure of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.name() == name)
    }

    /// How its observations are read.
    pub fn kind(self) -> MeasureKind {
        match self {
            BoardMeasure::Stale
            | BoardMeasure::FalseClaims
            | BoardMeasure::Leaks
            | BoardMeasure::OverTarget
            | BoardMeasure::Refused => MeasureKind::FaultCount,
            BoardMeasure::Fragments => MeasureKind::FaultShare,
            BoardMeasure::Facts
            | BoardMeasure::Answers
            | BoardMeasure::ShortMessages
            | BoardMeasure::ShortMiddle
            | BoardMeasure::LongSentences
            | BoardMeasure::ClosingSentences
            | BoardMeasure::Fur
            | BoardMeasure::Far
            | BoardMeasure::Pair
            | BoardMeasure::Kept
            | BoardMeasure::CorrectionsMarked
            | BoardMeasure::QuestionsListed
            | BoardMeasure::ErrorsWithState
            | BoardMeasure::Used => MeasureKind::Share,
        }
    }
}
