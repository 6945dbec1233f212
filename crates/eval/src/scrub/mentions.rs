//! Mentions and ids of messaging platforms: Discord, Slack, Telegram, Matrix, Feishu.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::scrub::people::Clue;
use crate::scrub::people::People;
use crate::scrub::people::pseudonym;
use crate::scrub::text::begins_word;
use crate::scrub::text::replace;
use crate::scrub::text::then;

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is fixed, and a test runs it")
}

/// `<@123>`, `<@!123>`, `<@U0ABC|name>`, also where the brackets are escaped.
static MENTION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?P<open><|&lt;|\\u003[cC]|%3C)(?:@|%40)[!&]?(?P<id>\d{5,20}|[UW][A-Z0-9]{5,14}|\*{3,}|[A-Za-z0-9_.\-]{2,32})(?:\|[^<>\n|]{0,80})?(?P<close>>|&gt;|\\u003[eE]|%3E)",
    )
});
/// Names of the Matrix form, addresses of persons in Telegram.
static MATRIX: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"@(?P<id>[a-z0-9._=\-/+]{1,64}:[a-z0-9\-]{1,40}(?:\.[a-z0-9\-]{1,40}){1,4})\b"));
static TELEGRAM: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"tg://(?:user|openmessage)\?(?:user_)?id(?:=|%3D)(?P<id>\d{4,20})"));
/// `@some_name` of a person that is known.
static HANDLE: LazyLock<Regex> = LazyLock::new(|| pattern(r"@(?P<name>[\p{L}\p{N}_][\p{L}\p{N}_.\-]+)"));
/// Ids under the names that platforms give them.
static KEYED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?i)(?P<key>\b(?:chat|user|channel|guild|sender|from|peer|member|author|open|union|room|telegram|discord|slack)_?ids?\\{0,4}["']?\s{0,4}[:=]\s{0,4}\\{0,4}["']?)(?P<id>-?\d{7,20}|[UCWTDG]0[A-Z0-9]{7,11}|o[uc]_[0-9a-f]{16,40}|on_[0-9a-f]{16,40})\b"#,
    )
});

static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[0-9]{15,20}\b"));

/// People by their ids.
pub(super) fn clues(text: &str, found: &mut Vec<Clue>) {
    for pattern in [&*MENTION, &*MATRIX, &*TELEGRAM] {
        for captures in pattern.captures_iter(text) {
            let id = &captures["id"];
            if !is_pseudonym(id) && !is_ours(id) && !id.starts_with('*') {
                let mut clue = Clue::id(id);
                if !id.contains(':') && id.contains(char::is_lowercase) {
                    clue = Clue::handle(id);
                }
                found.push(clue);
            }
        }
    }
}

fn is_pseudonym(name: &str) -> bool {
    let rest = name.strip_prefix("user").unwrap_or(name).trim_start_matches('-');
    name.starts_with("user") && rest.chars().all(|c| c.is_ascii_digit())
}

/// Ids under their names: each becomes a number of its own, the same wherever it stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Ids(BTreeMap<String, usize>);

/// The numbers that stand for ids begin here: long enough for an id, and nobody's.
const FIRST_ID: usize = 1_000_000_000;

/// Whether an id is a number that stands for one.
fn is_ours(digits: &str) -> bool {
    digits
        .parse::<usize>()
        .is_ok_and(|id| (FIRST_ID..FIRST_ID + 100_000).contains(&id))
}

impl Ids {
    fn stand_in(&mut self, id: &str) -> Option<String> {
        let digits = id.trim_start_matches('-');
        let prefix = match digits.find('_') {
            Some(at) => &digits[..=at],
            None if digits.starts_with(|c: char| c.is_ascii_alphabetic()) => &digits[..1],
            None => "",
        };
        if is_ours(&digits[prefix.len()..]) {
            return None;
        }
        let next = self.0.len() + 1;
        let number = *self.0.entry(digits.to_owned()).or_insert(next);
        let sign = if id.starts_with('-') { "-" } else { "" };
        Some(format!("{sign}{prefix}{}", FIRST_ID + number))
    }
}

/// Replaces mentions.
pub(super) fn scrub<'t>(people: &People, text: &'t str, count: &mut dyn FnMut()) -> Cow<'t, str> {
    let number = |id: &str| people.of_id(id).or_else(|| people.of_name(id)).unwrap_or(1);
    let text = replace(text, &MENTION, |hit| {
        let id = hit.group("id");
        if is_pseudonym(id) || (people.of_id(id).is_none() && people.of_name(id).is_none() && !id.starts_with('*')) {
            return None;
        }
        count();
        Some(format!(
            "{}@{}{}",
            hit.group("open"),
            pseudonym(number(id)),
            hit.group("close")
        ))
    });
    let text = then(text, |text| {
        replace(text, &MATRIX, |hit| {
            let id = hit.group("id");
            let apart = begins_word(hit.before) && people.of_id(id).is_some();
            apart.then(|| {
                count();
                format!("<@{}>", pseudonym(number(id)))
            })
        })
    });
    let text = then(text, |text| {
        replace(text, &TELEGRAM, |hit| {
            let id = hit.group("id");
            if is_ours(id) {
                return None;
            }
            count();
            let head = &hit.whole()[..hit.whole().len() - id.len()];
            Some(format!("{head}{}", FIRST_ID + number(id)))
        })
    });
    then(text, |text| {
        replace(text, &HANDLE, |hit| {
            let name = hit.group("name").trim_end_matches(['.', '-']);
            let rest = &hit.group("name")[name.len()..];
            let number = people.of_name(name)?;
            if !begins_word(hit.before) || hit.after.starts_with(['/', ':']) || hit.before.ends_with(['<', '/']) {
                return None;
            }
            count();
            Some(format!("<@{}>{rest}", pseudonym(number)))
        })
    })
}

/// Replaces ids under their names.
pub(super) fn scrub_ids<'t>(people: &People, ids: &mut Ids, text: &'t str, count: &mut dyn FnMut()) -> Cow<'t, str> {
    let text = replace(text, &KEYED, |hit| {
        let new = ids.stand_in(hit.group("id"))?;
        count();
        Some(format!("{}{new}", hit.group("key")))
    });
    // The number of somebody who is mentioned, under any key.
    then(text, |text| {
        replace(text, &NUMBER, |hit| {
            let is_mention = hit.before.ends_with(['@', '!', '&', '=']) || hit.before.ends_with("%40");
            people.of_id(hit.whole()).filter(|_| !is_mention)?;
            let new = ids.stand_in(hit.whole())?;
            count();
            Some(new)
        })
    })
}
