//! Secrets inside of base64: long runs are decoded and read again, and hidden whole when something is found.
//!
//! Runs are found by looking at every 20th byte, so text without long runs costs next to nothing.

use crate::redact::chars::Class;
use crate::redact::chars::starts_here;
use crate::redact::scan::DEPTH;
use crate::redact::scan::Label;
use crate::redact::scan::Scanner;

/// The shortest run that is decoded: 20 characters hold 15 bytes, less than any token.
const SHORTEST: usize = 20;
/// How much of a run is decoded; a key file fits.
const LONGEST: usize = 65_536;

impl Scanner<'_> {
    /// Looks for runs of base64 and for tokens without a telling start.
    pub fn encoded(&mut self) {
        let class = Class::of('s').expect("the class of base64 exists");
        let mut at = SHORTEST - 1;
        while at < self.bytes.len() {
            if !class.has(self.bytes[at]) {
                at += SHORTEST;
                continue;
            }
            let start = class.run_back(self.bytes, at, SHORTEST);
            let end = class.run(self.bytes, at, usize::MAX);
            if end - start >= SHORTEST {
                self.run(start, end);
            }
            at = end + SHORTEST;
        }
    }

    fn run(&mut self, start: usize, end: usize) {
        self.bare_token(start, end);
        if self.depth >= DEPTH {
            return;
        }
        // `key=` before a value is of the class, too.
        let start = match self.bytes[start..end].iter().take(64).rposition(|byte| *byte == b'=') {
            Some(sign) if end - start - sign > SHORTEST => start + sign + 1,
            _ => start,
        };
        if !is_text_in_base64(&self.bytes[start..end]) {
            return;
        }
        let (joined, last) = self.joined_lines(start, end);
        let Some(decoded) = decode(&joined) else {
            return;
        };
        let Ok(text) = std::str::from_utf8(&decoded) else {
            return;
        };
        if !Scanner::new(self.rules, text, self.depth + 1).scan().is_empty() {
            self.push(start, last, Label::Code("credential", "secret in base64"));
        }
    }

    /// A run and the lines of base64 after it, without the breaks.
    fn joined_lines(&self, start: usize, end: usize) -> (Vec<u8>, usize) {
        let class = Class::of('s').expect("the class of base64 exists");
        let mut joined = self.bytes[start..end.min(start + LONGEST)].to_vec();
        let mut last = end;
        while joined.len() < LONGEST {
            let breaks = self.bytes[last..]
                .iter()
                .take(2)
                .take_while(|byte| matches!(byte, b'\n' | b'\r'))
                .count();
            let indent = self.bytes[last + breaks..]
                .iter()
                .take(16)
                .take_while(|byte| **byte == b' ')
                .count();
            let next = last + breaks + indent;
            let stop = class.run(self.bytes, next, 256);
            if breaks == 0 || stop - next < 4 || self.bytes[last - 1] == b'=' || last - start < 40 {
                break;
            }
            joined.extend_from_slice(&self.bytes[next..stop]);
            last = stop;
        }
        (joined, last)
    }

    /// Tokens whose start is too short to be looked for: Discord's bots, Twilio's keys.
    fn bare_token(&mut self, start: usize, end: usize) {
        let run = &self.bytes[start..end];
        if run.starts_with(b"SK")
            && run.len() == 34
            && run[2..]
                .iter()
                .all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
            && starts_here(self.bytes, start)
        {
            return self.push(start, end, Label::Code("twilio", "Twilio key"));
        }
        let bot = matches!(run[0], b'M' | b'N' | b'O')
            && (23..=28).contains(&run.len())
            && self.bytes.get(end) == Some(&b'.');
        if !bot {
            return;
        }
        let class = Class::of('u').expect("the class of tokens exists");
        let middle = class.run(self.bytes, end + 1, 8);
        let last = class.run(self.bytes, middle + 1, 40);
        let decoded = decode(run).unwrap_or_default();
        let digits = decoded.len() >= 15 && decoded.iter().all(u8::is_ascii_digit);
        let random = crate::redact::look::Look::at(run).strange >= 0.3;
        if (5..=7).contains(&(middle - end - 1))
            && self.bytes.get(middle) == Some(&b'.')
            && last - middle > 26
            && (digits || random)
        {
            self.push(start, last, Label::Code("discord", "Discord bot"));
        }
    }
}

/// Whether a run begins like text in base64: what its first 16 characters decode to is printable.
fn is_text_in_base64(run: &[u8]) -> bool {
    let head = &run[..run.len().min(16)];
    decode(head).is_some_and(|bytes| {
        let printable = bytes
            .iter()
            .filter(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
            .count();
        printable == bytes.len() && bytes.iter().any(u8::is_ascii_alphabetic)
    })
}

/// Decodes base64 of either alphabet, with or without padding; `None` when it is none.
pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let (mut bits, mut held) = (0u32, 0u32);
    for byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => return None,
        };
        held = held << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((held >> bits) as u8);
            held &= (1 << bits) - 1;
        }
    }
    Some(out)
}
