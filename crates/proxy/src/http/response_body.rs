//! Bodies of answers: our own, those of upstreams that pass through piece by piece as they arrive, and those that are composed
//! of several answers. Each tells its observer once how it ended.

use std::collections::VecDeque;
use std::error::Error;
use std::future::Pending;
use std::future::pending;
use std::pin::Pin;
use std::task::Context;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http_body::Body;
use http_body::Frame;
use http_body::SizeHint;
use hyper::body::Incoming;
use tokio::sync::mpsc;
use tokio::time::Timeout;
use tokio::time::timeout;

/// Why a body ends before its end.
pub type BodyError = Box<dyn Error + Send + Sync>;

/// Whoever looks at an answer while it passes. Told once how it ended.
pub trait BodyObserver: Send {
    /// The next bytes.
    fn see(&mut self, bytes: &[u8]);
    /// It is over.
    fn end(&mut self, ending: BodyEnding);
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyEnding {
    /// As it should.
    Whole,
    /// The upstream broke off.
    UpstreamBroke,
    /// The upstream said nothing for too long.
    UpstreamSilent,
    /// The client went away.
    ClientGone,
}

impl BodyEnding {
    /// In a word, for logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            BodyEnding::Whole => "whole",
            BodyEnding::UpstreamBroke => "upstream-broke",
            BodyEnding::UpstreamSilent => "upstream-silent",
            BodyEnding::ClientGone => "client-gone",
        }
    }
}

/// The body of an answer to a client.
pub enum ResponseBody {
    /// Our own.
    Whole(Option<Bytes>),
    /// An upstream's.
    Upstream(Box<UpstreamBody>),
}

impl ResponseBody {
    /// A body of our own.
    pub fn whole(bytes: Bytes) -> Self {
        ResponseBody::Whole(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match &mut *self {
            ResponseBody::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            ResponseBody::Upstream(passing) => passing.poll(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            ResponseBody::Whole(bytes) => bytes.is_none(),
            ResponseBody::Upstream(passing) => passing.is_over(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            ResponseBody::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            // The upstream's own header says how long it is.
            ResponseBody::Upstream(_) => SizeHint::default(),
        }
    }
}

/// What is left of an upstream's body.
pub enum RemainingBody {
    /// What has not come yet.
    Live(Incoming),
    /// What is put together of several answers while it is asked for.
    Composed(Box<ComposedBody>),
    /// Nothing but trailers, if there are any.
    Trailers(Option<HeaderMap>),
    /// Nothing: it broke off.
    Broken(Option<BodyError>),
    /// Nothing.
    Over,
}

/// What a client gets next of a body.
pub type BodyPiece = Result<Frame<Bytes>, BodyError>;

/// A body that is put together while it is asked for. Dropping it drops the requests that are under way for it: the work runs
/// only while somebody polls, and nowhere else.
pub struct ComposedBody {
    work: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    pieces: mpsc::Receiver<BodyPiece>,
}

impl ComposedBody {
    /// The pieces that this work sends. It is over when the work is and no piece is left.
    pub fn new(work: impl Future<Output = ()> + Send + 'static, pieces: mpsc::Receiver<BodyPiece>) -> Self {
        Self {
            work: Some(Box::pin(work)),
            pieces,
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<BodyPiece>> {
        loop {
            if let Poll::Ready(piece) = self.pieces.poll_recv(context) {
                return Poll::Ready(piece);
            }
            let Some(work) = &mut self.work else {
                return Poll::Ready(None);
            };
            match work.as_mut().poll(context) {
                Poll::Ready(()) => self.work = None,
                Poll::Pending => return self.pieces.poll_recv(context),
            }
        }
    }
}

/// An upstream's body on its way.
pub struct UpstreamBody {
    held: VecDeque<Bytes>,
    rest: RemainingBody,
    silence: Duration,
    alarm: Option<Pin<Box<Timeout<Pending<()>>>>>,
    witness: Option<Box<dyn BodyObserver>>,
}

impl UpstreamBody {
    /// A body whose upstream may say nothing for this long. What was held back of it goes first.
    pub fn new(held: VecDeque<Bytes>, rest: RemainingBody, silence: Duration, witness: Box<dyn BodyObserver>) -> Self {
        let mut passing = Self {
            held,
            rest,
            silence,
            alarm: None,
            witness: Some(witness),
        };
        if passing.is_over() {
            passing.end(BodyEnding::Whole);
        }
        passing
    }

    fn is_over(&self) -> bool {
        let rest_is_over = match &self.rest {
            RemainingBody::Live(body) => body.is_end_stream(),
            RemainingBody::Over => true,
            RemainingBody::Composed(_) | RemainingBody::Trailers(_) | RemainingBody::Broken(_) => false,
        };
        self.held.is_empty() && rest_is_over
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Some(bytes) = self.held.pop_front() {
            self.see(&bytes);
            if self.is_over() {
                self.end(BodyEnding::Whole);
            }
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        let polled = match &mut self.rest {
            RemainingBody::Live(body) => Pin::new(body).poll_frame(context).map_err(BodyError::from),
            RemainingBody::Composed(body) => body.poll(context),
            RemainingBody::Trailers(trailers) => {
                Poll::Ready(trailers.take().map(|trailers| Ok(Frame::trailers(trailers))))
            }
            RemainingBody::Broken(error) => {
                let error = error.take().unwrap_or_else(|| "the upstream broke off".into());
                Poll::Ready(Some(Err(error)))
            }
            RemainingBody::Over => Poll::Ready(None),
        };
        match polled {
            Poll::Ready(Some(Ok(frame))) => {
                self.alarm = None;
                if let Some(bytes) = frame.data_ref() {
                    self.see(bytes);
                }
                if self.is_over() {
                    self.end(BodyEnding::Whole);
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(error))) => {
                self.end(BodyEnding::UpstreamBroke);
                Poll::Ready(Some(Err(error)))
            }
            Poll::Ready(None) => {
                self.end(BodyEnding::Whole);
                Poll::Ready(None)
            }
            Poll::Pending => {
                let silence = self.silence;
                let alarm = self.alarm.get_or_insert_with(|| Box::pin(timeout(silence, pending())));
                if alarm.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
                self.rest = RemainingBody::Over;
                self.end(BodyEnding::UpstreamSilent);
                Poll::Ready(Some(Err("the upstream said nothing for too long".into())))
            }
        }
    }

    fn see(&mut self, bytes: &[u8]) {
        if let Some(witness) = &mut self.witness {
            witness.see(bytes);
        }
    }

    fn end(&mut self, ending: BodyEnding) {
        if let Some(mut witness) = self.witness.take() {
            witness.end(ending);
        }
    }
}

impl Drop for UpstreamBody {
    fn drop(&mut self) {
        self.end(BodyEnding::ClientGone);
    }
}
