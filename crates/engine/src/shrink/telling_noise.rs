//! One line of an output without what says nothing: time stamps, calm log levels, ids, rules and boxes.

use std::sync::LazyLock;

use regex::Regex;

use super::shape::UUID;
use super::shape::is_uuid;
use super::signals::pattern;

/// The most characters of a telling line: one sentence, or the message of an error with its place.
pub(super) const MOST_CHARACTERS: usize = 160;

/// Marks that rules are drawn with, and how many make one: two dashes are an option, and one is a sign or an item.
const RULE_MARKS: [char; 6] = ['=', '-', '_', '*', '#', '~'];
const LEAST_RULE: usize = 3;

/// The most bytes of a line that are looked at. What a line says stands at its beginning, and longer lines are data.
const LOOKED_AT: usize = 2000;

/// What log writers put before the message, one piece at a time.
static PREFIX: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:",
        // 2026-01-31T10:20:30.123Z, [2026/01/31 10:20:30,123 +0200]; a date without a time may be what the line is about.
        r"[\[(]?\d{4}[-/.]\d\d[-/.]\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?[\])]?",
        r"|[\[(]?\d\d:\d\d:\d\d(?:[.,]\d+)?[\])]?",
        r"|[\[(]?(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d{1,2}(?: \d{4})?,? \d\d:\d\d:\d\d(?: \d{4})?[\])]?",
        r"|\[\d\d/\w{3}/\d{4}[: ][^\]]{0,20}\]|\[ *\d+\.\d+\]|\d{10}(?:\d{3})?(?:\.\d+)?",
        r"|[IWEFC]\d{4} \d\d:\d\d:\d\d(?:\.\d+)?(?: +\d+)?",
        r#"|(?:time|ts|timestamp)=(?:"[^"]{0,60}"|\S{1,60})|level=(?i:info|debug|trace|notice)"#,
        r"|[\[(]?(?:INFO|DEBUG|TRACE|NOTICE|info|debug|trace|notice)[\])]?:?",
        r"|\[(?:\d+|pid \d+|main|MainThread|[Tt]hread-\d+)\]|<\d{1,3}>",
        r"|E +",
        r")(?:[\s|:,]+|- |$)",
    ))
});

/// A line without its noise, as one run of words, at most [`MOST_CHARACTERS`] long. `None` where nothing is left.
pub(super) fn without_noise(line: &str) -> Option<String> {
    let mut rest = line[..line.floor_char_boundary(LOOKED_AT.min(line.len()))].trim();
    rest = rest.trim_matches(|c: char| matches!(c, '\u{2500}'..='\u{257f}') || c.is_whitespace());
    while let Some(found) = PREFIX.find(rest).filter(|found| has_words(&rest[found.end()..])) {
        rest = &rest[found.end()..];
    }
    rest = without_rules(rest);
    if !has_words(rest) {
        return None;
    }
    let words = without_ids(&rest.split_whitespace().collect::<Vec<_>>().join(" "));
    Some(cut_at_word(&words, MOST_CHARACTERS))
}

/// Whether a line only tells a beginner what to do next, as `git status` does between the names of files.
pub(super) fn is_hint(line: &str) -> bool {
    line.trim_start().starts_with("(use \"git ")
}

/// Whether a text says anything at all.
pub(super) fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// Without the rules that test runners draw left and right of a heading: `==== 2 failed ====`. A rule is one mark again and again, apart
/// from what it adorns: `-### Title` is a line that a diff took out, and `284 +++----` counts lines.
fn without_rules(text: &str) -> &str {
    let opening = text.chars().next().filter(|mark| RULE_MARKS.contains(mark));
    let left = opening.map_or(text, |mark| text.trim_start_matches(mark));
    let text = if text.len() - left.len() >= LEAST_RULE && left.starts_with(char::is_whitespace) {
        left.trim_start()
    } else {
        text
    };
    let closing = text.chars().next_back().filter(|mark| RULE_MARKS.contains(mark));
    let right = closing.map_or(text, |mark| text.trim_end_matches(mark));
    if text.len() - right.len() >= LEAST_RULE && right.ends_with(char::is_whitespace) {
        right.trim_end()
    } else {
        text
    }
}

/// The fewest characters of a run of hexadecimal digits that is an id.
const HEX_ID: usize = 16;
/// The fewest characters of any other id, and how often letters and digits take turns in it: names of tests and types
/// are as long, but have a number here and there only.
const MIXED_ID: (usize, usize) = (20, 4);

/// Ids that no reader remembers become an ellipsis. This also keeps a key from being cut in two, where no redactor
/// would recognise its half.
fn without_ids(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < bytes.len() {
        let run = bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric())
            .count();
        if run == 8 && is_uuid(&bytes[at..]) {
            out.push('…');
            at += UUID;
        } else if run > 0 {
            let word = &text[at..at + run];
            out.push_str(if is_id(word.as_bytes()) { "…" } else { word });
            at += run;
        } else {
            let next = text[at..].chars().next().map_or(1, char::len_utf8);
            out.push_str(&text[at..at + next]);
            at += next;
        }
    }
    out
}

fn is_id(word: &[u8]) -> bool {
    let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
    let turns = word
        .windows(2)
        .filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit())
        .count();
    let is_hex = word.iter().all(u8::is_ascii_hexdigit);
    (is_hex && word.len() >= HEX_ID && digits > 0 && digits < word.len())
        || (word.len() >= MIXED_ID.0 && turns >= MIXED_ID.1)
}

/// The first characters of a text, cut between words, with an ellipsis where it goes on.
pub(super) fn cut_at_word(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else {
        return text.to_owned();
    };
    // The ellipsis counts too.
    let end = text.floor_char_boundary(end - 1);
    let head = &text[..end];
    // A word that goes on behind the cut is left out whole, unless it is most of the line. Scripts without spaces are
    // cut between two characters.
    let is_inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let place = match (head.rfind(char::is_whitespace), head.rfind(|c| !is_inside(c))) {
        (Some(space), _) if space >= end / 2 => space,
        (_, Some(mark)) => mark + head[mark..].chars().next().map_or(0, char::len_utf8),
        (_, None) => end,
    };
    format!("{}…", head[..place].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_levels_rules_and_ids_go_and_the_message_stays() {
        for (line, shown) in [
            (
                "2026-01-31T10:20:30.123Z INFO  [main] listening on :8080",
                "listening on :8080",
            ),
            ("[2026-01-31 10:20:30,123] ERROR disk full", "ERROR disk full"),
            ("Jan  3 04:05:06 host sshd[12]: refused", "host sshd[12]: refused"),
            (r#"time="2026-01-31" level=info msg="started""#, r#"msg="started""#),
            ("E0131 10:20:30.123456    1 main.go:7] no route", "main.go:7] no route"),
            ("===== 1 failed, 2 passed in 0.1s =====", "1 failed, 2 passed in 0.1s"),
            ("E       AssertionError: 1 != 2", "AssertionError: 1 != 2"),
            (
                "request 123e4567-e89b-12d3-a456-426614174000 failed",
                "request … failed",
            ),
            (
                "blob 0123456789abcdef0123456789abcdef01234567 missing",
                "blob … missing",
            ),
            (
                "test parses_the_2nd_of_3_very_long_names_1 ... FAILED",
                "test parses_the_2nd_of_3_very_long_names_1 ... FAILED",
            ),
            ("2026-01-31 is the release date", "2026-01-31 is the release date"),
            ("INFO", "INFO"),
            ("│ 3 rows │", "3 rows"),
            (
                "-### How does it deal with failures?",
                "-### How does it deal with failures?",
            ),
            (" docs/usage.md | 284 +++++-----", "docs/usage.md | 284 +++++-----"),
        ] {
            assert_eq!(without_noise(line).as_deref(), Some(shown), "{line}");
        }
        assert_eq!(without_noise("=========="), None);
        assert_eq!(without_noise(""), None);
    }

    #[test]
    fn a_long_line_is_cut_between_words_or_characters() {
        let words = "alpha beta ".repeat(40);
        let cut = without_noise(&words).expect("there are words");
        assert!(cut.chars().count() <= MOST_CHARACTERS);
        assert!(cut.ends_with("alpha…") || cut.ends_with("beta…"), "{cut}");
        let cut = without_noise(&"漢字".repeat(200)).expect("there are words");
        assert_eq!(cut.chars().count(), MOST_CHARACTERS);
        let cut = without_noise(&format!("key={}", "z".repeat(400))).expect("there are words");
        assert_eq!(cut, "key=…");
    }
}
