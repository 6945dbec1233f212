//! The section for `mainstay proxy`: where it listens, who may come in, where requests go, and how much of everything.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use mainstay_proxy::http::server_settings::ServerLimits;
use mainstay_proxy::http::upstreams::UpstreamError;
use mainstay_proxy::http::upstreams::UpstreamPermissions;
use mainstay_proxy::http::upstreams::UpstreamScope;
use mainstay_proxy::http::upstreams::UpstreamServer;
use mainstay_proxy::http::upstreams::Upstreams;
use toml::Spanned;

use crate::config::choices::TimingChoice;
use crate::config::endpoints;
use crate::config::file;
use crate::config::file::Field;
use crate::config::keys::KeySource;
use crate::config::origin::Origin;
use crate::config::picker::Picker;
use crate::config::source::Complaint;

/// Where it listens where nobody says anything: this machine alone, at a port that nothing well known has.
const LISTEN: &str = "127.0.0.1:4180";
/// How long the keeper may hold a request up: what people still take for a slow network.
const PATIENCE: Duration = Duration::from_secs(2);
/// Megabytes of conversations that are remembered: a hundred long ones.
const MEMORY: u64 = 256;

/// What the flags of `mainstay proxy` say.
#[derive(Clone, Debug, Default)]
pub struct ProxyOverrides {
    /// `--listen`
    pub listen: Option<String>,
    /// `--upstream`, each; in place of those of the file.
    pub upstreams: Vec<String>,
    /// `--timing`
    pub timing: Option<TimingChoice>,
    /// `--trim`
    pub trim: Option<u64>,
    /// `--recall`
    pub recall: bool,
}

/// A client of `mainstay proxy`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its name.
    pub name: String,
    /// Where its token is.
    pub token: KeySource,
    /// Whether it may see what all clients do.
    pub is_operator: bool,
}

/// How `mainstay proxy` serves.
#[derive(Clone, Debug)]
pub struct ProxySettings {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Where requests go.
    pub upstreams: Upstreams,
    /// Hosts under which clients reach it.
    pub hosts: Vec<String>,
    /// Origins of pages that may ask.
    pub origins: Vec<String>,
    /// Clients, and where their tokens are.
    pub tokens: Vec<Client>,
    /// When conversations are compacted.
    pub timing: TimingChoice,
    /// Tool results of more tokens are shrunk.
    pub trim: Option<u64>,
    /// Whether models are offered a recall tool that the proxy answers.
    pub recall: bool,
    /// How long a request may be held up.
    pub patience: Duration,
    /// How many bytes of conversations are remembered.
    pub memory: u64,
    /// How much of everything.
    pub limits: ServerLimits,
}

/// Brings the section and the flags together.
pub fn proxy(
    table: &file::Proxy,
    overrides: &ProxyOverrides,
    picker: &mut Picker<'_>,
    home: &Path,
) -> anyhow::Result<ProxySettings> {
    let timing = overrides.timing.map(|timing| (timing, "--timing"));
    let trim = overrides.trim.map(|trim| (trim, "--trim"));
    let recall = overrides.recall.then_some((true, "--recall"));
    Ok(ProxySettings {
        listen: listen(table, overrides, picker)?,
        upstreams: upstreams(table, overrides, picker)?,
        hosts: picker.with_default("proxy.hosts", None, &table.hosts, Vec::new()),
        origins: picker.with_default("proxy.origins", None, &table.origins, Vec::new()),
        tokens: tokens(table, picker, home)?,
        timing: picker.with_default("proxy.timing", timing, &table.timing, TimingChoice::default()),
        trim: picker.optional("proxy.trim", trim, &table.trim),
        recall: picker.with_default("proxy.recall", recall, &table.recall, false),
        patience: endpoints::span_of("proxy.patience", &table.patience, PATIENCE, picker)?,
        memory: megabytes("proxy.memory_mb", &table.memory_mb, MEMORY << 20, picker)?,
        limits: limits(table, picker)?,
    })
}

fn listen(table: &file::Proxy, overrides: &ProxyOverrides, picker: &mut Picker<'_>) -> anyhow::Result<SocketAddr> {
    let flag = overrides.listen.clone().map(|listen| (listen, "--listen"));
    let is_flag = flag.is_some();
    let text = picker.with_default("proxy.listen", flag, &table.listen, LISTEN.to_owned());
    let numbers = text.replacen("localhost:", "127.0.0.1:", 1);
    let address = numbers
        .parse()
        .map_err(|_| "an address to listen on is one such as 127.0.0.1:4180 or [::1]:4180");
    address.map_err(|why| match &table.listen {
        Some(field) if !is_flag => picker.source.complain(field.span(), why).into(),
        Some(_) | None => anyhow::anyhow!("--listen: {why}"),
    })
}

fn upstreams(table: &file::Proxy, overrides: &ProxyOverrides, picker: &mut Picker<'_>) -> anyhow::Result<Upstreams> {
    let mut list = Vec::new();
    if !overrides.upstreams.is_empty() {
        for text in &overrides.upstreams {
            let upstream = UpstreamServer::read(text, UpstreamPermissions::default());
            list.push(upstream.map_err(|error| anyhow::anyhow!("--upstream: {error}"))?);
        }
        for upstream in &list {
            let key = format!("proxy.upstreams.{}.url", upstream.name);
            picker.note(&key, upstream.address(), Origin::Flag("--upstream"));
        }
        return Upstreams::new(list).map_err(|error| anyhow::anyhow!("--upstream: {error}"));
    }
    for (name, table) in &table.upstreams {
        list.push(upstream(name, table, picker)?);
    }
    let first = table.upstreams.keys().next().map_or(0..0, Spanned::span);
    let upstreams = Upstreams::new(list);
    Ok(upstreams.map_err(|error: UpstreamError| picker.source.complain(first, error))?)
}

fn upstream(
    name: &Spanned<String>,
    table: &file::Upstream,
    picker: &mut Picker<'_>,
) -> Result<UpstreamServer, Complaint> {
    let key_of = |field: &str| format!("proxy.upstreams.{}.{field}", name.get_ref());
    let Some(url) = &table.url else {
        let words = format!("the upstream {} needs a url", name.get_ref());
        return Err(picker.source.complain(name.span(), words));
    };
    let allowed = UpstreamPermissions {
        plain: picker.with_default(&key_of("allow_plain"), None, &table.allow_plain, false),
        private: picker.with_default(&key_of("private"), None, &table.private, false),
    };
    let everything = picker.with_default(&key_of("default"), None, &table.default, false);
    let prefix = picker.optional(&key_of("prefix"), None, &table.prefix);
    let serves = match (prefix, everything) {
        (Some(_), true) => {
            let span = table.prefix.as_ref().map_or(name.span(), Spanned::span);
            let words = "an upstream has a prefix or is the default, not both";
            return Err(picker.source.complain(span, words));
        }
        (Some(prefix), false) => UpstreamScope::Prefix(prefix),
        (None, true) => UpstreamScope::Everything,
        (None, false) => UpstreamScope::OnlyByName,
    };
    let upstream = UpstreamServer::new(name.get_ref(), url.get_ref(), serves, allowed);
    let upstream = upstream.map_err(|error| picker.source.complain(url.span(), error))?;
    let origin = picker.origin(url);
    picker.note(&key_of("url"), upstream.address(), origin);
    Ok(upstream)
}

fn tokens(table: &file::Proxy, picker: &mut Picker<'_>, home: &Path) -> Result<Vec<Client>, Complaint> {
    let mut tokens = Vec::new();
    for (name, table) in &table.tokens {
        let row = format!("proxy.tokens.{}.key", name.get_ref());
        let source = endpoints::key_source(&row, (&table.key_env, &table.key_file), None, picker, home)?;
        if source == KeySource::None || name.get_ref().is_empty() {
            let words = "a client's token has a name, and a key_env or a key_file that says where it is";
            return Err(picker.source.complain(name.span(), words));
        }
        let row = format!("proxy.tokens.{}.operator", name.get_ref());
        tokens.push(Client {
            name: name.get_ref().clone(),
            token: source,
            is_operator: picker.with_default(&row, None, &table.operator, false),
        });
    }
    Ok(tokens)
}

fn limits(table: &file::Proxy, picker: &mut Picker<'_>) -> Result<ServerLimits, Complaint> {
    let usual = ServerLimits::default();
    Ok(ServerLimits {
        head: usual.head,
        headers: usual.headers,
        head_wait: endpoints::span_of("proxy.head_wait", &table.head_wait, usual.head_wait, picker)?,
        body: megabytes("proxy.body_mb", &table.body_mb, usual.body, picker)?,
        bodies: megabytes("proxy.bodies_mb", &table.bodies_mb, usual.bodies, picker)?,
        body_wait: endpoints::span_of("proxy.body_wait", &table.body_wait, usual.body_wait, picker)?,
        connections: above_zero("proxy.connections", &table.connections, usual.connections, picker)?,
        requests: above_zero("proxy.requests", &table.requests, usual.requests, picker)?,
        connect: endpoints::span_of("proxy.connect", &table.connect, usual.connect, picker)?,
        silence: endpoints::span_of("proxy.silence", &table.silence, usual.silence, picker)?,
        stall: endpoints::span_of("proxy.stall", &table.stall, usual.stall, picker)?,
        grace: endpoints::span_of("proxy.grace", &table.grace, usual.grace, picker)?,
    })
}

/// A size in bytes, written in megabytes.
fn megabytes(key: &str, field: &Field<u64>, usual: u64, picker: &mut Picker<'_>) -> Result<u64, Complaint> {
    let size = picker.with_default(key, None, field, usual >> 20);
    match (field, size.checked_mul(1 << 20)) {
        (_, Some(bytes)) if bytes > 0 => Ok(bytes),
        (Some(field), _) => Err(picker
            .source
            .complain(field.span(), "this is a number of megabytes, above 0")),
        (None, _) => Ok(usual),
    }
}

/// More than this no system has: connections and requests are counted in semaphores.
const MOST: usize = 1_000_000;

fn above_zero(key: &str, field: &Field<usize>, usual: usize, picker: &mut Picker<'_>) -> Result<usize, Complaint> {
    let figure = picker.with_default(key, None, field, usual);
    match field {
        Some(field) if !(1..=MOST).contains(&figure) => Err(picker
            .source
            .complain(field.span(), "this has to be above 0, and a million at most")),
        Some(_) | None => Ok(figure),
    }
}
