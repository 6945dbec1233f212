//! The server: accepts, lets in, serves, stops.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use http::Request;
use http::Response;
use http::StatusCode;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::rt::TokioTimer;
use tokio::net::TcpListener;
use tokio::net::TcpStream;

use crate::counsel::Counsel;
use crate::counsel::Desk;
use crate::exchange;
use crate::exchange::Setup;
use crate::passing::Reply;
use crate::refusal::Refusal;
use crate::route;
use crate::serving::Serving;
use mainstay_llm::relay::Relay;

/// Why the server does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// What is set must not be served.
    #[error("{0}")]
    Unsafe(&'static str),
    /// The address cannot be listened on.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, io::Error),
    /// There is no way out.
    #[error("{0}")]
    Relay(String),
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    setup: Arc<Setup>,
}

impl Server {
    /// Listens; nothing is accepted yet.
    pub async fn bind(serving: Serving, counsel: Arc<dyn Counsel>) -> Result<Self, StartError> {
        serving.check().map_err(StartError::Unsafe)?;
        let listener = TcpListener::bind(serving.listen)
            .await
            .map_err(|error| StartError::Listen(serving.listen, error))?;
        let relay = Relay::new(serving.limits.connect, serving.upstreams.private_names())
            .map_err(|trouble| StartError::Relay(trouble.detail))?;
        let desk = Desk::new(counsel, serving.patience);
        Ok(Self {
            listener,
            setup: Arc::new(Setup { serving, desk, relay }),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves for ever.
    pub async fn run(self) {
        loop {
            let Ok((stream, _)) = self.listener.accept().await else {
                continue;
            };
            tokio::spawn(serve(stream, Arc::clone(&self.setup)));
        }
    }
}

async fn serve(stream: TcpStream, setup: Arc<Setup>) {
    let _quick = stream.set_nodelay(true);
    let limits = setup.serving.limits;
    let answers = service_fn(move |request| {
        let setup = Arc::clone(&setup);
        async move { Ok::<_, Infallible>(answer(setup, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_wait)
        .max_buf_size(limits.head)
        .max_headers(limits.headers)
        .serve_connection(TokioIo::new(stream), answers);
    let _ended = connection.await;
}

async fn answer(setup: Arc<Setup>, request: Request<Incoming>) -> Response<Reply> {
    let (head, body) = request.into_parts();
    let entered = match setup.serving.door.enter(&head) {
        Ok(entered) => entered,
        Err(refusal) => return refusal.answer(),
    };
    if route::own(&entered.path).is_some() {
        return Refusal::new(StatusCode::NOT_FOUND, "path", "there is nothing here").answer();
    }
    match exchange::exchange(setup, Request::from_parts(head, body), entered).await {
        Ok(response) => response,
        Err(refusal) => refusal.answer(),
    }
}
