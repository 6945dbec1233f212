//! What people, machines and secrets look like. Wide on purpose: a false alarm costs a look, a miss costs somebody's name.

use core::net::Ipv4Addr;
use std::sync::LazyLock;

use regex::Match;
use regex::Regex;

type Check = fn(text: &str, found: Match<'_>) -> bool;

struct Row {
    kind: &'static str,
    pattern: Regex,
    holds: Check,
    /// Only in what the model said.
    of_model: bool,
}

fn row(kind: &'static str, pattern: &str, holds: Check) -> Row {
    Row {
        kind,
        pattern: Regex::new(pattern).expect("the pattern is fixed, and a test runs it"),
        holds,
        of_model: kind == "reasoning",
    }
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    vec![
        row(
            "mail",
            r"[\p{L}\p{N}._+\-]+\x22?@(?:[\p{L}\p{N}\-]+\.)+(?:xn--[a-z0-9\-]+|\p{L}\p{L}+)",
            is_mail,
        ),
        row(
            "mention",
            r"(?i)\b(?:cc|hey|thanks|ping|(?:review|report|request|approv|assign|suggest)ed by)[: ]{1,2}@[a-z0-9][a-z0-9_.\-]{2,38}",
            anything,
        ),
        row(
            "home",
            r"(?:/|\\)(?:home|Users)(?:/|\\{1,4})[A-Za-z0-9_][A-Za-z0-9_.\-]*(?:/|\\)",
            is_home,
        ),
        row(
            "home",
            r"(?:^|[\s/\x22'])-(?:home|Users)-[A-Za-z0-9_]+-",
            is_dashed_home,
        ),
        row(
            "phone",
            r"\+[1-9][0-9]{0,2}[ .\-]?\(?[0-9]{1,4}\)?(?:[ .\-]?[0-9]{2,4}){2,4}",
            is_phone,
        ),
        row("phone", r"\([2-9][0-9]{2}\) ?[0-9]{3}-[0-9]{4}", apart),
        row(
            "phone",
            r"\b[2-9][0-9]{2}[ .\-][0-9]{3}[ .\-][0-9]{4}\b",
            said_to_be_phone,
        ),
        row("address", r"\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}\b", is_public),
        row("hardware", r"\b(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}\b", is_hardware),
        row(
            "card",
            r"\b[3-6][0-9]{3}(?:[ \-][0-9]{4}){3}\b|\b[3-6][0-9]{3}[ \-][0-9]{6}[ \-][0-9]{5}\b",
            is_card,
        ),
        row(
            "document",
            r"(?i)\b(?:ssn|social security)[^0-9\n]{1,20}[0-9]{3}-[0-9]{2}-[0-9]{4}\b",
            anything,
        ),
        row("mention", r"<@[!&]?[^>\s]{2,80}>", is_mention),
        row("reasoning", r"(?i)</?(?:think|thinking|reasoning_scratchpad)>", is_tag),
        row(
            "login",
            r"\b[A-Za-z_][A-Za-z0-9_.\-]{0,31}@[A-Za-z0-9][A-Za-z0-9.\-]{0,62}:(?:~|/)[^\s$#]{0,100}[$#]",
            is_login,
        ),
        row(
            "host",
            r"\b[A-Za-z0-9]+s?-(?:MacBook|MBP|iMac|ThinkPad)[A-Za-z0-9\-]*(?:\.local)?|\b(?:DESKTOP|LAPTOP)-[A-Z0-9]{6,8}\b",
            anything,
        ),
        row(
            "street",
            r"\b[0-9]{1,5} (?:[A-Z][a-z]+ ){1,3}(?:Street|Avenue|Boulevard|Road|Lane|Drive)\b",
            is_street,
        ),
        row(
            "place",
            r"(?i)\b(?:lat|latitude|lon|lng|longitude)\W{1,6}-?[0-9]{1,3}\.[0-9]{4,}",
            anything,
        ),
        row(
            "secret",
            r"\b(?:sk-[A-Za-z0-9_\-]{24,}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,}|glpat-[A-Za-z0-9_\-]{18,}|xox[abprs]-[A-Za-z0-9\-]{20,}|AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_\-]{33,}|npm_[A-Za-z0-9]{34,}|hf_[A-Za-z0-9]{30,}|[sr]k_live_[A-Za-z0-9]{20,}|[0-9]{8,10}:AA[A-Za-z0-9_\-]{32,}|eyJ[A-Za-z0-9_\-]{12,}\.eyJ[A-Za-z0-9_\-]{12,}\.[A-Za-z0-9_\-]{10,})",
            is_random,
        ),
        row(
            "secret",
            r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----(?:\\n|\s){1,4}[A-Za-z0-9+/=]{40,}",
            anything,
        ),
        row(
            "secret",
            r"(?i)\b(?:api[_\-]?key|access[_\-]?token|auth[_\-]?token|secret|passw(?:or)?d|bearer)\W{1,4}[A-Za-z0-9+/_\-]{24,}={0,2}",
            is_random,
        ),
    ]
});

/// Finds everything: where it begins and ends, and what it looks like.
pub(super) fn find(text: &str, by_model: bool, note: &mut dyn FnMut(usize, usize, &'static str)) {
    for row in ROWS.iter().filter(|row| by_model || !row.of_model) {
        for found in row.pattern.find_iter(text) {
            if (row.holds)(text, found) {
                note(found.start(), found.end(), row.kind);
            }
        }
    }
}

fn anything(_: &str, _: Match<'_>) -> bool {
    true
}

fn before<'t>(text: &'t str, found: &Match<'_>) -> &'t str {
    &text[..found.start()]
}

/// The last characters before a match, in lower case.
fn near(text: &str, found: &Match<'_>) -> String {
    let before = before(text, found);
    let from = before.char_indices().rev().nth(24).map_or(0, |(at, _)| at);
    before[from..].to_lowercase()
}

fn apart(text: &str, found: Match<'_>) -> bool {
    !before(text, &found).ends_with(|c: char| c.is_alphanumeric())
        && !text[found.end()..].starts_with(|c: char| c.is_alphanumeric())
}

fn is_mail(text: &str, found: Match<'_>) -> bool {
    let files = concat!(
        " js ts py rs md sh cc so rb go cs vb mm hs kt ex jl db gz xz bz png jpg jpeg gif svg webp ico avif bmp pdf json jsonl toml yaml yml ",
        "xml html htm css scss txt csv log lock tgz tar zip whl jar exe dll dylib tsx jsx mjs cjs vue php java cpp hpp conf cfg ini env sql bak ",
        "tmp patch diff service socket target timer mount slice device weight weights grad shape dtype transpose inverse conj real imag ",
        "values value data matrix bias copy flatten dot sum mean setter getter deleter length size prototype mark fixture route command ",
        "option task internals git class default exports min max "
    );
    let Some((name, host)) = found.as_str().split_once('@') else {
        return false;
    };
    let host = host.to_lowercase();
    let first = host.split('.').next().unwrap_or("");
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_version = first.strip_prefix('v').is_some_and(is_digits)
        || is_digits(first)
            && host
                .split('.')
                .nth(1)
                .is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit()));
    let is_code = is_version || matches!(first, "self" | "this" | "np" | "torch" | "jnp" | "pytest" | "app");
    let end = host.rsplit('.').next().unwrap_or("");
    let is_example = ["example.com", "example.org", "example.net"]
        .iter()
        .any(|known| host.ends_with(known))
        || matches!(end, "test" | "invalid" | "example");
    // After a backslash the first letter is an escape's.
    let name = name
        .get(usize::from(before(text, &found).ends_with('\\'))..)
        .unwrap_or(name);
    let is_remote = matches!(name, "git" | "hg" | "svn") && text[found.end()..].starts_with(':');
    // The login of an address of the web.
    let token = before(text, &found)
        .rsplit(|c: char| c.is_whitespace() || "\"'<>(),?#".contains(c))
        .next()
        .unwrap_or("");
    let in_address = token
        .rsplit_once("://")
        .is_some_and(|(_, login)| !login.contains(['/', '@']));
    !is_example
        && !is_remote
        && !is_code
        && !in_address
        && !name.is_empty()
        && !files.contains(&format!(" {end} "))
        && !text[found.end()..].starts_with('(')
}

/// Names of home directories that are nobody's.
fn is_fine(name: &str) -> bool {
    const FINE: &[&str] = &[
        "user",
        "users",
        "username",
        "runner",
        "root",
        "ubuntu",
        "node",
        "app",
        "vscode",
        "codespace",
        "git",
        "agent",
        "admin",
        "administrator",
        "public",
        "shared",
        "default",
        "vagrant",
        "jovyan",
        "linuxbrew",
        "circleci",
        "jenkins",
        "postgres",
        "www-data",
        "ec2-user",
        "sandbox",
        "openhands",
        "claude",
        "coder",
        "gitpod",
        "dev",
        "developer",
        "test",
        "testuser",
        "example",
        "builder",
        "you",
        "me",
        "name",
        "yourname",
        "your-name",
        "your_username",
        "xxx",
        "project",
        "projects",
        "workspace",
        "appuser",
        "pi",
        "docker",
        "foo",
        "bar",
        "runneradmin",
        "hermes",
        "codex",
        "service",
    ];
    let lower = name.to_lowercase();
    let stem = lower
        .trim_end_matches(|c: char| c.is_ascii_digit())
        .trim_end_matches(['-', '_']);
    stem.is_empty() || FINE.contains(&&*lower) || FINE.contains(&stem)
}

fn is_home(text: &str, found: Match<'_>) -> bool {
    let whole = found.as_str().trim_end_matches(['/', '\\']);
    let name = whole.rsplit(['/', '\\']).next().unwrap_or("");
    // In the middle of a path it is a directory like any other.
    let before = before(text, &found);
    let inside = before.ends_with(|c: char| c.is_alphanumeric() || "_.-)}]~$@".contains(c))
        && !before.ends_with("/mnt/c")
        && !before.ends_with("/c");
    !inside && !is_fine(name) && name.contains(|c: char| c.is_alphabetic())
}

fn is_dashed_home(_: &str, found: Match<'_>) -> bool {
    let name = found.as_str().trim_end_matches('-').rsplit('-').next().unwrap_or("");
    !is_fine(name) && name.len() > 2 && name != "page"
}

fn is_phone(text: &str, found: Match<'_>) -> bool {
    let digits = found.as_str().bytes().filter(u8::is_ascii_digit).count();
    let before = before(text, &found);
    // At the start of a line a plus is a diff's; after a digit or letter it is a sum's, in an address or a random string.
    let begins = before.is_empty() || before.ends_with([' ', '"', '\'', ':', '(', '=']);
    let in_line = !before.rsplit('\n').next().unwrap_or("").trim().is_empty();
    (10..=15).contains(&digits) && begins && in_line && apart(text, found)
}

fn said_to_be_phone(text: &str, found: Match<'_>) -> bool {
    let near = near(text, &found);
    ["phone", "tel", "mobile", "call ", "whatsapp", "fax"]
        .iter()
        .any(|word| near.contains(word))
        && apart(text, found)
}

fn is_public(text: &str, found: Match<'_>) -> bool {
    let Ok(address) = found.as_str().parse::<Ipv4Addr>() else {
        return false;
    };
    let [a, b, c, _] = address.octets();
    let reserved =
        a == 0 || a == 10 || a == 127 || a >= 224 || (a == 172 && (16..32).contains(&b)) || (a == 192 && b == 168);
    let reserved = reserved || (a == 169 && b == 254) || (a == 100 && (64..128).contains(&b));
    let documentation =
        (a, b, c) == (192, 0, 2) || (a, b, c) == (198, 51, 100) || (a, b, c) == (203, 0, 113) || (a, b) == (198, 18);
    let everybodys = matches!(
        address.octets(),
        [8, 8, 8, 8] | [8, 8, 4, 4] | [1, 1, 1, 1] | [1, 0, 0, 1] | [9, 9, 9, 9] | [1, 2, 3, 4]
    );
    let before = before(text, &found);
    let in_version = before.ends_with(|c: char| c.is_alphanumeric() || "./-_+~^@".contains(c))
        && !before.ends_with("//")
        || text[found.end()..].starts_with(|c: char| c.is_alphanumeric() || "-_+".contains(c))
        || text[found.end()..]
            .strip_prefix('.')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let near = near(text, &found);
    let said = [
        "version", "ver ", "v.", "chrome", "release", "build", "oid", "==", "kernel", "section", "chapter", "§",
    ]
    .iter()
    .any(|word| near.contains(word));
    // Small numbers after a bare word are those of a package, unless a port follows or the word is a machine's.
    let machine = ["server", "host", "ip", "addr", "ssh", "ping", "node", "machine", "//"]
        .iter()
        .any(|word| near.contains(word));
    let small = address.octets().iter().all(|part| *part < 20) && !machine && !text[found.end()..].starts_with(':');
    let small = small && near.ends_with(' ') && near.trim_end().ends_with(|c: char| c.is_alphanumeric());
    !(reserved || documentation || everybodys || in_version || said || small)
}

fn is_street(text: &str, found: Match<'_>) -> bool {
    let after = &text[found.end()..];
    !["the", "a", "an", "this", "our", "their", "its", "it", "to"]
        .iter()
        .any(|word| {
            after
                .strip_prefix(' ')
                .and_then(|rest| rest.strip_prefix(word))
                .is_some_and(|rest| rest.starts_with(' '))
        })
}

fn is_hardware(text: &str, found: Match<'_>) -> bool {
    let blank = found
        .as_str()
        .bytes()
        .all(|byte| matches!(byte, b'0' | b':' | b'f' | b'F'));
    let longer = before(text, &found).ends_with(':') || text[found.end()..].starts_with(':');
    !blank && !longer
}

fn is_card(_: &str, found: Match<'_>) -> bool {
    let digits: Vec<u32> = found.as_str().chars().filter_map(|c| c.to_digit(10)).collect();
    let doubled = digits.iter().rev().enumerate().map(|(at, digit)| match at % 2 {
        0 => *digit,
        _ if *digit > 4 => digit * 2 - 9,
        _ => digit * 2,
    });
    doubled.sum::<u32>() % 10 == 0
}

fn is_mention(_: &str, found: Match<'_>) -> bool {
    let inside = found
        .as_str()
        .trim_start_matches(['<', '@', '!', '&'])
        .trim_end_matches('>');
    let is_ours = inside == "user"
        || inside
            .strip_prefix("user-")
            .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    let is_slack = inside.starts_with(['U', 'W'])
        && inside.len() >= 7
        && inside.split('|').next().is_some_and(|id| {
            id.bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        });
    !is_ours && (is_slack || inside.len() >= 5 && inside.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a tag is used, and not spoken of.
fn is_tag(text: &str, found: Match<'_>) -> bool {
    !before(text, &found).ends_with(['`', '"', '\'', '(', '«', '“']) && !found.as_str().starts_with("</")
}

fn is_login(_: &str, found: Match<'_>) -> bool {
    let (name, rest) = found.as_str().split_once('@').unwrap_or_default();
    let host = rest.split(':').next().unwrap_or("");
    !(matches!(
        host,
        "host" | "localhost" | "hostname" | "server" | "machine" | "remote"
    ) || host.ends_with("example.com")
        || (name == "git" && host.contains('.'))
        || is_fine(host))
}

/// Whether the longest run of a match is random enough to be a secret: letters of both cases and digits, and few of them twice.
fn is_random(_: &str, found: Match<'_>) -> bool {
    let runs = found.as_str().split(|c: char| !c.is_ascii_alphanumeric());
    let run = runs.max_by_key(|run| run.len()).unwrap_or("");
    let mut seen: Vec<u8> = run.bytes().collect();
    seen.sort_unstable();
    seen.dedup();
    let has = |test: fn(&u8) -> bool| seen.iter().any(test);
    let lower = found.as_str().to_lowercase();
    let is_stand_in = [
        "example",
        "xxxx",
        "12345678",
        "abcdef",
        "placeholder",
        "your",
        "fake",
        "dummy",
        "test",
        "redacted",
    ]
    .iter()
    .any(|word| lower.contains(word));
    let words = found.as_str().contains("credential_ref");
    run.len() >= 16
        && seen.len() >= 12
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !is_stand_in
        && !words
}
