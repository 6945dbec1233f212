//! Resampling: intervals of means and of paired differences, by clusters of observations that belong together.

mod bootstrap;
mod generator;

pub use bootstrap::Estimate;
pub use bootstrap::estimate;
pub use bootstrap::median;
pub use generator::Generator;
