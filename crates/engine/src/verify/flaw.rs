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
    /// A message with nothing in it.
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
