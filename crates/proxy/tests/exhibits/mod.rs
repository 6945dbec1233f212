//! A proxy whose pages have something to show: a store with compactions, and a keeper that says what it is told to.
#![allow(dead_code, clippy::unwrap_used)]

pub mod hostile;

use std::io::Read;
use std::io::Write;
use std::net::SocketAddr;
use std::net::TcpStream;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use mainstay_engine::transcript::Author;
use mainstay_engine::transcript::Role;
use mainstay_engine::transcript::Timestamp;
use mainstay_llm::answer::Usage;
use mainstay_proxy::http::auth::AuthPolicy;
use mainstay_proxy::http::server_settings::ServerLimits;
use mainstay_proxy::http::server_settings::ServerSettings;
use mainstay_proxy::http::upstreams::UpstreamPermissions;
use mainstay_proxy::http::upstreams::UpstreamServer;
use mainstay_proxy::http::upstreams::Upstreams;
use mainstay_proxy::log::EventLog;
use mainstay_proxy::server::ProxyServer;
use mainstay_proxy::session::IncomingRequest;
use mainstay_proxy::session::OutgoingRequest;
use mainstay_proxy::session::RequestNote;
use mainstay_proxy::session::RequestTicket;
use mainstay_proxy::session::SessionStatus;
use mainstay_proxy::session::SessionsOverview;
use mainstay_proxy::session::StoreLocation;
use mainstay_proxy::session::fail_open::SessionBackend;
use mainstay_proxy::session::fallback_slot::FallbackSlot;
use mainstay_session::Redaction;
use mainstay_store::Metrics;
use mainstay_store::NewCheckpoint;
use mainstay_store::NewDropped;
use mainstay_store::Store;
use tempfile::TempDir;
use tokio::sync::oneshot;

/// A credential of a shape that redaction knows; it opens nothing.
pub const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

/// A keeper that does nothing and says what it is told to.
struct Teller {
    overview: SessionsOverview,
    archive: StoreLocation,
}

impl SessionBackend for Teller {
    fn prepare(&self, incoming: IncomingRequest, _: &FallbackSlot<OutgoingRequest>) -> OutgoingRequest {
        OutgoingRequest {
            body: incoming.body,
            extra_header: None,
            note: RequestNote::default(),
            ticket: None,
        }
    }

    fn after_overflow(
        &self,
        _: &RequestTicket,
        _: &str,
        _: &FallbackSlot<Option<OutgoingRequest>>,
    ) -> Option<OutgoingRequest> {
        None
    }

    fn after_complaint(&self, _: &RequestTicket, _: &str) -> Option<OutgoingRequest> {
        None
    }

    fn answered(&self, _: RequestTicket, _: Option<Usage>) {}

    fn overview(&self) -> Option<SessionsOverview> {
        Some(self.overview.clone())
    }

    fn archive(&self) -> Option<StoreLocation> {
        Some(self.archive.clone())
    }
}

/// A proxy on a thread of its own; it stops when this is dropped.
pub struct Proxy {
    pub url: String,
    pub address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Proxy {
    /// Shows these sessions and this store.
    pub fn start(overview: SessionsOverview, store: &Path, auth: AuthPolicy) -> Self {
        let archive = StoreLocation {
            store: store.to_owned(),
            redaction: Redaction::default(),
        };
        // Nothing listens at the discard port: what goes on to an upstream fails.
        Self::serve(Arc::new(Teller { overview, archive }), "http://127.0.0.1:9", auth)
    }

    /// Serves with this counsel, to this upstream.
    pub fn serve(backend: Arc<dyn SessionBackend>, upstream: &str, auth: AuthPolicy) -> Self {
        let target = UpstreamServer::read(upstream, UpstreamPermissions::default()).expect("the address is one");
        let serving = ServerSettings {
            recall: None,
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            auth,
            upstreams: Upstreams::new(vec![target]).expect("one is enough"),
            limits: ServerLimits::default(),
            patience: Duration::from_secs(60),
        };
        let (stop, stopped) = oneshot::channel();
        let (tell, told) = std::sync::mpsc::channel();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            runtime.block_on(async {
                let server = ProxyServer::bind(serving, backend, EventLog::silent()).await;
                let server = server.expect("loopback has a free port");
                tell.send(server.address().expect("it listens"))
                    .expect("somebody waits");
                tokio::select! {
                    () = server.run() => {}
                    _ = stopped => {}
                }
            });
            runtime.shutdown_background();
        });
        let address = told.recv().expect("the server says where it is");
        Self {
            url: format!("http://{address}/mainstay/"),
            address,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// The answer to a request: its status, its head and its body.
    pub fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> (u16, String, Vec<u8>) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n",
            self.address
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(answer[..end].to_vec()).unwrap().to_lowercase();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head, answer[end + 4..].to_vec())
    }

    /// A page as text.
    pub fn page(&self, path: &str) -> (u16, String) {
        let (status, _, body) = self.ask("GET", path, "", "");
        (status, String::from_utf8(body).unwrap())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(thread::JoinHandle::join);
    }
}

/// A proxy with three conversations, of which one was compacted twice; the store, and the newer compaction.
pub fn rich() -> (Proxy, Shelf, String) {
    let mut shelf = Shelf::new();
    shelf.compaction("anthropic-4be1c90a77d2", 5_400);
    shelf.compaction("openai-chat-0d13ffe2a900", 900);
    let newest = shelf.compaction("anthropic-4be1c90a77d2", 240);
    let sessions = vec![
        SessionStatus {
            checkpoint: Some(newest.clone()),
            ..session("anthropic-4be1c90a77d2", "claude-sonnet-4-5", 12)
        },
        SessionStatus {
            prompt: 101_300,
            prompt_whole: 101_300,
            window: 128_000,
            threshold: 96_000,
            passes: 0,
            cost: 0.0,
            cost_whole: 0.0,
            is_passing: true,
            reason: "the threshold is passed".to_owned(),
            ..session("openai-chat-0d13ffe2a900", "qwen3-coder", 95)
        },
        SessionStatus {
            requests: 4,
            messages: 7,
            prompt: 8_411,
            prompt_whole: 8_411,
            passes: 0,
            covered: 0,
            trimmed: 0,
            prompts: 30_118,
            prompts_whole: 30_118,
            cost: 0.0471,
            cost_whole: 0.0471,
            reason: "there is room".to_owned(),
            ..session("openai-responses-77aa01c2de34", "gpt-5.1-codex", 7_300)
        },
    ];
    let proxy = Proxy::start(overview(&shelf.path, sessions), &shelf.path, AuthPolicy::default());
    (proxy, shelf, newest)
}

/// What a keeper says that has these conversations.
pub fn overview(store: &Path, sessions: Vec<SessionStatus>) -> SessionsOverview {
    SessionsOverview {
        timing: "when it pays by the model's prices, else at the threshold".to_owned(),
        engine: "auto",
        writes_summaries: true,
        trim: Some(20_000),
        store: store.display().to_string(),
        sessions,
        memory: 12_400_000,
    }
}

/// A conversation like any other.
pub fn session(conversation: &str, model: &str, seconds_ago: i64) -> SessionStatus {
    SessionStatus {
        conversation: conversation.to_owned(),
        model: model.to_owned(),
        began: now() - 3_600_000,
        last: now() - seconds_ago * 1_000,
        requests: 148,
        messages: 297,
        prompt: 61_840,
        prompt_whole: 214_310,
        window: 200_000,
        threshold: 150_000,
        passes: 3,
        checkpoint: None,
        covered: 240,
        trimmed: 2,
        prompts: 7_420_118,
        prompts_whole: 15_904_402,
        cost: 4.1873,
        cost_whole: 7.9021,
        is_passing: false,
        is_prepared: false,
        reason: "it pays: about 9 requests bring back what the rewrite costs".to_owned(),
    }
}

pub fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.unwrap().as_millis()).unwrap()
}

/// A store with something in it, in a folder of its own.
pub struct Shelf {
    _folder: TempDir,
    pub path: PathBuf,
    pub store: Store,
}

impl Shelf {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept/store.db");
        let store = Store::open(&path).unwrap();
        Self {
            _folder: folder,
            path,
            store,
        }
    }

    /// A compaction of a conversation as real ones are; its id.
    pub fn compaction(&mut self, conversation: &str, seconds_ago: i64) -> String {
        let message = |role: &str, text: &str| serde_json::json!({"role": role, "content": text}).to_string();
        let said: Vec<String> = LOST.iter().map(|lost| message("user", lost.3)).collect();
        let (first, last) = (
            message("user", "the newest question"),
            message("assistant", "the newest answer"),
        );
        let original = format!("{{\"model\":\"m\",\"messages\":[{},{first},{last}]}}", said.join(","));
        let block = message("user", &format!("{BLOCK}\nThe token is {SECRET}, do not print it."));
        let result = format!("{{\"model\":\"m\",\"messages\":[{block},{first},{last}]}}");
        let dropped: Vec<NewDropped<'_>> = LOST.iter().enumerate().map(lost).collect();
        let new = NewCheckpoint {
            source: "proxy",
            format: "anthropic",
            form: "anthropic",
            model: Some("claude-sonnet-4-5"),
            original: &[original.as_bytes()],
            result: &[result.as_bytes()],
            dropped: &dropped,
            metrics: metrics(),
            engine_version: "0.1.0",
            ..NewCheckpoint::new(conversation, Timestamp(now() - seconds_ago * 1_000))
        };
        self.store.append(&new).unwrap().to_string()
    }
}

fn metrics() -> Metrics {
    Metrics {
        mode: "ledger".to_owned(),
        trigger: "economic".to_owned(),
        tokens_before: 151_204,
        tokens_after: 38_112,
        messages_before: 297,
        messages_after: 61,
        turns: 12,
        duration_ms: 184,
        ..Metrics::default()
    }
}

/// A dropped text: reference, author, tool, text.
pub type Lost = (&'static str, Author, Option<&'static str>, &'static str);

/// What compactions here drop.
pub const LOST: &[Lost] = &[
    (
        "m00000000a1",
        Author::User,
        None,
        "We decided to keep the port at 8443.\nNever change it without asking me.",
    ),
    (
        "m00000000a2",
        Author::Tool,
        Some("bash"),
        "running 12 tests\ntest limits::window ... FAILED\nerror: assertion failed: left == right\n  left: 10\n right: 12",
    ),
    (
        "m00000000a3",
        Author::Tool,
        Some("read_file"),
        "pub fn window(limit: u64) -> u64 {\n\tlimit * 9 / 10\n}\n",
    ),
    (
        "m00000000a4",
        Author::Assistant,
        None,
        "The limiter counts requests in a sliding window; I will change crates/limits/src/window.rs next.",
    ),
    (
        "m00000000a5",
        Author::Tool,
        Some("bash"),
        "export GITHUB_TOKEN=ghp_16C7e42F292c6912E7710c838347Ae178B4a\nremote: ok",
    ),
    (
        "m00000000a6",
        Author::Tool,
        Some("grep"),
        "src/a.rs:12: let port = 8443;\nsrc/b.rs:3: // port",
    ),
];

const BLOCK: &str = "# What happened so far\n\n## Decisions\n- The port stays at 8443 (the person, message 3)\n\n## Files\n- crates/limits/src/window.rs: read, to be changed\n\n## Errors\n- limits::window fails: left 10, right 12";

fn lost((index, (reference, author, tool, text)): (usize, &Lost)) -> NewDropped<'static> {
    NewDropped {
        reference,
        text,
        message: 3 + 7 * index,
        part: 0,
        role: if *author == Author::User {
            Role::User
        } else {
            Role::Tool
        },
        author: *author,
        tool: *tool,
        action: if tool.is_some() { "output" } else { "replaced" },
        tokens: 40 + 913 * index as u64,
        failed: text.contains("error"),
    }
}
