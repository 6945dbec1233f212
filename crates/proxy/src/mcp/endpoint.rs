//! Recall as something a server can mount: from a request to a response, with nothing remembered in between.

use std::convert::Infallible;
use std::fmt::Display;
use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use http::Response;
use http_body::Body;
use http_body_util::combinators::BoxBody;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;

use crate::mcp::server::McpServer;
use crate::recall::Recall;

/// Bytes of a request: questions are a few words.
const MOST_BYTES: usize = 1 << 20;

/// Answers requests of the streamable HTTP transport: POST, each on its own. Who may ask is the business of whoever mounts
/// it: nothing is checked here but the protocol.
#[derive(Clone)]
pub struct McpEndpoint {
    served: StreamableHttpService<McpServer, NeverSessionManager>,
}

impl McpEndpoint {
    /// An endpoint that answers from a store.
    pub fn new(recall: Recall) -> Self {
        let server = McpServer::new(Arc::new(recall));
        let settings = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_max_request_body_bytes(MOST_BYTES)
            // Access was checked already, for every path and not only for this one.
            .disable_allowed_hosts()
            .disable_allowed_origins();
        Self {
            served: StreamableHttpService::new(
                move || Ok(server.clone()),
                Arc::new(NeverSessionManager::default()),
                settings,
            ),
        }
    }

    /// The response to a request, whatever its path.
    pub async fn respond<B>(&self, request: Request<B>) -> Response<BoxBody<Bytes, Infallible>>
    where
        B: Body + Send + 'static,
        B::Error: Display,
    {
        self.served.handle(request).await
    }
}

impl std::fmt::Debug for McpEndpoint {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Endpoint").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::RecallScope;
    use http_body_util::BodyExt;
    use http_body_util::Full;
    use mainstay_session::Redaction;

    async fn sent(endpoint: &McpEndpoint, method: &str, body: &str) -> (u16, String) {
        let request = Request::builder()
            .method(method)
            .uri("/mainstay/mcp")
            .header("host", "any.name.example")
            .header("origin", "https://anywhere.example")
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body.to_owned())))
            .unwrap();
        let response = endpoint.respond(request).await;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn it_can_be_mounted_anywhere_and_remembers_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let recall = Recall::new(folder.path().join("none.db"), Redaction::Off, RecallScope::Everything);
        let endpoint = McpEndpoint::new(recall);
        let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"checkpoints","arguments":{}}}"#;
        let (status, body) = sent(&endpoint, "POST", call).await;
        assert_eq!(status, 200, "{body}");
        assert!(body.contains("no store at") && body.contains(r#""id":7"#), "{body}");
        assert_eq!(sent(&endpoint, "GET", "").await.0, 405);
    }
}
