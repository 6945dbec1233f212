//! A request to an upstream: its method, address and headers; sends it with a body and waits for the head of the answer.

use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::Method;
use http::Request;
use http::Response;
use http::StatusCode;
use http::Uri;
use http_body_util::BodyExt;
use http_body_util::Full;
use hyper::body::Incoming;
use mainstay_llm::relay::Outbound;
use mainstay_llm::relay::Relay;
use mainstay_llm::relay::RelayError;
use tokio::time::timeout;

use crate::http::refusal::HttpRefusal;

/// The head of a request on its way.
pub struct UpstreamRequest {
    /// The method.
    pub method: Method,
    /// The address.
    pub target: Uri,
    /// The headers.
    pub headers: HeaderMap,
}

impl UpstreamRequest {
    /// The same once more.
    pub fn again(&self) -> Self {
        Self {
            method: self.method.clone(),
            target: self.target.clone(),
            headers: self.headers.clone(),
        }
    }

    /// Sends it with a body. The upstream may say nothing for this long.
    pub async fn send(
        self,
        relay: &Relay,
        silence: Duration,
        body: Outbound,
    ) -> Result<Response<Incoming>, HttpRefusal> {
        let mut request = Request::new(body);
        *request.method_mut() = self.method;
        *request.uri_mut() = self.target;
        *request.headers_mut() = self.headers;
        match timeout(silence, relay.send(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(unanswered(&error)),
            Err(_) => {
                let words = "the upstream said nothing for too long";
                Err(HttpRefusal::new(StatusCode::GATEWAY_TIMEOUT, "upstream-silent", words))
            }
        }
    }
}

/// A body that is there.
pub fn whole(body: Bytes) -> Outbound {
    Box::pin(Full::new(body).map_err(|never| match never {}))
}

fn unanswered(error: &RelayError) -> HttpRefusal {
    let code = match error {
        RelayError::OutOfBounds(_) => "upstream-out-of-bounds",
        RelayError::Unreachable(_) => "upstream-unreachable",
        _ => "upstream-broke",
    };
    HttpRefusal::new(
        StatusCode::BAD_GATEWAY,
        code,
        format!("the upstream gave no answer: {error}"),
    )
}
