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

use crate::blocking;
use crate::http::refusal::HttpRefusal;
use crate::http::response_body::ResponseBody;
use crate::mcp::McpEndpoint;
use crate::pages::address::DocumentKind;
use crate::pages::address::PageAddress;
use crate::pages::address::PagePlace;
use crate::pages::address::PageReader;
use crate::pages::address::SecretDisplay;
use crate::pages::checkpoint;
use crate::pages::conversation;
use crate::pages::markup::HtmlPage;
use crate::pages::overview;
use crate::pages::passage;
use crate::pages::search;
use crate::pages::sight::PageInputs;
use crate::pages::trouble::PageError;
use crate::recall::Recall;
use crate::recall::RecallScope;
use crate::session::StoreLocation;
use crate::session::fail_open::FailOpenCaller;
use crate::session::fail_open::SessionBackend;

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
    archive: Option<StoreLocation>,
    endpoint: Option<McpEndpoint>,
    seats: Arc<Semaphore>,
}

impl Dashboard {
    /// Pages about what this backend knows and keeps.
    pub(crate) fn new(backend: &dyn SessionBackend) -> Self {
        let archive = backend.archive();
        let recall = |archive: &StoreLocation| {
            let secrets = archive.redaction;
            Recall::new(archive.store.clone(), secrets, RecallScope::Everything)
        };
        Self {
            endpoint: archive.as_ref().map(|archive| McpEndpoint::new(recall(archive))),
            archive,
            seats: Arc::new(Semaphore::new(MOST_DRAWN)),
        }
    }

    /// The answer to a request for a page at a path.
    pub(crate) async fn respond<B>(
        &self,
        caller: &FailOpenCaller,
        path: &str,
        request: &Request<B>,
    ) -> Response<ResponseBody> {
        let address = PageAddress::read(path, request.uri().query());
        if !path.ends_with('/') && address.up.is_empty() && address.place == Some(PagePlace::Overview) {
            // Links begin behind the slash.
            return redirect("mainstay/");
        }
        let drawn = match self.draw(caller, address.clone(), request.headers()).await {
            Ok(drawn) => drawn,
            Err(trouble) => return refuse(&trouble, &address),
        };
        drawn.answer()
    }

    async fn draw(
        &self,
        caller: &FailOpenCaller,
        address: PageAddress,
        headers: &HeaderMap,
    ) -> Result<RenderedPage, PageError> {
        let place = address.place.clone().ok_or_else(PageError::nothing_here)?;
        if is_raw(&place) && is_led_here(headers) {
            let words = "Another website led here. Open what is unredacted from the pages themselves.";
            return Err(PageError::new(StatusCode::FORBIDDEN, "origin", words));
        }
        let wants_figures = matches!(place, PagePlace::Overview | PagePlace::Conversation { .. });
        let overview = match wants_figures {
            // A session that does not answer must not take the pages with it.
            true => caller.overview().await.ok().flatten(),
            false => None,
        };
        let sight = PageInputs {
            overview,
            archive: self.archive.clone(),
            now: now(),
        };
        let busy = || {
            PageError::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "busy",
                "Too many pages are being drawn; try again.",
            )
        };
        let seat = Arc::clone(&self.seats).try_acquire_owned().map_err(|_| busy())?;
        let drawn = blocking::run(move || {
            let drawn = drawn(&place, &address, &sight);
            drop(seat);
            drawn
        });
        let broken = "The page could not be drawn: that is a mistake in Mainstay.";
        let broken = |_| PageError::new(StatusCode::INTERNAL_SERVER_ERROR, "panic", broken);
        drawn.await.map_err(broken)?
    }

    /// The answer to an agent that recalls.
    pub(crate) async fn recall(&self, request: Request<Incoming>) -> Response<ResponseBody> {
        let Some(endpoint) = &self.endpoint else {
            return HttpRefusal::new(StatusCode::NOT_FOUND, "path", "there is nothing here").answer();
        };
        let answered = async {
            let (head, body) = endpoint.respond(request).await.into_parts();
            // Every answer is one JSON value: nothing goes on behind it.
            let body = match body.collect().await {
                Ok(body) => body.to_bytes(),
                Err(never) => match never {},
            };
            Response::from_parts(head, ResponseBody::whole(body))
        };
        match timeout(RECALL_PATIENCE, answered).await {
            Ok(response) => response,
            Err(_) => HttpRefusal::new(StatusCode::REQUEST_TIMEOUT, "slow", "the request took too long").answer(),
        }
    }
}

/// Whether a place shows what is unredacted.
fn is_raw(place: &PagePlace) -> bool {
    match place {
        PagePlace::Document { .. } => true,
        PagePlace::Passage { secrets, .. } => *secrets == SecretDisplay::Raw,
        PagePlace::Overview
        | PagePlace::Style
        | PagePlace::Conversation { .. }
        | PagePlace::Checkpoint { .. }
        | PagePlace::Search { .. } => false,
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
struct RenderedPage {
    kind: &'static str,
    /// The name under which it is saved, where it is.
    saved_as: Option<String>,
    body: Bytes,
}

impl RenderedPage {
    fn new(kind: &'static str, body: String) -> Self {
        Self {
            kind,
            saved_as: None,
            body: Bytes::from(body),
        }
    }

    fn answer(self) -> Response<ResponseBody> {
        let policy = if self.saved_as.is_some() { SANDBOX } else { POLICY };
        let mut response = dressed(ResponseBody::whole(self.body), self.kind, policy);
        let saved_as = self.saved_as.map(|name| format!("attachment; filename=\"{name}\""));
        if let Some(value) = saved_as.and_then(|text| HeaderValue::from_str(&text).ok()) {
            response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
        }
        response
    }
}

fn drawn(place: &PagePlace, address: &PageAddress, sight: &PageInputs) -> Result<RenderedPage, PageError> {
    let (up, now) = (address.up.as_str(), sight.now);
    match place {
        PagePlace::Overview => {
            let content = overview::OverviewContent::gather(sight);
            Ok(address.drawn(&content, || content.page(up, address.refresh, now)))
        }
        PagePlace::Style => Ok(RenderedPage::new(CSS, [LOOK, include_str!("dashboard.css")].concat())),
        PagePlace::Conversation { name, skip } => {
            let content = conversation::ConversationContent::gather(sight, name, *skip)?;
            Ok(address.drawn(&content, || content.page(up, address.refresh, now)))
        }
        PagePlace::Checkpoint { id, skip } => {
            let content = checkpoint::CheckpointContent::gather(sight, id, *skip)?;
            Ok(address.drawn(&content, || content.page(up, now)))
        }
        PagePlace::Document { id, which } => document(sight, id, *which),
        PagePlace::Search { words, conversation } => {
            let content = search::SearchContent::gather(sight, words, conversation.as_deref())?;
            Ok(address.drawn(&content, || content.page(up)))
        }
        PagePlace::Passage {
            reference,
            offset,
            secrets,
        } => {
            let content = passage::PassageContent::gather(sight, reference, *offset, *secrets)?;
            Ok(address.drawn(&content, || content.page(up)))
        }
    }
}

impl PageAddress {
    /// Content for whoever reads it.
    fn drawn(&self, content: &impl Serialize, page: impl FnOnce() -> HtmlPage) -> RenderedPage {
        match self.reader {
            PageReader::Person => RenderedPage::new(HTML, page().whole(&self.up)),
            PageReader::Program => {
                let text = serde_json::to_string(content).expect("content has text keys and no failing parts");
                RenderedPage::new(JSON, text)
            }
        }
    }
}

/// The exact bytes of a document.
fn document(sight: &PageInputs, asked: &str, which: DocumentKind) -> Result<RenderedPage, PageError> {
    let recall_store = sight.open(SecretDisplay::Raw)?;
    let id = recall_store.store.find_checkpoint(asked)?;
    let (body, word) = match which {
        DocumentKind::Original => (recall_store.store.original(&id)?, "original"),
        DocumentKind::Result => (recall_store.store.result(&id)?, "result"),
    };
    Ok(RenderedPage {
        kind: BYTES,
        saved_as: Some(format!("mainstay-{id}-{word}.json")),
        body: Bytes::from(body),
    })
}

fn refuse(trouble: &PageError, address: &PageAddress) -> Response<ResponseBody> {
    let mut response = match address.reader {
        PageReader::Program => HttpRefusal::new(trouble.status, trouble.code, trouble.words.as_str()).answer(),
        PageReader::Person => {
            let page = trouble.page().whole(&address.up);
            dressed(ResponseBody::whole(Bytes::from(page)), HTML, POLICY)
        }
    };
    *response.status_mut() = trouble.status;
    response
}

fn redirect(to: &'static str) -> Response<ResponseBody> {
    let mut response = dressed(ResponseBody::whole(Bytes::new()), HTML, POLICY);
    *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
    response
        .headers_mut()
        .insert(header::LOCATION, HeaderValue::from_static(to));
    response
}

fn dressed(body: ResponseBody, kind: &'static str, policy: &'static str) -> Response<ResponseBody> {
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
