//! Names that are nobody's, and words that are names of people, too.

use std::collections::HashSet;
use std::sync::LazyLock;

static NOBODY: LazyLock<HashSet<&'static str>> = LazyLock::new(|| words(include_str!("nobody.txt")));
static TAGS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| words(include_str!("tags.txt")));
static WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| words(include_str!("words.txt")));

fn words(list: &'static str) -> HashSet<&'static str> {
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).collect()
}

/// Whether a name is an account, a role, a product or a placeholder, or a pseudonym of ours.
pub(super) fn is_nobody(name: &str) -> bool {
    let lower = name.to_lowercase();
    let trimmed = lower.trim_end_matches(|c: char| c.is_ascii_digit());
    let trimmed = trimmed.trim_end_matches(['-', '_', '.']);
    trimmed.is_empty() || NOBODY.contains(lower.as_str()) || NOBODY.contains(trimmed)
}

/// Whether a name is an everyday word as well.
pub(super) fn is_word(name: &str) -> bool {
    WORDS.contains(name.to_lowercase().as_str())
}

/// Whether a name behind an `@` is a tag, a decorator, an annotation or a rule.
pub(super) fn is_tag(name: &str) -> bool {
    TAGS.contains(name.to_lowercase().as_str())
}
