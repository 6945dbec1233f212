//! What a model thought, out of what it said: `<think>`, `<thinking>`, `<REASONING_SCRATCHPAD>`, closed or not.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

static TAG: LazyLock<Regex> = LazyLock::new(|| {
    let tags = r"(?i)<(?P<end>/?)(?P<name>think|thinking|thought|thoughts|reasoning|reasoning_scratchpad|scratchpad|antml:thinking)(?:\s[^<>]{0,80})?>";
    Regex::new(tags).expect("the pattern is fixed, and a test runs it")
});

/// How often a text is read again: what stood around a tag may be one when it is gone.
const ROUNDS: usize = 8;

/// Takes it out. A tag in quotes or backticks is one that is spoken of, and stays.
pub(super) fn strip<'t>(text: &'t str, count: &mut dyn FnMut()) -> Cow<'t, str> {
    let mut text = strip_once(text, count);
    for _ in 0..ROUNDS {
        let Cow::Owned(stripped) = strip_once(&text, count) else {
            break;
        };
        text = Cow::Owned(stripped);
    }
    text
}

fn strip_once<'t>(text: &'t str, count: &mut dyn FnMut()) -> Cow<'t, str> {
    let mut out = String::new();
    // Where the text that is kept goes on; where reasoning began, and under which name.
    let (mut kept, mut open): (usize, Option<(usize, String)>) = (0, None);
    for captures in TAG.captures_iter(text) {
        let Some(whole) = captures.get(0) else { continue };
        let name = captures["name"].to_lowercase();
        let is_end = &captures["end"] == "/";
        match &open {
            Some((start, opened)) if is_end && *opened == name => {
                out.push_str(&text[kept..*start]);
                kept = whole.end();
                open = None;
                count();
            }
            None if !is_end && !is_spoken_of(text, whole.start()) => open = Some((whole.start(), name)),
            // An end without a beginning closes what began before this message did.
            None if is_end && !is_spoken_of(text, whole.start()) => {
                if kept > 0 {
                    out.push_str(&text[kept..whole.start()]);
                }
                kept = whole.end();
                count();
            }
            Some(_) | None => {}
        }
    }
    // Reasoning that nothing closes goes on to the end of the message.
    let end = match open {
        Some((start, _)) => {
            count();
            start
        }
        None => text.len(),
    };
    if kept == 0 && end == text.len() && out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..end]);
    Cow::Owned(out)
}

fn is_spoken_of(text: &str, at: usize) -> bool {
    text[..at].ends_with(['`', '"', '\'', '(', '«', '“'])
}
