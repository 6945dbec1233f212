//! Carrying a plan out.
//!
//! [`prune`] turns planned parts into [`Change`]s, each with a mark that says what was there and a reference that
//! recalls it. What is not changed is not touched: a [`Change`] names one part.

mod arguments;
mod prune;
mod replace;
mod shorten;

pub use prune::Change;
pub use prune::Dropped;
pub use prune::Pruned;
pub use prune::changed;
pub use prune::changed_message;
pub use prune::prune;
pub use replace::replaced;
pub use shorten::shorten_parts;
