//! Words: units apart from their numbers, small numbers as digits, which words say nothing, and when two are one.

use std::sync::LazyLock;

use rust_stemmers::Algorithm;
use rust_stemmers::Stemmer;

static RUSSIAN: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::Russian));

/// Words that change their endings have at least so many letters; shorter ones are too often others.
const LEAST_LETTERS: usize = 4;

/// Units behind numbers, each with its ways to be written. `m` is left out: metres, minutes, millions and the marks of a ledger.
const UNITS: &[(&str, &[&str])] = &[
    (
        "ms",
        &[
            "ms",
            "msec",
            "msecs",
            "millisecond",
            "milliseconds",
            "millisekunden",
            "мс",
            "миллисекунд",
        ],
    ),
    ("us", &["us", "µs", "μs", "microseconds"]),
    ("ns", &["ns", "nanoseconds"]),
    (
        "s",
        &[
            "s",
            "sec",
            "secs",
            "second",
            "seconds",
            "sekunde",
            "sekunden",
            "sek",
            "сек",
            "секунд",
            "секунды",
            "секунда",
            "секунду",
        ],
    ),
    (
        "min",
        &[
            "min",
            "mins",
            "minute",
            "minutes",
            "minuten",
            "мин",
            "минут",
            "минуты",
            "минута",
            "минуту",
        ],
    ),
    (
        "h",
        &[
            "h",
            "hr",
            "hrs",
            "hour",
            "hours",
            "stunde",
            "stunden",
            "std",
            "ч",
            "час",
            "часа",
            "часов",
        ],
    ),
    (
        "d",
        &["d", "day", "days", "tag", "tage", "tagen", "дн", "день", "дня", "дней"],
    ),
    ("kb", &["kb", "kilobytes", "кб"]),
    ("mb", &["mb", "megabyte", "megabytes", "мб"]),
    ("gb", &["gb", "gigabyte", "gigabytes", "гб"]),
    ("tb", &["tb", "terabytes", "тб"]),
    ("kib", &["kib"]),
    ("mib", &["mib"]),
    ("gib", &["gib"]),
    ("px", &["px", "pixel", "pixels"]),
    ("am", &["am", "a.m"]),
    ("pm", &["pm", "p.m"]),
    ("%", &["%", "percent", "prozent", "процент", "процента", "процентов"]),
];

/// Small numbers in words. One is left out: `one`, `ein` and `один` mostly count nothing; so is `elf`, a file format.
const NUMBERS: &[(&str, &[&str])] = &[
    ("2", &["two", "zwei", "два", "две"]),
    ("3", &["three", "drei", "три"]),
    ("4", &["four", "vier", "четыре"]),
    ("5", &["five", "fünf", "пять"]),
    ("6", &["six", "sechs", "шесть"]),
    ("7", &["seven", "sieben", "семь"]),
    ("8", &["eight", "acht", "восемь"]),
    ("9", &["nine", "neun", "девять"]),
    ("10", &["ten", "zehn", "десять"]),
    ("11", &["eleven", "одиннадцать"]),
    ("12", &["twelve", "zwölf", "двенадцать"]),
];

/// Weekdays and the ways to shorten them.
const DAYS: &[&[&str]] = &[
    &["monday", "mondays", "mon"],
    &["tuesday", "tuesdays", "tue", "tues"],
    &["wednesday", "wednesdays", "wed"],
    &["thursday", "thursdays", "thu", "thur", "thurs"],
    &["friday", "fridays", "fri"],
    &["saturday", "saturdays", "sat"],
    &["sunday", "sundays", "sun"],
];

const ABBREVIATIONS: &[&str] = &[
    "e.g.",
    "i.e.",
    "etc.",
    "vs.",
    "ca.",
    "approx.",
    "cf.",
    "z.b.",
    "d.h.",
    "bzw.",
    "u.a.",
    "nr.",
    "ggf.",
    "т.е.",
    "т.д.",
    "др.",
    "напр.",
];

/// Words that only German has, so that one is enough to know it.
const GERMAN: &[&str] = &[
    "der", "das", "und", "ist", "nicht", "wurde", "wird", "mit", "für", "sind", "auf", "eine", "einen", "einem",
    "kein", "keine", "zeilen", "dateien", "jetzt", "früher", "statt", "nur", "läuft", "wir", "dem", "den",
];

const SAY_NOTHING: &[&str] = &[
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "being", "it", "its", "of", "to", "in", "on", "at",
    "by", "for", "with", "and", "or", "as", "that", "this", "these", "those", "than", "then", "so", "from", "into",
    "does", "do", "did", "has", "have", "had", "will", "would", "should", "shall", "can", "could", "may", "might",
    "yes", "we", "i", "you", "they", "he", "she", "our", "their", "there", "per", "via", "->", "-", "&", "+", "der",
    "die", "das", "ein", "eine", "einen", "einem", "einer", "des", "dem", "den", "ist", "sind", "war", "wird", "wurde",
    "und", "oder", "im", "am", "zu", "auf", "mit", "von", "für", "ja", "и", "в", "во", "на", "с", "со", "к", "по",
    "из", "у", "о", "об", "от", "до", "для", "это", "как", "что", "или", "же", "да", "был", "была", "было", "были",
];

/// Whether a word can be left out of a fact that is told in other words.
pub fn says_nothing(word: &str) -> bool {
    SAY_NOTHING.contains(&word)
}

/// Whether a word is German and nothing else.
pub fn is_german(word: &str) -> bool {
    GERMAN.contains(&core(word).1)
}

/// Whether a point at the end of a word ends no sentence.
pub fn is_abbreviation(word: &str) -> bool {
    ABBREVIATIONS.contains(&word.trim_start_matches('('))
}

/// A weekday with all its spellings.
pub fn day(word: &str) -> Option<&'static [&'static str]> {
    DAYS.iter().find(|spellings| spellings.contains(&word)).copied()
}

/// What stands before the word proper, the word, and what stands behind it.
pub fn core(token: &str) -> (&str, &str, &str) {
    const BEHIND: &[char] = &[')', ']', '}', '>', ',', ';', ':', '.', '!', '?', '='];
    let rest = token.trim_start_matches(['(', '[', '{', '<', ',', ';', ':', '=']);
    let word = rest.trim_end_matches(BEHIND);
    (&token[..token.len() - rest.len()], word, &rest[word.len()..])
}

fn canonical(table: &[(&'static str, &[&str])], word: &str) -> Option<&'static str> {
    table
        .iter()
        .find(|(_, spellings)| spellings.contains(&word))
        .map(|(name, _)| *name)
}

/// Adds a word to a text, in its one spelling.
pub fn push(out: &mut String, token: &str) {
    let follows_number = out.ends_with(|c: char| c.is_ascii_digit());
    if !out.is_empty() {
        out.push(' ');
    }
    let (before, word, behind) = core(token);
    out.push_str(before);
    push_core(out, word, follows_number && before.is_empty());
    out.push_str(behind);
}

fn push_core(out: &mut String, word: &str, follows_number: bool) {
    if let Some(stem) = word.strip_suffix("n't") {
        out.push_str(match stem {
            "ca" => "can",
            "wo" => "will",
            "sha" => "shall",
            other => other,
        });
        return out.push_str(" not");
    }
    if word == "cannot" {
        return out.push_str("can not");
    }
    if let Some(digits) = canonical(NUMBERS, word) {
        return out.push_str(digits);
    }
    if follows_number && let Some(unit) = canonical(UNITS, word) {
        out.truncate(out.trim_end().len());
        return push_unit(out, unit);
    }
    if let Some((number, unit)) = measured(word) {
        out.push_str(number);
        return push_unit(out, unit);
    }
    let path = word
        .strip_prefix("./")
        .filter(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
    out.push_str(path.unwrap_or(word));
}

/// Adds a unit to a number. Full hours of the twelve-hour clock need no minutes.
fn push_unit(out: &mut String, unit: &str) {
    if matches!(unit, "am" | "pm") && out.ends_with(":00") {
        out.truncate(out.len() - ":00".len());
    }
    out.push(' ');
    out.push_str(unit);
}

/// `30s`, `1.5gb`, `30-second`: a number and its unit.
fn measured(word: &str) -> Option<(&str, &'static str)> {
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let end = word.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',' | ':'))?;
    let number = &word[..end];
    let unit = word[end..].strip_prefix('-').unwrap_or(&word[end..]);
    let unit = canonical(UNITS, unit)?;
    number.ends_with(|c: char| c.is_ascii_digit()).then_some((number, unit))
}

/// Whether a word is one of prose, whose ending may change.
pub fn inflects(word: &str) -> bool {
    word.chars().count() >= LEAST_LETTERS && word.chars().all(char::is_alphabetic)
}

/// The start that all forms of a word have.
pub fn opening(word: &str) -> &str {
    let letters = word.chars().count();
    let kept = (letters.saturating_sub(3)).max(LEAST_LETTERS - 1);
    word.char_indices().nth(kept).map_or(word, |(at, _)| &word[..at])
}

/// Whether a word of a text is a fact's word, perhaps with another ending of number or case. Tenses are not forms of one
/// word: what is to be merged is not merged.
pub fn is_same(fact: &str, found: &str, german: bool) -> bool {
    if fact == found {
        return true;
    }
    let is_cyrillic = |c: char| ('\u{400}'..='\u{4ff}').contains(&c);
    if fact.starts_with(is_cyrillic) {
        return found.chars().count() >= LEAST_LETTERS && RUSSIAN.stem(fact) == RUSSIAN.stem(found);
    }
    let (short, long) = if fact.len() < found.len() {
        (fact, found)
    } else {
        (found, fact)
    };
    if short.chars().count() < LEAST_LETTERS {
        return false;
    }
    if let Some(stem) = short.strip_suffix('y') {
        return long.strip_prefix(stem) == Some("ies");
    }
    match long.strip_prefix(short) {
        Some("s" | "es" | "'s") => true,
        Some("e" | "en" | "em" | "n") => german,
        Some(_) | None => false,
    }
}
