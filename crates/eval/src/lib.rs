//! Measuring compaction: how much of what an agent needs next survives it.
//!
//! [`stats`] holds the resampling that every figure's interval comes from. [`retention`] cuts recorded sessions, hides what
//! follows and asks what of it a compactor kept. [`preflight`] compacts conversations that were written with an answer sheet
//! and checks the result against it. The same input gives the same figures there, whatever the number of threads.
//!
//! The probe evaluation asks what an agent still knows: [`fixture`]s with questions about them, [`state`]s that engines make
//! of them, models that answer and judge by a [`rubric`], or a [`grade`] without any. A [`run`] leaves a [`record`] behind;
//! [`compare`] holds two against each other.
//!
//! [`continuation`] asks whether an agent can go on: recorded sessions are cut, and judges who know the real future score what models
//! make of each state.
//!
//! ```
//! use mainstay_eval::retention::identifiers;
//!
//! let found = identifiers::find("open src/auth.rs, then run check_token");
//! let found: Vec<_> = found.iter().map(|(text, class)| (&**text, class.name())).collect();
//! assert_eq!(found, [("src/auth.rs", "path"), ("check_token", "symbol")]);
//! ```

mod parallel;

mod forced;

mod html;

pub mod sessions;

pub mod stats;

pub mod ledger_text;

pub mod retention;

pub mod replay;

pub mod fixture;

pub mod grade;

pub mod preflight;

pub mod record;

pub mod agreement;

pub mod fixture_validation;

pub mod state;

pub mod rubric;

pub mod run;

pub mod compare;

pub mod view;

pub mod scrub;

pub mod ab;

pub mod board;

pub mod continuation;
