//! Measuring compaction: how much of what an agent needs next survives it.
//!
//! [`stats`] holds the resampling that every figure's interval comes from. [`retention`] cuts recorded
//! sessions, hides what follows and asks what of it a compactor kept. [`preflight`] compacts conversations that
//! were written with an answer sheet and checks the result against it. [`compare`] holds two runs of the probe evaluation
//! against each other. No model and no network anywhere; the same
//! input gives the same figures, whatever the number of threads.
//!
//! ```
//! use mainstay_eval::retention::identifiers;
//!
//! let found = identifiers::find("open src/auth.rs, then run check_token");
//! let found: Vec<_> = found.iter().map(|(text, class)| (&**text, class.name())).collect();
//! assert_eq!(found, [("src/auth.rs", "path"), ("check_token", "symbol")]);
//! ```

mod parallel;

pub mod stats;

pub mod retention;

pub mod preflight;

pub mod fixture;

pub mod grade;

pub mod record;

pub mod state;

pub mod rubric;

pub mod run;
pub mod compare;
