//! JSON one level at a time, as raw text.
//!
//! A tree of values would reorder keys, merge duplicates, respell numbers and refuse lone surrogates and
//! deep nesting. Here an object is a list of raw keys and raw values that borrow from the source, so what
//! is not looked at is not touched. Scanning a value is iterative: nesting costs no stack.

use std::fmt;

use serde::Deserialize;
use serde::de::Deserializer;
use serde::de::MapAccess;
use serde::de::SeqAccess;
use serde::de::Visitor;
use serde_json::value::RawValue;

/// A JSON value as it stands in the source.
pub type Raw<'a> = &'a RawValue;

/// What sort of JSON value a raw text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number of any spelling.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// The sort of a raw value, from its first byte.
pub fn kind(raw: Raw<'_>) -> Kind {
    match raw.get().as_bytes().first() {
        Some(b'n') | None => Kind::Null,
        Some(b't' | b'f') => Kind::Bool,
        Some(b'"') => Kind::String,
        Some(b'[') => Kind::Array,
        Some(b'{') => Kind::Object,
        Some(_) => Kind::Number,
    }
}

/// Checks that a text is one JSON value.
pub fn value(text: &str) -> Result<Raw<'_>, serde_json::Error> {
    serde_json::from_str(text)
}

/// An object's members in source order, duplicates included.
#[derive(Clone, Debug, Default)]
pub struct Object<'a> {
    members: Vec<(Raw<'a>, Raw<'a>)>,
}

impl<'a> Object<'a> {
    /// Splits an object's text into its members.
    pub fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The members of a raw value that is an object.
    pub fn of(raw: Raw<'a>) -> Option<Self> {
        (kind(raw) == Kind::Object).then(|| Self::parse(raw.get()).ok())?
    }

    /// The value of a member; the last one when the key is repeated, as most parsers have it.
    pub fn get(&self, key: &str) -> Option<Raw<'a>> {
        let found = self.members.iter().rev().find(|(name, _)| key_is(name, key));
        found.map(|(_, value)| *value)
    }

    /// Whether there is a member of this name, whatever its value.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// A member that is a string, decoded.
    pub fn text(&self, key: &str) -> Option<Box<str>> {
        text(self.get(key)?)
    }

    /// Whether a member is this string. Escapes are not looked into: type tags have none.
    pub fn is(&self, key: &str, wanted: &str) -> bool {
        self.tag(key) == Some(wanted)
    }

    /// A member that is a string without escapes, borrowed: type tags, roles, ids.
    pub fn tag(&self, key: &str) -> Option<&'a str> {
        tag(self.get(key)?)
    }

    /// A member that is an object.
    pub fn object(&self, key: &str) -> Option<Object<'a>> {
        Object::of(self.get(key)?)
    }

    /// A member that is an array.
    pub fn array(&self, key: &str) -> Option<Vec<Raw<'a>>> {
        array(self.get(key)?)
    }

    /// A member that is a whole number at or above zero; fractions are cut.
    pub fn count(&self, key: &str) -> Option<u64> {
        number(self.get(key)?)
            .filter(|value| *value >= 0.0)
            .map(|value| value as u64)
    }

    /// A member that is a number.
    pub fn number(&self, key: &str) -> Option<f64> {
        number(self.get(key)?)
    }

    /// Whether a member is `true`.
    pub fn flag(&self, key: &str) -> bool {
        self.get(key).is_some_and(|raw| raw.get() == "true")
    }

    /// The members as they are spelled, in source order.
    pub fn raw_members(&self) -> impl Iterator<Item = (Raw<'a>, Raw<'a>)> {
        self.members.iter().copied()
    }

    /// The members, in source order.
    pub fn members(&self) -> impl Iterator<Item = (Box<str>, Raw<'a>)> {
        self.members
            .iter()
            .map(|(name, value)| (text(name).unwrap_or_default(), *value))
    }
}

fn key_is(name: Raw<'_>, key: &str) -> bool {
    match tag(name) {
        Some(plain) => plain == key,
        None => text(name).as_deref() == Some(key),
    }
}

/// The elements of a raw value that is an array.
pub fn array(raw: Raw<'_>) -> Option<Vec<Raw<'_>>> {
    (kind(raw) == Kind::Array)
        .then(|| serde_json::from_str::<Elements<'_>>(raw.get()).ok())?
        .map(|elements| elements.0)
}

/// The decoded text of a raw value that is a string. Half surrogate pairs become U+FFFD.
pub fn text(raw: Raw<'_>) -> Option<Box<str>> {
    if let Some(plain) = tag(raw) {
        return Some(plain.into());
    }
    if kind(raw) != Kind::String {
        return None;
    }
    match serde_json::from_str::<String>(raw.get()) {
        Ok(decoded) => Some(decoded.into_boxed_str()),
        Err(_) => Some(decode_lossy(raw.get()).into_boxed_str()),
    }
}

/// Whether a raw string holds half a surrogate pair, which no Rust string can.
pub fn has_lone_surrogate(raw: Raw<'_>) -> bool {
    kind(raw) == Kind::String && tag(raw).is_none() && serde_json::from_str::<String>(raw.get()).is_err()
}

/// The inside of a raw string that has no escapes.
pub fn tag(raw: Raw<'_>) -> Option<&str> {
    let inside = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    (!inside.contains('\\')).then_some(inside)
}

/// The value of a raw number.
pub fn number(raw: Raw<'_>) -> Option<f64> {
    (kind(raw) == Kind::Number).then(|| raw.get().parse().ok())?
}

/// A string as JSON, quotes included.
pub fn quote(text: &str) -> String {
    serde_json::to_string(text).expect("a string is always valid JSON")
}

/// Decodes a string that the scanner accepted but the strict decoder refuses.
fn decode_lossy(quoted: &str) -> String {
    let inside = &quoted[1..quoted.len() - 1];
    let mut out = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let (decoded, used) = escape(&rest[at..]);
        out.push(decoded);
        rest = rest.get(at + used..).unwrap_or("");
    }
    out.push_str(rest);
    out
}

/// Decodes the escape a text begins with, and says how many bytes it took. Half surrogate pairs become U+FFFD.
pub fn escape(text: &str) -> (char, usize) {
    match text.as_bytes().get(1) {
        Some(b'u') => unicode_escape(text),
        Some(b'n') => ('\n', 2),
        Some(b't') => ('\t', 2),
        Some(b'r') => ('\r', 2),
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(other) if other.is_ascii() => (char::from(*other), 2),
        Some(_) | None => (char::REPLACEMENT_CHARACTER, 1),
    }
}

/// Decodes `\uXXXX`, or a pair of them, at the start of a text; says how many bytes it took.
fn unicode_escape(text: &str) -> (char, usize) {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    let Some(first) = unit(0) else {
        return (char::REPLACEMENT_CHARACTER, 2);
    };
    if let Some(plain) = char::from_u32(first) {
        return (plain, 6);
    }
    if let (0xD800..=0xDBFF, Some(second @ 0xDC00..=0xDFFF)) = (first, unit(6)) {
        let joined = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        return (char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER), 12);
    }
    (char::REPLACEMENT_CHARACTER, 6)
}

struct Elements<'a>(Vec<Raw<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Elements<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Split;
        impl<'de> Visitor<'de> for Split {
            type Value = Vec<Raw<'de>>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = access.next_element()? {
                    elements.push(element);
                }
                Ok(elements)
            }
        }
        deserializer.deserialize_seq(Split).map(Elements)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Split;
        impl<'de> Visitor<'de> for Split {
            type Value = Vec<(Raw<'de>, Raw<'de>)>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = access.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        let members = deserializer.deserialize_map(Split)?;
        Ok(Object { members })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_order_duplicates_and_spelling() {
        let object = Object::parse(r#"{"b":1.10,"a":12345678901234567890123,"b":"x\/y"}"#).unwrap();
        let spelled: Vec<_> = object
            .members()
            .map(|(key, value)| format!("{key}={}", value.get()))
            .collect();
        assert_eq!(spelled, ["b=1.10", "a=12345678901234567890123", r#"b="x\/y""#]);
        assert_eq!(object.text("b").as_deref(), Some("x/y"));
    }

    #[test]
    fn escaped_keys_are_found() {
        let object = Object::parse(r#"{"r\u006fle":"user","\ud800":1}"#).unwrap();
        assert_eq!(object.tag("role"), Some("user"));
    }

    #[test]
    fn lone_surrogates_decode_to_replacement_characters() {
        for (source, decoded) in [
            (r#""a\ud800b""#, "a\u{fffd}b"),
            (r#""\ud83d\ude00\n\udc00""#, "😀\n\u{fffd}"),
            (r#""\ud800\ud83d\ude00""#, "\u{fffd}😀"),
            (r#""\ud800\"q\/""#, "\u{fffd}\"q/"),
        ] {
            let raw = value(source).unwrap();
            assert_eq!(text(raw).as_deref(), Some(decoded), "{source}");
            assert!(has_lone_surrogate(raw));
        }
    }

    #[test]
    fn nesting_costs_no_stack() {
        let deep = format!("{{\"k\":{}{}}}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        let object = Object::parse(&deep).unwrap();
        assert_eq!(kind(object.get("k").unwrap()), Kind::Array);
    }
}
