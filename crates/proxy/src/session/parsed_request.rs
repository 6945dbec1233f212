//! A request body, parsed, with a key for every prefix of its messages: by these keys a conversation is recognised.
//!
//! The key of a beginning follows from the key of the one that is a message shorter and from that message, so equal keys mean
//! equal beginnings. Instructions at the head of a list are not part of it: agents write the date into them. Nor are reasoning
//! and the marks of the provider's cache, which come and go.

use bytes::Bytes;
use mainstay_wire::json::Object;
use mainstay_wire::reading::WireForm;
use mainstay_wire::request::Glance;
use mainstay_wire::sameness::same;

/// The name of a beginning.
pub type PrefixKey = [u8; 32];

/// What the keys are made of; another way of making them needs another name.
const DOMAIN: &str = "mainstay conversation chain 1";

/// Longer lists are not looked at: no conversation has so many messages, and every one costs memory, however small it is.
const MOST_MESSAGES: usize = 50_000;

/// A request body, taken apart.
#[derive(Clone, Debug)]
pub struct ParsedRequest {
    /// Its form.
    pub form: WireForm,
    /// The exact bytes.
    pub body: Bytes,
    /// Where things stand in it.
    pub glance: Glance,
    /// How many elements at the head of the list are instructions.
    pub lead: usize,
    /// The keys of all beginnings behind those, from the empty one to the whole.
    pub keys: Vec<PrefixKey>,
}

impl ParsedRequest {
    /// Takes a body apart; `None` where it is no request that we can read.
    pub fn new(form: WireForm, body: Bytes, tenant: &str, pinned: Option<&str>) -> Option<Self> {
        let text = std::str::from_utf8(&body).ok()?;
        let glance = Glance::of(form, &body)?;
        let elements = &glance.elements;
        if elements.len() > MOST_MESSAGES {
            return None;
        }
        let lead = elements
            .iter()
            .take_while(|range| is_instruction(&text[(*range).clone()]))
            .count();
        let mut keys = Vec::with_capacity(elements.len() - lead + 1);
        let mut key = root(form, tenant, pinned);
        keys.push(key);
        for range in &elements[lead..] {
            if let Some(said) = same(form, &text[range.clone()]) {
                key = next(&key, said.as_bytes());
            }
            keys.push(key);
        }
        Some(Self {
            form,
            glance,
            lead,
            keys,
            body,
        })
    }

    /// How many messages the chain has.
    pub fn len(&self) -> usize {
        self.keys.len() - 1
    }

    /// The text of a message of the chain.
    pub fn element(&self, index: usize) -> &str {
        let range = self.glance.elements[self.lead + index].clone();
        std::str::from_utf8(&self.body[range])
            .expect("the whole body was found to be UTF-8, and elements begin and end with ASCII")
    }

    /// A field that is a string.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.glance.text(&self.body, key)
    }

    /// A field that is a whole number.
    pub fn number(&self, key: &str) -> Option<u64> {
        std::str::from_utf8(self.glance.value(&self.body, key)?)
            .ok()?
            .parse()
            .ok()
    }

    /// The most tokens that the answer may have, where the request says.
    pub fn answer_limit(&self) -> Option<u64> {
        let keys = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
        keys.iter().find_map(|key| self.number(key))
    }

    /// What stands around the chain and costs tokens: instructions and tools.
    pub fn preface(&self) -> Vec<&[u8]> {
        let fields = ["system", "instructions", "tools"];
        let fields = fields.iter().filter_map(|key| self.glance.value(&self.body, key));
        let leading = self.glance.elements[..self.lead].iter();
        fields.chain(leading.map(|range| &self.body[range.clone()])).collect()
    }

    /// The field by which the provider is told that it has a part of the history, or compacts it itself; then the list is not
    /// all of it. A provider that only clears old results or reasoning does so in whatever it is sent.
    pub fn server_state(&self) -> Option<&'static str> {
        let has = |key: &&str| self.glance.value(&self.body, key).is_some();
        let edits = self.glance.value(&self.body, "context_management").unwrap_or_default();
        let compacts = || memchr::memmem::find(edits, b"\"compact").map(|_| "context_management");
        ["previous_response_id", "conversation", "compaction"]
            .into_iter()
            .find(has)
            .or_else(compacts)
            .or_else(|| self.has_provider_compaction().then_some("compaction"))
    }

    /// Whether a message is a compaction by the provider, which must come back as it is where it is.
    fn has_provider_compaction(&self) -> bool {
        let name = b"\"compaction";
        if memchr::memmem::find(&self.body, name).is_none() {
            return false;
        }
        let is_one = |object: &Object<'_>| {
            let kind = object.tag("type").unwrap_or_default();
            kind.starts_with("compaction") || kind == "context_compaction"
        };
        (0..self.len()).any(|index| {
            let element = self.element(index);
            memchr::memmem::find(element.as_bytes(), name).is_some()
                && Object::parse(element).is_ok_and(|object| {
                    let blocks = object.array("content").unwrap_or_default();
                    is_one(&object)
                        || blocks
                            .iter()
                            .filter_map(|block| Object::of(block))
                            .any(|block| is_one(&block))
                })
        })
    }
}

fn is_instruction(element: &str) -> bool {
    // What is long enough to be worth a whole look is not looked at: the role stands at its beginning.
    let Ok(object) = Object::parse(element) else {
        return false;
    };
    matches!(object.tag("role"), Some("system" | "developer"))
}

fn root(form: WireForm, tenant: &str, pinned: Option<&str>) -> PrefixKey {
    let mut hasher = blake3::Hasher::new();
    for word in [DOMAIN, form.name(), tenant, pinned.unwrap_or_default()] {
        hasher.update(&(word.len() as u64).to_le_bytes());
        hasher.update(word.as_bytes());
    }
    hasher.finalize().into()
}

fn next(key: &PrefixKey, said: &[u8]) -> PrefixKey {
    let mut hasher = blake3::Hasher::new();
    hasher.update(key);
    hasher.update(said);
    hasher.finalize().into()
}

/// A key in hexadecimal digits.
pub fn hex(key: &PrefixKey) -> String {
    blake3::Hash::from(*key).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(body: &str) -> ParsedRequest {
        ParsedRequest::new(WireForm::Chat, Bytes::copy_from_slice(body.as_bytes()), "", None).unwrap()
    }

    #[test]
    fn a_longer_list_has_the_keys_of_its_beginning() {
        let short = taken(r#"{"messages":[{"role":"system","content":"monday"},{"role":"user","content":"a"}]}"#);
        let long = taken(
            r#"{"messages":[{"role":"system","content":"tuesday"},{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}"#,
        );
        assert_eq!((short.lead, short.len(), long.len()), (1, 1, 2));
        assert_eq!(short.keys[..], long.keys[..2]);
        let other = taken(r#"{"messages":[{"role":"user","content":"A"},{"role":"assistant","content":"b"}]}"#);
        assert_ne!(other.keys[1], long.keys[1]);
        assert_ne!(other.keys[2], long.keys[2]);
    }

    #[test]
    fn tenants_and_pins_have_chains_of_their_own() {
        let body = Bytes::from_static(br#"{"messages":[{"role":"user","content":"a"}]}"#);
        let key = |tenant: &str, pinned| {
            ParsedRequest::new(WireForm::Chat, body.clone(), tenant, pinned)
                .unwrap()
                .keys[1]
        };
        let keys = [key("", None), key("a", None), key("", Some("a")), key("a", Some("a"))];
        for (index, one) in keys.iter().enumerate() {
            assert!(keys[..index].iter().all(|other| other != one));
        }
    }

    #[test]
    fn what_the_provider_keeps_is_named() {
        for (body, field) in [
            (
                r#"{"messages":[],"previous_response_id":"r"}"#,
                Some("previous_response_id"),
            ),
            (r#"{"messages":[],"previous_response_id":null}"#, None),
            (
                r#"{"messages":[],"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]}}"#,
                None,
            ),
            (
                r#"{"messages":[],"context_management":[{"type":"compaction","compact_threshold":1000}]}"#,
                Some("context_management"),
            ),
            (
                r#"{"messages":[{"role":"assistant","content":[{"type":"compaction","content":"x"}]}]}"#,
                Some("compaction"),
            ),
            (r#"{"messages":[{"role":"user","content":"\"compaction\""}]}"#, None),
        ] {
            assert_eq!(taken(body).server_state(), field, "{body}");
        }
    }
}
