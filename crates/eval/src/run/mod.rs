//! A run of the probe evaluation: every arm compacts every fixture, a model answers the probes from what is left, a judge
//! grades the answers.
//!
//! A [`Plan`] says what is done. [`hold`] does it, asking models through a [`desk::Desk`] and keeping everything in a
//! [`folder::Folder`], so that it can be broken off anywhere and go on without paying twice. What it comes to is a
//! [`report::Report`], made from what was kept.

mod bench;
pub mod desk;
mod duty;
pub mod estimate;
mod finish;
pub mod folder;
pub mod journal;
pub mod plan;
pub mod report;
pub mod score;

pub use bench::Ended;
pub use bench::Happening;
pub use bench::HoldError;
pub use bench::Watch;
pub use bench::hold;
pub use finish::FinishError;
pub use finish::finish;
pub use plan::Plan;
