//! Where sentences end. File names, versions, addresses, decimals and abbreviations do not end one, nor does a full stop
//! inside of somebody's quoted speech.

use std::ops::Range;

/// A quote that is longer than this is taken for a stray mark: some sentences' worth.
const LONGEST_QUOTE: usize = 600;

/// So many marks may stand between a stop and the space behind it: `?!").` is four.
const LONGEST_CLOSING: usize = 8;

/// Words with a full stop of their own, in lower case, without the last stop.
const ABBREVIATIONS: [&str; 47] = [
    "e.g", "i.e", "etc", "vs", "cf", "mr", "mrs", "dr", "prof", "st", "approx", "no", "fig", "inc", "ltd", "jr", "sr",
    "resp", "т.е", "т.к", "т.п", "т.д", "т", "напр", "др", "ул", "г", "гг", "стр", "см", "руб", "тыс", "млн", "им",
    "и.о", "z.b", "d.h", "bzw", "usw", "ca", "bspw", "u.a", "p.ej", "sra", "ud", "env", "p.ex",
];

/// The sentences of a text, without the white space around them.
pub(crate) fn split(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut quoted_until = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        if at < quoted_until {
            continue;
        }
        if let Some(end) = quote_end(text, at, letter) {
            quoted_until = end;
            continue;
        }
        let end = at + letter.len_utf8();
        let ends = match letter {
            '。' | '！' | '？' | '\n' => true,
            '.' | '!' | '?' | '…' | ';' => {
                let closing = |mark: &char| "\"')]”»*.!?`…".contains(*mark);
                let next = text[end..].chars().take(LONGEST_CLOSING).find(|mark| !closing(mark));
                let apart = next.is_none_or(char::is_whitespace);
                apart && (letter != '.' || !is_abbreviation(&text[start..at]))
            }
            _ => false,
        };
        if !ends {
            continue;
        }
        // Closing marks and further stops belong to the sentence they close.
        let mut close = end;
        while let Some((next, mark)) = letters.next_if(|(_, mark)| ")]}\"'”»*.!?…`".contains(*mark)) {
            close = next + mark.len_utf8();
        }
        push_trimmed(text, start..close, &mut found);
        start = close;
    }
    push_trimmed(text, start..text.len(), &mut found);
    found
}

/// The end of the quote that opens here, where it ends soon.
fn quote_end(text: &str, at: usize, letter: char) -> Option<usize> {
    let closing: &[char] = match letter {
        '“' | '„' => &['”', '“'],
        '«' => &['»'],
        '"' => &['"'],
        '`' => &['`'],
        _ => return None,
    };
    let opens = at == 0 || text[..at].ends_with(|before: char| before.is_whitespace() || "([{:—-".contains(before));
    if !opens {
        return None;
    }
    let inside = at + letter.len_utf8();
    let (found, mark) = text[inside..]
        .char_indices()
        .take_while(|(offset, _)| *offset < LONGEST_QUOTE)
        .find(|(_, mark)| closing.contains(mark))?;
    Some(inside + found + mark.len_utf8())
}

/// Whether the stop behind this text belongs to its last word: an abbreviation, an initial, the number of a list item.
fn is_abbreviation(text: &str) -> bool {
    let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    let word = word.trim_start_matches(['(', '"', '«', '“', '*']);
    let alone = text.trim() == word;
    if alone && word.len() <= 3 && !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()) {
        return true;
    }
    if word.chars().count() == 1 {
        return word.chars().all(char::is_uppercase) || word == "т" || word == "г";
    }
    word.len() <= 12 && ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

fn push_trimmed(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let part = &text[range.clone()];
    let trimmed = part.trim_start();
    let start = range.start + part.len() - trimmed.len();
    let end = start + trimmed.trim_end().len();
    if start < end {
        found.push(start..end);
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> = split(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn stops_of_other_kinds_end_nothing() {
        check(
            "Edit src/lib.rs v1.2.3 now. Then go.",
            &["Edit src/lib.rs v1.2.3 now.", "Then go."],
        );
        check(
            "Use e.g. redis 3.2 at 10.5 ms. ok?",
            &["Use e.g. redis 3.2 at 10.5 ms.", "ok?"],
        );
        check(
            "See https://a.example/x.html?q=1. Done!",
            &["See https://a.example/x.html?q=1.", "Done!"],
        );
        check(
            "Берём Postgres, т.к. он есть. Понял?",
            &["Берём Postgres, т.к. он есть.", "Понял?"],
        );
        check("J. Smith said so. Fine.", &["J. Smith said so.", "Fine."]);
        check("2. **Patch it.** Then go.", &["2. **Patch it.**", "Then go."]);
    }

    #[test]
    fn quotes_stay_in_one_piece() {
        check(
            "The log says \"Decision: go. Now.\" — ignore that. ok",
            &["The log says \"Decision: go. Now.\" — ignore that.", "ok"],
        );
        check("Он сказал: «Удали. Всё.» Нет.", &["Он сказал: «Удали. Всё.» Нет."]);
        check("5\" of rain. Then sun.", &["5\" of rain.", "Then sun."]);
    }

    #[test]
    fn chinese_stops_need_no_space() {
        check(
            "不要删除。服务器是alpha！好吗？",
            &["不要删除。", "服务器是alpha！", "好吗？"],
        );
    }

    #[test]
    fn nothing_gives_nothing() {
        check("  ", &[]);
        check("...", &["..."]);
        check("wait... what?! ok", &["wait...", "what?!", "ok"]);
    }
}
