//! Why a request came to nothing: what happened, where, and what can be done about it.
//!
//! A [`Failure`] is one line for people. It never holds a key: whoever makes one hides the endpoint's secrets first.

use std::fmt;
use std::time::Duration;

use crate::answer::Usage;
use crate::model::Model;

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
    /// The server's certificate is not trusted.
    Untrusted,
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
    /// The endpoint's address or headers cannot be used, or would give a key away.
    BadEndpoint,
    /// The provider gave up on a batched request: it expired or was cancelled.
    NotRun,
    /// A file of recorded answers cannot be read or written.
    Cassette,
}

/// What went wrong, before it is known whom it happened with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What happened.
    pub cause: Cause,
    /// What the provider or the connection said.
    pub detail: String,
    /// What was paid for nothing, where the provider said so.
    pub usage: Option<Usage>,
}

impl Trouble {
    /// Trouble that cost nothing.
    pub fn new(cause: Cause, detail: impl Into<String>) -> Self {
        Self {
            cause,
            detail: detail.into(),
            usage: None,
        }
    }

    /// The answer is none of its form.
    pub fn malformed(detail: impl Into<String>) -> Self {
        Self::new(Cause::Malformed, detail)
    }

    /// The same, with what it cost.
    pub fn costing(mut self, usage: Option<Usage>) -> Self {
        self.usage = usage;
        self
    }
}

/// A request that came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What happened.
    pub cause: Cause,
    /// Which model was asked, as the configuration calls it.
    pub model: String,
    /// What the endpoint calls it.
    pub id: String,
    /// The endpoint's address, without anything secret.
    pub url: String,
    /// What the provider or the connection said, shortened, without the key.
    pub detail: String,
    /// The status, where there was an answer.
    pub status: Option<u16>,
    /// How long the provider asked to be left alone.
    pub retry_after: Option<Duration>,
    /// Whether the provider itself says that asking again helps.
    pub should_retry: Option<bool>,
    /// What was paid for nothing, where the provider said so.
    pub usage: Option<Usage>,
    /// Where the key comes from; `None` when there is no key or its origin is unknown.
    pub key_origin: Option<String>,
}

/// How much of a provider's words is shown: enough for every message we have seen, less than a screen.
const MOST_DETAIL: usize = 300;

impl Failure {
    /// What happened with a model. Secrets are hidden and the words made fit for one line.
    pub fn new(model: &Model, trouble: Trouble) -> Self {
        Self {
            cause: trouble.cause,
            model: model.name.clone(),
            id: model.id.clone(),
            url: model.endpoint.shown_url(),
            // Hidden first: a cut may leave half of a key.
            detail: one_line(&model.endpoint.hide_in(&trouble.detail)),
            status: None,
            retry_after: None,
            should_retry: None,
            usage: trouble.usage,
            key_origin: model.endpoint.key_origin.clone(),
        }
    }

    /// Whether asking the same again may help.
    pub fn may_pass(&self) -> bool {
        let by_cause = match self.cause {
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
            | Cause::WrongForm
            | Cause::Untrusted
            | Cause::BadEndpoint
            | Cause::NotRun
            | Cause::Cassette => false,
        };
        self.should_retry.unwrap_or(by_cause)
    }

    /// Whether every later request to this model will fail alike.
    pub fn is_for_good(&self) -> bool {
        matches!(
            self.cause,
            Cause::Unauthorized | Cause::Forbidden | Cause::QuotaUsedUp | Cause::NotFound | Cause::BadEndpoint
        )
    }
}

/// A text without control characters and line breaks, and not longer than a few lines.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::new();
    let mut shown = 0;
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        for c in word.chars().filter(|c| !is_invisible(*c)) {
            if shown >= MOST_DETAIL {
                line.push('…');
                return line;
            }
            line.push(c);
            shown += 1;
        }
        if !word.is_empty() {
            line.push(' ');
            shown += 1;
        }
    }
    line.truncate(line.trim_end().len());
    line
}

/// Marks that turn the direction of text around, which can make a line in a terminal read as another.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.model == self.id {
            write!(formatter, "{} at {}: ", self.model, self.url)?;
        } else {
            write!(formatter, "{} ({} at {}): ", self.model, self.id, self.url)?;
        }
        if let Some(status) = self.status.filter(|status| *status >= 300) {
            write!(formatter, "{status}, ")?;
        }
        formatter.write_str(self.what())?;
        if !self.detail.is_empty() {
            write!(formatter, ": {}", self.detail)?;
        }
        if let Some(advice) = self.advice() {
            write!(formatter, "; {advice}")?;
        }
        Ok(())
    }
}

impl Failure {
    fn what(&self) -> &'static str {
        match self.cause {
            Cause::Unauthorized => "the key was refused",
            Cause::Forbidden => "the key may not do this",
            Cause::QuotaUsedUp => "the quota or credit is used up",
            Cause::NotFound => "no such address or model",
            Cause::RateLimited => "too many requests",
            Cause::Overloaded => "the provider is overloaded",
            Cause::ServerError(_) => "the provider failed",
            Cause::TooLong => "the prompt is longer than the model's window",
            Cause::BadRequest(_) => "the request was refused",
            Cause::Unreachable => "nobody answers at this address",
            Cause::Untrusted => "the server's certificate is not trusted",
            Cause::Broken => "the connection broke",
            Cause::TimedOut => "too slow",
            Cause::Malformed => "this is no answer",
            Cause::TooLarge => "the answer is longer than it may be",
            Cause::NotRecorded => "no recorded answer",
            Cause::WrongForm => "the request is in another form than this endpoint's",
            Cause::BadEndpoint => "this endpoint cannot be used",
            Cause::NotRun => "the provider did not run the request",
            Cause::Cassette => "recorded answers cannot be used",
        }
    }

    fn advice(&self) -> Option<String> {
        let key = self.key_origin.as_deref();
        match self.cause {
            Cause::Unauthorized | Cause::Forbidden => Some(match key {
                Some(origin) => format!("check {origin}"),
                None => "no key is configured for this endpoint, or its origin is unknown".to_owned(),
            }),
            Cause::QuotaUsedUp => Some("check plan and billing of the account".to_owned()),
            Cause::NotFound => Some("check the address and the model's name".to_owned()),
            Cause::RateLimited | Cause::Overloaded => {
                let wait = self.retry_after?;
                Some(format!("it asks to wait {} s", wait.as_secs_f64().ceil()))
            }
            Cause::Unreachable => Some("check the address, and that the server runs".to_owned()),
            Cause::Untrusted => Some("check the address, or make its authority known to this machine".to_owned()),
            Cause::NotRecorded => Some("record it first".to_owned()),
            _ => None,
        }
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use mainstay_wire::reading::WireForm;

    use super::*;
    use crate::model::Endpoint;
    use crate::secret::Secret;

    fn model() -> Model {
        let mut endpoint = Endpoint::new("openai", "https://me:pw@api.example.com/v1/?token=abc", WireForm::Chat);
        endpoint.key = Some(Secret::new("sk-very-secret-key"));
        endpoint.key_origin = Some("environment variable OPENAI_API_KEY".to_owned());
        endpoint.headers = vec![("x-gateway".to_owned(), "another-long-secret".to_owned())];
        Model::new("fast", "gpt-5-mini", endpoint, 1000, 100)
    }

    #[test]
    fn a_failure_is_one_line_that_says_what_where_and_what_to_do() {
        let mut failure = Failure::new(
            &model(),
            Trouble::new(
                Cause::Unauthorized,
                "Incorrect API key\r\nprovided:\u{1b}[31m sk-very-secret-key",
            ),
        );
        failure.status = Some(401);
        assert_eq!(
            failure.to_string(),
            "fast (gpt-5-mini at https://api.example.com/v1): 401, the key was refused: Incorrect API key provided: \
             [31m [key]; check environment variable OPENAI_API_KEY"
        );
    }

    #[test]
    fn no_secret_survives_a_cut_or_an_echo() {
        let filler = "word ".repeat(58);
        let text = format!("{filler} 12345 sk-very-secret-key another-long-secret tail");
        let failure = Failure::new(&model(), Trouble::new(Cause::Broken, text));
        let shown = format!("{failure} {failure:?} {:?}", model().endpoint.key);
        assert!(!shown.contains("sk-very") && !shown.contains("another-long"), "{shown}");
        assert!(shown.contains('…'));
    }

    #[test]
    fn what_the_provider_says_about_asking_again_counts() {
        let mut failure = Failure::new(&model(), Trouble::new(Cause::ServerError(500), ""));
        assert!(failure.may_pass());
        failure.should_retry = Some(false);
        assert!(!failure.may_pass());
    }
}
