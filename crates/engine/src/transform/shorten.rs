//! Shortens parts of the newest step that would fill the room: whole lines from the beginning and the end stay.

use std::collections::BTreeMap;

use crate::account::Family;
use crate::account::TextKind;
use crate::account::TokenCounter;
use crate::account::measure_part;
use crate::decide::Action;
use crate::decide::ShortenedPart;
use crate::decide::marker::reference;
use crate::ledger::page::shortened;
use crate::transcript::Author;
use crate::transcript::Part;
use crate::transcript::Spot;
use crate::transcript::Transcript;
use crate::transform::arguments;
use crate::transform::prune::Change;
use crate::transform::prune::Dropped;
use crate::transform::prune::Pruned;
use crate::transform::prune::cost_of;
use crate::transform::prune::is_failure;
use crate::transform::prune::media_text;
use crate::transform::prune::result_text;

/// What the line that says where the rest is costs at most, and what a text may gain where lines are joined.
const MARK_TOKENS: u64 = 28;

/// Shortens parts to what they may cost; a part that would not get smaller stays as it is.
pub fn shorten_parts(transcript: &Transcript, parts: &[ShortenedPart], family: Family) -> Pruned {
    let mut changes: BTreeMap<Spot, Change> = BTreeMap::new();
    let mut dropped = Vec::new();
    for part in parts {
        let message = &transcript.messages()[part.spot.message as usize];
        let whole = &message.parts[part.spot.part as usize];
        let Some((change, text, action)) = shorter(whole, part.allowed, family) else {
            continue;
        };
        let left = cost_of(&change, whole, family);
        let before = measure_part(whole, family).total();
        if left >= before {
            continue;
        }
        changes.insert(part.spot, change);
        dropped.push(Dropped {
            spot: part.spot,
            action,
            role: message.role,
            author: if matches!(whole, Part::Result(_)) {
                Author::Tool
            } else {
                message.author
            },
            tool: match whole {
                Part::Call(call) => Some(call.name.clone()),
                Part::Result(result) => result.name.clone(),
                _ => None,
            },
            reference: reference(&text).into(),
            text: text.into(),
            tokens: before,
            tokens_left: left,
            failed: is_failure(whole),
        });
    }
    Pruned { changes, dropped }
}

fn shorter(part: &Part, allowed: u64, family: Family) -> Option<(Change, String, Action)> {
    match part {
        Part::Result(result) => {
            let text = result_text(result, media_text);
            let count = |text: &str| family.count(text, TextKind::Prose);
            let kept = shortened(&text, allowed.saturating_sub(MARK_TOKENS), &count);
            let mark = format!("[… shortened; whole: mainstay recall {}]", reference(&text));
            // It stands on a line of its own; what the output says of itself is left alone.
            let mut lines: Vec<&str> = kept.lines().collect();
            match lines.iter().position(|line| *line == LEFT_OUT) {
                Some(at) => lines[at] = &mark,
                None => lines.push(&mark),
            }
            let kept = lines.join("\n");
            Some((Change::Result(kept.into()), text, Action::OldOutput))
        }
        Part::Call(call) => {
            let text = call.input.as_str().to_owned();
            let input = arguments::shorten(&call.input, &reference(&text))?;
            Some((Change::Arguments(input), text, Action::OldArguments))
        }
        Part::Text(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => None,
    }
}

/// What stands where lines were left out.
const LEFT_OUT: &str = "[…]";

#[cfg(test)]
#[path = "shorten_tests.rs"]
mod tests;
