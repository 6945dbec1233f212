//! A server of its own, for agents that reach recall over HTTP: one path, and a guard before all of them.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http::Response;
use http::StatusCode;
use http::header;
use http_body_util::BodyExt;
use http_body_util::Full;
use http_body_util::combinators::BoxBody;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::rt::TokioTimer;
use tokio::net::TcpListener;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use crate::mcp::McpEndpoint;
use crate::mcp::McpError;
use crate::mcp::McpGuard;
use crate::recall::Recall;

/// Where recall is.
pub const PATH: &str = "/mcp";

/// How long a client may take to send a head, or to say nothing between two requests.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
/// How long one request may take: sending a megabyte over a slow line, or reading a giant text.
const REQUEST_PATIENCE: Duration = Duration::from_secs(60);
/// Bytes of a head: a token and a dozen headers have less than a tenth of it.
const MOST_HEAD_BYTES: usize = 64 << 10;
/// Connections at once: more than the agents of one machine, fewer than its files.
const MOST_CONNECTIONS: usize = 128;
/// How long nothing is accepted after the system refused to: for want of files, which come free again.
const PAUSE: Duration = Duration::from_millis(100);

/// A server that has its address and does not answer yet.
#[derive(Debug)]
pub struct McpListener {
    listener: TcpListener,
    endpoint: McpEndpoint,
    guard: McpGuard,
}

/// Takes an address. One that other machines can reach is refused where no token is asked for.
pub async fn listen(address: SocketAddr, recall: Recall, guard: McpGuard) -> Result<McpListener, McpError> {
    if !address.ip().is_loopback() && !guard.has_token() {
        return Err(McpError::Open { address });
    }
    let listener = TcpListener::bind(address).await;
    Ok(McpListener {
        listener: listener.map_err(|cause| McpError::Address { address, cause })?,
        endpoint: McpEndpoint::new(recall),
        // Whoever connects to an address that was given may call it by that.
        guard: match address.ip().is_unspecified() {
            true => guard,
            false => guard.with_host(&address.ip().to_string()),
        },
    })
}

impl McpListener {
    /// The address, with the port that was chosen where none was given.
    pub fn address(&self) -> Option<SocketAddr> {
        self.listener.local_addr().ok()
    }

    /// Answers until it is dropped.
    pub async fn serve(self) -> Infallible {
        let McpListener {
            listener,
            endpoint,
            guard,
        } = self;
        let guard = Arc::new(guard);
        let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        loop {
            let seat = Arc::clone(&room).acquire_owned().await;
            let Ok((stream, _)) = listener.accept().await else {
                let _ = tokio::time::timeout(PAUSE, std::future::pending::<()>()).await;
                continue;
            };
            let (endpoint, guard) = (endpoint.clone(), Arc::clone(&guard));
            tokio::spawn(async move {
                connection(stream, endpoint, guard).await;
                drop(seat);
            });
        }
    }
}

async fn connection(stream: TcpStream, endpoint: McpEndpoint, guard: Arc<McpGuard>) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let (endpoint, guard) = (endpoint.clone(), Arc::clone(&guard));
        async move { Ok::<_, Infallible>(respond(request, &endpoint, &guard).await) }
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_buf_size(MOST_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), answer);
    // A client that goes away, or speaks something else, has nobody to tell.
    let _ = served.await;
}

async fn respond(
    request: Request<Incoming>,
    endpoint: &McpEndpoint,
    guard: &McpGuard,
) -> Response<BoxBody<Bytes, Infallible>> {
    if let Some((status, why)) = guard.refusal(&request) {
        return plain(status, why);
    }
    if request.uri().path() != PATH {
        return plain(StatusCode::NOT_FOUND, "recall is at /mcp");
    }
    match tokio::time::timeout(REQUEST_PATIENCE, endpoint.respond(request)).await {
        Ok(response) => response,
        Err(_) => plain(StatusCode::REQUEST_TIMEOUT, "the request took too long"),
    }
}

fn plain(status: StatusCode, text: &'static str) -> Response<BoxBody<Bytes, Infallible>> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *response.status_mut() = status;
    let kind = header::HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    if status == StatusCode::UNAUTHORIZED {
        let scheme = header::HeaderValue::from_static("Bearer");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
    }
    response
}
