//! A line that may be shown of an output, and why.

use super::telling_noise::without_noise;

/// Why a line is shown, the strongest reason first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum LineSignal {
    /// It reports a failure.
    Failure,
    /// It counts an outcome or names the exit code of a failure.
    Summary,
    /// It differs from its neighbours.
    Odd,
    /// It says how something is.
    State,
    /// It warns.
    Warning,
    /// It has a word of failure in it.
    Mention,
    /// It is how the output ends or begins.
    Plain,
    /// It says that nothing happened.
    Calm,
}

/// A line that may be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OfferedLine {
    pub signal: LineSignal,
    /// Where it stands; later lines have higher numbers.
    pub place: usize,
    /// The line without its noise.
    pub text: String,
}

impl OfferedLine {
    pub fn of(signal: LineSignal, place: usize, line: &str) -> Option<Self> {
        let text = without_noise(line)?;
        Some(Self { signal, place, text })
    }
}
