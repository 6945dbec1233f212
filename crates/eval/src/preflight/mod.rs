//! Preflight: conversations with an answer sheet, compacted and checked. Deterministic, no model.
//!
//! It shows that what must be kept stands in what the model will see, that what is over is marked so, that no secret and no
//! word of a tool in disguise gets through. It does not show that a model makes good use of it.
//!
//! What is asked for is what the block promises: people's words stand in it, in order and as their own; a value that was corrected is
//! marked, or a later line has the new one; nothing is claimed that nobody said. Where a thing stands is asked only of views that would
//! mislead: what is listed as open must be open.
//!
//! An [`Engine`] compacts a [`Conversation`]; [`checks`] hold the result against the conversation's [`Sheet`]. The
//! twelve of the seed are asked of one hand-written conversation; they and more are asked of generated ones.

mod breakdowns;
pub mod checks;
mod claims;
mod engines;
mod filler;
mod hostile;
mod phrases;
mod planted;
mod report;
mod script;
mod secrets;
mod sheet;
mod smoke;

pub use claims::ClaimKind;
pub use engines::Compacted;
pub use engines::Engine;
pub use engines::HotTail;
pub use engines::all as engines;
pub use planted::conversation as planted;
pub use report::CheckCount;
pub use report::EngineReport;
pub use report::Failure;
pub use report::FalseClaimCount;
pub use report::Report;
pub use report::SmokeLine;
pub use report::examine;
pub use report::run;
pub use sheet::Conversation;
pub use sheet::Decision;
pub use sheet::Fact;
pub use sheet::FailedCommand;
pub use sheet::FileTrace;
pub use sheet::Language;
pub use sheet::Obligation;
pub use sheet::ProposalRecord;
pub use sheet::Question;
pub use sheet::Sheet;
pub use sheet::State;
pub use sheet::Teller;
pub use sheet::Trace;
pub use smoke::conversation as smoke;
