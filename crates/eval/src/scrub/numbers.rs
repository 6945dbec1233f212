//! Public addresses of machines that only the words around them tell from versions.

use core::net::Ipv4Addr;
use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::scrub::text::Hit;
use crate::scrub::text::replace;
use crate::scrub::text::then;

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is fixed, and a test runs it")
}

static FOUR: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}\b"));
/// Names that clouds make of addresses.
static NAMED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\bec2-(?P<four>[0-9]{1,3}(?:-[0-9]{1,3}){3})(?:\.[a-z0-9\-]+)*\b"));
static PORT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?::[0-9]{2,5}\b| port [0-9])"));
/// Words right before an address.
static SAID: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:server|host|ip|ips|address|addr|ssh|ping|curl|client|remote|dns|node|vm|vps|box|instance|machine|gateway|inet|connect(?:ed|ing)? to|login from|connection from|peer|endpoint|nameserver)(?: (?:at|is|on|to|of|from|with|ip|address))?[ :=(\x22'`]{1,3}$",
    )
});

/// How many characters before an address can say that it is one.
const LOOK_BACK: usize = 40;

fn is_public(address: Ipv4Addr) -> bool {
    let [a, b, ..] = address.octets();
    let everybodys = matches!(
        address.octets(),
        [8, 8, 8, 8] | [8, 8, 4, 4] | [1, 1, 1, 1] | [1, 0, 0, 1] | [9, 9, 9, 9] | [1, 2, 3, 4]
    );
    let reserved =
        address.is_private() || address.is_loopback() || address.is_link_local() || address.is_documentation();
    !(reserved
        || everybodys
        || a == 0
        || a >= 224
        || (a == 100 && (64..128).contains(&b))
        || (a == 198 && (b == 18 || b == 19)))
}

fn is_address(hit: &Hit<'_, '_>) -> bool {
    let from = hit.before.char_indices().rev().nth(LOOK_BACK).map_or(0, |(at, _)| at);
    let inside = hit
        .before
        .ends_with(|c: char| c.is_alphanumeric() || "./-_+~^@".contains(c))
        && !hit.before.ends_with("//")
        || hit.after.starts_with(['-', '_', '+'])
        || hit
            .after
            .strip_prefix('.')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let public = hit.whole().parse().is_ok_and(is_public);
    public && !inside && (PORT.is_match(hit.after) || SAID.is_match(&hit.before[from..]))
}

/// Whether four numbers are a version after all: the word before them says so, or is no word of machines and all of them are small.
pub(super) fn is_version(before: &str, value: &str, after: &str) -> bool {
    /// Parts of versions of packages are hardly ever larger; addresses mostly have one that is.
    const SMALL: u8 = 20;
    let Ok(address) = value.parse::<Ipv4Addr>() else {
        return false;
    };
    let from = before.char_indices().rev().nth(LOOK_BACK).map_or(0, |(at, _)| at);
    let near = &before[from..];
    let Some(words) = near.strip_suffix(' ').filter(|_| !PORT.is_match(after)) else {
        return false;
    };
    let last = words
        .rsplit(|c: char| c.is_whitespace())
        .next()
        .unwrap_or("")
        .to_lowercase();
    let said = matches!(
        &*last,
        "kernel" | "section" | "chapter" | "version" | "release" | "build" | "§"
    );
    let small = address.octets().iter().all(|part| *part < SMALL);
    let bare = last.chars().count() > 2 && last.chars().all(|c| c.is_alphanumeric() || "-_".contains(c));
    said || small && bare && !SAID.is_match(near)
}

/// Replaces public addresses.
pub(super) fn scrub<'t>(text: Cow<'t, str>, count: &mut dyn FnMut()) -> Cow<'t, str> {
    let text = then(text, |text| {
        replace(text, &FOUR, |hit| {
            is_address(&hit)
                .then(|| "[REDACTED_IP]".to_owned())
                .inspect(|_| count())
        })
    });
    then(text, |text| {
        replace(text, &NAMED, |hit| {
            let public = hit.group("four").replace('-', ".").parse().is_ok_and(is_public);
            public.then(|| "host".to_owned()).inspect(|_| count())
        })
    })
}
