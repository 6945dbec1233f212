//! A message: who wrote it, in which role it is sent, and what it holds.
//!
//! A message is whatever the wire calls one: a chat message, a Responses item, an Anthropic turn. Role and
//! author are different things: a summary or a harness reminder travels in the user role, but the user
//! did not write it.

use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;

use crate::transcript::part::Part;
use crate::transcript::part::ToolCall;
use crate::transcript::part::ToolResult;
use crate::transcript::usage::Usage;

/// The role in which a message is sent to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Instructions above the conversation.
    System,
    /// Instructions in OpenAI's newer spelling.
    Developer,
    /// The user's side.
    User,
    /// The model's side.
    Assistant,
    /// A tool's answer, where the wire gives it a role of its own.
    Tool,
}

impl Role {
    /// All roles, in the order in which reports list them.
    pub const ALL: [Role; 5] = [Role::System, Role::Developer, Role::User, Role::Assistant, Role::Tool];

    /// The role's name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::Developer => "developer",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }
}

/// Who wrote a message, whatever role it travels in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// Whoever configured the agent.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
    /// The agent program: reminders, environment facts, attachments.
    Host,
    /// An earlier compaction.
    Summary,
}

impl Author {
    /// All authors, in the order in which reports list them.
    pub const ALL: [Author; 6] = [
        Author::System,
        Author::User,
        Author::Assistant,
        Author::Tool,
        Author::Host,
        Author::Summary,
    ];

    /// The author's name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Author::System => "system",
            Author::User => "user",
            Author::Assistant => "assistant",
            Author::Tool => "tool",
            Author::Host => "host",
            Author::Summary => "summary",
        }
    }
}

/// Milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp(pub i64);

/// Where in its source something stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// The source as a whole.
    Whole,
    /// A line, counted from one.
    Line(u64),
    /// An element of the source's message list or table, counted from zero.
    Item(u64),
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The role in which it is sent.
    pub role: Role,
    /// Who wrote it. Tool results inside are the tool's, whoever wrote the rest.
    pub author: Author,
    /// What it holds, in order.
    pub parts: Vec<Part>,
    /// When it was written, where the source says.
    pub at: Option<Timestamp>,
    /// The model that wrote it, where the source says.
    pub model: Option<Arc<str>>,
    /// What the provider reported for the request that produced it.
    pub usage: Option<Box<Usage>>,
    /// Where it stood in its source.
    pub place: Place,
}

impl Message {
    /// A message in a role, by the author that usually has this role.
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        let author = match role {
            Role::System | Role::Developer => Author::System,
            Role::User if !parts.is_empty() && parts.iter().all(|part| matches!(part, Part::Result(_))) => Author::Tool,
            Role::User => Author::User,
            Role::Assistant => Author::Assistant,
            Role::Tool => Author::Tool,
        };
        Self {
            role,
            author,
            parts,
            at: None,
            model: None,
            usage: None,
            place: Place::Whole,
        }
    }

    /// The tool calls it makes.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call.as_ref()),
            Part::Text(_) | Part::Result(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => None,
        })
    }

    /// The tool results it carries.
    pub fn results(&self) -> impl Iterator<Item = &ToolResult> {
        self.parts.iter().filter_map(|part| match part {
            Part::Result(result) => Some(result.as_ref()),
            Part::Text(_) | Part::Call(_) | Part::Thinking(_) | Part::Media(_) | Part::Opaque(_) => None,
        })
    }

    /// Whether it carries at least one tool result.
    pub fn has_results(&self) -> bool {
        self.results().next().is_some()
    }

    /// Whether it opens a turn: the person speaks.
    pub fn opens_turn(&self) -> bool {
        self.author == Author::User && self.role == Role::User
    }
}
