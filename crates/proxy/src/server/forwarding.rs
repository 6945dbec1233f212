//! One request: in, to the keeper, on to the upstream, and its answer back.

use std::sync::Arc;
use std::time::Instant;

use http::HeaderMap;
use http::Method;
use http::Request;
use http::Response;
use http::StatusCode;
use http::header;
use http::request::Parts;
use hyper::body::Incoming;
use mainstay_llm::relay::Outbound;
use mainstay_llm::relay::Relay;
use mainstay_wire::reading::WireForm;

use crate::http::answer_inspection;
use crate::http::answer_inspection::Looked;
use crate::http::auth::Entered;
use crate::http::headers;
use crate::http::headers::Length;
use crate::http::refusal::Refusal;
use crate::http::request_body;
use crate::http::request_body::Room;
use crate::http::request_body::Upload;
use crate::http::request_log::Account;
use crate::http::response_body::Passing;
use crate::http::response_body::Reply;
use crate::http::routing;
use crate::http::routing::Kept;
use crate::http::server_settings::Serving;
use crate::http::upstream_request::Outward;
use crate::http::upstream_request::whole;
use crate::http::upstreams::Upstream;
use crate::http::usage_reader::Watch;
use crate::recall_tool::Offer;
use crate::recall_tool::Offered;
use crate::session;
use crate::session::Deed;
use crate::session::Note;
use crate::session::Outgoing;
use crate::session::fail_open::Complaint;
use crate::session::fail_open::Desk;

/// What one configuration serves with.
pub struct Setup {
    /// What the operator has set.
    pub serving: Serving,
    /// Where the keeper is asked.
    pub desk: Desk,
    /// The way out.
    pub relay: Relay,
    /// The memory that bodies may take.
    pub room: Room,
    /// The tool that models are offered, where they are.
    pub offered: Option<Arc<Offered>>,
}

/// Takes a request that was let in to its upstream and its answer back. A refusal gives the account back, to be closed.
pub async fn exchange(
    setup: &Setup,
    request: Request<Incoming>,
    entered: Entered,
    account: &mut Account,
) -> Result<(http::response::Parts, Looked), Refusal> {
    let (mut head, body) = request.into_parts();
    let (upstream, path) = choose(setup, &head, &entered.path)?;
    account.upstream.clone_from(&upstream.name);
    let target = upstream.target(path, head.uri.query()).ok_or_else(|| {
        Refusal::new(
            StatusCode::BAD_REQUEST,
            "path",
            "the path makes no address at the upstream",
        )
    })?;
    let kept = routing::kept(&head.method, path).filter(|_| may_be_kept(&head.headers));
    let announced = announced(&head.headers);
    request_body::check_announced(announced, &setup.serving.limits)?;
    let pinned = pinned(&head.headers);
    let length = if kept.is_some() { Length::Anew } else { Length::AsItIs };
    headers::outbound(&mut head.headers, length);
    let mut outward = Outward {
        method: head.method,
        target,
        headers: head.headers,
    };
    let Some(kept) = kept else {
        return pass(setup, outward, body, account).await;
    };
    account.route = kept.route();
    headers::readable_encodings(&mut outward.headers);
    let (body, permit) = request_body::collect(body, announced, &setup.serving.limits, &setup.room).await?;
    account.received = body.len() as u64;
    account.permits.extend(permit);
    let incoming = session::Incoming {
        form: kept.form,
        body,
        tenant: entered.tenant,
        pinned,
        only_counts: kept.only_counts,
    };
    keep(setup, kept, outward, incoming, account).await
}

/// The answer as the client gets it; the account goes with it and is closed when it is through.
pub fn answer(setup: &Setup, mut head: http::response::Parts, looked: Looked, mut account: Account) -> Response<Reply> {
    account.begins(head.status);
    headers::inbound(&mut head.headers);
    headers::tell(&mut head.headers, &account.note);
    let silence = setup.serving.limits.silence;
    let passing = Passing::new(looked.held, looked.rest, silence, Box::new(account));
    Response::from_parts(head, Reply::Passing(Box::new(passing)))
}

/// The upstream of a request, and the path that it is asked for.
fn choose<'a, 'p>(setup: &'a Setup, head: &Parts, path: &'p str) -> Result<(&'a Upstream, &'p str), Refusal> {
    let named = head
        .headers
        .get("x-mainstay-upstream")
        .map(|name| name.to_str().unwrap_or(""));
    let is_messages = || routing::kept(&Method::POST, path).is_some_and(|kept| kept.form == WireForm::Anthropic);
    let is_anthropic = head.headers.contains_key("anthropic-version") || is_messages();
    let chosen = setup.serving.upstreams.choose(named, path, is_anthropic);
    chosen.ok_or_else(|| {
        let words = match named {
            Some(_) => "no upstream has the name in x-mainstay-upstream; `mainstay proxy --check` lists them",
            None => "no upstream serves this path: those there are have a prefix or a name; `mainstay proxy --check` lists them",
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

/// A request that is none of our business: it passes as it comes.
async fn pass(
    setup: &Setup,
    outward: Outward,
    body: Incoming,
    account: &mut Account,
) -> Result<(http::response::Parts, Looked), Refusal> {
    account.route = "pass";
    account.note = Note {
        deed: Deed::PassedThrough,
        ..Note::default()
    };
    let (upload, passed) = Upload::new(body, &setup.serving.limits);
    let sent = send(setup, outward, Box::pin(upload), account).await;
    account.received = passed.bytes();
    match sent {
        Ok(response) => Ok(answer_inspection::unseen(response)),
        Err(refusal) => Err(passed.refusal().unwrap_or(refusal)),
    }
}

/// A request that the keeper is asked about, before it goes out and where the provider complains.
async fn keep(
    setup: &Setup,
    kept: Kept,
    mut outward: Outward,
    mut incoming: session::Incoming,
    account: &mut Account,
) -> Result<(http::response::Parts, Looked), Refusal> {
    let since = Instant::now();
    let mut offer = setup.offered.as_ref().and_then(|offered| offered.offer(&mut incoming));
    if offer.is_some() {
        headers::unpacked(&mut outward.headers);
    }
    let (outgoing, silence) = setup.desk.prepare(incoming).await;
    if let Some(silence) = silence {
        account.failed_open(silence.name());
    } else if outgoing.note.deed == Deed::FailedOpen {
        account.failed_open("keeper");
    }
    account.goes_out(since);
    let again = outgoing.ticket.is_some().then(|| outward.again());
    let (mut head, mut looked, ticket) = attempt(setup, kept, outward, outgoing, &mut offer, account).await?;
    if let (Some((complaint, words)), Some(ticket), Some(outward)) = (&looked.complaint, &ticket, again)
        && let Some(outgoing) = ask_again(setup, *complaint, ticket, words, account).await
    {
        if let (Complaint::Malformed, Some(offer)) = (complaint, &mut offer) {
            offer.complained();
        }
        account.goes_again(match complaint {
            Complaint::Overflow => "overflow",
            Complaint::Malformed => "malformed",
        });
        // What the provider said the first time is dropped, and its connection with it.
        drop(looked);
        let ticket;
        (head, looked, ticket) = attempt(setup, kept, outward, outgoing, &mut offer, account).await?;
        account.ticket = ticket.map(|ticket| (setup.desk.clone(), ticket));
    } else {
        account.ticket = ticket.map(|ticket| (setup.desk.clone(), ticket));
    }
    if let Some(offer) = offer.filter(|_| !kept.only_counts) {
        let way = (&setup.relay, &setup.room, &setup.serving.limits);
        (head, looked) = offer.answer(way, (head, looked), account).await?;
    }
    account.watch = Some(Watch::new(kept.form, &head.headers)).filter(|_| !kept.only_counts);
    Ok((head, looked))
}

async fn ask_again(
    setup: &Setup,
    complaint: Complaint,
    ticket: &session::Ticket,
    words: &str,
    account: &Account,
) -> Option<Outgoing> {
    match setup.desk.after(complaint, ticket, words).await {
        Ok(outgoing) => outgoing,
        Err(silence) => {
            account.failed_open(silence.name());
            None
        }
    }
}

/// Sends what the keeper says, and looks at the answer.
async fn attempt(
    setup: &Setup,
    kept: Kept,
    mut outward: Outward,
    outgoing: Outgoing,
    offer: &mut Option<Offer>,
    account: &mut Account,
) -> Result<(http::response::Parts, Looked, Option<session::Ticket>), Refusal> {
    account.note = outgoing.note;
    if let Some((name, word)) = outgoing.extra_header {
        headers::add_word(&mut outward.headers, name, word);
    }
    let body = match offer {
        Some(offer) => offer.goes_out(outgoing.body, &account.note, &outward),
        None => outgoing.body,
    };
    let response = send(setup, outward, whole(body), account).await?;
    let (head, looked) = match outgoing.ticket {
        Some(_) => answer_inspection::look(kept.form, response).await,
        None => answer_inspection::unseen(response),
    };
    Ok((head, looked, outgoing.ticket))
}

/// Sends a request on.
async fn send(
    setup: &Setup,
    outward: Outward,
    body: Outbound,
    account: &Account,
) -> Result<Response<Incoming>, Refusal> {
    let sent = outward.send(&setup.relay, setup.serving.limits.silence, body).await;
    sent.inspect_err(|refusal| account.unanswered(refusal.code))
}
