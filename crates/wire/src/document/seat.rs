//! A block inside of a kept message: its words become the first text of that message.
//!
//! The message's own text is spliced, never rebuilt, so every byte of it that was there is still there: unknown fields,
//! hints for the provider's cache, images, white space. A string becomes a list of two texts, the second spelled as the
//! string was.

use std::collections::BTreeMap;
use std::collections::HashSet;

use mainstay_engine::compaction::Block;
use mainstay_engine::compaction::Seat;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Spot;
use mainstay_engine::transform::Change;
use mainstay_engine::transform::changed_message;

use crate::body::range_in;
use crate::document::Document;
use crate::element::reads_as;
use crate::json;
use crate::json::Object;
use crate::json::Raw;
use crate::json::quote;
use crate::reading::WireForm;

impl Document {
    /// The message that a block sits in, with the block's words in it. `None` where the block is a message of its own:
    /// it was meant to be one, or the message is not kept, not the user's, not an element of the list, or not of a
    /// shape that reads as itself with one more text.
    pub(crate) fn seated(
        &self,
        block: &Block,
        changes: &BTreeMap<Spot, Change>,
        custom: &HashSet<&str>,
    ) -> Option<(usize, String)> {
        let Seat::Into(index) = block.seat else {
            return None;
        };
        let message = self.transcript.messages().get(index)?;
        let words: Option<Vec<&str>> = block.message.parts.iter().map(text_of).collect();
        let words = words?;
        if message.role != Role::User || !block.span.keeps(index) || !self.is_listed(index) {
            return None;
        }
        let element = self.element(index, message, changes, custom);
        let spliced = with_words(self.form(), &element, &words)?;
        let mut meant = changed_message(index, message, changes);
        let results = meant.parts.iter().take_while(|part| matches!(part, Part::Result(_)));
        let at = results.count();
        meant.parts.splice(at..at, block.message.parts.iter().cloned());
        reads_as(self.form(), &spliced, &meant).then_some((index, spliced))
    }
}

fn text_of(part: &Part) -> Option<&str> {
    match part {
        Part::Text(text) => Some(text),
        _ => None,
    }
}

/// A message's text with these words before its own; behind leading tool results, which have to come first.
fn with_words(form: WireForm, element: &str, words: &[&str]) -> Option<String> {
    let content = Object::parse(element).ok()?.get("content")?;
    let kind = match form {
        WireForm::Chat | WireForm::Anthropic => "text",
        WireForm::Responses => "input_text",
    };
    let text = |raw: &str| format!("{{\"type\":\"{kind}\",\"text\":{raw}}}");
    let words: Vec<String> = words.iter().map(|words| text(&quote(words))).collect();
    let words = words.join(",");
    let place = range_in(element, content);
    if json::text(content).is_some() {
        // An empty text is refused where it stands in a list, and was nothing before.
        let own = match (content.get(), form) {
            ("\"\"", WireForm::Chat | WireForm::Anthropic) => String::new(),
            (raw, _) => format!(",{}", text(raw)),
        };
        let list = format!("[{words}{own}]");
        return Some(format!("{}{list}{}", &element[..place.start], &element[place.end..]));
    }
    let blocks = json::array(content)?;
    let results = blocks.iter().take_while(|block| is_result(block)).count();
    let (at, spliced) = match (blocks.get(results), blocks.last()) {
        (Some(next), _) => (range_in(element, next).start, format!("{words},")),
        (None, Some(last)) => (range_in(element, last).end, format!(",{words}")),
        (None, None) => (place.start + 1, words),
    };
    Some(format!("{}{spliced}{}", &element[..at], &element[at..]))
}

fn is_result(block: Raw<'_>) -> bool {
    Object::of(block).is_some_and(|block| block.text("type").as_deref() == Some("tool_result"))
}

#[cfg(test)]
#[path = "seat_tests.rs"]
mod tests;
