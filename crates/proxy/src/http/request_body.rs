//! Bodies of requests: taken in whole for the session, or passed on as they come. Either way no larger and no slower than the
//! operator allows.

use std::future::Pending;
use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::task::Context;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use bytes::BytesMut;
use http::StatusCode;
use http_body::Body;
use http_body::Frame;
use http_body::SizeHint;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::Semaphore;
use tokio::time::Timeout;
use tokio::time::timeout;

use crate::http::refusal::HttpRefusal;
use crate::http::response_body::BodyError;
use crate::http::server_settings::ServerLimits;

/// What is counted at once of the memory that bodies take: a semaphore counts to half a billion only on small machines.
const UNIT: u64 = 1 << 10;

/// The memory that all bodies together may take.
#[derive(Clone, Debug)]
pub struct BodyMemory(Arc<Semaphore>);

impl BodyMemory {
    /// Room for so many bytes.
    pub fn new(bytes: u64) -> Self {
        let units = usize::try_from(bytes / UNIT)
            .unwrap_or(usize::MAX)
            .min(Semaphore::MAX_PERMITS);
        Self(Arc::new(Semaphore::new(units)))
    }

    /// Room for one more body, if there is any.
    pub fn take(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let units = u32::try_from((bytes as u64).div_ceil(UNIT)).ok()?;
        Arc::clone(&self.0).try_acquire_many_owned(units).ok()
    }
}

/// Refuses a body that says itself that it is too large.
pub fn check_announced(announced: Option<u64>, limits: &ServerLimits) -> Result<(), HttpRefusal> {
    match announced {
        Some(length) if length > limits.body => Err(UploadError::TooLarge.refusal()),
        Some(_) | None => Ok(()),
    }
}

/// The whole body, in as few copies as there can be: none where it came in one piece.
pub async fn collect(
    mut body: Incoming,
    announced: Option<u64>,
    limits: &ServerLimits,
    room: &BodyMemory,
) -> Result<(Bytes, Option<OwnedSemaphorePermit>), HttpRefusal> {
    let mut first: Option<Bytes> = None;
    let mut gathered = BytesMut::new();
    let mut length = 0_u64;
    let mut taken: Option<OwnedSemaphorePermit> = None;
    while !body.is_end_stream() {
        let Ok(frame) = timeout(limits.body_wait, body.frame()).await else {
            return Err(UploadError::TooSlow.refusal());
        };
        let Some(frame) = frame else { break };
        let frame = frame.map_err(|_| UploadError::Broken.refusal())?;
        let Ok(piece) = frame.into_data() else { continue };
        length += piece.len() as u64;
        if length > limits.body {
            return Err(UploadError::TooLarge.refusal());
        }
        let more = room.take(piece.len()).ok_or_else(no_room)?;
        match &mut taken {
            Some(taken) => taken.merge(more),
            None => taken = Some(more),
        }
        if first.is_none() && gathered.is_empty() {
            first = Some(piece);
            continue;
        }
        if let Some(first) = first.take() {
            // Memory that is only set aside costs nothing until something is written there.
            let room = announced.unwrap_or(length * 2).min(limits.body);
            gathered.reserve(usize::try_from(room).unwrap_or(0));
            gathered.extend_from_slice(&first);
        }
        gathered.extend_from_slice(&piece);
    }
    Ok((first.unwrap_or_else(|| gathered.freeze()), taken))
}

fn no_room() -> HttpRefusal {
    let words = "the bodies of all requests together take more than proxy.bodies_mb allows; try again";
    HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, "busy", words)
        .retry_after(1)
        .closing()
}

/// What can be wrong with a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UploadError {
    TooLarge = 1,
    TooSlow = 2,
    Broken = 3,
}

impl UploadError {
    fn refusal(self) -> HttpRefusal {
        let (status, words) = match self {
            UploadError::TooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "the body is larger than proxy.body_mb allows",
            ),
            UploadError::TooSlow => (StatusCode::REQUEST_TIMEOUT, "nothing of the body came for too long"),
            UploadError::Broken => (StatusCode::BAD_REQUEST, "the body broke off, or is no body"),
        };
        HttpRefusal::new(status, "body", words).closing()
    }
}

/// What became of a body that was passed on.
#[derive(Clone, Debug, Default)]
pub struct UploadReport(Arc<UploadState>);

#[derive(Debug, Default)]
struct UploadState {
    trouble: AtomicU8,
    bytes: AtomicU64,
}

impl UploadReport {
    /// What was wrong with it, if anything.
    pub fn refusal(&self) -> Option<HttpRefusal> {
        let troubles = [UploadError::TooLarge, UploadError::TooSlow, UploadError::Broken];
        let found = self.0.trouble.load(Ordering::Acquire);
        let trouble = troubles.into_iter().find(|trouble| *trouble as u8 == found)?;
        Some(trouble.refusal())
    }

    /// How many bytes passed.
    pub fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }
}

/// A body that is passed on as it comes.
pub struct UploadBody {
    body: Incoming,
    left: u64,
    wait: Duration,
    alarm: Option<Pin<Box<Timeout<Pending<()>>>>>,
    passed: UploadReport,
}

impl UploadBody {
    /// Passes a body on; the other half says what became of it.
    pub fn new(body: Incoming, limits: &ServerLimits) -> (Self, UploadReport) {
        let passed = UploadReport::default();
        let upload = Self {
            body,
            left: limits.body,
            wait: limits.body_wait,
            alarm: None,
            passed: passed.clone(),
        };
        (upload, passed)
    }

    fn fail(&self, trouble: UploadError) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        self.passed.0.trouble.store(trouble as u8, Ordering::Release);
        Poll::Ready(Some(Err("the client's body cannot be passed on".into())))
    }
}

impl Body for UploadBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => {
                self.alarm = None;
                let length = frame.data_ref().map_or(0, |piece| piece.len() as u64);
                let Some(left) = self.left.checked_sub(length) else {
                    return self.fail(UploadError::TooLarge);
                };
                self.left = left;
                self.passed.0.bytes.fetch_add(length, Ordering::Relaxed);
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(_))) => self.fail(UploadError::Broken),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => {
                let wait = self.wait;
                let alarm = self.alarm.get_or_insert_with(|| Box::pin(timeout(wait, pending())));
                match alarm.as_mut().poll(context) {
                    Poll::Ready(_) => self.fail(UploadError::TooSlow),
                    Poll::Pending => Poll::Pending,
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
