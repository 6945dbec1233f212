//! Sizes of states: the rows of the board.

use std::fmt;

/// How large a state may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BoardSize {
    /// This share of the conversation's tokens.
    Share(f64),
    /// So many tokens.
    Tokens(u64),
    /// The conversation itself, not compacted: the most that a state can show.
    Whole,
}

impl BoardSize {
    /// The target for a conversation of this many tokens.
    pub fn target(self, tokens: u64) -> u64 {
        match self {
            BoardSize::Share(share) => (tokens as f64 * share) as u64,
            BoardSize::Tokens(target) => target,
            BoardSize::Whole => tokens,
        }
    }
}

impl fmt::Display for BoardSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BoardSize::Share(share) => write!(formatter, "{}%", (share * 1000.0).round() / 10.0),
            BoardSize::Tokens(tokens) => write!(formatter, "{tokens}"),
            BoardSize::Whole => formatter.write_str("whole"),
        }
    }
}

/// The sizes of most sets.
pub const SHARES: [BoardSize; 3] = [BoardSize::Share(0.05), BoardSize::Share(0.1), BoardSize::Share(0.25)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_as_people_write_them() {
        let written = [
            BoardSize::Share(0.05),
            BoardSize::Share(0.125),
            BoardSize::Tokens(8000),
            BoardSize::Whole,
        ];
        let written: Vec<String> = written.iter().map(ToString::to_string).collect();
        assert_eq!(written, ["5%", "12.5%", "8000", "whole"]);
        assert_eq!(BoardSize::Share(0.1).target(1234), 123);
    }
}
