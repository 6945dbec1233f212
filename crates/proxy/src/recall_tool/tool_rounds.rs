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

use crate::blocking;
use crate::http::answer_inspection;
use crate::http::answer_inspection::InspectedAnswer;
use crate::http::refusal::HttpRefusal;
use crate::http::request_body::BodyMemory;
use crate::http::request_log::RequestLog;
use crate::http::upstream_request::UpstreamRequest;
use crate::http::upstream_request::whole;
use crate::metrics::count;
use crate::recall_tool::RecallInjector;
use crate::recall_tool::definition::continued;
use crate::recall_tool::model_turn::ModelTurn;
use crate::recall_tool::model_turn::RecallCall;
use crate::recall_tool::recall_memory::RecallRecord;
use crate::recall_tool::recall_memory::RecallRound;
use crate::recall_tool::stream_merge::AnswerEnd;
use crate::session::fail_open::PromptComplaint;

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
pub(super) struct UpstreamAccess {
    pub(super) relay: Relay,
    pub(super) outward: UpstreamRequest,
    pub(super) silence: Duration,
    pub(super) room: BodyMemory,
    pub(super) most: u64,
    pub(super) request_log: Arc<RequestLog>,
}

/// One request of a client's, through all the answers that it takes.
pub(super) struct ToolRounds {
    pub(super) offered: Arc<RecallInjector>,
    pub(super) form: WireForm,
    pub(super) tenant: String,
    pub(super) conversation: Option<String>,
    pub(super) way: UpstreamAccess,
    /// What was sent last.
    pub(super) sent: Bytes,
    record: RecallRecord,
    permits: Vec<OwnedSemaphorePermit>,
}

/// What follows an answer.
pub(super) enum NextStep {
    /// Another answer: its request is ready.
    Another,
    /// Nothing: this was the last.
    End(AnswerEnd),
}

impl ToolRounds {
    pub(super) fn new(
        offered: Arc<RecallInjector>,
        form: WireForm,
        tenant: String,
        conversation: Option<String>,
        way: UpstreamAccess,
        sent: Bytes,
    ) -> Self {
        Self {
            offered,
            form,
            tenant,
            conversation,
            way,
            sent,
            record: RecallRecord::default(),
            permits: Vec::new(),
        }
    }

    /// Answers what was asked, and says what follows. Whatever the client may come back with is remembered before it is told.
    pub(super) async fn next(&mut self, turn: ModelTurn) -> NextStep {
        let asks = turn.asked().next().is_some();
        let rounds = self.record.rounds.len();
        if asks && !turn.calls_theirs && turn.waits && rounds < MOST_ROUNDS {
            let texts = self.answers(&turn, rounds + 1 == MOST_ROUNDS).await;
            if self.extend(&turn, &texts) {
                return NextStep::Another;
            }
            return NextStep::End(AnswerEnd::WithoutCalls);
        }
        let closing = match asks && !turn.calls_theirs && turn.waits {
            true => AnswerEnd::WithoutCalls,
            false => AnswerEnd::AsItIs,
        };
        if turn.calls_theirs {
            let texts = self.answers(&turn, false).await;
            self.record.results = self.results(&turn, &texts);
            self.record.last = turn.seats;
        } else {
            // A call that is left out is never answered.
            self.record.last = turn
                .shown()
                .into_iter()
                .map(super::model_turn::AnswerPart::Shown)
                .collect();
        }
        let record = std::mem::take(&mut self.record);
        if let Some(conversation) = self.conversation.as_ref().filter(|_| !record.is_empty()) {
            self.offered.memory.keep(&self.tenant, conversation, record);
        }
        NextStep::End(closing)
    }

    /// Answers to all calls of ours, in their order.
    async fn answers(&self, turn: &ModelTurn, is_last: bool) -> Vec<String> {
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

    async fn answer(&self, asked: &RecallCall) -> String {
        let metrics = &self.way.request_log.metrics;
        let Some(conversation) = self.conversation.clone() else {
            count(&metrics.recalls, "nothing");
            return NOTHING.to_owned();
        };
        let (recall, input) = (self.offered.recall.clone(), asked.input.clone());
        let answer = blocking::run(move || recall.answer(&conversation, &input));
        let (kind, text) = match timeout(PATIENCE, answer).await {
            Ok(Ok(text)) if !text.trim().is_empty() => ("answered", text),
            Ok(_) => ("failed", FAILED.to_owned()),
            Err(_) => ("too-slow", FAILED.to_owned()),
        };
        count(&metrics.recalls, kind);
        text
    }

    fn results(&self, turn: &ModelTurn, texts: &[String]) -> Vec<String> {
        let asked = turn.asked().zip(texts);
        asked.map(|(asked, text)| asked.result(self.form, text)).collect()
    }

    /// Puts an answer and the results of its calls behind what was sent.
    fn extend(&mut self, turn: &ModelTurn, texts: &[String]) -> bool {
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
        self.record.rounds.push(RecallRound {
            shown: turn.shown(),
            asked: turn.asked().cloned().collect(),
            results,
        });
        true
    }

    /// Asks the provider with what stands there now. Where it does not fit, once more without what was found.
    pub(super) async fn ask(
        &mut self,
        before: &Bytes,
        turn: &ModelTurn,
    ) -> Result<(Parts, InspectedAnswer), HttpRefusal> {
        let (head, looked) = self.send().await?;
        let is_overflow = matches!(looked.complaint, Some((PromptComplaint::Overflow, _)));
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

    async fn send(&mut self) -> Result<(Parts, InspectedAnswer), HttpRefusal> {
        let way = &self.way;
        let room = way.room.take(self.sent.len());
        let Some(permit) = room.filter(|_| self.sent.len() as u64 <= way.most) else {
            let words = "there is no room for the request that goes on after recall";
            return Err(HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, "busy", words));
        };
        self.permits.push(permit);
        count(&way.request_log.metrics.recalls, "asked-again");
        let body = whole(self.sent.clone());
        let sent = way.outward.again().send(&way.relay, way.silence, body).await;
        let response = sent.inspect_err(|refusal| count(&way.request_log.metrics.upstream_errors, refusal.code))?;
        Ok(answer_inspection::look(self.form, response).await)
    }
}
