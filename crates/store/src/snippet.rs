//! Snippets: the stretch of a text in which most of what was asked for stands together.

use std::ops::Range;

use crate::words;

/// How long a snippet is, in bytes of the text: three lines of a terminal.
const WIDTH: usize = 240;

/// How far a cut may move to fall between words: longer than most words, so that few are cut.
const SLACK: usize = 24;

/// Cuts a snippet out of a text. `term_of` says which of `terms` terms a word belongs to.
pub(crate) fn cut(text: &str, terms: usize, mut term_of: impl FnMut(&str) -> Option<usize>) -> String {
    let mut matches: Vec<(Range<usize>, usize)> = Vec::new();
    words::each_word(text, |range, word| {
        if let Some(term) = term_of(word) {
            matches.push((range, term));
        }
    });
    let best = densest(&matches, terms);
    let spare = WIDTH.saturating_sub(best.len());
    let from = best.start.saturating_sub(spare / 3);
    let to = (from + best.len() + spare).min(text.len());
    let from = to.saturating_sub(WIDTH.max(best.len())).min(from);
    trimmed(text, from, to)
}

/// The first window with the most different terms.
fn densest(matches: &[(Range<usize>, usize)], terms: usize) -> Range<usize> {
    let mut seen = vec![0usize; terms];
    let (mut different, mut first, mut most) = (0, 0, 0);
    let mut best = 0..0;
    for (last, (range, term)) in matches.iter().enumerate() {
        seen[*term] += 1;
        different += usize::from(seen[*term] == 1);
        while first < last && range.end - matches[first].0.start > WIDTH {
            let gone = matches[first].1;
            seen[gone] -= 1;
            different -= usize::from(seen[gone] == 0);
            first += 1;
        }
        if different > most {
            most = different;
            best = matches[first].0.start..range.end;
        }
    }
    best
}

fn trimmed(text: &str, from: usize, to: usize) -> String {
    let from = text.floor_char_boundary(from);
    let to = text.ceil_char_boundary(to);
    let mut piece = &text[from..to];
    let mut snippet = String::new();
    if from > 0 {
        let head = &piece[..piece.floor_char_boundary(SLACK)];
        if let Some(gap) = head.find(char::is_whitespace) {
            piece = &piece[gap..];
        }
        snippet.push('…');
    }
    if to < text.len() {
        let tail = piece.ceil_char_boundary(piece.len().saturating_sub(SLACK));
        if let Some(gap) = piece[tail..].rfind(char::is_whitespace) {
            piece = &piece[..tail + gap];
        }
    }
    for (index, word) in piece.split_whitespace().enumerate() {
        snippet.push_str(if index == 0 { "" } else { " " });
        snippet.push_str(word);
    }
    snippet.push_str(if to < text.len() { "…" } else { "" });
    snippet
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample(text: &str, asked: &[&str]) -> String {
        cut(text, asked.len(), |word| asked.iter().position(|term| *term == word))
    }

    #[test]
    fn a_short_text_is_its_own_snippet() {
        assert_eq!(sample("the port is\n 8443", &["port"]), "the port is 8443");
        assert_eq!(sample("", &["port"]), "");
    }

    #[test]
    fn the_densest_stretch_is_shown() {
        let noise = "alpha beta gamma delta ".repeat(40);
        let text = format!("port {noise} the port of the server is 8443 {noise} server");
        let snippet = sample(&text, &["port", "server", "8443"]);
        assert!(snippet.contains("the port of the server is 8443"), "{snippet}");
        assert!(snippet.starts_with('…') && snippet.ends_with('…'), "{snippet}");
        assert!(snippet.len() < WIDTH + 2 * SLACK);
    }

    proptest! {
        #[test]
        fn any_text_has_a_snippet(text in "\\PC{0,900}|[а-я ]{0,600}|[a-c ]{0,900}", asked in "[a-cа-в]{1,2}") {
            let snippet = sample(&text, &[&asked]);
            prop_assert!(snippet.len() <= WIDTH + 64 + asked.len());
        }
    }
}
