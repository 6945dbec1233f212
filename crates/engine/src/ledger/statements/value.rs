//! What a value looks like, and where it ends.

use std::ops::Range;

use serde::Deserialize;
use serde::Serialize;

use crate::ledger::statements::patterns::List;
use crate::ledger::statements::patterns::PATTERNS;
use crate::ledger::statements::words::Break;
use crate::ledger::statements::words::Words;
use crate::ledger::statements::words::is_unseen;

/// A value in words is short: a name, a place, a day. More words are an explanation.
const LONGEST_VALUE: usize = 8;

/// The coarse form of a value: a correction that names neither subject nor old value goes to the newest value of its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::ledger) enum Shape {
    Reference,
    Url,
    Email,
    Path,
    Host,
    Version,
    Date,
    Number,
    Id,
    Code,
    Name,
    Plain,
}

impl Shape {
    /// Whether it can hardly be anything but a value.
    pub(in crate::ledger) fn is_strong(self) -> bool {
        !matches!(self, Shape::Name | Shape::Plain)
    }
}

/// The form of one word.
pub(in crate::ledger) fn shape_of(words: &Words<'_>, index: usize) -> Shape {
    let Some(word) = words.list.get(index) else {
        return Shape::Plain;
    };
    let raw = &words.text[word.raw.clone()];
    let folded = words.at(index);
    let digits = folded.bytes().filter(u8::is_ascii_digit).count();
    let letters = folded.chars().filter(|letter| letter.is_alphabetic()).count();
    let dots = folded.bytes().filter(|byte| *byte == b'.').count();
    if folded.contains("credential_ref:") || folded.contains("redacted_") || folded.contains("[redacted") {
        return Shape::Reference;
    }
    if folded.contains("://") {
        return Shape::Url;
    }
    if let Some((name, domain)) = folded.split_once('@')
        && !name.is_empty()
        && domain.contains('.')
    {
        return Shape::Email;
    }
    if is_date(folded, digits) {
        return Shape::Date;
    }
    if letters == 0 && digits > 0 {
        return match dots {
            0 => Shape::Number,
            3 => Shape::Host,
            _ => Shape::Version,
        };
    }
    if digits > 0 && letters <= 2 && folded.starts_with(['v', 'n', 'p']) && dots > 0 {
        return Shape::Version;
    }
    if folded.contains('/') && (folded.starts_with(['/', '~', '.']) || folded.matches('/').count() > 1) {
        return Shape::Path;
    }
    if dots > 0 && is_dotted(folded) {
        return Shape::Host;
    }
    if letters <= 3 && digits > 0 && folded.starts_with(|first: char| first.is_ascii_digit()) {
        return Shape::Number;
    }
    if digits > 0 || folded.contains('_') || folded.starts_with('#') {
        return Shape::Id;
    }
    if word.marked {
        return Shape::Code;
    }
    let upper = raw.chars().next().is_some_and(char::is_uppercase);
    if upper { Shape::Name } else { Shape::Plain }
}

/// Names joined by full stops: a host, a file, a module.
fn is_dotted(word: &str) -> bool {
    word.split('.').all(|part| {
        !part.is_empty()
            && part
                .chars()
                .all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_' | ':' | '/'))
    })
}

/// Days by name or number.
fn is_date(word: &str, digits: usize) -> bool {
    const DAYS: [&str; 46] = [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "today",
        "tomorrow",
        "tonight",
        "january",
        "february",
        "april",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "понедельник",
        "вторник",
        "среда",
        "среду",
        "четверг",
        "пятница",
        "пятницу",
        "суббота",
        "субботу",
        "воскресенье",
        "завтра",
        "сегодня",
        "послезавтра",
        "montag",
        "dienstag",
        "mittwoch",
        "donnerstag",
        "freitag",
        "samstag",
        "sonntag",
        "lunes",
        "viernes",
        "lundi",
        "vendredi",
        "jeudi",
        "mardi",
    ];
    if DAYS.contains(&word) {
        return true;
    }
    let parts = word.split(['-', '/', '.']).count();
    parts == 3 && digits >= 4 && digits + 2 == word.len()
}

/// The words of a value that begins here, and its form: without what leads to it, up to what ends it.
pub(in crate::ledger) fn extent(words: &Words<'_>, range: Range<usize>) -> (Range<usize>, Shape) {
    let mut start = range.start;
    let last = range.end.min(words.len());
    while start < last
        && PATTERNS.is(List::Lead, words.at(start))
        && words.after(start) < Break::Comma
        && shape_of(words, start) != Shape::Date
    {
        start += 1;
    }
    let mut shape = Shape::Plain;
    let mut end = start;
    while end < last && end - start < LONGEST_VALUE {
        let word = words.at(end);
        let over = PATTERNS.is(List::End, word)
            || (PATTERNS.is(List::Joint, word) && (shape.is_strong() || PATTERNS.is_dull(words.at(end + 1))));
        if end > start && over {
            break;
        }
        if !shape.is_strong() {
            let found = shape_of(words, end);
            // A value says what it is with its first word, or with a number behind a name: "May 20", "redis 3.2".
            let numbered = end == start + 1 && matches!(found, Shape::Number | Shape::Version | Shape::Date);
            if end == start || numbered {
                shape = found;
            }
        }
        end += 1;
        if words.after(end - 1) > Break::None {
            break;
        }
    }
    // "beta and" and "alpha now" end before their last word.
    while end > start + 1
        && (PATTERNS.is(List::Joint, words.at(end - 1)) || PATTERNS.is(List::Filler, words.at(end - 1)))
    {
        end -= 1;
    }
    (start..end, shape)
}

/// The words of a value and its form, where "alpha -> beta" means beta.
pub(in crate::ledger) fn newest(words: &Words<'_>, range: Range<usize>) -> (Range<usize>, Shape) {
    let (mut value, mut shape) = extent(words, range.clone());
    while !value.is_empty() && words.after(value.end - 1) == Break::Arrow && value.end < range.end.min(words.len()) {
        (value, shape) = extent(words, value.end..range.end);
    }
    (value, shape)
}

/// A text as an entry shows it: on one line, without what cannot be seen, cut at the end of a clause or word.
pub(in crate::ledger) fn shown(text: &str, most: usize) -> String {
    let mut line = String::with_capacity(text.len().min(most + 4));
    let mut letters = 0;
    let mut clause = 0;
    let mut space = false;
    for letter in text.chars() {
        if letter.is_whitespace() || letter.is_control() {
            space = !line.is_empty();
            continue;
        }
        if is_unseen(letter) && !('\u{300}'..='\u{36f}').contains(&letter) {
            continue;
        }
        if letters >= most {
            line.truncate(if clause > 0 { clause } else { line.len() });
            line.push('…');
            return line;
        }
        if space {
            line.push(' ');
            letters += 1;
            // The latest word's end will do in the first half; behind it only the end of a clause moves the cut.
            if letters * 2 < most || line.trim_end().ends_with([',', ';', ':', '.', '—', ')']) {
                clause = line.len() - 1;
            }
            space = false;
        }
        line.push(letter);
        letters += 1;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(word: &str) -> Shape {
        shape_of(&Words::read(word, 9), 0)
    }

    #[test]
    fn words_have_forms() {
        assert_eq!(shape("alpha.corp.example"), Shape::Host);
        assert_eq!(shape("10.0.0.7"), Shape::Host);
        assert_eq!(shape("8080"), Shape::Number);
        assert_eq!(shape("3.12"), Shape::Version);
        assert_eq!(shape("v2.0.1"), Shape::Version);
        assert_eq!(shape("2026-05-01"), Shape::Date);
        assert_eq!(shape("Friday"), Shape::Date);
        assert_eq!(shape("/srv/app"), Shape::Path);
        assert_eq!(shape("a@b.example"), Shape::Email);
        assert_eq!(shape("mia_li_3668"), Shape::Id);
        assert_eq!(shape("`main`"), Shape::Code);
        assert_eq!(shape("Berlin"), Shape::Name);
        assert_eq!(shape("beta"), Shape::Plain);
        assert_eq!(shape("credential_ref:credential:ab12"), Shape::Reference);
    }

    #[test]
    fn values_end_where_the_talk_goes_on() {
        let check = |text: &str, expected: &str| {
            let words = Words::read(text, 99);
            let (range, _) = extent(&words, 0..words.len());
            assert_eq!(words.raw(range), expected, "{text}");
        };
        check("now beta.corp and the port is 80", "beta.corp");
        check("at /srv/app, because", "/srv/app");
        check("salt and pepper", "salt and pepper");
        check("Friday because of the demo", "Friday");
        check("теперь beta, потому что", "beta");
    }

    #[test]
    fn a_long_text_is_cut_at_a_clause() {
        assert_eq!(shown("a  b\n c\u{200b}d", 20), "a b cd");
        let long = "one two three four, five six seven eight nine ten";
        assert_eq!(shown(long, 30), "one two three four,…");
        assert!(shown(&"x".repeat(900), 400).chars().count() <= 401);
    }
}
