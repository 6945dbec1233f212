//! The books: what became of every request, for metrics and the log. Every request has one account, closed once, however it
//! ends; whoever drops it before the end was a client that went away.

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
use crate::http::refusal::Refusal;
use crate::http::response_body::Ending;
use crate::http::response_body::Witness;
use crate::http::usage_reader::Watch;
use crate::log::Level;
use crate::log::Log;
use crate::metrics::Kind;
use crate::metrics::Metrics;
use crate::metrics::Word;
use crate::metrics::count;
use crate::session::Deed;
use crate::session::Note;
use crate::session::Ticket;
use crate::session::fail_open::Desk;

/// What all requests write into.
pub struct Books {
    /// The figures.
    pub metrics: Metrics,
    /// The log.
    pub log: Log,
    seed: RandomState,
    numbers: AtomicU64,
}

impl Books {
    /// Empty books.
    pub fn new(log: Log) -> Self {
        Self {
            metrics: Metrics::default(),
            log,
            seed: RandomState::new(),
            numbers: AtomicU64::new(0),
        }
    }

    /// Opens the account of a request that has just come.
    pub fn open(self: &Arc<Self>) -> Account {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        self.metrics.under_way.inc();
        Account {
            books: Arc::clone(self),
            // Two processes with one log do not share numbers.
            id: format!("{:016x}", self.seed.hash_one(number)),
            began: Instant::now(),
            route: "none",
            upstream: String::new(),
            tenant: String::new(),
            status: 0,
            note: Note::default(),
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

/// The account of one request.
pub struct Account {
    books: Arc<Books>,
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
    pub note: Note,
    /// Bytes of its body.
    pub received: u64,
    sent: u64,
    added: Option<f64>,
    retry: Option<&'static str>,
    refused: Option<&'static str>,
    /// Reads its answer along.
    pub watch: Option<Watch>,
    /// What the first of several answers cost, once it is known: the keeper has counted its prompt and no other.
    pub first_usage: Option<Arc<OnceLock<Usage>>>,
    /// Whom to tell when the answer is through.
    pub ticket: Option<(Desk, Ticket)>,
    /// What is given back when it is over.
    pub permits: Vec<OwnedSemaphorePermit>,
    closed: bool,
}

impl Account {
    /// The books that it is in.
    pub fn books(&self) -> Arc<Books> {
        Arc::clone(&self.books)
    }

    /// The request goes out: everything until now, since its body was there, was ours.
    pub fn goes_out(&mut self, since: Instant) {
        self.added = Some(since.elapsed().as_secs_f64());
    }

    /// Nothing came of asking the keeper, for this reason.
    pub fn failed_open(&self, kind: &'static str) {
        count(&self.books.metrics.failed_open, kind);
        let fields = [("request", Value::from(self.id.as_str())), ("kind", kind.into())];
        self.books.log.say(Level::Error, "failed-open", &fields);
    }

    /// The request goes out once more, in another form.
    pub fn goes_again(&mut self, why: &'static str) {
        self.retry = Some(why);
        count(&self.books.metrics.retries, why);
    }

    /// The upstream gave no answer.
    pub fn unanswered(&self, kind: &'static str) {
        count(&self.books.metrics.upstream_errors, kind);
    }

    /// The answer begins.
    pub fn begins(&mut self, status: StatusCode) {
        self.status = status.as_u16();
        self.books
            .metrics
            .first_byte
            .observe(self.began.elapsed().as_secs_f64());
    }

    /// The request was refused; the account is closed.
    pub fn refused(mut self, refusal: &Refusal) {
        self.status = refusal.status.as_u16();
        self.refused = Some(refusal.code);
        count(&self.books.metrics.refused, refusal.code);
        self.close(Ending::Whole);
    }

    /// The request was answered by ourselves; the account is closed.
    pub fn answered(mut self, status: StatusCode) {
        self.status = status.as_u16();
        self.close(Ending::Whole);
    }

    fn close(&mut self, ending: Ending) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        let usage = self.watch.take().and_then(Watch::finish);
        let answered = (200..300).contains(&self.status);
        if let Some((desk, ticket)) = self.ticket.take()
            && answered
        {
            let first = self.first_usage.as_ref().and_then(|first| first.get().copied());
            desk.answered(ticket, first.or(usage));
        }
        self.permits.clear();
        self.measure(ending);
        self.tell(ending, usage);
    }

    fn measure(&self, ending: Ending) {
        let metrics = &self.books.metrics;
        metrics.under_way.dec();
        let kind = Kind {
            route: self.route,
            status: u32::from(self.status),
            deed: self.note.deed.name(),
        };
        metrics.requests.get_or_create(&kind).inc();
        count(&metrics.endings, ending.name());
        metrics.bytes.get_or_create(&Word { kind: "in" }).inc_by(self.received);
        metrics.bytes.get_or_create(&Word { kind: "out" }).inc_by(self.sent);
        if let Some(added) = self.added {
            metrics.added.observe(added);
        }
        metrics.tokens_before.inc_by(self.note.tokens_before.unwrap_or(0));
        metrics
            .tokens_after
            .inc_by(self.note.tokens_after.or(self.note.tokens_before).unwrap_or(0));
        metrics.trimmed.inc_by(self.note.trimmed);
        if self.note.deed == Deed::Compacted {
            metrics.passes.inc();
        }
    }

    fn tell(&self, ending: Ending, usage: Option<Usage>) {
        let went_well = ending == Ending::Whole && (200..400).contains(&self.status);
        let level = match self.note.deed {
            Deed::FailedOpen => Level::Warn,
            _ if self.refused.is_some() || self.status >= 500 => Level::Warn,
            Deed::Compacted | Deed::Repaired => Level::Info,
            _ if !went_well => Level::Info,
            Deed::Nothing | Deed::KnownPrefix | Deed::Trimmed | Deed::PassedThrough => Level::Debug,
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
        self.books.log.say(level, "request", &fields);
    }
}

impl Witness for Account {
    fn see(&mut self, bytes: &[u8]) {
        self.sent += bytes.len() as u64;
        if let Some(watch) = &mut self.watch {
            watch.take(bytes);
        }
    }

    fn end(&mut self, ending: Ending) {
        if matches!(ending, Ending::UpstreamBroke | Ending::UpstreamSilent) {
            self.unanswered(ending.name());
        }
        self.close(ending);
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.close(Ending::ClientGone);
    }
}
