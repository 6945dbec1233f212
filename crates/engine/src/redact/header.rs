//! Secrets in HTTP headers: credentials, cookies, JSON web tokens.

use crate::redact::chars::Class;
use crate::redact::chars::line_end;
use crate::redact::chars::starts_here;
use crate::redact::encoded::decode;
use crate::redact::scan::Label;
use crate::redact::scan::Scanner;
use crate::redact::value::Candidate;

/// Longer than any token in a header that servers accept by default (8 KB).
const CREDENTIALS: usize = 8192;

/// Words that stand before the credentials of a header.
const SCHEMES: &[&str] = &[
    "bearer",
    "basic",
    "token",
    "apikey",
    "api-key",
    "api_key",
    "oauth",
    "digest",
    "negotiate",
    "key",
    "splunk",
    "bot",
    "ssws",
    "geniekey",
    "hmac",
    "sharedkey",
    "sharedaccesssignature",
    "aws",
    "jwt",
    "discogs",
    "zoho-oauthtoken",
    "snowflake",
    "klaviyo-api-key",
    "deepl-auth-key",
];

/// Parts of names of cookies that carry a session.
const COOKIES: &[&str] = &[
    "sess",
    "sid",
    "auth",
    "token",
    "jwt",
    "csrf",
    "xsrf",
    "login",
    "remember",
    "secret",
    "key",
    "user",
    "cf_clearance",
    "connect",
    "identity",
    "ticket",
    "sso",
    "saml",
];

impl Scanner<'_> {
    /// The credentials after `Authorization`.
    pub fn authorization(&mut self, end: usize) {
        let mut at = end;
        let stop = self.bytes.len().min(end + 12);
        let mut assigned = false;
        while at < stop
            && matches!(
                self.bytes[at],
                b'"' | b'\'' | b'\\' | b' ' | b':' | b'=' | b',' | b'>' | b'`' | b']' | b'(' | b'[' | b'{' | b'f'
            )
        {
            assigned |= matches!(self.bytes[at], b':' | b'=' | b',');
            at += 1;
        }
        if !assigned {
            return;
        }
        let word = self.credentials_end(at);
        let scheme = self.text.get(at..word).unwrap_or("").to_ascii_lowercase();
        if scheme == "aws4-hmac-sha256" {
            return self.aws_signature(word);
        }
        if !SCHEMES.contains(&scheme.as_str()) {
            return self.credentials(at, "authorization header");
        }
        let mut value = word;
        while matches!(self.bytes.get(value), Some(b' ' | b'\t')) {
            value += 1;
        }
        self.credentials(value, "authorization header");
    }

    /// A value in the place of credentials: hidden unless it is plainly none.
    fn credentials(&mut self, start: usize, rule: &'static str) {
        let end = self.credentials_end(start);
        let Some(value) = self.text.get(start..end).map(Candidate::new) else {
            return;
        };
        let look = value.look;
        if value.len() < 8
            || value.is_placeholder()
            || value.is_reference()
            || value.is_expression()
            || value.is_measure()
            || (!value.is_declared_token() && (value.is_wordy() || look.strange < 0.2))
        {
            return;
        }
        let end = self.wrapped_end(end);
        self.push(start, end, Label::Code("credential", rule));
    }

    fn credentials_end(&self, start: usize) -> usize {
        let class = Class::of('v').expect("the class of visible characters exists");
        let mut end = class.run(self.bytes, start, CREDENTIALS);
        let cut = self.bytes[start..end]
            .iter()
            .position(|byte| matches!(byte, b',' | b';' | b')' | b'}' | b']' | b'|'));
        if let Some(cut) = cut {
            end = start + cut;
        }
        while end > start && matches!(self.bytes[end - 1], b'.' | b':') {
            end -= 1;
        }
        end
    }

    fn aws_signature(&mut self, from: usize) {
        let stop = line_end(self.bytes, from, 600);
        let Some(found) = memchr::memmem::find(&self.bytes[from..stop], b"Signature=") else {
            return;
        };
        self.credentials(from + found + 10, "signature header");
    }

    /// `Bearer …` wherever it stands.
    pub fn bearer(&mut self, end: usize) {
        let mut at = end;
        while at < end + 4
            && matches!(
                self.bytes.get(at),
                Some(b' ' | b'\t' | b':' | b'%' | b'2' | b'0' | b'+')
            )
        {
            at += 1;
        }
        if at == end || self.is_covered(at) {
            return;
        }
        let stop = self.credentials_end(at);
        let value = Candidate::new(self.text.get(at..stop).unwrap_or(""));
        if value.look.is_random(12) || value.is_declared_token() {
            self.credentials(at, "bearer token");
        }
    }

    /// `Basic …`: hidden when it decodes to a name and a password.
    pub fn basic(&mut self, end: usize) {
        let class = Class::of('s').expect("the class of base64 exists");
        let stop = class.run(self.bytes, end, CREDENTIALS);
        if stop - end < 8 || !(stop - end).is_multiple_of(4) || self.is_covered(end) {
            return;
        }
        let decoded = decode(&self.bytes[end..stop]);
        let pair = decoded.is_some_and(|bytes| {
            bytes.iter().all(|byte| byte.is_ascii_graphic() || *byte >= 0x80) && bytes.contains(&b':')
        });
        if pair {
            self.push(end, stop, Label::Code("password", "basic authentication"));
        }
    }

    /// The values of the cookies in a header.
    pub fn cookies(&mut self, start: usize, end: usize) {
        let mut at = end;
        let stop = self.bytes.len().min(end + 8);
        while at < stop
            && matches!(
                self.bytes[at],
                b'"' | b'\'' | b'\\' | b' ' | b':' | b'=' | b's' | b',' | b'>' | b'-' | b'2'
            )
        {
            at += 1;
        }
        if !self.bytes[end..at]
            .iter()
            .any(|byte| matches!(byte, b':' | b'=' | b','))
        {
            let flagged = start > 1 && self.bytes[start - 1] == b'-';
            if !flagged || at == end {
                return;
            }
        }
        let line = line_end(self.bytes, at, 4096);
        self.cookie_pairs(at, line);
    }

    /// The values in `name=value; name=value`.
    pub(super) fn cookie_pairs(&mut self, from: usize, line: usize) {
        let mut at = from;
        let attributes = [
            "path", "expires", "domain", "max-age", "samesite", "version", "priority", "comment",
        ];
        while at < line {
            let name = Class::of('t')
                .expect("the class of names exists")
                .run(self.bytes, at, 128);
            if name == at || self.bytes.get(name) != Some(&b'=') {
                return;
            }
            let value_end = self.cookie_end(name + 1, line);
            let (Some(spelled), Some(value)) = (self.text.get(at..name), self.text.get(name + 1..value_end)) else {
                return;
            };
            let lower = spelled.to_ascii_lowercase();
            let value = Candidate::new(value);
            let look = value.look;
            let session = COOKIES.iter().any(|part| lower.contains(part)) && look.length >= 8 && look.is_mixed();
            if !attributes.contains(&lower.as_str())
                && (session || look.is_random(16))
                && !value.is_placeholder()
                && !value.is_reference()
            {
                self.push(name + 1, value_end, Label::Code("cookie", "cookie"));
            }
            at = value_end;
            while at < line && matches!(self.bytes[at], b';' | b' ' | b',') {
                at += 1;
            }
        }
    }

    fn cookie_end(&self, from: usize, line: usize) -> usize {
        let ends = |byte: &u8| matches!(byte, b';' | b' ' | b'"' | b'\'' | b'\\' | b',' | b'\r' | b'`');
        let size = self.bytes[from..line].iter().position(ends);
        size.map_or(line, |size| from + size)
    }

    /// A JSON web token, signed or encrypted, at `eyJ`; or base64 of one.
    pub fn jwt(&mut self, start: usize) {
        if start < self.looked || !starts_here(self.bytes, start) || self.is_covered(start) {
            return;
        }
        let class = Class::of('x').expect("the class of base64 exists");
        let mut end = class.run(self.bytes, start, CREDENTIALS);
        let mut parts = 1;
        while parts < 5 && end - start < CREDENTIALS && self.bytes.get(end) == Some(&b'.') {
            let next = class.run(self.bytes, end + 1, CREDENTIALS);
            if next == end + 1 {
                break;
            }
            end = next;
            parts += 1;
        }
        self.looked = end;
        let body = &self.bytes[start..end];
        let is_text = body.starts_with(b"eyJ");
        if parts >= 3 && is_text && body.len() >= 40
            || parts == 2 && is_text && body.len() >= 60 && memchr::memmem::find(body, b".eyJ").is_some()
        {
            let end = self.wrapped_end(end);
            self.push(start, end, Label::Code("jwt", "JSON web token"));
        }
    }
}
