//! Machines and places: prompts of shells, names of hosts, addresses of houses, coordinates.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::scrub::numbers;
use crate::scrub::people::Clue;
use crate::scrub::people::People;
use crate::scrub::people::pseudonym;
use crate::scrub::text::begins_word;
use crate::scrub::text::ends_word;
use crate::scrub::text::key_of;
use crate::scrub::text::replace;
use crate::scrub::text::then;
use crate::scrub::titles::is_nobody;
use crate::scrub::titles::is_word;

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is fixed, and a test runs it")
}

const LOGIN: &str =
    r"(?P<name>[\p{L}_][\p{L}\p{N}_.\-]*)@(?P<host>[A-Za-z0-9][A-Za-z0-9_\-]{0,62}(?:\.[A-Za-z0-9\-]{1,63}){0,4})";

/// `name@host:~/src$`, `[name@host src]$`, `name@host src %`, `ssh name@host`.
static PROMPT: LazyLock<[Regex; 4]> = LazyLock::new(|| {
    [
        pattern(&format!(r"{LOGIN}(?P<rest>:[~/][^\s$#%>]{{0,200}}[$#%>])")),
        pattern(&format!(r"{LOGIN}(?P<rest> [^\s\]$#%]{{1,100}}\]?[ ]?[$#%])")),
        pattern(&format!(
            r"(?P<verb>\b(?:ssh|scp|sftp|rsync|mosh)(?: -[\w]+(?: [\w./~\-]+)?){{0,3}} ){LOGIN}(?P<rest>)"
        )),
        pattern(&format!(r"{LOGIN}(?P<rest>:~?/[\w./\-]{{0,200}})")),
    ]
});
/// Names that systems make up for a machine, mostly with the owner's name in them.
static HOST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?P<host>(?:DESKTOP|LAPTOP|WIN|PC)-[A-Z0-9]{5,12}|[\p{L}\p{N}]*[s]?-?(?:[\p{L}\p{N}]+-){0,3}(?:MacBook|MBP|iMac|Mac-mini|ThinkPad|iPhone|iPad)(?:-(?:Pro|Air|[0-9]{1,4})){0,3}(?:\.(?:local|lan|home))?|[A-Za-z0-9]{1,30}(?:-[A-Za-z0-9]{1,30}){1,5}\.(?:local|lan|home))",
    )
});
static UNAME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?P<verb>\b(?:Linux|Darwin) )(?P<host>[A-Za-z0-9][A-Za-z0-9_.\-]{1,62})(?P<rest> \d+\.\d+\.\d)")
});
static STREET: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b\d{1,5}[a-zA-Z]? (?:\p{Lu}[\p{L}.'\-]+ ){1,3}(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Terrace|Highway|Hwy)\b|\p{Lu}\p{Ll}{2,20}(?:straße|strasse|weg|platz|gasse|allee) \d{1,4}[a-z]?\b|(?:ул\.|улица|пр-т|проспект|переулок) ?\p{Lu}[\p{L}\-]+,? ?(?:д\.|дом)? ?\d{1,4}",
    )
});
static PLACE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?i)(?P<key>\b(?:lat(?:itude)?|lon(?:gitude)?|lng)\\?["']?\s{0,3}[:=]\s{0,3}\\?["']?)(?P<value>-?\d{1,3}\.\d{3,})"#,
    )
});

/// Hosts that tell nothing about anybody.
const NO_HOST: &[&str] = &[
    "localhost",
    "host",
    "github.com",
    "gitlab.com",
    "bitbucket.org",
    "server",
    "machine",
    "hostname",
    "myhost",
    "remote",
];

/// People by their prompts.
pub(super) fn clues(text: &str, found: &mut Vec<Clue>) {
    for captures in PROMPT[..3].iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let start = captures.name("name").map_or(0, |name| name.start());
        let (name, host) = (&captures["name"], &captures["host"]);
        if begins_word(&text[..start]) && !is_nobody(name) && !is_word(name) && !is_nobody_host(host) {
            found.push(Clue::handle(name));
        }
    }
}

/// Hosts that have a name of their own, in lower case.
pub(super) fn hosts(text: &str, found: &mut BTreeSet<String>) {
    let patterns = PROMPT[..3].iter().chain([&*UNAME]);
    for captures in patterns.flat_map(|pattern| pattern.captures_iter(text)) {
        let host = captures["host"].to_lowercase();
        let is_own = host.len() >= 6 && host.contains(['-', '.']) && host.contains(char::is_alphabetic);
        if is_own && !is_nobody_host(&host) {
            found.insert(host);
        }
    }
}

fn is_nobody_host(host: &str) -> bool {
    let lower = host.to_lowercase();
    NO_HOST.contains(&&*lower) || is_nobody(&lower) || lower.ends_with("example.com")
}

/// Whether the name of a host that a machine gave itself tells it from others.
pub(super) fn is_telling(host: &str) -> bool {
    /// Shorter names are parts of words of any text.
    const SHORTEST: usize = 4;
    host.len() >= SHORTEST && host.contains(char::is_alphabetic) && !is_nobody_host(host) && !is_word(host)
}

/// Replaces machines and places.
pub(super) fn scrub<'t>(
    people: &People,
    hosts: Option<&Regex>,
    text: &'t str,
    count: &mut dyn FnMut(),
) -> Cow<'t, str> {
    let mut text = Cow::Borrowed(text);
    for pattern in &*PROMPT {
        text = then(text, |text| {
            replace(text, pattern, |hit| {
                let (name, host) = (hit.group("name"), hit.group("host"));
                if is_nobody_host(host) && (is_nobody(name) || people.of_name(name).is_none())
                    || !begins_word(hit.before)
                    || hit.before.ends_with("//")
                {
                    return None;
                }
                let is_remote = matches!(name, "git" | "hg")
                    || hit.group("rest").starts_with(":/")
                        && !pattern_is_sure(hit.group("rest"))
                        && people.of_name(name).is_none();
                if is_remote {
                    return None;
                }
                count();
                let name = people.of_name(name).map_or(name.to_owned(), pseudonym);
                let verb = hit.captures.name("verb").map_or("", |verb| verb.as_str());
                let host = if is_nobody_host(host) { host } else { "host" };
                Some(format!("{verb}{name}@{host}{}", hit.group("rest")))
            })
        });
    }
    text = then(text, |text| {
        replace(text, &UNAME, |hit| {
            let host = hit.group("host");
            let new = (!is_nobody_host(host)).then(|| format!("{}host{}", hit.group("verb"), hit.group("rest")));
            new.inspect(|_| count())
        })
    });
    text = then(text, |text| {
        replace(text, &HOST, |hit| {
            let host = hit.group("host");
            // Names of products stand alone; a machine's name has more to it.
            let is_own = host.contains('-') || host.contains(".local");
            let is_product = key_of(host).starts_with("macbook") && !host.contains(".l")
                || host.starts_with("WIN-") && !host.contains(|c: char| c.is_ascii_digit());
            let apart = begins_word(hit.before) && ends_word(hit.after) && !hit.before.ends_with(['-', '_', '.', '/']);
            let goes_on = hit.after.starts_with('.') && hit.after[1..].starts_with(|c: char| c.is_alphanumeric());
            let new = (is_own && !is_product && apart && !goes_on).then(|| "host".to_owned());
            new.inspect(|_| count())
        })
    });
    if let Some(hosts) = hosts {
        text = then(text, |text| {
            replace(text, hosts, |hit| {
                let apart = begins_word(hit.before) && ends_word(hit.after);
                apart.then(|| "host".to_owned()).inspect(|_| count())
            })
        });
    }
    places(numbers::scrub(text, count), count)
}

/// Whether what follows a login is the end of a prompt.
fn pattern_is_sure(rest: &str) -> bool {
    rest.ends_with(['$', '#', '%', '>'])
}

fn places<'t>(text: Cow<'t, str>, count: &mut dyn FnMut()) -> Cow<'t, str> {
    let text = then(text, |text| {
        replace(text, &STREET, |hit| {
            // `30 Requests Drive the load`: what has an object is no street.
            let objects = [
                " the ", " a ", " an ", " this ", " our ", " their ", " its ", " it ", " to ",
            ];
            if objects.iter().any(|object| hit.after.starts_with(object)) {
                return None;
            }
            count();
            Some("[REDACTED_ADDRESS]".to_owned())
        })
    });
    then(text, |text| {
        replace(text, &PLACE, |hit| {
            let zero = "0.000";
            let new = (hit.group("value") != zero).then(|| format!("{}{zero}", hit.group("key")));
            new.inspect(|_| count())
        })
    })
}

/// A pattern for all hosts with a name of their own; none where there are none.
pub(super) fn pattern_of(hosts: &BTreeSet<String>) -> Option<Regex> {
    /// A session names a handful; more would only make the pattern slow.
    const MOST: usize = 500;
    if hosts.is_empty() {
        return None;
    }
    let mut hosts: Vec<String> = hosts.iter().take(MOST).map(|host| regex::escape(host)).collect();
    hosts.sort_by_key(|host| std::cmp::Reverse(host.len()));
    Regex::new(&format!("(?i){}", hosts.join("|"))).ok()
}
