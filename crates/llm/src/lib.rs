//! The only outbound socket: models that summarise, answer and judge.
//!
//! A [`prompt::Prompt`] goes to the models of a [`chain::Chain`] in order until one of them gives an
//! [`answer::Answer`]. Everything that can go wrong on the way is an [`error::Failure`] that says what, where and what to
//! do. Keys are [`secret::Secret`]s: no log, error, store or report can show one.

pub mod secret;

pub mod model;

pub mod prompt;

pub mod answer;

pub mod error;

pub mod overflow;

pub mod complaint;

pub mod events;

pub mod forms;

pub mod retry;

pub mod gate;

pub mod exchange;

mod address;

pub mod cassette;

pub mod price;

pub mod client;

pub mod chain;

pub mod batch;

pub mod summarise;
