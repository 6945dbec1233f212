//! Values that the person corrected: "it is X, not Y", "Y → X". A line that shows Y as if it still held is out of date.

use super::lexicon::Use;
use super::terms::Word;
use super::terms::words;

/// Shorter values stand in too many places to be told from others.
const LEAST_VALUE: usize = 4;
/// So many words may stand between a value and the one that takes its place.
const REACH: usize = 8;
/// How many corrections are remembered; a conversation has a few.
const MOST: usize = 200;

/// Values that the person replaced by others, oldest first.
#[derive(Clone, Debug, Default)]
pub struct CorrectedValues {
    pairs: Vec<Pair>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pair {
    old: String,
    new: String,
}

impl CorrectedValues {
    /// Takes in what the person wrote.
    pub fn hear(&mut self, text: &str) {
        for line in text.lines() {
            let words = words(line);
            for sentence in words.split_inclusive(|word| word.ends_sentence) {
                self.hear_sentence(line, sentence);
            }
        }
    }

    fn hear_sentence(&mut self, text: &str, words: &[Word<'_>]) {
        let values: Vec<usize> = (0..words.len()).filter(|place| words[*place].is_value).collect();
        let mut found: Vec<Pair> = Vec::new();
        for two in values.windows(2) {
            let (one, other) = (two[0], two[1]);
            if other - one > REACH {
                continue;
            }
            let pair = |old: usize, new: usize| Pair {
                old: words[old].folded.clone(),
                new: words[new].folded.clone(),
            };
            let between = &text[words[one].at + words[one].raw.len()..words[other].at];
            // `parse` → `read(input)` tells what calls what.
            let is_arrow = ["→", "->", "=>", "⇒"].iter().any(|arrow| between.contains(arrow))
                && !is_called(&text[words[other].at..]);
            if is_arrow || is_renamed(words, one, other) {
                found.push(pair(one, other));
            } else if is_turned_down(words, other) && !is_turned_down(words, one) {
                found.push(pair(other, one));
            } else if is_turned_down(words, one) && !is_turned_down(words, other) {
                found.push(pair(one, other));
            }
        }
        // What is spoken of again as it is holds again.
        let is_named = |value: &str| {
            let named = values.iter().filter(|place| words[**place].folded == value);
            named.into_iter().any(|place| !is_turned_down(words, *place))
        };
        let is_denied = words.iter().any(|word| word.entry.is_any(&[Use::Negator, Use::Former]));
        let is_replaced_here = |value: &str| found.iter().any(|pair| pair.old == value);
        self.pairs
            .retain(|pair| is_denied || is_replaced_here(&pair.old) || !is_named(&pair.old));
        for pair in found {
            self.pairs.retain(|known| known.old != pair.new && *known != pair);
            if pair.old.len() >= LEAST_VALUE && pair.old != pair.new && self.pairs.len() < MOST {
                self.pairs.push(pair);
            }
        }
    }

    /// Whether a line shows as holding what the person corrected.
    pub fn is_stale(&self, line: &str) -> bool {
        if self.pairs.is_empty() {
            return false;
        }
        let lower = line.to_lowercase();
        let stale = self
            .pairs
            .iter()
            .any(|pair| stands_in(&lower, &pair.old) && !stands_in(&lower, &pair.new));
        // A line may tell what became of the old value.
        stale
            && !words(line)
                .iter()
                .any(|word| word.entry.is_any(&[Use::Negator, Use::NegatorNext, Use::Former]))
    }
}

/// Whether "not", "instead of" and the like stand directly before a value.
fn is_turned_down(words: &[Word<'_>], place: usize) -> bool {
    let before = words[place.saturating_sub(3)..place].iter().rev();
    let mut near = before.take_while(|word| !word.is_value && !word.ends_clause);
    near.any(|word| word.entry.is_any(&[Use::Negator, Use::NegatorNext]))
}

/// Whether the name that a text begins with is called there.
fn is_called(text: &str) -> bool {
    let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | ':');
    text.trim_start_matches(is_name).starts_with('(')
}

/// Whether something is changed from one value to another.
fn is_renamed(words: &[Word<'_>], one: usize, other: usize) -> bool {
    let before = |place: usize| place.checked_sub(1).map_or("", |before| &*words[before].folded);
    let is_from = matches!(before(one), "from" | "с" | "со" | "von" | "de");
    let is_to = matches!(before(other), "to" | "на" | "auf" | "zu" | "a");
    let verbs = [
        "chang",
        "mov",
        "renam",
        "switch",
        "replac",
        "rais",
        "lower",
        "bump",
        "mena",
        "мен",
        "помен",
        "переим",
    ];
    is_from
        && is_to
        && words
            .iter()
            .any(|word| verbs.iter().any(|verb| word.folded.starts_with(verb)))
}

/// Whether a value stands in a text, both in lower case, and is not a piece of another name.
fn stands_in(text: &str, value: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    text.match_indices(value).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + value.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(texts: &[&str]) -> CorrectedValues {
        let mut corrected = CorrectedValues::default();
        texts.iter().for_each(|text| corrected.hear(text));
        corrected
    }

    #[test]
    fn corrected_values_are_out_of_date() {
        for said in [
            "Actually the staging database is db-staging-2, not db-staging-1: the first one was switched off.",
            "it's not db-staging-1 but db-staging-2",
            "db-staging-1 -> db-staging-2 please",
            "Use db-staging-2 instead of db-staging-1.",
            "база теперь db-staging-2, а не db-staging-1",
            "Bitte db-staging-2 statt db-staging-1",
            "change the host from db-staging-1 to db-staging-2",
        ] {
            let corrected = heard(&[said]);
            assert!(corrected.is_stale("- staging database is db-staging-1"), "{said}");
            for line in [
                "- staging database is db-staging-2",
                "- staging.env: db-staging-1 replaced by db-staging-2",
                "- db-staging-1 is switched off",
                "- staging database is db-staging-10",
            ] {
                assert!(!corrected.is_stale(line), "{said}: {line}");
            }
        }
    }

    #[test]
    fn what_comes_back_holds_again() {
        let corrected = heard(&[
            "It is db-staging-2, not db-staging-1.",
            "ok, back on db-staging-1 please",
        ]);
        assert!(!corrected.is_stale("- staging database is db-staging-1"));
        let corrected = heard(&[
            "It is db-staging-2, not db-staging-1.",
            "no: db-staging-1, not db-staging-2",
        ]);
        assert!(!corrected.is_stale("- staging database is db-staging-1"));
        assert!(corrected.is_stale("- staging database is db-staging-2"));
        assert!(!heard(&["Copy src/a.rs to src/b.rs"]).is_stale("- src/a.rs has the parser"));
        let flow = heard(&["`PushCommands` → `sendReceivePack(ctx, req, nil)` with no pack"]);
        assert!(!flow.is_stale("- PushCommands attaches an empty pack now"));
    }
}
