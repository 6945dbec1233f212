//! The marks by which a block says that a line of it was corrected later.

use std::ops::Range;

/// Words that, with the number of a message behind them, mark what was said as corrected there.
const CORRECTING: &[&str] = &[
    "corrected",
    "superseded",
    "replaced",
    "revised",
    "withdrawn",
    "revoked",
    "retracted",
    "outdated",
    "undone",
    "until",
];

/// Words that alone in brackets mark a line of a block as past.
const STATUSES: &[&str] = &["corrected", "superseded", "stale", "outdated", "withdrawn", "retracted"];

/// Words that say that what follows is so by now.
pub const NOW: &[&str] = &["now", "jetzt", "nun", "теперь", "сейчас", "inzwischen"];

/// The mark of a block in a line that says that it was corrected later: `corrected m147`, `[superseded]`, `until m12`, `→ now`.
pub fn correction(line: &str) -> Option<Range<usize>> {
    // Nearly every line has no mark: no tokens are made for it.
    if !line.contains("->") && !CORRECTING.iter().any(|word| line.contains(word)) {
        return None;
    }
    let mut at = 0;
    let tokens: Vec<(usize, &str)> = line
        .split(' ')
        .map(|token| {
            let start = at;
            at += token.len() + 1;
            (start, token)
        })
        .collect();
    for (place, (start, token)) in tokens.iter().enumerate() {
        let following = |ahead: usize| tokens.get(place + ahead);
        let word = bare(token);
        if *token == "->" {
            let next = following(1).filter(|(_, next)| NOW.contains(&bare(next)));
            if let Some((at, next)) = next {
                return Some(*start..at + next.len());
            }
        } else if CORRECTING.contains(&word) {
            let ahead =
                match following(1).is_some_and(|(_, next)| matches!(*next, "by" | "in" | "at" | "since" | "with")) {
                    true => 2,
                    false => 1,
                };
            if let Some((at, number)) = following(ahead).filter(|(_, next)| is_message_number(bare(next))) {
                return Some(*start..at + number.len());
            }
            let is_boxed = token.starts_with(['[', '(']) && token.trim_end_matches([',', '.']).ends_with([']', ')']);
            if is_boxed && STATUSES.contains(&word) {
                return Some(*start..start + token.len());
            }
        }
    }
    None
}

/// Whether a line of a block carries the mark that it was corrected later, so that all of it is past.
pub fn is_marked_corrected(line: &str) -> bool {
    let folded = line.to_lowercase().replace('\u{2192}', "->");
    correction(&folded).is_some_and(|mark| !folded[mark.end..].contains(char::is_alphanumeric))
}

/// `m147`: the number of a message in a block.
pub fn is_message_number(word: &str) -> bool {
    word.strip_prefix('m')
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn bare(token: &str) -> &str {
    token.trim_matches(|c: char| !c.is_alphanumeric())
}
