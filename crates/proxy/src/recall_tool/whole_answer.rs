//! Whole answers: read to their end, and put together where the model calls our tool.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use http::StatusCode;
use http::header::CONTENT_LENGTH;
use http::response::Parts;
use http_body_util::BodyExt;
use mainstay_llm::answer::Usage;
use mainstay_llm::forms;
use tokio::time::timeout;

use crate::http::answer_inspection::InspectedAnswer;
use crate::http::refusal::HttpRefusal;
use crate::http::response_body::RemainingBody;
use crate::recall_tool::forms::read;
use crate::recall_tool::forms::together;
use crate::recall_tool::stream_merge::ReadAnswer;
use crate::recall_tool::tool_rounds::NextStep;
use crate::recall_tool::tool_rounds::ToolRounds;

/// The largest answer that is read: a day's worth of a fast model. What is larger passes as it comes.
const MOST_READ: usize = 64 << 20;

/// The answer that the client sees, and what its first part cost where it has several.
pub(super) async fn entire(
    mut course: ToolRounds,
    mut head: Parts,
    mut looked: InspectedAnswer,
) -> Result<(Parts, InspectedAnswer, Option<Usage>), HttpRefusal> {
    let form = course.form;
    let mut first: Option<String> = None;
    let mut cost = None;
    let mut earlier = 0_u64;
    let mut shown = Vec::new();
    loop {
        // An error in the place of another answer is the answer: nothing was shown yet.
        if head.status != StatusCode::OK {
            return Ok((head, looked, cost));
        }
        let text = text(&mut looked, course.way.silence).await;
        let Some((text, ReadAnswer { turn, shown: more })) =
            text.and_then(|text| read(form, &text).map(|read| (text, read)))
        else {
            return Ok((head, looked, cost));
        };
        if first.is_none() && turn.asked().next().is_none() {
            return Ok((head, looked, None));
        }
        shown.extend(more);
        let before = course.sent.clone();
        let usage = match forms::read_whole(form, &text) {
            Ok(answer) => answer.usage,
            Err(trouble) => trouble.usage,
        };
        match course.next(turn.clone()).await {
            NextStep::Another => {}
            NextStep::End(closing) => {
                let woven = together(form, first.as_deref().unwrap_or(&text), &text, &shown, closing, earlier);
                return Ok((sized(head, woven.as_deref()), answered(looked, woven), cost.or(usage)));
            }
        }
        cost = cost.or(usage);
        earlier = earlier.saturating_add(usage.map_or(0, |usage| usage.output));
        first.get_or_insert(text);
        (head, looked) = course.ask(&before, &turn).await?;
    }
}

fn sized(mut head: Parts, woven: Option<&str>) -> Parts {
    if let Some(text) = woven.filter(|_| head.headers.contains_key(CONTENT_LENGTH)) {
        head.headers.insert(CONTENT_LENGTH, HeaderValue::from(text.len()));
    }
    head
}

fn answered(looked: InspectedAnswer, woven: Option<String>) -> InspectedAnswer {
    match woven {
        None => looked,
        Some(text) => InspectedAnswer {
            held: VecDeque::from([Bytes::from(text)]),
            rest: RemainingBody::Over,
            complaint: None,
        },
    }
}

/// The text of an answer; what was read of it stays in it. `None` where it is no text, too long, or breaks off.
async fn text(looked: &mut InspectedAnswer, silence: Duration) -> Option<String> {
    let mut length: usize = looked.held.iter().map(Bytes::len).sum();
    while let RemainingBody::Live(body) = &mut looked.rest {
        if length > MOST_READ {
            return None;
        }
        match timeout(silence, body.frame()).await {
            Err(_) => return None,
            Ok(None) => looked.rest = RemainingBody::Over,
            Ok(Some(Err(error))) => looked.rest = RemainingBody::Broken(Some(error.into())),
            Ok(Some(Ok(frame))) => match frame.into_data() {
                Ok(piece) => {
                    length += piece.len();
                    looked.held.push_back(piece);
                }
                Err(trailers) => looked.rest = RemainingBody::Trailers(trailers.into_trailers().ok()),
            },
        }
    }
    if matches!(looked.rest, RemainingBody::Broken(_)) {
        return None;
    }
    let bytes: Vec<u8> = looked.held.iter().flat_map(|piece| piece.iter().copied()).collect();
    String::from_utf8(bytes).ok()
}
