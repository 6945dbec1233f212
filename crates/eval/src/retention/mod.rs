//! Retention on recorded sessions: future-use recall.
//!
//! A session is cut, what follows is hidden, the part before is compacted to a budget, and the question is how much of
//! what the agent itself goes on to use is still there. *Needed* are identifiers that the agent writes in the next
//! messages before any of them has shown them, and that stand before the cut. **FUR** is the share of the needed that
//! is kept, **far** the same for those that the newest tenth does not hold, **pair** the share of needed pairs that
//! still stand near each other, **ptr** the share that is kept or can be fetched again by a call that is kept.
//!
//! Deterministic and without a model. The figures agree with the script that defined the metric, on every cut.

pub mod arms;
pub mod baselines;
mod characters;
pub mod corpus;
mod cuts;
mod examiner;
mod floor;
pub mod identifiers;
mod mersenne;
mod needed;
mod notes;
mod pairs;
mod paths;
mod question;
mod report;
mod score;
mod study;
mod trajectory;

pub use arms::Arm;
pub use arms::ArmError;
pub use baselines::Baseline;
pub use examiner::Examiner;
pub use floor::Floor;
pub use floor::Shortfall;
pub use report::Below;
pub use report::Difference;
pub use report::Figures;
pub use report::Group;
pub use report::Measure;
pub use report::Report;
pub use score::Score;
pub use study::Contender;
pub use study::Measured;
pub use study::Row;
pub use study::Settings;
pub use study::study;
pub use trajectory::Line;
pub use trajectory::Speaker;
pub use trajectory::Trajectory;
pub use trajectory::render;
