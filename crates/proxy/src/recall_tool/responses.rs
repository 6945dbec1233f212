//! Answers of OpenAI Responses.

use std::collections::BTreeMap;

use bytes::Bytes;
use mainstay_engine::json;
use mainstay_engine::json::Object;
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
use crate::recall_tool::model_turn::said;
use crate::recall_tool::model_turn::sealed;
use crate::recall_tool::model_turn::valid_arguments;
use crate::recall_tool::stream_merge::AnswerEnd;
use crate::recall_tool::stream_merge::ContinuationError;
use crate::recall_tool::stream_merge::NOTHING_SAID;
use crate::recall_tool::stream_merge::ReadAnswer;
use crate::recall_tool::stream_merge::StreamMerger;

/// Figures that are raised by what was written before.
const WRITTEN: [&str; 2] = ["output_tokens", "total_tokens"];

/// What an item is known again by, when a client sends it back.
pub(super) fn identity(item: &Object<'_>) -> String {
    let text = |key: &str| item.text(key).unwrap_or_default();
    match item.tag("type") {
        Some("reasoning") => {
            let content = item.text("encrypted_content").unwrap_or_else(|| text("id"));
            sealed(&content)
        }
        Some("message") | None => {
            let parts = item.array("content").unwrap_or_default();
            let parts = parts.into_iter().filter_map(Object::of);
            said(&parts.filter_map(|part| part.text("text")).collect::<String>())
        }
        Some(_) => item.text("call_id").map_or_else(|| said(&text("id")), |id| called(&id)),
    }
}

/// Whether an item is a call that its client has to answer.
fn is_call(item: &Object<'_>) -> bool {
    item.has("call_id") && item.tag("type").is_some_and(|kind| kind.ends_with("_call"))
}

fn is_call_of_ours(item: &Object<'_>) -> bool {
    item.is("type", "function_call") && is_ours(item)
}

/// An answer out of its items.
fn turn_of(items: &[String], status: Option<&str>) -> ModelTurn {
    let mut turn = ModelTurn {
        waits: matches!(status, Some("completed") | None),
        ..ModelTurn::default()
    };
    // Reasoning that came without its sealed content cannot go back, and what follows must not ask for it by its id.
    let is_lost = |item: &Object<'_>| item.is("type", "reasoning") && item.text("encrypted_content").is_none();
    let loses = items
        .iter()
        .any(|item| Object::parse(item).is_ok_and(|item| is_lost(&item)));
    for item in items {
        let Ok(object) = Object::parse(item) else { continue };
        let nameless = |text: &str| match loses {
            true => changed(text, &[("id", None)]),
            false => text.to_owned(),
        };
        if !is_call_of_ours(&object) {
            turn.calls_theirs |= is_call(&object);
            turn.seats.push(AnswerPart::Shown(identity(&object)));
            if !is_lost(&object) {
                turn.elements.push(nameless(item));
            }
            continue;
        }
        let arguments = object.text("arguments").unwrap_or_default();
        let input = valid_arguments(&arguments).to_owned();
        let raw = nameless(&changed(item, &[("arguments", Some(&json::quote(&input)))]));
        turn.elements.push(raw.clone());
        turn.seats.push(AnswerPart::Ours(RecallCall {
            id: object.text("call_id").unwrap_or_default().into(),
            input,
            raw,
        }));
    }
    turn
}

fn is_shown(item: &str) -> bool {
    !Object::parse(item).is_ok_and(|item| is_call_of_ours(&item))
}

fn is_reasoning(item: &str) -> bool {
    Object::parse(item).is_ok_and(|item| item.is("type", "reasoning"))
}

/// What is said where nothing was, as an item.
fn filler(id: &str) -> String {
    let text = json::quote(NOTHING_SAID);
    format!(
        r#"{{"id":{id},"type":"message","status":"completed","role":"assistant","content":[{{"type":"output_text","annotations":[],"text":{text}}}]}}"#
    )
}

/// The id of that item: no other answer may have it.
fn filler_id(response: Option<&str>) -> String {
    let response = response.unwrap_or_default().trim_matches('"');
    json::quote(&format!("msg_{}", response.strip_prefix("resp_").unwrap_or(response)))
}

/// Reads a whole answer.
pub(super) fn read(text: &str) -> Option<ReadAnswer> {
    let response = Object::parse(text).ok()?;
    let items: Vec<String> = response
        .array("output")?
        .iter()
        .map(|raw| raw.get().to_owned())
        .collect();
    let turn = turn_of(&items, response.tag("status"));
    let shown = items.into_iter().filter(|item| is_shown(item)).collect();
    Some(ReadAnswer { turn, shown })
}

/// The whole answer that the client sees.
pub(super) fn together(first: &str, last: &str, shown: &[String], closing: AnswerEnd, earlier: u64) -> Option<String> {
    let first = Object::parse(first).ok()?;
    let mut items = shown.to_vec();
    if closing == AnswerEnd::WithoutCalls && items.iter().all(|item| is_reasoning(item)) {
        items.push(filler(&filler_id(first.get("id").map(|id| id.get()))));
    }
    let marks: Vec<(&str, String)> = ["id", "created_at"]
        .into_iter()
        .filter_map(|key| Some((key, first.get(key)?.get().to_owned())))
        .collect();
    Some(closed(last, &marks, &items, earlier))
}

/// A response under the name of the first one, with all that is shown.
fn closed(response: &str, marks: &[(&str, String)], items: &[String], earlier: u64) -> String {
    let object = Object::parse(response).unwrap_or_default();
    let usage = object.get("usage").map(|usage| raised(usage.get(), &WRITTEN, earlier));
    let output = list(items);
    let mut changes = vec![("output", Some(output.as_str()))];
    changes.extend(marks.iter().map(|(key, value)| (*key, Some(value.as_str()))));
    changes.extend(usage.as_deref().map(|usage| ("usage", Some(usage))));
    changed(response, &changes)
}

/// Weaves streams.
#[derive(Debug, Default)]
pub(super) struct ResponsesMerger {
    /// Answers before this one.
    round: usize,
    /// The id and the time of the first.
    marks: Vec<(&'static str, String)>,
    /// The number of the next event; none before the first, and none where events have none.
    sequence: Option<u64>,
    /// Where the next item stands for the client.
    next: u64,
    /// Where items of this answer stand for it.
    places: BTreeMap<u64, Option<u64>>,
    /// The items of this answer that are complete.
    items: Vec<String>,
    /// What the client has seen, in all.
    shown: Vec<String>,
    asks: bool,
    status: Option<String>,
    is_over: bool,
    held: Option<Event>,
}

impl ResponsesMerger {
    /// Gives an event out with its number and its place.
    fn pass(&mut self, frame: Option<Bytes>, event: &Event, place: Option<u64>, out: &mut Vec<Bytes>) {
        let object = Object::parse(&event.data).unwrap_or_default();
        let own = object.count("sequence_number");
        let number = own.map(|own| self.sequence.unwrap_or(own));
        if let Some(number) = number {
            self.sequence = Some(number + 1);
        }
        let mut figures: Vec<(&str, String)> = Vec::new();
        if number != own {
            figures.extend(number.map(|number| ("sequence_number", number.to_string())));
        }
        if place != object.count("output_index") {
            figures.extend(place.map(|place| ("output_index", place.to_string())));
        }
        match frame {
            Some(frame) if figures.is_empty() => out.push(frame),
            _ => {
                let changes: Vec<_> = figures
                    .iter()
                    .map(|(key, figure)| (*key, Some(figure.as_str())))
                    .collect();
                out.push(event_frames::written(
                    event.name.as_deref(),
                    &changed(&event.data, &changes),
                ));
            }
        }
    }

    /// Where an event stands for the client. `None` where it does not see it.
    fn place(&mut self, index: u64, item: Option<&Object<'_>>) -> Option<u64> {
        if let Some(place) = self.places.get(&index) {
            return *place;
        }
        let ours = item.is_some_and(is_call_of_ours);
        let place = (!ours).then_some(self.next);
        self.next += u64::from(!ours);
        self.asks |= ours;
        self.places.insert(index, place);
        place
    }

    /// The end of an answer, or of all of them.
    fn end(&mut self, frame: Bytes, event: Event, response: Option<&Object<'_>>, out: &mut Vec<Bytes>) {
        let output = response
            .and_then(|response| response.array("output"))
            .unwrap_or_default();
        if self.items.is_empty() {
            // There are servers that say everything at the end.
            self.items = output.iter().map(|raw| raw.get().to_owned()).collect();
            self.asks |= !self.items.iter().all(|item| is_shown(item));
        }
        self.status = response.and_then(|response| response.text("status")).map(String::from);
        self.shown
            .extend(self.items.iter().filter(|item| is_shown(item)).cloned());
        self.is_over = true;
        if self.is_woven() {
            self.held = Some(event);
        } else {
            self.pass(Some(frame), &event, None, out);
        }
    }

    /// An event of our own, numbered as the others.
    fn write(&mut self, kind: &str, rest: &str, out: &mut Vec<Bytes>) {
        let number = self.sequence.map(|number| format!(r#","sequence_number":{number}"#));
        let data = format!(r#"{{"type":"{kind}"{}{rest}}}"#, number.unwrap_or_default());
        let event = Event {
            name: Some(kind.to_owned()),
            data,
        };
        let place = Object::parse(&event.data)
            .ok()
            .and_then(|event| event.count("output_index"));
        self.pass(None, &event, place, out);
    }

    fn say_nothing(&mut self, out: &mut Vec<Bytes>) {
        let id = self.marks.iter().find(|(key, _)| *key == "id");
        let id = filler_id(id.map(|(_, id)| id.as_str()));
        let (item, text, index) = (filler(&id), json::quote(NOTHING_SAID), self.next);
        self.next += 1;
        let begun = changed(&item, &[("content", Some("[]")), ("status", Some("\"in_progress\""))]);
        let at = format!(r#","item_id":{id},"output_index":{index},"content_index":0"#);
        let part = |text: &str| format!(r#"{{"type":"output_text","annotations":[],"text":{text}}}"#);
        let (empty, full) = (part("\"\""), part(&text));
        for (kind, rest) in [
            (
                "response.output_item.added",
                format!(r#","output_index":{index},"item":{begun}"#),
            ),
            ("response.content_part.added", format!(r#"{at},"part":{empty}"#)),
            ("response.output_text.delta", format!(r#"{at},"delta":{text}"#)),
            ("response.output_text.done", format!(r#"{at},"text":{text}"#)),
            ("response.content_part.done", format!(r#"{at},"part":{full}"#)),
            (
                "response.output_item.done",
                format!(r#","output_index":{index},"item":{item}"#),
            ),
        ] {
            self.write(kind, &rest, out);
        }
        self.shown.push(item);
    }
}

impl StreamMerger for ResponsesMerger {
    fn take(&mut self, frame: Bytes, out: &mut Vec<Bytes>) {
        let Some(event) = event_frames::event(&frame) else {
            return out.push(frame);
        };
        let data = event.data.clone();
        let Ok(object) = Object::parse(&data) else {
            return out.push(frame);
        };
        let name = event.name.clone();
        let kind = object.tag("type").or(name.as_deref()).unwrap_or_default();
        let response = object.object("response");
        match kind {
            "response.created" | "response.in_progress" | "response.queued" => {
                if self.round > 0 {
                    return;
                }
                if let Some(response) = response.filter(|_| self.marks.is_empty()) {
                    let marks = ["id", "created_at"].into_iter();
                    let marks = marks.filter_map(|key| Some((key, response.get(key)?.get().to_owned())));
                    self.marks = marks.collect();
                }
                self.pass(Some(frame), &event, None, out);
            }
            "response.completed" | "response.incomplete" => self.end(frame, event, response.as_ref(), out),
            "response.failed" if self.is_woven() => {
                let response = object.get("response").map_or("{}", |response| response.get());
                let response = closed(response, &self.marks, &self.shown, 0);
                let data = changed(&data, &[("response", Some(&response))]);
                self.pass(None, &Event { name, data }, None, out);
            }
            _ => {
                let Some(index) = object.count("output_index") else {
                    return self.pass(Some(frame), &event, None, out);
                };
                let place = self.place(index, object.object("item").as_ref());
                if kind == "response.output_item.done" {
                    self.items.extend(object.get("item").map(|item| item.get().to_owned()));
                }
                if place.is_some() {
                    self.pass(Some(frame), &event, place, out);
                }
            }
        }
    }

    fn run_out(&mut self) {}

    fn is_due(&self) -> bool {
        self.is_over && self.is_woven()
    }

    fn turn(&self) -> ModelTurn {
        turn_of(&self.items, self.status.as_deref())
    }

    fn is_woven(&self) -> bool {
        self.asks || self.round > 0
    }

    fn go_on(&mut self) {
        *self = Self {
            round: self.round + 1,
            marks: std::mem::take(&mut self.marks),
            sequence: self.sequence,
            next: self.next,
            shown: std::mem::take(&mut self.shown),
            ..Self::default()
        };
    }

    fn close(&mut self, closing: AnswerEnd, earlier: u64, out: &mut Vec<Bytes>) {
        if closing == AnswerEnd::WithoutCalls && self.shown.iter().all(|item| is_reasoning(item)) {
            self.say_nothing(out);
        }
        if let Some(event) = self.held.take() {
            let object = Object::parse(&event.data).unwrap_or_default();
            let response = object.get("response").map_or("{}", |response| response.get());
            let response = closed(response, &self.marks, &self.shown, earlier);
            let data = changed(&event.data, &[("response", Some(&response))]);
            let name = event.name.clone();
            self.pass(None, &Event { name, data }, None, out);
        }
    }

    fn fail(&mut self, failure: &ContinuationError, out: &mut Vec<Bytes>) {
        let (code, message) = (json::quote(&failure.code), json::quote(&failure.message));
        let response = format!(
            r#"{{"object":"response","status":"failed","error":{{"code":{code},"message":{message}}},"incomplete_details":null}}"#
        );
        let response = closed(&response, &self.marks, &self.shown, 0);
        self.write("response.failed", &format!(r#","response":{response}"#), out);
    }
}
