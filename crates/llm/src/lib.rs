//! The only outbound socket: models that summarise, answer and judge.
//!
//! A [`prompt::Prompt`] goes to the models of a [`chain::Chain`] in order until one of them gives an
//! [`answer::Answer`]. Everything that can go wrong on the way is an [`error::Failure`] that says what, where and what to
//! do. Keys are [`secret::Secret`]s: no log, error, store or report can show one.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use mainstay_llm::chain::Chain;
//! use mainstay_llm::client::Client;
//! use mainstay_llm::model::Endpoint;
//! use mainstay_llm::model::Model;
//! use mainstay_llm::prompt::Prompt;
//! use mainstay_llm::prompt::Question;
//! use mainstay_llm::prompt::Speaker;
//! use mainstay_wire::reading::WireForm;
//!
//! # async fn example() {
//! let endpoint = Endpoint::new("local", "http://127.0.0.1:8080/v1", WireForm::Chat);
//! let model = Model::new("fast", "qwen2.5-coder", endpoint, 32_768, 4_096);
//! let chain = Chain::new(Arc::new(Client::new()), vec![model], 7);
//! let question = Question::Prompt(Prompt {
//!     turns: vec![(Speaker::User, "What is a mainstay?".to_owned())],
//!     ..Prompt::default()
//! });
//! match chain.ask(&question).await {
//!     Ok((_, answer)) => assert!(!answer.text.is_empty()),
//!     // One line for every model that was tried.
//!     Err(failures) => assert_eq!(failures.len(), 1),
//! }
//! # }
//! ```

pub mod secret;

pub mod model;

pub mod prompt;

pub mod answer;

pub mod error;

pub mod overflow;

pub mod malformed;

pub mod complaint;

pub mod events;

pub mod forms;

pub mod retry;

pub mod gate;

pub mod exchange;

mod address;
pub use address::is_this_machine;

pub mod cassette;

pub mod price;

pub mod profile;

pub mod client;

pub mod relay;

pub mod chain;

pub mod batch;

pub mod summarise;
