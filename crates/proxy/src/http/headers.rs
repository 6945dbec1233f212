//! Which headers are forwarded, in either direction, and the headers of our own.
//!
//! All of them, but those that are between two neighbours (RFC 9110, 7.6.1), those that the connection names besides, and our
//! own. A client's token is one of our own and so never leaves us.

use http::HeaderMap;
use http::HeaderName;
use http::HeaderValue;
use http::header;

use crate::session::RequestNote;

/// What our own headers begin with.
pub const OWN: &str = "x-mainstay-";

/// Headers between two neighbours.
const BETWEEN: [HeaderName; 6] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];
const ALSO_BETWEEN: [&str; 2] = ["keep-alive", "proxy-connection"];

/// Headers that no list in `Connection` can take off: upstreams would read the request as another's.
const NEVER_NAMED: [HeaderName; 4] = [
    header::AUTHORIZATION,
    header::CONTENT_TYPE,
    header::HOST,
    header::COOKIE,
];

/// Whether the body changes on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyLength {
    /// It passes in the length that its header gives.
    AsItIs,
    /// It gets a length of its own.
    Anew,
}

/// Takes off a request what must not go on.
pub fn outbound(headers: &mut HeaderMap, length: BodyLength) {
    let trailers = headers
        .get(header::TE)
        .is_some_and(|value| value.as_bytes() == b"trailers");
    strip(headers);
    headers.remove(header::HOST);
    headers.remove(header::EXPECT);
    if length == BodyLength::Anew {
        headers.remove(header::CONTENT_LENGTH);
    }
    if trailers {
        headers.insert(header::TE, HeaderValue::from_static("trailers"));
    }
}

/// Takes off an answer what must not go on.
pub fn inbound(headers: &mut HeaderMap) {
    strip(headers);
}

fn strip(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .filter(|name| !NEVER_NAMED.contains(name) && *name != header::CONTENT_LENGTH)
        .collect();
    for name in named.iter().chain(&BETWEEN) {
        headers.remove(name);
    }
    for name in ALSO_BETWEEN {
        headers.remove(name);
    }
    let own: Vec<HeaderName> = headers
        .keys()
        .filter(|name| name.as_str().starts_with(OWN))
        .cloned()
        .collect();
    for name in own {
        headers.remove(name);
    }
}

/// Leaves only encodings that we can read along, where the client has asked for any.
pub fn readable_encodings(headers: &mut HeaderMap) {
    if !headers.contains_key(header::ACCEPT_ENCODING) {
        return;
    }
    let takes_gzip = headers.get_all(header::ACCEPT_ENCODING).iter().any(|value| {
        let Ok(value) = value.to_str() else { return false };
        value.split(',').any(|item| {
            let mut parts = item.split(';').map(str::trim);
            let coding = parts.next().unwrap_or("");
            let refused =
                parts.any(|weight| matches!(weight.replace(' ', "").as_str(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
            (coding.eq_ignore_ascii_case("gzip") || coding == "*") && !refused
        })
    });
    let left = if takes_gzip { "gzip" } else { "identity" };
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(left));
}

/// Asks for an answer that is not packed: it may have to be put together with others.
pub fn unpacked(headers: &mut HeaderMap) {
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
}

/// Says in an answer's headers what was done with its request.
pub fn tell(headers: &mut HeaderMap, note: &RequestNote) {
    let mut say = |name: &'static str, value: Option<String>| {
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(&plain(&value)).ok()) {
            headers.insert(name, value);
        }
    };
    say("x-mainstay-deed", Some(note.deed.name().to_owned()));
    say(
        "x-mainstay-tokens-before",
        note.tokens_before.map(|tokens| tokens.to_string()),
    );
    say(
        "x-mainstay-tokens-after",
        note.tokens_after.map(|tokens| tokens.to_string()),
    );
    say("x-mainstay-window", note.window.map(|tokens| tokens.to_string()));
    say("x-mainstay-checkpoint", note.checkpoint.clone());
    say("x-mainstay-conversation", note.conversation.clone());
    say("x-mainstay-reason", note.reason.clone());
}

/// A text that any header can carry.
pub fn plain(text: &str) -> String {
    let fit = |c: char| if c == ' ' || c.is_ascii_graphic() { c } else { '?' };
    text.chars().take(MOST_TOLD).map(fit).collect()
}

/// Longer words are cut: some clients take heads of 8 KB only.
const MOST_TOLD: usize = 200;

/// Adds a word to a header that holds a list of them, unless it stands there already.
pub fn add_word(headers: &mut HeaderMap, name: &'static str, word: &'static str) {
    let known: Vec<&str> = headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .collect();
    if known.iter().any(|list| list.split(',').any(|one| one.trim() == word)) {
        return;
    }
    let list: Vec<&str> = known.into_iter().chain([word]).collect();
    if let Ok(value) = HeaderValue::from_str(&list.join(",")) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    fn names(headers: &HeaderMap) -> Vec<&str> {
        headers.keys().map(HeaderName::as_str).collect()
    }

    #[test]
    fn what_is_between_neighbours_stays_there() {
        let mut headers = map(&[
            ("host", "h"),
            ("connection", "close, X-Hop"),
            ("connection", "authorization, content-length"),
            ("x-hop", "1"),
            ("keep-alive", "1"),
            ("te", "trailers"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"),
            ("proxy-authorization", "secret"),
            ("proxy-connection", "x"),
            ("authorization", "Bearer k"),
            ("content-length", "5"),
            ("x-mainstay-token", "secret"),
            ("x-mainstay-anything", "x"),
            ("expect", "100-continue"),
            ("x-api-key", "k"),
        ]);
        outbound(&mut headers, BodyLength::AsItIs);
        let mut left = names(&headers);
        left.sort_unstable();
        assert_eq!(left, ["authorization", "content-length", "te", "x-api-key"]);
        outbound(&mut headers, BodyLength::Anew);
        assert!(!headers.contains_key("content-length"));
    }

    #[test]
    fn only_encodings_that_are_read_along_are_asked_for() {
        let left = |value: &'static str| {
            let mut headers = map(&[("accept-encoding", value)]);
            readable_encodings(&mut headers);
            headers["accept-encoding"].to_str().unwrap().to_owned()
        };
        assert_eq!(left("gzip, deflate, br, zstd"), "gzip");
        assert_eq!(left("br"), "identity");
        assert_eq!(left("*"), "gzip");
        assert_eq!(left("gzip;q=0, br"), "identity");
        assert_eq!(left("GZIP; q=0.5"), "gzip");
        let mut none = HeaderMap::new();
        readable_encodings(&mut none);
        assert!(none.is_empty());
    }

    #[test]
    fn what_is_told_fits_into_a_header() {
        let note = RequestNote {
            reason: Some(format!("line\r\nbreak é {}", "x".repeat(1_000))),
            tokens_before: Some(5),
            ..RequestNote::default()
        };
        let mut headers = HeaderMap::new();
        tell(&mut headers, &note);
        let reason = headers["x-mainstay-reason"].to_str().unwrap();
        assert!(
            reason.starts_with("line??break ? xxx") && reason.len() == 200,
            "{reason}"
        );
        assert_eq!(headers["x-mainstay-tokens-before"], "5");
        assert_eq!(headers["x-mainstay-deed"], "none");
    }
}
