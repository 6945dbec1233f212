//! Our own pages, below `/mainstay`. Whoever gets here was let in (`auth`): the host is known, no foreign page asks, and
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

use crate::http::auth::AdmittedRequest;
use crate::http::auth::AuthPolicy;
use crate::http::refusal::HttpRefusal;
use crate::http::response_body::ResponseBody;
use crate::http::routing::InternalRoute;
use crate::metrics::ProxyMetrics;
use crate::pages::dashboard::Dashboard;
use crate::session::fail_open::FailOpenCaller;

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
    pub(crate) metrics: &'a ProxyMetrics,
    pub(crate) auth: &'a AuthPolicy,
    pub(crate) caller: &'a FailOpenCaller,
    pub(crate) dashboard: &'a Dashboard,
}

/// Answers a request for one of our pages.
pub(crate) async fn page(
    sources: &PageSources<'_>,
    page: InternalRoute,
    entered: &AdmittedRequest,
    request: Request<Incoming>,
) -> Response<ResponseBody> {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if matches!(page, InternalRoute::Dashboard | InternalRoute::Mcp) && !sources.auth.sees_everything(&entered.tenant) {
        return HttpRefusal::new(
            StatusCode::FORBIDDEN,
            "operator",
            "these pages show what all clients do; a token is let in that the configuration marks with operator = true",
        )
        .answer();
    }
    match page {
        InternalRoute::Health if reads => text(StatusCode::OK, PLAIN, "ok\n".to_owned()),
        InternalRoute::Ready if reads => match sources.readiness {
            Readiness::Ready => text(StatusCode::OK, PLAIN, "ready\n".to_owned()),
            Readiness::Stopping => text(StatusCode::SERVICE_UNAVAILABLE, PLAIN, "stopping\n".to_owned()),
        },
        InternalRoute::Metrics if reads => text(StatusCode::OK, OPEN_METRICS, sources.metrics.text()),
        InternalRoute::Dashboard if reads => sources.dashboard.respond(sources.caller, &entered.path, &request).await,
        // Which methods there are is said there.
        InternalRoute::Mcp => sources.dashboard.recall(request).await,
        InternalRoute::Health | InternalRoute::Ready | InternalRoute::Metrics | InternalRoute::Dashboard => {
            HttpRefusal::new(StatusCode::METHOD_NOT_ALLOWED, "method", "this page is only read").answer()
        }
        InternalRoute::Nothing => HttpRefusal::new(StatusCode::NOT_FOUND, "path", "there is nothing here").answer(),
    }
}

const PLAIN: &str = "text/plain; charset=utf-8";
/// As the exposition format has it.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

fn text(status: StatusCode, content_type: &'static str, text: String) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::whole(Bytes::from(text)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    response
}
