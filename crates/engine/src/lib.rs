//! Pure compaction of agent conversations: measure, plan, rewrite, judge.
//!
//! The engine is a calculator. It has no I/O, clock, randomness, environment, logging or async; the same
//! input gives the same bytes on every machine. Rooms are declared in reading order, and each uses only
//! rooms above it.
//!
//! ```
//! use mainstay_engine::transcript::{Draft, Message, Part, Role};
//!
//! let draft = Draft {
//!     messages: vec![Message::new(Role::User, vec![Part::Text("fix src/auth.rs".into())])],
//!     ..Draft::default()
//! };
//! let assembly = draft.assemble();
//! assert!(assembly.findings.is_empty());
//! assert_eq!(assembly.transcript.turns(), [0..1]);
//! ```

pub mod json;

pub mod redact;

pub mod transcript;

pub mod account;

pub mod economy;
/// One tool output in a small form, by its kind.
pub mod shrink;

pub mod decide;

pub mod ledger;

pub mod transform;

pub mod summary;

pub mod verify;

pub mod compaction;
