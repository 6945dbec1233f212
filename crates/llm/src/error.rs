//! Why a request came to nothing: what happened, where, and what can be done about it.

use std::fmt;
use std::time::Duration;

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// 401: the key is missing or wrong.
    Unauthorized,
    /// 403: the key may not do this.
    Forbidden,
    /// 402, or a quota that is used up: waiting does not help.
    QuotaUsedUp,
    /// 404: no such address or model.
    NotFound,
    /// 429: too many requests.
    RateLimited,
    /// 503, 529: the provider has too much to do.
    Overloaded,
    /// Any other status of 500 and above, with the status.
    ServerError(u16),
    /// The prompt is longer than the model's window.
    TooLong,
    /// Any other refusal of the request, with the status.
    BadRequest(u16),
    /// Nobody listens there, or there is no such host.
    Unreachable,
    /// The connection broke.
    Broken,
    /// Too slow: the connection, the next piece, or the whole answer. 408 too.
    TimedOut,
    /// The answer is no answer of this form: wrong type, malformed, cut off.
    Malformed,
    /// The answer is longer than it may be.
    TooLarge,
    /// No recorded answer to this request.
    NotRecorded,
    /// A body that goes out as it is does not fit the endpoint's form.
    WrongForm,
}

/// A request that came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What happened.
    pub cause: Cause,
    /// Which model was asked, as the configuration calls it.
    pub model: String,
    /// The endpoint's address, without anything secret.
    pub url: String,
    /// What the provider or the connection said, shortened, without the key.
    pub detail: String,
    /// How long the provider asked to be left alone.
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// Whether asking the same again may help.
    pub fn may_pass(&self) -> bool {
        match self.cause {
            Cause::RateLimited
            | Cause::Overloaded
            | Cause::ServerError(_)
            | Cause::Broken
            | Cause::TimedOut
            | Cause::Unreachable
            | Cause::Malformed => true,
            Cause::Unauthorized
            | Cause::Forbidden
            | Cause::QuotaUsedUp
            | Cause::NotFound
            | Cause::TooLong
            | Cause::BadRequest(_)
            | Cause::TooLarge
            | Cause::NotRecorded
            | Cause::WrongForm => false,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at {}: {:?}", self.model, self.url, self.cause)
    }
}

impl std::error::Error for Failure {}
