//! The summary that a model writes of what a pass replaces: what it is asked, what it may answer.
//!
//! Nothing here talks to a model. A pass hands out a [`Request`]; the host sends it however it likes and brings back a
//! [`Reply`].

pub(crate) mod attribution;
pub(crate) mod fitting;
pub mod prompts;
pub mod records;
pub mod references;
pub mod said;
pub(crate) mod sections;

use crate::decide::Way;

/// What a model is asked to write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// In which way.
    pub way: Way,
    /// The instructions; empty in place, where the conversation has its own.
    pub system: String,
    /// What the user's turn says: records and task, or the one instruction.
    pub user: String,
    /// In place: messages before this one are sent as they are.
    pub until: usize,
    /// How many tokens the answer may have.
    pub most_tokens: u64,
    /// Whether the model that answered last gave nothing of use, so that another one should be asked.
    pub wants_another_model: bool,
}

/// Why an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The model was done.
    End,
    /// It ran into its limit.
    Length,
    /// It refused.
    Refusal,
    /// It called a tool.
    ToolCall,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A model answered.
    Answer {
        /// What it says.
        text: String,
        /// Why it ends.
        stop: Stop,
    },
    /// The request is longer than the model's window.
    TooLong,
    /// No model answered; why, in words for people.
    Failed(String),
}
