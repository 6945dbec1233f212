//! People by the records that programs keep of them: JSON of platforms, notices of copyright, notes in code, listings of files and
//! processes.

use std::sync::LazyLock;

use regex::Regex;

use crate::scrub::people::Clue;
use crate::scrub::titles::is_nobody;
use crate::scrub::titles::is_tag;

fn pattern(text: &str) -> Regex {
    let text = text
        .replace(
            "FULL",
            r"(?P<name>\p{Lu}[\p{L}'’\-]+(?: \p{Lu}\.?)?(?: \p{Lu}[\p{L}'’\-]+){1,2})",
        )
        .replace("QUOTE", r#"\\{0,2}""#)
        .replace("FIELDS", r#"(?:\s*"\w+"\s*:\s*(?:"[^"\n]*"|[\w.\-]+)\s*,){0,6}\s*"#);
    Regex::new(&text).expect("the pattern is fixed, and a test runs it")
}

/// Handles: what stands under these keys is an account's name and nothing else.
static HANDLES: LazyLock<[Regex; 4]> = LazyLock::new(|| {
    [
        pattern(
            r#"QUOTE(?:login|username|user_name|screen_name)QUOTE\s{0,4}:\s{0,4}QUOTE(?P<name>[\p{L}\p{N}_][\p{L}\p{N}_.\-]+)\\{0,2}""#,
        ),
        pattern(r"\b(?:TO[D]O|FIX[M]E|XX[X]|HACK)\(@?(?P<name>[a-z][a-z0-9_.\-]+)\)"),
        pattern(r"(?m)^[\-dlbcps][rwxsStT\-]{9}[.+@]?\s+\d+\s+(?P<name>[a-z_][a-z0-9_.\-]*)\s+[\w.\-]+\s+[\d,]+"),
        pattern(r"(?m)^(?P<name>[a-z_][a-z0-9_.\-]*)\+?\s+\d+\s+\d+\.\d\s+\d+\.\d\s+\d+\s+\d+\s"),
    ]
});
/// Names as people write them.
static NAMES: LazyLock<[Regex; 6]> = LazyLock::new(|| {
    [
        pattern(
            r#"QUOTE(?:global_name|display_?name|displayName|real_name|realName)QUOTE\s{0,4}:\s{0,4}QUOTE(?P<name>\p{L}[\p{L}\p{N}_.'’\- ]+)\\{0,2}""#,
        ),
        pattern(r#""(?:login|email|username)"\s*:\s*"[^"\n]*"\s*,FIELDS"name"\s*:\s*"(?P<name>\p{Lu}[\p{L}.'’\- ]+)""#),
        pattern(r#""name"\s*:\s*"(?P<name>\p{Lu}[\p{L}.'’\- ]+)"\s*,FIELDS"(?:login|email|username)"\s*:"#),
        pattern(r"(?i:copyright)(?: \([cC]\)| ©)? \d{4}(?:\s?[-–,]\s?(?:\d{4}|present))*,? (?:by )?FULL"),
        pattern(r"@author:? FULL"),
        pattern(r"(?m)(?i:\b(?:assignee|assigned to|reviewer|reporter|reported by|author|owner)):[ \t]*FULL[ \t]*$"),
    ]
});

/// Words of makers that are no persons.
const MAKERS: &[&str] = &[
    "inc",
    "llc",
    "ltd",
    "gmbh",
    "foundation",
    "authors",
    "contributors",
    "corporation",
    "corp",
    "team",
    "project",
    "software",
    "research",
    "labs",
    "lab",
    "technologies",
    "systems",
    "company",
    "university",
    "institute",
    "group",
    "free",
    "community",
    "developers",
    "all",
    "rights",
    "the",
    "bot",
    "platforms",
    "international",
    "limited",
    "ag",
    "committee",
    "consortium",
    "media",
    "networks",
    "solutions",
];

/// Accounts that systems make for themselves and topics of notes in code, besides those that are nobody's.
const ACCOUNTS: &[&str] = &[
    "perf",
    "later",
    "soon",
    "refactor",
    "cleanup",
    "fix",
    "feat",
    "bug",
    "ui",
    "optimize",
    "style",
    "chore",
    "release",
    "feature",
    "dbus",
    "messagebus",
    "syslog",
    "ntp",
    "sshd",
    "rtkit",
    "avahi",
    "polkitd",
    "chrony",
    "lp",
    "kernoops",
    "colord",
    "gdm",
    "wheel",
    "uucp",
    "irc",
    "gnats",
    "list",
    "man",
    "news",
    "proxy",
    "games",
    "sync",
    "backup",
    "landscape",
    "tcpdump",
    "uuidd",
    "statd",
    "rpc",
    "saned",
    "geoclue",
    "whoopsie",
    "usbmux",
    "libvirt",
    "dnsmasq",
    "http",
    "caddy",
    "memcache",
    "haproxy",
    "named",
    "bind",
    "postfix",
    "dovecot",
    "clickhouse",
];

/// Whether an account is a person's.
pub(super) fn is_account(name: &str) -> bool {
    let lower = name.to_lowercase();
    let is_system = lower.starts_with(['_', '.']) || lower.starts_with("systemd") || ACCOUNTS.contains(&&*lower);
    !is_system && !is_nobody(name) && !is_tag(name) && name.contains(char::is_alphabetic) && !lower.starts_with("user")
}

/// People in a text.
pub(super) fn clues(text: &str, found: &mut Vec<Clue>) {
    for captures in HANDLES.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        if is_account(&captures["name"]) {
            found.push(Clue::handle(&captures["name"]));
        }
    }
    for captures in NAMES.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let name = captures["name"].trim();
        let is_maker = name
            .split_whitespace()
            .any(|word| MAKERS.contains(&word.to_lowercase().trim_end_matches('.')));
        let clue = Clue::default().with_name(name);
        if !is_maker && !clue.names.is_empty() && is_account(name) {
            found.push(clue);
        }
    }
}

/// What a command asks a machine about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Who is logged in.
    Account,
    /// What it is called.
    Host,
}

/// What the lines of a command's output are; none where it does anything else.
pub(super) fn asked(command: &str) -> Option<Vec<Asked>> {
    let steps = command
        .split(['&', ';', '\n'])
        .map(str::trim)
        .filter(|step| !step.is_empty());
    let kinds = steps.map(|step| match step {
        "whoami" | "id -un" | "logname" => Some(Asked::Account),
        "hostname" | "hostname -f" | "hostname -s" | "uname -n" => Some(Asked::Host),
        _ => None,
    });
    kinds.collect::<Option<Vec<Asked>>>().filter(|kinds| !kinds.is_empty())
}
