//! Who may come in: against pages in a browser that reach for a server on the same machine, and against other machines.
//!
//! A page that had its name point here sends its own name as `Host`; a page that simply asks sends its own address as
//! `Origin`. Programs send the name they were given, and no origin.

use http::HeaderMap;
use http::Request;
use http::StatusCode;
use http::header;
use http::uri::Authority;
use mainstay_llm::secret::Secret;

/// Names under which a machine calls itself.
const OWN_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// What is asked of everybody who comes in.
#[derive(Clone, Debug, Default)]
pub struct McpGuard {
    hosts: Vec<String>,
    origins: Vec<String>,
    token: Option<Secret>,
}

impl McpGuard {
    /// Lets in programs on this machine.
    pub fn new() -> Self {
        Self {
            hosts: OWN_NAMES.map(str::to_owned).to_vec(),
            ..Self::default()
        }
    }

    /// Asks for a token as well.
    pub fn with_token(self, token: Secret) -> Self {
        Self {
            token: Some(token),
            ..self
        }
    }

    /// Lets in those who call this server by another name, without a port.
    pub fn with_host(mut self, host: &str) -> Self {
        self.hosts.push(plain_host(host));
        self
    }

    /// Lets in pages of an origin, as browsers write it: `https://example.org`.
    pub fn with_origin(mut self, origin: &str) -> Self {
        self.origins.push(origin.to_ascii_lowercase());
        self
    }

    /// Whether a token is asked for.
    pub fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// The status that refuses a request, and why; `None` where it may come in.
    pub fn refusal<B>(&self, request: &Request<B>) -> Option<(StatusCode, &'static str)> {
        let headers = request.headers();
        if !self.knows_host(request.uri().authority(), headers) {
            return Some((StatusCode::FORBIDDEN, "this server is not called that (Host)"));
        }
        if !self.knows_origins(headers) {
            return Some((StatusCode::FORBIDDEN, "pages of other origins may not ask (Origin)"));
        }
        if !self.knows_token(headers) {
            return Some((
                StatusCode::UNAUTHORIZED,
                "a token is wanted: Authorization: Bearer TOKEN",
            ));
        }
        None
    }

    /// Every name that the request gives must be one of ours, and it must give one.
    fn knows_host(&self, target: Option<&Authority>, headers: &HeaderMap) -> bool {
        let named = headers.get_all(header::HOST).iter().map(|host| {
            // A name before an `@` would be somebody's, and no client writes one there.
            let text = host.to_str().ok().filter(|text| !text.contains('@'))?;
            Some(Authority::try_from(text).ok()?.host().to_owned())
        });
        let target = target.map(|target| Some(target.host().to_owned()));
        let mut names = named.chain(target).peekable();
        names.peek().is_some() && names.all(|name| name.is_some_and(|name| self.hosts.contains(&plain_host(&name))))
    }

    fn knows_origins(&self, headers: &HeaderMap) -> bool {
        headers.get_all(header::ORIGIN).iter().all(|origin| {
            let text = origin.to_str().unwrap_or_default().to_ascii_lowercase();
            self.origins.contains(&text)
        })
    }

    fn knows_token(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else {
            return true;
        };
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(only), None) = (given.next(), given.next()) else {
            return false;
        };
        let bearer = only.to_str().ok().and_then(|text| text.split_once(' '));
        bearer.is_some_and(|(scheme, given)| {
            // Hashes are compared in the same time whatever they are, and so is what they are of.
            let is_same = blake3::hash(given.trim().as_bytes()) == blake3::hash(token.reveal().as_bytes());
            scheme.eq_ignore_ascii_case("bearer") && is_same
        })
    }
}

/// A host as it is compared: small letters, an address without its brackets.
fn plain_host(host: &str) -> String {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(headers: &[(&str, &str)]) -> Request<()> {
        let mut request = Request::builder().uri("/mcp");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap()
    }

    fn status(guard: &McpGuard, headers: &[(&str, &str)]) -> u16 {
        guard
            .refusal(&request(headers))
            .map_or(200, |(status, _)| status.as_u16())
    }

    #[test]
    fn only_our_own_names_are_hosts() {
        let guard = McpGuard::new();
        for host in ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:9", "[::1]"] {
            assert_eq!(status(&guard, &[("host", host)]), 200, "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "0.0.0.0",
            "[::]:80",
            "127.0.0.1.nip.io",
            "",
            "localhost.",
            "evil.example@localhost",
            "localhost, evil.example",
            "127.0.0.2",
            "2130706433",
        ] {
            assert_eq!(status(&guard, &[("host", host)]), 403, "{host}");
        }
        assert_eq!(status(&guard, &[]), 403);
        assert_eq!(status(&guard, &[("host", "localhost"), ("host", "evil.example")]), 403);
        let named = McpGuard::new().with_host("Recall.Example");
        assert_eq!(status(&named, &[("host", "recall.example:443")]), 200);
        let absolute = Request::builder()
            .uri("http://evil.example/mcp")
            .header("host", "localhost");
        assert!(guard.refusal(&absolute.body(()).unwrap()).is_some());
    }

    #[test]
    fn pages_of_other_origins_are_refused() {
        let guard = McpGuard::new().with_origin("https://Inspector.example");
        let host = ("host", "localhost");
        assert_eq!(status(&guard, &[host, ("origin", "https://inspector.example")]), 200);
        for origin in [
            "http://localhost:8080",
            "null",
            "",
            "https://inspector.example.evil",
            "https://inspector.example:8443",
        ] {
            assert_eq!(status(&guard, &[host, ("origin", origin)]), 403, "{origin}");
        }
    }

    #[test]
    fn a_token_is_asked_for_where_there_is_one() {
        let guard = McpGuard::new().with_token(Secret::new("correct-horse"));
        let host = ("host", "localhost");
        assert_eq!(status(&guard, &[host, ("authorization", "Bearer correct-horse")]), 200);
        assert_eq!(status(&guard, &[host, ("authorization", "bearer  correct-horse")]), 200);
        for wrong in [
            "Bearer correct-hors",
            "Bearer",
            "Basic correct-horse",
            "correct-horse",
            "Bearer correct-horse x",
        ] {
            assert_eq!(status(&guard, &[host, ("authorization", wrong)]), 401, "{wrong}");
        }
        assert_eq!(status(&guard, &[host]), 401);
        // Whose page it is matters more than what it knows.
        let page = [host, ("origin", "null"), ("authorization", "Bearer correct-horse")];
        assert_eq!(status(&guard, &page), 403);
    }
}
