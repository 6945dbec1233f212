//! Refusals: the error responses of the proxy itself, and the only place where our own failures become HTTP.
//!
//! In the shape that both families of providers use, so that agents show the words. The words are fixed texts and names that the
//! operator gave: nothing of the request, no key and no address is repeated.

use bytes::Bytes;
use http::HeaderValue;
use http::Response;
use http::StatusCode;
use http::header::CONNECTION;
use http::header::CONTENT_TYPE;
use http::header::RETRY_AFTER;

use crate::http::response_body::ResponseBody;

/// Why a request goes no further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRefusal {
    /// The status.
    pub status: StatusCode,
    /// One word for it, for clients and metrics.
    pub code: &'static str,
    /// What is wrong, and what to do.
    pub words: String,
    retry_after: Option<u32>,
    closes: bool,
}

impl HttpRefusal {
    /// A refusal after which the connection may go on.
    pub fn new(status: StatusCode, code: &'static str, words: impl Into<String>) -> Self {
        Self {
            status,
            code,
            words: words.into(),
            retry_after: None,
            closes: false,
        }
    }

    /// The client may come again after so many seconds.
    pub fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// The connection ends with it: where the next request begins is not to be trusted, or not worth waiting for.
    pub fn closing(mut self) -> Self {
        self.closes = true;
        self
    }

    /// As an answer.
    pub fn answer(&self) -> Response<ResponseBody> {
        let body = serde_json::json!({
            "type": "error",
            "error": {"type": "mainstay_error", "code": self.code, "message": format!("mainstay: {}", self.words)},
        });
        let mut response = Response::new(ResponseBody::whole(Bytes::from(body.to_string())));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert("x-mainstay-error", HeaderValue::from_static(self.code));
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.closes {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}
