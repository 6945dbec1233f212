//! Shortening the arguments of an old call: long strings are cut, everything else stays, and JSON stays JSON.

use crate::decide::cut;
use crate::decide::marker::OPEN;
use crate::decide::marker::inert;
use crate::decide::marker::thousands;
use crate::json;
use crate::transcript::Input;

/// Longer strings are cut.
const MOST_STRING: usize = 200;
/// How much of a cut string is shown.
const SHOWN: usize = 60;
/// Longer lines of free text are cut, other lines left out; a patch's file lines are short.
const MOST_LINES: usize = 12;

/// The shortened input, or `None` when there is nothing long in it.
pub fn shorten(input: &Input, reference: &str) -> Option<Input> {
    match input {
        Input::Json(text) => shorten_json(text, reference).map(|text| Input::Json(text.into())),
        Input::Text(text) => shorten_text(text, reference).map(|text| Input::Text(text.into())),
    }
}

/// One pass over the text: nesting costs no stack, and what is not a long string is copied as it is.
fn shorten_json(text: &str, reference: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while at < bytes.len() {
        if bytes[at] != b'"' {
            at += 1;
            continue;
        }
        let end = string_end(bytes, at)?;
        let is_key = bytes[end..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':');
        if !is_key && end - at > MOST_STRING {
            let decoded = json::value(&text[at..end]).ok().and_then(json::text)?;
            if !decoded.starts_with(OPEN) && decoded.chars().nth(MOST_STRING).is_some() {
                out.push_str(&text[copied..at]);
                out.push_str(&json::quote(&mark(&decoded, reference)));
                copied = end;
            }
        }
        at = end;
    }
    if copied == 0 {
        return None;
    }
    out.push_str(&text[copied..]);
    (out.len() < text.len()).then_some(out)
}

/// The index after the closing quote of the string that starts here.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn mark(text: &str, reference: &str) -> String {
    let lines = text.lines().count() as u64;
    let size = if lines > 1 {
        format!("{} lines", thousands(lines))
    } else {
        format!("{} characters", thousands(text.chars().count() as u64))
    };
    let shown = cut(&inert(text.trim_start()), SHOWN);
    format!("⟦{size} left out here, not part of the original: {shown} — recall {reference}⟧")
}

/// Free text keeps its first lines and those that name files, as patches do.
fn shorten_text(text: &str, reference: &str) -> Option<String> {
    if text.contains(OPEN) {
        return None;
    }
    let mut out = String::new();
    let (mut kept, mut dropped) = (0, 0u64);
    for line in text.lines() {
        let names_file = line.starts_with("***") || line.starts_with("+++ ") || line.starts_with("--- ");
        if (kept < MOST_LINES || names_file) && line.len() <= MOST_STRING {
            out.push_str(line);
            out.push('\n');
            kept += 1;
        } else {
            dropped += 1;
        }
    }
    out.push_str(&format!(
        "⟦{} lines left out here, not part of the original — recall {reference}⟧",
        thousands(dropped)
    ));
    (dropped > 0 && out.len() < text.len()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_strings_are_cut_and_the_rest_stays_to_the_letter() {
        let body = "fn main() {}\\n".repeat(40);
        let json = format!(
            r#"{{ "path":"/a.rs", "n": 1.50, "content": "{body}", "deep":[[{{"x":"{body}"}}]], "last" : null }}"#
        );
        let short = shorten_json(&json, "m1").unwrap();
        assert!(json::value(&short).is_ok(), "{short}");
        assert!(
            short.starts_with(r#"{ "path":"/a.rs", "n": 1.50, "content": "⟦40 lines left out"#),
            "{short}"
        );
        assert!(short.ends_with(r#""last" : null }"#));
        assert_eq!(short.matches("recall m1").count(), 2);
        assert_eq!(shorten_json(&short, "m2"), None, "nothing is shortened twice");
    }

    #[test]
    fn long_keys_and_short_values_stay() {
        let key = "k".repeat(500);
        assert_eq!(shorten_json(&format!(r#"{{"{key}":"v","list":[1,2,3]}}"#), "m1"), None);
    }

    #[test]
    fn patches_keep_their_files() {
        let lines = "+new line of code\n".repeat(50);
        let patch =
            format!("*** Begin Patch\n*** Update File: a.rs\n{lines}*** Update File: b.rs\n{lines}*** End Patch");
        let short = shorten_text(&patch, "m1").unwrap();
        assert!(short.contains("*** Update File: a.rs") && short.contains("*** Update File: b.rs"));
        assert!(short.len() < patch.len() / 2);
        assert_eq!(shorten_text(&short, "m1"), None);
    }
}
