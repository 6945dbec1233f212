//! What a full pass takes out: every part of every message that its block stands for, handed over for keeping.

use crate::account::Family;
use crate::account::measure_part;
use crate::decide::Action;
use crate::decide::Span;
use crate::decide::marker::opens_block;
use crate::decide::marker::reference;
use crate::transcript::Author;
use crate::transcript::Message;
use crate::transcript::Part;
use crate::transcript::Spot;
use crate::transcript::ToolCall;
use crate::transcript::Transcript;
use crate::transform::prune::Dropped;
use crate::transform::prune::is_failure;
use crate::transform::prune::media_text;
use crate::transform::prune::result_text;
use crate::transform::prune::thinking_text;

/// What a span does not keep and an earlier one still did, part by part.
pub fn replaced(transcript: &Transcript, span: &Span, before: Option<&Span>, family: Family) -> Vec<Dropped> {
    let mut dropped = Vec::new();
    for (index, message) in transcript.messages().iter().enumerate() {
        if span.keeps(index) || before.is_some_and(|before| !before.keeps(index)) {
            continue;
        }
        for (part_index, part) in message.parts.iter().enumerate() {
            let spot = Spot {
                message: index as u32,
                part: part_index as u32,
            };
            dropped.extend(dropped_part(transcript, message, part, spot, family));
        }
    }
    dropped
}

fn dropped_part(
    transcript: &Transcript,
    message: &Message,
    part: &Part,
    spot: Spot,
    family: Family,
) -> Option<Dropped> {
    let text = match part {
        // A block of ours stands for what the store has already.
        Part::Text(text) if message.author == Author::Summary && opens_block(text) => return None,
        Part::Text(text) => text.to_string(),
        Part::Call(call) => call.input.as_str().to_owned(),
        Part::Result(result) => result_text(result, media_text),
        Part::Thinking(thinking) => thinking_text(thinking),
        Part::Media(media) => media_text(media),
        Part::Opaque(opaque) => opaque.json.to_string(),
    };
    if text.is_empty() {
        return None;
    }
    let tool = match part {
        Part::Call(call) => Some(call.name.clone()),
        Part::Result(result) => result
            .name
            .clone()
            .or_else(|| call_of(transcript, spot).map(|call| call.name.clone())),
        Part::Text(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => None,
    };
    Some(Dropped {
        spot,
        action: Action::Replaced,
        role: message.role,
        author: message.author_of_part(part),
        tool,
        reference: reference(&text).into(),
        tokens: measure_part(part, family).total(),
        text: text.into(),
        tokens_left: 0,
        failed: is_failure(part),
    })
}

/// The call that the result at a spot answers. Pairs stand in the order of their calls, so the search is over those
/// before it only by their own order.
fn call_of(transcript: &Transcript, spot: Spot) -> Option<&ToolCall> {
    let pairs = transcript.pairs();
    let end = pairs.partition_point(|pair| pair.call < spot);
    let pair = pairs[..end]
        .iter()
        .rev()
        .take(MOST_PARALLEL)
        .find(|pair| pair.result == Some(spot))?;
    match &transcript.messages()[pair.call.message as usize].parts[pair.call.part as usize] {
        Part::Call(call) => Some(call),
        _ => None,
    }
}

/// How many calls one step makes at most, as far as the name of a tool is looked for.
const MOST_PARALLEL: usize = 64;
