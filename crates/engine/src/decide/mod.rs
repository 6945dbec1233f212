//! Whether to compact, and what: a [`Plan`], which is data.
//!
//! Nothing here changes a message. [`Survey`] learns what planning needs to know as the conversation grows,
//! [`plan`] draws the boundary and lists what to do with the reasons in words, [`Thrash`] remembers whether earlier
//! passes helped.

mod boundary;
mod economic;
mod keeping;
pub mod marker;
mod plan;
mod policy;
mod replace;
mod seat;
mod situation;
mod span;
mod survey;
mod thrash;
mod tools;
mod writing;

pub use boundary::Boundary;
pub use boundary::boundary;
pub use boundary::step_start;
pub use economic::Advice;
pub use economic::EconomicPolicy;
pub use economic::Economist;
pub use economic::Form;
pub use economic::Offer;
pub use economic::Outlook;
pub use keeping::expected_retention;
pub use keeping::fading_retention;
pub use keeping::pruned_retention;
pub use plan::Action;
pub use plan::Mode;
pub use plan::Plan;
pub use plan::Planned;
pub use plan::Progress;
pub use plan::plan;
pub use policy::Engine;
pub use policy::Policy;
pub use policy::SummaryPolicy;
pub use policy::least_reclaimed;
pub use policy::ledger_tokens;
pub use policy::low_water;
pub use policy::protected_outputs;
pub use replace::LEAST_BLOCK;
pub use replace::Replacement;
pub use replace::Standing;
pub use replace::plan_replacement;
pub use seat::Roles;
pub use seat::Seat;
pub use seat::seat;
pub use seat::seated;
pub use seat::settle;
pub use seat::template_role;
pub use situation::ReasoningRule;
pub use situation::Situation;
pub use span::Room;
pub use span::Span;
pub use span::instruction_tokens;
pub use span::span;
pub use survey::Output;
pub use survey::Superseded;
pub use survey::Survey;
pub use thrash::Thrash;
pub use tools::Deed;
pub use tools::asked;
pub use tools::cut;
pub use tools::deed_of;
pub use tools::deed_of_call;
pub use writing::InPlace;
pub use writing::Way;
pub use writing::WayWanted;
pub use writing::Writers;
pub use writing::Writing;
pub use writing::plan_writing;
