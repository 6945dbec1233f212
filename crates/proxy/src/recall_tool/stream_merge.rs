//! Several answers of a provider as the one that the client sees. One loom a form; all work alike: what is not ours passes, byte
//! for byte as long as nothing before it was left out, and the end is held where it is not yet known whether it is one.

use bytes::Bytes;
use mainstay_llm::complaint::Complaint;

use crate::recall_tool::model_turn::ModelTurn;

/// What is said where a model called our tool over and over and said nothing else: no client takes an empty answer back.
pub(super) const NOTHING_SAID: &str = "[mainstay: the model asked for recall again and again and said nothing else]";

/// How the last answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerEnd {
    /// As its provider said.
    AsItIs,
    /// As one that has nothing more to say: its calls are left out.
    WithoutCalls,
}

/// Why there is no further answer.
#[derive(Clone, Debug)]
pub(super) struct ContinuationError {
    /// What the provider said, in its form.
    pub(super) body: String,
    /// What is wrong, in a word.
    pub(super) code: String,
    /// And in words.
    pub(super) message: String,
}

impl ContinuationError {
    /// What a provider said.
    pub(super) fn read(body: String) -> Self {
        let complaint = Complaint::read(&body);
        let code = complaint.codes.first().cloned();
        Self {
            code: code.unwrap_or_else(|| "server_error".to_owned()),
            message: complaint.message,
            // Line ends in JSON stand between its parts only; many clients read an event's first line and no more.
            body: body.replace(['\n', '\r'], " "),
        }
    }

    /// In words of our own.
    pub(super) fn new(message: &str) -> Self {
        Self {
            body: String::new(),
            code: "server_error".to_owned(),
            message: message.to_owned(),
        }
    }
}

/// Weaves streams of one form.
pub(super) trait StreamMerger: Send {
    /// Takes the next event, or whatever stands between events; gives out what the client sees.
    fn take(&mut self, frame: Bytes, out: &mut Vec<Bytes>);
    /// The stream is over, though nothing said so.
    fn run_out(&mut self);
    /// Whether the answer came to its end and there is something to decide about it.
    fn is_due(&self) -> bool;
    /// The answer that came to its end.
    fn turn(&self) -> ModelTurn;
    /// Whether anything was left out or held back.
    fn is_woven(&self) -> bool;
    /// Another answer follows in the place of the held end.
    fn go_on(&mut self);
    /// This was the last; so many tokens were written in answers before it.
    fn close(&mut self, closing: AnswerEnd, earlier: u64, out: &mut Vec<Bytes>);
    /// There is no further answer.
    fn fail(&mut self, failure: &ContinuationError, out: &mut Vec<Bytes>);
}

/// A whole answer, read.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadAnswer {
    /// What is in it.
    pub(super) turn: ModelTurn,
    /// What of it the client sees: blocks, the message, or items.
    pub(super) shown: Vec<String>,
}
