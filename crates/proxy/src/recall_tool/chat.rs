//! Answers of OpenAI Chat Completions.

use std::collections::BTreeMap;

use bytes::Bytes;
use mainstay_engine::json;
use mainstay_engine::json::Kind;
use mainstay_engine::json::Object;
use mainstay_engine::json::Raw;
use mainstay_llm::events::Event;

use crate::recall_tool::event_frames;
use crate::recall_tool::json_edit::changed;
use crate::recall_tool::json_edit::list;
use crate::recall_tool::json_edit::raised;
use crate::recall_tool::model_turn::AnswerPart;
use crate::recall_tool::model_turn::ModelTurn;
use crate::recall_tool::model_turn::RecallCall;
use crate::recall_tool::model_turn::called;
use crate::recall_tool::model_turn::is_ours;
use crate::recall_tool::model_turn::valid_arguments;
use crate::recall_tool::stream_merge::AnswerEnd;
use crate::recall_tool::stream_merge::ContinuationError;
use crate::recall_tool::stream_merge::NOTHING_SAID;
use crate::recall_tool::stream_merge::ReadAnswer;
use crate::recall_tool::stream_merge::StreamMerger;

/// What stands between two texts that were said in different answers: they would run into each other.
const BETWEEN: &str = "\n\n";
/// Figures that are raised by what was written before.
const WRITTEN: [&str; 2] = ["completion_tokens", "total_tokens"];
/// Members of a message that are texts and come in pieces: what is said, and how servers of open models think.
const TEXTS: [&str; 3] = ["content", "reasoning_content", "reasoning"];

/// Whether a call is ours.
fn calls_ours(call: &Object<'_>) -> bool {
    call.object("function").is_some_and(|function| is_ours(&function))
}

fn is_nothing(raw: Raw<'_>) -> bool {
    matches!(raw.get(), "null" | "\"\"" | "[]")
}

/// An answer out of its message.
fn turn_of(message: &str, finish: Option<&str>) -> Option<ModelTurn> {
    let object = Object::parse(message).ok()?;
    let mut turn = ModelTurn {
        // Some servers stop where others say that they call.
        waits: matches!(finish, Some("tool_calls" | "function_call" | "stop")),
        ..ModelTurn::default()
    };
    let mut calls = Vec::new();
    for raw in object.array("tool_calls").unwrap_or_default() {
        let Some(call) = Object::of(raw) else { continue };
        let id = call.text("id").unwrap_or_default();
        if !calls_ours(&call) {
            turn.calls_theirs = true;
            turn.seats.push(AnswerPart::Shown(called(&id)));
            calls.push(raw.get().to_owned());
            continue;
        }
        let function = call.get("function").map_or("{}", |function| function.get());
        let input = Object::parse(function).ok()?.text("arguments").unwrap_or_default();
        let input = valid_arguments(&input).to_owned();
        let function = changed(function, &[("arguments", Some(&json::quote(&input)))]);
        let own = changed(raw.get(), &[("function", Some(&function))]);
        calls.push(own.clone());
        turn.seats.push(AnswerPart::Ours(RecallCall {
            id: id.into(),
            input,
            raw: own,
        }));
    }
    // What is empty in an answer need not be allowed in a request.
    let members = object.members();
    let empty: Vec<Box<str>> = members
        .filter(|(key, value)| &**key != "content" && is_nothing(value))
        .map(|(key, _)| key)
        .collect();
    let calls = list(&calls);
    let mut changes: Vec<(&str, Option<&str>)> = empty.iter().map(|key| (&**key, None)).collect();
    if !turn.seats.is_empty() {
        changes.push(("tool_calls", Some(&calls)));
    }
    turn.elements = vec![changed(message, &changes)];
    Some(turn)
}

/// Reads a whole answer.
pub(super) fn read(text: &str) -> Option<ReadAnswer> {
    let answer = Object::parse(text).ok()?;
    let choice = Object::of(answer.array("choices")?.first()?)?;
    let message = choice.get("message")?.get();
    let turn = turn_of(message, choice.tag("finish_reason"))?;
    let calls = Object::parse(message).ok()?.array("tool_calls").unwrap_or_default();
    let is_theirs = |raw: &Raw<'_>| !Object::of(raw).is_some_and(|call| calls_ours(&call));
    let theirs: Vec<&str> = calls.iter().filter(|raw| is_theirs(raw)).map(|raw| raw.get()).collect();
    let shown = if calls.len() == theirs.len() {
        message.to_owned()
    } else {
        let left = Some(list(&theirs)).filter(|_| !theirs.is_empty());
        changed(message, &[("tool_calls", left.as_deref())])
    };
    Some(ReadAnswer {
        turn,
        shown: vec![shown],
    })
}

/// The whole answer that the client sees.
pub(super) fn together(first: &str, last: &str, shown: &[String], closing: AnswerEnd, earlier: u64) -> Option<String> {
    let first = Object::parse(first).ok()?;
    let answer = Object::parse(last).ok()?;
    let mut choices: Vec<String> = answer
        .array("choices")?
        .iter()
        .map(|raw| raw.get().to_owned())
        .collect();
    let messages: Vec<Object<'_>> = shown.iter().filter_map(|text| Object::parse(text).ok()).collect();
    let mut texts = Vec::new();
    for key in TEXTS {
        let said: Vec<Box<str>> = messages
            .iter()
            .filter_map(|message| message.text(key))
            .filter(|text| !text.is_empty())
            .collect();
        if !said.is_empty() {
            texts.push((key, json::quote(&said.join(BETWEEN))));
        }
    }
    let is_silent = texts.iter().all(|(key, _)| *key != "content");
    if closing == AnswerEnd::WithoutCalls && is_silent {
        texts.push(("content", json::quote(NOTHING_SAID)));
    }
    let changes: Vec<_> = texts.iter().map(|(key, text)| (*key, Some(text.as_str()))).collect();
    let message = changed(shown.last()?, &changes);
    let mut changes = vec![("message", Some(message.as_str()))];
    if closing == AnswerEnd::WithoutCalls {
        changes.push(("finish_reason", Some("\"stop\"")));
    }
    let choice = choices.first_mut()?;
    *choice = changed(choice, &changes);
    let choices = list(&choices);
    let usage = answer.get("usage").map(|usage| raised(usage.get(), &WRITTEN, earlier));
    let mut changes = vec![("choices", Some(choices.as_str()))];
    for key in ["id", "created"] {
        changes.extend(first.get(key).map(|value| (key, Some(value.get()))));
    }
    changes.extend(usage.as_deref().map(|usage| ("usage", Some(usage))));
    Some(changed(last, &changes))
}

/// A call that comes in pieces.
#[derive(Debug, Default)]
struct Building {
    /// As it began.
    start: String,
    /// Where the client sees it, if it does.
    shown: Option<u64>,
    arguments: String,
}

impl Building {
    fn whole(&self) -> String {
        let began = Object::parse(&self.start).unwrap_or_default();
        let function = began.get("function").map_or("{}", |function| function.get());
        let function = changed(function, &[("arguments", Some(&json::quote(&self.arguments)))]);
        changed(&self.start, &[("index", None), ("function", Some(&function))])
    }
}

/// Weaves streams.
#[derive(Debug, Default)]
pub(super) struct ChatMerger {
    /// Answers before this one.
    round: usize,
    /// What all chunks have in common, as the first has it.
    marks: Vec<(&'static str, String)>,
    /// Calls that the client has seen.
    shown: u64,
    /// Whether something was said, in answers before this one and at all.
    spoke: bool,
    speaks: bool,
    texts: BTreeMap<&'static str, String>,
    calls: BTreeMap<u64, Building>,
    asks: bool,
    finish: Option<String>,
    is_over: bool,
    held: Vec<Event>,
}

impl ChatMerger {
    /// Reads pieces of calls; gives back those that the client sees.
    fn sort(&mut self, pieces: &[Raw<'_>]) -> Vec<String> {
        let mut theirs = Vec::new();
        for (place, raw) in pieces.iter().enumerate() {
            let Some(piece) = Object::of(raw) else { continue };
            let index = piece.count("index").unwrap_or(place as u64);
            let function = piece.object("function").unwrap_or_default();
            if !self.calls.contains_key(&index) {
                let ours = is_ours(&function);
                let building = Building {
                    start: raw.get().to_owned(),
                    shown: (!ours).then_some(self.shown),
                    arguments: String::new(),
                };
                self.shown += u64::from(!ours);
                self.asks |= ours;
                self.calls.insert(index, building);
            }
            let Some(call) = self.calls.get_mut(&index) else {
                continue;
            };
            call.arguments.push_str(&function.text("arguments").unwrap_or_default());
            if let Some(shown) = call.shown {
                theirs.push(changed(raw.get(), &[("index", Some(&shown.to_string()))]));
            }
        }
        theirs
    }

    /// A chunk as the client sees it; `None` where nothing is left of it.
    fn woven(&mut self, event: &Event, chunk: &Object<'_>, choice: Raw<'_>) -> Option<Event> {
        let choice_object = Object::of(choice).unwrap_or_default();
        let delta = choice_object.get("delta").map_or("{}", |delta| delta.get());
        let object = Object::parse(delta).unwrap_or_default();
        for key in TEXTS {
            let piece = object.text(key).unwrap_or_default();
            if !piece.is_empty() {
                self.texts.entry(key).or_default().push_str(&piece);
            }
        }
        let pieces = object.array("tool_calls").unwrap_or_default();
        let theirs = self.sort(&pieces);
        if self.round == 0 && theirs.len() == pieces.len() && !self.asks {
            self.speaks |= object.text("content").is_some_and(|text| !text.is_empty());
            return Some(event.clone());
        }
        let calls = Some(list(&theirs)).filter(|_| !theirs.is_empty());
        let mut changes = vec![("tool_calls", calls.as_deref())];
        if self.round > 0 {
            changes.push(("role", None));
        }
        let text = object.text("content").filter(|text| !text.is_empty());
        // What is said behind what was said in another answer.
        let text = text.map(|text| match std::mem::replace(&mut self.spoke, false) {
            true => json::quote(&format!("{BETWEEN}{text}")),
            false => json::quote(&text),
        });
        if let Some(text) = &text {
            self.speaks = true;
            changes.push(("content", Some(text)));
        }
        let delta = changed(delta, &changes);
        let left = Object::parse(&delta).unwrap_or_default();
        let is_empty = left.members().all(|(_, value)| is_nothing(value));
        let says_more = choice_object.tag("finish_reason").is_some() || chunk.object("usage").is_some();
        if is_empty && !says_more {
            return None;
        }
        let choice = changed(choice.get(), &[("delta", Some(&delta))]);
        Some(Event {
            name: event.name.clone(),
            data: self.marked(&event.data, Some(&list(&[choice]))),
        })
    }

    /// A chunk under the name of the first one.
    fn marked(&self, data: &str, choices: Option<&str>) -> String {
        let mut changes: Vec<(&str, Option<&str>)> = Vec::new();
        changes.extend(choices.map(|choices| ("choices", Some(choices))));
        changes.extend(self.marks.iter().map(|(key, value)| (*key, Some(value.as_str()))));
        changed(data, &changes)
    }

    /// Holds the end of an answer. There are servers that say everything with it; that passes.
    fn hold_end(&mut self, mut event: Event, out: &mut Vec<Bytes>) {
        let chunk = Object::parse(&event.data).unwrap_or_default();
        let choices = chunk.array("choices").unwrap_or_default();
        let choice = choices.first().map_or("{}", |choice| choice.get());
        let delta = Object::parse(choice)
            .unwrap_or_default()
            .object("delta")
            .unwrap_or_default();
        if !delta.members().all(|(_, value)| is_nothing(value)) {
            let said = changed(choice, &[("finish_reason", Some("null"))]);
            let usage = chunk.get("usage").map(|_| ("usage", Some("null")));
            let said = list(&[said]);
            let changes: Vec<_> = std::iter::once(("choices", Some(said.as_str()))).chain(usage).collect();
            out.push(event_frames::written(
                event.name.as_deref(),
                &changed(&event.data, &changes),
            ));
            let end = list(&[changed(choice, &[("delta", Some("{}"))])]);
            event.data = changed(&event.data, &[("choices", Some(&end))]);
        }
        self.held.push(event);
    }

    fn remember_marks(&mut self, chunk: &Object<'_>) {
        if self.marks.is_empty() {
            let marks = ["id", "created", "model"].into_iter();
            let marks = marks.filter_map(|key| Some((key, chunk.get(key)?.get().to_owned())));
            self.marks = marks.collect();
        }
    }

    fn message(&self) -> String {
        let text = |key: &str| self.texts.get(key).map(|text| json::quote(text));
        let content = text("content").unwrap_or_else(|| "null".to_owned());
        let mut message = format!(r#"{{"role":"assistant","content":{content}"#);
        for key in &TEXTS[1..] {
            if let Some(text) = text(key) {
                message.push_str(&format!(r#","{key}":{text}"#));
            }
        }
        let calls: Vec<String> = self.calls.values().map(Building::whole).collect();
        message.push_str(&format!(r#","tool_calls":{}}}"#, list(&calls)));
        message
    }
}

impl StreamMerger for ChatMerger {
    fn take(&mut self, frame: Bytes, out: &mut Vec<Bytes>) {
        let Some(event) = event_frames::event(&frame) else {
            return out.push(frame);
        };
        if event.data.trim() == "[DONE]" {
            self.is_over = true;
            return match self.is_woven() {
                true => self.held.push(event),
                false => out.push(frame),
            };
        }
        let chunk = Object::parse(&event.data).ok();
        let Some(chunk) = chunk.filter(|chunk| !chunk.has("error")) else {
            return out.push(frame);
        };
        self.remember_marks(&chunk);
        let choices = chunk.array("choices").unwrap_or_default();
        let Some(choice) = choices.first().filter(|choice| json::kind(choice) == Kind::Object) else {
            return match self.is_woven() {
                true => self.held.push(event),
                false => out.push(frame),
            };
        };
        let finish = Object::of(choice).and_then(|choice| choice.text("finish_reason"));
        let woven = self.woven(&event, &chunk, choice);
        self.finish = finish.clone().map(String::from).or(self.finish.take());
        match woven {
            Some(woven) if finish.is_some() && self.is_woven() => self.hold_end(woven, out),
            Some(woven) if woven == event => out.push(frame),
            Some(woven) => out.push(event_frames::written(woven.name.as_deref(), &woven.data)),
            None => {}
        }
    }

    fn run_out(&mut self) {
        self.is_over |= self.finish.is_some();
    }

    fn is_due(&self) -> bool {
        self.is_over && self.is_woven()
    }

    fn turn(&self) -> ModelTurn {
        turn_of(&self.message(), self.finish.as_deref()).unwrap_or_default()
    }

    fn is_woven(&self) -> bool {
        self.asks || self.round > 0
    }

    fn go_on(&mut self) {
        *self = Self {
            round: self.round + 1,
            marks: std::mem::take(&mut self.marks),
            shown: self.shown,
            spoke: self.speaks,
            speaks: self.speaks,
            ..Self::default()
        };
    }

    fn close(&mut self, closing: AnswerEnd, earlier: u64, out: &mut Vec<Bytes>) {
        for event in std::mem::take(&mut self.held) {
            let Ok(chunk) = Object::parse(&event.data) else {
                out.push(event_frames::written(event.name.as_deref(), &event.data));
                continue;
            };
            let choices = chunk.array("choices").unwrap_or_default();
            let mut data = self.marked(&event.data, None);
            if let (AnswerEnd::WithoutCalls, Some(choice)) = (closing, choices.first()) {
                if !std::mem::replace(&mut self.speaks, true) {
                    let delta = format!(r#"{{"content":{}}}"#, json::quote(NOTHING_SAID));
                    let said = changed(
                        choice.get(),
                        &[("delta", Some(&delta)), ("finish_reason", Some("null"))],
                    );
                    out.push(event_frames::written(
                        event.name.as_deref(),
                        &changed(&data, &[("choices", Some(&list(&[said])))]),
                    ));
                }
                let choice = changed(choice.get(), &[("finish_reason", Some("\"stop\""))]);
                data = changed(&data, &[("choices", Some(&list(&[choice])))]);
            }
            if let Some(usage) = chunk.get("usage").filter(|usage| json::kind(usage) == Kind::Object) {
                let usage = raised(usage.get(), &WRITTEN, earlier);
                data = changed(&data, &[("usage", Some(&usage))]);
            }
            out.push(event_frames::written(event.name.as_deref(), &data));
        }
    }

    fn fail(&mut self, failure: &ContinuationError, out: &mut Vec<Bytes>) {
        let body = Object::parse(&failure.body).ok();
        let theirs = body.and_then(|body| body.get("error").map(|error| error.get().to_owned()));
        let error = theirs.unwrap_or_else(|| {
            let (message, code) = (json::quote(&failure.message), json::quote(&failure.code));
            format!(r#"{{"message":{message},"type":"server_error","param":null,"code":{code}}}"#)
        });
        out.push(event_frames::written(None, &format!(r#"{{"error":{error}}}"#)));
    }
}
