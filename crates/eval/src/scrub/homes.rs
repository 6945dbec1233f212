//! Home directories: `/home/x`, `/Users/x`, `C:\Users\x`, `~x/`, below `/mnt/c` and in WSL, percent-encoded, escaped, and in
//! the dashed names that agents give their folders. Only the name goes; the path below it stays.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::scrub::people::Clue;
use crate::scrub::people::People;
use crate::scrub::people::pseudonym;
use crate::scrub::text::Hit;
use crate::scrub::text::begins_word;
use crate::scrub::text::ends_in_escape;
use crate::scrub::text::replace;
use crate::scrub::text::then;
use crate::scrub::titles::is_nobody;
use crate::scrub::titles::is_word;

fn pattern(text: &str) -> Regex {
    // What stands between the parts of a path: slashes, escaped ones, any number of backslashes, percent-encoded ones.
    let text = text.replace("SEP", r"(?:\\{0,8}/|\\{1,8}|%2[Ff]|%5[Cc]|%252[Ff])");
    Regex::new(&text).expect("the pattern is fixed, and a test runs it")
}

/// Names of Windows may have spaces; they count only where the path goes on.
static WIDE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?P<root>[a-z](?::|%3A)SEP(?:users|documents and settings)SEP)(?P<name>(?-i:\p{Lu})[\p{L}\p{N}_.'\-]*(?: (?-i:\p{Lu})[\p{L}\p{N}_.'\-]*){1,2})(?P<end>SEP)",
    )
});
static PLAIN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?P<root>SEP(?:home|Users|users|HOME|USERS)SEP)(?P<name>[\p{L}\p{N}_][\p{L}\p{N}_.\-]*)(?P<end>SEP)?")
});
/// What may stand before `/home` and `/Users` although it is a path.
static BEFORE: LazyLock<Regex> = LazyLock::new(|| {
    let list = concat!(
        r"(?i)(?:/mnt/[a-z]|/cygdrive/[a-z]|/[a-z]|/export|/var|/usr|/data|/private|/System/Volumes/Data|/hostfs|/host|/rootfs|",
        r"/Volumes/[^/\s]{1,30}|[a-z]:|[a-z]%3A|file://[\w.\-]{0,30}|wsl[$.\w]{0,10}SEP[\w.\-]{1,20}|(?:^|[\s\x22'=(,])-[a-z\-]{1,12}|%2Fmnt%2F[a-z]|vscode-remote:[\w+%/.\-]{1,40})$"
    );
    pattern(list)
});
static TILDE: LazyLock<Regex> = LazyLock::new(|| pattern(r"~(?P<name>[a-z_][a-z0-9_\-]{1,31})(?P<end>/)?"));
static DASHED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?P<root>(?:-|[A-Za-z]--|-mnt-[a-z]-)(?:home|Users)-)(?P<name>[\p{L}\p{N}_]+(?:-[\p{L}\p{N}_]+){0,2})")
});

/// How many characters before a path are looked at.
const LOOK_BACK: usize = 64;

/// Owners of home directories.
pub(super) fn clues(text: &str, found: &mut Vec<Clue>) {
    let mut note = |name: &str| {
        let name = name.trim_end_matches('.');
        if name.contains(char::is_alphabetic) && !is_nobody(name) {
            let mut clue = Clue::handle(name);
            clue.is_home = true;
            found.push(clue);
        }
    };
    for captures in WIDE.captures_iter(text) {
        note(&captures["name"]);
    }
    for captures in PLAIN.captures_iter(text) {
        let start = captures.get(0).map_or(0, |whole| whole.start());
        // A route like `/home/settings` has nothing below it; the home of a person mostly does.
        if captures.name("end").is_some() && stands_alone(&text[..start]) {
            note(&captures["name"]);
        }
    }
    for captures in DASHED.captures_iter(text) {
        let start = captures.get(0).map_or(0, |whole| whole.start());
        let first = captures["name"].split('-').next().unwrap_or("").to_owned();
        if is_folder(&text[..start]) && !is_word(&first) {
            note(&first);
        }
    }
}

/// Replaces the names of home directories.
pub(super) fn scrub<'t>(people: &People, text: &'t str, count: &mut dyn FnMut()) -> Cow<'t, str> {
    let text = replace(text, &WIDE, |hit| {
        let new = renamed(people, hit.group("name"))?;
        count();
        Some(format!("{}{new}{}", hit.group("root"), hit.group("end")))
    });
    let text = then(text, |text| replace(text, &PLAIN, |hit| plain(people, hit, count)));
    let text = then(text, |text| replace(text, &TILDE, |hit| tilde(people, hit, count)));
    then(text, |text| replace(text, &DASHED, |hit| dashed(people, hit, count)))
}

fn plain(people: &People, hit: Hit<'_, '_>, count: &mut dyn FnMut()) -> Option<String> {
    let spelled = hit.group("name");
    let name = spelled.trim_end_matches('.');
    let is_known = people.of_name(name).is_some();
    let is_route = hit.group("end").is_empty() && is_word(name) && !is_known;
    if is_route || !(is_known || stands_alone(hit.before)) {
        return None;
    }
    let new = renamed(people, name)?;
    count();
    Some(format!(
        "{}{new}{}{}",
        hit.group("root"),
        &spelled[name.len()..],
        hit.group("end")
    ))
}

fn tilde(people: &People, hit: Hit<'_, '_>, count: &mut dyn FnMut()) -> Option<String> {
    let name = hit.group("name");
    let apart = hit
        .before
        .chars()
        .next_back()
        .is_none_or(|last| last.is_whitespace() || "\"'=:(`,".contains(last));
    let is_known = people.of_name(name).is_some();
    if !(apart || ends_in_escape(hit.before)) || !is_known {
        return None;
    }
    let new = renamed(people, name)?;
    count();
    Some(format!("~{new}{}", hit.group("end")))
}

fn dashed(people: &People, hit: Hit<'_, '_>, count: &mut dyn FnMut()) -> Option<String> {
    let name = hit.group("name");
    if hit.before.ends_with('-') || !(begins_word(hit.before) || hit.whole().starts_with(|c: char| c != '-')) {
        return None;
    }
    // A name with a dot has a dash in its place: the longest name that somebody has.
    let ends: Vec<usize> = name.match_indices('-').map(|(at, _)| at).chain([name.len()]).collect();
    let known = ends.iter().rev().find(|end| people.of_name(&name[..**end]).is_some());
    let first = ends.first().copied().unwrap_or(name.len());
    let end = match known {
        Some(end) => *end,
        None if is_folder(hit.before) && !is_word(&name[..first]) => first,
        None => return None,
    };
    let new = renamed(people, &name[..end])?;
    count();
    Some(format!("{}{new}{}", hit.group("root"), &name[end..]))
}

/// What a home directory is called; nothing where it is nobody's.
fn renamed(people: &People, name: &str) -> Option<String> {
    if is_nobody(name) && people.of_name(name).is_none() {
        return None;
    }
    Some(pseudonym(people.of_name(name).unwrap_or(1)))
}

/// Whether a path begins here, and is not the middle of another one.
fn stands_alone(before: &str) -> bool {
    let Some(last) = before.chars().next_back() else {
        return true;
    };
    if !(last.is_alphanumeric() || "_.-)]}~$@".contains(last)) || ends_in_escape(before) {
        return true;
    }
    let from = before.char_indices().rev().nth(LOOK_BACK).map_or(0, |(at, _)| at);
    BEFORE.is_match(&before[from..])
}

/// Whether a dashed name is a folder's: it stands alone in a path, in quotes or in a line.
fn is_folder(before: &str) -> bool {
    before
        .chars()
        .next_back()
        .is_none_or(|last| last.is_whitespace() || "/\\\"'`=:(".contains(last))
        || ends_in_escape(before)
}
