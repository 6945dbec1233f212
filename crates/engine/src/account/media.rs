//! Estimates for what is not text.
//!
//! Images follow the providers' published formulas where the dimensions can be read from the first bytes of
//! the picture; otherwise a typical screenshot is assumed. Documents, sounds and sealed blocks are estimated
//! from their size. All of these are estimates, and reports mark them as such.

use crate::account::counter::Family;
use crate::transcript::Media;
use crate::transcript::MediaKind;
use crate::transcript::MediaSource;

/// The tokens assumed for a picture whose size is unknown: about a 1,024 by 1,024 screenshot.
const UNKNOWN_IMAGE: u64 = 1_100;
/// Claude scales pictures down to at most this many tokens.
const CLAUDE_MOST_IMAGE: u64 = 1_600;
/// Bytes of a PDF per token: text PDFs hold about 2 KB of compressed stream for some 500 tokens of page text
/// and picture.
const DOCUMENT_BYTES_PER_TOKEN: u64 = 24;
/// The least a document costs: one page.
const DOCUMENT_LEAST: u64 = 1_500;
/// Bytes of compressed sound per token: 16 kB/s at 10 tokens a second.
const SOUND_BYTES_PER_TOKEN: u64 = 1_600;
/// Base64 characters of sealed reasoning per token: three quarters of them are bytes, at about four a token.
const SEALED_CHARACTERS_PER_TOKEN: u64 = 5;

/// The estimated tokens of a media part.
pub fn estimate(media: &Media, family: Family) -> u64 {
    let bytes = match &media.source {
        MediaSource::Inline(data) => Some(data.len() as u64 * 3 / 4),
        MediaSource::Url(_) | MediaSource::Reference(_) => None,
    };
    match media.kind {
        MediaKind::Image => {
            let size = match &media.source {
                MediaSource::Inline(data) => dimensions(data),
                MediaSource::Url(_) | MediaSource::Reference(_) => None,
            };
            size.map_or(UNKNOWN_IMAGE, |(width, height)| image(width, height, family))
        }
        MediaKind::Document => bytes.map_or(DOCUMENT_LEAST, |bytes| {
            DOCUMENT_LEAST.max(bytes / DOCUMENT_BYTES_PER_TOKEN)
        }),
        MediaKind::Audio | MediaKind::Video => bytes.map_or(UNKNOWN_IMAGE, |bytes| bytes / SOUND_BYTES_PER_TOKEN),
    }
}

/// The estimated tokens of a sealed block of this many base64 characters.
pub fn estimate_sealed(characters: usize) -> u64 {
    characters as u64 / SEALED_CHARACTERS_PER_TOKEN
}

fn image(width: u64, height: u64, family: Family) -> u64 {
    let area = width.saturating_mul(height);
    match family {
        // Anthropic: width times height over 750.
        Family::Claude | Family::ClaudeClassic => (area / 750).clamp(1, CLAUDE_MOST_IMAGE),
        // Google: 258 for a small picture, else 258 for every tile of 768.
        Family::Gemini if width <= 384 && height <= 384 => 258,
        Family::Gemini => 258 * width.div_ceil(768) * height.div_ceil(768),
        // OpenAI: fit into 2,048, shorter side to 768, then 85 and 170 for every tile of 512.
        _ => {
            let longest = width.max(height).max(1);
            let fit = |side: u64| {
                if longest > 2048 {
                    (side * 2048 / longest).max(1)
                } else {
                    side.max(1)
                }
            };
            let (width, height) = (fit(width), fit(height));
            let shortest = width.min(height);
            let scale = |side: u64| if shortest > 768 { side * 768 / shortest } else { side };
            85 + 170 * scale(width).div_ceil(512) * scale(height).div_ceil(512)
        }
    }
}

/// Width and height of a picture from the start of its base64 text: PNG, GIF, WebP and JPEG.
fn dimensions(base64: &str) -> Option<(u64, u64)> {
    // A JPEG's size may stand behind a thumbnail; 64 KiB reaches past nearly all of them.
    let bytes = decode_start(base64, 64 << 10);
    let big = |at: usize| Some(u64::from(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?])));
    let little = |at: usize| Some(u64::from(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?])));
    if bytes.starts_with(b"\x89PNG") {
        return Some((big(16)? << 16 | big(18)?, big(20)? << 16 | big(22)?));
    }
    if bytes.starts_with(b"GIF8") {
        return Some((little(6)?, little(8)?));
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12)? == b"WEBP" {
        return match bytes.get(12..16)? {
            b"VP8 " => Some((little(26)? & 0x3FFF, little(28)? & 0x3FFF)),
            b"VP8X" => {
                let side = |at: usize| Some((little(at)? | u64::from(*bytes.get(at + 2)?) << 16) + 1);
                Some((side(24)?, side(27)?))
            }
            _ => None,
        };
    }
    if bytes.starts_with(b"\xFF\xD8") {
        let mut at = 2;
        while *bytes.get(at)? == 0xFF {
            let marker = *bytes.get(at + 1)?;
            let is_frame = matches!(marker, 0xC0..=0xCF) && !matches!(marker, 0xC4 | 0xC8 | 0xCC);
            if is_frame {
                return Some((big(at + 7)?, big(at + 5)?));
            }
            at += 2 + big(at + 2)? as usize;
        }
    }
    None
}

/// Decodes the start of a base64 text; stops at anything that is not base64.
fn decode_start(base64: &str, most: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(most.min(base64.len()));
    let (mut bits, mut filled) = (0u32, 0);
    for byte in base64.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'\n' | b'\r' => continue,
            _ => break,
        };
        bits = bits << 6 | u32::from(value);
        filled += 6;
        if filled >= 8 {
            filled -= 8;
            bytes.push((bits >> filled) as u8);
            if bytes.len() >= most {
                break;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG_1X1: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ";

    fn encode(bytes: &[u8]) -> String {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut out = String::new();
        for chunk in bytes.chunks(3) {
            let word = chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
            for digit in 0..=chunk.len() {
                out.push(char::from(DIGITS[(word >> (18 - 6 * digit) & 63) as usize]));
            }
        }
        out
    }

    #[test]
    fn dimensions_are_read_from_each_format() {
        assert_eq!(dimensions(PNG_1X1), Some((1, 1)));
        assert_eq!(dimensions(&encode(b"GIF89a\x40\x01\xF0\x00rest")), Some((320, 240)));
        let jpeg = b"\xFF\xD8\xFF\xE0\x00\x04ab\xFF\xC0\x00\x11\x08\x02\x58\x03\x20rest";
        assert_eq!(dimensions(&encode(jpeg)), Some((800, 600)));
        let webp = b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x1F\x03\x00\x57\x02\x00";
        assert_eq!(dimensions(&encode(webp)), Some((800, 600)));
        for broken in ["", "!!!!", "/9j/4AAQ", "iVBORw0KGgo"] {
            assert_eq!(dimensions(broken), None, "{broken}");
        }
    }

    #[test]
    fn published_examples_hold() {
        // OpenAI's documentation: 1,024 by 1,024 is 765 tokens, 2,048 by 4,096 is 1,105.
        assert_eq!(image(1024, 1024, Family::O200k), 765);
        assert_eq!(image(2048, 4096, Family::O200k), 1105);
        // Anthropic's: 1,000 by 1,000 is about 1,334.
        assert_eq!(image(1000, 1000, Family::Claude), 1333);
    }
}
