//! What of a message stays the same when a client sends it again.
//!
//! Clients move the marks of the provider's cache along with the conversation, and make a list of one text out of a string to
//! have a place for one; some leave the reasoning of finished turns out. None of that makes it another message. Pieces are cut
//! out of the text, and nothing is spelled anew: what is left is what the client would have written without them.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

use crate::body::range_in;
use crate::json;
use crate::json::Object;
use crate::json::Raw;
use crate::reading::WireForm;

/// How many bytes behind `"content"` are looked at for the beginning of a list of texts: brackets, a type, white space.
const OPENING: usize = 40;

/// The part of an element that says which message it is; `None` for reasoning that stands alone.
pub fn same<'a>(form: WireForm, element: &'a str) -> Option<Cow<'a, str>> {
    if !is_worth_a_look(element) {
        return Some(Cow::Borrowed(element));
    }
    let Ok(object) = Object::parse(element) else {
        return Some(Cow::Borrowed(element));
    };
    if form == WireForm::Responses && object.is("type", "reasoning") {
        return None;
    }
    let mut edits = Edits::new(element);
    let chat_reasoning = ["reasoning_content", "reasoning", "reasoning_details"];
    edits.cut_members(&object, |key| {
        key == "cache_control" || (form == WireForm::Chat && chat_reasoning.contains(&key))
    });
    if let Some(content) = object.get("content") {
        edits.look_at_content(content);
    }
    Some(edits.finish())
}

/// An element without the marks of the provider's cache.
pub fn without_marks(element: &str) -> Cow<'_, str> {
    let Some(object) = memmem::find(element.as_bytes(), b"cache_control").and_then(|_| Object::parse(element).ok())
    else {
        return Cow::Borrowed(element);
    };
    let mut edits = Edits::new(element);
    edits.cut_members(&object, |key| key == "cache_control");
    for block in object.array("content").unwrap_or_default() {
        edits.cut_marks(block);
    }
    edits.finish()
}

fn is_worth_a_look(element: &str) -> bool {
    let bytes = element.as_bytes();
    ["cache_control", "thinking", "reasoning"]
        .iter()
        .any(|word| memmem::find(bytes, word.as_bytes()).is_some())
        || opens_with_text(bytes)
}

/// Whether the content is a list that begins with a text.
fn opens_with_text(element: &[u8]) -> bool {
    let Some(at) = memmem::find(&element[..element.len().min(2 * OPENING)], b"\"content\"") else {
        return false;
    };
    let rest = &element[at + b"\"content\"".len()..];
    let opening = &rest[..rest.len().min(OPENING)];
    memchr::memchr(b'[', opening).is_some() && memmem::find(opening, b"\"text\"").is_some()
}

/// Pieces to be cut out of a text, or to be replaced by others of it.
struct Edits<'a> {
    text: &'a str,
    edits: Vec<(Range<usize>, &'a str)>,
}

impl<'a> Edits<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            edits: Vec::new(),
        }
    }

    /// Cuts members out.
    fn cut_members(&mut self, object: &Object<'a>, is_cut: impl Fn(&str) -> bool) {
        let text = self.text;
        let members = object.raw_members().map(|(key, value)| {
            let range = range_in(text, key).start..range_in(text, value).end;
            (range, json::tag(key).is_some_and(&is_cut))
        });
        self.cut(members.collect());
    }

    /// Cuts some of the things in a row out, with the commas that join them to the others.
    fn cut(&mut self, row: Vec<(Range<usize>, bool)>) {
        let first_left = row.iter().find(|(_, is_cut)| !is_cut).map(|(range, _)| range.start);
        let mut left = None;
        for (range, is_cut) in row {
            match (is_cut, left) {
                (false, _) => left = Some(range.end),
                (true, Some(left)) => self.edits.push((left..range.end, "")),
                (true, None) => self.edits.push((range.start..first_left.unwrap_or(range.end), "")),
            }
        }
    }

    fn cut_marks(&mut self, block: Raw<'a>) {
        if let Some(block) = Object::of(block) {
            self.cut_members(&block, |key| key == "cache_control");
        }
    }

    fn look_at_content(&mut self, content: Raw<'a>) {
        let Some(blocks) = json::array(content) else {
            return;
        };
        let is_reasoning = |block: &Raw<'a>| {
            let block = Object::of(block);
            block.is_some_and(|block| block.is("type", "thinking") || block.is("type", "redacted_thinking"))
        };
        let said: Vec<Raw<'a>> = blocks.iter().copied().filter(|block| !is_reasoning(block)).collect();
        // One text in a list is the text.
        if let [only] = said[..]
            && let Some(text) = lone_text(only)
        {
            self.edits.push((range_in(self.text, content), text.get()));
            return;
        }
        let row = blocks
            .iter()
            .map(|block| (range_in(self.text, block), is_reasoning(block)));
        self.cut(row.collect());
        said.into_iter().for_each(|block| self.cut_marks(block));
    }

    fn finish(mut self) -> Cow<'a, str> {
        if self.edits.is_empty() {
            return Cow::Borrowed(self.text);
        }
        self.edits.sort_by_key(|(range, _)| range.start);
        let mut out = String::with_capacity(self.text.len());
        let mut at = 0;
        for (range, text) in self.edits {
            // Of several in a row each reaches from the last thing that is left.
            out.push_str(self.text.get(at..range.start).unwrap_or_default());
            out.push_str(text);
            at = at.max(range.end);
        }
        out.push_str(&self.text[at..]);
        Cow::Owned(out)
    }
}

/// The text of a block that has nothing but a text, and perhaps a mark.
fn lone_text(block: Raw<'_>) -> Option<Raw<'_>> {
    let object = Object::of(block)?;
    let is_plain = object
        .raw_members()
        .all(|(key, _)| matches!(json::tag(key), Some("type" | "text" | "cache_control")));
    let text = object.get("text").filter(|text| json::kind(text) == json::Kind::String);
    text.filter(|_| is_plain && object.is("type", "text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anthropic(element: &str) -> String {
        same(WireForm::Anthropic, element).unwrap().into_owned()
    }

    #[test]
    fn a_mark_makes_no_other_message() {
        let plain = r#"{"role":"user","content":"hi \"x\""}"#;
        let list = r#"{"role":"user","content":[{"type":"text","text":"hi \"x\""}]}"#;
        let marked =
            r#"{"role":"user","content":[{"type":"text","text":"hi \"x\"","cache_control":{"type":"ephemeral"}}]}"#;
        assert_eq!(anthropic(plain), plain);
        assert_eq!(anthropic(list), plain);
        assert_eq!(anthropic(marked), plain);
        let results = r#"{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]}"#;
        let marked = r#"{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x", "cache_control": {"type": "ephemeral"}}]}"#;
        assert_eq!(anthropic(marked), results);
        assert_eq!(without_marks(marked), results);
        let first = r#"{"cache_control":{"type":"ephemeral"},"role":"user","content":"x"}"#;
        assert_eq!(anthropic(first), r#"{"role":"user","content":"x"}"#);
    }

    #[test]
    fn reasoning_makes_no_other_message_either() {
        let call = r#"{"type":"tool_use","id":"a","name":"f","input":{"thinking":1}}"#;
        let with = format!(
            r#"{{"role":"assistant","content":[{{"type":"thinking","thinking":"t","signature":"s"}},{{"type":"redacted_thinking","data":"d"}},{call}]}}"#
        );
        assert_eq!(
            anthropic(&with),
            format!(r#"{{"role":"assistant","content":[{call}]}}"#)
        );
        let chat = r#"{"role":"assistant","reasoning_content":"r","content":"x"}"#;
        assert_eq!(
            same(WireForm::Chat, chat).unwrap(),
            r#"{"role":"assistant","content":"x"}"#
        );
        assert_eq!(same(WireForm::Responses, r#"{"type":"reasoning","summary":[]}"#), None);
    }

    #[test]
    fn what_is_said_about_such_things_stays() {
        for element in [
            r#"{"role":"user","content":"the cache_control of \"thinking\" is reasoning"}"#,
            r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#,
            r#"{"role":"user","content":[{"type":"text","text":"a","citations":[]}]}"#,
            r#"{"content":{"cache_control":"x"}}"#,
            "not json cache_control",
        ] {
            assert_eq!(anthropic(element), element);
        }
    }
}
