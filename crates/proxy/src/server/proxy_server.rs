//! The server: accepts, lets in, serves, and stops when it is told to.

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

use crate::http::connection::Line;
use crate::http::refusal::Refusal;
use crate::http::request_body::Room;
use crate::http::request_log::Account;
use crate::http::request_log::Books;
use crate::http::response_body::Reply;
use crate::http::routing;
use crate::http::server_settings::Serving;
use crate::log::Level;
use crate::log::Log;
use crate::pages;
use crate::pages::Dashboard;
use crate::pages::PageSources;
use crate::pages::Readiness;
use crate::recall_tool::Memory;
use crate::recall_tool::Offered;
use crate::server::forwarding;
use crate::server::forwarding::Setup;
use crate::session::fail_open::Counsel;
use crate::session::fail_open::Desk;

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
pub enum Stage {
    /// Not begun.
    Serving,
    /// Nothing new is taken; what is under way goes on.
    Stopping,
    /// Everything is broken off.
    Aborting,
}

/// What connections share.
struct Shared {
    setup: RwLock<Arc<Active>>,
    books: Arc<Books>,
    stage: watch::Sender<Stage>,
    lookup: Option<Lookup>,
    memory: Arc<Memory>,
}

/// A configuration that is in force.
struct Active {
    setup: Setup,
    dashboard: Dashboard,
    requests: Arc<Semaphore>,
}

impl Shared {
    fn active(&self) -> Arc<Active> {
        Arc::clone(&self.setup.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
}

/// By which a server is told to stop or to serve otherwise.
#[derive(Clone)]
pub struct Controls(Arc<Shared>);

impl Controls {
    /// Stops: nothing new is taken, and what is under way has the operator's grace.
    pub fn stop(&self) {
        self.0.stage.send_modify(|stage| *stage = (*stage).max(Stage::Stopping));
    }

    /// Breaks everything off.
    pub fn abort(&self) {
        self.0.stage.send_replace(Stage::Aborting);
    }

    /// Serves otherwise from here on; requests under way end as they began. Where it listens stays.
    pub fn reload(&self, serving: Serving, counsel: Arc<dyn Counsel>) -> Result<(), StartError> {
        let active = Active::new(serving, counsel, self.0.lookup.clone(), &self.0.memory)?;
        *self.0.setup.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(active);
        Ok(())
    }

    /// The books.
    pub fn books(&self) -> Arc<Books> {
        Arc::clone(&self.0.books)
    }
}

impl Active {
    fn new(
        serving: Serving,
        counsel: Arc<dyn Counsel>,
        lookup: Option<Lookup>,
        memory: &Arc<Memory>,
    ) -> Result<Self, StartError> {
        serving.check().map_err(StartError::Unsafe)?;
        let private = serving.upstreams.private_names();
        let relay = Relay::with_lookup(serving.limits.connect, private, lookup)
            .map_err(|trouble| StartError::Relay(trouble.detail))?;
        let recall = serving.recall.clone();
        let offered = recall.map(|recall| Arc::new(Offered::new(recall, Arc::clone(memory))));
        Ok(Self {
            requests: Arc::new(Semaphore::new(serving.limits.requests)),
            dashboard: Dashboard::new(&*counsel),
            setup: Setup {
                desk: Desk::new(counsel, serving.patience),
                room: Room::new(serving.limits.bodies),
                relay,
                offered,
                serving,
            },
        })
    }
}

impl Server {
    /// Listens; nothing is accepted yet.
    pub async fn bind(serving: Serving, counsel: Arc<dyn Counsel>, log: Log) -> Result<Self, StartError> {
        Self::bind_with(serving, counsel, log, None).await
    }

    /// The same with names looked up elsewhere.
    pub async fn bind_with(
        serving: Serving,
        counsel: Arc<dyn Counsel>,
        log: Log,
        lookup: Option<Lookup>,
    ) -> Result<Self, StartError> {
        let listen = serving.listen;
        let memory = Arc::default();
        let active = Active::new(serving, counsel, lookup.clone(), &memory)?;
        let bound = TcpListener::bind(listen).await;
        let listener = bound.map_err(|error| StartError::Listen(listen, error))?;
        let shared = Shared {
            setup: RwLock::new(Arc::new(active)),
            books: Arc::new(Books::new(log)),
            stage: watch::Sender::new(Stage::Serving),
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
    pub fn controls(&self) -> Controls {
        Controls(Arc::clone(&self.shared))
    }

    /// Serves until it is told to stop, and what was under way is over or its time is.
    pub async fn run(self) {
        let limits = self.shared.active().setup.serving.limits;
        let connections = Arc::new(Semaphore::new(limits.connections));
        let (alive, mut all_gone) = mpsc::channel::<()>(1);
        let mut stage = self.shared.stage.subscribe();
        loop {
            let accepted = tokio::select! {
                _ = stage.wait_for(|stage| *stage > Stage::Serving) => break,
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
                        .books
                        .log
                        .say(Level::Error, "accept", &[("error", kind.into())]);
                    // Files have run out, or memory: at once would be too soon.
                    let _over = timeout(ACCEPT_PAUSE, pending::<()>()).await;
                }
            }
        }
        drop((self.listener, alive));
        let grace = self.shared.active().setup.serving.limits.grace;
        let aborted = async {
            // The sender is ours and outlives this.
            let _sent = stage.wait_for(|stage| *stage == Stage::Aborting).await;
        };
        tokio::select! {
            _ = all_gone.recv() => return,
            () = aborted => {}
            _ = timeout(grace, pending::<()>()) => {}
        }
        self.shared.stage.send_replace(Stage::Aborting);
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
async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    // Without it an event of a stream would wait for the one after.
    let _quick = stream.set_nodelay(true);
    let limits = shared.active().setup.serving.limits;
    let mut stage = shared.stage.subscribe();
    let _counted = Counted::new(Arc::clone(&shared.books));
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
        .serve_connection(TokioIo::new(Line::new(stream, limits.head, limits.stall)), answers);
    let mut connection = pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stage.wait_for(|stage| *stage > Stage::Serving) => {}
    }
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        _ = connection => {}
        _ = stage.wait_for(|stage| *stage == Stage::Aborting) => {}
    }
}

/// A connection that is counted while it is there.
struct Counted(Arc<Books>);

impl Counted {
    fn new(books: Arc<Books>) -> Self {
        books.metrics.connections.inc();
        Self(books)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.metrics.connections.dec();
    }
}

async fn respond(shared: Arc<Shared>, request: Request<Incoming>) -> Response<Reply> {
    let account = shared.books.open();
    let id = HeaderValue::from_str(&account.id);
    let mut response = answer(&shared, request, account).await;
    if let Ok(id) = id {
        response.headers_mut().insert("x-mainstay-request", id);
    }
    response
}

async fn answer(shared: &Arc<Shared>, request: Request<Incoming>, mut account: Account) -> Response<Reply> {
    let active = shared.active();
    let (head, body) = request.into_parts();
    let entered = match active.setup.serving.door.enter(&head) {
        Ok(entered) => entered,
        Err(refusal) => return refuse(&refusal, account),
    };
    account.tenant.clone_from(&entered.tenant);
    let request = Request::from_parts(head, body);
    if let Some(page) = routing::own(&entered.path) {
        account.route = "own";
        let setup = &active.setup;
        let sources = PageSources {
            readiness: match *shared.stage.borrow() {
                Stage::Serving => Readiness::Ready,
                Stage::Stopping | Stage::Aborting => Readiness::Stopping,
            },
            metrics: &shared.books.metrics,
            door: &setup.serving.door,
            desk: &setup.desk,
            dashboard: &active.dashboard,
        };
        let response = pages::page(&sources, page, &entered, request).await;
        account.answered(response.status());
        return response;
    }
    let Ok(permit) = Arc::clone(&active.requests).try_acquire_owned() else {
        let words = "more requests are under way than proxy.requests allows; try again";
        let refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "busy", words).retry_after(1);
        return refuse(&refusal, account);
    };
    account.permits.push(permit);
    match forwarding::exchange(&active.setup, request, entered, &mut account).await {
        Ok((head, looked)) => forwarding::answer(&active.setup, head, looked, account),
        Err(refusal) => refuse(&refusal, account),
    }
}

fn refuse(refusal: &Refusal, account: Account) -> Response<Reply> {
    account.refused(refusal);
    refusal.answer()
}
