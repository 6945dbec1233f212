//! Values that an edit, a patch or a command sets: `port: 8080` that becomes `port: 9090`.

use serde::Deserialize;
use serde::Serialize;

use super::path;

/// Most values that one call is said to set: what sets more is a new file, and its body says nothing of decisions.
const MOST: usize = 12;

/// Longest body of a new file of settings whose values are taken: longer ones are generated.
pub(super) const SMALL_FILE: usize = 4 * 1024;

/// Longest value; longer ones are texts.
const LONGEST: usize = 120;

/// Longest key.
const LONGEST_KEY: usize = 60;

/// Most lines of an edit that are compared; a longer stretch is a rewrite.
const MOST_LINES: usize = 400;

/// A value that was set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Change {
    /// The file, or what else holds settings.
    pub place: Box<str>,
    /// What was set.
    pub key: Box<str>,
    /// Its value before, where the edit shows it.
    pub old: Option<Box<str>>,
    /// Its value now.
    pub new: Box<str>,
}

impl Change {
    /// A change of a part of values: it names no key, and every value of the file that holds the part has changed.
    pub(super) fn within(place: &str, old: &str, new: &str) -> Option<Change> {
        let is_part = |text: &str| text.len() <= LONGEST && !text.contains('\n');
        // Shorter parts stand in values that the edit did not mean.
        (old.chars().count() > 3 && is_part(old) && is_part(new)).then(|| Change {
            place: place.into(),
            key: "".into(),
            old: Some(old.into()),
            new: new.into(),
        })
    }

    /// A value that a command sets.
    pub(super) fn set(place: &str, key: &str, value: &str) -> Option<Change> {
        let is_value = !value.is_empty() && value.len() <= LONGEST && !value.contains(['\n', '$']);
        (is_key(key) && is_value).then(|| Change {
            place: place.into(),
            key: key.into(),
            old: None,
            new: value.into(),
        })
    }

    /// A line that is written to a file of settings.
    pub(super) fn written(place: &str, line: &str, changes: &mut Vec<Change>) {
        if path::is_config(place)
            && changes.len() < MOST
            && let Some((key, value)) = setting(line, true)
        {
            changes.extend(Change::set(place, &key, &value));
        }
    }

    /// The values that differ between an old and a new stretch of a file.
    pub(super) fn between(place: &str, old: &str, new: &str, changes: &mut Vec<Change>) {
        if is_told_elsewhere(place) {
            return;
        }
        let is_config = path::is_config(place);
        let before = settings(old, is_config);
        let after = settings(new, is_config);
        for (index, (key, value)) in after.iter().enumerate() {
            if changes.len() >= MOST {
                return;
            }
            // Two of one name are told apart by their order.
            let nth = after[..index].iter().filter(|(other, _)| other == key).count();
            let earlier = before.iter().filter(|(other, _)| other == key).nth(nth);
            let change = match earlier {
                Some((_, earlier)) if earlier != value => Change::set(place, key, value).map(|change| Change {
                    old: Some(earlier.as_str().into()),
                    ..change
                }),
                Some(_) => None,
                // In code a new name is code; in settings it is a setting. Below another key or in a list, the same name may stand for
                // many things.
                None if is_config && (place.ends_with(".json") || !is_nested(new, key)) => {
                    Change::set(place, key, value)
                }
                None => None,
            };
            changes.extend(change);
        }
    }
}

/// Whether a name stands in a stretch only below another one or in an item of a list.
fn is_nested(text: &str, key: &str) -> bool {
    let names = |line: &&str| setting(line, true).is_some_and(|(name, _)| name == key);
    let mut named = text.lines().take(MOST_LINES).filter(names);
    named.all(|line| line.starts_with([' ', '\t', '-']))
}

/// Tests expect values and documents mention them; neither sets them.
fn is_told_elsewhere(place: &str) -> bool {
    let name = path::name(place).to_ascii_lowercase();
    let is_test = ["test", "spec", "fixture", "mock"]
        .iter()
        .any(|word| name.contains(word));
    is_test
        || [".md", ".txt", ".rst", ".html", ".css", ".snap", ".lock", ".csv"]
            .iter()
            .any(|ending| name.ends_with(ending))
}

/// The settings in a stretch of a file, in order. Only its first lines: each is compared with the others.
fn settings(text: &str, is_config: bool) -> Vec<(String, String)> {
    let lines = text.lines().take(MOST_LINES);
    lines
        .filter_map(|line| setting(line, is_config))
        .take(MOST * 4)
        .collect()
}

/// A line that gives something a value. In code only literals are values.
pub(super) fn setting(line: &str, is_config: bool) -> Option<(String, String)> {
    let line = line.trim();
    if line.len() > LONGEST + LONGEST_KEY + 40 || line.starts_with(['#', '/', '*', ';', '<', '|', '[']) {
        return None;
    }
    let bare = DECLARES
        .iter()
        .fold(line, |rest, word| rest.strip_prefix(word).unwrap_or(rest).trim_start());
    let is_declared = bare.len() != line.len();
    let (key, value) = split(bare)?;
    let key = key.trim().trim_matches(['"', '\'']);
    // `const LIMIT: u32`, `var limit int`
    let key = match is_declared {
        true => key.split([':', ' ']).next().unwrap_or(key),
        false => key,
    };
    let value = value.trim().trim_end_matches([',', ';']).trim_end();
    let value = without_comment(value);
    let is_value = match is_config {
        true => is_literal(value) || is_phrase(value),
        false => is_literal(value) && key.len() > 1,
    };
    (is_key(key) && is_value).then(|| (key.to_owned(), unquoted(value).to_owned()))
}

/// Words before a name that is given a value.
const DECLARES: [&str; 9] = [
    "export ", "pub ", "static ", "const ", "let ", "mut ", "var ", "final ", "- ",
];

/// Splits at the sign that gives a value: `=`, `:=`, or a colon with a space behind it.
fn split(line: &str) -> Option<(&str, &str)> {
    let equals = line.find('=').filter(|at| {
        let before = line[..*at].chars().next_back();
        let after = line[at + 1..].chars().next();
        !matches!(
            before,
            Some('=' | '!' | '<' | '>' | '+' | '-' | '*' | '/' | '%' | '|' | '&' | '~')
        ) && !matches!(after, Some('=' | '>' | '~'))
    });
    let colon = line.find(": ");
    match (equals, colon) {
        (Some(equals), Some(colon))
            if colon < equals
                && is_key(line[..colon].trim_matches(['"', '\'']))
                && !line[colon..equals].contains(['"', '\'']) =>
        {
            // `limit: u32 = 4`
            Some((&line[..colon], &line[equals + 1..]))
        }
        (Some(equals), colon) if colon.is_none_or(|colon| equals < colon) => {
            Some((line[..equals].trim_end_matches(':'), &line[equals + 1..]))
        }
        (_, Some(colon)) => Some((&line[..colon], &line[colon + 2..])),
        (_, None) => None,
    }
}

/// Whether a word can name a setting.
pub(super) fn is_key(key: &str) -> bool {
    key.len() <= LONGEST_KEY
        && key.starts_with(|character: char| character.is_alphabetic() || character == '_')
        && key
            .chars()
            .all(|character| character.is_alphanumeric() || matches!(character, '_' | '-' | '.' | '/' | '@'))
}

fn without_comment(value: &str) -> &str {
    if value.starts_with(['"', '\'', '`']) {
        return value;
    }
    let end = [" #", " //", " /*"].iter().filter_map(|mark| value.find(mark)).min();
    value[..end.unwrap_or(value.len())]
        .trim_end()
        .trim_end_matches([',', ';'])
}

/// A number with a unit, a quoted text, a truth value.
fn is_literal(value: &str) -> bool {
    let inside = |mark: char| {
        value.len() >= 2
            && value.starts_with(mark)
            && value.ends_with(mark)
            && !value[1..value.len() - 1].contains(mark)
    };
    let is_number = value
        .trim_start_matches('-')
        .starts_with(|character: char| character.is_ascii_digit())
        && value.len() <= 40
        && value
            .chars()
            .all(|character| character.is_alphanumeric() || "._-+*: %<".contains(character));
    value.len() <= LONGEST
        && (is_number
            || inside('"')
            || inside('\'')
            || inside('`')
            || matches!(
                value,
                "true" | "false" | "True" | "False" | "null" | "None" | "nil" | "on" | "off" | "yes" | "no"
            ))
}

/// A plain word or a few in a file of settings.
fn is_phrase(value: &str) -> bool {
    !value.is_empty()
        && value.len() <= LONGEST
        && !value.contains(['{', '}', '[', ']', '(', ')', '"', '\'', '=', '|', '>', '&', '$', '\\'])
}

fn unquoted(value: &str) -> &str {
    ['"', '\'', '`']
        .iter()
        .find_map(|mark| value.strip_prefix(*mark)?.strip_suffix(*mark))
        .unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_set_something() {
        for (line, expected) in [
            ("port: 8080", Some(("port", "8080"))),
            ("  \"port\": 8080,", Some(("port", "8080"))),
            ("port = 8080 # was 80", Some(("port", "8080"))),
            ("export API_URL=\"http://x/y\"", Some(("API_URL", "http://x/y"))),
            ("const MAX_RETRIES: u32 = 5;", Some(("MAX_RETRIES", "5"))),
            ("timeout := 30 * time.Second", Some(("timeout", "30 * time.Second"))),
            ("let x = compute();", None),
            ("if a == 3 {", None),
            ("return 3", None),
            ("// port: 80", None),
            ("a.b(c: d)", None),
            ("x => 3", None),
            ("i = 0", None),
        ] {
            let found = setting(line, false);
            let found = found.as_ref().map(|(key, value)| (key.as_str(), value.as_str()));
            assert_eq!(found, expected, "{line}");
        }
        assert_eq!(setting("name: my app", true), Some(("name".into(), "my app".into())));
        assert_eq!(setting("KEY=a-b", true), Some(("KEY".into(), "a-b".into())));
        assert_eq!(setting("run: cargo test && x", true), None);
        assert_eq!(setting("тема: тёмная", true), Some(("тема".into(), "тёмная".into())));
    }

    #[test]
    fn what_differs_between_two_stretches() {
        let mut changes = Vec::new();
        Change::between(
            "a/config.yaml",
            "a:\n  port: 1\nb:\n  port: 2\n",
            "a:\n  port: 1\nb:\n  port: 3\nnew: x\n",
            &mut changes,
        );
        let said: Vec<String> = changes
            .iter()
            .map(|change| format!("{} {:?} {}", change.key, change.old.as_deref(), change.new))
            .collect();
        assert_eq!(said, ["port Some(\"2\") 3", "new None x"]);
        changes.clear();
        Change::between("a.rs", "let limit = 4;", "let limit = 8;\nlet other = 9;", &mut changes);
        assert_eq!(changes.len(), 1);
    }
}
