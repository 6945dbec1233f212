//! What a block may claim falsely, and finding words of its own beside what it quotes.

use serde::Serialize;

/// A kind of statement that harms an agent who believes it and finds it false.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimKind {
    /// Somebody agreed to something.
    Consent,
    /// A question was answered.
    ClosedQuestion,
    /// A command went well.
    OutcomeOk,
    /// A value does not hold any more.
    Supersession,
}

impl ClaimKind {
    /// All of them.
    pub const ALL: [ClaimKind; 4] = [
        ClaimKind::Consent,
        ClaimKind::ClosedQuestion,
        ClaimKind::OutcomeOk,
        ClaimKind::Supersession,
    ];
}

/// Words by which a block would claim consent.
pub const AGREED: &[&str] = &[
    "agreed",
    "approved",
    "accepted",
    "confirmed",
    "consented",
    "authorised",
    "authorized",
    "согласовано",
    "одобрено",
    "подтверждено",
];

/// Words by which a block would claim that a question is settled.
pub const SETTLED: &[&str] = &["answered", "resolved", "settled", "closed", "done"];

/// Words by which a block would claim that a command went well.
pub const WENT_WELL: &[&str] = &["ok", "passed", "succeeded", "success", "successful", "passes", "clean"];

/// Words that tell of a failure: a line with one of them does not say that all went well.
pub const WENT_WRONG: &[&str] = &[
    "fail",
    "error",
    "err!",
    "fatal",
    "reject",
    "refus",
    "unreachable",
    "503",
    "exit",
    "panick",
    "broke",
];

/// The word of a list that a line has as its own: none of the texts that it quotes has it, and the line does not deny it.
pub fn own_word<'a>(line: &str, list: &[&'a str], sources: &[String]) -> Option<&'a str> {
    let line = line.to_lowercase();
    let words: Vec<&str> = line
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    list.iter().copied().find(|claim| {
        let is_quoted = sources.iter().any(|source| has_word(&source.to_lowercase(), claim));
        let is_denied = |at: usize| {
            words[at.saturating_sub(2)..at]
                .iter()
                .any(|word| matches!(*word, "not" | "never" | "no" | "не"))
        };
        let mut places = words.iter().enumerate().filter(|(_, word)| *word == claim);
        !is_quoted && places.any(|(at, _)| !is_denied(at))
    })
}

fn has_word(text: &str, wanted: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|word| word == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_what_the_block_adds() {
        let source = ["I could clean up heron-3. Shall I?".to_owned()];
        assert_eq!(own_word("clean up heron-3 (agreed)", AGREED, &source), Some("agreed"));
        assert_eq!(
            own_word("clean up heron-3 (proposed, not agreed)", AGREED, &source),
            None
        );
        assert_eq!(own_word("clean up heron-3", AGREED, &source), None);
        let source = ["we agreed on heron-3".to_owned()];
        assert_eq!(own_word("we agreed on heron-3", AGREED, &source), None);
        assert_eq!(own_word("make heron-3: ok", WENT_WELL, &[]), Some("ok"));
        assert_eq!(own_word("make heron-3: not ok", WENT_WELL, &[]), None);
        assert_eq!(own_word("make heron-3: token", WENT_WELL, &[]), None);
    }
}
