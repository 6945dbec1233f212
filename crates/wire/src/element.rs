//! One element of a list by itself: reading it, and giving it out changed.

use std::collections::BTreeMap;

use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Spot;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transform::Change;
use mainstay_engine::transform::changed_message;

use crate::anthropic;
use crate::json;
use crate::openai_chat;
use crate::openai_responses;
use crate::reading::WireForm;
use crate::revise;

/// The message that an element is; `None` where it is no JSON.
pub fn read(form: WireForm, element: &str) -> Option<Message> {
    let raw = json::value(element).ok()?;
    let mut ignored = Vec::new();
    Some(match form {
        WireForm::Chat => openai_chat::read_message(raw, Place::Whole, &mut ignored),
        WireForm::Responses => openai_responses::read_item(raw, Place::Whole, &mut ignored),
        WireForm::Anthropic => anthropic::read_message(raw, Place::Whole, &mut ignored),
    })
}

/// An element with some of its parts changed, and everything else as it came; `None` where that would not read as it is meant.
pub fn changed(form: WireForm, element: &str, message: &Message, parts: BTreeMap<u32, Change>) -> Option<String> {
    let spot = |part| Spot { message: 0, part };
    let changes = parts.into_iter().map(|(part, change)| (spot(part), change)).collect();
    let meant = changed_message(0, message, &changes);
    let revised = revise::revise(form, element, &revise::of_message(&changes, 0))?;
    reads_as(form, &revised, &meant).then_some(revised)
}

/// Whether a message's text reads as these parts.
pub(crate) fn reads_as(form: WireForm, text: &str, meant: &Message) -> bool {
    let Some(read) = read(form, text) else {
        return false;
    };
    // A session may know more about a result than its message says.
    let said = |message: &Message| -> Vec<Part> {
        let mut parts = message.parts.clone();
        for part in &mut parts {
            if let Part::Result(result) = part {
                result.name = None;
                result.outcome = ToolOutcome::Unstated;
            }
        }
        parts
    };
    said(&read) == said(meant)
}
