//! Provider and session formats to and from transcripts, byte-faithful.
//!
//! Everything is read through [`format::read`]: it detects the format from the content (or takes the one
//! it is told), reads one conversation, and keeps the exact text of what it read. Damage costs only
//! itself and is reported as findings; nothing is skipped silently.
//!
//! ```
//! use mainstay_wire::{format, reading::Request, source::Source};
//!
//! let body = br#"{"model":"m","messages":[{"role":"user","content":"hi","x":1.10}]}"#;
//! let source = Source::memory("body", body.to_vec());
//! let document = format::read(&source, None, &Request::default()).unwrap();
//! assert_eq!(document.format.name, "openai-chat");
//! assert_eq!(document.write().as_bytes(), body);
//! ```

pub use mainstay_engine::json;

pub mod error;

pub mod lines;

pub mod source;

pub mod tables;

pub mod sniff;

pub mod time;

pub mod reading;

pub mod session_directories;

pub mod authorship;

pub mod openai_chat;

pub mod anthropic;

pub mod openai_responses;

mod revise;

pub mod element;

mod body;

pub mod document;

pub mod in_place;

pub mod request;

pub mod sameness;

pub mod format_definition;

mod document_builder;

mod records;

mod unread;

mod provider_formats;

pub mod sessions;

pub mod format;

pub mod discover;
