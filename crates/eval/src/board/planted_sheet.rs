//! What the answer sheet of a planted conversation says, and the rates that show a state does not avoid false claims by
//! silence: corrections that are marked, open questions that are listed, errors that stand there with how they ended.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use crate::board::figure::BoardObservation;
use crate::board::measure::BoardMeasure;
use crate::board::own_words::folded;

/// Conversations with more words of the person than this are chats: coding sessions have 1 to 3 %, chats 10 to 20 %.
const CHAT_SHARE: f64 = 0.06;

/// An answer sheet.
#[derive(Clone, Debug, Deserialize)]
pub struct PlantedSheet {
    /// The share of the conversation that the person wrote.
    pub user_share: f64,
    facts: Vec<PlantedFact>,
}

#[derive(Clone, Debug, Deserialize)]
struct PlantedFact {
    kind: String,
    text: String,
    must: Vec<Vec<String>>,
    #[serde(default)]
    state: Option<String>,
    /// The values that a correction replaced.
    #[serde(default)]
    old: Vec<String>,
}

/// What the scorer says of a state.
#[derive(Clone, Debug, Deserialize)]
pub struct PlantedScore {
    kept: f64,
    stale: Vec<serde_json::Value>,
    #[serde(rename = "false")]
    false_claims: Vec<serde_json::Value>,
    leaks: Vec<serde_json::Value>,
}

impl PlantedScore {
    /// It as observations of one state.
    pub fn observe(&self, size: &str) -> Vec<BoardObservation> {
        let seen = |measure, value| BoardObservation {
            size: size.to_owned(),
            measure,
            value,
        };
        vec![
            seen(BoardMeasure::Kept, self.kept),
            seen(BoardMeasure::Stale, self.stale.len() as f64),
            seen(BoardMeasure::FalseClaims, self.false_claims.len() as f64),
            seen(BoardMeasure::Leaks, self.leaks.len() as f64),
        ]
    }
}

/// A line of a block with the lines that continue it, and the heading it stands under; all in lower case.
struct BlockEntry {
    heading: String,
    text: String,
}

impl PlantedSheet {
    /// Whether the conversation is a chat and not a coding session.
    pub fn is_chat(&self) -> bool {
        self.user_share > CHAT_SHARE
    }

    /// The rates of one state: the blocks in it, and the messages that stand beside them as they were. What was said in a
    /// message that is kept stands there in its order and needs no mark, so it is not asked for.
    pub fn observe(&self, size: &str, blocks: &[String], kept: &[String]) -> Vec<BoardObservation> {
        let entries: Vec<BlockEntry> = blocks.iter().flat_map(|block| entries(block)).collect();
        let kept: Vec<String> = kept.iter().map(|text| spelled(text)).collect();
        let mut observations = Vec::new();
        for fact in &self.facts {
            let stands = kept.iter().any(|text| text.contains(&spelled(&fact.text)));
            let (measure, is_met) = match (fact.kind.as_str(), fact.state.as_deref()) {
                ("correction", _) => {
                    let shows_old = entries
                        .iter()
                        .any(|entry| fact.old.iter().any(|old| has(&entry.text, old)));
                    if stands && !shows_old {
                        continue;
                    }
                    let is_met = entries.iter().any(|entry| fact.is_marked_in(entry));
                    (BoardMeasure::CorrectionsMarked, is_met)
                }
                ("question", Some("open" | "dropped")) if !stands => {
                    let is_met = entries.iter().any(|entry| fact.is_listed_in(entry));
                    (BoardMeasure::QuestionsListed, is_met)
                }
                ("error", _) => {
                    let is_met = entries.iter().any(|entry| fact.is_error_in(entry));
                    (BoardMeasure::ErrorsWithState, is_met)
                }
                _ => continue,
            };
            observations.push(BoardObservation {
                size: size.to_owned(),
                measure,
                value: if is_met { 1.0 } else { 0.0 },
            });
        }
        observations
    }
}

impl PlantedFact {
    fn is_said_in(&self, text: &str) -> bool {
        let is_said = |group: &Vec<String>| group.iter().any(|way| way == "@neg" || has(text, way));
        !self.must.is_empty() && self.must.iter().all(is_said)
    }

    /// The old value, with a mark that it is over and the new one, or the message that replaced it.
    fn is_marked_in(&self, entry: &BlockEntry) -> bool {
        static MARK: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"correct|supersed|replaced|outdated|no longer|→|->|changed|\bnow\b")
                .expect("the pattern is fixed")
        });
        static MARK_WITH_MESSAGE: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"(corrected|superseded|replaced|outdated|changed)[^\n]{0,40}\bm\d+")
                .expect("the pattern is fixed")
        });
        let shows_old = !self.old.is_empty() && self.old.iter().any(|old| has(&entry.text, old));
        let is_marked = MARK.is_match(&entry.text) || entry.heading.contains("supersed");
        shows_old && ((is_marked && self.is_said_in(&entry.text)) || MARK_WITH_MESSAGE.is_match(&entry.text))
    }

    fn is_listed_in(&self, entry: &BlockEntry) -> bool {
        let is_list = entry.heading.contains("unresolved") || entry.heading.contains("open question");
        is_list && self.is_said_in(&entry.text)
    }

    fn is_error_in(&self, entry: &BlockEntry) -> bool {
        static STATE: LazyLock<Regex> = LazyLock::new(|| {
            let words = r"\bm\d+|gone|fixed|resolved|passed|passes|last seen|still|open|failed|failing";
            Regex::new(words).expect("the pattern is fixed")
        });
        let is_trouble = ["error", "trouble", "failure", "problem"]
            .iter()
            .any(|word| entry.heading.contains(word));
        is_trouble && self.is_said_in(&entry.text) && STATE.is_match(&entry.text)
    }
}

/// The entries of a block, as the scorer reads them: an indented line that is no item goes on with the one before it.
fn entries(block: &str) -> Vec<BlockEntry> {
    let mut entries: Vec<BlockEntry> = Vec::new();
    let mut heading = String::new();
    for line in block.lines().filter(|line| !line.trim().is_empty()) {
        let title = line.trim_start();
        if title.starts_with('#') {
            heading = title.trim_start_matches('#').trim().to_lowercase();
            continue;
        }
        let is_item = title.starts_with(['-', '*', '•', '[']);
        match entries.last_mut() {
            Some(last) if (line.starts_with("  ") || line.starts_with('\t')) && !is_item && last.heading == heading => {
                last.text.push(' ');
                last.text.push_str(&spelled(line));
            }
            _ => entries.push(BlockEntry {
                heading: heading.clone(),
                text: spelled(line),
            }),
        }
    }
    entries
}

fn spelled(text: &str) -> String {
    folded(text).to_lowercase().replace('’', "'")
}

/// Whether a value stands in a text, not as a part of a longer word or number: 3.1 is not in 3.14.
fn has(text: &str, value: &str) -> bool {
    let value = spelled(value);
    let (Some(first), Some(last)) = (value.chars().next(), value.chars().next_back()) else {
        return false;
    };
    text.match_indices(&value).any(|(at, _)| {
        let mut before = text[..at].chars().rev();
        let mut after = text[at + value.len()..].chars();
        !goes_on(first, before.next(), before.next()) && !goes_on(last, after.next(), after.next())
    })
}

/// Whether the character at the edge of a value is one word or number with its neighbours.
fn goes_on(edge: char, next: Option<char>, further: Option<char>) -> bool {
    let Some(next) = next else { return false };
    let is_word = edge.is_ascii_alphanumeric() && next.is_ascii_alphanumeric();
    let is_number = edge.is_ascii_digit() && matches!(next, '.' | ',') && further.is_some_and(|c| c.is_ascii_digit());
    is_word || is_number
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHEET: &str = r#"{"user_share": 0.016, "facts": [
        {"kind": "correction", "text": "the port is 8132 now", "must": [["8132"]], "old": ["8131"]},
        {"kind": "question", "text": "who owns heron?", "must": [["heron"]], "state": "open"},
        {"kind": "question", "text": "who owns plover?", "must": [["plover"]], "state": "answered"},
        {"kind": "error", "text": "SA1453: unchecked", "must": [["SA1453"]], "state": "fixed"},
        {"kind": "request", "text": "move it", "must": [["move"]]}]}"#;

    fn rates(block: &str, kept: &[String]) -> Vec<(BoardMeasure, f64)> {
        let sheet: PlantedSheet = serde_json::from_str(SHEET).expect("the test's sheet is JSON");
        assert!(!sheet.is_chat());
        let seen = sheet.observe("5000", &[block.to_owned()], kept);
        seen.into_iter().map(|seen| (seen.measure, seen.value)).collect()
    }

    #[test]
    fn silence_meets_none_of_the_rates() {
        let silent = rates("# Ledger\n## Conversation\n- [user m9] the port is 8132 now", &[]);
        assert_eq!(silent.len(), 3);
        assert!(silent.iter().all(|(_, value)| *value == 0.0), "{silent:?}");
    }

    #[test]
    fn marks_lists_and_states_are_found_under_their_headings() {
        let block = "# Ledger\n## Conversation\n- [user m3] the port is 8131\n  (corrected m9)\n## Unresolved questions\n- [user m4] who \
                     owns heron?\n## Errors\n- SA1453: unchecked, gone since m20\n";
        assert!(rates(block, &[]).iter().all(|(_, value)| *value == 1.0));
        // A number that only begins like the old value is not the old value.
        let other = block.replace("8131", "8131.5");
        assert_eq!(rates(&other, &[])[0], (BoardMeasure::CorrectionsMarked, 0.0));
    }

    #[test]
    fn what_stands_in_a_kept_message_is_not_asked_for() {
        let kept = ["By the way, the port is 8132 now. And who owns Heron?".to_owned()];
        let left = rates("# Ledger\n## Conversation\n", &kept);
        assert_eq!(left, [(BoardMeasure::ErrorsWithState, 0.0)]);
    }
}
