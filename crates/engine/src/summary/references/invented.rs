//! Identifiers in a summary that nothing in its source has.

use std::collections::HashSet;

use crate::ledger::evidence::Class;
use crate::ledger::evidence::scan;

/// Shorter numbers are counts and sums, which a summary may well make itself.
const LEAST_DIGITS: usize = 4;

/// How many are listed; a text that invents more is bad enough.
const MOST: usize = 50;

/// Names that are spelled like symbols and that everybody knows.
const WELL_KNOWN: &str = "github gitlab gitea bitbucket javascript typescript openai chatgpt deepseek postgresql postgres mysql sqlite \
    mongodb dynamodb graphql websocket websockets youtube linkedin macos iphone ipad devops nodejs node.js next.js \
    vue.js fastapi pytorch tensorflow numpy scipy oauth webassembly intellij vscode wordpress powershell \
    dockerfile";

/// The paths, addresses, record ids, symbols, versions and long numbers of a summary that `is_known` does not know, in
/// order, each once.
pub fn invented(summary: &str, is_known: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut list = Vec::new();
    for one in scan(summary) {
        let name = &summary[one.range.clone()];
        if !is_claim(name, one.class) || !seen.insert(name) {
            continue;
        }
        if !is_known(name) && !is_known_otherwise(name, one.class, is_known) {
            list.push(name.to_owned());
            if list.len() >= MOST {
                break;
            }
        }
    }
    list
}

/// The names of a text that claim that something exists, in order.
pub(super) fn claimed(text: &str) -> impl Iterator<Item = &str> {
    let found = scan(text).into_iter().map(|one| (&text[one.range], one.class));
    found
        .filter(|(name, class)| is_claim(name, *class))
        .map(|(name, _)| name)
}

/// Whether an identifier claims that something exists.
fn is_claim(name: &str, class: Class) -> bool {
    match class {
        Class::Url | Class::Record => true,
        Class::Path => is_special_path(name),
        Class::Symbol => !name.starts_with("--") && !is_well_known(name),
        Class::Number => {
            let digits = name.bytes().filter(u8::is_ascii_digit).count();
            digits >= LEAST_DIGITS && name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
                || name.bytes().filter(|byte| *byte == b'.').count() >= 2
        }
    }
}

/// Whether everybody knows a name.
pub(super) fn is_well_known(name: &str) -> bool {
    WELL_KNOWN.split(' ').any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether a path is more than words with a slash between them, such as `request/response`.
fn is_special_path(path: &str) -> bool {
    let is_plain = |component: &str| component.bytes().all(|byte| byte.is_ascii_alphabetic());
    let components = path.split('/').filter(|component| !component.is_empty());
    path.starts_with(['/', '~', '.']) || !components.clone().all(is_plain) || components.count() > 3
}

/// Whether the source has it in other words.
fn is_known_otherwise(name: &str, class: Class, is_known: &dyn Fn(&str) -> bool) -> bool {
    match class {
        Class::Url => {
            let bare = name.trim_end_matches('/');
            is_known(bare) || is_known(&format!("{bare}/"))
        }
        // A name may be written with or without the module before it.
        Class::Symbol => name.contains('.') && name.split('.').all(|part| part.is_empty() || is_known(part)),
        Class::Number => {
            name.len() > 3 && name.bytes().all(|byte| byte.is_ascii_digit()) && {
                let head = name.len() - 3;
                head <= 3 && is_known(&name[head..]) && (head < 3 || is_known(&name[..head]))
            }
        }
        Class::Path => {
            let bare = name.trim_start_matches(['~', '.', '/']);
            bare.len() < name.len() && is_known(bare)
        }
        Class::Record => name.strip_prefix('#').is_some_and(is_known),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_said_is_named() {
        let known = ["src/auth.rs", "parse_header", "4096", "1.2.3", "abc1234", "src/auth"];
        let is_known = |name: &str| known.contains(&name);
        assert_eq!(
            invented(
                "src/auth.rs parse_header 4096 1.2.3 abc1234 src/auth/ GitHub request/response 12 and/or 404",
                &is_known
            ),
            Vec::<String>::new()
        );
        assert_eq!(
            invented(
                "see src/other.rs, parse_footer, 8192, 3.2.1, dead999, https://x.io/a and src/other.rs",
                &is_known
            ),
            [
                "src/other.rs",
                "parse_footer",
                "8192",
                "3.2.1",
                "dead999",
                "https://x.io/a"
            ]
        );
    }
}
