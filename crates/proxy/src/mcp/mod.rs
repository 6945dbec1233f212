//! Recall over the Model Context Protocol: what agents start as a process, or reach over HTTP.
//!
//! The protocol itself is `rmcp`'s; the tools are those of [`crate::recall`]. Over HTTP nothing is remembered between
//! requests, so any number of processes can answer for the same store. The [`McpEndpoint`] is what a server mounts; [`listen`]
//! is such a server, with a [`McpGuard`] in front of it.

mod endpoint;
mod guard;
mod listen;
mod server;
mod stdio;

pub use endpoint::McpEndpoint;
pub use guard::McpGuard;
pub use listen::McpListener;
pub use listen::PATH;
pub use listen::listen;
pub use stdio::serve_stdio;

/// Why a server could not be started or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// An address that others can reach, with nothing that keeps them out.
    #[error("{address} can be reached from other machines; set a token, or listen on 127.0.0.1")]
    Open {
        /// The address.
        address: std::net::SocketAddr,
    },
    /// The address could not be taken.
    #[error("{address}: {cause}")]
    Address {
        /// The address.
        address: std::net::SocketAddr,
        /// Why.
        cause: std::io::Error,
    },
    /// The other side does not speak the protocol.
    #[error("the client does not speak MCP: {why}")]
    Protocol {
        /// What it did.
        why: &'static str,
    },
    /// The other side could not be written to.
    #[error("the client cannot be reached: {why}")]
    Transport {
        /// Why.
        why: String,
    },
}
