//! Replay: recorded sessions, turn by turn, under any policy and any provider's cache and prices.
//!
//! A [`Timeline`] is a session as a sequence of requests: what each prompt held, when it was sent, what came back. A policy
//! walks it and leaves a [`Track`]: the prompts it would have sent, and where it compacted. A track is priced by a
//! profile's prompt cache, judged by what the agent went on to use, and put beside the tracks of other policies.
//!
//! The agent does in every replay what it did in the recording: nobody can say what it would have done with another
//! history. What forgetting costs is therefore told apart, as retention.

mod altered;
mod assemble;
pub mod check;
mod clearing;
mod figures;
mod joined;
mod offers;
mod optimum;
pub mod page;
mod play;
mod podium;
mod predict;
mod price;
mod recording;
mod recordings;
pub mod report;
mod requests;
mod sizes;
mod stage;
mod strategy;
mod study;
pub mod table;
mod timeline;
mod track;
mod walk;

pub use figures::Run;
pub use joined::Extent;
pub use joined::groups;
pub use optimum::optimum;
pub use play::play;
pub use play::without_summaries;
pub use podium::Podium;
pub use price::Priced;
pub use price::price;
pub use recording::Recording;
pub use recordings::Recordings;
pub use recordings::load;
pub use recordings::load_all;
pub use requests::PrefaceChange;
pub use requests::Request;
pub use sizes::Preface;
pub use stage::Stage;
pub use strategy::Settings;
pub use strategy::Strategy;
pub use study::Plan;
pub use study::Replayed;
pub use study::Session;
pub use study::lengthened;
pub use study::replay;
pub use timeline::Timeline;
pub use track::Kept;
pub use track::Pass;
pub use track::PassKind;
pub use track::Step;
pub use track::SummaryCall;
pub use track::Track;
