//! Sessions with other messages than were recorded: without somebody else's summaries, with outputs trimmed as they arrive.

use std::sync::Arc;

use mainstay_engine::account::measure;
use mainstay_engine::shrink::Goal;
use mainstay_engine::shrink::shrink;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;

use crate::replay::timeline::Timeline;

/// What a reference to the original costs beside the trimmed output.
const REFERENCE: &str = "\n[trimmed; the whole output can be recalled by reference 0123456789ab]";

impl Timeline {
    /// The session without the messages that do not pass.
    pub fn filtered(&self, keeps: impl Fn(&Message) -> bool) -> Timeline {
        let messages = self.transcript.messages();
        let kept: Vec<bool> = messages.iter().map(&keeps).collect();
        // Where each message stands then, and one more for the end.
        let mut places = Vec::with_capacity(kept.len() + 1);
        let mut count = 0;
        for is_kept in &kept {
            places.push(count);
            count += usize::from(*is_kept);
        }
        places.push(count);
        let chosen = |list: &[u64]| {
            let pairs = list.iter().zip(&kept);
            pairs
                .filter(|(_, is_kept)| **is_kept)
                .map(|(value, _)| *value)
                .collect()
        };
        let mut timeline = self.clone();
        timeline.sizes = chosen(&self.sizes);
        timeline.reasoning = chosen(&self.reasoning);
        timeline.shared_messages = places[self.shared_messages.min(kept.len())];
        for request in &mut timeline.requests {
            request.before = places[request.before];
            request.answer = places[request.answer.start]..places[request.answer.end];
        }
        let left = messages.iter().zip(&kept).filter(|(_, is_kept)| **is_kept);
        match timeline.reassemble(left.map(|(message, _)| message.clone()).collect()) {
            true => timeline,
            // What was left out held the rest together.
            false => self.clone(),
        }
    }

    /// The session with outputs above a size trimmed as they arrive; how many were.
    pub fn trimmed(&self, above: usize, to: usize) -> (Timeline, usize) {
        let mut timeline = self.clone();
        let mut messages = self.transcript.messages().to_vec();
        let mut trimmed = 0;
        for (index, message) in messages.iter_mut().enumerate() {
            let before = measure(message, self.family).total();
            let count = trim(message, above, to);
            if count == 0 {
                continue;
            }
            trimmed += count;
            let saved = before.saturating_sub(measure(message, self.family).total());
            let saved = (saved as f64 * self.scale) as u64;
            timeline.sizes[index] = timeline.sizes[index].saturating_sub(saved);
        }
        match timeline.reassemble(messages) {
            true => (timeline, trimmed),
            false => (self.clone(), 0),
        }
    }

    /// Takes these messages as what was said, unless they would have to be repaired: sizes and requests would no longer be
    /// theirs.
    fn reassemble(&mut self, messages: Vec<Message>) -> bool {
        let count = messages.len();
        let draft = Draft {
            results_in_user_messages: !messages.iter().any(|message| message.role == Role::Tool),
            steps_span_messages: true,
            messages,
            ..Draft::default()
        };
        let transcript = draft.assemble().transcript;
        let is_same = transcript.messages().len() == count;
        if is_same {
            self.transcript = Arc::new(transcript);
        }
        is_same
    }
}

fn trim(message: &mut Message, above: usize, to: usize) -> usize {
    let mut count = 0;
    for part in &mut message.parts {
        let Part::Result(result) = part else { continue };
        for content in &mut result.content {
            let Content::Text(text) = content else { continue };
            if text.len() <= above {
                continue;
            }
            if let Some(shrunk) = shrink(text, Goal { most_bytes: to }) {
                *text = format!("{}{REFERENCE}", shrunk.text).into();
                count += 1;
            }
        }
    }
    count
}
