//! Texts cut to a length, head and tail kept.

use std::borrow::Cow;

use crate::decide::marker::thousands;
use crate::transform::shrink::ContentKind;
use crate::transform::shrink::Goal;
use crate::transform::shrink::shrink;

use super::arguments;

/// How much of what is kept is the head; ends say how something went, beginnings what it is.
const HEAD_PERCENT: usize = 60;

/// Below this a cut text is only its beginning: two ends would be too short to say anything.
const LEAST_ENDS: usize = 120;

/// How long a text is, in characters.
pub(super) fn length(text: &str) -> usize {
    text.chars().count()
}

/// The text in at most so many characters: its head, what is left out, its tail.
pub(super) fn ends(text: &str, most: usize) -> Cow<'_, str> {
    let whole = length(text);
    if whole <= most {
        return Cow::Borrowed(text);
    }
    if most < LEAST_ENDS {
        return Cow::Owned(text.chars().take(most.saturating_sub(1)).chain(['…']).collect());
    }
    // The note about a billion characters has this length.
    let kept = most - 50;
    let head = head_of(text, kept * HEAD_PERCENT / 100);
    let tail = tail_of(text, kept - kept * HEAD_PERCENT / 100);
    let left = whole - length(head) - length(tail);
    let note = format!("… {} characters left out …", thousands(left as u64));
    Cow::Owned(format!("{head}\n{note}\n{tail}"))
}

/// The first characters, up to the end of a line where that loses little.
fn head_of(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
    let head = &text[..end];
    match head.rfind('\n') {
        Some(line) if line * 4 >= head.len() * 3 => &head[..line],
        Some(_) | None => head,
    }
}

/// The last characters, from the start of a line where that loses little.
fn tail_of(text: &str, most: usize) -> &str {
    let start = match most.checked_sub(1) {
        Some(nth) => text.char_indices().rev().nth(nth).map_or(0, |(at, _)| at),
        None => text.len(),
    };
    let tail = &text[start..];
    match tail.find('\n') {
        Some(line) if line * 4 <= tail.len() => &tail[line + 1..],
        Some(_) | None => tail,
    }
}

/// A tool's output in at most so many characters. Logs, listings, tables and the like are shrunk by their kind, which keeps
/// failures and odd ones out; prose keeps its ends.
pub(super) fn output(text: &str, most: usize) -> Cow<'_, str> {
    let Some((end, _)) = text.char_indices().nth(most) else {
        return Cow::Borrowed(text);
    };
    let small = shrink(text, Goal { most_bytes: end }).filter(|small| small.kind != ContentKind::Text);
    if arguments::is_json(text) {
        let short = small.map(|small| small.text).filter(|text| arguments::is_json(text));
        return Cow::Owned(arguments::fit(short.as_deref().unwrap_or(text), most));
    }
    match small {
        Some(small) => Cow::Owned(ends(&small.text, most).into_owned()),
        None => ends(text, most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_stay_and_the_length_holds() {
        let text: String = (0..500).map(|line| format!("строка {line} wörter\n")).collect();
        for most in [0, 1, 50, 119, 120, 121, 400, 3000] {
            let short = ends(&text, most);
            assert!(length(&short) <= most.max(1), "{most}: {}", length(&short));
        }
        let short = ends(&text, 400);
        assert!(
            short.starts_with("строка 0 ") && short.contains("characters left out") && short.contains("строка 499")
        );
        assert_eq!(ends("short", 400), "short");
    }

    #[test]
    fn outputs_keep_their_failures() {
        let mut log = String::from("running 900 tests\n");
        for number in 0..900 {
            let ended = if number == 450 { "FAILED" } else { "ok" };
            log.push_str(&format!("test parses_{number} ... {ended}\n"));
        }
        log.push_str("test result: FAILED. 899 passed; 1 failed");
        let short = output(&log, 3000);
        assert!(length(&short) <= 3000);
        assert!(short.contains("parses_450 ... FAILED"), "{short}");
        let rows: Vec<String> = (0..900)
            .map(|row| format!(r#"{{"id":{row},"name":"n{row}"}}"#))
            .collect();
        let json = format!("[{}]", rows.join(","));
        let short = output(&json, 3000);
        assert!(arguments::is_json(&short) && length(&short) <= 3000, "{short}");
    }
}
