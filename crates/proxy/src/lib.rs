//! The proxy: any agent, no code change. It stands between an agent and its provider, recognises conversations by what
//! they say, and sends them on in a form that fits.
//!
//! From the bottom up: [`session`] knows conversations and decides what is sent for a request; it never speaks to the network
//! about them, and whatever goes wrong in it, the request goes out as it came. [`http`] is what HTTP needs, one job a file.
//! [`recall`], [`mcp`] and [`recall_tool`] give agents back what was compacted away, `pages` show it to people, and
//! [`server`] puts all of it together.

pub mod settings;

pub mod log;

pub mod metrics;

mod blocking;

pub mod session;

pub mod http;

pub mod recall;

pub mod recall_tool;

pub mod mcp;

mod pages;

pub mod server;
