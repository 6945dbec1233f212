//! A scripted provider with real wire formats: Anthropic Messages, OpenAI Chat Completions and OpenAI Responses over HTTP/1.1
//! on loopback, whole and streamed.
//!
//! ```no_run
//! use mainstay_tests::upstream::Scenario;
//! use mainstay_tests::upstream::Upstream;
//!
//! let upstream = Upstream::start(Scenario::tool_loop(12).window(32_000));
//! let _configure = upstream.url(); // http://127.0.0.1:40123
//! let report = upstream.report();
//! assert!(report.malformed().is_empty() && report.cache_share() >= 0.0);
//! ```
//!
//! It is strict: what the providers refuse is refused, in their words, and counted. It remembers what it gave out, and every
//! prompt, so that the usage it reports is what a provider's cache would have done. What it says follows from the request and
//! from the ids it issued itself, so one client gets the same answers every time. Choices may also stand behind the name of
//! a model: `claude-sonnet-4-5+turns=20+error=529+times=1`.

mod agent;
mod answer;
mod anthropic;
mod cache;
mod chat;
pub mod client;
mod delivery;
mod desk;
mod heard;
mod issued;
mod prompt;
mod refusal;
mod report;
mod responses;
mod rules;
mod rules_anthropic;
mod rules_chat;
mod rules_responses;
mod scenario;
mod serve;
mod speech;
mod tools;

use std::net::Ipv4Addr;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use crate::server::Received;
use desk::Desk;

pub use agent::Agent;
pub use agent::Run;
pub use heard::Heard;
pub use heard::hear;
pub use report::Rejection;
pub use report::Report;
pub use scenario::Asking;
pub use scenario::Care;
pub use scenario::Fault;
pub use scenario::Overflow;
pub use scenario::Reach;
pub use scenario::Scenario;

/// A running provider; it stops when this is dropped.
#[derive(Debug)]
pub struct Upstream {
    address: SocketAddr,
    desk: Arc<Desk>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Upstream {
    /// A provider on a free port.
    pub fn start(scenario: Scenario) -> Self {
        let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self::start_at(anywhere, scenario, None).expect("loopback has a free port")
    }

    /// A provider at an address. Every request is written to the directory, if one is given.
    pub fn start_at(address: SocketAddr, scenario: Scenario, log: Option<PathBuf>) -> std::io::Result<Self> {
        let listener = serve::listen(address)?;
        let address = listener.local_addr()?;
        let desk = Arc::new(Desk::new(scenario, log));
        let shared = Arc::clone(&desk);
        let (stop, stopped) = oneshot::channel::<()>();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = serve::serve(listener, shared) => {}
                    _ = stopped => {}
                }
            });
            runtime.shutdown_background();
        });
        Ok(Self {
            address,
            desk,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// The address without any path: what clients of Anthropic are configured with.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The address that clients of OpenAI are configured with.
    pub fn openai_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// What was seen so far, in figures.
    pub fn report(&self) -> Report {
        self.desk.report()
    }

    /// The requests so far, in the order in which they were read; none in benchmarks.
    pub fn received(&self) -> Vec<Received> {
        self.desk.received()
    }

    /// Forgets everything that was seen and given out.
    pub fn reset(&self) {
        self.desk.reset();
    }

    /// Serves until the process ends.
    pub fn wait(mut self) {
        let thread = self.thread.take();
        let _ended = thread.map(JoinHandle::join);
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _listening = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

#[cfg(test)]
mod thinking_tests;
