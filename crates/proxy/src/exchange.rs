//! One request: in, to the keeper, on to the upstream, and its answer back.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use bytes::BytesMut;
use http::HeaderMap;
use http::Request;
use http::Response;
use http::StatusCode;
use http::Uri;
use http::header;
use http::request::Parts;
use http_body::Body;
use http_body_util::BodyExt;
use http_body_util::Full;
use hyper::body::Incoming;
use mainstay_llm::relay::Outbound;
use mainstay_llm::relay::Relay;
use mainstay_llm::relay::RelayError;
use tokio::time::timeout;

use crate::counsel::Desk;
use crate::door::Entered;
use crate::headers;
use crate::headers::Length;
use crate::keeper;
use crate::keeper::Deed;
use crate::keeper::Note;
use crate::passing::Ending;
use crate::passing::Passing;
use crate::passing::Reply;
use crate::passing::Witness;
use crate::refusal::Refusal;
use crate::route;
use crate::route::Kept;
use crate::serving::Serving;
use crate::upstreams::Upstream;

/// What one configuration serves with.
pub struct Setup {
    /// What the operator has set.
    pub serving: Serving,
    /// Where the keeper is asked.
    pub desk: Desk,
    /// The way out.
    pub relay: Relay,
}

/// Nobody looks.
struct Nobody;

impl Witness for Nobody {
    fn see(&mut self, _bytes: &[u8]) {}
    fn end(&mut self, _ending: Ending) {}
}

/// Takes a request that was let in to its upstream and its answer back.
pub async fn exchange(
    setup: Arc<Setup>,
    request: Request<Incoming>,
    entered: Entered,
) -> Result<Response<Reply>, Refusal> {
    let (mut head, body) = request.into_parts();
    let (upstream, path) = choose(&setup, &head, &entered.path)?;
    let target = upstream.target(path, head.uri.query()).ok_or_else(|| {
        Refusal::new(
            StatusCode::BAD_REQUEST,
            "path",
            "the path makes no address at the upstream",
        )
    })?;
    let kept = route::kept(&head.method, path).filter(|_| may_be_kept(&head.headers));
    let length = if kept.is_some() { Length::Anew } else { Length::AsItIs };
    let pinned = pinned(&head.headers);
    let announced = announced(&head.headers);
    if announced.is_some_and(|length| length > setup.serving.limits.body) {
        return Err(too_large());
    }
    headers::outbound(&mut head.headers, length);
    let (response, note) = match kept {
        Some(kept) => {
            headers::readable_encodings(&mut head.headers);
            let body = collect(body, announced, &setup).await?;
            keep(&setup, kept, head, target, body, pinned, entered.tenant).await?
        }
        None => {
            let note = Note {
                deed: Deed::PassedThrough,
                ..Note::default()
            };
            let body: Outbound = Box::pin(body.map_err(Into::into));
            (send(&setup, head, target, body).await?, note)
        }
    };
    let (mut head, body) = response.into_parts();
    headers::inbound(&mut head.headers);
    headers::tell(&mut head.headers, &note);
    let passing = Passing::new(VecDeque::new(), body, setup.serving.limits.silence, Box::new(Nobody));
    Ok(Response::from_parts(head, Reply::Passing(Box::new(passing))))
}

/// The upstream of a request, and the path that it is asked for.
fn choose<'a, 'p>(setup: &'a Setup, head: &Parts, path: &'p str) -> Result<(&'a Upstream, &'p str), Refusal> {
    let named = match head.headers.get("x-mainstay-upstream").map(|name| name.to_str()) {
        Some(Ok(name)) => Some(name),
        Some(Err(_)) => Some(""),
        None => None,
    };
    let speaks_anthropic = head.headers.contains_key("anthropic-version")
        || route::kept(&http::Method::POST, path)
            .is_some_and(|kept| kept.form == mainstay_wire::reading::WireForm::Anthropic);
    let upstreams = &setup.serving.upstreams;
    upstreams.choose(named, path, speaks_anthropic).ok_or_else(|| {
        let words = match named {
            Some(_) => "no upstream has the name in x-mainstay-upstream",
            None => "no upstream serves this path",
        };
        Refusal::new(StatusCode::NOT_FOUND, "upstream", words)
    })
}

/// Whether a request is the keeper's business: not where the client says otherwise, nor where it is packed.
fn may_be_kept(headers: &HeaderMap) -> bool {
    let bypassed = headers
        .get("x-mainstay-bypass")
        .is_some_and(|value| value.as_bytes() != b"0");
    let packed = headers
        .get(header::CONTENT_ENCODING)
        .is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"));
    !bypassed && !packed
}

fn pinned(headers: &HeaderMap) -> Option<String> {
    let pinned = headers.get("x-mainstay-conversation")?.to_str().ok()?;
    Some(pinned.to_owned()).filter(|pinned| !pinned.is_empty())
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn too_large() -> Refusal {
    let words = "the body is larger than proxy.body allows";
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "body", words).closing()
}

/// The whole body, in as few copies as there can be: none where it came in one piece.
async fn collect(mut body: Incoming, announced: Option<u64>, setup: &Setup) -> Result<Bytes, Refusal> {
    let limits = &setup.serving.limits;
    let mut first: Option<Bytes> = None;
    let mut rest = BytesMut::new();
    let mut length = 0_u64;
    while !body.is_end_stream() {
        let Ok(frame) = timeout(limits.body_wait, body.frame()).await else {
            let words = "nothing of the body came for too long";
            return Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "body", words).closing());
        };
        let Some(frame) = frame else { break };
        let Ok(frame) = frame else {
            let words = "the body broke off";
            return Err(Refusal::new(StatusCode::BAD_REQUEST, "body", words).closing());
        };
        let Ok(piece) = frame.into_data() else { continue };
        length += piece.len() as u64;
        if length > limits.body {
            return Err(too_large());
        }
        match first.take() {
            None if rest.is_empty() => first = Some(piece),
            held => {
                if let Some(held) = held {
                    let room = announced.unwrap_or(length * 2).min(limits.body);
                    rest.reserve(usize::try_from(room).unwrap_or(0));
                    rest.extend_from_slice(&held);
                }
                rest.extend_from_slice(&piece);
            }
        }
    }
    Ok(first.unwrap_or_else(|| rest.freeze()))
}

async fn keep(
    setup: &Setup,
    kept: Kept,
    head: Parts,
    target: Uri,
    body: Bytes,
    pinned: Option<String>,
    tenant: String,
) -> Result<(Response<Incoming>, Note), Refusal> {
    let incoming = keeper::Incoming {
        form: kept.form,
        body,
        tenant,
        pinned,
        only_counts: kept.only_counts,
    };
    let (outgoing, _silence) = setup.desk.prepare(incoming).await;
    let body: Outbound = Box::pin(Full::new(outgoing.body).map_err(|never| match never {}));
    Ok((send(setup, head, target, body).await?, outgoing.note))
}

/// Sends a request on.
async fn send(setup: &Setup, head: Parts, target: Uri, body: Outbound) -> Result<Response<Incoming>, Refusal> {
    let mut request = Request::new(body);
    *request.method_mut() = head.method;
    *request.uri_mut() = target;
    *request.headers_mut() = head.headers;
    match timeout(setup.serving.limits.silence, setup.relay.send(request)).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(error)) => Err(unanswered(&error)),
        Err(_) => {
            let words = "the upstream said nothing for too long";
            Err(Refusal::new(StatusCode::GATEWAY_TIMEOUT, "upstream-silent", words))
        }
    }
}

fn unanswered(error: &RelayError) -> Refusal {
    let code = match error {
        RelayError::OutOfBounds(_) => "upstream-out-of-bounds",
        RelayError::Unreachable(_) => "upstream-unreachable",
        _ => "upstream-broke",
    };
    Refusal::new(
        StatusCode::BAD_GATEWAY,
        code,
        format!("the upstream gave no answer: {error}"),
    )
}
