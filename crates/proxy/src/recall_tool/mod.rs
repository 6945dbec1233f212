//! A recall tool that the proxy offers to the model and answers itself; only where the operator has asked for it.
//!
//! Every request with tools gets one more, always the same bytes. Where the model calls it, the client sees nothing of it: the
//! call is answered here and the provider is asked again with the answer, or, where the client's own tools are called beside
//! it, the answer is put back into the turn when the client comes with its results. The client sees one well-formed answer, and
//! byte for byte what came where the model does not call the tool.
//!
//! Not here: what recall finds, which is the business of [`recall`](crate::recall), and when conversations are compacted, which
//! the session decides on its own.

mod anthropic;
mod chat;
mod definition;
mod event_frames;
mod forms;
mod json_edit;
mod model_turn;
mod recall_memory;
mod responses;
mod restore;
mod stream_merge;
mod streamed_answer;
mod tool_rounds;
mod whole_answer;

use std::sync::Arc;
use std::sync::OnceLock;

use bytes::Bytes;
use http::HeaderMap;
use http::StatusCode;
use http::header::CONTENT_ENCODING;
use http::header::CONTENT_LENGTH;
use http::header::CONTENT_TYPE;
use http::response::Parts;
use mainstay_llm::relay::Relay;
use mainstay_wire::reading::WireForm;

use crate::http::answer_inspection::InspectedAnswer;
use crate::http::refusal::HttpRefusal;
use crate::http::request_body::BodyMemory;
use crate::http::request_log::RequestRecord;
use crate::http::response_body::RemainingBody;
use crate::http::server_settings::ServerLimits;
use crate::http::upstream_request::UpstreamRequest;
use crate::recall::Recall;
use crate::recall_tool::tool_rounds::ToolRounds;
use crate::recall_tool::tool_rounds::UpstreamAccess;
use crate::session::IncomingRequest;
use crate::session::RequestNote;

pub use recall_memory::RecallHistory;

/// Offers the tool, and answers it.
#[derive(Debug)]
pub struct RecallInjector {
    recall: Recall,
    memory: Arc<RecallHistory>,
}

/// The tool in one request.
pub struct InjectedRecall {
    offered: Arc<RecallInjector>,
    form: WireForm,
    tenant: String,
    conversation: Option<String>,
    sent: Option<(Bytes, UpstreamRequest)>,
    puts_back: bool,
}

impl RecallInjector {
    /// Answers by this recall. What has to be put back later is remembered there.
    pub fn new(recall: Recall, memory: Arc<RecallHistory>) -> Self {
        Self { recall, memory }
    }

    /// Puts the tool into a request, before anybody counts its tokens. `None` where it is not offered: the request is as it was.
    pub fn offer(self: &Arc<Self>, incoming: &mut IncomingRequest) -> Option<InjectedRecall> {
        // The name of a conversation that a client gives is its key in the store, whoever gives it: another client could ask for it.
        if incoming.pinned.is_some() && !incoming.tenant.is_empty() {
            return None;
        }
        incoming.body = definition::offered(incoming.form, &incoming.body)?;
        Some(InjectedRecall {
            offered: Arc::clone(self),
            form: incoming.form,
            tenant: incoming.tenant.clone(),
            conversation: None,
            sent: None,
            puts_back: true,
        })
    }
}

impl InjectedRecall {
    /// What goes out: what the session says, with our calls and results in the turns that they belong to.
    pub fn goes_out(&mut self, body: Bytes, note: &RequestNote, outward: &UpstreamRequest) -> Bytes {
        self.conversation.clone_from(&note.conversation);
        let body = match &self.conversation {
            Some(conversation) if self.puts_back => self.put_back(&body, conversation, note.window),
            Some(_) | None => body,
        };
        self.sent = Some((body.clone(), outward.again()));
        body
    }

    /// Puts back what is remembered. Where that has come to take too much room, all but the newest of it becomes thin at once, and
    /// stays so: between such times every prompt begins as the one before.
    fn put_back(&self, body: &Bytes, conversation: &str, window: Option<u64>) -> Bytes {
        let memory = &self.offered.memory;
        let records = memory.of(&self.tenant, conversation);
        let (whole, used) = restore::restored(self.form, body, &records);
        let most = most_put_back(window);
        if used.iter().map(|record| record.size()).sum::<usize>() <= most {
            return whole;
        }
        let mut left = most / 2;
        let mut thin = Vec::new();
        for record in used.into_iter().rev().filter(|record| !record.is_thin) {
            match left.checked_sub(record.size()) {
                Some(less) => left = less,
                None => {
                    left = 0;
                    thin.extend(record.key().map(str::to_owned));
                }
            }
        }
        memory.thin(&self.tenant, conversation, self.form, &thin);
        restore::restored(self.form, body, &memory.of(&self.tenant, conversation)).0
    }

    /// The provider found the history malformed: perhaps for what was put back.
    pub fn complained(&mut self) {
        self.puts_back = false;
        if let Some(conversation) = &self.conversation {
            self.offered.memory.forget(&self.tenant, conversation);
        }
    }

    /// The answer that the client sees.
    pub async fn answer(
        self,
        (relay, room, limits): (&Relay, &BodyMemory, &ServerLimits),
        (mut head, mut looked): (Parts, InspectedAnswer),
        record: &mut RequestRecord,
    ) -> Result<(Parts, InspectedAnswer), HttpRefusal> {
        let is_plain = head.status == StatusCode::OK && !head.headers.contains_key(CONTENT_ENCODING);
        let Some((sent, outward)) = self.sent.filter(|_| is_plain) else {
            return Ok((head, looked));
        };
        let way = UpstreamAccess {
            relay: relay.clone(),
            outward,
            silence: limits.silence,
            room: room.clone(),
            most: limits.body,
            request_log: record.request_log(),
        };
        let course = ToolRounds::new(self.offered, self.form, self.tenant, self.conversation, way, sent);
        let first = Arc::new(OnceLock::new());
        record.first_usage = Some(Arc::clone(&first));
        if says(&head.headers, "text/event-stream") {
            head.headers.remove(CONTENT_LENGTH);
            looked = InspectedAnswer {
                rest: RemainingBody::Composed(Box::new(streamed_answer::woven(
                    course,
                    head.headers.clone(),
                    looked,
                    first,
                ))),
                held: Default::default(),
                complaint: None,
            };
        } else if says(&head.headers, "application/json") {
            let cost;
            (head, looked, cost) = whole_answer::entire(course, head, looked).await?;
            if let Some(cost) = cost {
                let _only_once = first.set(cost);
            }
        }
        Ok((head, looked))
    }
}

/// How many bytes of results are put back at most. The session does not count them, so they have to fit between where it compacts
/// and the window: an eighth of it, at three bytes a token.
fn most_put_back(window: Option<u64>) -> usize {
    usize::try_from(window.unwrap_or(WINDOW) / 8 * 3).unwrap_or(usize::MAX)
}

/// The window where nobody knows it: what models had before they had more.
const WINDOW: u64 = 128_000;

/// Whether an answer says that it is of this type.
fn says(headers: &HeaderMap, wanted: &str) -> bool {
    let said = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    said.is_some_and(|said| said.to_ascii_lowercase().starts_with(wanted))
}

#[cfg(test)]
#[path = "recall_tool_tests.rs"]
mod tests;
