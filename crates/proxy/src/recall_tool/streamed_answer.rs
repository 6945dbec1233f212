//! Streamed answers: what comes passes as it comes, and where the model calls our tool the next answer's stream is woven in.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::OnceLock;

use bytes::Bytes;
use http::HeaderMap;
use http::StatusCode;
use http::header::CONTENT_ENCODING;
use http::response::Parts;
use http_body::Frame;
use http_body_util::BodyExt;
use mainstay_llm::answer::Usage;
use tokio::sync::mpsc;

use crate::http::answer_inspection::InspectedAnswer;
use crate::http::response_body::BodyError;
use crate::http::response_body::BodyPiece;
use crate::http::response_body::ComposedBody;
use crate::http::response_body::RemainingBody;
use crate::http::usage_reader::UsageReader;
use crate::recall_tool::event_frames::EventFrames;
use crate::recall_tool::forms::loom;
use crate::recall_tool::says;
use crate::recall_tool::stream_merge::ContinuationError;
use crate::recall_tool::stream_merge::StreamMerger;
use crate::recall_tool::tool_rounds::NextStep;
use crate::recall_tool::tool_rounds::ToolRounds;

/// How much of an error is read; the longest known one has a few hundred bytes.
const MOST_READ: usize = 64 << 10;

/// How much of an answer is gathered in case it has to go back: a day's worth of a fast model. What is longer passes unread.
const MOST_GATHERED: usize = 64 << 20;

/// Weaves an answer that has just begun. What its first part cost is written down for whoever counted its prompt.
pub(super) fn woven(
    course: ToolRounds,
    headers: HeaderMap,
    looked: InspectedAnswer,
    first: Arc<OnceLock<Usage>>,
) -> ComposedBody {
    // One at a time: what the client does not take is not asked for.
    let (out, pieces) = mpsc::channel(1);
    let form = course.form;
    let weaving = StreamedMerge {
        course,
        loom: loom(form),
        source: AnswerSource::new(looked),
        watch: UsageReader::new(form, &headers),
        earlier: 0,
        first,
        out,
    };
    ComposedBody::new(weaving.run(), pieces)
}

/// What is left of an upstream's answer.
struct AnswerSource {
    held: VecDeque<Bytes>,
    rest: RemainingBody,
}

impl AnswerSource {
    fn new(looked: InspectedAnswer) -> Self {
        Self {
            held: looked.held,
            rest: looked.rest,
        }
    }

    async fn next(&mut self) -> Option<BodyPiece> {
        if let Some(piece) = self.held.pop_front() {
            return Some(Ok(Frame::data(piece)));
        }
        match &mut self.rest {
            RemainingBody::Live(body) => body.frame().await.map(|frame| frame.map_err(BodyError::from)),
            RemainingBody::Trailers(trailers) => trailers.take().map(|trailers| Ok(Frame::trailers(trailers))),
            RemainingBody::Broken(error) => error.take().map(Err),
            RemainingBody::Composed(_) | RemainingBody::Over => None,
        }
    }

    /// The beginning of an error, as text.
    async fn text(mut self) -> String {
        let mut bytes = Vec::new();
        while let Some(Ok(frame)) = self.next().await {
            if let Ok(piece) = frame.into_data() {
                bytes.extend_from_slice(&piece);
            }
            if bytes.len() >= MOST_READ {
                break;
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

struct StreamedMerge {
    course: ToolRounds,
    loom: Box<dyn StreamMerger>,
    source: AnswerSource,
    watch: UsageReader,
    /// What was written in answers before this one.
    earlier: u64,
    first: Arc<OnceLock<Usage>>,
    out: mpsc::Sender<BodyPiece>,
}

/// How reading an answer ended.
enum Came {
    /// To its end, or to where something has to be decided.
    ToItsEnd,
    /// To nothing more that concerns us.
    ToNothing,
}

impl StreamedMerge {
    async fn run(mut self) {
        loop {
            let Came::ToItsEnd = self.read().await else { return };
            if !self.loom.is_due() {
                if self.loom.is_woven() {
                    self.fail(&ContinuationError::new("the upstream broke off")).await;
                }
                return;
            }
            let turn = self.loom.turn();
            self.settle();
            let before = self.course.sent.clone();
            match self.course.next(turn.clone()).await {
                NextStep::End(closing) => {
                    let mut out = Vec::new();
                    self.loom.close(closing, self.earlier, &mut out);
                    self.give(out).await;
                    return;
                }
                NextStep::Another => {}
            }
            let (head, looked) = match self.course.ask(&before, &turn).await {
                Ok(answer) => answer,
                Err(refusal) => return self.fail(&ContinuationError::new(&refusal.words)).await,
            };
            let source = AnswerSource::new(looked);
            if !is_stream(&head) {
                let failure = ContinuationError::read(source.text().await);
                return self.fail(&failure).await;
            }
            self.source = source;
            self.watch = UsageReader::new(self.course.form, &head.headers);
            self.loom.go_on();
        }
    }

    /// Reads an answer as far as there is nothing to decide, and passes on what the client sees.
    async fn read(&mut self) -> Came {
        let mut frames = EventFrames::default();
        let mut length = 0_usize;
        while let Some(piece) = self.source.next().await {
            let bytes = match piece.map(Frame::into_data) {
                Err(error) => {
                    let _gone = self.out.send(Err(error)).await;
                    return Came::ToNothing;
                }
                Ok(Err(trailers)) => {
                    if !self.loom.is_woven() {
                        let _gone = self.out.send(Ok(trailers)).await;
                    }
                    continue;
                }
                Ok(Ok(bytes)) => bytes,
            };
            self.watch.take(&bytes);
            let mut out = Vec::new();
            for frame in frames.push(&bytes) {
                self.loom.take(frame, &mut out);
                if self.loom.is_due() {
                    break;
                }
            }
            length = length.saturating_add(bytes.len());
            if frames.is_overlong() || length > MOST_GATHERED {
                return self.pass_blindly(frames.rest(), out).await;
            }
            self.give(out).await;
            if self.loom.is_due() {
                return Came::ToItsEnd;
            }
        }
        let mut out = Vec::new();
        let rest = frames.rest();
        if !rest.is_empty() {
            self.loom.take(rest, &mut out);
        }
        self.loom.run_out();
        self.give(out).await;
        Came::ToItsEnd
    }

    /// What does not end is not waited for: from here on everything passes unread. Only where something was held back already
    /// it cannot.
    async fn pass_blindly(&mut self, rest: Bytes, mut out: Vec<Bytes>) -> Came {
        if self.loom.is_woven() {
            self.give(out).await;
            self.fail(&ContinuationError::new("the answer is too long to go on after recall"))
                .await;
            return Came::ToNothing;
        }
        out.push(rest);
        self.give(out).await;
        while let Some(piece) = self.source.next().await {
            if self.out.send(piece).await.is_err() {
                break;
            }
        }
        Came::ToNothing
    }

    /// Writes down what an answer cost.
    fn settle(&mut self) {
        let unread = UsageReader::new(self.course.form, &HeaderMap::new());
        if let Some(usage) = std::mem::replace(&mut self.watch, unread).finish() {
            let _only_the_first = self.first.set(usage);
            self.earlier = self.earlier.saturating_add(usage.output);
        }
    }

    async fn give(&mut self, pieces: Vec<Bytes>) {
        let bytes = match <[Bytes; 1]>::try_from(pieces) {
            Ok([only]) => only,
            Err(pieces) => pieces.concat().into(),
        };
        if !bytes.is_empty() {
            let _gone = self.out.send(Ok(Frame::data(bytes))).await;
        }
    }

    async fn fail(&mut self, failure: &ContinuationError) {
        let mut out = Vec::new();
        self.loom.fail(failure, &mut out);
        self.give(out).await;
    }
}

fn is_stream(head: &Parts) -> bool {
    head.status == StatusCode::OK
        && says(&head.headers, "text/event-stream")
        && !head.headers.contains_key(CONTENT_ENCODING)
}
