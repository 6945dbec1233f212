//! Where requests go: only to servers that the operator has named, chosen by a path's beginning, by a header with a configured
//! name, or by the form that the request speaks. Nothing in a request is ever taken for an address.

use std::collections::BTreeSet;
use std::net::IpAddr;

use http::Uri;
use http::uri::Authority;
use http::uri::PathAndQuery;
use http::uri::Scheme;
use mainstay_llm::is_this_machine;
use mainstay_llm::relay::Reach;
use mainstay_llm::relay::reach;

use crate::http::routing;

/// Which requests an upstream serves by itself; by its name it can be asked for any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpstreamScope {
    /// Those whose path begins with this, which is taken off.
    Prefix(String),
    /// Those that speak to Anthropic.
    Anthropic,
    /// Those that nobody else serves.
    Everything,
    /// None.
    OnlyByName,
}

/// What the operator allows an upstream beyond the usual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpstreamPermissions {
    /// Plain http to another machine: whoever is on the way reads keys and conversations.
    pub plain: bool,
    /// A name that leads to a private address.
    pub private: bool,
}

/// A server that requests are sent on to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamServer {
    /// What logs, metrics and the header call it.
    pub name: String,
    /// What it serves.
    pub serves: UpstreamScope,
    scheme: Scheme,
    authority: Authority,
    path: String,
    allowed: UpstreamPermissions,
}

/// Why an upstream is none. Never repeats the address, which may hold what it should not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UpstreamError(String);

impl UpstreamServer {
    /// Reads `URL` (for everything), `NAME=URL` (by its name) or `/prefix=URL` (by its path).
    pub fn read(text: &str, allowed: UpstreamPermissions) -> Result<Self, UpstreamError> {
        match text.split_once('=').filter(|(left, _)| !left.contains(':')) {
            Some((prefix, url)) if prefix.starts_with('/') => {
                let name = prefix.trim_matches('/').replace('/', "-");
                Self::new(&name, url, UpstreamScope::Prefix(prefix.to_owned()), allowed)
            }
            Some((name, url)) => Self::new(name, url, UpstreamScope::OnlyByName, allowed),
            None => Self::new("default", text, UpstreamScope::Everything, allowed),
        }
    }

    /// An upstream of this name at this address.
    pub fn new(
        name: &str,
        url: &str,
        serves: UpstreamScope,
        allowed: UpstreamPermissions,
    ) -> Result<Self, UpstreamError> {
        let refuse = |why: &str| Err(UpstreamError(format!("upstream {name:?}: {why}")));
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        if name.is_empty() || name.len() > MOST_NAME || !name.bytes().all(is_word) {
            return Err(UpstreamError(
                "an upstream's name is made of letters, digits, '-', '_' and '.', at most 64 of them".to_owned(),
            ));
        }
        let serves = match serves {
            UpstreamScope::Prefix(prefix) => {
                let prefix = prefix.trim_end_matches('/').to_owned();
                let first = prefix.split('/').nth(1).unwrap_or("");
                if !prefix.starts_with('/') || first.is_empty() || routing::check_path(&prefix).is_err() {
                    return refuse("its prefix has to be a plain path such as /openai");
                }
                if first == routing::OWN || first == routing::TOKEN {
                    return refuse("its prefix is one of our own paths");
                }
                UpstreamScope::Prefix(prefix)
            }
            other => other,
        };
        let Ok(uri) = url.trim().parse::<Uri>() else {
            return refuse("its address is none");
        };
        let parts = uri.into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else {
            return refuse("its address has to be whole, such as https://api.openai.com");
        };
        if authority.as_str().contains('@') {
            return refuse("its address holds a user or a password, and clients bring their own keys");
        }
        let path = parts.path_and_query.as_ref();
        if path.is_some_and(|path| path.query().is_some()) {
            return refuse("its address holds a query");
        }
        let path = path.map_or("", PathAndQuery::path).trim_end_matches('/').to_owned();
        if !path.is_empty() && routing::check_path(&path).is_err() {
            return refuse("the path of its address is no plain path");
        }
        let upstream = Self {
            name: name.to_owned(),
            serves,
            scheme,
            authority,
            path,
            allowed,
        };
        upstream
            .check_reach()
            .map_err(|why| UpstreamError(format!("upstream {name:?}: {why}")))?;
        Ok(upstream)
    }

    fn check_reach(&self) -> Result<(), &'static str> {
        if let Ok(address) = self.bare_host().parse::<IpAddr>()
            && let Reach::Never(_) = reach(address)
        {
            return Err("its address is link-local, a cloud's metadata or nobody's");
        }
        let is_plain = self.scheme == Scheme::HTTP;
        if !is_plain && self.scheme != Scheme::HTTPS {
            return Err("its address is neither http nor https");
        }
        if is_plain && !is_this_machine(self.authority.host()) && !self.allowed.plain {
            return Err("keys would go over the network unencrypted; use https, or say allow_plain = true");
        }
        Ok(())
    }

    /// The host without the brackets of an address of the new kind.
    fn bare_host(&self) -> &str {
        self.authority.host().trim_start_matches('[').trim_end_matches(']')
    }

    /// Where it is, for people.
    pub fn address(&self) -> String {
        format!("{}://{}{}", self.scheme, self.authority, self.path)
    }

    /// Which requests go there, for people.
    pub fn what(&self) -> String {
        match &self.serves {
            UpstreamScope::Prefix(prefix) => format!("{prefix}/…"),
            UpstreamScope::Anthropic => "Anthropic's".to_owned(),
            UpstreamScope::Everything => "everything else".to_owned(),
            UpstreamScope::OnlyByName => format!("what names {}", self.name),
        }
    }

    /// The address of a path at this upstream. A `v1` that both the upstream's own path and the request's bring is written
    /// once: people put it into either.
    pub fn target(&self, path: &str, query: Option<&str>) -> Option<Uri> {
        let repeated = self.path.ends_with("/v1") && (path == "/v1" || path.starts_with("/v1/"));
        let path = if repeated { &path["/v1".len()..] } else { path };
        let mut whole = String::with_capacity(self.path.len() + path.len() + query.map_or(0, |query| query.len() + 1));
        whole.push_str(&self.path);
        whole.push_str(path);
        if let Some(query) = query {
            whole.push('?');
            whole.push_str(query);
        }
        let uri = Uri::builder()
            .scheme(self.scheme.clone())
            .authority(self.authority.clone());
        uri.path_and_query(whole).build().ok()
    }
}

/// As long as a label of a metric should be at most.
const MOST_NAME: usize = 64;

/// Every upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstreams {
    list: Vec<UpstreamServer>,
}

impl Upstreams {
    /// The upstreams that an operator has named; the two providers themselves where there are none.
    pub fn new(list: Vec<UpstreamServer>) -> Result<Self, UpstreamError> {
        if list.is_empty() {
            return Self::providers();
        }
        for (at, upstream) in list.iter().enumerate() {
            let before = &list[..at];
            if before.iter().any(|other| other.name == upstream.name) {
                return Err(UpstreamError(format!("two upstreams are called {:?}", upstream.name)));
            }
            let serves_too = |other: &UpstreamServer| {
                upstream.serves != UpstreamScope::OnlyByName && other.serves == upstream.serves
            };
            if let Some(other) = before.iter().find(|other| serves_too(other)) {
                let (one, two) = (&other.name, &upstream.name);
                return Err(UpstreamError(format!(
                    "upstreams {one:?} and {two:?} serve the same requests"
                )));
            }
        }
        Ok(Self { list })
    }

    fn providers() -> Result<Self, UpstreamError> {
        let usual = UpstreamPermissions::default();
        Ok(Self {
            list: vec![
                UpstreamServer::new(
                    "anthropic",
                    "https://api.anthropic.com",
                    UpstreamScope::Anthropic,
                    usual,
                )?,
                UpstreamServer::new("openai", "https://api.openai.com", UpstreamScope::Everything, usual)?,
            ],
        })
    }

    /// Every upstream, in the operator's order.
    pub fn list(&self) -> &[UpstreamServer] {
        &self.list
    }

    /// Names that may lead to private addresses.
    pub fn private_names(&self) -> BTreeSet<String> {
        let private = self.list.iter().filter(|upstream| upstream.allowed.private);
        private
            .map(|upstream| upstream.bare_host().to_ascii_lowercase())
            .collect()
    }

    /// The upstream of a request, and the path that it is asked for.
    pub fn choose<'a, 'p>(
        &'a self,
        named: Option<&str>,
        path: &'p str,
        is_anthropic: bool,
    ) -> Option<(&'a UpstreamServer, &'p str)> {
        if let Some(name) = named {
            let upstream = self.list.iter().find(|upstream| upstream.name == name)?;
            return Some((upstream, below(&upstream.serves, path).unwrap_or(path)));
        }
        let by_prefix = self
            .list
            .iter()
            .filter_map(|upstream| Some((upstream, below(&upstream.serves, path)?)));
        if let Some(chosen) = by_prefix.min_by_key(|(_, rest)| rest.len()) {
            return Some(chosen);
        }
        let serving = |serves: UpstreamScope| self.list.iter().find(|upstream| upstream.serves == serves);
        let by_form = serving(UpstreamScope::Anthropic).filter(|_| is_anthropic);
        let upstream = by_form.or_else(|| serving(UpstreamScope::Everything))?;
        Some((upstream, path))
    }
}

/// What is left of a path below a prefix; only whole segments count.
fn below<'p>(serves: &UpstreamScope, path: &'p str) -> Option<&'p str> {
    let UpstreamScope::Prefix(prefix) = serves else {
        return None;
    };
    match path.strip_prefix(prefix.as_str())? {
        "" => Some("/"),
        rest if rest.starts_with('/') => Some(rest),
        _ => None,
    }
}

#[cfg(test)]
#[path = "upstreams_tests.rs"]
mod tests;
