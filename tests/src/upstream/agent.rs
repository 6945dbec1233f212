//! An agent that only pretends: it keeps its whole history, sends all of it every time, and runs the calls of the model by
//! making up what they print. Its requests are those of real agents, moving cache marks included.

use serde_json::Value;
use serde_json::json;

use super::client;
use super::heard::Heard;
use super::heard::hear;
use crate::conversation::Form;
use crate::conversation::Random;
use crate::conversation::lines;
use crate::conversation::sentence;

/// What came of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Requests that were answered.
    pub turns: usize,
    /// Calls that were run.
    pub calls: usize,
    /// Messages that the person wrote.
    pub messages: usize,
    /// Tokens of the prompts, as the provider reported them.
    pub input: u64,
    /// Of these, read from its cache.
    pub cached: u64,
    /// Bytes of the last request: what the client believes the conversation to be.
    pub last_request: usize,
    /// What ended the run before its time.
    pub trouble: Option<String>,
}

impl Run {
    /// The share of prompt tokens that the provider reported as cached.
    pub fn cache_share(&self) -> f64 {
        self.cached as f64 / self.input.max(1) as f64
    }
}

/// An agent before and while it runs.
#[derive(Clone, Debug)]
pub struct Agent {
    form: Form,
    url: String,
    model: String,
    streams: bool,
    thinks: bool,
    largest_output: usize,
    headers: Vec<(String, String)>,
    random: Random,
    history: Vec<Value>,
}

/// Words of the system prompt: with the tools it is long enough to be cached, and short beside a small window.
const SYSTEM: usize = 900;
/// The last so many messages of the user carry a cache mark, as Claude Code has it.
const MARKED: usize = 2;

impl Agent {
    /// An agent of this form for `http://host:port`; streaming, thinking where the form has it.
    pub fn new(form: Form, url: &str) -> Self {
        let (model, key) = match form {
            Form::Anthropic => ("claude-sonnet-4-5", ("x-api-key", "scripted-key")),
            Form::Chat => ("gpt-4.1", ("authorization", "Bearer scripted-key")),
            Form::Responses => ("gpt-5", ("authorization", "Bearer scripted-key")),
        };
        Self {
            form,
            url: url.trim_end_matches('/').to_owned(),
            model: model.to_owned(),
            streams: true,
            thinks: true,
            // A screen or three of text in most outputs, a long file now and then.
            largest_output: 12_000,
            headers: vec![
                (key.0.to_owned(), key.1.to_owned()),
                ("anthropic-version".to_owned(), "2023-06-01".to_owned()),
            ],
            random: Random(7),
            history: Vec::new(),
        }
    }

    /// The same, streaming or not.
    pub fn streaming(self, streams: bool) -> Self {
        Self { streams, ..self }
    }

    /// The same, thinking or not.
    pub fn thinking(self, thinks: bool) -> Self {
        Self { thinks, ..self }
    }

    /// The same with another model.
    pub fn model(self, model: &str) -> Self {
        Self {
            model: model.to_owned(),
            ..self
        }
    }

    /// The same with other outputs and messages.
    pub fn seed(self, seed: u64) -> Self {
        Self {
            random: Random(seed),
            ..self
        }
    }

    /// The same with outputs of at most about this many bytes.
    pub fn largest_output(self, largest_output: usize) -> Self {
        Self { largest_output, ..self }
    }

    /// The same with one more header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// From now on it sends its requests elsewhere.
    pub fn move_to(&mut self, url: &str) {
        url.trim_end_matches('/').clone_into(&mut self.url);
    }

    /// The history as the client holds it.
    pub fn history(&self) -> &[Value] {
        &self.history
    }

    /// Makes this many requests. Whenever the model has no more calls, the person writes the next message. Blocks the thread;
    /// the run ends at the first answer that is none.
    pub fn run(&mut self, turns: usize) -> Run {
        let mut run = Run::default();
        let mut calls: Vec<(String, Value)> = Vec::new();
        while run.turns < turns {
            if calls.is_empty() {
                self.write(run.messages);
                run.messages += 1;
            } else {
                run.calls += calls.len();
                self.answer(&calls);
            }
            let body = self.request().to_string();
            run.last_request = body.len();
            match self.ask(&body) {
                Ok(heard) => {
                    run.turns += 1;
                    run.input += heard.input;
                    run.cached += heard.cached;
                    self.history.extend(heard.elements);
                    calls = heard.calls;
                }
                Err(trouble) => {
                    run.trouble = Some(format!("request {}: {trouble}", run.turns));
                    return run;
                }
            }
        }
        run
    }

    /// The next request: everything, as the form has it.
    pub fn request(&self) -> Value {
        match self.form {
            Form::Anthropic => self.anthropic(),
            Form::Chat => self.chat(),
            Form::Responses => self.responses(),
        }
    }

    fn ask(&self, body: &str) -> Result<Heard, String> {
        let path = match self.form {
            Form::Anthropic => "/v1/messages",
            Form::Chat => "/v1/chat/completions",
            Form::Responses => "/v1/responses",
        };
        let url = format!("{}{path}", self.url);
        let answer = client::post(&url, &self.headers, body).map_err(|error| error.to_string())?;
        if answer.status != 200 || !answer.is_whole {
            return Err(format!("{} {}", answer.status, answer.text()));
        }
        hear(self.form, &answer.text(), self.streams)
    }

    fn write(&mut self, number: usize) {
        let words = sentence(&mut self.random, 30);
        let port = 2_000 + self.random.below(6_000);
        let text = format!("Message {number}: please look into {words}. The server must keep port {port}.");
        self.history.push(match self.form {
            Form::Anthropic | Form::Chat => json!({"role": "user", "content": text}),
            Form::Responses => {
                json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
            }
        });
    }

    /// Runs calls: one output in ten is long, two are middling, the others short.
    fn answer(&mut self, calls: &[(String, Value)]) {
        let mut blocks = Vec::new();
        for (id, arguments) in calls {
            let most = match self.random.below(10) {
                0 => self.largest_output,
                1 | 2 => self.largest_output / 4,
                _ => self.largest_output / 12,
            };
            let output = format!("$ {arguments}\n{}", lines(&mut self.random, most));
            match self.form {
                Form::Anthropic => {
                    blocks.push(json!({"type": "tool_result", "tool_use_id": id, "content": output}));
                }
                Form::Chat => self
                    .history
                    .push(json!({"role": "tool", "tool_call_id": id, "content": output})),
                Form::Responses => self
                    .history
                    .push(json!({"type": "function_call_output", "call_id": id, "output": output})),
            }
        }
        if self.form == Form::Anthropic {
            self.history.push(json!({"role": "user", "content": blocks}));
        }
    }

    fn anthropic(&self) -> Value {
        let mark = || json!({"type": "ephemeral"});
        let mut messages = self.history.clone();
        let is_users = |message: &&mut Value| message["role"] == "user";
        for message in messages.iter_mut().rev().filter(is_users).take(MARKED) {
            if let Some(text) = message["content"].as_str() {
                message["content"] = json!([{"type": "text", "text": text}]);
            }
            let last = message["content"].as_array_mut().and_then(|blocks| blocks.last_mut());
            if let Some(last) = last {
                last["cache_control"] = mark();
            }
        }
        let system = json!([{"type": "text", "text": system(), "cache_control": mark()}]);
        let tools = tools(
            |name, description, schema| json!({"name": name, "description": description, "input_schema": schema}),
        );
        let mut body = json!({"model": self.model, "max_tokens": 4_096, "system": system, "tools": tools});
        if self.thinks {
            body["thinking"] = json!({"type": "enabled", "budget_tokens": 2_048});
        }
        body["messages"] = messages.into();
        body["stream"] = self.streams.into();
        body
    }

    fn chat(&self) -> Value {
        let mut messages = vec![json!({"role": "system", "content": system()})];
        messages.extend(self.history.iter().cloned());
        let tools = tools(|name, description, schema| {
            let function = json!({"name": name, "description": description, "parameters": schema});
            json!({"type": "function", "function": function})
        });
        let mut body = json!({"model": self.model, "messages": messages, "tools": tools});
        if self.streams {
            body["stream"] = true.into();
            body["stream_options"] = json!({"include_usage": true});
        }
        body
    }

    fn responses(&self) -> Value {
        let tools = tools(
            |name, description, schema| json!({"type": "function", "name": name, "description": description, "parameters": schema, "strict": false}),
        );
        let mut body = json!({
            "model": self.model,
            "instructions": system(),
            "input": self.history,
            "tools": tools,
            "store": false,
            "stream": self.streams,
        });
        if self.thinks {
            body["reasoning"] = json!({"effort": "medium", "summary": "auto"});
            body["include"] = json!(["reasoning.encrypted_content"]);
        }
        body
    }
}

/// A system prompt, the same every time.
fn system() -> String {
    let mut random = Random(1);
    let rules = (0..SYSTEM / 10).map(|number| format!("Rule {number}: {}.", sentence(&mut random, 16)));
    format!("You work on a project.\n{}", rules.collect::<Vec<_>>().join("\n"))
}

fn tools(wrap: impl Fn(&str, &str, Value) -> Value) -> Vec<Value> {
    let field = |name: &str| {
        let properties = json!({name: {"type": "string", "description": "what to work on"}});
        json!({"type": "object", "properties": properties, "required": [name]})
    };
    let edit = json!({
        "type": "object",
        "properties": {
            "file_path": {"type": "string"},
            "old_string": {"type": "string"},
            "new_string": {"type": "string"},
        },
        "required": ["file_path", "old_string", "new_string"],
    });
    vec![
        wrap("Bash", "Runs a command.", field("command")),
        wrap("Read", "Reads a file.", field("file_path")),
        wrap("Grep", "Searches files.", field("pattern")),
        wrap("Edit", "Replaces a text in a file.", edit),
    ]
}
