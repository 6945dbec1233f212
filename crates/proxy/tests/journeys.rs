//! Whole sessions through the proxy, against a provider that is as strict as the real ones: they go on where the window ends, and
//! the provider's cache keeps working.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use mainstay_engine::decide::EconomicPolicy;
use mainstay_proxy::http::auth::AuthPolicy;
use mainstay_proxy::http::server_settings::ServerLimits;
use mainstay_proxy::http::server_settings::ServerSettings;
use mainstay_proxy::http::upstreams::UpstreamPermissions;
use mainstay_proxy::http::upstreams::UpstreamServer as Target;
use mainstay_proxy::http::upstreams::Upstreams;
use mainstay_proxy::log::EventLog;
use mainstay_proxy::server::ProxyServer;
use mainstay_proxy::session::SessionCompactor;
use mainstay_proxy::settings::CompactionSettings;
use mainstay_proxy::settings::PassTiming;
use mainstay_tests::conversation::Form;
use mainstay_tests::upstream::Agent;
use mainstay_tests::upstream::Scenario;
use mainstay_tests::upstream::Upstream;
use tokio::sync::oneshot;

fn keeping(store: &Path, timing: PassTiming, window: Option<u64>) -> CompactionSettings {
    CompactionSettings {
        timing,
        window,
        patience: Duration::from_secs(600),
        ..CompactionSettings::at(store.to_owned())
    }
}

/// A proxy on a thread of its own; it stops when this is dropped.
struct Proxy {
    url: String,
    keeper: SessionCompactor,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Proxy {
    fn start(upstream: &Upstream, keeping: CompactionSettings) -> Self {
        let keeper = SessionCompactor::new(keeping);
        let target = Target::read(&upstream.url(), UpstreamPermissions::default()).expect("the address is one");
        let serving = ServerSettings {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            auth: AuthPolicy::default(),
            upstreams: Upstreams::new(vec![target]).expect("one is enough"),
            limits: ServerLimits::default(),
            patience: Duration::from_secs(600),
            recall: None,
        };
        let (stop, stopped) = oneshot::channel();
        let (tell, told) = std::sync::mpsc::channel();
        let backend = Arc::new(keeper.clone());
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
            keeper,
            stop: Some(stop),
            thread: Some(thread),
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(thread::JoinHandle::join);
    }
}

#[test]
fn three_hundred_turns_go_on_where_a_window_of_32k_ends() {
    let economic = PassTiming::Economic(EconomicPolicy::default());
    for form in Form::ALL {
        for (turns, timing) in [(40, PassTiming::Threshold), (400, economic)] {
            let upstream = Upstream::start(Scenario::tool_loop(turns).window(32_000));
            let folder = tempfile::tempdir().unwrap();
            let store = folder.path().join("store.db");
            let proxy = Proxy::start(&upstream, keeping(&store, timing, Some(32_000)));
            let run = Agent::new(form, &proxy.url).run(300);
            let report = upstream.report();
            let overview = proxy.keeper.overview();
            assert_eq!(run.trouble, None, "{form:?} {turns}: {:?}", report.rejections);
            assert_eq!(run.turns, 300);
            assert_eq!(report.malformed().len(), 0, "{form:?} {turns}: {:?}", report.rejections);
            assert!(report.cache_share() >= 0.9, "{form:?} {turns}: {report:?}");
            assert!(overview.sessions[0].passes > 2, "{form:?} {turns}: {overview:?}");
        }
    }
}

#[test]
fn a_window_that_nobody_told_us_is_learnt() {
    for form in Form::ALL {
        let upstream = Upstream::start(Scenario::tool_loop(60).window(32_000));
        let folder = tempfile::tempdir().unwrap();
        let timing = PassTiming::Economic(EconomicPolicy::default());
        let proxy = Proxy::start(&upstream, keeping(&folder.path().join("store.db"), timing, None));
        let run = Agent::new(form, &proxy.url).run(200);
        let report = upstream.report();
        assert_eq!(run.trouble, None, "{form:?}: {:?}", report.rejections);
        assert_eq!(report.malformed().len(), 0, "{form:?}: {:?}", report.rejections);
        assert!(report.overflows() >= 1, "{form:?}: the window had to be learnt");
        assert!(report.overflows() <= 4, "{form:?}: {:?}", report.rejections);
    }
}

#[test]
fn reasoning_that_is_bound_to_its_prompt_survives_passes() {
    let scenario = Scenario {
        bound: true,
        ..Scenario::tool_loop(60).window(32_000)
    };
    let upstream = Upstream::start(scenario);
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store.db");
    let proxy = Proxy::start(&upstream, keeping(&store, PassTiming::Threshold, Some(32_000)));
    let run = Agent::new(Form::Anthropic, &proxy.url).run(150);
    let report = upstream.report();
    assert_eq!(run.trouble, None, "{:?}", report.rejections);
    // The provider complains once, and is told what to do from then on.
    assert!(report.malformed().len() <= 1, "{:?}", report.rejections);
    assert!(proxy.keeper.overview().sessions[0].passes > 1);
}
