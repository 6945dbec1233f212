//! A state as one text: what is graded, and what an answering model reads.

use mainstay_engine::transcript::Message;

use crate::retention::render;

/// All messages, each behind its role.
pub fn as_text(messages: &[Message]) -> String {
    let mut text = String::new();
    for message in messages {
        text.push('[');
        text.push_str(message.role.name());
        text.push_str("]\n");
        text.push_str(&render(message));
        text.push_str("\n\n");
    }
    text
}
