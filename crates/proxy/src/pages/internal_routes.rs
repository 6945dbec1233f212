//! Our own pages, below `/mainstay`. Whoever gets here was let in by the door: the host is known, no foreign page asks, and
//! where tokens are configured one was brought (health and readiness go without).

use bytes::Bytes;
use http::HeaderValue;
use http::Method;
use http::Request;
use http::Response;
use http::StatusCode;
use http::header::CACHE_CONTROL;
use http::header::CONTENT_TYPE;
use hyper::body::Incoming;

use crate::http::auth::Door;
use crate::http::auth::Entered;
use crate::http::refusal::Refusal;
use crate::http::response_body::Reply;
use crate::http::routing::Own;
use crate::metrics::Metrics;
use crate::pages::dashboard::Dashboard;
use crate::session::fail_open::Desk;

/// Whether the server takes new requests, for the readiness probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// It does.
    Ready,
    /// It was told to stop.
    Stopping,
}

/// What the pages show, and what they are answered from.
pub(crate) struct PageSources<'a> {
    pub(crate) readiness: Readiness,
    pub(crate) metrics: &'a Metrics,
    pub(crate) door: &'a Door,
    pub(crate) desk: &'a Desk,
    pub(crate) dashboard: &'a Dashboard,
}

/// Answers a request for one of our pages.
pub(crate) async fn page(
    sources: &PageSources<'_>,
    page: Own,
    entered: &Entered,
    request: Request<Incoming>,
) -> Response<Reply> {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if matches!(page, Own::Dashboard | Own::Mcp) && !sources.door.sees_everything(&entered.tenant) {
        return Refusal::new(
            StatusCode::FORBIDDEN,
            "operator",
            "these pages show what all clients do; a token is let in that the configuration marks with operator = true",
        )
        .answer();
    }
    match page {
        Own::Health if reads => text(StatusCode::OK, PLAIN, "ok\n".to_owned()),
        Own::Ready if reads => match sources.readiness {
            Readiness::Ready => text(StatusCode::OK, PLAIN, "ready\n".to_owned()),
            Readiness::Stopping => text(StatusCode::SERVICE_UNAVAILABLE, PLAIN, "stopping\n".to_owned()),
        },
        Own::Metrics if reads => text(StatusCode::OK, OPEN_METRICS, sources.metrics.text()),
        Own::Dashboard if reads => sources.dashboard.respond(sources.desk, &entered.path, &request).await,
        // Which methods there are is said there.
        Own::Mcp => sources.dashboard.recall(request).await,
        Own::Health | Own::Ready | Own::Metrics | Own::Dashboard => {
            Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "method", "this page is only read").answer()
        }
        Own::Nothing => Refusal::new(StatusCode::NOT_FOUND, "path", "there is nothing here").answer(),
    }
}

const PLAIN: &str = "text/plain; charset=utf-8";
/// As the exposition format has it.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

fn text(status: StatusCode, content_type: &'static str, text: String) -> Response<Reply> {
    let mut response = Response::new(Reply::whole(Bytes::from(text)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    response
}
