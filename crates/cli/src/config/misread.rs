//! What is wrong with a file that could not be read, in words for people.
//!
//! The reader's own messages repeat values and lines; these do not.

use std::ops::Range;

use crate::config::source::Complaint;
use crate::config::source::Source;

/// Keys under which people look for a place for a secret.
const SECRETS: [&str; 12] = [
    "key",
    "api_key",
    "apikey",
    "api-key",
    "token",
    "access_token",
    "auth_token",
    "secret",
    "password",
    "auth",
    "authorization",
    "bearer",
];

/// What other programs call a key of ours.
const ALIASES: [(&str, &str); 10] = [
    ("base_url", "url"),
    ("api_base", "url"),
    ("address", "url"),
    ("model", "id"),
    ("context", "window"),
    ("context_window", "window"),
    ("max_tokens", "output"),
    ("timeout", "total"),
    ("stream", "streams"),
    ("ips", "addresses"),
];

/// Keys that are written without the line that opens their section.
const SECTIONS: [(&str, &[&str]); 3] = [
    (
        "compact",
        &["engine", "window", "threshold", "target", "tail", "focus", "roles"],
    ),
    ("redact", &["addresses", "pii"]),
    ("endpoints", &["url", "form", "key_env", "key_file"]),
];

/// Longer names are nobody's slip of the finger, and comparing them takes time.
const MOST_COMPARED: usize = 40;

/// Says what is wrong, and where.
pub fn explain(source: &Source, message: &str, span: Option<Range<usize>>) -> Complaint {
    let span = span.unwrap_or(0..0);
    let key = key_before(source, span.start);
    let words = if let Some(rest) = message.strip_prefix("unknown field ") {
        unknown_key(rest)
    } else if let Some(rest) = message.strip_prefix("unknown variant ") {
        unknown_choice(&key, rest)
    } else if let Some(rest) = message.strip_prefix("invalid type: ") {
        wrong_kind(&key, rest)
    } else if let Some(rest) = message.strip_prefix("invalid value: ") {
        let wanted = rest
            .rsplit_once("expected ")
            .map_or("another value", |(_, wanted)| wanted);
        format!("{key} is out of range: it has to be {}", plainly(wanted))
    } else if message.starts_with("wanted ") {
        format!("{key} has to be one of its names, as a string")
    } else if let Some(rest) = message.strip_prefix("missing field ") {
        format!("{} is missing here", quoted(rest).first().unwrap_or(&""))
    } else {
        format!("this is no TOML: {}", message.lines().next().unwrap_or(""))
    };
    source.complain(span, words)
}

/// The name among these that was probably meant.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let lower = name.to_lowercase().replace('-', "_");
    if let Some((_, ours)) = ALIASES.iter().find(|(theirs, _)| *theirs == lower)
        && let Some(found) = known.iter().find(|known| *known == ours)
    {
        return Some(found);
    }
    if name.len() > MOST_COMPARED {
        return None;
    }
    let distance = |known: &str| strsim::damerau_levenshtein(&lower, &known.to_lowercase().replace('-', "_"));
    let (best, known) = known.iter().map(|known| (distance(known), *known)).min()?;
    // A third of the letters: more than a slip is another word.
    (best <= (known.chars().count() / 3).max(1)).then_some(known)
}

/// `; did you mean …?`, or what there is.
pub fn suggestion(name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(meant) => format!("did you mean {meant}?"),
        None => format!("known here: {}", known.join(", ")),
    }
}

fn unknown_key(rest: &str) -> String {
    let names = quoted(rest);
    let (name, known) = names
        .split_first()
        .map_or(("", &[][..]), |(name, known)| (*name, known));
    if SECRETS.contains(&name.to_lowercase().as_str()) {
        return format!(
            "{name}: a key must not stand in this file, which is easily shown, copied or committed; name an environment \
             variable with key_env, or a file of its own with key_file, and take the key out (if anybody may have seen \
             it, replace it)"
        );
    }
    let section = SECTIONS
        .iter()
        .find(|(section, keys)| known.contains(section) && keys.contains(&name));
    if let Some((section, _)) = section {
        return format!("{name} belongs below [{section}]");
    }
    if name.len() > MOST_COMPARED {
        return format!("there is no such key; known here: {}", known.join(", "));
    }
    format!("there is no key {name}; {}", suggestion(name, known))
}

fn unknown_choice(key: &str, rest: &str) -> String {
    let names = quoted(rest);
    let (name, known) = names
        .split_first()
        .map_or(("", &[][..]), |(name, known)| (*name, known));
    match nearest(name, known) {
        Some(meant) => format!("{key} cannot be that; did you mean {meant}?"),
        None => format!("{key} cannot be that; it has to be one of {}", known.join(", ")),
    }
}

/// `string "…", expected u64`: the kind is said, the value is not.
fn wrong_kind(key: &str, rest: &str) -> String {
    let kind = rest.split(['"', '`', ',', '(']).next().unwrap_or("").trim();
    let found = match kind {
        "string" => "a string",
        "integer" => "a whole number",
        "floating point" => "a number",
        "boolean" => "true or false",
        "sequence" => "a list",
        "map" => "a table",
        _ => "something else",
    };
    let wanted = rest.rsplit_once("expected ").map_or("", |(_, wanted)| wanted);
    if kind == "integer" && wanted.starts_with('u') {
        return format!("{key} is out of range: it has to be {}", plainly(wanted));
    }
    format!("{key} is {found}; it has to be {}", plainly(wanted))
}

/// What the reader calls a kind of value, for people.
fn plainly(wanted: &str) -> &'static str {
    match wanted {
        "u32" | "u64" | "usize" => "a whole number of zero or more",
        "f64" | "f32" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a string" | "a borrowed string" => "a string",
        "a map" => "a table",
        _ if wanted.starts_with("struct ") => "a table",
        _ if wanted.starts_with("enum ") || wanted.contains("variant") => "one of its names, as a string",
        _ => "something else",
    }
}

/// What stands between back quotes, in order.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// The key whose value begins here, as far as its line shows it.
fn key_before(source: &Source, at: usize) -> String {
    let before = source.before(at).trim_end();
    let name = before.strip_suffix('=').map(|rest| {
        rest.rsplit([',', '{', '['])
            .next()
            .unwrap_or("")
            .trim()
            .trim_matches('"')
    });
    match name {
        Some(name) if !name.is_empty() && name.len() <= MOST_COMPARED => name.to_owned(),
        Some(_) | None => "this".to_owned(),
    }
}
