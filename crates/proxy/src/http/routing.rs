//! Routing: whether a request is for our own routes, for a model API whose prompts we compact, or for neither. A path that two readers could take differently is refused before anybody
//! looks for its route: so `/mainstay/../v1` is neither ours nor an upstream's.

use http::Method;
use http::StatusCode;
use mainstay_wire::reading::WireForm;

use crate::http::refusal::HttpRefusal;

/// The first segment of our own paths.
pub const OWN: &str = "mainstay";
/// The first segment of paths that bring a client's token: `/t/<token>/v1/…`.
pub const TOKEN: &str = "t";

/// Our own pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InternalRoute {
    /// The process is alive.
    Health,
    /// It takes requests.
    Ready,
    /// Figures for Prometheus.
    Metrics,
    /// The pages for people, and the same for programs.
    Dashboard,
    /// Recall for agents.
    Mcp,
    /// Reserved, and nothing there.
    Nothing,
}

/// The page of ours that a path names; none where it is an upstream's.
pub fn internal_route(path: &str) -> Option<InternalRoute> {
    let rest = path.strip_prefix('/')?.strip_prefix(OWN)?;
    if !rest.is_empty() && !rest.starts_with('/') {
        return None;
    }
    Some(match rest {
        "/health" => InternalRoute::Health,
        "/ready" => InternalRoute::Ready,
        "/metrics" => InternalRoute::Metrics,
        "" | "/" => InternalRoute::Dashboard,
        "/mcp" => InternalRoute::Mcp,
        other => match PAGES.iter().any(|page| is_below(other, page)) {
            true => InternalRoute::Dashboard,
            false => InternalRoute::Nothing,
        },
    })
}

/// Where the pages for people are, besides the first one.
const PAGES: [&str; 5] = ["/conversations", "/checkpoints", "/recall", "/api", "/look.css"];

/// Whether a path is another one or lies below it.
fn is_below(path: &str, other: &str) -> bool {
    path.strip_prefix(other)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What the session is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelRoute {
    /// The form.
    pub form: WireForm,
    /// Whether only tokens are counted.
    pub only_counts: bool,
}

impl ModelRoute {
    /// Its name in logs and metrics.
    pub fn route(self) -> &'static str {
        match (self.form, self.only_counts) {
            (_, true) => "count-tokens",
            (WireForm::Chat, false) => "chat",
            (WireForm::Responses, false) => "responses",
            (WireForm::Anthropic, false) => "messages",
        }
    }
}

/// Whether the session has to do with a request. The ends of paths count, as gateways put things before them and some
/// addresses go without `v1`.
pub fn model_route(method: &Method, path: &str) -> Option<ModelRoute> {
    if method != Method::POST {
        return None;
    }
    let kept = |form| {
        Some(ModelRoute {
            form,
            only_counts: false,
        })
    };
    // Messages of OpenAI's threads are something else.
    if path.contains("/threads/") {
        return None;
    }
    match path {
        _ if path.ends_with("/chat/completions") => kept(WireForm::Chat),
        _ if path.ends_with("/responses") => kept(WireForm::Responses),
        _ if path.ends_with("/messages") => kept(WireForm::Anthropic),
        _ if path.ends_with("/messages/count_tokens") => Some(ModelRoute {
            form: WireForm::Anthropic,
            only_counts: true,
        }),
        _ => None,
    }
}

/// Refuses paths that mean one thing here and another elsewhere: empty and dot segments, in any encoding, backslashes, control
/// characters, and our own paths in disguise.
pub fn check_path(path: &str) -> Result<(), HttpRefusal> {
    let refuse = |words: &str| Err(HttpRefusal::new(StatusCode::BAD_REQUEST, "path", words).closing());
    if !path.starts_with('/') {
        return refuse("a path begins with a slash");
    }
    if path.contains("//") {
        return refuse("the path has an empty segment; does the base URL end in a slash too many?");
    }
    // Some readers decode more than once.
    let mut decoded = path.as_bytes().to_vec();
    for _ in 0..DECODINGS {
        let odd = |byte: &u8| *byte == b'\\' || byte.is_ascii_control();
        let dots = |segment: &[u8]| segment == b"." || segment == b"..";
        // What follows a semicolon is no part of the segment for some.
        let bare = |segment: &[u8]| segment.split(|byte| *byte == b';').next().map(<[u8]>::to_vec);
        if decoded.iter().any(odd) {
            return refuse("the path has characters that no path has");
        }
        if decoded
            .split(|byte| *byte == b'/')
            .filter_map(bare)
            .any(|segment| dots(&segment))
        {
            return refuse("the path has segments that lead elsewhere");
        }
        let Some(once_more) = percent_decoded(&decoded) else {
            return Ok(());
        };
        decoded = once_more;
        let first = decoded.split(|byte| *byte == b'/').nth(1).unwrap_or_default();
        let is_ours = |own: &str| first.eq_ignore_ascii_case(own.as_bytes());
        let plainly = |own: &str| path.split('/').nth(1) == Some(own);
        if [OWN, TOKEN].into_iter().any(|own| is_ours(own) && !plainly(own)) {
            return refuse("the path is one of ours in disguise");
        }
    }
    refuse("the path is encoded over and over")
}

/// How often a path is decoded: twice is what careless chains of servers do, and once to be sure.
const DECODINGS: usize = 3;

/// A path with its percent codes decoded once; none where it has none.
fn percent_decoded(path: &[u8]) -> Option<Vec<u8>> {
    let digit = |at: usize| path.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut decoded = Vec::with_capacity(path.len());
    let mut found = false;
    let mut at = 0;
    while at < path.len() {
        match (path[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high * 16 + low) as u8);
                found = true;
                at += 3;
            }
            (byte, _, _) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    found.then_some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_known_by_the_end_of_a_path() {
        let name = |path: &str| model_route(&Method::POST, path).map(|kept| (kept.form.name(), kept.only_counts));
        for path in [
            "/v1/chat/completions",
            "/chat/completions",
            "/openai/deployments/x/chat/completions",
        ] {
            assert_eq!(name(path), Some((WireForm::Chat.name(), false)), "{path}");
        }
        for path in ["/v1/responses", "/responses", "/backend-api/codex/responses"] {
            assert_eq!(name(path), Some((WireForm::Responses.name(), false)), "{path}");
        }
        for path in ["/v1/messages", "/messages", "/anthropic/v1/messages"] {
            assert_eq!(name(path), Some((WireForm::Anthropic.name(), false)), "{path}");
        }
        assert_eq!(
            name("/v1/messages/count_tokens"),
            Some((WireForm::Anthropic.name(), true))
        );
        for path in [
            "/v1/threads/t/messages",
            "/v1/messages/batches",
            "/v1/responses/r/cancel",
            "/v1/xresponses",
            "/",
        ] {
            assert_eq!(name(path), None, "{path}");
        }
        assert_eq!(model_route(&Method::GET, "/v1/messages"), None);
    }

    #[test]
    fn our_own_pages_are_ours_and_nothing_else_is() {
        assert_eq!(internal_route("/mainstay/health"), Some(InternalRoute::Health));
        assert_eq!(internal_route("/mainstay"), Some(InternalRoute::Dashboard));
        assert_eq!(internal_route("/mainstay/"), Some(InternalRoute::Dashboard));
        assert_eq!(internal_route("/mainstay/health/"), Some(InternalRoute::Nothing));
        assert_eq!(internal_route("/mainstay/secret"), Some(InternalRoute::Nothing));
        assert_eq!(
            internal_route("/mainstay/checkpoints/01"),
            Some(InternalRoute::Dashboard)
        );
        assert_eq!(internal_route("/mainstay/checkpointsx"), Some(InternalRoute::Nothing));
        for path in ["/mainstayx", "/v1/mainstay/health", "/Mainstay/health", "/"] {
            assert_eq!(internal_route(path), None, "{path}");
        }
    }

    #[test]
    fn paths_that_lead_elsewhere_are_refused() {
        for path in [
            "v1",
            "//v1",
            "/v1//x",
            "/v1/..",
            "/v1/../x",
            "/./v1",
            "/v1/.",
            "/%2e%2e/x",
            "/v1/%2E%2e",
            "/.%2e/x",
            "/%2e/x",
            "/v1/%252e%252e/x",
            "/a%2f..%2fb",
            "/a\\..\\b",
            "/a%5c..%5cb",
            "/a%00b",
            "/a%0d%0ab",
            "/..;/x",
            "/..;a=b/x",
            "/mainstay/../v1",
            "/%6dainstay/health",
            "/mainstay%2fhealth",
            "/MAINSTAY%2fhealth",
            "/%74/abc/v1",
            "/t%2fabc",
            "/%25252525",
            "/%252574/x",
        ] {
            assert!(check_path(path).is_err(), "{path}");
        }
        for path in [
            "/",
            "/v1",
            "/v1/",
            "/v1/models/org%2Fmodel",
            "/v1/files/a..b",
            "/v1/...",
            "/v1/a%20b",
            "/v1/100%",
            "/%zz",
            "/mainstay/health",
            "/t/abc/v1",
            "/v1/a;b",
            "/v1beta/models/x:generateContent",
            "/v1/x%252Fy",
        ] {
            assert!(check_path(path).is_ok(), "{path}");
        }
    }
}
