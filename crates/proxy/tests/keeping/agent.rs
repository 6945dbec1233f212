//! An agent whose conversation grows, and what the session sends for it.

use bytes::Bytes;
use mainstay_llm::answer::Usage;
use mainstay_proxy::session::IncomingRequest;
use mainstay_proxy::session::OutgoingRequest;
use mainstay_proxy::session::RequestTicket;
use mainstay_proxy::session::SessionCompactor;
use mainstay_proxy::session::fallback_slot::FallbackSlot;
use mainstay_wire::reading::WireForm;
use serde_json::Value;
use serde_json::json;

/// An agent that calls a tool again and again and sends everything every time.
pub struct Agent {
    pub form: WireForm,
    pub messages: Vec<Value>,
}

impl Agent {
    pub fn new(form: WireForm) -> Self {
        let ask = "Find out why the checkout test fails and fix it. Never touch /etc/hosts.";
        let messages = match form {
            WireForm::Chat => vec![
                json!({"role":"system","content":"You are a careful engineer."}),
                json!({"role":"user","content":ask}),
            ],
            WireForm::Responses => {
                vec![json!({"type":"message","role":"user","content":[{"type":"input_text","text":ask}]})]
            }
            WireForm::Anthropic => vec![json!({"role":"user","content":ask})],
        };
        Self { form, messages }
    }

    pub fn body(&self) -> Bytes {
        let body = match self.form {
            WireForm::Chat => json!({"model":"gpt-4o","messages":self.messages}),
            WireForm::Responses => json!({"model":"gpt-4o","instructions":"Be careful.","input":self.messages}),
            WireForm::Anthropic => {
                json!({"model":"claude-sonnet-4-5","max_tokens":1000,"system":"Be careful.","messages":self.messages})
            }
        };
        Bytes::from(body.to_string())
    }

    pub fn step(&mut self, turn: usize) {
        let line = |line: usize| format!("{line}: let value_{turn}_{line} = compute({});\n", turn * line);
        self.step_with(turn, &(0..12).map(line).collect::<String>());
    }

    pub fn step_with(&mut self, turn: usize, output: &str) {
        let id = format!("call_{turn}");
        let path = format!("src/module_{turn}/file_{}.rs", turn * 7);
        let arguments = json!({"path":path}).to_string();
        let (call, result) = match self.form {
            WireForm::Chat => (
                json!({"role":"assistant","content":null,
                    "tool_calls":[{"id":id,"type":"function","function":{"name":"read","arguments":arguments}}]}),
                json!({"role":"tool","tool_call_id":id,"content":output}),
            ),
            WireForm::Responses => (
                json!({"type":"function_call","call_id":id,"name":"read","arguments":arguments}),
                json!({"type":"function_call_output","call_id":id,"output":output}),
            ),
            WireForm::Anthropic => (
                json!({"role":"assistant","content":[{"type":"tool_use","id":id,"name":"read","input":{"path":path}}]}),
                json!({"role":"user","content":[{"type":"tool_result","tool_use_id":id,"content":output}]}),
            ),
        };
        self.messages.extend([call, result]);
    }

    pub fn incoming(&self) -> IncomingRequest {
        IncomingRequest {
            form: self.form,
            body: self.body(),
            tenant: String::new(),
            pinned: None,
            only_counts: false,
        }
    }
}

pub fn list(form: WireForm, body: &[u8]) -> Vec<Value> {
    let body: Value = serde_json::from_slice(body).expect("what goes out is JSON");
    let key = if form == WireForm::Responses {
        "input"
    } else {
        "messages"
    };
    body[key].as_array().expect("there is a list").clone()
}

/// What goes out for a request, however long that takes.
pub fn prepared(keeper: &SessionCompactor, agent: &Agent) -> OutgoingRequest {
    keeper.prepare(agent.incoming(), &FallbackSlot::default())
}

pub fn shortened(keeper: &SessionCompactor, ticket: &RequestTicket, words: &str) -> Option<OutgoingRequest> {
    keeper.after_overflow(ticket, words, &FallbackSlot::default())
}

pub fn send(keeper: &SessionCompactor, agent: &Agent) -> OutgoingRequest {
    let outgoing = prepared(keeper, agent);
    let tokens = outgoing.note.tokens_after.unwrap_or(0);
    if let Some(ticket) = &outgoing.ticket {
        let usage = Usage {
            input: tokens,
            output: 50,
            ..Usage::default()
        };
        keeper.answered(ticket.clone(), Some(usage));
    }
    outgoing
}
