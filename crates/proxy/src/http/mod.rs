//! HTTP, one job a file: connections and framing, auth, routing, bodies and headers in both directions, upstreams, refusals, and
//! the request log.
//!
//! Not here: what is sent for a request ([`session`](crate::session)) and the order in which all of this is used
//! ([`server`](crate::server)).

pub mod answer_inspection;
pub mod auth;
pub(crate) mod connection;
mod framing;
pub mod headers;
pub mod refusal;
pub mod request_body;
pub mod request_log;
pub mod response_body;
pub mod routing;
pub mod server_settings;
pub mod upstream_request;
pub mod upstreams;
pub mod usage_reader;
