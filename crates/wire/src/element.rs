//! One element of a list by itself: reading it, and giving it out changed.

use std::collections::BTreeMap;

use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Place;
use mainstay_engine::transcript::Spot;
use mainstay_engine::transform::Change;
use mainstay_engine::transform::changed_message;

use crate::anthropic;
use crate::document::reads_as;
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
