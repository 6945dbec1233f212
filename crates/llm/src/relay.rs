//! The other way out: requests of clients, passed on as they are.
//!
//! Only to where an operator said, and never to an address that a name was bent to: what a name resolves to is judged before
//! anybody connects. Link-local addresses, where clouds keep their credentials, are out of reach for everybody; private ones
//! are reached only by names that the operator has called private. No redirect is followed, no proxy of the environment is
//! asked, and nothing is decoded: bodies pass in the bytes in which they come.

use std::collections::BTreeSet;
use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::Ipv6Addr;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Context;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http::Response;
use http_body::Body;
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::rt::TokioExecutor;
use hyper_util::rt::TokioTimer;
use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_platform_verifier::BuilderVerifierExt;
use tower_service::Service;

use crate::address::is_this_machine;
use crate::error::Cause;
use crate::error::Trouble;

/// How long an unused connection to an upstream is kept: servers in front of providers close theirs after a minute or more,
/// and a request that meets such an end is lost.
const IDLE: Duration = Duration::from_secs(30);
/// How many unused connections to one host are kept: more than agents of one machine have requests under way.
const MOST_IDLE: usize = 32;

/// What goes out as a body.
pub type Outbound = Pin<Box<dyn Body<Data = Bytes, Error = Box<dyn Error + Send + Sync>> + Send>>;

/// How a name becomes addresses: the system's way, unless somebody else is asked.
pub type Lookup = Arc<dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync>;

/// Passes requests on.
#[derive(Clone)]
pub struct Relay {
    client: Client<HttpsConnector<HttpConnector<Judged>>, Outbound>,
}

impl Relay {
    /// A relay that gives up connecting after this long. Private addresses are reached by these names only.
    pub fn new(connect: Duration, private: BTreeSet<String>) -> Result<Self, Trouble> {
        Self::with_lookup(connect, private, None)
    }

    /// The same with names looked up elsewhere.
    pub fn with_lookup(connect: Duration, private: BTreeSet<String>, lookup: Option<Lookup>) -> Result<Self, Trouble> {
        let unusable = |error: &dyn Error| Trouble::new(Cause::BadEndpoint, format!("TLS cannot be set up: {error}"));
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(BuilderVerifierExt::with_platform_verifier)
            .map_err(|error| unusable(&error))?
            .with_no_client_auth();
        let mut tcp = HttpConnector::new_with_resolver(Judged {
            private: Arc::new(private),
            lookup,
        });
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(connect));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(MOST_IDLE)
            .build(connector);
        Ok(Self { client })
    }

    /// Passes one request on, to the address in it; the answer's head is there, its body follows. Whoever drops either
    /// closes the connection.
    pub async fn send(&self, request: Request<Outbound>) -> Result<Response<Incoming>, RelayError> {
        self.client
            .request(request)
            .await
            .map_err(|error| RelayError::of(&error))
    }
}

/// Why nothing came back. Says nothing of the request, nor of its address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RelayError {
    /// The name leads to an address where the request must not go.
    #[error("its name leads to an address that is out of bounds: {0}")]
    OutOfBounds(&'static str),
    /// Nobody was reached.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// The connection ended, or spoke something else, before there was an answer.
    #[error("the connection failed before an answer: {0}")]
    Broken(String),
}

impl RelayError {
    fn of(error: &hyper_util::client::legacy::Error) -> Self {
        let mut cause: &dyn Error = error;
        while let Some(source) = cause.source() {
            cause = source;
            if let Some(OutOfBounds(why)) = cause.downcast_ref() {
                return Self::OutOfBounds(why);
            }
            // An error of reading wraps others without naming them as its source.
            let wrapped = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
            if let Some(OutOfBounds(why)) = wrapped.and_then(|wrapped| wrapped.downcast_ref()) {
                return Self::OutOfBounds(why);
            }
        }
        let words = match cause.downcast_ref::<io::Error>() {
            Some(error) => error.kind().to_string(),
            None => cause.to_string(),
        };
        match error.is_connect() {
            true => Self::Unreachable(words),
            false => Self::Broken(words),
        }
    }
}

/// Looks names up and judges what comes out.
#[derive(Clone)]
struct Judged {
    private: Arc<BTreeSet<String>>,
    lookup: Option<Lookup>,
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct OutOfBounds(&'static str);

impl Service<Name> for Judged {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let judged = self.clone();
        Box::pin(async move {
            let name = name.as_str();
            let found: Vec<IpAddr> = match &judged.lookup {
                Some(lookup) => lookup(name)?,
                None => {
                    let found = tokio::net::lookup_host((name, 0)).await?;
                    found.map(|address| address.ip()).collect()
                }
            };
            let may_be_private = is_this_machine(name) || judged.private.contains(&name.to_ascii_lowercase());
            for address in &found {
                let why = match reach(*address) {
                    Reach::Public => continue,
                    Reach::Private if may_be_private => continue,
                    Reach::Private => "a private address, and the upstream is not called private",
                    Reach::Never(why) => why,
                };
                // One bad address among good ones is still somebody's trick.
                return Err(io::Error::other(OutOfBounds(why)));
            }
            let found: Vec<SocketAddr> = found.into_iter().map(|ip| SocketAddr::new(ip, 0)).collect();
            Ok(found.into_iter())
        })
    }
}

/// Who can be met at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Everybody.
    Public,
    /// This machine, or a network of its own.
    Private,
    /// Nobody who serves models, for this reason.
    Never(&'static str),
}

/// Who can be met at an address.
pub fn reach(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(address) => reach_4(address),
        IpAddr::V6(address) => reach_6(address),
    }
}

fn reach_4(address: Ipv4Addr) -> Reach {
    let octets = address.octets();
    if address.is_link_local() {
        return Reach::Never("link-local, where clouds keep credentials");
    }
    // Alibaba's metadata, inside of the range that carriers share.
    if octets == [100, 100, 100, 200] {
        return Reach::Never("a cloud's metadata");
    }
    if octets[0] == 0 || address.is_multicast() || octets[0] >= 240 {
        return Reach::Never("no host's address");
    }
    let carrier = octets[0] == 100 && octets[1] & 0b1100_0000 == 64;
    let benchmark = octets[0] == 198 && octets[1] & 0b1111_1110 == 18;
    let protocol = octets[..3] == [192, 0, 0];
    if address.is_private() || address.is_loopback() || carrier || benchmark || protocol {
        return Reach::Private;
    }
    Reach::Public
}

fn reach_6(address: Ipv6Addr) -> Reach {
    let segments = address.segments();
    if address.is_unspecified() || address.is_multicast() {
        return Reach::Never("no host's address");
    }
    if address.is_loopback() {
        return Reach::Private;
    }
    // Amazon's metadata, inside of the private range.
    if address == Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254) {
        return Reach::Never("a cloud's metadata");
    }
    if segments[0] & 0xffc0 == 0xfe80 {
        return Reach::Never("link-local, where clouds keep credentials");
    }
    if segments[0] & 0xfe00 == 0xfc00 {
        return Reach::Private;
    }
    // An address of the old kind inside of a new one: written so (::ffff:a.b.c.d, ::a.b.c.d), translated (64:ff9b::), or
    // tunnelled (2002:).
    let inside = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        reach_4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        [0, 0, 0, 0, 0, 0xffff | 0, high, low] => inside(high, low),
        [0x64, 0xff9b, 0 | 1, 0, 0, 0, high, low] => inside(high, low),
        [0x2002, high, low, ..] => inside(high, low),
        _ => Reach::Public,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_apart() {
        let judged = |text: &str| match reach(text.parse().unwrap()) {
            Reach::Public => "public",
            Reach::Private => "private",
            Reach::Never(_) => "never",
        };
        for (address, expected) in [
            ("1.1.1.1", "public"),
            ("127.0.0.1", "private"),
            ("127.9.9.9", "private"),
            ("10.0.0.1", "private"),
            ("172.16.0.1", "private"),
            ("172.32.0.1", "public"),
            ("192.168.1.1", "private"),
            ("100.64.0.1", "private"),
            ("100.128.0.1", "public"),
            ("198.19.0.1", "private"),
            ("169.254.169.254", "never"),
            ("100.100.100.200", "never"),
            ("0.0.0.0", "never"),
            ("255.255.255.255", "never"),
            ("224.0.0.1", "never"),
            ("::1", "private"),
            ("::", "never"),
            ("fe80::1", "never"),
            ("febf::1", "never"),
            ("fd00::1", "private"),
            ("fd00:ec2::254", "never"),
            ("ff02::1", "never"),
            ("2606:4700::1111", "public"),
            ("::ffff:169.254.169.254", "never"),
            ("::ffff:10.0.0.1", "private"),
            ("::ffff:1.1.1.1", "public"),
            ("64:ff9b::a9fe:a9fe", "never"),
            ("2002:a9fe:a9fe::1", "never"),
            ("2002:0a00:0001::1", "private"),
        ] {
            assert_eq!(judged(address), expected, "{address}");
        }
    }

    #[test]
    fn a_name_is_judged_by_every_address_it_has() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let judged = |name: &str, found: &'static [&'static str]| {
            let mut judged = Judged {
                private: Arc::new(BTreeSet::from(["inside.example".to_owned()])),
                lookup: Some(Arc::new(move |_| {
                    Ok(found.iter().map(|address| address.parse().unwrap()).collect())
                })),
            };
            let name = name.parse().unwrap();
            runtime.block_on(judged.call(name)).is_ok()
        };
        assert!(judged("models.example", &["1.1.1.1"]));
        assert!(!judged("models.example", &["10.0.0.1"]));
        assert!(!judged("models.example", &["127.0.0.1"]));
        assert!(!judged("models.example", &["1.1.1.1", "127.0.0.1"]));
        assert!(judged("inside.example", &["10.0.0.1"]));
        assert!(!judged("inside.example", &["169.254.169.254"]));
        assert!(judged("localhost", &["127.0.0.1", "::1"]));
        assert!(!judged("localhost", &["169.254.0.1"]));
    }
}
