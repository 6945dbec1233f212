//! What a ledger remembers between runs, and how it finds its place in a conversation again.
//!
//! A conversation comes back in one of two ways: whole, grown by new messages; or as a compacted result, in which a
//! block stands for most of it. A digest of every message tells which ones are known already.

use serde::Deserialize;
use serde::Serialize;

use crate::ledger::Ledger;
use crate::transcript::Author;
use crate::transcript::CallId;
use crate::transcript::Content;
use crate::transcript::Input;
use crate::transcript::Message;
use crate::transcript::Part;
use crate::transcript::Role;
use crate::transcript::ToolCall;

/// The version of a saved state; another one is not read, and the ledger is folded anew.
const VERSION: u32 = 1;

/// A digest of what a message says, whatever form it is written in.
pub type Digest = [u8; 16];

/// The digest of a message.
pub fn digest(message: &Message) -> Digest {
    let mut hasher = blake3::Hasher::new();
    let mut field = |kind: u8, text: &str| {
        hasher.update(&[kind]);
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    field(0, message.role.name());
    for part in &message.parts {
        match part {
            Part::Text(text) => field(1, text),
            Part::Call(call) => {
                field(2, &call.name);
                field(3, call.input.as_str());
            }
            Part::Result(result) => {
                field(4, result.id.as_str());
                for content in &result.content {
                    if let Content::Text(text) = content {
                        field(5, text);
                    }
                }
            }
            Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => {}
        }
    }
    short(hasher.finalize())
}

/// The digest of everything up to and with a message.
pub fn chained(before: Digest, message: Digest) -> Digest {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&before);
    hasher.update(&message);
    short(hasher.finalize())
}

fn short(hash: blake3::Hash) -> Digest {
    let mut digest = Digest::default();
    digest.copy_from_slice(&hash.as_bytes()[..16]);
    digest
}

/// A message that a block left in the conversation, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// What it says.
    pub digest: Digest,
    /// Its number in the conversation.
    pub number: u32,
}

/// A piece of evidence that a block showed: what the next one chooses from again, when the history itself is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// The number of its message.
    pub number: u32,
    /// Who wrote it.
    pub author: Author,
    /// The called tool, when it is from the arguments of a call.
    pub tool: Option<Box<str>>,
    /// What it says.
    pub text: Box<str>,
}

impl Carried {
    /// A message that says only this.
    pub fn to_message(&self) -> Message {
        let part = match &self.tool {
            Some(tool) => Part::Call(Box::new(ToolCall {
                id: CallId::new(""),
                name: tool.clone(),
                input: Input::Text(self.text.clone()),
            })),
            None => Part::Text(self.text.clone()),
        };
        let role = match self.author {
            Author::Assistant => Role::Assistant,
            Author::System | Author::User | Author::Tool | Author::Host | Author::Summary => Role::User,
        };
        Message {
            author: self.author,
            ..Message::new(role, vec![part])
        }
    }
}

/// A saved state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    pub(super) version: u32,
    /// The ledger.
    pub ledger: Ledger,
    /// The digest of all messages that were folded.
    pub chain: Digest,
    /// What a block left, in order; empty for a state that is looked for by its whole conversation.
    pub kept: Vec<Kept>,
    /// The evidence that the block showed.
    pub carried: Vec<Carried>,
    /// What a model told last, and of how much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Told>,
    /// The request that the block restated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Asked>,
}

/// Words of the person that a block restated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The number of their message.
    pub number: u32,
    /// What they say, as it may be shown.
    pub text: Box<str>,
}

/// What a model told of the beginning of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Its words, as they may be shown.
    pub text: Box<str>,
    /// It tells of messages with lower numbers.
    pub until: u32,
    /// Except for these, which stood in the conversation as they were.
    pub except: Vec<u32>,
}

impl Told {
    /// Whether it tells of a message.
    pub fn covers(&self, number: u32) -> bool {
        number < self.until && !self.except.contains(&number)
    }
}

impl Memory {
    /// A state to save.
    pub fn new(ledger: Ledger, chain: Digest, kept: Vec<Kept>, carried: Vec<Carried>) -> Self {
        Self {
            version: VERSION,
            ledger,
            chain,
            kept,
            carried,
            told: None,
            request: None,
        }
    }

    /// The state as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a ledger has only texts and numbers")
    }

    /// The state of these bytes; `None` when they are not one of this version.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let memory: Self = serde_json::from_slice(bytes).ok()?;
        (memory.version == VERSION).then_some(memory)
    }
}
