//! Judging a result before anybody adopts it.
//!
//! A bad draft is not an error: each check returns [`Flaw`]s. Fatal ones refuse the result, and the original
//! comes back with the reason.

mod acceptance;
mod alternation;
mod fidelity;
mod flaw;
mod leak;
mod scope;
mod size;
mod structure;

pub use acceptance::check_acceptance;
pub use alternation::check_alternation;
pub use fidelity::Expected;
pub use fidelity::check_answer;
pub use fidelity::cleaned;
pub use fidelity::most_shown;
pub use flaw::Flaw;
pub use flaw::FlawKind;
pub use flaw::Weight;
pub use leak::check_leaks;
pub use scope::check_kept;
pub use scope::check_scope;
pub use size::check_size;
pub use size::check_target;
pub use structure::check_structure;
