//! The request log: what became of every request, for metrics and log lines. Every request has one record, closed once, however
//! it ends; a record that is dropped before its end is that of a client that went away.

use std::hash::BuildHasher;
use std::hash::RandomState;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::time::Instant;

use http::StatusCode;
use mainstay_llm::answer::Usage;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;

use crate::http::headers::plain;
use crate::http::refusal::HttpRefusal;
use crate::http::response_body::BodyEnding;
use crate::http::response_body::BodyObserver;
use crate::http::usage_reader::UsageReader;
use crate::log::EventLog;
use crate::log::LogLevel;
use crate::metrics::KindLabel;
use crate::metrics::ProxyMetrics;
use crate::metrics::RequestLabels;
use crate::metrics::count;
use crate::session::RequestAction;
use crate::session::RequestNote;
use crate::session::RequestTicket;
use crate::session::fail_open::FailOpenCaller;

/// What all requests write into.
pub struct RequestLog {
    /// The figures.
    pub metrics: ProxyMetrics,
    /// The log.
    pub log: EventLog,
    seed: RandomState,
    numbers: AtomicU64,
}

impl RequestLog {
    /// A log with no request yet.
    pub fn new(log: EventLog) -> Self {
        Self {
            metrics: ProxyMetrics::default(),
            log,
            seed: RandomState::new(),
            numbers: AtomicU64::new(0),
        }
    }

    /// Opens the record of a request that has just come.
    pub fn open(self: &Arc<Self>) -> RequestRecord {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        self.metrics.under_way.inc();
        RequestRecord {
            request_log: Arc::clone(self),
            // Two processes with one log do not share numbers.
            id: format!("{:016x}", self.seed.hash_one(number)),
            began: Instant::now(),
            route: "none",
            upstream: String::new(),
            tenant: String::new(),
            status: 0,
            note: RequestNote::default(),
            received: 0,
            sent: 0,
            added: None,
            retry: None,
            refused: None,
            watch: None,
            first_usage: None,
            ticket: None,
            permits: Vec::new(),
            closed: false,
        }
    }
}

/// The record of one request.
pub struct RequestRecord {
    request_log: Arc<RequestLog>,
    /// By which client, log and operator speak of it.
    pub id: String,
    began: Instant,
    /// What it is for.
    pub route: &'static str,
    /// Where it went.
    pub upstream: String,
    /// Whose it is.
    pub tenant: String,
    /// The status that the client sees.
    pub status: u16,
    /// What was done with it.
    pub note: RequestNote,
    /// Bytes of its body.
    pub received: u64,
    sent: u64,
    added: Option<f64>,
    retry: Option<&'static str>,
    refused: Option<&'static str>,
    /// Reads its answer along.
    pub watch: Option<UsageReader>,
    /// What the first of several answers cost, once it is known: the session has counted its prompt and no other.
    pub first_usage: Option<Arc<OnceLock<Usage>>>,
    /// Whom to tell when the answer is through.
    pub ticket: Option<(FailOpenCaller, RequestTicket)>,
    /// What is given back when it is over.
    pub permits: Vec<OwnedSemaphorePermit>,
    closed: bool,
}

impl RequestRecord {
    /// The log that it is in.
    pub fn request_log(&self) -> Arc<RequestLog> {
        Arc::clone(&self.request_log)
    }

    /// The request goes out: everything until now, since its body was there, was ours.
    pub fn goes_out(&mut self, since: Instant) {
        self.added = Some(since.elapsed().as_secs_f64());
    }

    /// The session gave no answer, for this reason.
    pub fn failed_open(&self, kind: &'static str) {
        count(&self.request_log.metrics.failed_open, kind);
        let fields = [("request", Value::from(self.id.as_str())), ("kind", kind.into())];
        self.request_log.log.say(LogLevel::Error, "failed-open", &fields);
    }

    /// The request goes out once more, in another form.
    pub fn goes_again(&mut self, why: &'static str) {
        self.retry = Some(why);
        count(&self.request_log.metrics.retries, why);
    }

    /// The upstream gave no answer.
    pub fn unanswered(&self, kind: &'static str) {
        count(&self.request_log.metrics.upstream_errors, kind);
    }

    /// The answer begins.
    pub fn begins(&mut self, status: StatusCode) {
        self.status = status.as_u16();
        self.request_log
            .metrics
            .first_byte
            .observe(self.began.elapsed().as_secs_f64());
    }

    /// The request was refused; the record is closed.
    pub fn refused(mut self, refusal: &HttpRefusal) {
        self.status = refusal.status.as_u16();
        self.refused = Some(refusal.code);
        count(&self.request_log.metrics.refused, refusal.code);
        self.close(BodyEnding::Whole);
    }

    /// The request was answered by ourselves; the record is closed.
    pub fn answered(mut self, status: StatusCode) {
        self.status = status.as_u16();
        self.close(BodyEnding::Whole);
    }

    fn close(&mut self, ending: BodyEnding) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        let usage = self.watch.take().and_then(UsageReader::finish);
        let answered = (200..300).contains(&self.status);
        if let Some((caller, ticket)) = self.ticket.take()
            && answered
        {
            let first = self.first_usage.as_ref().and_then(|first| first.get().copied());
            caller.answered(ticket, first.or(usage));
        }
        self.permits.clear();
        self.measure(ending);
        self.tell(ending, usage);
    }

    fn measure(&self, ending: BodyEnding) {
        let metrics = &self.request_log.metrics;
        metrics.under_way.dec();
        let kind = RequestLabels {
            route: self.route,
            status: u32::from(self.status),
            deed: self.note.deed.name(),
        };
        metrics.requests.get_or_create(&kind).inc();
        count(&metrics.endings, ending.name());
        metrics
            .bytes
            .get_or_create(&KindLabel { kind: "in" })
            .inc_by(self.received);
        metrics
            .bytes
            .get_or_create(&KindLabel { kind: "out" })
            .inc_by(self.sent);
        if let Some(added) = self.added {
            metrics.added.observe(added);
        }
        metrics.tokens_before.inc_by(self.note.tokens_before.unwrap_or(0));
        metrics
            .tokens_after
            .inc_by(self.note.tokens_after.or(self.note.tokens_before).unwrap_or(0));
        metrics.trimmed.inc_by(self.note.trimmed);
        if self.note.deed == RequestAction::Compacted {
            metrics.passes.inc();
        }
    }

    fn tell(&self, ending: BodyEnding, usage: Option<Usage>) {
        let went_well = ending == BodyEnding::Whole && (200..400).contains(&self.status);
        let level = match self.note.deed {
            RequestAction::FailedOpen => LogLevel::Warn,
            _ if self.refused.is_some() || self.status >= 500 => LogLevel::Warn,
            RequestAction::Compacted | RequestAction::Repaired => LogLevel::Info,
            _ if !went_well => LogLevel::Info,
            RequestAction::Nothing
            | RequestAction::KnownPrefix
            | RequestAction::Trimmed
            | RequestAction::PassedThrough => LogLevel::Debug,
        };
        let words = |text: &str| Value::from(plain(text));
        let milliseconds = |seconds: f64| Value::from((seconds * 1e6).round() / 1e3);
        let note = &self.note;
        let fields = [
            ("request", words(&self.id)),
            ("route", self.route.into()),
            (
                "upstream",
                Some(&self.upstream)
                    .filter(|name| !name.is_empty())
                    .map(|name| words(name))
                    .into(),
            ),
            (
                "tenant",
                Some(&self.tenant)
                    .filter(|name| !name.is_empty())
                    .map(|name| words(name))
                    .into(),
            ),
            ("status", self.status.into()),
            ("refused", self.refused.into()),
            ("deed", note.deed.name().into()),
            ("reason", note.reason.as_deref().map(words).into()),
            ("conversation", note.conversation.as_deref().map(words).into()),
            ("checkpoint", note.checkpoint.as_deref().map(words).into()),
            ("tokens_before", note.tokens_before.into()),
            ("tokens_after", note.tokens_after.into()),
            ("window", note.window.into()),
            ("pressure", note.pressure.last().copied().into()),
            ("retry", self.retry.into()),
            ("input_tokens", usage.map(|usage| usage.input).into()),
            ("cache_read_tokens", usage.map(|usage| usage.cache_read).into()),
            ("output_tokens", usage.map(|usage| usage.output).into()),
            ("bytes_in", self.received.into()),
            ("bytes_out", self.sent.into()),
            ("added_ms", self.added.map(milliseconds).into()),
            ("took_ms", milliseconds(self.began.elapsed().as_secs_f64())),
            ("ending", ending.name().into()),
        ];
        self.request_log.log.say(level, "request", &fields);
    }
}

impl BodyObserver for RequestRecord {
    fn see(&mut self, bytes: &[u8]) {
        self.sent += bytes.len() as u64;
        if let Some(watch) = &mut self.watch {
            watch.take(bytes);
        }
    }

    fn end(&mut self, ending: BodyEnding) {
        if matches!(ending, BodyEnding::UpstreamBroke | BodyEnding::UpstreamSilent) {
            self.unanswered(ending.name());
        }
        self.close(ending);
    }
}

impl Drop for RequestRecord {
    fn drop(&mut self) {
        self.close(BodyEnding::ClientGone);
    }
}
