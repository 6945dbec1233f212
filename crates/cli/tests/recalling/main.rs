//! Recall for agents as agents use it: clients that speak MCP to the real program, over standard input and over HTTP.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

#[path = "../home/mod.rs"]
mod home;

mod client;
mod over_http;
mod over_stdio;
mod stage;
