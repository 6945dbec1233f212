//! One request, one attempt: the socket.
//!
//! A key goes to its endpoint and nowhere else: over TLS or to this machine itself, through no proxy that the environment
//! names, after no redirect. Nothing takes longer or more memory than the endpoint's limits say. TLS is built here with one
//! cryptographic provider; no global state is touched.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::time::Instant;
use tokio::time::timeout_at;

use crate::address;
use crate::answer::Answer;
use crate::answer::Stop;
use crate::cassette;
use crate::cassette::Cassette;
use crate::cassette::Exchange;
use crate::cassette::Kept;
use crate::cassette::Mode;
use crate::cassette::Place;
use crate::error::Cause;
use crate::error::Failure;
use crate::error::Trouble;
use crate::exchange;
use crate::exchange::Head;
use crate::exchange::Intake;
use crate::exchange::Wanted;
use crate::forms;
use crate::gate::Gate;
use crate::gate::Verdict;
use crate::model::Endpoint;
use crate::model::Limits;
use crate::model::Model;
use crate::overflow;
use crate::price::Run;
use crate::price::Spent;
use crate::price::Tally;
use crate::prompt::Question;
use crate::retry::moment_after;

/// Asks models. One is enough for a program: it counts requests an endpoint, and what they cost.
#[derive(Debug, Default)]
pub struct Client {
    /// One connector for each limit on connecting, which is all that they differ in.
    connectors: Mutex<BTreeMap<Duration, reqwest::Client>>,
    gates: Mutex<BTreeMap<(String, String), Arc<Gate>>>,
    cassette: Option<Arc<Cassette>>,
    tally: Tally,
}

/// What became of one request: the head of its answer, where there was one, the body where it is to be kept, and what it
/// came to.
struct Outcome {
    head: Option<Head>,
    body: Vec<u8>,
    result: Result<Answer, Trouble>,
}

impl Outcome {
    /// Nothing came back.
    fn nothing(trouble: Trouble) -> Self {
        Self {
            head: None,
            body: Vec::new(),
            result: Err(trouble),
        }
    }
}

impl Client {
    /// A client.
    pub fn new() -> Self {
        Self::default()
    }

    /// A client that records answers, or has recorded ones.
    pub fn with_cassette(cassette: Arc<Cassette>) -> Self {
        Self {
            cassette: Some(cassette),
            ..Self::default()
        }
    }

    /// What was spent so far. Recorded answers cost nothing.
    pub fn spent(&self) -> Spent {
        self.tally.sum()
    }

    /// Asks a model once. Waits for its turn first; the limits of time count from then.
    pub async fn ask(&self, model: &Model, question: &Question) -> Result<Answer, Failure> {
        self.ask_soon(model, question, model.endpoint.limits.total).await
    }

    /// The same, unless the provider asked everybody to wait longer than this: then nothing is sent.
    pub(crate) async fn ask_soon(
        &self,
        model: &Model,
        question: &Question,
        most_wait: Duration,
    ) -> Result<Answer, Failure> {
        let result = self.ask_or_replay(model, question, most_wait).await;
        result.map(|answer| Answer {
            stop: stop(question, &answer),
            ..answer
        })
    }

    async fn ask_or_replay(&self, model: &Model, question: &Question, most_wait: Duration) -> Result<Answer, Failure> {
        let refused = |trouble| Failure::new(model, trouble);
        let body = request_body(model, question).map_err(refused)?;
        let Some(cassette) = &self.cassette else {
            return self.ask_live(model, body, most_wait, None).await;
        };
        let path = address::address(&model.endpoint).map_err(refused)?.path().to_owned();
        let mut place = cassette.place(cassette::key(model.endpoint.form, &path, &body));
        match place.replay() {
            Some(exchange) => replayed(model, &exchange),
            None if cassette.mode() == Mode::Replay => {
                let detail = format!("request {} to {path}", place.name());
                Err(refused(Trouble::new(Cause::NotRecorded, detail)))
            }
            None => {
                self.ask_live(model, body, most_wait, Some((cassette.kept, place)))
                    .await
            }
        }
    }

    async fn ask_live(
        &self,
        model: &Model,
        body: String,
        most_wait: Duration,
        place: Option<(Kept, Place<'_>)>,
    ) -> Result<Answer, Failure> {
        let entered = self.gate(&model.endpoint).enter(most_wait).await;
        let pass = entered.map_err(|left| {
            let trouble = Trouble::new(Cause::RateLimited, "nothing was sent, as it asked to be left alone");
            let mut failure = Failure::new(model, trouble);
            failure.retry_after = Some(left);
            failure
        })?;
        let outcome = self.exchange(model, body, place.is_some()).await;
        let result = outcome.result.and_then(|answer| fitting(model, answer));
        let mut result = result.map_err(|trouble| failure(model, outcome.head.as_ref(), trouble));
        let echoes_key = result.as_mut().is_ok_and(|answer| hide_key(model, answer));
        pass.leave(verdict(&result));
        match &result {
            Ok(answer) => self.tally.add(model, answer.usage.as_ref(), Run::Live),
            Err(Failure { usage: Some(usage), .. }) => self.tally.add(model, Some(usage), Run::Live),
            Err(_) => {}
        }
        if let (Some((kept, place)), Some(head)) = (place, &outcome.head)
            && (result.is_ok() || kept == Kept::Everything)
            && !echoes_key
        {
            let body = String::from_utf8_lossy(&outcome.body);
            let body = match &result {
                Ok(_) => model.endpoint.hide_in_answer(&body),
                Err(_) => model.endpoint.hide_in(&body),
            };
            place.record(head, body).map_err(|error| {
                let paid = result.as_ref().ok().and_then(|answer| answer.usage);
                Failure::new(model, Trouble::new(Cause::Cassette, error.to_string()).costing(paid))
            })?;
        }
        result
    }

    /// The gate of an endpoint.
    pub fn gate(&self, endpoint: &Endpoint) -> Arc<Gate> {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        let gate = gates.entry((endpoint.name.clone(), endpoint.url.clone()));
        Arc::clone(gate.or_insert_with(|| Gate::new(endpoint.limits.at_once)))
    }

    async fn exchange(&self, model: &Model, body: String, keeps: bool) -> Outcome {
        let ready = address::address(&model.endpoint).and_then(|url| {
            let headers = address::headers(&model.endpoint)?;
            let connector = self.connector(model.endpoint.limits.connect)?;
            Ok(connector.post(url).headers(headers).body(body))
        });
        let request = match ready {
            Ok(request) => request,
            Err(trouble) => return Outcome::nothing(trouble),
        };
        let clock = Clock::start(&model.endpoint.limits);
        // Connecting has a limit of its own and comes before the wait for the first piece.
        let patience = clock.limits.idle.saturating_add(clock.limits.connect);
        let response = match clock.within(patience, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Outcome::nothing(transport(&error)),
            Err(trouble) => return Outcome::nothing(trouble),
        };
        let head = head(&response);
        let mut kept = keeps.then(Vec::new);
        let result = take_body(model, head.clone(), response, &clock, &mut kept).await;
        Outcome {
            head: Some(head),
            body: kept.unwrap_or_default(),
            result,
        }
    }

    fn connector(&self, connect: Duration) -> Result<reqwest::Client, Trouble> {
        let mut connectors = self.connectors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connector) = connectors.get(&connect) {
            return Ok(connector.clone());
        }
        let connector = open_connector(connect)?;
        connectors.insert(connect, connector.clone());
        Ok(connector)
    }
}

async fn take_body(
    model: &Model,
    head: Head,
    mut response: reqwest::Response,
    clock: &Clock,
    kept: &mut Option<Vec<u8>>,
) -> Result<Answer, Trouble> {
    let mut intake = Intake::new(model.endpoint.form, head, model.endpoint.limits.bytes);
    loop {
        let piece = match clock.within(clock.limits.idle, response.chunk()).await {
            Ok(Ok(piece)) => piece,
            Ok(Err(error)) => return intake.broken(transport(&error)),
            Err(trouble) => return intake.broken(trouble),
        };
        let Some(piece) = piece else {
            return intake.finish();
        };
        if let Some(kept) = kept {
            kept.extend_from_slice(&piece);
        }
        if intake.take(&piece)? == Wanted::NoMore {
            return intake.finish();
        }
    }
}

/// When a request has to be done.
struct Clock {
    limits: Limits,
    end: Instant,
}

impl Clock {
    fn start(limits: &Limits) -> Self {
        Self {
            limits: *limits,
            end: moment_after(limits.total),
        }
    }

    async fn within<T>(&self, idle: Duration, future: impl Future<Output = T>) -> Result<T, Trouble> {
        let pause = moment_after(idle);
        timeout_at(pause.min(self.end), future).await.map_err(|_| {
            let detail = if self.end <= pause {
                format!("no whole answer within {:?}", self.limits.total)
            } else {
                format!("nothing came for {idle:?}")
            };
            Trouble::new(Cause::TimedOut, detail)
        })
    }
}

fn request_body(model: &Model, question: &Question) -> Result<String, Trouble> {
    let own = model.endpoint.form;
    match question {
        Question::Prompt(prompt) => Ok(forms::body(model, prompt)),
        Question::Body { form, body } if *form == own => Ok(body.clone()),
        Question::Body { form, .. } => Err(Trouble::new(
            Cause::WrongForm,
            format!("it is {}, and the endpoint speaks {}", form.name(), own.name()),
        )),
    }
}

/// An answer to a prompt that fitted. One to a prompt that the provider silently cut is worse than none.
fn fitting(model: &Model, answer: Answer) -> Result<Answer, Trouble> {
    match answer.usage {
        Some(usage) if overflow::is_silent_overflow(&usage, answer.stop, model.window) => {
            let detail = format!("it counts {} tokens, and the window has {}", usage.input, model.window);
            Err(Trouble::new(Cause::TooLong, detail).costing(answer.usage))
        }
        _ => Ok(answer),
    }
}

/// Why an answer ends. Some servers say that it was done when it has run into the limit to the token.
fn stop(question: &Question, answer: &Answer) -> Stop {
    let limit = match question {
        Question::Prompt(prompt) => prompt.most_tokens,
        Question::Body { .. } => None,
    };
    match (answer.stop, answer.usage, limit) {
        (Stop::End, Some(usage), Some(limit)) if usage.output >= limit => Stop::Length,
        (stop, _, _) => stop,
    }
}

/// Takes the key out of an answer and says whether it was there. A stream has it in pieces in which it cannot be found, so
/// such an answer is not recorded either.
fn hide_key(model: &Model, answer: &mut Answer) -> bool {
    let hidden = model.endpoint.hide_in_answer(&answer.text);
    let echoed = hidden != answer.text;
    answer.text = hidden;
    echoed
}

/// What a recorded exchange comes to.
fn replayed(model: &Model, exchange: &Exchange) -> Result<Answer, Failure> {
    let head = exchange.head();
    let mut intake = Intake::new(model.endpoint.form, head.clone(), model.endpoint.limits.bytes);
    let taken = intake.take(exchange.body.as_bytes());
    let result = taken
        .and_then(|_| intake.finish())
        .and_then(|answer| fitting(model, answer));
    result.map_err(|trouble| failure(model, Some(&head), trouble))
}

fn failure(model: &Model, head: Option<&Head>, trouble: Trouble) -> Failure {
    let mut failure = Failure::new(model, trouble);
    if let Some(head) = head {
        failure.status = Some(head.status);
        failure.retry_after = head.retry_after;
        failure.should_retry = head.should_retry;
    }
    failure
}

fn verdict(result: &Result<Answer, Failure>) -> Verdict {
    match result {
        Ok(_) => Verdict::Well,
        Err(failure) => match failure.cause {
            Cause::RateLimited | Cause::Overloaded | Cause::TimedOut => Verdict::PushedBack(failure.retry_after),
            _ => Verdict::Neither,
        },
    }
}

fn open_connector(connect: Duration) -> Result<reqwest::Client, Trouble> {
    let unusable = |error: &dyn Error| Trouble::new(Cause::BadEndpoint, format!("TLS cannot be set up: {error}"));
    let mut tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .map_err(|error| unusable(&error))?
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
        .referer(false)
        .connect_timeout(connect)
        // Servers close connections that they had promised to keep. A request that meets such an end cannot be told from
        // one that was run and paid, so every request has a connection of its own; next to an answer it costs nothing.
        .pool_max_idle_per_host(0)
        .user_agent(concat!("mainstay/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| unusable(&error))
}

fn head(response: &reqwest::Response) -> Head {
    let text = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
    Head {
        status: response.status().as_u16(),
        content_type: text("content-type").unwrap_or("").to_owned(),
        encoding: text("content-encoding")
            .filter(|encoding| *encoding != "identity")
            .map(str::to_owned),
        retry_after: exchange::wait_asked_for(text("retry-after-ms"), text("retry-after"), text("date")),
        should_retry: text("x-should-retry").and_then(|advice| advice.parse().ok()),
        location: text("location").map(str::to_owned),
    }
}

/// What a failing connection means. The innermost cause says most, and no layer may repeat the address.
fn transport(error: &reqwest::Error) -> Trouble {
    let mut cause: &dyn Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let kind = if is_untrusted(error) {
        Cause::Untrusted
    } else if error.is_timeout() {
        Cause::TimedOut
    } else if error.is_connect() {
        Cause::Unreachable
    } else if error.is_builder() {
        Cause::BadEndpoint
    } else {
        Cause::Broken
    };
    Trouble::new(kind, cause.to_string())
}

/// Whether a connection failed because the server's certificate does not convince.
fn is_untrusted(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(current) = cause {
        if let Some(tls) = current.downcast_ref::<rustls::Error>() {
            return matches!(tls, rustls::Error::InvalidCertificate(_));
        }
        // An I/O error does not name what it wraps as its source.
        let wrapped = current.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        cause = match wrapped {
            Some(wrapped) => Some(wrapped),
            None => current.source(),
        };
    }
    false
}

#[cfg(test)]
mod tests {
    use rustls::CertificateError;

    use super::*;

    #[test]
    fn a_certificate_that_does_not_convince_is_told_from_other_trouble() {
        let refused = rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer);
        assert!(is_untrusted(&io::Error::other(refused)));
        assert!(is_untrusted(&io::Error::other(io::Error::other(
            rustls::Error::InvalidCertificate(CertificateError::Expired)
        ))));
        assert!(!is_untrusted(&io::Error::other(rustls::Error::DecryptError)));
        assert!(!is_untrusted(&io::Error::from(io::ErrorKind::ConnectionRefused)));
    }
}
