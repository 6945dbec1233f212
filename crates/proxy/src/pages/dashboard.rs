//! From a request for a page to its answer.

use std::sync::Arc;
use std::time::Duration;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use bytes::Bytes;
use http::HeaderMap;
use http::HeaderValue;
use http::Request;
use http::Response;
use http::StatusCode;
use http::header;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use mainstay_store::html::LOOK;
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::http::refusal::Refusal;
use crate::http::response_body::Reply;
use crate::mcp::Endpoint;
use crate::pages::address::Address;
use crate::pages::address::Place;
use crate::pages::address::Reader;
use crate::pages::address::Shows;
use crate::pages::address::Which;
use crate::pages::checkpoint;
use crate::pages::conversation;
use crate::pages::markup::Page;
use crate::pages::overview;
use crate::pages::passage;
use crate::pages::search;
use crate::pages::sight::Sight;
use crate::pages::trouble::Trouble;
use crate::recall::Recall;
use crate::recall::Scope;
use crate::recall::Secrets;
use crate::session::Archive;
use crate::session::fail_open::Counsel;
use crate::session::fail_open::Desk;

/// Pages drawn at once: each may read and clean megabytes, and agents come first.
const MOST_DRAWN: usize = 4;
/// How long one question of an agent may take, as where recall is served alone: sending a megabyte over a slow line, or
/// reading a giant text.
const RECALL_PATIENCE: Duration = Duration::from_secs(60);
/// Nothing loads but the style sheet and an empty icon, nothing runs, and no other page shows this one.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";
/// Documents are for the disk: were one shown all the same, it could do nothing.
const SANDBOX: &str = "default-src 'none'; sandbox; frame-ancestors 'none'";

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JSON: &str = "application/json";
const BYTES: &str = "application/octet-stream";

/// Draws pages, and answers agents that recall.
pub(crate) struct Dashboard {
    archive: Option<Archive>,
    endpoint: Option<Endpoint>,
    seats: Arc<Semaphore>,
}

impl Dashboard {
    /// Pages about what this counsel knows and keeps.
    pub(crate) fn new(counsel: &dyn Counsel) -> Self {
        let archive = counsel.archive();
        let recall = |archive: &Archive| {
            let secrets = Secrets::Hidden(archive.redact);
            Recall::new(archive.store.clone(), secrets, Scope::Everything)
        };
        Self {
            endpoint: archive.as_ref().map(|archive| Endpoint::new(recall(archive))),
            archive,
            seats: Arc::new(Semaphore::new(MOST_DRAWN)),
        }
    }

    /// The answer to a request for a page at a path.
    pub(crate) async fn respond<B>(&self, desk: &Desk, path: &str, request: &Request<B>) -> Response<Reply> {
        let address = Address::read(path, request.uri().query());
        if !path.ends_with('/') && address.up.is_empty() && address.place == Some(Place::Overview) {
            // Links begin behind the slash.
            return redirect("mainstay/");
        }
        let drawn = match self.draw(desk, address.clone(), request.headers()).await {
            Ok(drawn) => drawn,
            Err(trouble) => return refuse(&trouble, &address),
        };
        drawn.answer()
    }

    async fn draw(&self, desk: &Desk, address: Address, headers: &HeaderMap) -> Result<Drawn, Trouble> {
        let place = address.place.clone().ok_or_else(Trouble::nothing_here)?;
        if is_raw(&place) && is_led_here(headers) {
            let words = "Another website led here. Open what is unredacted from the pages themselves.";
            return Err(Trouble::new(StatusCode::FORBIDDEN, "origin", words));
        }
        let wants_figures = matches!(place, Place::Overview | Place::Conversation { .. });
        let overview = match wants_figures {
            // A keeper that does not answer must not take the pages with it.
            true => desk.overview().await.ok().flatten(),
            false => None,
        };
        let sight = Sight {
            overview,
            archive: self.archive.clone(),
            now: now(),
        };
        let busy = || {
            Trouble::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "busy",
                "Too many pages are being drawn; try again.",
            )
        };
        let seat = Arc::clone(&self.seats).try_acquire_owned().map_err(|_| busy())?;
        let drawn = tokio::task::spawn_blocking(move || {
            let drawn = drawn(&place, &address, &sight);
            drop(seat);
            drawn
        });
        let broken = "The page could not be drawn: that is a mistake in Mainstay.";
        let broken = |_| Trouble::new(StatusCode::INTERNAL_SERVER_ERROR, "panic", broken);
        drawn.await.map_err(broken)?
    }

    /// The answer to an agent that recalls.
    pub(crate) async fn recall(&self, request: Request<Incoming>) -> Response<Reply> {
        let Some(endpoint) = &self.endpoint else {
            return Refusal::new(StatusCode::NOT_FOUND, "path", "there is nothing here").answer();
        };
        let answered = async {
            let (head, body) = endpoint.respond(request).await.into_parts();
            // Every answer is one JSON value: nothing goes on behind it.
            let body = match body.collect().await {
                Ok(body) => body.to_bytes(),
                Err(never) => match never {},
            };
            Response::from_parts(head, Reply::whole(body))
        };
        match timeout(RECALL_PATIENCE, answered).await {
            Ok(response) => response,
            Err(_) => Refusal::new(StatusCode::REQUEST_TIMEOUT, "slow", "the request took too long").answer(),
        }
    }
}

/// Whether a place shows what is unredacted.
fn is_raw(place: &Place) -> bool {
    match place {
        Place::Document { .. } => true,
        Place::Passage { secrets, .. } => *secrets == Shows::Raw,
        Place::Overview
        | Place::Style
        | Place::Conversation { .. }
        | Place::Checkpoint { .. }
        | Place::Search { .. } => false,
    }
}

/// Whether a browser says that a link or a form of another website led here.
fn is_led_here(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    matches!(site, Some(b"cross-site" | b"same-site"))
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// What was drawn.
struct Drawn {
    kind: &'static str,
    /// The name under which it is saved, where it is.
    saved_as: Option<String>,
    body: Bytes,
}

impl Drawn {
    fn new(kind: &'static str, body: String) -> Self {
        Self {
            kind,
            saved_as: None,
            body: Bytes::from(body),
        }
    }

    fn answer(self) -> Response<Reply> {
        let policy = if self.saved_as.is_some() { SANDBOX } else { POLICY };
        let mut response = dressed(Reply::whole(self.body), self.kind, policy);
        let saved_as = self.saved_as.map(|name| format!("attachment; filename=\"{name}\""));
        if let Some(value) = saved_as.and_then(|text| HeaderValue::from_str(&text).ok()) {
            response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
        }
        response
    }
}

fn drawn(place: &Place, address: &Address, sight: &Sight) -> Result<Drawn, Trouble> {
    let (up, now) = (address.up.as_str(), sight.now);
    match place {
        Place::Overview => {
            let content = overview::Content::gather(sight);
            Ok(address.drawn(&content, || content.page(up, address.refresh, now)))
        }
        Place::Style => Ok(Drawn::new(CSS, [LOOK, include_str!("dashboard.css")].concat())),
        Place::Conversation { name, skip } => {
            let content = conversation::Content::gather(sight, name, *skip)?;
            Ok(address.drawn(&content, || content.page(up, address.refresh, now)))
        }
        Place::Checkpoint { id, skip } => {
            let content = checkpoint::Content::gather(sight, id, *skip)?;
            Ok(address.drawn(&content, || content.page(up, now)))
        }
        Place::Document { id, which } => document(sight, id, *which),
        Place::Search { words, conversation } => {
            let content = search::Content::gather(sight, words, conversation.as_deref())?;
            Ok(address.drawn(&content, || content.page(up)))
        }
        Place::Passage {
            reference,
            offset,
            secrets,
        } => {
            let content = passage::Content::gather(sight, reference, *offset, *secrets)?;
            Ok(address.drawn(&content, || content.page(up)))
        }
    }
}

impl Address {
    /// Content for whoever reads it.
    fn drawn(&self, content: &impl Serialize, page: impl FnOnce() -> Page) -> Drawn {
        match self.reader {
            Reader::Person => Drawn::new(HTML, page().whole(&self.up)),
            Reader::Program => {
                let text = serde_json::to_string(content).expect("content has text keys and no failing parts");
                Drawn::new(JSON, text)
            }
        }
    }
}

/// The exact bytes of a document.
fn document(sight: &Sight, asked: &str, which: Which) -> Result<Drawn, Trouble> {
    let desk = sight.open(Shows::Raw)?;
    let id = desk.store.find_checkpoint(asked)?;
    let (body, word) = match which {
        Which::Original => (desk.store.original(&id)?, "original"),
        Which::Result => (desk.store.result(&id)?, "result"),
    };
    Ok(Drawn {
        kind: BYTES,
        saved_as: Some(format!("mainstay-{id}-{word}.json")),
        body: Bytes::from(body),
    })
}

fn refuse(trouble: &Trouble, address: &Address) -> Response<Reply> {
    let mut response = match address.reader {
        Reader::Program => Refusal::new(trouble.status, trouble.code, trouble.words.as_str()).answer(),
        Reader::Person => {
            let page = trouble.page().whole(&address.up);
            dressed(Reply::whole(Bytes::from(page)), HTML, POLICY)
        }
    };
    *response.status_mut() = trouble.status;
    response
}

fn redirect(to: &'static str) -> Response<Reply> {
    let mut response = dressed(Reply::whole(Bytes::new()), HTML, POLICY);
    *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
    response
        .headers_mut()
        .insert(header::LOCATION, HeaderValue::from_static(to));
    response
}

fn dressed(body: Reply, kind: &'static str, policy: &'static str) -> Response<Reply> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    let fixed = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        // A client's token may stand in the address.
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
