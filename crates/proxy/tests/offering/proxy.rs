//! A proxy that offers the tool, and requests to it.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use mainstay_engine::redact::Addresses;
use mainstay_engine::redact::Options;
use mainstay_proxy::http::auth::AuthPolicy;
use mainstay_proxy::http::server_settings::ServerLimits;
use mainstay_proxy::http::server_settings::ServerSettings;
use mainstay_proxy::http::upstreams::UpstreamPermissions;
use mainstay_proxy::http::upstreams::UpstreamServer as Target;
use mainstay_proxy::http::upstreams::Upstreams;
use mainstay_proxy::log::EventLog;
use mainstay_proxy::recall::Recall;
use mainstay_proxy::recall::RecallScope;
use mainstay_proxy::server::ProxyServer;
use mainstay_proxy::session::SessionCompactor;
use mainstay_proxy::settings::CompactionSettings;
use mainstay_proxy::settings::PassTiming;
use mainstay_session::Redaction;
use mainstay_tests::conversation::Form;
use mainstay_tests::upstream::Agent;
use serde_json::Value;
use serde_json::json;
use tokio::sync::oneshot;

const HIDDEN: Options = Options {
    addresses: Addresses::All,
    pii: false,
};

fn keeping(store: &Path, timing: PassTiming) -> CompactionSettings {
    CompactionSettings {
        timing,
        window: Some(32_000),
        patience: Duration::from_secs(600),
        ..CompactionSettings::at(store.to_owned())
    }
}

/// Whether the tool is offered.
#[derive(Clone, Copy, PartialEq)]
pub enum Tool {
    /// It is.
    Offered,
    /// It is not.
    Off,
}

/// A proxy on a thread of its own; it stops when this is dropped.
pub struct Proxy {
    /// Where it listens.
    pub url: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
    _folder: tempfile::TempDir,
}

impl Proxy {
    /// In front of this address.
    pub fn start(upstream: &str, timing: PassTiming, tool: Tool) -> Self {
        let folder = tempfile::tempdir().expect("there is a folder for such");
        let store = folder.path().join("store.db");
        let target = Target::read(upstream, UpstreamPermissions::default()).expect("the address is one");
        let recall = Recall::new(store.clone(), Redaction::Secrets(HIDDEN), RecallScope::Everything);
        let serving = ServerSettings {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            auth: AuthPolicy::default(),
            upstreams: Upstreams::new(vec![target]).expect("one is enough"),
            limits: ServerLimits::default(),
            patience: Duration::from_secs(600),
            recall: Some(recall).filter(|_| tool == Tool::Offered),
        };
        let backend = Arc::new(SessionCompactor::new(keeping(&store, timing)));
        let (stop, stopped) = oneshot::channel();
        let (tell, told) = std::sync::mpsc::channel();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .enable_all()
                .build()
                .expect("there are threads");
            runtime.block_on(async {
                let server = ProxyServer::bind(serving, backend, EventLog::silent())
                    .await
                    .expect("loopback has a free port");
                tell.send(server.address().expect("it listens"))
                    .expect("somebody waits");
                tokio::select! {
                    _ = server.run() => {}
                    _ = stopped => {}
                }
            });
            runtime.shutdown_background();
        });
        Self {
            url: format!("http://{}", told.recv().expect("the server says where it is")),
            stop: Some(stop),
            thread: Some(thread),
            _folder: folder,
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(thread::JoinHandle::join);
    }
}

/// Headers of a client.
pub fn headers(form: Form) -> Vec<(String, String)> {
    let key = match form {
        Form::Anthropic => ("x-api-key", "scripted-key"),
        Form::Chat | Form::Responses => ("authorization", "Bearer scripted-key"),
    };
    vec![
        (key.0.to_owned(), key.1.to_owned()),
        ("anthropic-version".to_owned(), "2023-06-01".to_owned()),
        ("accept-encoding".to_owned(), "gzip".to_owned()),
    ]
}

/// Where requests of a form go.
pub fn path(form: Form) -> &'static str {
    match form {
        Form::Anthropic => "/v1/messages",
        Form::Chat => "/v1/chat/completions",
        Form::Responses => "/v1/responses",
    }
}

/// A first request, as an agent makes it.
pub fn request(form: Form, streams: bool) -> Value {
    let mut body = Agent::new(form, "http://x").streaming(streams).request();
    body[form.list_key()] = match form {
        Form::Responses => {
            json!([{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}])
        }
        Form::Anthropic | Form::Chat => json!([{"role": "user", "content": "hello"}]),
    };
    body
}
