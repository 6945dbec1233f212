//! What a conversation costs, message by message and by kind of content.
//!
//! A message is counted once. A [`Tally`] grows with the conversation, so counting again after new messages
//! costs work in proportion to what is new.

use crate::account::counter::Family;
use crate::account::counter::TextKind;
use crate::account::counter::TokenCounter;
use crate::account::media;
use crate::transcript::Content;
use crate::transcript::Media;
use crate::transcript::Message;
use crate::transcript::Opaque;
use crate::transcript::Part;
use crate::transcript::Seal;
use crate::transcript::Thinking;

/// What every message costs beside its content. OpenAI documents three tokens and one for the role.
const MESSAGE_OVERHEAD: u64 = 4;
/// What a tool call or result costs beside its text: ids, names of fields, separators.
const TOOL_OVERHEAD: u64 = 6;

/// Tokens by kind of content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Words of people, models and prompts.
    pub text: u64,
    /// Names and arguments of tool calls.
    pub calls: u64,
    /// Text of tool results.
    pub results: u64,
    /// Reasoning.
    pub thinking: u64,
    /// Images, sounds, documents; estimated.
    pub media: u64,
    /// Blocks that are only carried; estimated.
    pub opaque: u64,
    /// What the wire adds around the content; estimated.
    pub overhead: u64,
}

impl Tokens {
    /// All kinds together.
    pub fn total(&self) -> u64 {
        self.text + self.calls + self.results + self.thinking + self.media + self.opaque + self.overhead
    }

    /// The kinds with their names, in the order in which reports list them.
    pub fn kinds(&self) -> [(&'static str, u64); 7] {
        [
            ("text", self.text),
            ("calls", self.calls),
            ("results", self.results),
            ("thinking", self.thinking),
            ("media", self.media),
            ("opaque", self.opaque),
            ("overhead", self.overhead),
        ]
    }

    /// Adds another count.
    pub fn add(&mut self, other: &Tokens) {
        self.text += other.text;
        self.calls += other.calls;
        self.results += other.results;
        self.thinking += other.thinking;
        self.media += other.media;
        self.opaque += other.opaque;
        self.overhead += other.overhead;
    }
}

/// Counts one message.
pub fn measure(message: &Message, family: Family) -> Tokens {
    let mut tokens = Tokens {
        overhead: MESSAGE_OVERHEAD,
        ..Tokens::default()
    };
    for part in &message.parts {
        tokens.add(&measure_part(part, family));
    }
    tokens
}

/// Counts one part, without its share of the message's overhead.
pub fn measure_part(part: &Part, family: Family) -> Tokens {
    let mut tokens = Tokens::default();
    match part {
        Part::Text(text) => tokens.text = family.count(text, TextKind::Prose),
        Part::Call(call) => {
            let name = family.count(&call.name, TextKind::Arguments);
            tokens.calls = name + family.count(call.input.as_str(), TextKind::Arguments);
            tokens.overhead = TOOL_OVERHEAD;
        }
        Part::Result(result) => {
            tokens.overhead = TOOL_OVERHEAD;
            for content in &result.content {
                match content {
                    Content::Text(text) => tokens.results += family.count(text, TextKind::Output),
                    Content::Media(media) => tokens.media += measure_media(media, family),
                    Content::Opaque(opaque) => tokens.opaque += measure_opaque(opaque, family),
                }
            }
        }
        Part::Thinking(thinking) => tokens.thinking = measure_thinking(thinking, family),
        Part::Media(media) => tokens.media = measure_media(media, family),
        Part::Opaque(opaque) => tokens.opaque = measure_opaque(opaque, family),
    }
    tokens
}

fn measure_media(media: &Media, family: Family) -> u64 {
    media::estimate(media, family)
}

fn measure_opaque(opaque: &Opaque, family: Family) -> u64 {
    family.count(&opaque.json, TextKind::Arguments)
}

/// The signature of readable thinking costs nothing: the provider checks it and drops it. An encrypted body
/// stands for the reasoning inside of it, and so does a signature whose thinking is hidden; a readable summary
/// beside it is not sent to the model.
fn measure_thinking(thinking: &Thinking, family: Family) -> u64 {
    match &thinking.seal {
        Seal::Encrypted(sealed) => measure_sealed(sealed, family),
        Seal::Signed(sealed) if thinking.text.is_empty() => measure_sealed(sealed, family),
        Seal::Unsealed | Seal::Signed(_) => family.count(&thinking.text, TextKind::Prose),
    }
}

fn measure_sealed(sealed: &str, family: Family) -> u64 {
    family.scaled(media::estimate_sealed(sealed.len()), TextKind::Prose)
}

/// The counts of a growing conversation.
#[derive(Clone, Debug)]
pub struct Tally {
    family: Family,
    messages: Vec<Tokens>,
    total: Tokens,
}

impl Tally {
    /// An empty tally for a family of models.
    pub fn new(family: Family) -> Self {
        Self {
            family,
            messages: Vec::new(),
            total: Tokens::default(),
        }
    }

    /// Counts the messages that are new: those beyond the ones already counted. The earlier ones must be
    /// the same as before.
    pub fn extend(&mut self, messages: &[Message]) {
        let fresh = messages.get(self.messages.len()..).unwrap_or_default();
        for message in fresh {
            let tokens = measure(message, self.family);
            self.total.add(&tokens);
            self.messages.push(tokens);
        }
    }

    /// How the tally counts.
    pub fn family(&self) -> Family {
        self.family
    }

    /// The counts of every message so far.
    pub fn messages(&self) -> &[Tokens] {
        &self.messages
    }

    /// All messages together.
    pub fn total(&self) -> &Tokens {
        &self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Role;

    fn say(text: &str) -> Message {
        Message::new(Role::User, vec![Part::Text(text.into())])
    }

    #[test]
    fn a_tally_counts_only_what_is_new_and_agrees_with_counting_at_once() {
        let messages = vec![say("one"), say("two words"), say("and three more")];
        let mut grown = Tally::new(Family::O200k);
        grown.extend(&messages[..1]);
        grown.extend(&messages[..1]);
        grown.extend(&messages);
        let mut at_once = Tally::new(Family::O200k);
        at_once.extend(&messages);
        assert_eq!(grown.messages(), at_once.messages());
        assert_eq!(grown.total(), at_once.total());
        assert_eq!(grown.total().text, 1 + 2 + 3);
        assert_eq!(grown.total().overhead, 3 * MESSAGE_OVERHEAD);
    }

    #[test]
    fn a_signature_costs_nothing_and_an_encrypted_body_by_its_length() {
        let thinking = |text: &str, seal| {
            let part = Part::Thinking(Box::new(Thinking {
                text: text.into(),
                seal,
            }));
            measure_part(&part, Family::O200k).thinking
        };
        assert_eq!(thinking("hm", Seal::Signed("x".repeat(4000).into())), 1);
        assert_eq!(thinking("summary", Seal::Encrypted("x".repeat(4000).into())), 800);
    }
}
