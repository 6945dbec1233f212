//! Private keys as files: framed blocks, whole or cut off, in any escaping, and PuTTY's format.

use memchr::memmem;

use crate::redact::scan::Label;
use crate::redact::scan::Scanner;

/// How long the line that opens a block is at most: the longest label is `ENCRYPTED PRIVATE KEY`.
const HEADER: usize = 80;

impl Scanner<'_> {
    /// A block that begins here, if it is a private key.
    pub fn pem(&mut self, start: usize) {
        if self.is_covered(start) {
            return;
        }
        let stop = self.bytes.len().min(start + HEADER);
        let header = &self.bytes[start..stop];
        let private = memmem::find(header, b"PRIVATE").or_else(|| memmem::find(header, b"SECRET"));
        let Some(private) = private else {
            return;
        };
        let Some(close) = memmem::find(&header[private..], b"----") else {
            return;
        };
        let mut body = start + private + close;
        while body < self.bytes.len() && self.bytes[body] == b'-' {
            body += 1;
        }
        let end = self.key_end(body);
        // A frame around words is documentation.
        let payload = self.bytes[body..end]
            .iter()
            .filter(|byte| byte.is_ascii_alphanumeric())
            .count();
        if payload >= 32 {
            self.push(start, end, Label::Code("private_key", "private key block"));
        }
    }

    /// Where a key ends: after its closing line, or with the last line that can belong to it.
    fn key_end(&self, body: usize) -> usize {
        let mut at = body;
        let mut last = body;
        while at < self.bytes.len() {
            let dashes = self.bytes[at..].starts_with(b"---");
            if dashes {
                return self.closing_line(at).unwrap_or(last);
            }
            let (piece, next) = self.key_line(at);
            if !piece {
                return last;
            }
            last = next;
            at = self.skip_between_lines(next);
            if at == next && at < self.bytes.len() && !self.bytes[at..].starts_with(b"---") {
                return last;
            }
        }
        last
    }

    /// One line of a key: base64, a header such as `Proc-Type: 4,ENCRYPTED`, or nothing.
    fn key_line(&self, at: usize) -> (bool, usize) {
        let mut end = at;
        while end < self.bytes.len()
            && (self.bytes[end].is_ascii_alphanumeric() || matches!(self.bytes[end], b'+' | b'/' | b'='))
        {
            // The `n` of an escaped line break belongs to the break.
            end += 1;
        }
        let header = self.bytes.get(end) == Some(&b':') || self.bytes.get(end) == Some(&b'-');
        if header && end > at && !self.bytes[end..].starts_with(b"---") {
            let line = self.bytes[at..]
                .iter()
                .take(120)
                .position(|byte| matches!(byte, b'\n' | b'\\' | b'"'));
            let known = [
                "Proc-Type",
                "DEK-Info",
                "Version",
                "Comment",
                "Hash",
                "Charset",
                "MessageID",
                "Key-",
            ];
            if known.iter().any(|name| self.bytes[at..].starts_with(name.as_bytes())) {
                return (true, at + line.unwrap_or(0));
            }
            return (false, at);
        }
        (true, end)
    }

    /// Steps over what stands between the lines of a key: breaks, escaped breaks, quotes, signs of concatenation.
    fn skip_between_lines(&self, from: usize) -> usize {
        let mut at = from;
        let stop = self.bytes.len().min(from + 64);
        while at < stop {
            match self.bytes[at] {
                b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'+' | b',' | b'|' | b'>' | b'#' | b'*' | b'.' | b';' => {
                    at += 1
                }
                b'\\' => {
                    let slashes = self.bytes[at..stop].iter().take_while(|byte| **byte == b'\\').count();
                    at += slashes;
                    if matches!(self.bytes.get(at), Some(b'n' | b'r' | b't')) {
                        at += 1;
                    }
                }
                _ => break,
            }
        }
        at
    }

    fn closing_line(&self, at: usize) -> Option<usize> {
        let line = &self.bytes[at..self.bytes.len().min(at + HEADER)];
        let end = memmem::find(line, b"END")?;
        let close = memmem::find(&line[end..], b"----")?;
        let mut after = at + end + close;
        while after < self.bytes.len() && self.bytes[after] == b'-' {
            after += 1;
        }
        Some(after)
    }

    /// PuTTY's key file: what follows `Private-Lines`.
    pub fn putty(&mut self, end: usize) {
        let window = &self.bytes[end..self.bytes.len().min(end + 8192)];
        let Some(found) = memmem::find(window, b"Private-Lines:") else {
            return;
        };
        let Some(line) = window[found..].iter().position(|byte| *byte == b'\n') else {
            return;
        };
        let start = end + found + line + 1;
        let stop = self.key_end(start);
        self.push(start, stop, Label::Code("private_key", "PuTTY key"));
    }
}
