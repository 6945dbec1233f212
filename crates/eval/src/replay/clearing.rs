//! The provider clears old tool results itself: all but those of the newest calls, whenever a prompt is long enough.

use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;

use crate::replay::walk::Made;
use crate::replay::walk::Walk;

/// What stands where a result was.
const CLEARED: &str = "[cleared]";

/// Clears all results but the newest `keep`, as far as that makes them smaller; none where fewer than `least` tokens would be
/// cleared.
pub fn clear(walk: &mut Walk<'_>, keep: usize, least: u64) -> Option<Made> {
    let messages = walk.timeline().transcript.messages();
    let before = walk.prompt();
    let (mut newest, mut freed) = (0, 0);
    let mut old = Vec::new();
    for (place, piece) in walk.messages().iter().enumerate().rev() {
        let Some(index) = piece.message.filter(|index| messages[*index].has_results()) else {
            continue;
        };
        if piece.written.is_some() {
            // Everything before was cleared earlier.
            break;
        }
        if newest >= keep {
            old.push((place, index, piece.segment.tokens));
            freed += piece.segment.tokens;
        }
        newest += messages[index].results().count();
    }
    if freed < least {
        return None;
    }
    let mut forms = Vec::new();
    freed = 0;
    for (place, index, tokens) in old {
        let form = cleared(&messages[index]);
        if let Some(less) = tokens.checked_sub(walk.tokens(&form)).filter(|less| *less > 0) {
            freed += less;
            forms.push((place, form));
        }
    }
    let earliest = forms.last().filter(|_| freed >= least)?.0;
    for (place, form) in forms {
        walk.rewrite(place, form);
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
