//! What becomes of an answer that calls our tool: it is answered, and the provider is asked again, or the client goes on.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http::response::Parts;
use mainstay_llm::relay::Relay;
use mainstay_wire::reading::WireForm;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::http::answer_inspection;
use crate::http::answer_inspection::Looked;
use crate::http::refusal::Refusal;
use crate::http::request_body::Room;
use crate::http::request_log::Books;
use crate::http::upstream_request::Outward;
use crate::http::upstream_request::whole;
use crate::metrics::count;
use crate::recall_tool::Offered;
use crate::recall_tool::definition::continued;
use crate::recall_tool::model_turn::Asked;
use crate::recall_tool::model_turn::Turn;
use crate::recall_tool::recall_memory::Record;
use crate::recall_tool::recall_memory::Round;
use crate::recall_tool::stream_merge::Closing;
use crate::session::fail_open::Complaint;

/// How often a model may call our tool in one turn before it has to go on: a search, two texts that it found, and one more.
const MOST_ROUNDS: usize = 4;
/// How long an answer of ours may take; the largest store that we know answers in a tenth of a second.
const PATIENCE: Duration = Duration::from_secs(10);
/// What the last answer of a turn ends with.
const ENOUGH: &str = "\n\n(This was the last recall of this turn. Go on with what you have.)";
/// What is answered where the real answer would not fit.
const NO_ROOM: &str =
    "What was found does not fit into the window beside the rest of the conversation. Go on without it.";
/// What is answered where there is nothing to ask.
const NOTHING: &str = "nothing of this conversation was compacted: everything is still in it";
/// What is answered where nothing comes back.
const FAILED: &str = "recall failed; go on without it";

/// The way to the provider.
pub(super) struct Way {
    pub(super) relay: Relay,
    pub(super) outward: Outward,
    pub(super) silence: Duration,
    pub(super) room: Room,
    pub(super) most: u64,
    pub(super) books: Arc<Books>,
}

/// One request of a client's, through all the answers that it takes.
pub(super) struct Course {
    pub(super) offered: Arc<Offered>,
    pub(super) form: WireForm,
    pub(super) tenant: String,
    pub(super) conversation: Option<String>,
    pub(super) way: Way,
    /// What was sent last.
    pub(super) sent: Bytes,
    record: Record,
    permits: Vec<OwnedSemaphorePermit>,
}

/// What follows an answer.
pub(super) enum Next {
    /// Another answer: its request is ready.
    Another,
    /// Nothing: this was the last.
    End(Closing),
}

impl Course {
    pub(super) fn new(
        offered: Arc<Offered>,
        form: WireForm,
        tenant: String,
        conversation: Option<String>,
        way: Way,
        sent: Bytes,
    ) -> Self {
        Self {
            offered,
            form,
            tenant,
            conversation,
            way,
            sent,
            record: Record::default(),
            permits: Vec::new(),
        }
    }

    /// Answers what was asked, and says what follows. Whatever the client may come back with is remembered before it is told.
    pub(super) async fn next(&mut self, turn: Turn) -> Next {
        let asks = turn.asked().next().is_some();
        let rounds = self.record.rounds.len();
        if asks && !turn.calls_theirs && turn.waits && rounds < MOST_ROUNDS {
            let texts = self.answers(&turn, rounds + 1 == MOST_ROUNDS).await;
            if self.extend(&turn, &texts) {
                return Next::Another;
            }
            return Next::End(Closing::WithoutCalls);
        }
        let closing = match asks && !turn.calls_theirs && turn.waits {
            true => Closing::WithoutCalls,
            false => Closing::AsItIs,
        };
        if turn.calls_theirs {
            let texts = self.answers(&turn, false).await;
            self.record.results = self.results(&turn, &texts);
            self.record.last = turn.seats;
        } else {
            // A call that is left out is never answered.
            self.record.last = turn.shown().into_iter().map(super::model_turn::Seat::Shown).collect();
        }
        let record = std::mem::take(&mut self.record);
        if let Some(conversation) = self.conversation.as_ref().filter(|_| !record.is_empty()) {
            self.offered.memory.keep(&self.tenant, conversation, record);
        }
        Next::End(closing)
    }

    /// Answers to all calls of ours, in their order.
    async fn answers(&self, turn: &Turn, is_last: bool) -> Vec<String> {
        let mut texts = Vec::new();
        for asked in turn.asked() {
            let mut text = self.answer(asked).await;
            if is_last {
                text.push_str(ENOUGH);
            }
            texts.push(text);
        }
        texts
    }

    async fn answer(&self, asked: &Asked) -> String {
        let metrics = &self.way.books.metrics;
        let Some(conversation) = self.conversation.clone() else {
            count(&metrics.recalls, "nothing");
            return NOTHING.to_owned();
        };
        let (recall, input) = (self.offered.recall.clone(), asked.input.clone());
        let answer = tokio::task::spawn_blocking(move || recall.answer(&conversation, &input));
        let (kind, text) = match timeout(PATIENCE, answer).await {
            Ok(Ok(text)) if !text.trim().is_empty() => ("answered", text),
            Ok(_) => ("failed", FAILED.to_owned()),
            Err(_) => ("too-slow", FAILED.to_owned()),
        };
        count(&metrics.recalls, kind);
        text
    }

    fn results(&self, turn: &Turn, texts: &[String]) -> Vec<String> {
        let asked = turn.asked().zip(texts);
        asked.map(|(asked, text)| asked.result(self.form, text)).collect()
    }

    /// Puts an answer and the results of its calls behind what was sent.
    fn extend(&mut self, turn: &Turn, texts: &[String]) -> bool {
        let results = self.results(turn, texts);
        let elements = match self.form {
            WireForm::Anthropic => vec![
                format!(r#"{{"role":"assistant","content":[{}]}}"#, turn.elements.join(",")),
                format!(r#"{{"role":"user","content":[{}]}}"#, results.join(",")),
            ],
            WireForm::Chat | WireForm::Responses => turn.elements.iter().chain(&results).cloned().collect(),
        };
        let Some(body) = continued(self.form, &self.sent, &elements) else {
            return false;
        };
        self.sent = body;
        self.record.rounds.push(Round {
            shown: turn.shown(),
            asked: turn.asked().cloned().collect(),
            results,
        });
        true
    }

    /// Asks the provider with what stands there now. Where it does not fit, once more without what was found.
    pub(super) async fn ask(&mut self, before: &Bytes, turn: &Turn) -> Result<(Parts, Looked), Refusal> {
        let (head, looked) = self.send().await?;
        let is_overflow = matches!(looked.complaint, Some((Complaint::Overflow, _)));
        if !is_overflow {
            return Ok((head, looked));
        }
        self.record.rounds.pop();
        self.sent = before.clone();
        let texts: Vec<String> = turn.asked().map(|_| NO_ROOM.to_owned()).collect();
        if !self.extend(turn, &texts) {
            return Ok((head, looked));
        }
        drop(looked);
        self.send().await
    }

    async fn send(&mut self) -> Result<(Parts, Looked), Refusal> {
        let way = &self.way;
        let room = way.room.take(self.sent.len());
        let Some(permit) = room.filter(|_| self.sent.len() as u64 <= way.most) else {
            let words = "there is no room for the request that goes on after recall";
            return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "busy", words));
        };
        self.permits.push(permit);
        count(&way.books.metrics.recalls, "asked-again");
        let body = whole(self.sent.clone());
        let sent = way.outward.again().send(&way.relay, way.silence, body).await;
        let response = sent.inspect_err(|refusal| count(&way.books.metrics.upstream_errors, refusal.code))?;
        Ok(answer_inspection::look(self.form, response).await)
    }
}
