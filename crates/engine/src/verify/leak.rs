//! No secret that was to be hidden may be shown by what a pass writes.

use std::collections::BTreeMap;

use crate::transcript::Input;
use crate::transcript::Spot;
use crate::transform::Change;
use crate::verify::flaw::Flaw;
use crate::verify::flaw::FlawKind;

/// Checks every text that the changes put into the conversation.
pub fn check_leaks(changes: &BTreeMap<Spot, Change>, find: &dyn Fn(&str) -> Option<String>) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    for (spot, change) in changes {
        let text = match change {
            Change::Result(text) | Change::Text(text) => text,
            Change::Arguments(Input::Json(text) | Input::Text(text)) => text,
            Change::Drop => continue,
        };
        if let Some(found) = find(text) {
            flaws.push(Flaw::fatal(FlawKind::Leak, Some(spot.message as usize), found));
        }
    }
    flaws
}
