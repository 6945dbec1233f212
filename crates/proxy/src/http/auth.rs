//! Auth: which requests are let in, by host, origin and client token.
//!
//! A page of any website can make its visitor's browser speak to this machine. So the host that a request names has to be this
//! machine or one the operator has listed, whatever a name resolves to; a request that a browser sends for another website is
//! refused; and no answer of ours ever invites one. Where tokens are configured, a client has to bring one, as a header or at
//! the beginning of the path; it is taken off and never sent on.

use http::HeaderMap;
use http::Method;
use http::StatusCode;
use http::header::HOST;
use http::header::ORIGIN;
use http::request::Parts;
use http::uri::Authority;
use mainstay_llm::is_this_machine;
use mainstay_llm::secret::Secret;

use crate::http::refusal::HttpRefusal;
use crate::http::routing;

/// The header that brings a client's token.
pub const TOKEN_HEADER: &str = "x-mainstay-token";

/// A client's token: who has it, and what it hashes to. The token itself is kept nowhere.
#[derive(Clone, Debug)]
pub struct ProxyToken {
    name: String,
    hash: blake3::Hash,
    is_operator: bool,
}

impl ProxyToken {
    /// A token under the name of whoever has it.
    pub fn new(name: &str, token: &Secret) -> Self {
        Self {
            name: name.to_owned(),
            hash: blake3::hash(token.reveal().as_bytes()),
            is_operator: false,
        }
    }

    /// The same for somebody who may see what all clients do.
    pub fn of_operator(self) -> Self {
        Self {
            is_operator: true,
            ..self
        }
    }
}

/// Which requests are let in.
#[derive(Clone, Debug, Default)]
pub struct AuthPolicy {
    /// Hosts under which clients reach us, besides this machine itself.
    pub hosts: Vec<String>,
    /// Origins of pages that may ask.
    pub origins: Vec<String>,
    /// Tokens; where there are none, none is asked for.
    pub tokens: Vec<ProxyToken>,
}

/// A request that was let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdmittedRequest {
    /// Whose it is; empty where everybody is the same.
    pub tenant: String,
    /// Its path, without a token.
    pub path: String,
}

impl AuthPolicy {
    /// Lets a request in, or says why not.
    pub fn enter(&self, head: &Parts) -> Result<AdmittedRequest, HttpRefusal> {
        check_form(head)?;
        self.check_host(&head.headers)?;
        self.check_origin(head)?;
        routing::check_path(head.uri.path())?;
        let (brought, path) = match token_in(head.uri.path()) {
            Some((token, rest)) => (Some(token.as_bytes()), rest),
            None => (None, head.uri.path()),
        };
        let brought = match head.headers.get(TOKEN_HEADER) {
            Some(value) => Some(value.as_bytes()),
            None => brought,
        };
        let is_probe = matches!(
            routing::internal_route(path),
            Some(routing::InternalRoute::Health | routing::InternalRoute::Ready)
        );
        let tenant = match self.tenant(brought) {
            Some(tenant) => tenant,
            // Whoever watches over the process need not be a client.
            None if is_probe => String::new(),
            None => {
                return Err(HttpRefusal::new(
                    StatusCode::UNAUTHORIZED,
                    "token",
                    "a client's token is needed: in the header x-mainstay-token, or as /t/<token> in front of the path of \
                     the base URL",
                ));
            }
        };
        Ok(AdmittedRequest {
            tenant,
            path: path.to_owned(),
        })
    }

    /// Whether a client may see what all clients do. Where only one brings a token, or nobody does, all of it is theirs.
    pub fn sees_everything(&self, tenant: &str) -> bool {
        let is_operator = |token: &ProxyToken| token.is_operator && token.name == tenant;
        self.tokens.len() < 2 || self.tokens.iter().any(is_operator)
    }

    /// Whose token this is. Every token is compared, and each takes the same time whatever it is compared with.
    fn tenant(&self, brought: Option<&[u8]>) -> Option<String> {
        if self.tokens.is_empty() {
            return Some(String::new());
        }
        let brought = blake3::hash(brought?);
        let mut tenant = None;
        for token in &self.tokens {
            if token.hash == brought {
                tenant = Some(token.name.clone());
            }
        }
        tenant
    }

    fn check_host(&self, headers: &HeaderMap) -> Result<(), HttpRefusal> {
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            let words = "a request names one host";
            return Err(HttpRefusal::new(StatusCode::BAD_REQUEST, "host", words).closing());
        };
        let authority = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok());
        let known = authority.is_some_and(|authority| {
            let host = authority.host();
            let listed = || self.hosts.iter().any(|known| is_host(known, &authority));
            !authority.as_str().contains('@') && (is_this_machine(host) || listed())
        });
        if known {
            return Ok(());
        }
        Err(HttpRefusal::new(
            StatusCode::FORBIDDEN,
            "host",
            "the request names a host that is neither this machine nor listed in proxy.hosts",
        )
        .closing())
    }

    fn check_origin(&self, head: &Parts) -> Result<(), HttpRefusal> {
        let refuse = || {
            Err(HttpRefusal::new(
                StatusCode::FORBIDDEN,
                "origin",
                "a browser sent this for a page that is not listed in proxy.origins",
            )
            .closing())
        };
        let mut origins = head.headers.get_all(ORIGIN).iter().peekable();
        if origins.peek().is_none() {
            return match is_from_elsewhere(head) {
                true => refuse(),
                false => Ok(()),
            };
        }
        let host = head.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("");
        let known = origins.all(|origin| {
            let Ok(origin) = origin.to_str() else { return false };
            // A page of our own: its host was looked at before.
            let own = origin
                .strip_prefix("http://")
                .is_some_and(|rest| rest.eq_ignore_ascii_case(host));
            own || self.origins.iter().any(|known| known.eq_ignore_ascii_case(origin))
        });
        match known {
            true => Ok(()),
            false => refuse(),
        }
    }
}

/// Whether a browser says that another website is behind it. Following a link to one of our pages is no such thing.
fn is_from_elsewhere(head: &Parts) -> bool {
    let says = |name: &str, word: &str| {
        head.headers
            .get(name)
            .is_some_and(|value| value.as_bytes() == word.as_bytes())
    };
    let elsewhere = says("sec-fetch-site", "cross-site") || says("sec-fetch-site", "same-site");
    let follows_link =
        head.method == Method::GET && says("sec-fetch-mode", "navigate") && says("sec-fetch-dest", "document");
    elsewhere && !follows_link
}

/// Whether a listed host is the one of the request; a listed one with a port counts for that port only.
fn is_host(known: &str, asked: &Authority) -> bool {
    known.eq_ignore_ascii_case(asked.as_str()) || known.eq_ignore_ascii_case(asked.host())
}

/// What no request to us looks like, and a request to somebody else's proxy does.
fn check_form(head: &Parts) -> Result<(), HttpRefusal> {
    let refuse = |status, words: &str| Err(HttpRefusal::new(status, "form", words).closing());
    if head.method == Method::CONNECT || head.method == Method::TRACE {
        return refuse(StatusCode::METHOD_NOT_ALLOWED, "this method leads nowhere here");
    }
    if head.uri.scheme().is_some() || head.uri.authority().is_some() {
        return refuse(
            StatusCode::BAD_REQUEST,
            "the request names an address; upstreams are chosen by the operator",
        );
    }
    if head.uri.path() == "*" {
        return refuse(StatusCode::BAD_REQUEST, "the request names no path");
    }
    // HTTP clients of Java offer another version of the protocol on every plain connection; that is left unanswered.
    let upgrades = head.headers.get_all(http::header::UPGRADE).iter();
    if upgrades
        .into_iter()
        .any(|wanted| !wanted.as_bytes().eq_ignore_ascii_case(b"h2c"))
    {
        return refuse(StatusCode::BAD_REQUEST, "other protocols are not spoken here");
    }
    Ok(())
}

/// The token at the beginning of a path, and the path without it.
fn token_in(path: &str) -> Option<(&str, &str)> {
    let rest = path
        .strip_prefix('/')?
        .strip_prefix(routing::TOKEN)?
        .strip_prefix('/')?;
    match rest.find('/') {
        Some(at) => Some((&rest[..at], &rest[at..])),
        None => Some((rest, "/")),
    }
}
