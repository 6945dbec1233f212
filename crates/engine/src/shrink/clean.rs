//! What a terminal would show: escapes and overwritten progress out, before anyone looks at the lines.
//!
//! A carriage return inside a line overwrites what stood before it. Only pieces that say the same in letters
//! as their successor are taken for progress; everything else becomes a line of its own, so that a text with
//! nothing but carriage returns for line ends loses nothing.

use std::borrow::Cow;

/// The text without escape sequences, backspaces and overwritten progress, with plain line ends.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|byte| matches!(byte, 0x1b | b'\r' | 0x08)) {
        return Cow::Borrowed(text);
    }
    let plain = without_escapes(text);
    if !plain.contains('\r') {
        return Cow::Owned(plain);
    }
    let mut shown = String::with_capacity(plain.len());
    for (index, line) in plain.split('\n').enumerate() {
        if index > 0 {
            shown.push('\n');
        }
        overwrite(line, &mut shown);
    }
    Cow::Owned(shown)
}

/// Appends what is left of a line after its carriage returns.
fn overwrite(line: &str, shown: &mut String) {
    let mut previous: Option<&str> = None;
    let start = shown.len();
    for piece in line.split('\r').filter(|piece| !piece.trim().is_empty()) {
        if let Some(previous) = previous
            && !letters(previous).eq(letters(piece))
        {
            if shown.len() > start {
                shown.push('\n');
            }
            shown.push_str(previous.trim_end());
        }
        previous = Some(piece);
    }
    if let Some(last) = previous {
        if shown.len() > start {
            shown.push('\n');
        }
        shown.push_str(last.trim_end());
    }
}

/// What makes a piece of progress the same message as another: its letters, without bars, counts and spinners.
fn letters(piece: &str) -> impl Iterator<Item = char> {
    piece.chars().filter(|character| character.is_alphabetic())
}

fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\x1b', '\x08']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        rest = &rest[escape_length(rest)..];
    }
    plain.push_str(rest);
    plain
}

/// The bytes of the control sequence at the start of a text that begins with ESC or backspace.
fn escape_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    match bytes.get(1) {
        _ if bytes[0] == 0x08 => 1,
        Some(b'[') => {
            let parameters = bytes[2..]
                .iter()
                .take_while(|byte| (0x20..0x40).contains(*byte))
                .count();
            let end = 2 + parameters;
            // A final byte outside of the range means a broken sequence: only its opening goes.
            if bytes.get(end).is_some_and(|byte| (0x40..0x7f).contains(byte)) {
                end + 1
            } else {
                2
            }
        }
        // Operating system commands (titles, links) end with BEL or ESC \, and never span lines.
        Some(b']') => {
            let line = &bytes[2..];
            let body = line
                .iter()
                .take_while(|byte| !matches!(byte, 0x07 | 0x1b | b'\n'))
                .count();
            match line.get(body) {
                Some(0x07) => 2 + body + 1,
                Some(0x1b) if line.get(body + 1) == Some(&b'\\') => 2 + body + 2,
                // Not terminated: to skip the opening alone keeps the scan linear and the words.
                _ => 2,
            }
        }
        Some(byte) if (0x20..0x7f).contains(byte) => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_titles_and_links_go() {
        assert_eq!(clean("\x1b[1;31merror\x1b[0m: no"), "error: no");
        assert_eq!(
            clean("\x1b]0;title\x07ok \x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\"),
            "ok link"
        );
        assert_eq!(clean("a\x08b \x1b"), "ab ");
        assert_eq!(clean("\x1b]never ends"), "never ends");
        assert_eq!(clean("\x1b[\u{fc}"), "\u{fc}");
        assert!(matches!(clean("plain"), Cow::Borrowed("plain")));
    }

    #[test]
    fn progress_is_overwritten_and_nothing_else() {
        assert_eq!(
            clean("get 1%\rget 50% [==> ]\rget 100% [====]\ndone\r\n"),
            "get 100% [====]\ndone\n"
        );
        assert_eq!(
            clean("get 1%\rerror: disk full\rget 2%"),
            "get 1%\nerror: disk full\nget 2%"
        );
        assert_eq!(clean("one\rtwo\rthree"), "one\ntwo\nthree");
    }
}
