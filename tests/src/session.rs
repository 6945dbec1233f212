//! Generated sessions: conversations with times, reports and recorded compactions, as an agent's log would have them.

use mainstay_engine::account::Family;
use mainstay_engine::account::measure;
use mainstay_engine::transcript::CompactionEvent;
use mainstay_engine::transcript::CompactionKind;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Timestamp;
use mainstay_engine::transcript::Transcript;
use mainstay_engine::transcript::Trigger;
use mainstay_engine::transcript::Usage;

use crate::conversation::Form;
use crate::conversation::Generated;
use crate::conversation::Random;
use crate::trial::read;

/// What a generated session is to be like.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The provider form it was held in.
    pub form: Form,
    /// Where its numbers come from.
    pub seed: u64,
    /// Elements of its body, about.
    pub elements: usize,
    /// Bytes of the largest output.
    pub largest_output: usize,
    /// Whether every answer has a report; otherwise none has.
    pub has_reports: bool,
}

/// A session of this shape, without recorded compactions. Requests follow each other in seconds, sometimes in minutes or hours.
pub fn session(shape: Shape) -> Transcript {
    let mut generated = Generated::new(shape.form, shape.seed);
    generated.grow(shape.elements, shape.largest_output);
    let messages = read(shape.form, &generated.body()).transcript.messages().to_vec();
    assembled(stamped(messages, shape), Vec::new())
}

/// Messages as a transcript; they must need no repair.
pub fn assembled(messages: Vec<Message>, events: Vec<CompactionEvent>) -> Transcript {
    let draft = Draft {
        results_in_user_messages: !messages.iter().any(|message| message.role == Role::Tool),
        steps_span_messages: true,
        messages,
        events,
    };
    draft.assemble().transcript
}

/// A compaction before the message at this index, with or without its summary among the messages.
pub fn compaction(before: usize, summary: Option<usize>) -> CompactionEvent {
    CompactionEvent {
        before,
        kind: CompactionKind::Summary,
        trigger: Trigger::Automatic,
        tokens_before: None,
        tokens_after: None,
        summary,
        at: None,
    }
}

fn stamped(mut messages: Vec<Message>, shape: Shape) -> Vec<Message> {
    let mut random = Random(shape.seed ^ 0x5E55_1011);
    let mut now = 1_700_000_000_000;
    let mut prompt = 2_000;
    for message in &mut messages {
        now += match random.below(40) {
            0 => 4_000_000,
            1 | 2 => 400_000,
            _ => 1_000 + random.below(20_000) as i64,
        };
        message.at = Some(Timestamp(now));
        let tokens = measure(message, Family::O200k).total();
        if message.role == Role::Assistant && shape.has_reports {
            // Now and then far more came back than can be seen: the same words, but of another size.
            let hidden = if random.below(4) == 0 {
                random.below(2_000) as u64
            } else {
                0
            };
            message.usage = Some(Box::new(Usage {
                input: prompt,
                cache_read: prompt / 2,
                output: tokens + hidden,
                reasoning: hidden,
                ..Usage::default()
            }));
            prompt += hidden;
        }
        prompt += tokens;
    }
    messages
}
