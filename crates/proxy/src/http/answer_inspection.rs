//! Inspects an answer before it goes back, as far as it takes to find an error for which the session may have another request.
//!
//! What was read of an answer is kept and goes back byte for byte if there is no way around it.

use std::collections::VecDeque;
use std::io::Read;
use std::time::Duration;

use bytes::Bytes;
use flate2::read::GzDecoder;
use http::HeaderMap;
use http::Response;
use http::StatusCode;
use http::header::CONTENT_ENCODING;
use http::header::CONTENT_TYPE;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use mainstay_engine::json::Object;
use mainstay_llm::complaint;
use mainstay_llm::events::Event;
use mainstay_llm::events::Events;
use mainstay_llm::malformed::is_malformed_history;
use mainstay_llm::overflow::is_overflow;
use mainstay_wire::reading::WireForm;
use tokio::time::Instant;
use tokio::time::timeout_at;

use crate::http::response_body::RemainingBody;
use crate::session::fail_open::PromptComplaint;

/// How much of an error is read; the longest known one has a few hundred bytes.
const MOST_READ: usize = 64 << 10;
/// How much of the beginning of a stream is held back: its first event repeats the instructions and the tools.
const MOST_HELD: usize = 1 << 20;
/// How long an error, or the event after the first ones, is waited for. Providers refuse a prompt in a second or two; what takes
/// longer is a model that thinks, and its client should see that it began.
const WAIT: Duration = Duration::from_secs(10);

/// Statuses that are about the sender or about the moment and never about the prompt.
const ELSEWHERE: [u16; 8] = [401, 402, 403, 404, 408, 429, 503, 529];

/// An answer of which a part may have been read.
pub struct InspectedAnswer {
    /// What was read.
    pub held: VecDeque<Bytes>,
    /// What was not.
    pub rest: RemainingBody,
    /// What it complains about, in its words; what the session may know a way around.
    pub complaint: Option<(PromptComplaint, String)>,
}

/// An answer that nobody has to look at.
pub fn unseen(response: Response<Incoming>) -> (http::response::Parts, InspectedAnswer) {
    let (head, body) = response.into_parts();
    let looked = InspectedAnswer {
        held: VecDeque::new(),
        rest: RemainingBody::Live(body),
        complaint: None,
    };
    (head, looked)
}

/// Looks at an answer as far as it has to be, to know whether it is such an error.
pub async fn look(form: WireForm, response: Response<Incoming>) -> (http::response::Parts, InspectedAnswer) {
    let (head, mut looked) = unseen(response);
    let status = head.status.as_u16();
    let is_stream = head.status == StatusCode::OK && says_events(&head.headers);
    if status >= 400 && !ELSEWHERE.contains(&status) {
        looked.read_until(MOST_READ, |_| false).await;
        let bytes = looked.together();
        let text = unpacked(&head.headers, &bytes);
        looked.complaint = meaning(Some(status), complaint::Complaint::read(&text));
    } else if is_stream && form == WireForm::Responses && !head.headers.contains_key(CONTENT_ENCODING) {
        let mut beginning = StreamBeginning::default();
        looked.read_until(MOST_HELD, |piece| beginning.is_over(piece)).await;
        looked.complaint = beginning.complaint;
    }
    (head, looked)
}

impl InspectedAnswer {
    /// Reads until there is nothing more, or enough.
    async fn read_until(&mut self, most: usize, mut is_enough: impl FnMut(&[u8]) -> bool) {
        let deadline = Instant::now() + WAIT;
        let mut length = 0;
        while let RemainingBody::Live(body) = &mut self.rest {
            // Waiting for a piece loses none where the wait ends first.
            let Ok(frame) = timeout_at(deadline, body.frame()).await else {
                return;
            };
            match frame {
                None => self.rest = RemainingBody::Over,
                Some(Err(error)) => self.rest = RemainingBody::Broken(Some(error.into())),
                Some(Ok(frame)) => match frame.into_data() {
                    Err(trailers) => {
                        self.rest = RemainingBody::Trailers(trailers.into_trailers().ok());
                    }
                    Ok(piece) => {
                        length += piece.len();
                        let enough = is_enough(&piece) || length >= most;
                        self.held.push_back(piece);
                        if enough {
                            return;
                        }
                    }
                },
            }
        }
    }

    fn together(&self) -> Vec<u8> {
        self.held.iter().flat_map(|piece| piece.iter().copied()).collect()
    }
}

/// What an error complains about, if the session may know a way around it.
fn meaning(status: Option<u16>, error: complaint::Complaint) -> Option<(PromptComplaint, String)> {
    let codes: Vec<&str> = error.codes.iter().map(String::as_str).collect();
    let kind = if is_malformed_history(status.or(error.status), &error.message) {
        PromptComplaint::Malformed
    } else if is_overflow(status.or(error.status), &codes, &error.message) {
        PromptComplaint::Overflow
    } else {
        return None;
    };
    Some((kind, error.message))
}

fn says_events(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    content_type.is_some_and(|value| value.to_ascii_lowercase().starts_with("text/event-stream"))
}

/// An error's text, unpacked where it is packed in a way that we have asked for.
fn unpacked(headers: &HeaderMap, bytes: &[u8]) -> String {
    let is_packed = headers
        .get(CONTENT_ENCODING)
        .is_some_and(|coding| coding.as_bytes().eq_ignore_ascii_case(b"gzip"));
    if !is_packed {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let mut unpacked = Vec::new();
    // What could be unpacked of a packet that is cut off counts.
    let _cut_off = GzDecoder::new(bytes).take(MOST_READ as u64).read_to_end(&mut unpacked);
    String::from_utf8_lossy(&unpacked).into_owned()
}

/// The beginning of a stream of the Responses form, up to the first event that says something.
#[derive(Default)]
struct StreamBeginning {
    events: Events,
    complaint: Option<(PromptComplaint, String)>,
}

impl StreamBeginning {
    fn is_over(&mut self, piece: &[u8]) -> bool {
        let events = self.events.push(piece);
        events.iter().any(|event| self.says_something(event))
    }

    fn says_something(&mut self, event: &Event) -> bool {
        let object = Object::parse(&event.data).ok();
        let kind = object
            .as_ref()
            .and_then(|object| object.tag("type"))
            .or(event.name.as_deref());
        match kind {
            Some("response.created" | "response.in_progress" | "response.queued") => return false,
            Some("response.failed") => {
                let error = object
                    .and_then(|object| object.object("response"))
                    .and_then(|response| {
                        let error = response.object("error")?;
                        Some(complaint::Complaint::of(&error))
                    });
                self.complaint = error.and_then(|error| meaning(None, error));
            }
            Some("error") => {
                let error = object.as_ref().map(complaint::Complaint::of);
                self.complaint = error.and_then(|error| meaning(None, error));
            }
            _ => {}
        }
        true
    }
}
