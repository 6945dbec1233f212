//! Replacing in a text, and where words begin and end in it.

use std::borrow::Cow;

use regex::Captures;
use regex::Regex;

/// A match with the text around it.
pub(super) struct Hit<'t, 'c> {
    /// What matched.
    pub(super) captures: &'c Captures<'t>,
    /// Everything before the match.
    pub(super) before: &'t str,
    /// Everything after the match.
    pub(super) after: &'t str,
}

impl<'t> Hit<'t, '_> {
    /// A group's text; empty where the group is not in the match.
    pub(super) fn group(&self, name: &str) -> &'t str {
        self.captures.name(name).map_or("", |found| found.as_str())
    }

    /// The whole match.
    pub(super) fn whole(&self) -> &'t str {
        self.captures.get(0).map_or("", |found| found.as_str())
    }
}

/// Replaces matches; where nothing is given for a match, it stays.
pub(super) fn replace<'t>(
    text: &'t str,
    pattern: &Regex,
    mut with: impl FnMut(Hit<'t, '_>) -> Option<String>,
) -> Cow<'t, str> {
    let mut out = String::new();
    let mut done = 0;
    for captures in pattern.captures_iter(text) {
        let Some(whole) = captures.get(0) else { continue };
        let hit = Hit {
            captures: &captures,
            before: &text[..whole.start()],
            after: &text[whole.end()..],
        };
        if let Some(new) = with(hit).filter(|new| new != whole.as_str()) {
            out.push_str(&text[done..whole.start()]);
            out.push_str(&new);
            done = whole.end();
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// Applies a replacement to a text that may have been replaced before.
pub(super) fn then<'t>(text: Cow<'t, str>, step: impl FnOnce(&str) -> Cow<'_, str>) -> Cow<'t, str> {
    let new = match step(&text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(new) => Some(new),
    };
    new.map_or(text, Cow::Owned)
}

/// Whether the text so far ends in an escape, `\n`, `%2F` or `\u0040`: what follows begins anew.
pub(super) fn ends_in_escape(before: &str) -> bool {
    let bytes = before.as_bytes();
    let size = bytes.len();
    let hex = |from: usize| bytes[from..].iter().all(u8::is_ascii_hexdigit);
    let letter =
        size >= 2 && bytes[size - 2] == b'\\' && matches!(bytes[size - 1], b'n' | b'r' | b't' | b'b' | b'f' | b'v');
    let percent = size >= 3 && bytes[size - 3] == b'%' && hex(size - 2);
    let unicode = size >= 6 && &bytes[size - 6..size - 4] == b"\\u" && hex(size - 4);
    // Colours of a terminal: `ESC[32m`, spelled as it is or escaped.
    let colour = bytes.last() == Some(&b'm')
        && bytes[..size - 1]
            .iter()
            .rev()
            .take(12)
            .find(|byte| !byte.is_ascii_digit() && **byte != b';')
            == Some(&b'[');
    letter || percent || unicode || colour
}

/// Whether a word may begin here: after anything but a letter or a digit, or after an escape.
pub(super) fn begins_word(before: &str) -> bool {
    before.chars().next_back().is_none_or(|last| !last.is_alphanumeric()) || ends_in_escape(before)
}

/// Whether a word ends before this text.
pub(super) fn ends_word(after: &str) -> bool {
    after.chars().next().is_none_or(|next| !next.is_alphanumeric())
}

/// The letters and digits of a name, in lower case: what all its spellings share.
pub(super) fn key_of(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}
