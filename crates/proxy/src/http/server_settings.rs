//! What the operator has set about serving: the address to listen on, auth, upstreams, limits and timeouts.

use std::net::SocketAddr;
use std::time::Duration;

use crate::http::auth::AuthPolicy;
use crate::http::upstreams::Upstreams;
use crate::recall::Recall;

/// Everything about serving.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Who may come in.
    pub auth: AuthPolicy,
    /// Where requests go.
    pub upstreams: Upstreams,
    /// How much of everything.
    pub limits: ServerLimits,
    /// How long the session may hold a request up.
    pub patience: Duration,
    /// By which a recall tool is answered that models are offered; none is offered without.
    pub recall: Option<Recall>,
}

impl ServerSettings {
    /// Refuses what would open the door to everybody.
    pub fn check(&self) -> Result<(), &'static str> {
        if !self.listen.ip().is_loopback() && self.auth.tokens.is_empty() {
            return Err(
                "listening beyond this machine needs a client's token, or anybody could spend keys and read \
                        conversations; configure proxy.tokens, or listen on 127.0.0.1",
            );
        }
        Ok(())
    }
}

/// How much of everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// Bytes of a request's head.
    pub head: usize,
    /// Headers of a request.
    pub headers: usize,
    /// How long a request's head may take, and a connection may be unused.
    pub head_wait: Duration,
    /// Bytes of a request's body.
    pub body: u64,
    /// Bytes of all bodies that are held at once.
    pub bodies: u64,
    /// How long nothing of a body may come.
    pub body_wait: Duration,
    /// Connections at once; more wait to be accepted.
    pub connections: usize,
    /// Requests at once; more are refused.
    pub requests: usize,
    /// How long connecting to an upstream may take.
    pub connect: Duration,
    /// How long an upstream may say nothing.
    pub silence: Duration,
    /// How long a client may take nothing.
    pub stall: Duration,
    /// How long streams may go on after we were asked to stop.
    pub grace: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            // What browsers and proxies agree on as generous; keys and cookies of agents take one.
            head: 64 << 10,
            headers: 100,
            // As the hardening guides for nginx have it.
            head_wait: Duration::from_secs(10),
            // Anthropic takes 32 MB; OpenAI takes images of 50 MB.
            body: 64 << 20,
            // A dozen of the largest requests, or thousands of usual ones.
            bodies: 768 << 20,
            // As nginx: between two reads.
            body_wait: Duration::from_secs(60),
            // A slow client costs a few kilobytes; systems give a process a thousand files at least.
            connections: 2_000,
            // Agents of a team, each with several streams.
            requests: 2_000,
            connect: Duration::from_secs(10),
            // A model that thinks before its whole answer is silent for as long as clients wait: ten minutes by default,
            // and some are told to wait for an hour.
            silence: Duration::from_secs(3_600),
            // An agent that was put aside with Ctrl-Z comes back sooner, or it never does.
            stall: Duration::from_secs(600),
            // What Kubernetes gives.
            grace: Duration::from_secs(30),
        }
    }
}
