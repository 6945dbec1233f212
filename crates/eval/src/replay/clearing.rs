//! The provider clears old tool results itself: all but those of the newest calls, whenever a prompt is long enough.

use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;

use crate::replay::walk::Made;
use crate::replay::walk::Walk;

/// What stands where a result was.
const CLEARED: &str = "[cleared]";

/// Clears all results but the newest `keep`; none where fewer than `least` tokens are left to clear.
pub fn clear(walk: &mut Walk<'_>, keep: usize, least: u64) -> Option<Made> {
    let messages = walk.timeline().transcript.messages();
    let before = walk.prompt();
    let (mut newest, mut freed) = (0, 0);
    let mut old = Vec::new();
    for (place, piece) in walk.messages().iter().enumerate().rev() {
        let Some(index) = piece.message.filter(|index| messages[*index].has_results()) else {
            continue;
        };
        if piece.text.is_some() {
            // Everything before was cleared earlier.
            break;
        }
        if newest >= keep {
            old.push((place, index));
            freed += piece.segment.tokens;
        }
        newest += messages[index].results().count();
    }
    let earliest = old.last().filter(|_| freed >= least)?.0;
    for (place, index) in old {
        walk.rewrite(place, &cleared(&messages[index]));
    }
    Some(Made {
        before,
        after: walk.prompt(),
        earliest,
        replaced: before.saturating_sub(walk.prompt()),
    })
}

fn cleared(message: &Message) -> Message {
    let mut message = message.clone();
    for part in &mut message.parts {
        if let Part::Result(result) = part {
            result.content = vec![Content::Text(CLEARED.into())];
        }
    }
    message
}
