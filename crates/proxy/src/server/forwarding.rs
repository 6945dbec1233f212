//! Forwards one request: reads its body, asks the session what to send, sends it to the upstream, and takes the answer back.

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
use crate::http::answer_inspection::InspectedAnswer;
use crate::http::auth::AdmittedRequest;
use crate::http::headers;
use crate::http::headers::BodyLength;
use crate::http::refusal::HttpRefusal;
use crate::http::request_body;
use crate::http::request_body::BodyMemory;
use crate::http::request_body::UploadBody;
use crate::http::request_log::RequestRecord;
use crate::http::response_body::ResponseBody;
use crate::http::response_body::UpstreamBody;
use crate::http::routing;
use crate::http::routing::ModelRoute;
use crate::http::server_settings::ServerSettings;
use crate::http::upstream_request::UpstreamRequest;
use crate::http::upstream_request::whole;
use crate::http::upstreams::UpstreamServer;
use crate::http::usage_reader::UsageReader;
use crate::recall_tool::InjectedRecall;
use crate::recall_tool::RecallInjector;
use crate::session;
use crate::session::OutgoingRequest;
use crate::session::RequestAction;
use crate::session::RequestNote;
use crate::session::fail_open::FailOpenCaller;
use crate::session::fail_open::PromptComplaint;

/// What one configuration serves with.
pub struct ServerSetup {
    /// What the operator has set.
    pub serving: ServerSettings,
    /// Calls the session.
    pub caller: FailOpenCaller,
    /// The way out.
    pub relay: Relay,
    /// The memory that bodies may take.
    pub body_memory: BodyMemory,
    /// The tool that models are offered, where they are.
    pub offered: Option<Arc<RecallInjector>>,
}

/// Takes a request that was let in to its upstream and its answer back. A refusal leaves the record open, to be closed by the caller.
pub async fn exchange(
    setup: &ServerSetup,
    request: Request<Incoming>,
    entered: AdmittedRequest,
    record: &mut RequestRecord,
) -> Result<(http::response::Parts, InspectedAnswer), HttpRefusal> {
    let (mut head, body) = request.into_parts();
    let (upstream, path) = choose(setup, &head, &entered.path)?;
    record.upstream.clone_from(&upstream.name);
    let target = upstream.target(path, head.uri.query()).ok_or_else(|| {
        HttpRefusal::new(
            StatusCode::BAD_REQUEST,
            "path",
            "the path makes no address at the upstream",
        )
    })?;
    let kept = routing::model_route(&head.method, path).filter(|_| may_be_kept(&head.headers));
    let announced = announced(&head.headers);
    request_body::check_announced(announced, &setup.serving.limits)?;
    let pinned = pinned(&head.headers);
    let length = if kept.is_some() {
        BodyLength::Anew
    } else {
        BodyLength::AsItIs
    };
    headers::outbound(&mut head.headers, length);
    let mut outward = UpstreamRequest {
        method: head.method,
        target,
        headers: head.headers,
    };
    let Some(kept) = kept else {
        return pass(setup, outward, body, record).await;
    };
    record.route = kept.route();
    headers::readable_encodings(&mut outward.headers);
    let (body, permit) = request_body::collect(body, announced, &setup.serving.limits, &setup.body_memory).await?;
    record.received = body.len() as u64;
    record.permits.extend(permit);
    let incoming = session::IncomingRequest {
        form: kept.form,
        body,
        tenant: entered.tenant,
        pinned,
        only_counts: kept.only_counts,
    };
    keep(setup, kept, outward, incoming, record).await
}

/// The answer as the client gets it; the record goes with it and is closed when it is through.
pub fn answer(
    setup: &ServerSetup,
    mut head: http::response::Parts,
    looked: InspectedAnswer,
    mut record: RequestRecord,
) -> Response<ResponseBody> {
    record.begins(head.status);
    headers::inbound(&mut head.headers);
    headers::tell(&mut head.headers, &record.note);
    let silence = setup.serving.limits.silence;
    let passing = UpstreamBody::new(looked.held, looked.rest, silence, Box::new(record));
    Response::from_parts(head, ResponseBody::Upstream(Box::new(passing)))
}

/// The upstream of a request, and the path that it is asked for.
fn choose<'a, 'p>(
    setup: &'a ServerSetup,
    head: &Parts,
    path: &'p str,
) -> Result<(&'a UpstreamServer, &'p str), HttpRefusal> {
    let named = head
        .headers
        .get("x-mainstay-upstream")
        .map(|name| name.to_str().unwrap_or(""));
    let is_messages = || routing::model_route(&Method::POST, path).is_some_and(|kept| kept.form == WireForm::Anthropic);
    let is_anthropic = head.headers.contains_key("anthropic-version") || is_messages();
    let chosen = setup.serving.upstreams.choose(named, path, is_anthropic);
    chosen.ok_or_else(|| {
        let words = match named {
            Some(_) => "no upstream has the name in x-mainstay-upstream; `mainstay proxy --check` lists them",
            None => "no upstream serves this path: those there are have a prefix or a name; `mainstay proxy --check` lists them",
        };
        HttpRefusal::new(StatusCode::NOT_FOUND, "upstream", words)
    })
}

/// Whether a request is the session's business: not where the client says otherwise, nor where it is packed.
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
    setup: &ServerSetup,
    outward: UpstreamRequest,
    body: Incoming,
    record: &mut RequestRecord,
) -> Result<(http::response::Parts, InspectedAnswer), HttpRefusal> {
    record.route = "pass";
    record.note = RequestNote {
        deed: RequestAction::PassedThrough,
        ..RequestNote::default()
    };
    let (upload, passed) = UploadBody::new(body, &setup.serving.limits);
    let sent = send(setup, outward, Box::pin(upload), record).await;
    record.received = passed.bytes();
    match sent {
        Ok(response) => Ok(answer_inspection::unseen(response)),
        Err(refusal) => Err(passed.refusal().unwrap_or(refusal)),
    }
}

/// A request that the session is asked about, before it goes out and where the provider complains.
async fn keep(
    setup: &ServerSetup,
    kept: ModelRoute,
    mut outward: UpstreamRequest,
    mut incoming: session::IncomingRequest,
    record: &mut RequestRecord,
) -> Result<(http::response::Parts, InspectedAnswer), HttpRefusal> {
    let since = Instant::now();
    let mut offer = setup.offered.as_ref().and_then(|offered| offered.offer(&mut incoming));
    if offer.is_some() {
        headers::unpacked(&mut outward.headers);
    }
    let (outgoing, silence) = setup.caller.prepare(incoming).await;
    if let Some(silence) = silence {
        record.failed_open(silence.name());
    } else if outgoing.note.deed == RequestAction::FailedOpen {
        record.failed_open("keeper");
    }
    record.goes_out(since);
    let again = outgoing.ticket.is_some().then(|| outward.again());
    let (mut head, mut looked, ticket) = attempt(setup, kept, outward, outgoing, &mut offer, record).await?;
    if let (Some((complaint, words)), Some(ticket), Some(outward)) = (&looked.complaint, &ticket, again)
        && let Some(outgoing) = ask_again(setup, *complaint, ticket, words, record).await
    {
        if let (PromptComplaint::Malformed, Some(offer)) = (complaint, &mut offer) {
            offer.complained();
        }
        record.goes_again(match complaint {
            PromptComplaint::Overflow => "overflow",
            PromptComplaint::Malformed => "malformed",
        });
        // What the provider said the first time is dropped, and its connection with it.
        drop(looked);
        let ticket;
        (head, looked, ticket) = attempt(setup, kept, outward, outgoing, &mut offer, record).await?;
        record.ticket = ticket.map(|ticket| (setup.caller.clone(), ticket));
    } else {
        record.ticket = ticket.map(|ticket| (setup.caller.clone(), ticket));
    }
    if let Some(offer) = offer.filter(|_| !kept.only_counts) {
        let way = (&setup.relay, &setup.body_memory, &setup.serving.limits);
        (head, looked) = offer.answer(way, (head, looked), record).await?;
    }
    record.watch = Some(UsageReader::new(kept.form, &head.headers)).filter(|_| !kept.only_counts);
    Ok((head, looked))
}

async fn ask_again(
    setup: &ServerSetup,
    complaint: PromptComplaint,
    ticket: &session::RequestTicket,
    words: &str,
    record: &RequestRecord,
) -> Option<OutgoingRequest> {
    match setup.caller.after(complaint, ticket, words).await {
        Ok(outgoing) => outgoing,
        Err(silence) => {
            record.failed_open(silence.name());
            None
        }
    }
}

/// Sends what the session says, and looks at the answer.
async fn attempt(
    setup: &ServerSetup,
    kept: ModelRoute,
    mut outward: UpstreamRequest,
    outgoing: OutgoingRequest,
    offer: &mut Option<InjectedRecall>,
    record: &mut RequestRecord,
) -> Result<(http::response::Parts, InspectedAnswer, Option<session::RequestTicket>), HttpRefusal> {
    record.note = outgoing.note;
    if let Some((name, word)) = outgoing.extra_header {
        headers::add_word(&mut outward.headers, name, word);
    }
    let body = match offer {
        Some(offer) => offer.goes_out(outgoing.body, &record.note, &outward),
        None => outgoing.body,
    };
    let response = send(setup, outward, whole(body), record).await?;
    let (head, looked) = match outgoing.ticket {
        Some(_) => answer_inspection::look(kept.form, response).await,
        None => answer_inspection::unseen(response),
    };
    Ok((head, looked, outgoing.ticket))
}

/// Sends a request on.
async fn send(
    setup: &ServerSetup,
    outward: UpstreamRequest,
    body: Outbound,
    record: &RequestRecord,
) -> Result<Response<Incoming>, HttpRefusal> {
    let sent = outward.send(&setup.relay, setup.serving.limits.silence, body).await;
    sent.inspect_err(|refusal| record.unanswered(refusal.code))
}
