//! What can be wrong with a result.

/// How much a flaw matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Worth reporting.
    Warning,
    /// The result must not be adopted.
    Fatal,
}

/// The kinds of flaws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FlawKind {
    /// A call without its result, or a result without its call.
    Unpaired,
    /// A result that does not follow its call as the provider wants it.
    Misplaced,
    /// A role where the provider does not accept it.
    Role,
    /// Arguments that are no longer JSON.
    Arguments,
    /// A message or an answer with nothing in it.
    Empty,
    /// A protected message was changed.
    Protected,
    /// The result is not smaller.
    NotSmaller,
    /// The result is above its target.
    OverTarget,
    /// A secret would be shown.
    Leak,
    /// A target left no room for what is always kept.
    Squeezed,
    /// An answer of a few words.
    TooShort,
    /// An answer that ends where its limit was.
    CutOff,
    /// A model that did not want to answer.
    Refused,
    /// A model that called a tool instead of answering.
    ToolCall,
    /// An answer far longer than was asked for.
    Oversized,
    /// An answer that is no smaller than what it stands for.
    Inflated,
    /// An answer that misses more than half of what must not be lost.
    Unfaithful,
    /// References that an answer lacks.
    Missing,
    /// References that the previous summary had and that still hold.
    DroppedEarlier,
    /// A line that shows what no longer holds.
    Superseded,
    /// References that nothing in the source has.
    Invented,
    /// A rule said to be the person's whose words they never used.
    Unsupported,
    /// An answer without any of the headings that were asked for.
    NoSections,
    /// No summary by a model is in the result.
    NoSummary,
}

impl FlawKind {
    /// The stable name in reports.
    pub fn code(self) -> &'static str {
        match self {
            FlawKind::Unpaired => "unpaired",
            FlawKind::Misplaced => "misplaced",
            FlawKind::Role => "role",
            FlawKind::Arguments => "arguments",
            FlawKind::Empty => "empty",
            FlawKind::Protected => "protected",
            FlawKind::NotSmaller => "not-smaller",
            FlawKind::OverTarget => "over-target",
            FlawKind::Leak => "leak",
            FlawKind::Squeezed => "squeezed",
            FlawKind::TooShort => "too-short",
            FlawKind::CutOff => "cut-off",
            FlawKind::Refused => "refused",
            FlawKind::ToolCall => "tool-call",
            FlawKind::Oversized => "oversized",
            FlawKind::Inflated => "inflated",
            FlawKind::Unfaithful => "unfaithful",
            FlawKind::Missing => "missing",
            FlawKind::DroppedEarlier => "dropped-earlier",
            FlawKind::Superseded => "superseded",
            FlawKind::Invented => "invented",
            FlawKind::Unsupported => "unsupported",
            FlawKind::NoSections => "no-sections",
            FlawKind::NoSummary => "no-summary",
        }
    }
}

/// One thing that is wrong with a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// What kind it is.
    pub kind: FlawKind,
    /// How much it matters.
    pub weight: Weight,
    /// The message it is about.
    pub message: Option<usize>,
    /// What exactly, for people.
    pub detail: String,
}

impl Flaw {
    /// A flaw that refuses the result.
    pub fn fatal(kind: FlawKind, message: Option<usize>, detail: impl Into<String>) -> Self {
        Self {
            kind,
            weight: Weight::Fatal,
            message,
            detail: detail.into(),
        }
    }

    /// A flaw that is only reported.
    pub fn warning(kind: FlawKind, message: Option<usize>, detail: impl Into<String>) -> Self {
        Self {
            weight: Weight::Warning,
            ..Self::fatal(kind, message, detail)
        }
    }
}
