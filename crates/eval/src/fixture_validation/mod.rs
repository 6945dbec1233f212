//! Validation: what is wrong with fixtures and their banks, where, and what to do about it.

mod findings;
mod personal;
mod questions;
mod validate;

pub use findings::Finding;
pub use findings::Severity;
pub use validate::validate;
