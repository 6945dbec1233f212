//! A/B at checkpoints: two arms replay the same sessions, are compacted before every question, and are scored blind.
//!
//! A checkpoint is a [`Subject`](crate::fixture::Subject) of its own: the first messages of a session and what is asked behind
//! them, so that [`hold`](crate::run::hold) makes states and answers, keeps them and goes on where it was broken off. Checkpoints
//! come from an exam ([`from_exam`]) or from a file that names sessions and queries ([`Replay`]).
//!
//! Answers are then scored without knowing whose they are: by the grader, by a judge with a prompt of its own ([`judge`]), by people
//! with a sheet ([`Sheet`]). Every answer has one [`Outcome`] and any of six kinds of [`Miss`]; [`AbReport`] holds both arms against
//! each other.

mod blind;
mod build;
mod checkpoint;
mod evidence;
mod finish;
mod judge;
mod markdown;
mod outcome;
mod replay;
mod report;
mod sheet;

pub use blind::Item;
pub use blind::items;
pub use build::Scoring;
pub use build::report;
pub use checkpoint::from_exam;
pub use checkpoint::session_of;
pub use evidence::Cold;
pub use evidence::Evidence;
pub use evidence::Lack;
pub use finish::Judged;
pub use finish::PeopleError;
pub use finish::finish;
pub use finish::with_people;
pub use judge::Ended;
pub use judge::Unreadable;
pub use judge::Verdict;
pub use judge::hashes;
pub use judge::judge;
pub use judge::read_verdict;
pub use judge::request;
pub use markdown::markdown;
pub use outcome::Miss;
pub use outcome::Outcome;
pub use replay::Replay;
pub use replay::ReplayError;
pub use report::AbReport;
pub use report::ArmReport;
pub use report::ContextReport;
pub use report::Differing;
pub use report::PairCount;
pub use report::ScorerReport;
pub use sheet::Key;
pub use sheet::Score;
pub use sheet::Sheet;
pub use sheet::SheetError;
pub use sheet::SheetForm;

#[cfg(test)]
#[path = "ab_tests.rs"]
mod tests;
