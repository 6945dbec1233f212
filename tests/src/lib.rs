//! The tests that belong to no single crate: the tidy rules that guard the house, and the suite's runner.

pub mod tree;

pub mod tidy;

pub mod scripted;

pub mod cycles;

pub mod told;

pub mod suite;

pub mod conversation;

pub mod provider;

pub mod secrets;

pub mod spellings;

pub mod trial;

pub mod examiner;

pub mod run_plans;

pub mod run_pages;

pub mod replay_pages;

pub mod browser;

pub mod server;

pub mod reply;

pub mod runs;

pub mod session;

pub mod prompt_cache;

pub mod upstream;
