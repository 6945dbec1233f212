//! Changes stay where changes are allowed.

use std::collections::BTreeMap;

use crate::decide::Boundary;
use crate::decide::Span;
use crate::json;
use crate::transcript::Input;
use crate::transcript::Part;
use crate::transcript::Spot;
use crate::transcript::Transcript;
use crate::transform::Change;
use crate::verify::flaw::Flaw;
use crate::verify::flaw::FlawKind;

/// Checks that a full pass changes no message that it keeps, but where its span shortens a part or an earlier frame goes.
pub fn check_kept(span: &Span, changes: &BTreeMap<Spot, Change>) -> Vec<Flaw> {
    let is_planned = |spot: &Spot, change: &Change| {
        *change == Change::Drop || span.shortened.iter().any(|shortened| shortened.spot == *spot)
    };
    let unplanned = changes.iter().filter(|(spot, change)| !is_planned(spot, change));
    unplanned
        .map(|(spot, _)| {
            Flaw::fatal(
                FlawKind::Protected,
                Some(spot.message as usize),
                "a kept message would change",
            )
        })
        .collect()
}

/// Checks that nothing protected is changed, that arguments stay JSON, and that no message is emptied.
pub fn check_scope(transcript: &Transcript, boundary: &Boundary, changes: &BTreeMap<Spot, Change>) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    for (spot, change) in changes {
        let index = spot.message as usize;
        if !boundary.is_open(index) {
            flaws.push(Flaw::fatal(
                FlawKind::Protected,
                Some(index),
                "a protected message would change",
            ));
        }
        let message = &transcript.messages()[index];
        match (change, &message.parts[spot.part as usize]) {
            (Change::Arguments(Input::Json(text)), Part::Call(_)) if json::value(text).is_err() => {
                flaws.push(Flaw::fatal(
                    FlawKind::Arguments,
                    Some(index),
                    "shortened arguments are not JSON",
                ));
            }
            (Change::Arguments(_), Part::Call(_))
            | (Change::Result(_), Part::Result(_))
            | (Change::Text(_), Part::Media(_)) => {}
            (Change::Drop, Part::Thinking(_)) => {
                let left = (0..).zip(&message.parts).any(|(part, _)| {
                    let spot = Spot { part, ..*spot };
                    changes.get(&spot) != Some(&Change::Drop)
                });
                if !left {
                    flaws.push(Flaw::fatal(
                        FlawKind::Empty,
                        Some(index),
                        "nothing would be left of the message",
                    ));
                }
            }
            (_, _) => flaws.push(Flaw::fatal(
                FlawKind::Unpaired,
                Some(index),
                "the change does not fit its part",
            )),
        }
    }
    flaws
}
