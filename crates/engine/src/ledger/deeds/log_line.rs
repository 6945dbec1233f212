//! One line of an output as a reader wants it: without colours, times, hosts and process numbers.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// Times at the head of a line, in the spellings of loggers, with the marks around them.
static TIME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^[\[(<]?(?:\d{4}[-/.]\d\d[-/.]\d\d(?:[T _]\d\d[:.]\d\d(?:[:.]\d\d)?(?:[.,]\d+)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?)",
        r"|\d\d:\d\d:\d\d(?:[.,]\d+)?Z?",
        r"|(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}\d{1,2}(?: \d{4})? \d\d:\d\d:\d\d(?:\.\d+)?(?: \d{4})?",
        r"|\d{10}(?:\.\d+)?|\d{13})[\])>]?(?:[ \t:|,]|- )*(?:\S|$)",
    ))
});

/// Host, program and process number, as the system's log has them behind the time.
static PROCESS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:[\w.-]+ )?([A-Za-z][\w./@-]*)(?:\[\d+\])?: (\S.*)$"));

/// Process numbers and places of code before the message of a log line: `[1234]`, `12345 file.go:12]`.
static NUMBER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:\[\d+(?:[:/]\d+)?\] |[EFCWI]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [\w./-]+:\d+\] )"));

/// The service before the bar of a log of several services.
static SERVICE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^([A-Za-z][\w.-]{0,40}) +\| (\S.*)$"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the patterns of this file are well formed, which a test shows")
}

/// The line without what stands around its message. What is indented stays so: frames and details are told by it.
pub(super) fn plain(line: &str) -> Cow<'_, str> {
    let mut text = without_colours(line.trim_end());
    let is_stamped =
        |text: &str| text.starts_with(|c: char| c.is_ascii_digit() || "[(<".contains(c) || c.is_ascii_uppercase());
    let mut had_time = false;
    // A service's bar, then at most two times: the collector's and the program's own.
    for _ in 0..3 {
        if !is_stamped(&text) && had_time {
            break;
        }
        if let Some(found) = TIME.find(&text) {
            // The last letter that was matched belongs to the message.
            let end = text[..found.end()]
                .char_indices()
                .next_back()
                .map_or(
                    found.end(),
                    |(at, last)| if last.is_whitespace() { found.end() } else { at },
                );
            had_time = true;
            text = Cow::Owned(text[end..].to_owned());
        } else if let Some(found) = NUMBER.find(&text) {
            let end = found.end();
            // The first letter of klog's prefix is its level.
            let level = match text.as_bytes()[0] {
                b'E' => "ERROR ",
                b'F' | b'C' => "FATAL ",
                _ => "",
            };
            text = Cow::Owned(format!("{level}{}", &text[end..]));
        } else if let Some((service, rest)) = (!had_time)
            .then(|| SERVICE.captures(&text))
            .flatten()
            .map(|found| (found[1].to_owned(), found[2].to_owned()))
        {
            let inner = plain(&rest).into_owned();
            return Cow::Owned(format!("{service}: {inner}"));
        } else {
            break;
        }
    }
    let process = had_time.then(|| PROCESS.captures(&text)).flatten();
    if let Some(found) = process
        && (found[0].contains("]: ") || found[0].split(": ").next().is_some_and(|head| head.contains(' ')))
        && !is_level(found[0].split([' ', ':', '[']).next().unwrap_or_default())
    {
        let shown = format!("{}: {}", &found[1], &found[2]);
        return Cow::Owned(shown);
    }
    text
}

/// Whether a word is the level of a log line.
pub(super) fn is_level(word: &str) -> bool {
    matches!(
        word.to_ascii_uppercase().as_str(),
        "TRACE"
            | "DEBUG"
            | "INFO"
            | "NOTICE"
            | "WARN"
            | "WARNING"
            | "ERROR"
            | "ERR"
            | "FATAL"
            | "CRITICAL"
            | "CRIT"
            | "ALERT"
            | "EMERG"
            | "PANIC"
            | "SEVERE"
            | "VERBOSE"
            | "LOG"
            | "DETAIL"
            | "HINT"
    )
}

/// A line without the sequences that colour a terminal.
fn without_colours(line: &str) -> Cow<'_, str> {
    if !line.contains(['\u{1b}', '\r']) {
        return Cow::Borrowed(line);
    }
    // What a bar of progress wrote before the last return is gone from the screen.
    let line = line
        .rsplit('\r')
        .find(|piece| !piece.trim().is_empty())
        .unwrap_or_default();
    let mut plain = String::with_capacity(line.len());
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\u{1b}' {
            plain.push(letter);
            continue;
        }
        if letters.next_if_eq(&'[').is_some() {
            while letters.next().is_some_and(|letter| !letter.is_ascii_alphabetic()) {}
        } else {
            letters.next();
        }
    }
    Cow::Owned(plain)
}

/// The first letters of a text, cut at a word, with a mark where more follows.
pub(super) fn cut_at_word(text: &str, most: usize) -> String {
    let text = text.trim();
    let Some((end, _)) = text.char_indices().nth(most) else {
        return text.to_owned();
    };
    let head = &text[..end];
    // A word longer than half of the room is cut itself.
    let at = head.rfind(char::is_whitespace).filter(|at| at * 2 > end).unwrap_or(end);
    format!("{}…", head[..at].trim_end_matches([' ', ',', ';', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_around_a_message_goes() {
        for (line, expected) in [
            (
                "2026-01-07T13:50:02.752Z ERROR payments: refused",
                "ERROR payments: refused",
            ),
            ("[2026-01-07 13:50:02,752] ERROR x", "ERROR x"),
            ("13:50:02 [error] x", "[error] x"),
            (
                "Jan  7 13:50:02 web-1 postgres[811]: could not extend file",
                "postgres: could not extend file",
            ),
            ("E0107 13:50:02.752123   12 sync.go:41] no leader", "ERROR no leader"),
            (
                "db-1  | 2026-01-07 13:50:02.752 UTC [31] FATAL:  no role",
                "db-1: FATAL:  no role",
            ),
            ("\u{1b}[31merror\u{1b}[0m: x", "error: x"),
            (" 10%\r 50%\rdone: x", "done: x"),
            ("    at frame", "    at frame"),
            ("2026-01-07", "2026-01-07"),
            ("404 not found", "404 not found"),
            ("", ""),
        ] {
            assert_eq!(plain(line), expected, "{line:?}");
        }
    }

    #[test]
    fn lines_are_cut_at_words() {
        assert_eq!(cut_at_word("one two three", 20), "one two three");
        assert_eq!(cut_at_word("one two three four", 11), "one two…");
        assert_eq!(cut_at_word(&"x".repeat(30), 10), format!("{}…", "x".repeat(10)));
    }
}
