//! Right answers of the three provider forms, whole and streamed, for servers that play a provider.

use serde_json::Value;
use serde_json::json;

/// An answer before it has a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// What the model says.
    pub text: String,
    /// Why it stops, in the words of Chat Completions: `stop`, `length`, `tool_calls`, `content_filter`.
    pub stop: String,
    /// Prompt tokens, cached ones included.
    pub input: u64,
    /// Of these, read from the cache.
    pub cached: u64,
    /// Tokens of the answer.
    pub output: u64,
    /// The model that says it served.
    pub model: String,
}

/// Which form a path belongs to, and how an answer of it is written.
type Form = (&'static str, fn(&Reply) -> String, fn(&Reply) -> String);

const FORMS: &[Form] = &[
    ("/chat/completions", Reply::chat, Reply::chat_stream),
    ("/responses", Reply::responses, Reply::responses_stream),
    ("/messages", Reply::anthropic, Reply::anthropic_stream),
];

impl Reply {
    /// An answer that ends by itself and cost 20 tokens, 8 of them cached, and 5.
    pub fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            stop: "stop".to_owned(),
            input: 20,
            cached: 8,
            output: 5,
            model: "scripted-1".to_owned(),
        }
    }

    /// The same with another stop.
    pub fn stopped_by(mut self, stop: &str) -> Self {
        stop.clone_into(&mut self.stop);
        self
    }

    /// The same with other costs.
    pub fn costing(mut self, input: u64, output: u64) -> Self {
        (self.input, self.output) = (input, output);
        self.cached = self.cached.min(input);
        self
    }

    /// The content type and body for a request with this path and body. Paths of no form get an empty object.
    pub fn to(&self, path: &str, request: &str) -> (&'static str, String) {
        let path = path.split('?').next().unwrap_or("");
        let Some((_, whole, streamed)) = FORMS.iter().find(|(end, _, _)| path.ends_with(end)) else {
            return ("application/json", "{}".to_owned());
        };
        let request: Value = serde_json::from_str(request).unwrap_or_default();
        if request["stream"] == true {
            ("text/event-stream", streamed(self))
        } else {
            ("application/json", whole(self))
        }
    }

    /// A whole chat completion.
    pub fn chat(&self) -> String {
        let message = json!({"role": "assistant", "content": self.text, "refusal": null});
        let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": self.stop});
        let mut whole = self.chat_frame("chat.completion", json!([choice]));
        whole["usage"] = self.chat_usage();
        whole.to_string()
    }

    /// A streamed chat completion.
    pub fn chat_stream(&self) -> String {
        let chunk = |delta: Value, finish: Value| {
            let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
            self.chat_frame("chat.completion.chunk", json!([choice]))
        };
        let mut events = vec![chunk(json!({"role": "assistant", "content": ""}), Value::Null)];
        events.extend(pieces(&self.text).map(|piece| chunk(json!({"content": piece}), Value::Null)));
        events.push(chunk(json!({}), self.stop.as_str().into()));
        let mut last = self.chat_frame("chat.completion.chunk", json!([]));
        last["usage"] = self.chat_usage();
        events.push(last);
        let events: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        events + "data: [DONE]\n\n"
    }

    fn chat_frame(&self, object: &str, choices: Value) -> Value {
        json!({"id": "chatcmpl-1", "object": object, "created": 1, "model": self.model, "choices": choices})
    }

    fn chat_usage(&self) -> Value {
        json!({
            "prompt_tokens": self.input,
            "completion_tokens": self.output,
            "total_tokens": self.input + self.output,
            "prompt_tokens_details": {"cached_tokens": self.cached},
        })
    }

    /// A whole response.
    pub fn responses(&self) -> String {
        self.response().to_string()
    }

    /// A streamed response.
    pub fn responses_stream(&self) -> String {
        let mut begun = self.response();
        begun["status"] = "in_progress".into();
        begun["output"] = json!([]);
        begun["usage"] = Value::Null;
        let mut events = vec![json!({"type": "response.created", "response": begun})];
        events.extend(pieces(&self.text).map(|piece| {
            json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": piece})
        }));
        let end = if self.stop == "length" {
            "response.incomplete"
        } else {
            "response.completed"
        };
        events.push(json!({"type": end, "response": self.response()}));
        named(&events)
    }

    fn response(&self) -> Value {
        let part = match self.stop.as_str() {
            "content_filter" => json!({"type": "refusal", "refusal": self.text}),
            _ => json!({"type": "output_text", "text": self.text, "annotations": []}),
        };
        let mut output =
            vec![json!({"type": "message", "role": "assistant", "status": "completed", "content": [part]})];
        if self.stop == "tool_calls" {
            output.push(json!({"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{}"}));
        }
        let cut = self.stop == "length";
        json!({
            "id": "resp_1",
            "object": "response",
            "status": if cut { "incomplete" } else { "completed" },
            "error": null,
            "incomplete_details": if cut { json!({"reason": "max_output_tokens"}) } else { Value::Null },
            "model": self.model,
            "output": output,
            "usage": {
                "input_tokens": self.input,
                "input_tokens_details": {"cached_tokens": self.cached},
                "output_tokens": self.output,
                "total_tokens": self.input + self.output,
            },
        })
    }

    /// A whole message.
    pub fn anthropic(&self) -> String {
        let mut message = self.message();
        let mut content = vec![json!({"type": "text", "text": self.text})];
        if self.stop == "tool_calls" {
            content.push(json!({"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}));
        }
        message["content"] = content.into();
        message["stop_reason"] = self.stop_reason().into();
        message.to_string()
    }

    /// A streamed message.
    pub fn anthropic_stream(&self) -> String {
        let mut events = vec![
            json!({"type": "message_start", "message": self.message()}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "ping"}),
        ];
        events.extend(pieces(&self.text).map(
            |piece| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}),
        ));
        let delta = json!({"stop_reason": self.stop_reason(), "stop_sequence": null});
        events.push(json!({"type": "content_block_stop", "index": 0}));
        events.push(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": self.output}}));
        events.push(json!({"type": "message_stop"}));
        named(&events)
    }

    fn message(&self) -> Value {
        json!({
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            "usage": {
                "input_tokens": self.input.saturating_sub(self.cached),
                "cache_read_input_tokens": self.cached,
                "cache_creation_input_tokens": 0,
                "output_tokens": self.output,
            },
        })
    }

    fn stop_reason(&self) -> &str {
        match self.stop.as_str() {
            "stop" => "end_turn",
            "length" => "max_tokens",
            "tool_calls" => "tool_use",
            "content_filter" => "refusal",
            other => other,
        }
    }
}

/// A text in pieces of a few characters, as models stream it.
fn pieces(text: &str) -> impl Iterator<Item = String> {
    let letters: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = letters.chunks(4).map(|piece| piece.iter().collect()).collect();
    pieces.into_iter()
}

/// Events under the name of their type.
fn named(events: &[Value]) -> String {
    let name = |event: &Value| event["type"].as_str().unwrap_or("").to_owned();
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", name(event)))
        .collect()
}
