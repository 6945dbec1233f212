//! Mail addresses, and the names that stand beside them in commits, headers and configurations.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::scrub::people::Clue;
use crate::scrub::people::People;
use crate::scrub::people::numbered;
use crate::scrub::text::replace;
use crate::scrub::text::then;
use crate::scrub::titles::is_nobody;
use crate::scrub::titles::is_word;

/// What follows the last dot of files, units and expressions, and is no end of a host that mail goes to.
const ENDINGS: &[&str] = &[
    "js",
    "ts",
    "py",
    "rs",
    "md",
    "sh",
    "cc",
    "so",
    "rb",
    "go",
    "cs",
    "vb",
    "mm",
    "hs",
    "kt",
    "ex",
    "jl",
    "db",
    "gz",
    "xz",
    "bz",
    "png",
    "jpg",
    "jpeg",
    "gif",
    "svg",
    "webp",
    "ico",
    "avif",
    "bmp",
    "pdf",
    "json",
    "jsonl",
    "toml",
    "yaml",
    "yml",
    "xml",
    "html",
    "htm",
    "css",
    "scss",
    "txt",
    "csv",
    "log",
    "lock",
    "tgz",
    "tar",
    "zip",
    "whl",
    "jar",
    "exe",
    "dll",
    "dylib",
    "tsx",
    "jsx",
    "mjs",
    "cjs",
    "vue",
    "php",
    "java",
    "cpp",
    "hpp",
    "conf",
    "cfg",
    "ini",
    "env",
    "sql",
    "bak",
    "tmp",
    "patch",
    "diff",
    "service",
    "socket",
    "target",
    "timer",
    "mount",
    "slice",
    "device",
    "weight",
    "weights",
    "grad",
    "shape",
    "dtype",
    "transpose",
    "inverse",
    "conj",
    "real",
    "imag",
    "values",
    "value",
    "data",
    "matrix",
    "bias",
    "copy",
    "flatten",
    "dot",
    "sum",
    "mean",
    "setter",
    "getter",
    "deleter",
    "length",
    "size",
    "prototype",
    "mark",
    "fixture",
    "route",
    "command",
    "option",
    "task",
    "internals",
    "git",
    "class",
    "default",
    "exports",
    "min",
    "max",
];

// Counted repetitions of letters of all scripts would make the patterns too large to compile.
const LOCAL: &str = r"[\p{L}\p{N}_][\p{L}\p{N}._%+\-]*";
const DOMAIN: &str = r"(?:[\p{L}\p{N}][\p{L}\p{N}\-]*\.)+(?:xn--[a-z0-9\-]+|\p{L}\p{L}+)";
const AT: &str = r"(?:@|%40|\\u0040|&#64;| ?[\[(](?i:at)[\])] ?)";
const NAME: &str = r"[\p{L}\p{N}_][\p{L}\p{N}_.'’\-]*(?:[ ][\p{L}\p{N}_][\p{L}\p{N}_.'’\-]*){0,3}";

fn pattern(text: &str) -> Regex {
    let text = text.replace("MAIL", "(?P<mail>LOCAL@DOMAIN)");
    let text = text
        .replace("LOCAL", LOCAL)
        .replace("DOMAIN", DOMAIN)
        .replace("SPELLED", &format!("(?P<name>{NAME})"));
    Regex::new(&text.replace("AT_SIGN", AT)).expect("the pattern is fixed, and a test runs it")
}

static MAIL: LazyLock<Regex> = LazyLock::new(|| pattern("(?P<local>LOCAL)(?P<at>AT_SIGN)(?P<domain>DOMAIN)"));
static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"\\?"(?P<local>[\w.+\-]+(?: [\w.+\-]+){0,3})\\?"@(?P<domain>DOMAIN)"#));
/// A name and an address beside it, in the forms of git, mail, JSON and tables.
static BESIDE: LazyLock<[Regex; 5]> = LazyLock::new(|| {
    [
        pattern(r#"SPELLED["']? ?(?:<|\\u003c|&lt;|%3C)MAIL"#),
        pattern(r"SPELLED ?[|,;\t(] ?MAIL"),
        pattern(
            r#"(?i)"(?:name|author_name|authorName|full_?name)"\s{0,4}:\s{0,4}"SPELLED"\s{0,4},\s{0,12}"(?:e-?mail|author_email)"\s{0,4}:\s{0,4}"MAIL"#,
        ),
        pattern(r#"(?i)\bname\s{0,4}=\s{0,4}"?SPELLED"?\s{0,4}\n\s{0,12}email\s{0,4}=\s{0,4}"?MAIL"#),
        pattern(r#"(?i)user\.name[ =]{1,3}\\?["']?SPELLED\\?["']?[\s\S]{0,80}?user\.email[ =]{1,3}\\?["']?MAIL"#),
    ]
});
/// A name alone where it can be nothing else.
static ALONE: LazyLock<[Regex; 7]> = LazyLock::new(|| {
    [
        pattern(
            r"(?m)^\s{0,8}(?:Author|Commit|Committer|AuthorName|Co-authored-by|Signed-off-by|Reviewed-by|Acked-by|Tested-by|Reported-by): {1,8}SPELLED\s*$",
        ),
        pattern(
            r"\((?P<name>\p{Lu}[\p{L}.'’\-]+(?: \p{Lu}[\p{L}.'’\-]*){1,3}) +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4} +\d+\)",
        ),
        pattern(
            r#"(?i)(?:user\.name(?:\s{0,3}=\s{0,3}|\s)|GIT_(?:AUTHOR|COMMITTER)_NAME=)\\?["']?(?P<name>\p{L}[\p{L}\p{N}_.'’ \-]+)\\?["'\n]"#,
        ),
        pattern(r"(?:uid|gid|euid)=\d{3,6}\((?P<name>[a-z_][a-z0-9_.\-]+)\)"),
        pattern(r"(?m)^(?:export )?(?:USER|USERNAME|LOGNAME|SUDO_USER)=(?P<name>[\p{L}_][\p{L}\p{N}_.\-]+)\s*$"),
        pattern(r"Logged in to [\w.]{1,40} (?:as|account) (?P<name>[A-Za-z0-9][A-Za-z0-9\-]+)\b"),
        pattern(
            r#"(?i)"(?:full_?name|first_?name|last_?name|real_?name|given_?name|family_?name|sur_?name)"\s{0,4}:\s{0,4}"(?P<name>\p{L}[\p{L}.'’ \-]+)""#,
        ),
    ]
});

/// People by their addresses and the names beside them.
pub(super) fn clues(text: &str, found: &mut Vec<Clue>) {
    if text.contains('@') {
        for pattern in &*BESIDE {
            for captures in pattern.captures_iter(text) {
                beside(&captures["name"], &captures["mail"], found);
            }
        }
    }
    for captures in MAIL.captures_iter(text) {
        let Some(whole) = captures.get(0) else { continue };
        let (before, after) = (&text[..whole.start()], &text[whole.end()..]);
        let (_, local) = own_local(before, &captures["local"]);
        if is_mail(before, local, &captures["domain"], after) && !is_nobody(local) {
            let mut clue = Clue::id(&format!("{local}@{}", &captures["domain"]));
            clue.links.push(local.to_owned());
            if let Some(handle) = account_of(local, &captures["domain"]) {
                clue.names.extend(Clue::handle(handle).names);
            }
            found.push(clue);
        }
    }
    for pattern in &*ALONE {
        for captures in pattern.captures_iter(text) {
            let clue = Clue::default().with_name(captures["name"].trim());
            if !clue.names.is_empty() {
                found.push(clue);
            }
        }
    }
}

fn beside(spelled: &str, mail: &str, found: &mut Vec<Clue>) {
    let Some((local, domain)) = mail.split_once('@') else {
        return;
    };
    if !is_mail("", local, domain, "") || is_nobody(local) {
        return;
    }
    let mut clue = Clue::id(mail).with_name(&name_of(spelled));
    if let Some(handle) = account_of(local, domain).or_else(|| (!is_word(local)).then_some(local)) {
        clue.names.extend(Clue::handle(handle).names);
    }
    found.push(clue);
}

/// The name at the end of some words: those with capital letters, or all but what introduces it.
fn name_of(words: &str) -> String {
    const INTRODUCING: &[&str] = &[
        "author",
        "committer",
        "tagger",
        "by",
        "from",
        "to",
        "cc",
        "and",
        "name",
        "mail",
    ];
    let words: Vec<&str> = words.split(' ').collect();
    let starts = |word: &&str| word.starts_with(char::is_uppercase);
    let capital = words.iter().rev().take_while(|word| starts(word)).count();
    let from = match capital {
        0 => words
            .iter()
            .rposition(|word| INTRODUCING.contains(word))
            .map_or(words.len() - 1, |at| at + 1),
        count => words.len() - count,
    };
    words[from.min(words.len())..].join(" ")
}

/// The handle in an address that is surely one: a first and a last name, or the name of an account.
fn account_of<'m>(local: &'m str, domain: &str) -> Option<&'m str> {
    if domain.eq_ignore_ascii_case("users.noreply.github.com") {
        return Some(local.rsplit('+').next().unwrap_or(local));
    }
    let name = local.split('+').next().unwrap_or(local);
    let parts: Vec<&str> = name.split(['.', '_', '-']).collect();
    let is_name = parts.len() >= 2
        && parts
            .iter()
            .all(|part| !part.is_empty() && part.chars().all(char::is_alphanumeric))
        && !parts.iter().any(|part| is_nobody(part));
    is_name.then_some(name)
}

/// The local part without what an escape before it left glued to it, and that.
fn own_local<'m>(before: &str, local: &'m str) -> (&'m str, &'m str) {
    let glued = match local
        .rfind('%')
        .filter(|at| local.len() >= at + 3 && local.is_char_boundary(at + 3))
    {
        Some(at) => at + 3,
        None if before.ends_with('\\') && local.starts_with(['n', 'r', 't', 'b', 'f']) => 1,
        None if before.ends_with('%') && local.len() > 2 && local.is_char_boundary(2) => 2,
        None => 0,
    };
    local.split_at(if glued < local.len() { glued } else { 0 })
}

fn is_mail(before: &str, local: &str, domain: &str, after: &str) -> bool {
    let top = domain.rsplit('.').next().unwrap_or("").to_lowercase();
    let first = domain.split('.').next().unwrap_or("");
    // `tool@1.0.beta`, `action@v4.x`, `logo@2x.png`, `x@self.weight`: a version, a size, an expression.
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_version = first.strip_prefix('v').is_some_and(is_digits)
        || is_digits(first)
            && domain
                .split('.')
                .nth(1)
                .is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit()));
    let is_expression = matches!(first, "self" | "this" | "np" | "torch" | "jnp" | "pytest" | "app");
    let is_remote = after.starts_with(':') && matches!(local, "git" | "hg" | "svn");
    let is_escape = before.ends_with('\\') && matches!(local, "n" | "r" | "t");
    !ENDINGS.contains(&&*top)
        && !is_version
        && !is_expression
        && !is_remote
        && !is_escape
        && !in_address(before)
        && !after.starts_with('(')
        && !is_example(domain)
}

/// How many characters before a host may say who logs in there.
const LONGEST_LOGIN: usize = 200;

/// Whether what follows is the login of an address of the web: `mysql://root:password@host`.
pub(super) fn in_address(before: &str) -> bool {
    let from = before.char_indices().rev().nth(LONGEST_LOGIN).map_or(0, |(at, _)| at);
    let ends = |c: char| c.is_whitespace() || "/?#\"'<>@(),".contains(c);
    before[from..]
        .rfind("://")
        .is_some_and(|at| !before[from + at + 3..].contains(ends))
}

/// Domains that documentation is free to use.
fn is_example(domain: &str) -> bool {
    let lower = domain.to_lowercase();
    let last = lower.rsplit('.').next().unwrap_or("");
    matches!(last, "example" | "test" | "invalid")
        || ["example.com", "example.org", "example.net"].iter().any(|example| {
            lower
                .strip_suffix(example)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
}

/// Replaces addresses. The names beside them go with all other names.
pub(super) fn scrub<'t>(people: &People, text: &'t str, count: &mut dyn FnMut()) -> Cow<'t, str> {
    let text = replace(text, &QUOTED, |hit| {
        let is_ours = is_mail(hit.before, hit.group("local"), hit.group("domain"), hit.after);
        is_ours
            .then(|| "contributor@example.com".to_owned())
            .inspect(|_| count())
    });
    then(text, |text| bare(people, text, count))
}

fn bare<'t>(people: &People, text: &'t str, count: &mut dyn FnMut()) -> Cow<'t, str> {
    replace(text, &MAIL, |hit| {
        let (glued, local) = own_local(hit.before, hit.group("local"));
        let domain = hit.group("domain");
        if !is_mail(hit.before, local, domain, hit.after) {
            return None;
        }
        count();
        let name = match people.of_id(&format!("{local}@{domain}")) {
            Some(number) => numbered("contributor", number),
            // Digits alone are a phone number with many messengers.
            None if is_nobody(local) && local.contains(char::is_alphabetic) => local.to_lowercase(),
            None => "contributor".to_owned(),
        };
        Some(format!("{glued}{name}{}example.com", hit.group("at")))
    })
}
