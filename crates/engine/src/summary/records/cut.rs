//! Texts cut to a length: head and tail stay, and of what is between them the lines that tell how something went.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::decide::marker::thousands;
use crate::shrink::is_telling_line;

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

/// Shares of a cut text, in hundredths: its head, the telling lines between, the rest is its tail.
const CORE_HEAD: usize = 35;
const CORE_LINES: usize = 40;
/// A telling line is shown up to so many characters.
const MOST_LINE: usize = 240;
/// So many lines that differ in numbers only are shown.
const MOST_ALIKE: usize = 3;
/// Below this there is no room for a middle.
pub(super) const LEAST_CORE: usize = 400;

/// The text in at most so many characters: its ends, and of what is between them the lines that announce a failure or count an
/// outcome.
pub(super) fn core(text: &str, most: usize) -> Cow<'_, str> {
    if most < LEAST_CORE || length(text) <= most {
        return ends(text, most);
    }
    let head = head_of(text, most * CORE_HEAD / 100);
    let tail = tail_of(text, most * (100 - CORE_HEAD - CORE_LINES) / 100 - NOTES);
    let middle = &text[head.len()..text.len() - tail.len()];
    let lines = telling_lines(middle, most * CORE_LINES / 100 - NOTES);
    if lines.is_empty() {
        return ends(text, most);
    }
    let shown: usize = lines.iter().map(|line| length(line)).sum();
    let left = thousands(length(middle).saturating_sub(shown) as u64);
    Cow::Owned(format!(
        "{head}\n… {left} characters left out, but for these lines: …\n{}\n…\n{tail}",
        lines.join("\n")
    ))
}

/// Characters that the head's and the tail's share each give to the notes around the telling lines.
const NOTES: usize = 40;

/// The telling lines of a text, in order: first and last ones where not all of them fit.
fn telling_lines(text: &str, most: usize) -> Vec<&str> {
    let mut alike: HashMap<String, usize> = HashMap::new();
    let mut is_new = |line: &&str| {
        let shape: String = line.chars().filter(|letter| !letter.is_ascii_digit()).collect();
        let times = alike.entry(shape).or_default();
        *times += 1;
        *times <= MOST_ALIKE
    };
    let telling = text.lines().filter(|line| is_telling_line(line)).map(|line| {
        let end = line.char_indices().nth(MOST_LINE).map_or(line.len(), |(at, _)| at);
        line[..end].trim_end()
    });
    let lines: Vec<&str> = telling.filter(&mut is_new).collect();
    let fitting = |lines: &mut dyn Iterator<Item = &&str>, most: usize| {
        let mut left = most;
        lines
            .take_while(|line| {
                let cost = length(line) + 1;
                let fits = cost <= left;
                left = left.saturating_sub(cost);
                fits
            })
            .count()
    };
    let first = fitting(&mut lines.iter(), most);
    if first == lines.len() {
        return lines;
    }
    let first = fitting(&mut lines.iter(), most / 2);
    let last = fitting(&mut lines[first..].iter().rev(), most / 2);
    [&lines[..first], &lines[lines.len() - last..]].concat()
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
}
