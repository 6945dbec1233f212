//! One conversation from reading to keeping: observed as it grows, planned, compacted, verified, kept.
//!
//! A [`Session`] is built from a provider's form, a policy, a budget and what is hidden. It makes a pass without a model or asks
//! one through a function of the host, runs every check before a result is adopted, and keeps the pass in a store so that the
//! original can be had again. Everything that Mainstay's own hosts do with a conversation goes through it.
//!
//! ```
//! use std::sync::Arc;
//!
//! use mainstay_session::{CheckpointInput, Policy, Reply, Session, SessionSettings, Stop, Store, SummaryWriters, Timestamp};
//! use mainstay_session::{Verdict, read_messages};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("kept/store.db");
//! # let words = "The deploy waits until Friday, and the cron stays off. ".repeat(40);
//! # let messages: Vec<String> = (0..30)
//! #     .map(|turn| format!(r#"{{"role":"{}","content":"{turn}: {words}"}}"#, ["user", "assistant"][turn % 2]))
//! #     .collect();
//! # let body = format!(r#"{{"model":"gpt-5","messages":[{}]}}"#, messages.join(","));
//! let document = read_messages(body.as_bytes())?;
//! let policy = Policy { target: Some(3_000), ..Policy::default() };
//! let mut settings = SessionSettings::new(document.form(), "gpt-5", policy)?;
//! settings.writers = Some(SummaryWriters::with_window(128_000));
//!
//! let mut store = Store::open(&path)?;
//! let mut session = Session::of(settings, Arc::clone(&document.transcript));
//! session.resume(&mut store, "deploy chat")?;
//!
//! // Any client will do: the function gets the request and returns what came of it.
//! let outcome = pollster(session.pass_with(async |request| {
//!     assert!(request.user.contains("deploy"));
//!     Reply::Answer { text: "## Goal\nDeploy on Friday.".to_owned(), stop: Stop::End }
//! }));
//! assert_eq!(outcome.verdict, Verdict::Compacted);
//!
//! let result = session.compacted_chunks(&document).concat();
//! let (original, compacted) = ([body.as_bytes()], [result.as_bytes()]);
//! let record = CheckpointInput {
//!     original: &original,
//!     result: &compacted,
//!     ..CheckpointInput::new("deploy chat", &document, Timestamp(1_700_000_000_000))
//! };
//! let checkpoint = session.checkpoint(&outcome, &record, &mut store)?;
//!
//! assert!(result.len() < body.len() / 2);
//! assert_eq!(store.original(&checkpoint)?, body.as_bytes());
//! # fn pollster<T>(future: impl Future<Output = T>) -> T {
//! #     let mut context = std::task::Context::from_waker(std::task::Waker::noop());
//! #     let mut future = std::pin::pin!(future);
//! #     loop {
//! #         if let std::task::Poll::Ready(done) = future.as_mut().poll(&mut context) {
//! #             return done;
//! #         }
//! #     }
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Safe by default: secrets and IP addresses are hidden from everything that a pass writes about old history, and a result that
//! shows one is refused, unless [`Redaction::Off`] is asked for by name. Messages that stay are shown as they are. Not here: sockets, clocks, configuration, and how models are asked.

mod redaction;

mod settings;

mod session;

mod checkpoint;

mod shown_history;

pub use checkpoint::CheckpointInput;
pub use checkpoint::ModelUsage;
pub use checkpoint::PassTrigger;
pub use checkpoint::conversation_name;
pub use redaction::Redaction;
pub use session::Session;
pub use session::read_messages;
pub use session::resumed_ledger;
pub use settings::PromptSize;
pub use settings::SessionSettings;
pub use settings::SummaryWriters;
pub use shown_history::QUOTATION_NOTICE;
pub use shown_history::ShownHistory;
pub use shown_history::harmless;
pub use shown_history::one_line;
pub use shown_history::terminal_line;

pub use mainstay_engine::account::Budget;
pub use mainstay_engine::account::CountedTokens;
pub use mainstay_engine::account::Family;
pub use mainstay_engine::account::ModelLimits;
pub use mainstay_engine::account::ProviderTokens;
pub use mainstay_engine::compaction::Ask;
pub use mainstay_engine::compaction::Outcome;
pub use mainstay_engine::compaction::PassMode;
pub use mainstay_engine::compaction::Refusal;
pub use mainstay_engine::compaction::Step;
pub use mainstay_engine::compaction::Verdict;
pub use mainstay_engine::decide::Engine;
pub use mainstay_engine::decide::Plan;
pub use mainstay_engine::decide::PlanReason;
pub use mainstay_engine::decide::Policy;
pub use mainstay_engine::summary::Reply;
pub use mainstay_engine::summary::Request;
pub use mainstay_engine::summary::Stop;
pub use mainstay_engine::transcript::Timestamp;
pub use mainstay_store::Store;
pub use mainstay_wire::document::Document;
pub use mainstay_wire::reading::WireForm;
