//! What a value is: random, a password, a placeholder, or a reference to where the secret really is.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::redact::chars::is_uuid;
use crate::redact::key::lists;

/// Pairs of letters that are common in English words and identifiers: after the letter before the colon. The 242 pairs
/// that are each more than 0.06 % of all pairs in English documentation and Python sources, 96 % of them together; of the
/// pairs of random letters they are 36 %.
const COMMON_PAIRS: &str = "a:bcdgiklmnprstuvy b:aeijloruy c:aehiklortu d:adeiorsu e:acdefgilmnopqrstvwxy f:aefilortu \
    g:ehilnrsu h:aeiot i:abcdefglmnoprstvxz j:e k:es l:adefilostuy m:abeimopsu n:acdefgiklnostuvy o:bcdfgiklmnoprstuvw \
    p:aeiloprtuy q:u r:acdegikmnorstuy s:acehilopstuy t:acdehiloprstuwy u:bcefilmnprst v:aei w:aehior x:cpt y:opst z:e";

const PAIRS: [[bool; 26]; 26] = pairs();

const fn pairs() -> [[bool; 26]; 26] {
    let text = COMMON_PAIRS.as_bytes();
    let mut table = [[false; 26]; 26];
    let mut first = 0;
    let mut at = 0;
    while at < text.len() {
        if text[at].is_ascii_lowercase() {
            if at + 1 < text.len() && text[at + 1] == b':' {
                first = (text[at] - b'a') as usize;
            } else {
                table[first][(text[at] - b'a') as usize] = true;
            }
        }
        at += 1;
    }
    table
}

/// The lists of `stand_ins.txt`.
static LISTS: LazyLock<BTreeMap<&str, BTreeSet<&str>>> = LazyLock::new(|| lists(include_str!("stand_ins.txt")));

fn listed(list: &str) -> impl Iterator<Item = &'static str> {
    LISTS.get(list).into_iter().flatten().copied()
}

/// Which sorts of characters a value has, and how strange their order is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Look {
    /// How many bytes.
    pub length: usize,
    /// How many digits.
    pub digits: usize,
    /// How many lower-case letters.
    pub lower: usize,
    /// How many upper-case letters.
    pub upper: usize,
    /// How many other visible ASCII characters.
    pub symbols: usize,
    /// How many characters beyond ASCII, in bytes.
    pub beyond: usize,
    /// How many spaces.
    pub spaces: usize,
    /// Of the neighbouring letters and digits, the share that words and names do not put next to each other.
    pub strange: f32,
    /// Shannon entropy in bits a byte.
    pub entropy: f32,
    /// How many different bytes.
    pub distinct: usize,
}

impl Look {
    /// Looks at a value.
    pub fn at(value: &[u8]) -> Self {
        let mut look = Look {
            length: value.len(),
            ..Look::default()
        };
        let mut counts = [0u16; 256];
        let mut before = b' ';
        let (mut pairs, mut strange) = (0u32, 0f32);
        for byte in value.iter().take(1024).copied() {
            counts[byte as usize] += 1;
            match byte {
                b'0'..=b'9' => look.digits += 1,
                b'a'..=b'z' => look.lower += 1,
                b'A'..=b'Z' => look.upper += 1,
                b' ' => look.spaces += 1,
                0x80.. => look.beyond += 1,
                _ => look.symbols += 1,
            }
            if let Some(share) = strangeness(before, byte) {
                pairs += 1;
                strange += share;
            }
            before = byte;
        }
        look.strange = if pairs == 0 { 0.0 } else { strange / pairs as f32 };
        let seen = value.len().min(1024) as f32;
        for count in counts.into_iter().filter(|count| *count > 0) {
            look.distinct += 1;
            let share = f32::from(count) / seen;
            look.entropy -= share * share.log2();
        }
        look
    }

    /// Letters and digits, as a key made by a machine has.
    pub fn is_mixed(&self) -> bool {
        self.digits > 0 && self.lower + self.upper > 0
    }

    /// Whether it looks made by a machine: `strange` enough for its length. Words, names and paths do not.
    pub fn is_random(&self, least: usize) -> bool {
        let letters = self.lower + self.upper;
        self.length >= least
            && self.spaces == 0
            && self.entropy >= 2.6
            && self.distinct >= 6
            && (self.digits > 0 || letters >= 16)
            && self.strange >= if self.digits >= 2 { 0.22 } else { 0.3 }
    }
}

/// How strange it is that one byte follows another; `None` where the pair says nothing.
fn strangeness(before: u8, byte: u8) -> Option<f32> {
    let (was_letter, is_letter) = (before.is_ascii_alphabetic(), byte.is_ascii_alphabetic());
    if was_letter && is_letter {
        // `aB` begins a new word in a name, `Ba` goes on with one; a word rarely ends after one letter.
        if before.is_ascii_lowercase() && byte.is_ascii_uppercase() {
            return Some(0.4);
        }
        let common = PAIRS[(before | 0x20) as usize - 97][(byte | 0x20) as usize - 97];
        return Some(if common { 0.0 } else { 1.0 });
    }
    let (was_digit, is_digit) = (before.is_ascii_digit(), byte.is_ascii_digit());
    match (was_letter && is_digit, was_digit && is_letter, was_digit && is_digit) {
        (true, ..) => Some(0.5),
        (_, true, _) => Some(0.9),
        (.., true) => Some(0.2),
        _ => None,
    }
}

/// Whether a value is a stand-in: nobody would log in with it.
pub(super) fn is_placeholder(value: &str) -> bool {
    let value = value.trim();
    if value.len() < 3 {
        return true;
    }
    if value.contains("credential_ref:") || value.contains("[REDACTED") {
        return true;
    }
    let bytes = value.as_bytes();
    let look = Look::at(&bytes[..bytes.len().min(256)]);
    // One or two characters over and over, or one that is most of the value.
    if look.distinct <= 2 || mostly_one(bytes) {
        return true;
    }
    if bytes.len() > 256 {
        return false;
    }
    let lower = value.to_ascii_lowercase();
    if listed("stand_ins").any(|stand_in| stand_in == lower) {
        return true;
    }
    // A random value may hold any four letters by chance, so the parts count only where the rest is words.
    let wordy = look.strange < 0.3 || value.contains("EXAMPLE") || lower.contains("xxxx") || lower.contains("your");
    wordy && listed("stand_in_parts").any(|part| lower.contains(part))
}

/// Whether one character makes up more than half of a value that is longer than a word.
fn mostly_one(bytes: &[u8]) -> bool {
    let mut counts = [0usize; 256];
    for byte in bytes.iter().take(256) {
        counts[*byte as usize] += 1;
    }
    let most = counts.into_iter().max().unwrap_or(0);
    bytes.len() >= 6 && most * 2 > bytes.len().min(256)
}

/// Whether a value only says where the secret is.
pub(super) fn is_reference(value: &str) -> bool {
    let value = value.trim();
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
    let head: String = value.chars().take(24).flat_map(char::to_lowercase).collect();
    listed("reference_starts").any(|start| head.starts_with(start)) || is_protocol_id(value)
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

/// Whether a value is an id of a model provider's protocol.
pub(super) fn is_protocol_id(value: &str) -> bool {
    let rest = PROTOCOL.iter().find_map(|start| value.strip_prefix(start));
    rest.is_some_and(|rest| {
        rest.len() >= 12
            && rest
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    })
}

/// Whether a value is a place in a file system or a module path rather than a secret.
pub(super) fn is_path(value: &str) -> bool {
    let bytes = value.as_bytes();
    if value.starts_with("./") || value.starts_with("../") || value.starts_with("~/") || value.starts_with("\\\\") {
        return true;
    }
    if bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && matches!(bytes[2], b'\\' | b'/') {
        return true;
    }
    let slashes = bytes.iter().filter(|byte| **byte == b'/').count();
    // Base64 has a slash in 64 characters; a path has words between its slashes.
    (bytes.first() == Some(&b'/') || slashes >= 2) && Look::at(bytes).strange < 0.35 && !value.contains('+')
}

/// Whether unquoted text is code rather than a value: a call, a chain of names, an index.
pub(super) fn is_expression(value: &str) -> bool {
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
    // `a.b.c`: every part is a name that begins with a letter and reads like words.
    if value.contains('.') && name == bytes.len() {
        let parts = value.split('.');
        return parts.clone().count() >= 2
            && parts.clone().all(|part| {
                part.bytes()
                    .next()
                    .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
            })
            && Look::at(bytes).strange < 0.3;
    }
    false
}

/// Whether a value is words or one name: `expected_token`, `ArrowDown`, `tls-cert-production`, `Passwort vergessen`.
pub(super) fn is_wordy(value: &str) -> bool {
    let look = Look::at(value.as_bytes());
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
pub(super) fn is_digest(value: &str) -> bool {
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
pub(super) fn is_measure(value: &str) -> bool {
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
pub(super) fn is_identifier(value: &str) -> bool {
    let look = Look::at(value.as_bytes());
    let plain = value.bytes().all(|byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'/' | b'-' | b'.' | b'#' | b'=' | b',' | b':')
    });
    plain && look.length >= 14 && look.strange < 0.22 && look.digits * 4 < look.length
}

/// Whether a text is an assignment by itself: `GIT_TERMINAL_PROMPT=0`.
pub(super) fn is_setting(value: &str) -> bool {
    value.split_once('=').is_some_and(|(name, _)| {
        name.len() >= 3
            && name
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    })
}

/// Whether a value has signs, digits and letters, as only a password does.
pub(super) fn has_signs(value: &str) -> bool {
    let look = Look::at(value.as_bytes());
    let sign = value.bytes().any(|byte| {
        matches!(
            byte,
            b'!' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'?' | b'~' | b'+'
        )
    }) || (value.contains('@') && !value.contains('.'));
    sign && look.digits > 0 && look.lower + look.upper >= 3 && look.length >= 8 && look.spaces == 0
}

/// Whether a value could be a password somebody chose: letters with digits or symbols, in one word.
pub(super) fn is_password(value: &str) -> bool {
    let look = Look::at(value.as_bytes());
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
