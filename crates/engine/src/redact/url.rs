//! Secrets inside of addresses: names with passwords, signatures, webhooks, one-time password seeds.

use memchr::memchr;

use crate::redact::chars::is_uuid;
use crate::redact::look::Look;
use crate::redact::scan::Label;
use crate::redact::scan::Scanner;
use crate::redact::value::Candidate;

/// How long the part of an address before its path may be; a long token as the user name fits.
const AUTHORITY: usize = 2048;
/// How long a path or query is looked at.
const PATH: usize = 1024;

/// Names and passwords of examples and of databases nobody but their developer reaches.
const DEFAULTS: &[&str] = &[
    "postgres",
    "root",
    "admin",
    "guest",
    "user",
    "test",
    "example",
    "mysql",
    "rabbitmq",
    "minio",
    "minioadmin",
    "username",
    "me",
    "foo",
];

impl Scanner<'_> {
    /// `scheme://name:password@host` at a `://`.
    pub fn address(&mut self, start: usize, end: usize) {
        let scheme_start = self.bytes[..start]
            .iter()
            .rev()
            .take(32)
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
            .count();
        if scheme_start == 0 {
            return;
        }
        let scheme = self.text[start - scheme_start..start].to_ascii_lowercase();
        if scheme.ends_with("otpauth") || scheme.ends_with("otpauth-migration") {
            let stop = self.address_end(end, PATH);
            if memchr(b'{', &self.bytes[end..stop]).is_some() {
                return;
            }
            return self.push(
                start - scheme_start,
                stop,
                Label::Code("totp", "one-time password address"),
            );
        }
        let Some(at) = self.user_end(end) else {
            return;
        };
        let user = &self.bytes[end..at];
        let (from, rule) = match memchr(b':', user) {
            Some(colon) => (end + colon + 1, "password in an address"),
            None => (end, "token in an address"),
        };
        let Some(secret) = self.text.get(from..at) else {
            return;
        };
        if secret.is_empty() || self.is_public_address(at + 1) && from == end {
            return;
        }
        let name = if from == end { "" } else { &self.text[end..from - 1] };
        let secret = Candidate::new(secret);
        if secret.is_reference() || secret.contains('{') || is_stand_in(name, &secret) {
            return;
        }
        if from == end {
            let look = secret.look;
            if !look.is_random(16) || !look.is_mixed() {
                return;
            }
            return self.push(from, at, Label::Code("credential", rule));
        }
        self.push(from, at, Label::Code("password", rule));
        // A token may stand where the name stands: `https://TOKEN:x-oauth-basic@host`.
        if Look::at(name.as_bytes()).is_random(20) {
            self.push(end, from - 1, Label::Code("credential", "token in an address"));
        }
    }

    /// The `@` that ends the user part, if there is one.
    fn user_end(&self, from: usize) -> Option<usize> {
        let stop = self.bytes.len().min(from + AUTHORITY);
        let mut found = None;
        for at in from..stop {
            match self.bytes[at] {
                b'@' => found = Some(at),
                b':' if self.bytes[at..].starts_with(b"://") => break,
                b'/' | b'?' | b'#' if found.is_some() => break,
                // Unescaped signs are common in passwords; a path comes only after a host.
                b'/' if memchr(b':', &self.bytes[from..at]).is_none() || self.is_port(from, at) => break,
                b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b')' | b'|' | b','
                    if self.bytes[at] != b',' || found.is_some() =>
                {
                    break;
                }
                b':' if found.is_some() => break,
                _ => {}
            }
        }
        found
    }

    /// Whether what stands before this place is `host:123`.
    fn is_port(&self, from: usize, at: usize) -> bool {
        let digits = self.bytes[from..at]
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        at - digits > from && self.bytes[at - digits - 1] == b':'
    }

    /// Sentry's addresses hold a key that is made to be public.
    fn is_public_address(&self, host: usize) -> bool {
        let host = &self.bytes[host..self.bytes.len().min(host + 80)];
        memchr::memmem::find(host, b"ingest").is_some() || memchr::memmem::find(host, b"sentry").is_some()
    }

    /// The end of an address's path and query.
    pub(super) fn address_end(&self, from: usize, most: usize) -> usize {
        let stop = self.bytes.len().min(from + most);
        let mut end = from;
        while end < stop
            && self.bytes[end].is_ascii_graphic()
            && !matches!(
                self.bytes[end],
                b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b')' | b'|' | b']' | b'}' | b','
            )
        {
            end += 1;
        }
        while end > from && matches!(self.bytes[end - 1], b'.' | b';' | b':' | b'!') {
            end -= 1;
        }
        end
    }

    /// `?sig=…`, `&X-Amz-Signature=…`: only inside of an address, for signatures elsewhere are public.
    pub fn signature(&mut self, start: usize, end: usize) {
        let name = self.bytes[..start]
            .iter()
            .rev()
            .take(24)
            .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-')
            .count();
        let before = start - name;
        let separated = before > 0
            && (matches!(self.bytes[before - 1], b'?' | b'&' | b';')
                || self.bytes[..before].ends_with(b"\\u0026")
                || self.bytes[..before].ends_with(b"?\\u0026"));
        if !separated {
            return;
        }
        let stop = self.query_end(end);
        let Some(value) = self.text.get(end..stop) else {
            return;
        };
        let value = Candidate::new(value);
        if value.look.is_random(16) && !value.is_placeholder() {
            self.push(end, stop, Label::Code("signature", "signed address"));
        }
    }

    fn query_end(&self, from: usize) -> usize {
        let end = self.address_end(from, PATH);
        let cut = self.bytes[from..end]
            .iter()
            .position(|byte| matches!(byte, b'&' | b'#' | b';'));
        cut.map_or(end, |cut| from + cut)
    }

    /// An address that is a secret itself: whoever has it may post.
    pub fn webhook(&mut self, start: usize, end: usize) {
        let stop = self.address_end(end, PATH);
        let Some(path) = self.text.get(end..stop) else {
            return;
        };
        let longest = path
            .split(['/', '=', '?', '&', ':', '@'])
            .max_by_key(|part| part.len())
            .unwrap_or("");
        let longest = Candidate::new(longest);
        let look = longest.look;
        let secret = look.is_random(16)
            || is_uuid(longest.as_bytes())
            || (look.length >= 18 && look.digits * 2 > look.length && look.distinct >= 5);
        if !secret || longest.is_placeholder() || longest.is_reference() || path.contains("{") {
            return;
        }
        let host = self.bytes[..start]
            .iter()
            .rev()
            .take(100)
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'/' | b':'))
            .count();
        self.push(start - host, stop, Label::Code("webhook", "webhook address"));
    }
}

/// Whether a name and a password are those of an example.
fn is_stand_in(name: &str, secret: &Candidate<'_>) -> bool {
    let lower = secret.to_ascii_lowercase();
    let defaults = DEFAULTS.contains(&lower.as_str())
        && (DEFAULTS.contains(&name.to_ascii_lowercase().as_str()) || name.is_empty());
    let words = [
        "password",
        "passwd",
        "pass",
        "pwd",
        "secret_password",
        "x-oauth-basic",
        "x-token-auth",
    ];
    defaults
        || words.contains(&lower.as_str())
        || (secret.is_placeholder() && &**secret != "secret" && secret.len() > 2
            || secret.len() <= 2 && !secret.bytes().any(|byte| byte.is_ascii_digit()))
}
