//! Requests that hold for one time only: they are done, not obeyed from then on.

use crate::ledger::statements::patterns::List;
use crate::ledger::statements::patterns::PATTERNS;
use crate::ledger::statements::words::Words;

/// Phrases that say that something is meant for this time only, in their plain form.
const ONCE: [&str; 10] = [
    "for now",
    "this time",
    "just this once",
    "for the moment",
    "fürs erste",
    "erstmal",
    "diesmal",
    "на этот раз",
    "por ahora",
    "pour l'instant",
];

/// Words that limit and forbid nothing by themselves.
const LIMITING: [&str; 5] = ["only", "nur", "только", "solo", "seulement"];

/// Whether a sentence asks for one thing now, and forbids nothing: "commit only the version command for now".
pub(super) fn is_once(words: &Words<'_>) -> bool {
    let plain: Vec<&str> = (0..words.len()).map(|index| words.at(index)).collect();
    let line = plain.join(" ");
    ONCE.iter().any(|phrase| line.contains(phrase))
        && !plain
            .iter()
            .any(|word| PATTERNS.is(List::Negation, word) && !LIMITING.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_for_now_is_no_rule_and_a_ban_for_now_is_one() {
        let once = |text: &str| is_once(&Words::read(text, 60));
        assert!(once("commit only the add version command for now"));
        assert!(!once("don't push for now"));
        assert!(!once("only touch src/"));
    }
}
