//! Encoded blobs: nothing in them can be read, so a marker with size and probable content replaces them.

use std::borrow::Cow;

use super::marker::CLOSE;
use super::marker::OPEN;

/// Shortest run of base64 characters that is a blob: longer than any hash, token or path in everyday use.
const BLOB: usize = 400;

/// Bytes of a blob that stay, so that it can be recognised.
const SHOWN: usize = 24;

/// The text with every blob replaced by its opening bytes and a marker.
pub(super) fn without_blobs(text: &str) -> Cow<'_, str> {
    let mut short = String::new();
    let mut copied = 0;
    for (start, end) in runs(text) {
        let blob = &text[start..end];
        let encoded = blob.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
        short.push_str(&text[copied..start + SHOWN]);
        short.push_str(&format!(
            "{OPEN} {encoded} bytes of base64 dropped, about {} bytes of {}{CLOSE}",
            encoded / 4 * 3,
            content(&text[..start], blob),
        ));
        copied = end;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    short.push_str(&text[copied..]);
    Cow::Owned(short)
}

/// The share of a text, in per cent, that is blobs.
pub(super) fn share(text: &str) -> usize {
    let blobs: usize = runs(text).map(|(start, end)| end - start).sum();
    blobs * 100 / text.len().max(1)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}

/// The spans of blobs: long runs of base64 characters, folded by single line ends where lines are of one length.
fn runs(text: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let start = at;
            let width = word(&bytes[start..]);
            at = start + width.max(1);
            if width == 0 {
                continue;
            }
            // Folded: the next line continues it while lines are as wide as the first.
            while width >= FOLD && bytes.get(at) == Some(&b'\n') {
                let next = word(&bytes[at + 1..(at + 2 + width).min(bytes.len())]);
                let ends = at + 1 + next == bytes.len() || bytes.get(at + 1 + next) == Some(&b'\n');
                if next == 0 || next > width || !ends {
                    break;
                }
                at += 1 + next;
                if next < width {
                    break;
                }
            }
            if at - start >= BLOB && is_mixed(&bytes[start..at]) {
                return Some((start, at));
            }
        }
        None
    })
}

/// The narrowest line that encoders fold at: PEM uses 64, MIME 76.
const FOLD: usize = 60;

fn word(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| is_base64(**byte)).count()
}

/// Encoded bytes show capitals, small letters and digits, and no long stretch without; paths, rules and runs of one
/// letter do not.
fn is_mixed(run: &[u8]) -> bool {
    let sample = &run[..run.len().min(4096)];
    let share = |test: fn(&u8) -> bool| sample.iter().filter(|byte| test(byte)).count() * 100 / sample.len();
    let letters = [
        share(u8::is_ascii_uppercase),
        share(u8::is_ascii_lowercase),
        share(u8::is_ascii_digit),
    ];
    // Random base64 has 41, 41 and 16 per cent; images begin with long runs of one letter.
    letters[0] >= 15 && letters[1] >= 10 && letters[2] >= 3
}

/// What a blob probably holds, from what stands before it or from how it begins.
fn content(before: &str, blob: &str) -> String {
    if let Some(head) = before.strip_suffix(";base64,") {
        let tail = &head[head.floor_char_boundary(head.len().saturating_sub(80))..];
        if let Some((_, mime)) = tail.rsplit_once("data:") {
            return mime.to_owned();
        }
    }
    let guess = SIGNATURES.iter().find(|(prefix, _)| blob.starts_with(prefix));
    guess.map_or("unknown content", |(_, name)| name).to_owned()
}

/// How well-known formats begin once encoded.
const SIGNATURES: &[(&str, &str)] = &[
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp or audio/wav"),
    ("JVBERi", "application/pdf"),
    ("UEsDB", "application/zip"),
    ("H4sI", "application/gzip"),
    ("PD94bWwg", "application/xml"),
    ("PHN2Zy", "image/svg+xml"),
    ("f0VMR", "an ELF binary"),
    ("TVqQ", "a Windows binary"),
    ("AGFzb", "application/wasm"),
    ("T2dnUw", "audio/ogg"),
    ("SUQz", "audio/mpeg"),
    ("AAAAI", "video/mp4"),
    ("MII", "a certificate or key"),
    ("eyJ", "application/json"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn blob(length: usize) -> String {
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        (0..length)
            .map(|at| char::from(alphabet[(at * 37 + at / 7 * 11) % 64]))
            .collect()
    }

    #[test]
    fn blobs_become_markers_with_size_and_content() {
        let text = format!("src=\"data:image/png;base64,{}\" alt", blob(4000));
        let short = without_blobs(&text);
        assert!(short.starts_with("src=\"data:image/png;base64,"));
        assert!(short.contains("⟦… 4000 bytes of base64 dropped, about 3000 bytes of image/png⟧\" alt"));
        let pdf = format!("JVBERi0x{}", blob(1000));
        assert!(without_blobs(&pdf).contains("application/pdf"));
    }

    #[test]
    fn folded_blobs_are_one_blob_and_text_is_none() {
        let folded: Vec<String> = (0..20).map(|_| blob(76)).collect();
        let text = format!("{}\nabc==\nnext words", folded.join("\n"));
        assert!(share(&text) > 95);
        assert!(without_blobs(&text).ends_with("⟧\nnext words"));
        for text in [
            "/".repeat(5000),
            "a".repeat(5000),
            "src/dir/".repeat(600),
            "f".repeat(64),
        ] {
            assert_eq!(share(&text), 0);
        }
    }
}
