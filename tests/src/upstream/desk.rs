//! Where requests are judged and answered: from a request to the exact bytes that go out. No sockets here.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use memchr::memmem;
use serde_json::Value;
use serde_json::json;

use super::answer;
use super::answer::Frame;
use super::answer::Usage;
use super::cache::Cache;
use super::cache::Hit;
use super::delivery::Ending;
use super::delivery::Reply;
use super::issued::Issued;
use super::prompt::Scale;
use super::refusal::Refusal;
use super::refusal::Rule;
use super::refusal::request_id;
use super::report::Report;
use super::responses;
use super::rules;
use super::rules::Case;
use super::scenario::Care;
use super::scenario::Fault;
use super::scenario::Overflow;
use super::scenario::Scenario;
use super::speech;
use super::speech::Speech;
use super::speech::Step;
use crate::conversation::Form;
use crate::server::Received;

/// Characters that come in one event: as many as a few tokens.
const PIECE: usize = 12;
/// Bytes of the one event of [`Fault::BigEvent`].
const BIG: usize = 1 << 20;
/// The first answer is given at this time; every later one a second after the one before.
const FIRST: u64 = 1_800_000_000;

/// Judges and answers.
#[derive(Debug)]
pub struct Desk {
    scenario: Scenario,
    state: Mutex<State>,
    received: Mutex<Vec<Received>>,
    requests: AtomicUsize,
    log: Option<PathBuf>,
}

#[derive(Debug, Default)]
struct State {
    scale: Scale,
    cache: Cache,
    issued: Issued,
    report: Report,
    loops: u64,
    unlucky: HashMap<String, u64>,
}

/// A request of one of the forms.
struct Asked {
    number: usize,
    form: Form,
    only_counts: bool,
    takes_gzip: bool,
    body: Value,
    scenario: Scenario,
}

impl Asked {
    fn streams(&self) -> bool {
        self.body["stream"] == true
    }

    fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or("")
    }
}

impl Desk {
    /// A desk that has seen nothing. Requests are written to the directory, if there is one.
    pub fn new(scenario: Scenario, log: Option<PathBuf>) -> Self {
        Self {
            scenario,
            state: Mutex::default(),
            received: Mutex::default(),
            requests: AtomicUsize::new(0),
            log,
        }
    }

    /// What was seen so far, in figures.
    pub fn report(&self) -> Report {
        let mut report = self.state().report.clone();
        report.requests = self.requests.load(Ordering::SeqCst) as u64;
        report
    }

    /// What was seen so far.
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How it behaves.
    pub fn care(&self) -> Care {
        self.scenario.care
    }

    /// Forgets everything.
    pub fn reset(&self) {
        *self.state() = State::default();
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.requests.store(0, Ordering::SeqCst);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a request without looking at it.
    pub fn answer_blindly(&self, path: &str, body: &[u8]) -> Reply {
        let number = self.requests.fetch_add(1, Ordering::SeqCst);
        let Some(form) = form_of(path) else {
            return Reply::json(200, "{}".to_owned());
        };
        let streams = [&b"\"stream\":true"[..], b"\"stream\": true"];
        let streams = streams.iter().any(|needle| memmem::find(body, needle).is_some());
        let asked = Asked {
            number,
            form,
            only_counts: false,
            takes_gzip: false,
            body: json!({"stream": streams, "stream_options": {"include_usage": true}}),
            scenario: self.scenario.clone(),
        };
        let speech = speech::speak(&asked.body, form, &asked.scenario, Step::default());
        let frame = asked.frame(Usage {
            input: body.len() as u64 / 4,
            output: 30,
            ..Usage::default()
        });
        asked.reply(&speech, &frame, None)
    }

    /// Answers a request.
    pub fn answer(&self, mut received: Received) -> Reply {
        let number = self.requests.fetch_add(1, Ordering::SeqCst);
        received.number = number;
        self.keep(&received);
        let path = received.path.split('?').next().unwrap_or("").to_owned();
        let Some(form) = form_of(&path) else {
            return elsewhere(&received, &path);
        };
        let has_key = ["authorization", "x-api-key"]
            .iter()
            .any(|name| received.header(name).is_some_and(|key| !key.is_empty()));
        let parsed = serde_json::from_str::<Value>(&received.body);
        let mut asked = Asked {
            number,
            form,
            only_counts: path.ends_with("/count_tokens"),
            takes_gzip: received
                .header("accept-encoding")
                .is_some_and(|taken| taken.contains("gzip")),
            body: Value::Null,
            scenario: self.scenario.clone(),
        };
        let mut state = self.state();
        match parsed {
            _ if !has_key => state.refused(&asked, &Refusal::no_key(form)),
            Err(error) => {
                let words = format!("We could not parse the JSON body of your request: {error}");
                state.refused(&asked, &Refusal::new(Rule::Body, words))
            }
            Ok(body) => {
                asked.scenario = self.scenario.of_model(body["model"].as_str().unwrap_or(""));
                asked.body = body;
                state.judged(&asked)
            }
        }
    }

    fn keep(&self, received: &Received) {
        let mut list = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(received.clone());
        let Some(directory) = &self.log else {
            return;
        };
        let body = serde_json::from_str::<Value>(&received.body).unwrap_or_else(|_| received.body.as_str().into());
        let headers: Vec<String> = received
            .headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        let line = format!("{} {}", received.method, received.path);
        let entry = json!({"request": line, "headers": headers, "body": body});
        let text = serde_json::to_string_pretty(&entry).unwrap_or_default();
        let _written = std::fs::write(directory.join(format!("{:05}.json", received.number)), text);
    }
}

impl State {
    fn refused(&mut self, asked: &Asked, refusal: &Refusal) -> Reply {
        self.report.refuse(asked.number, asked.form, refusal);
        let mut reply = Reply::json(refusal.status, refusal.body(asked.form, asked.number));
        reply.headers.extend(asked.headers());
        if let Some(seconds) = refusal.retry_after() {
            reply.headers.push(("retry-after", seconds.to_owned()));
        }
        reply
    }

    /// Whether an error or a fault of the scenario is due for this request.
    fn is_unlucky(&mut self, asked: &Asked) -> bool {
        let Some(times) = asked.scenario.times else {
            return true;
        };
        let so_far = self.unlucky.entry(asked.model().to_owned()).or_default();
        *so_far += 1;
        *so_far <= times
    }

    fn judged(&mut self, asked: &Asked) -> Reply {
        let is_marred = asked.scenario.error.is_some() || asked.scenario.fault.is_some();
        let is_unlucky = is_marred && self.is_unlucky(asked);
        if let Some(status) = asked.scenario.error.filter(|_| is_unlucky) {
            return self.refused(asked, &Refusal::scripted(asked.form, status));
        }
        let prompt = self.scale.weigh(&asked.body, asked.form);
        let case = Case {
            body: &asked.body,
            form: asked.form,
            only_counts: asked.only_counts,
            prompt: &prompt,
            scenario: &asked.scenario,
            issued: &self.issued,
        };
        if let Err(refusal) = rules::check(&case) {
            let in_stream = asked.scenario.overflow == Overflow::InStream
                && asked.streams()
                && asked.form == Form::Responses
                && refusal.rule == Rule::Overflow;
            if !in_stream {
                return self.refused(asked, &refusal);
            }
            self.report.refuse(asked.number, asked.form, &refusal);
            let speech = speech::speak(&asked.body, asked.form, &asked.scenario, Step::default());
            let events = answer::refused(&speech, &asked.frame(Usage::default()), &refusal);
            return asked.streamed(events, None);
        }
        if asked.only_counts {
            self.report.counted += 1;
            let mut reply = Reply::json(200, json!({"input_tokens": prompt.tokens()}).to_string());
            reply.headers.extend(asked.headers());
            return reply;
        }
        let hit = self.cache.serve(asked.model(), asked.form, &prompt);
        let speech = self.said(asked, prompt.beginning(usize::MAX));
        let usage = self.usage(&speech, &hit);
        self.report.answer(&hit, usage.output);
        let fault = asked.scenario.fault.filter(|_| is_unlucky);
        self.report.faults += u64::from(fault.is_some());
        asked.reply(&speech, &asked.frame(usage), fault)
    }

    /// What the model says, with what is behind it.
    fn said(&mut self, asked: &Asked, beginning: u64) -> Speech {
        let step = speech::step(&asked.body, asked.form).unwrap_or_else(|| {
            self.loops += 1;
            Step {
                loop_number: self.loops - 1,
                turn: 0,
                asked: 0,
            }
        });
        let mut speech = speech::speak(&asked.body, asked.form, &asked.scenario, step);
        if asked.thinks() {
            match asked.form {
                Form::Anthropic => speech.thoughts = self.issued.think(step, beginning, &speech.calls),
                Form::Responses => {
                    let follower = responses::follower(&speech);
                    speech.thoughts = vec![self.issued.reason(step, &follower)];
                }
                Form::Chat => {}
            }
        }
        speech
    }

    fn usage(&mut self, speech: &Speech, hit: &Hit) -> Usage {
        let mut output = self.scale.count(&speech.text);
        for call in &speech.calls {
            output += self.scale.count(&call.name) + self.scale.count(&call.arguments.to_string());
        }
        let thoughts = speech.thoughts.iter().map(|thought| match thought {
            speech::Thought::Words { text, .. } => self.scale.count(text),
            speech::Thought::Sealed(_) => 0,
        });
        let reasoning: u64 = thoughts.sum();
        Usage {
            input: hit.tokens,
            read: hit.read,
            written: hit.written,
            output: (output + reasoning).max(1),
            reasoning,
        }
    }
}

impl Asked {
    fn thinks(&self) -> bool {
        let is_asked = match self.form {
            Form::Anthropic => matches!(self.body["thinking"]["type"].as_str(), Some("enabled" | "adaptive")),
            Form::Responses => self.body["reasoning"].is_object() || self.seals_reasoning(),
            Form::Chat => false,
        };
        is_asked && self.scenario.thinks
    }

    fn takes_compressed(&self) -> bool {
        self.scenario.gzip && self.takes_gzip
    }

    fn seals_reasoning(&self) -> bool {
        let included = self.body["include"].as_array().into_iter().flatten();
        included.into_iter().any(|what| what == "reasoning.encrypted_content")
    }

    fn frame(&self, usage: Usage) -> Frame {
        Frame {
            model: self.model().to_owned(),
            created: FIRST + self.number as u64,
            usage,
            piece: PIECE,
            reports_usage: self.body["stream_options"]["include_usage"] == true,
            seals_reasoning: self.seals_reasoning(),
        }
    }

    /// Headers of every answer of the provider.
    fn headers(&self) -> Vec<(&'static str, String)> {
        let id = request_id(self.number);
        match self.form {
            Form::Anthropic => vec![
                ("request-id", id),
                ("anthropic-organization-id", "scripted".to_owned()),
                ("anthropic-ratelimit-requests-remaining", "3999".to_owned()),
            ],
            Form::Chat | Form::Responses => vec![
                ("x-request-id", id),
                ("openai-version", "2020-10-01".to_owned()),
                ("openai-processing-ms", "7".to_owned()),
                ("x-ratelimit-remaining-tokens", "149984".to_owned()),
            ],
        }
    }

    fn reply(&self, speech: &Speech, frame: &Frame, fault: Option<Fault>) -> Reply {
        let mut speech = speech.clone();
        let mut frame = frame.clone();
        match fault {
            Some(Fault::BigEvent) => {
                speech.text = "big ".repeat(BIG / 4);
                frame.piece = BIG;
            }
            Some(Fault::Page) => {
                let page = "<html><head><title>502 Bad Gateway</title></head><body>502 Bad Gateway</body></html>";
                let mut reply = Reply::json(502, page.to_owned());
                reply.headers = vec![("content-type", "text/html".to_owned())];
                return reply;
            }
            _ => {}
        }
        if self.streams() {
            return self.streamed(answer::events(self.form, &speech, &frame), fault);
        }
        let mut reply = Reply::json(200, answer::whole(self.form, &speech, &frame));
        reply.headers.extend(self.headers());
        reply.sent(fault, self.takes_compressed())
    }

    fn streamed(&self, events: Vec<String>, fault: Option<Fault>) -> Reply {
        let content_type = match self.form {
            Form::Anthropic | Form::Chat => "text/event-stream; charset=utf-8",
            Form::Responses => "text/event-stream",
        };
        let mut headers = vec![
            ("content-type", content_type.to_owned()),
            ("cache-control", "no-cache".to_owned()),
        ];
        headers.extend(self.headers());
        let reply = Reply {
            status: 200,
            headers,
            pieces: events.into_iter().map(Bytes::from).collect(),
            length: None,
            pace: self.scenario.pace,
            ending: Ending::Whole,
        };
        reply.sent(fault, self.takes_compressed())
    }
}

/// The form that a path belongs to.
fn form_of(path: &str) -> Option<Form> {
    let path = path.split('?').next().unwrap_or("");
    let path = path.strip_suffix("/count_tokens").unwrap_or(path);
    let ends = [
        ("/chat/completions", Form::Chat),
        ("/responses", Form::Responses),
        ("/messages", Form::Anthropic),
    ];
    ends.iter().find(|(end, _)| path.ends_with(end)).map(|(_, form)| *form)
}

/// Models, and an echo of everything else.
fn elsewhere(received: &Received, path: &str) -> Reply {
    if path.ends_with("/models") {
        let is_anthropic = received.header("anthropic-version").is_some();
        let model = |id: &str| {
            if is_anthropic {
                json!({"type": "model", "id": id, "display_name": id, "created_at": "2026-01-01T00:00:00Z"})
            } else {
                json!({"id": id, "object": "model", "created": FIRST, "owned_by": "scripted"})
            }
        };
        let list: Vec<Value> = ["scripted-1", "scripted-2"].into_iter().map(model).collect();
        let body = if is_anthropic {
            json!({"data": list, "has_more": false, "first_id": "scripted-1", "last_id": "scripted-2"})
        } else {
            json!({"object": "list", "data": list})
        };
        return Reply::json(200, body.to_string());
    }
    let headers: Vec<String> = received
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    let echo = json!({"method": received.method, "path": received.path, "headers": headers, "body": received.body});
    Reply::json(200, echo.to_string())
}

#[cfg(test)]
#[path = "desk_tests.rs"]
mod tests;
