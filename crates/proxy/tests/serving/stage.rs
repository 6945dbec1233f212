//! A proxy on a free port, clients that speak in bytes, and upstreams that do.

use std::io::Read;
use std::io::Write;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use mainstay_proxy::http::auth::AuthPolicy;
use mainstay_proxy::http::server_settings::ServerLimits;
use mainstay_proxy::http::server_settings::ServerSettings;
use mainstay_proxy::http::upstreams::UpstreamPermissions;
use mainstay_proxy::http::upstreams::UpstreamServer;
use mainstay_proxy::http::upstreams::Upstreams;
use mainstay_proxy::log::EventLog;
use mainstay_proxy::log::LogLevel;
use mainstay_proxy::log::LogStyle;
use mainstay_proxy::server::ProxyServer;
use mainstay_proxy::server::ServerControls;
use mainstay_proxy::session::SessionCompactor;
use mainstay_proxy::session::fail_open::SessionBackend;
use mainstay_proxy::settings::CompactionSettings;
use mainstay_proxy::settings::PassTiming;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// A test that waits longer has failed.
pub const LONG: Duration = Duration::from_secs(30);

/// A proxy that serves.
pub struct Stage {
    pub address: SocketAddr,
    pub controls: ServerControls,
    pub lines: Arc<Mutex<Vec<String>>>,
    pub running: Option<JoinHandle<()>>,
    pub runtime: Option<Runtime>,
    _store: TempDir,
}

pub fn serving(upstream: &str) -> ServerSettings {
    let upstream = UpstreamServer::read(upstream, UpstreamPermissions::default()).unwrap();
    ServerSettings {
        recall: None,
        listen: "127.0.0.1:0".parse().unwrap(),
        auth: AuthPolicy::default(),
        upstreams: Upstreams::new(vec![upstream]).unwrap(),
        limits: ServerLimits::default(),
        patience: Duration::from_secs(20),
    }
}

/// The keeper itself.
pub fn keeper(store: &Path) -> SessionCompactor {
    SessionCompactor::new(CompactionSettings {
        timing: PassTiming::Threshold,
        patience: Duration::from_secs(20),
        memory: 1 << 20,
        ..CompactionSettings::at(store.join("store.db"))
    })
}

impl Stage {
    pub fn new(upstream: &str) -> Self {
        Self::with(serving(upstream))
    }

    pub fn with(serving: ServerSettings) -> Self {
        Self::advised(serving, |keeper| Arc::new(keeper))
    }

    /// Somebody else is asked, who may ask the keeper.
    pub fn advised(serving: ServerSettings, backend: impl FnOnce(SessionCompactor) -> Arc<dyn SessionBackend>) -> Self {
        let store = tempfile::tempdir().unwrap();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let log = EventLog::new(
            LogLevel::Debug,
            LogStyle::Json,
            Arc::new(move |line| kept.lock().unwrap().push(line)),
        );
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let backend = backend(keeper(store.path()));
        let server = runtime.block_on(ProxyServer::bind(serving, backend, log)).unwrap();
        Self {
            address: server.address().unwrap(),
            controls: server.controls(),
            lines,
            running: Some(runtime.spawn(server.run())),
            runtime: Some(runtime),
            _store: store,
        }
    }

    /// Sends bytes on a connection of their own; gives all that comes back until its end.
    pub fn ask(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect();
        // A proxy that has refused already may not read on.
        let _sent = stream.write_all(bytes.as_ref());
        rest(&mut stream)
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.set_write_timeout(Some(LONG)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    /// Asks for one of our pages.
    pub fn page(&self, path: &str) -> String {
        self.ask(format!(
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        ))
    }

    /// A figure of the metrics.
    pub fn figure(&self, name: &str) -> f64 {
        let page = self.page("/mainstay/metrics");
        let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map_or(0.0, |figure| figure.trim().parse().unwrap())
    }

    pub fn log(&self) -> String {
        self.lines.lock().unwrap().join("\n")
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.controls.abort();
        if let Some(runtime) = self.runtime.take() {
            // A keeper may stall on purpose.
            runtime.shutdown_background();
        }
    }
}

/// Everything until the end of a connection, or what came of it before it broke.
pub fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ended = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

pub fn status(answer: &str) -> u16 {
    let word = answer.split(' ').nth(1).unwrap_or("0");
    word.parse().unwrap_or(0)
}

/// A small request of the chat form.
pub const CHAT: &str =
    r#"{"input":[{"role":"user","content":"hi"}],"model":"gpt-5","messages":[{"role":"user","content":"hello"}]}"#;

/// A whole POST request after which the connection ends.
pub fn post(path: &str, headers: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: \
         close\r\n{headers}\r\n{body}",
        body.len()
    )
}

/// Waits until something is so.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < deadline, "never: {what}");
        thread::yield_now();
    }
}

/// An upstream that does as it likes with each connection, after the head and body of a request were read.
pub struct Upstreamed {
    pub address: SocketAddr,
    pub received: Arc<Mutex<Vec<String>>>,
}

impl Upstreamed {
    pub fn start(serve: impl Fn(TcpStream, &str) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let (kept, serve) = (Arc::clone(&received), Arc::new(serve));
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let (kept, serve) = (Arc::clone(&kept), Arc::clone(&serve));
                thread::spawn(move || {
                    stream.set_read_timeout(Some(LONG)).unwrap();
                    stream.set_nodelay(true).unwrap();
                    let Some(request) = read_request(&mut stream) else {
                        return;
                    };
                    kept.lock().unwrap().push(request.clone());
                    serve(stream, &request);
                });
            }
        });
        Self { address, received }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut piece = [0; 64 << 10];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let lower = head.to_lowercase();
            let length = lower
                .split("content-length: ")
                .nth(1)
                .and_then(|rest| rest.split("\r\n").next());
            let length: usize = length.map_or(0, |length| length.parse().unwrap());
            let chunked = lower.contains("transfer-encoding: chunked");
            if body.len() >= length && (!chunked || body.ends_with("0\r\n\r\n")) {
                return Some(text);
            }
        }
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
        }
    }
}
