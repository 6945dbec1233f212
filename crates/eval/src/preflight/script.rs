//! Writing a conversation down turn by turn.

use mainstay_engine::transcript::CallId;
use mainstay_engine::transcript::Content;
use mainstay_engine::transcript::Draft;
use mainstay_engine::transcript::Input;
use mainstay_engine::transcript::Message;
use mainstay_engine::transcript::Part;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::ToolCall;
use mainstay_engine::transcript::ToolOutcome;
use mainstay_engine::transcript::ToolResult;

use crate::preflight::sheet::Conversation;
use crate::preflight::sheet::Sheet;

/// Something that happens in a conversation.
#[derive(Clone, Debug)]
pub enum Turn {
    /// The person speaks.
    User(String),
    /// The agent speaks.
    Agent(String),
    /// The agent calls a tool, and it answers.
    Call {
        /// The tool.
        tool: &'static str,
        /// Its arguments, as JSON.
        arguments: String,
        /// What it answers.
        output: String,
    },
}

impl Turn {
    /// A call with arguments that are text.
    pub fn call(tool: &'static str, arguments: &[(&str, &str)], output: impl Into<String>) -> Self {
        let members = arguments
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).into()));
        Turn::Call {
            tool,
            arguments: serde_json::Value::Object(members.collect()).to_string(),
            output: output.into(),
        }
    }
}

/// A conversation that is being written.
#[derive(Debug, Default)]
pub struct Script {
    messages: Vec<Message>,
    calls: usize,
}

impl Script {
    /// A conversation under these instructions.
    pub fn new(instructions: &str) -> Self {
        let mut script = Self::default();
        script.push(Role::System, instructions);
        script
    }

    fn push(&mut self, role: Role, text: &str) {
        self.messages.push(Message::new(role, vec![Part::Text(text.into())]));
    }

    /// Adds a turn.
    pub fn add(&mut self, turn: &Turn) {
        match turn {
            Turn::User(text) => self.push(Role::User, text),
            Turn::Agent(text) => self.push(Role::Assistant, text),
            Turn::Call {
                tool,
                arguments,
                output,
            } => {
                self.calls += 1;
                let id = CallId::new(format!("call_{}", self.calls));
                let call = ToolCall {
                    id: id.clone(),
                    name: (*tool).into(),
                    input: Input::Json(arguments.as_str().into()),
                };
                let result = ToolResult {
                    id,
                    name: Some((*tool).into()),
                    content: vec![Content::Text(output.as_str().into())],
                    outcome: ToolOutcome::Unstated,
                };
                self.messages
                    .push(Message::new(Role::Assistant, vec![Part::Call(Box::new(call))]));
                self.messages
                    .push(Message::new(Role::Tool, vec![Part::Result(Box::new(result))]));
            }
        }
    }

    /// Adds turns.
    pub fn extend<'a>(&mut self, turns: impl IntoIterator<Item = &'a Turn>) {
        turns.into_iter().for_each(|turn| self.add(turn));
    }

    /// The conversation, of which the last messages are the tail.
    pub fn finish(self, name: String, tail: usize, sheet: Sheet) -> Conversation {
        let draft = Draft {
            messages: self.messages,
            ..Draft::default()
        };
        Conversation {
            name,
            transcript: draft.assemble().transcript,
            tail,
            sheet,
        }
    }
}
