//! The server that an agent starts: one message a line on standard input and output, nothing else on either.

use std::sync::Arc;

use rmcp::ServiceExt;
use rmcp::service::QuitReason;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;

use crate::mcp::McpError;
use crate::mcp::server::McpServer;
use crate::recall::Recall;

/// Bytes of one message. Questions are a few words; the protocol's own messages have a few kilobytes.
const MOST_BYTES: usize = 1 << 20;

/// Answers until standard input ends.
pub async fn serve_stdio(recall: Recall) -> Result<(), McpError> {
    let (input, output) = rmcp::transport::stdio();
    let transport = AsyncRwTransport::new_server(input, output).with_max_line_length(MOST_BYTES);
    let running = match McpServer::new(Arc::new(recall)).serve(transport).await {
        Ok(running) => running,
        // Nobody had anything to ask.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        Err(error) => return Err(refused(error)),
    };
    match running.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(McpError::Transport { why: error.to_string() }),
        Ok(_) => Ok(()),
    }
}

/// Without what the client said: that may be anything.
fn refused(error: ServerInitializeError) -> McpError {
    match error {
        ServerInitializeError::TransportError { error, .. } => McpError::Transport { why: error.to_string() },
        ServerInitializeError::InitializeFailed(_) => McpError::Protocol {
            why: "no version of it that both sides know",
        },
        _ => McpError::Protocol {
            why: "its first message is not `initialize`",
        },
    }
}
