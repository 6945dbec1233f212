//! Which names of a summary stand somewhere in its source, however they are spelled there: behind an escaped line break, without a
//! scheme, with separators of thousands, below a folder.

use std::collections::HashSet;

use aho_corasick::AhoCorasick;

use super::invented::claimed;

/// The names of a summary, as they are spelled in it, that texts of the source have. One search over each text finds them all.
pub fn seen_names<'a>(summary: &str, texts: impl Iterator<Item = &'a str>) -> HashSet<String> {
    let names: HashSet<&str> = summary.lines().flat_map(claimed).collect();
    let spelled: Vec<(&str, String)> = names
        .iter()
        .flat_map(|name| spellings(name).into_iter().map(move |spelling| (*name, spelling)))
        .collect();
    let mut seen = HashSet::new();
    let patterns = spelled.iter().map(|(_, spelling)| spelling);
    // Fails only for automata of gigabytes; then nothing more is known.
    let Ok(search) = AhoCorasick::builder().ascii_case_insensitive(true).build(patterns) else {
        return seen;
    };
    if spelled.is_empty() {
        return seen;
    }
    for text in texts {
        for found in search.find_overlapping_iter(text) {
            let (name, _) = spelled[found.pattern().as_usize()];
            if !seen.contains(name) && stands_apart(text, found.start(), found.end()) {
                seen.insert(name.to_owned());
            }
        }
    }
    seen
}

/// How a source may spell a name.
fn spellings(name: &str) -> Vec<String> {
    let mut spellings = vec![name.to_owned()];
    let bare = name.trim_end_matches('/');
    if let Some((_, rest)) = bare.split_once("://") {
        spellings.push(rest.to_owned());
    }
    let relative = bare.trim_start_matches(['~', '.', '/']);
    if relative.len() < name.len() && relative.len() > 3 {
        spellings.push(relative.to_owned());
    }
    // A path in full, where the source tells it from the folder that the work is done in.
    let mut folders = relative.match_indices('/').map(|(at, _)| &relative[at + 1..]);
    if name.starts_with(['/', '~']) {
        spellings.extend(folders.by_ref().filter(|end| end.contains('/')).map(str::to_owned));
    }
    if name.len() > 3 && name.bytes().all(|byte| byte.is_ascii_digit()) {
        spellings.extend([",", "_", " ", "\u{a0}", "\u{202f}", ".", "'"].map(|sign| grouped(name, sign)));
    }
    spellings
}

/// A number with separators of thousands.
fn grouped(number: &str, sign: &str) -> String {
    let first = match number.len() % 3 {
        0 => 3,
        rest => rest,
    };
    let mut grouped = number[..first].to_owned();
    for start in (first..number.len()).step_by(3) {
        grouped.push_str(sign);
        grouped.push_str(&number[start..start + 3]);
    }
    grouped
}

/// Whether what stands at a place is not a piece of a longer word. The letter of an escaped line break is none.
fn stands_apart(text: &str, start: usize, end: usize) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut before = text[..start].chars().rev();
    let is_joined = match before.next() {
        Some('n' | 't' | 'r') => before.next() != Some('\\'),
        Some(letter) => is_part(letter),
        None => false,
    };
    let opens_as_word = text[start..end].starts_with(is_part);
    let ends_as_word = text[start..end].ends_with(is_part);
    let is_joined_behind = text[end..].chars().next().is_some_and(is_part);
    !(opens_as_word && is_joined || ends_as_word && is_joined_behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn true_names_are_seen_however_they_are_spelled() {
        let source = [
            r#"{"stdout":"ok\nsrc/retry_policy.rs:12\n\tparse_header failed","cwd":"/home/dev/shop"}"#,
            "see pay.example.com/v2/charges and edit `.eslintrc.json`, then tests/unit/cart.rs",
            "163,840 rows, commit 'ab12cd34', db_pool_size=8",
        ];
        let summary = "- src/retry_policy.rs, parse_header\n- https://pay.example.com/v2/charges\n- .eslintrc.json and \
                       /home/dev/shop/tests/unit/cart.rs\n- 163840 rows at ab12cd34 with `db_pool_size`\n\
                       - src/ghost.rs, https://pay.example.com/v3, 163841, ab12cd35, pool_size, try_policy";
        let seen = seen_names(summary, source.into_iter());
        let all: Vec<&str> = summary.lines().flat_map(claimed).collect();
        let unseen: Vec<&str> = all.into_iter().filter(|name| !seen.contains(*name)).collect();
        assert_eq!(
            unseen,
            [
                "src/ghost.rs",
                "https://pay.example.com/v3",
                "163841",
                "ab12cd35",
                "pool_size",
                "try_policy"
            ]
        );
    }
}
