//! What a conversation costs, and how much room is left.
//!
//! Counting ([`Tally`], [`Family`]), correcting by reported usage ([`Calibration`]), the lines that follow
//! from a model's window ([`Budget`]) and how close a prompt is to them ([`Level`]). Pure functions of their
//! input; who keeps the state is the host's business.

mod budget;
mod calibration;
mod counter;
mod measure;
mod media;
mod model;
mod pressure;
mod units;

pub use budget::Budget;
pub use budget::BudgetError;
pub use budget::BudgetPolicy;
pub use budget::ModelLimits;
pub use calibration::Calibration;
pub use calibration::Fit;
pub use counter::Family;
pub use counter::TextKind;
pub use counter::TokenCounter;
pub use measure::Tally;
pub use measure::Tokens;
pub use measure::measure;
pub use measure::measure_part;
pub use model::ModelFacts;
pub use model::facts;
pub use model::plain_name;
pub use pressure::Level;
pub use pressure::Pressure;
pub use units::CountedTokens;
pub use units::ProviderTokens;
