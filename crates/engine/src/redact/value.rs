//! What a value is: random, a password, a placeholder, or a reference to where the secret really is.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::redact::chars::is_uuid;
use crate::redact::key::lists;
use crate::redact::look::LOOKED_AT;
use crate::redact::look::Look;

/// The lists of `stand_ins.txt`.
static LISTS: LazyLock<BTreeMap<&str, BTreeSet<&str>>> = LazyLock::new(|| lists(include_str!("stand_ins.txt")));

/// The parts of stand-ins, searched at once.
static PARTS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let parts = LISTS["stand_in_parts"].union(&LISTS["declared_parts"]);
    AhoCorasick::new(parts).expect("a short list of words fits an automaton")
});

/// A value that may be a secret, and how it looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    text: &'a str,
    /// How it looks.
    pub look: Look,
}

impl<'a> Candidate<'a> {
    /// Looks at a value without the space around it.
    pub fn new(text: &'a str) -> Self {
        let text = text.trim();
        let look = Look::at(text.as_bytes());
        Candidate { text, look }
    }
}

impl Deref for Candidate<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        self.text
    }
}

/// Whether a value in lower case is put together from names of methods and programs, with numbers: `oauth2/oidc`, `http/1.1`.
fn is_technical(lower: &str) -> bool {
    if lower.len() > 32 {
        return false;
    }
    let mut named = false;
    for part in lower.split(['/', '-', '_', '.', ',', '+']) {
        let bare = part.trim_matches(|letter: char| letter.is_ascii_digit());
        if !bare.is_empty() && !LISTS["technical"].contains(bare) {
            return false;
        }
        named |= !bare.is_empty();
    }
    named
}

/// How providers of models begin the names of calls, messages and files, which they look up and want back.
const PROTOCOL: &[&str] = &[
    "call_",
    "toolu_",
    "srvtoolu_",
    "msg_",
    "req_",
    "resp_",
    "rs_",
    "fc_",
    "chatcmpl-",
    "cmpl-",
    "file-",
    "run_",
    "thread_",
    "step_",
    "asst_",
    "container_",
    "batch_",
    "gen-",
    "tool_",
];

impl Candidate<'_> {
    /// Whether a value is a stand-in: nobody would log in with it.
    pub fn is_placeholder(&self) -> bool {
        let value = self.text;
        if value.len() < 3 {
            return true;
        }
        if value.contains("credential_ref:") || value.contains("[REDACTED") {
            return true;
        }
        let bytes = value.as_bytes();
        let look = &self.look;
        // One or two characters over and over, or one that is most of the value.
        if look.distinct <= 2 || (bytes.len() >= 6 && look.most * 2 > bytes.len().min(LOOKED_AT)) {
            return true;
        }
        if bytes.len() > 256 {
            return false;
        }
        let lower = value.to_ascii_lowercase();
        if look.digits > 0 && is_technical(&lower) {
            return true;
        }
        if lower.matches("abcdefghijklmnopqrstuvwxyz").count() > 1 || LISTS["stand_ins"].contains(lower.as_str()) {
            return true;
        }
        // A random value may hold any four letters by chance, so the parts count only where the rest is words.
        let wordy = look.strange < 0.3 || value.contains("EXAMPLE") || lower.contains("xxxx") || lower.contains("your");
        wordy && PARTS.is_match(&lower) && !self.is_declared_token()
    }

    /// Whether a value is a token although it calls itself a false one: `fake_token_1234567890`. Whoever writes it where a token
    /// belongs wants it treated as one; what asks to be replaced (`your-api-key-here`) is none.
    pub fn is_declared_token(&self) -> bool {
        let value = self.text;
        let look = &self.look;
        let plain = value
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
        if !plain || !(12..=LOOKED_AT).contains(&value.len()) {
            return false;
        }
        let lower = value.to_ascii_lowercase();
        let mut declared = 0;
        for part in PARTS.find_iter(&lower) {
            let part = &lower[part.range()];
            if !LISTS["declared_parts"].contains(part) {
                return false;
            }
            declared += 1;
        }
        declared > 0 && (look.digits >= 3 || declared > 2)
    }

    /// Whether a value only says where the secret is.
    pub fn is_reference(&self) -> bool {
        let value = self.text;
        let bytes = value.as_bytes();
        let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
            return true;
        };
        if value.contains("${")
            || value.contains("$(")
            || value.contains("{{")
            || value.contains("#{")
            || value.contains("<%")
        {
            return true;
        }
        let is_name = |text: &str| {
            text.bytes().all(|byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.' | b'-' | b'>' | b'[' | b']' | b'/')
            })
        };
        match (first, last) {
            (b'$', _) if is_name(&value[1..]) => return true,
            (b'%', b'%') | (b'<', b'>') | (b'{', b'}') | (b'[', b']') | (b'(', b')') => return true,
            (b'<', _) | (b'(', _) => return true,
            (b'@', _) if is_name(&value[1..]) => return true,
            (b'&', _) | (b'*', _) if is_name(&value[1..]) => return true,
            (b'_', b'_') if value.starts_with("__") => return true,
            _ => {}
        }
        let head = value.get(..value.len().min(24)).unwrap_or(value).to_ascii_lowercase();
        LISTS["reference_starts"].iter().any(|start| head.starts_with(start)) || self.is_protocol_id()
    }

    /// Whether a value is an id of a model provider's protocol.
    pub fn is_protocol_id(&self) -> bool {
        let value = self.text;
        let rest = PROTOCOL.iter().find_map(|start| value.strip_prefix(start));
        rest.is_some_and(|rest| {
            rest.len() >= 12
                && rest
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        })
    }

    /// Whether a value is a place in a file system or a module path rather than a secret.
    pub fn is_path(&self) -> bool {
        let value = self.text;
        let bytes = value.as_bytes();
        if value.starts_with("./") || value.starts_with("../") || value.starts_with("~/") || value.starts_with("\\\\") {
            return true;
        }
        if bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && matches!(bytes[2], b'\\' | b'/') {
            return true;
        }
        let slashes = bytes.iter().filter(|byte| **byte == b'/').count();
        // Base64 has a slash in 64 characters; a path has words between its slashes.
        (bytes.first() == Some(&b'/') || slashes >= 2) && self.look.strange < 0.35 && !value.contains('+')
    }

    /// Whether unquoted text is code rather than a value: a call, a chain of names, an index.
    pub fn is_expression(&self) -> bool {
        let value = self.text;
        let bytes = value.as_bytes();
        if value.contains("::") || value.contains("=>") || value.contains("->") || value.contains("()") {
            return true;
        }
        let name = bytes
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | b'?' | b'!'))
            .count();
        if name > 0 && matches!(bytes.get(name), Some(b'(' | b'[')) {
            return true;
        }
        // `a.b.c`: every part is a name that begins with a letter and reads like words, with few digits among them.
        if value.contains('.') && name == bytes.len() {
            let parts = value.split('.');
            return parts.clone().count() >= 2
                && parts.clone().all(|part| {
                    part.bytes()
                        .next()
                        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
                })
                && self.look.strange < 0.3
                && self.look.digits * 4 < bytes.len();
        }
        false
    }

    /// Whether a value is words or one name: `expected_token`, `ArrowDown`, `tls-cert-production`, `Passwort vergessen`.
    pub fn is_wordy(&self) -> bool {
        let value = self.text;
        let look = &self.look;
        look.digits == 0
            && look.strange < 0.3
            && value.bytes().all(|byte| {
                byte.is_ascii_alphabetic()
                    || matches!(
                        byte,
                        b'_' | b'-' | b'.' | b' ' | b':' | b'/' | b',' | b'\'' | b'?' | b'!'
                    )
            })
    }

    /// Whether a value has the form of a checksum, an id or a number that programs print everywhere.
    pub fn is_digest(&self) -> bool {
        let value = self.text;
        let bytes = value.as_bytes();
        let hex = bytes.iter().all(u8::is_ascii_hexdigit)
            && matches!(bytes.len(), 7 | 8 | 12 | 16 | 32 | 40 | 56 | 64 | 96 | 128);
        let labelled = ["sha1", "sha256", "sha384", "sha512", "md5", "blake", "h1:"]
            .iter()
            .any(|label| value.starts_with(label));
        let tail = bytes.iter().rev().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let prefixed = tail >= 16
            && bytes.len() - tail <= 12
            && bytes.len() > tail
            && matches!(bytes[bytes.len() - tail - 1], b':' | b'-' | b'_');
        hex || labelled || prefixed || is_uuid(bytes)
    }

    /// Whether a value is a date, a time, a version or a plain number.
    pub fn is_measure(&self) -> bool {
        let value = self.text;
        let value = [
            "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "isize", "usize",
        ]
        .iter()
        .find_map(|kind| value.strip_suffix(kind))
        .unwrap_or(value);
        let bytes = value.as_bytes();
        let plain = bytes.iter().all(|byte| {
            byte.is_ascii_digit()
                || matches!(
                    byte,
                    b'.' | b',' | b':' | b'-' | b'/' | b'+' | b'%' | b'T' | b'Z' | b'_'
                )
        });
        let unit = bytes.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let number = bytes.len() - unit;
        let dated = bytes.len() >= 8
            && bytes.iter().filter(|byte| **byte == b'-').count() == 2
            && bytes[..4].iter().all(u8::is_ascii_digit);
        plain
            || dated
            || (unit <= 4
                && number > 0
                && bytes[..number]
                    .iter()
                    .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',')))
            || (bytes[0] == b'v' && bytes.len() > 1 && bytes[1].is_ascii_digit() && value.contains('.'))
    }

    /// Whether a value is the name of something in a program: words written together, with a number at most.
    pub fn is_identifier(&self) -> bool {
        let value = self.text;
        let look = &self.look;
        let plain = value.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'/' | b'-' | b'.' | b'#' | b'=' | b',' | b':')
        });
        let constant = value.contains('_')
            && look.lower == 0
            && look.digits <= 2
            && look.symbols * 3 < look.length
            && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if constant || value.starts_with("__") {
            return plain;
        }
        plain && look.length >= 14 && look.strange < 0.22 && look.digits * 4 < look.length
    }

    /// Whether a value is the name of a function, a type or a constant, of words with `_` between them: `hash_t`, `RSA_2048_KEY`.
    pub fn is_code_name(&self) -> bool {
        let value = self.text;
        let look = &self.look;
        let name = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !value.starts_with(|letter: char| letter.is_ascii_digit());
        let mut parts = 0;
        let mut words = 0;
        for part in value.split('_').filter(|part| !part.is_empty()) {
            parts += 1;
            words += usize::from(part.bytes().all(|byte| byte.is_ascii_alphabetic()));
        }
        let is_constant = look.lower == 0 && words >= 3;
        name && parts >= 2 && words > 0 && (is_constant || words * 3 >= parts && look.digits * 4 < look.length)
    }

    /// Whether a text is an assignment by itself: `GIT_TERMINAL_PROMPT=0`.
    pub fn is_setting(&self) -> bool {
        let value = self.text;
        value.split_once('=').is_some_and(|(name, _)| {
            name.len() >= 3
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        })
    }

    /// Whether a text begins with another name and its sign: `req_id=8841`, as logs write one after the other.
    pub fn is_field(&self) -> bool {
        self.text.split_once('=').is_some_and(|(name, value)| {
            name.len() >= 2
                && !value.is_empty()
                && name.starts_with(|letter: char| letter.is_ascii_lowercase())
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'.' | b'-'))
        })
    }

    /// Whether a value has signs, digits and letters, as only a password does.
    pub fn has_signs(&self) -> bool {
        let value = self.text;
        let look = &self.look;
        let sign = value.bytes().any(|byte| {
            matches!(
                byte,
                b'!' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'?' | b'~' | b'+'
            )
        }) || (value.contains('@') && !value.contains('.'));
        sign && look.digits > 0 && look.lower + look.upper >= 3 && look.length >= 8 && look.spaces == 0
    }

    /// Whether a value could be a password somebody chose: letters with digits or symbols, in one word.
    pub fn is_password(&self) -> bool {
        let value = self.text;
        let look = &self.look;
        let sorts = [look.digits, look.lower, look.upper, look.symbols, look.beyond];
        value.len() >= 6
            && look.spaces == 0
            && look.distinct >= 4
            && sorts.iter().filter(|count| **count > 0).count() >= 2
            && (look.digits > 0
                || look.strange >= 0.3
                || (look.symbols > 0
                    && value.bytes().any(|byte| {
                        matches!(
                            byte,
                            b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'?' | b'~' | b'+'
                        )
                    })))
    }
}
