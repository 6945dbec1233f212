//! Means with intervals, by clusters of observations that belong together; what to make of many of them at once.

mod bootstrap;
pub mod clusters;
mod generator;
mod holm;
pub mod student;

#[cfg(test)]
mod coverage_tests;

pub use bootstrap::Estimate;
pub use bootstrap::Resampled;
pub use bootstrap::estimate;
pub use bootstrap::median;
pub use generator::Generator;
pub use holm::Corrected;
pub use holm::holm;
