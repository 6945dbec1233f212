//! What a value is: random, a password, a placeholder, or a reference to where the secret really is.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::redact::chars::is_uuid;
use crate::redact::key::lists;

/// Pairs of letters that are common in English words and identifiers: after the letter before the colon. The 242 pairs
/// that are each more than 0.06 % of all pairs in English documentation and Python sources, 96 % of them together; of the
/// pairs of random letters they are 36 %.
const COMMON_PAIRS: &str = "a:bcdgiklmnprstuvy b:aeijloruy c:aehiklortu d:adeiorsu e:acdefgilmnopqrstvwxy f:aefilortu \
    g:ehilnrsu h:aeiot i:abcdefglmnoprstvxz j:e k:es l:adefilostuy m:abeimopsu n:acdefgiklnostuvy o:bcdfgiklmnoprstuvw \
    p:aeiloprtuy q:u r:acdegikmnorstuy s:acehilopstuy t:acdehiloprstuwy u:bcefilmnprst v:aei w:aehior x:cpt y:opst z:e";

/// How much of a value is looked at: enough to tell what it is.
const LOOKED_AT: usize = 256;

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

/// The parts of stand-ins, searched at once.
static PARTS: LazyLock<AhoCorasick> =
    LazyLock::new(|| AhoCorasick::new(&LISTS["stand_in_parts"]).expect("a short list of words fits an automaton"));

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
    /// How many different bytes.
    pub distinct: usize,
    /// How often the most frequent one occurs.
    pub most: usize,
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
        for byte in value.iter().take(LOOKED_AT).copied() {
            let count = &mut counts[byte as usize];
            look.distinct += usize::from(*count == 0);
            *count += 1;
            look.most = look.most.max(usize::from(*count));
            match byte {
                b'0'..=b'9' => look.digits += 1,
                b'a'..=b'z' => look.lower += 1,
                b'A'..=b'Z' => look.upper += 1,
                b' ' => look.spaces += 1,
                0x80.. => look.beyond += 1,
                _ => look.symbols += 1,
            }
            let share = STRANGENESS[SORT[before as usize] as usize][SORT[byte as usize] as usize];
            if share >= 0.0 {
                pairs += 1;
                strange += share;
            }
            before = byte;
        }
        look.strange = if pairs == 0 { 0.0 } else { strange / pairs as f32 };
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
            && self.distinct >= 7
            && (self.digits > 0
                || letters >= 16
                || (letters >= 12 && self.upper > 1 && self.lower > 1 && self.strange >= 0.4))
            && self.strange >= if self.digits >= 2 { 0.22 } else { 0.3 }
    }
}

/// Shannon entropy in bits a byte.
pub(super) fn entropy(value: &[u8]) -> f32 {
    let mut counts = [0u16; 256];
    for byte in value.iter().take(LOOKED_AT) {
        counts[*byte as usize] += 1;
    }
    let seen = value.len().min(LOOKED_AT) as f32;
    let shares = counts
        .into_iter()
        .filter(|count| *count > 0)
        .map(|count| f32::from(count) / seen);
    shares.map(|share| -share * share.log2()).sum()
}

/// The sorts of bytes whose order tells: small letters 0 to 25, capitals 26 to 51, digits 52, anything else 53.
const SORT: [u8; 256] = sorts();

const fn sorts() -> [u8; 256] {
    let mut table = [53; 256];
    let mut byte = 0;
    while byte < 128u8 {
        table[byte as usize] = match byte {
            b'a'..=b'z' => byte - b'a',
            b'A'..=b'Z' => byte - b'A' + 26,
            b'0'..=b'9' => 52,
            _ => 53,
        };
        byte += 1;
    }
    table
}

/// How strange it is that one sort follows another; below zero where the pair says nothing.
static STRANGENESS: [[f32; 54]; 54] = strangeness();

const fn strangeness() -> [[f32; 54]; 54] {
    let mut table = [[-1.0; 54]; 54];
    let mut before = 0;
    while before < 53 {
        let mut after = 0;
        while after < 53 {
            table[before][after] = match (before, after) {
                (52, 52) => 0.2,
                (_, 52) => 0.5,
                (52, _) => 0.9,
                // `aB` begins a new word in a name.
                (0..=25, 26..=51) => 0.4,
                _ if PAIRS[before % 26][after % 26] => 0.0,
                _ => 1.0,
            };
            after += 1;
        }
        before += 1;
    }
    table
}

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
        if lower.matches("abcdefghijklmnopqrstuvwxyz").count() > 1 || LISTS["stand_ins"].contains(lower.as_str()) {
            return true;
        }
        // A random value may hold any four letters by chance, so the parts count only where the rest is words.
        let wordy = look.strange < 0.3 || value.contains("EXAMPLE") || lower.contains("xxxx") || lower.contains("your");
        wordy && PARTS.is_match(&lower)
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
