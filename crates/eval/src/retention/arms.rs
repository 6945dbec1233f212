//! Compactors under test. An engine of ours is an [`Arm`]; so is any command.
//!
//! A new engine is one arm here and one line in [`engines`].

mod external;
mod ours;

pub use external::External;
pub use ours::Ours;

use mainstay_engine::decide::Engine;
use mainstay_engine::transcript::Message;

/// Brings the messages before a cut down to a budget.
///
/// An implementor gets the messages without instructions, in their order and not yet assembled into a transcript, and
/// must be deterministic; it is called from several threads at once. It gives back the text of every message of
/// its result, as [`render`](crate::retention::render) makes it. A result over the budget is reported as such,
/// not refused.
pub trait Arm: Send + Sync {
    /// Its name in reports.
    fn name(&self) -> &str;

    /// The result's messages as text.
    fn compact(&self, messages: &[Message], budget: u64) -> Result<Vec<String>, ArmError>;
}

/// Why an arm gave no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArmError {
    /// A command could not be run.
    #[error("{command}: {cause}")]
    NotRun {
        /// The command.
        command: String,
        /// Why.
        cause: std::io::Error,
    },
    /// A command ended with a failure.
    #[error("{command} failed ({status}): {said}")]
    Failed {
        /// The command.
        command: String,
        /// How it ended.
        status: std::process::ExitStatus,
        /// The end of what it said.
        said: String,
    },
    /// A command's output is no conversation.
    #[error("{command} wrote no messages: {cause}")]
    NotMessages {
        /// The command.
        command: String,
        /// What is wrong with it.
        cause: String,
    },
    /// A command line that cannot be split into words.
    #[error("{command:?} is no command: {cause}")]
    NotACommand {
        /// The command line.
        command: String,
        /// What is wrong with it.
        cause: &'static str,
    },
}

/// Every engine of ours, by name.
pub fn engines() -> Vec<Box<dyn Arm>> {
    vec![Box::new(Ours(Engine::Prune)), Box::new(Ours(Engine::Ledger))]
}
