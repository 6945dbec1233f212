//! The server: accepts connections, checks access, dispatches requests, and stops when it is told to.

use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::RwLock;
use std::time::Duration;

use http::HeaderValue;
use http::Request;
use http::Response;
use http::StatusCode;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::rt::TokioTimer;
use mainstay_llm::relay::Lookup;
use mainstay_llm::relay::Relay;
use tokio::net::TcpListener;
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::Semaphore;
use tokio::sync::mpsc;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::http::connection::ClientConnection;
use crate::http::refusal::HttpRefusal;
use crate::http::request_body::BodyMemory;
use crate::http::request_log::RequestLog;
use crate::http::request_log::RequestRecord;
use crate::http::response_body::ResponseBody;
use crate::http::routing;
use crate::http::server_settings::ServerSettings;
use crate::log::EventLog;
use crate::log::LogLevel;
use crate::pages;
use crate::pages::Dashboard;
use crate::pages::PageSources;
use crate::pages::Readiness;
use crate::recall_tool::RecallHistory;
use crate::recall_tool::RecallInjector;
use crate::server::forwarding;
use crate::server::forwarding::ServerSetup;
use crate::session::fail_open::FailOpenCaller;
use crate::session::fail_open::SessionBackend;

/// Why the server does not start, or does not take a new configuration.
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

/// How far stopping has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServerStage {
    /// Not begun.
    Serving,
    /// Nothing new is taken; what is under way goes on.
    Stopping,
    /// Everything is broken off.
    Aborting,
}

/// What connections share.
struct ServerState {
    setup: RwLock<Arc<ActiveSetup>>,
    request_log: Arc<RequestLog>,
    stage: watch::Sender<ServerStage>,
    lookup: Option<Lookup>,
    memory: Arc<RecallHistory>,
}

/// A configuration that is in force.
struct ActiveSetup {
    setup: ServerSetup,
    dashboard: Dashboard,
    requests: Arc<Semaphore>,
}

impl ServerState {
    fn active(&self) -> Arc<ActiveSetup> {
        Arc::clone(&self.setup.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A server that listens.
pub struct ProxyServer {
    listener: TcpListener,
    shared: Arc<ServerState>,
}

/// By which a server is told to stop or to serve otherwise.
#[derive(Clone)]
pub struct ServerControls(Arc<ServerState>);

impl ServerControls {
    /// Stops: nothing new is taken, and what is under way has the operator's grace.
    pub fn stop(&self) {
        self.0
            .stage
            .send_modify(|stage| *stage = (*stage).max(ServerStage::Stopping));
    }

    /// Breaks everything off.
    pub fn abort(&self) {
        self.0.stage.send_replace(ServerStage::Aborting);
    }

    /// Serves otherwise from here on; requests under way end as they began. Where it listens stays.
    pub fn reload(&self, serving: ServerSettings, backend: Arc<dyn SessionBackend>) -> Result<(), StartError> {
        let active = ActiveSetup::new(serving, backend, self.0.lookup.clone(), &self.0.memory)?;
        *self.0.setup.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(active);
        Ok(())
    }

    /// The request log, with the metrics.
    pub fn request_log(&self) -> Arc<RequestLog> {
        Arc::clone(&self.0.request_log)
    }
}

impl ActiveSetup {
    fn new(
        serving: ServerSettings,
        backend: Arc<dyn SessionBackend>,
        lookup: Option<Lookup>,
        memory: &Arc<RecallHistory>,
    ) -> Result<Self, StartError> {
        serving.check().map_err(StartError::Unsafe)?;
        let private = serving.upstreams.private_names();
        let relay = Relay::with_lookup(serving.limits.connect, private, lookup)
            .map_err(|trouble| StartError::Relay(trouble.detail))?;
        let recall = serving.recall.clone();
        let offered = recall.map(|recall| Arc::new(RecallInjector::new(recall, Arc::clone(memory))));
        Ok(Self {
            requests: Arc::new(Semaphore::new(serving.limits.requests)),
            dashboard: Dashboard::new(&*backend),
            setup: ServerSetup {
                caller: FailOpenCaller::new(backend, serving.patience),
                body_memory: BodyMemory::new(serving.limits.bodies),
                relay,
                offered,
                serving,
            },
        })
    }
}

impl ProxyServer {
    /// Listens; nothing is accepted yet.
    pub async fn bind(
        serving: ServerSettings,
        backend: Arc<dyn SessionBackend>,
        log: EventLog,
    ) -> Result<Self, StartError> {
        Self::bind_with(serving, backend, log, None).await
    }

    /// The same with names looked up elsewhere.
    pub async fn bind_with(
        serving: ServerSettings,
        backend: Arc<dyn SessionBackend>,
        log: EventLog,
        lookup: Option<Lookup>,
    ) -> Result<Self, StartError> {
        let listen = serving.listen;
        let memory = Arc::default();
        let active = ActiveSetup::new(serving, backend, lookup.clone(), &memory)?;
        let bound = TcpListener::bind(listen).await;
        let listener = bound.map_err(|error| StartError::Listen(listen, error))?;
        let shared = ServerState {
            setup: RwLock::new(Arc::new(active)),
            request_log: Arc::new(RequestLog::new(log)),
            stage: watch::Sender::new(ServerStage::Serving),
            lookup,
            memory,
        };
        Ok(Self {
            listener,
            shared: Arc::new(shared),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// By which it is told to stop or to serve otherwise.
    pub fn controls(&self) -> ServerControls {
        ServerControls(Arc::clone(&self.shared))
    }

    /// Serves until it is told to stop, and what was under way is over or its time is.
    pub async fn run(self) {
        let limits = self.shared.active().setup.serving.limits;
        let connections = Arc::new(Semaphore::new(limits.connections));
        let (alive, mut all_gone) = mpsc::channel::<()>(1);
        let mut stage = self.shared.stage.subscribe();
        loop {
            let accepted = tokio::select! {
                _ = stage.wait_for(|stage| *stage > ServerStage::Serving) => break,
                accepted = accept(&self.listener, &connections) => accepted,
            };
            match accepted {
                Ok((stream, permit)) => {
                    let connection = serve(stream, Arc::clone(&self.shared));
                    let alive = alive.clone();
                    tokio::spawn(async move {
                        connection.await;
                        drop((permit, alive));
                    });
                }
                Err(error) => {
                    let kind = error.kind().to_string();
                    self.shared
                        .request_log
                        .log
                        .say(LogLevel::Error, "accept", &[("error", kind.into())]);
                    // Files have run out, or memory: at once would be too soon.
                    let _over = timeout(ACCEPT_PAUSE, pending::<()>()).await;
                }
            }
        }
        drop((self.listener, alive));
        let grace = self.shared.active().setup.serving.limits.grace;
        let aborted = async {
            // The sender is ours and outlives this.
            let _sent = stage.wait_for(|stage| *stage == ServerStage::Aborting).await;
        };
        tokio::select! {
            _ = all_gone.recv() => return,
            () = aborted => {}
            _ = timeout(grace, pending::<()>()) => {}
        }
        self.shared.stage.send_replace(ServerStage::Aborting);
        all_gone.recv().await;
    }
}

/// How much of a connection is read ahead: more would be memory, less would be calls. A head fits in any case.
const READ_AHEAD: usize = 128 << 10;
/// How long accepting rests when it fails, as other servers have it.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

async fn accept(listener: &TcpListener, connections: &Arc<Semaphore>) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let permit = Arc::clone(connections)
        .acquire_owned()
        .await
        .map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    Ok((stream, permit))
}

/// Serves one connection.
async fn serve(stream: TcpStream, shared: Arc<ServerState>) {
    // Without it an event of a stream would wait for the one after.
    let _quick = stream.set_nodelay(true);
    let limits = shared.active().setup.serving.limits;
    let mut stage = shared.stage.subscribe();
    let _counted = CountedConnection::new(Arc::clone(&shared.request_log));
    let answers = service_fn(|request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(respond(shared, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_wait)
        .max_header_size(limits.head)
        .max_buf_size(READ_AHEAD)
        .max_headers(limits.headers)
        .serve_connection(
            TokioIo::new(ClientConnection::new(stream, limits.head, limits.stall)),
            answers,
        );
    let mut connection = pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stage.wait_for(|stage| *stage > ServerStage::Serving) => {}
    }
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        _ = connection => {}
        _ = stage.wait_for(|stage| *stage == ServerStage::Aborting) => {}
    }
}

/// A connection that is counted while it is there.
struct CountedConnection(Arc<RequestLog>);

impl CountedConnection {
    fn new(request_log: Arc<RequestLog>) -> Self {
        request_log.metrics.connections.inc();
        Self(request_log)
    }
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        self.0.metrics.connections.dec();
    }
}

async fn respond(shared: Arc<ServerState>, request: Request<Incoming>) -> Response<ResponseBody> {
    let record = shared.request_log.open();
    let id = HeaderValue::from_str(&record.id);
    let mut response = answer(&shared, request, record).await;
    if let Ok(id) = id {
        response.headers_mut().insert("x-mainstay-request", id);
    }
    response
}

async fn answer(
    shared: &Arc<ServerState>,
    request: Request<Incoming>,
    mut record: RequestRecord,
) -> Response<ResponseBody> {
    let active = shared.active();
    let (head, body) = request.into_parts();
    let entered = match active.setup.serving.auth.enter(&head) {
        Ok(entered) => entered,
        Err(refusal) => return refuse(&refusal, record),
    };
    record.tenant.clone_from(&entered.tenant);
    let request = Request::from_parts(head, body);
    if let Some(page) = routing::internal_route(&entered.path) {
        record.route = "own";
        let setup = &active.setup;
        let sources = PageSources {
            readiness: match *shared.stage.borrow() {
                ServerStage::Serving => Readiness::Ready,
                ServerStage::Stopping | ServerStage::Aborting => Readiness::Stopping,
            },
            metrics: &shared.request_log.metrics,
            auth: &setup.serving.auth,
            caller: &setup.caller,
            dashboard: &active.dashboard,
        };
        let response = pages::page(&sources, page, &entered, request).await;
        record.answered(response.status());
        return response;
    }
    let Ok(permit) = Arc::clone(&active.requests).try_acquire_owned() else {
        let words = "more requests are under way than proxy.requests allows; try again";
        let refusal = HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, "busy", words).retry_after(1);
        return refuse(&refusal, record);
    };
    record.permits.push(permit);
    match forwarding::exchange(&active.setup, request, entered, &mut record).await {
        Ok((head, looked)) => forwarding::answer(&active.setup, head, looked, record),
        Err(refusal) => refuse(&refusal, record),
    }
}

fn refuse(refusal: &HttpRefusal, record: RequestRecord) -> Response<ResponseBody> {
    record.refused(refusal);
    refusal.answer()
}
